package retry

import "strings"

// words are what the client looks for, each with the form that a terminal text shows.
var words = [...]struct{ word, shown string }{
	{"primary key", "primary_key"},
	{"unique", "uniq_ue"},
	{"conflict", "confl_ict"},
	{"concurrent", "concurr_ent"},
}

// RunAgain is what the hint of a refusal says when the client must not repeat its commit, which
// it has built on what is not so any more, but whoever has asked for the work may ask again.
const RunAgain = "Run the statement again."

// Words returns the words, lower case.
func Words() []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.word
	}
	return out
}

// Is says whether a text makes a client retry.
func Is(text string) bool {
	text = lower(text)
	for _, w := range words {
		if strings.Contains(text, w.word) {
			return true
		}
	}
	return false
}

// Respell writes the words in a text so that the client does not find them. Letters keep
// their case; a text without the words is returned as it is.
func Respell(s string) string {
	for _, w := range words {
		at := strings.IndexByte(w.shown, '_')
		skip := len(w.word) - (len(w.shown) - 1) // a blank that the underscore replaces
		var out strings.Builder
		done := 0
		low := lower(s)
		for {
			i := strings.Index(low[done:], w.word)
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

// lower lowers ASCII letters only, so that offsets stay what they were.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
