package pgerr

import "strings"

// retryWords are what DuckLake looks for in an error's text, lower case, each with the
// form that a terminal error shows instead.
var retryWords = [...]struct{ word, shown string }{
	{"primary key", "primary_key"},
	{"unique", "uniq_ue"},
	{"conflict", "confl_ict"},
	{"concurrent", "concurr_ent"},
}

// IsRetryable says whether a text makes DuckLake retry its commit.
func IsRetryable(text string) bool {
	text = asciiLower(text)
	for _, w := range retryWords {
		if strings.Contains(text, w.word) {
			return true
		}
	}
	return false
}

// Terminal makes sure that no quoted input or identifier turns an error into one that
// DuckLake retries: it spells the retry words differently in message, detail and hint.
// The receiver is returned as it is when there is nothing to change, a copy otherwise.
func (e *Error) Terminal() *Error {
	if !IsRetryable(e.Message) && !IsRetryable(e.Detail) && !IsRetryable(e.Hint) {
		return e
	}
	c := *e
	c.Message, c.Detail, c.Hint = respell(e.Message), respell(e.Detail), respell(e.Hint)
	return &c
}

// respell replaces the retry words; letters keep their case.
func respell(s string) string {
	for _, w := range retryWords {
		at := strings.IndexByte(w.shown, '_')
		skip := len(w.word) - (len(w.shown) - 1) // a blank that the underscore replaces
		var out strings.Builder
		done := 0
		lower := asciiLower(s)
		for {
			i := strings.Index(lower[done:], w.word)
			if i < 0 {
				break
			}
			i += done
			out.WriteString(s[done : i+at])
			out.WriteByte('_')
			out.WriteString(s[i+at+skip : i+len(w.word)])
			done = i + len(w.word)
		}
		if done > 0 {
			out.WriteString(s[done:])
			s = out.String()
		}
	}
	return s
}

// asciiLower lowers ASCII letters only, so that offsets stay what they were.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
