package exec

import (
	"strings"
	"unicode/utf8"

	"github.com/eiderdb/eider/translate/pgerr"
)

// similarToRegex turns a SIMILAR TO pattern into a regular expression. Two escaped double
// quotes mark the part that SUBSTRING … SIMILAR returns: what is before it takes as little as
// it can, so its quantifiers are made reluctant.
func similarToRegex(p, esc string) (string, error) {
	if utf8.RuneCountInString(esc) > 1 {
		return "", pgerr.New(pgerr.InvalidEscapeSequence, "invalid escape string").WithHint("Escape string must be empty or one character.")
	}
	marks := 0
	if esc != "" {
		marks = countMarks(p, esc)
	}
	if marks > 2 {
		return "", pgerr.New(pgerr.InvalidUseOfEscapeCharacter, "SQL regular expression may not contain more than two escape-double-quote separators")
	}
	var b strings.Builder
	b.WriteString("^(?:")
	after, class := false, false
	part := 0
	lazy := func() {
		if marks > 0 && part == 0 {
			b.WriteByte('?')
		}
	}
	for _, r := range p {
		switch {
		case after && r == '"' && !class:
			if part++; part == 1 {
				b.WriteString("){1,1}?(")
			} else {
				b.WriteString("){1,1}(?:")
			}
			after = false
		case after:
			b.WriteByte('\\')
			b.WriteRune(r)
			after = false
		case esc != "" && string(r) == esc:
			after = true
		case class:
			if r == '\\' {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
			class = r != ']'
		case r == '[':
			b.WriteRune(r)
			class = true
		case r == '%':
			b.WriteString(".*")
			lazy()
		case r == '_':
			b.WriteByte('.')
		case r == '(':
			b.WriteString("(?:")
		case r == '\\' || r == '.' || r == '^' || r == '$':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '*' || r == '+' || r == '?' || r == '}':
			b.WriteRune(r)
			lazy()
		default:
			b.WriteRune(r)
		}
	}
	b.WriteString(")$")
	return b.String(), nil
}

// countMarks counts the escaped double quotes outside of bracket expressions.
func countMarks(p, esc string) int {
	n := 0
	after, class := false, false
	for _, r := range p {
		switch {
		case after:
			if r == '"' && !class {
				n++
			}
			after = false
		case string(r) == esc:
			after = true
		case class:
			class = r != ']'
		case r == '[':
			class = true
		}
	}
	return n
}
