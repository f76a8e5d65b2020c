package types

import (
	"bytes"
	"cmp"
)

// jsonbKind orders jsonb values of different kinds.
type jsonbKind uint8

const (
	jsonbNull jsonbKind = iota
	jsonbString
	jsonbNumber
	jsonbBool
	jsonbArray
	jsonbObject
)

// jsonbNode is a parsed jsonb value.
type jsonbNode struct {
	kind jsonbKind
	b    []byte // text of a string, binary numeric of a number
	t    bool
	keys [][]byte
	kids []jsonbNode
}

// parseJSONB reads jsonb's normal form, which is known to be valid.
func parseJSONB(r *jsonReader) jsonbNode {
	r.space()
	switch c := r.s[r.i]; c {
	case '{', '[':
		n := jsonbNode{kind: jsonbArray}
		if c == '{' {
			n.kind = jsonbObject
		}
		r.i++
		for {
			r.space()
			switch r.s[r.i] {
			case '}', ']':
				r.i++
				return n
			case ',':
				r.i++
				continue
			}
			if c == '{' {
				k, _ := r.unescape(nil)
				n.keys = append(n.keys, k)
				r.space()
				r.i++ // :
			}
			n.kids = append(n.kids, parseJSONB(r))
		}
	case '"':
		s, _ := r.unescape(nil)
		return jsonbNode{kind: jsonbString, b: s}
	case 't':
		r.i += 4
		return jsonbNode{kind: jsonbBool, t: true}
	case 'f':
		r.i += 5
		return jsonbNode{kind: jsonbBool}
	case 'n':
		r.i += 4
		return jsonbNode{kind: jsonbNull}
	}
	from := r.i
	for r.i < len(r.s) && isWordByte(r.s[r.i]) {
		r.i++
	}
	d, _ := numericInput(r.s[from:r.i], -1)
	return jsonbNode{kind: jsonbNumber, b: d.B}
}

func compareJSONB(a, b []byte) int {
	if bytes.Equal(a, b) {
		return 0
	}
	x, y := parseJSONB(&jsonReader{s: a}), parseJSONB(&jsonReader{s: b})
	// An empty array at the top sorts below everything.
	ex, ey := x.kind == jsonbArray && len(x.kids) == 0, y.kind == jsonbArray && len(y.kids) == 0
	if ex != ey {
		if ex {
			return -1
		}
		return 1
	}
	return x.compare(&y)
}

func (n *jsonbNode) compare(m *jsonbNode) int {
	if n.kind != m.kind {
		return cmp.Compare(n.kind, m.kind)
	}
	switch n.kind {
	case jsonbString:
		return bytes.Compare(n.b, m.b)
	case jsonbNumber:
		return compareNumeric(n.b, m.b)
	case jsonbBool:
		switch {
		case n.t == m.t:
			return 0
		case n.t:
			return 1
		}
		return -1
	case jsonbArray, jsonbObject:
		if len(n.kids) != len(m.kids) {
			return cmp.Compare(len(n.kids), len(m.kids))
		}
		for i := range n.kids {
			if n.kind == jsonbObject {
				if c := bytes.Compare(n.keys[i], m.keys[i]); c != 0 {
					return c
				}
			}
			if c := n.kids[i].compare(&m.kids[i]); c != 0 {
				return c
			}
		}
	}
	return 0
}

// jsonbHashForm is the normal form with numbers free of trailing zeros.
func jsonbHashForm(b []byte) []byte {
	n := parseJSONB(&jsonReader{s: b})
	return n.appendHash(make([]byte, 0, len(b)))
}

func (n *jsonbNode) appendHash(dst []byte) []byte {
	dst = append(dst, byte(n.kind))
	switch n.kind {
	case jsonbString:
		return appendSizedKey(dst, n.b)
	case jsonbNumber:
		return appendNumericHash(dst, n.b)
	case jsonbBool:
		if n.t {
			return append(dst, 1)
		}
		return append(dst, 0)
	case jsonbArray, jsonbObject:
		for i := range n.kids {
			if n.kind == jsonbObject {
				dst = appendSizedKey(append(dst, 1), n.keys[i])
			} else {
				dst = append(dst, 1)
			}
			dst = n.kids[i].appendHash(dst)
		}
		return append(dst, 0)
	}
	return dst
}
