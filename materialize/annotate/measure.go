package annotate

import (
	"fmt"
	"strings"
)

func (p *parser) measure(rest string) {
	name, body, ok := p.definition(rest)
	if !ok {
		return
	}
	m := Measure{Name: name, Expr: body, Line: p.at}
	if i := topLevelWhere(body); i >= 0 {
		m.Expr, m.Where = strings.TrimSpace(body[:i]), strings.TrimSpace(body[i+len("where"):])
		if m.Expr == "" || m.Where == "" {
			p.malformed("%q needs an expression before where and a condition after it", body)
			return
		}
	}
	for _, have := range p.h.Measures {
		if have.Name == name {
			p.duplicate(have.Line, "first")
			return
		}
	}
	p.h.Measures = append(p.h.Measures, m)
}

func (p *parser) dimension(rest string) {
	name, body, ok := p.definition(rest)
	if !ok {
		return
	}
	for _, have := range p.h.Dimensions {
		if have.Name == name {
			p.duplicate(have.Line, "first")
			return
		}
	}
	p.h.Dimensions = append(p.h.Dimensions, Dimension{Name: name, Expr: body, Line: p.at})
}

// definition reads NAME = TEXT.
func (p *parser) definition(rest string) (name, body string, ok bool) {
	name, body, ok = strings.Cut(rest, "=")
	name, body = strings.TrimSpace(name), strings.TrimSpace(body)
	complaint := ""
	switch {
	case !ok:
		complaint = "the = is missing"
	case !isWord(name):
		complaint = fmt.Sprintf("%q is no name", name)
	case body == "":
		complaint = name + " has no expression"
	default:
		return name, body, true
	}
	p.malformed("%s", complaint)
	return "", "", false
}

// topLevelWhere is where the word where is in an expression, outside of quotes and of
// parentheses; -1 if it is not there.
func topLevelWhere(expr string) int {
	depth := 0
	for i := 0; i < len(expr); {
		switch c := expr[i]; {
		case c == '\'' || c == '"':
			end := strings.IndexByte(expr[i+1:], c)
			if end < 0 {
				return -1
			}
			i += end + 2
		case isNameByte(c):
			j := i
			for j < len(expr) && isNameByte(expr[j]) {
				j++
			}
			if depth == 0 && strings.EqualFold(expr[i:j], "where") {
				return i
			}
			i = j
		default:
			switch c {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth--
			}
			i++
		}
	}
	return -1
}

// isNameByte tells whether c can be part of a name in SQL; all of UTF-8 beyond ASCII can.
func isNameByte(c byte) bool {
	return c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
