package types

import (
	"strings"

	"github.com/eiderdb/eider/translate/pgerr"
)

func errArray(s []byte, detail string) error {
	e := pgerr.New(pgerr.InvalidTextRepresentation, `malformed array literal: "%s"`, s)
	if detail != "" {
		return e.WithDetail("%s", detail)
	}
	return e
}

// arrayInput reads {…}, with [l:u]…= before it for other lower bounds.
func arrayInput(env *Env, elem T, s []byte) (Datum, error) {
	p := arrayReader{env: env, elem: elem, all: s, s: s}
	p.space()
	bounds, err := p.bounds()
	if err != nil {
		return Null, err
	}
	if p.i >= len(p.s) || p.s[p.i] != '{' {
		if len(bounds) > 0 {
			return Null, errArray(s, "Array contents must start with \"{\".")
		}
		return Null, errArray(s, `Array value must start with "{" or dimension information.`)
	}
	if err := p.list(0); err != nil {
		return Null, err
	}
	p.space()
	if p.i < len(p.s) {
		return Null, errArray(s, "Junk after closing right brace.")
	}
	if len(p.elems) == 0 {
		if len(bounds) > 0 {
			return Null, errArray(s, "Specified array dimensions do not match array contents.")
		}
		return buildArray(elem.OID, nil, nil), nil
	}
	dims := make([]ArrayDim, len(p.dims))
	for i, n := range p.dims {
		dims[i] = ArrayDim{int32(n), 1}
	}
	if len(bounds) > 0 {
		if len(bounds) != len(dims) {
			return Null, errArray(s, "Specified array dimensions do not match array contents.")
		}
		for i := range dims {
			if bounds[i].Len != dims[i].Len {
				return Null, errArray(s, "Specified array dimensions do not match array contents.")
			}
			dims[i].Lower = bounds[i].Lower
			if err := checkLower(dims[i]); err != nil {
				return Null, err
			}
		}
	}
	return buildArray(elem.OID, dims, p.elems), nil
}

// maxTextElems bounds the elements of an array that is written as text: while it is read an
// element takes some hundred bytes, however short its text is.
const maxTextElems = 1 << 24

type arrayReader struct {
	env   *Env
	elem  T
	all   []byte
	s     []byte
	i     int
	dims  []int // length per depth; -1 while unknown
	elems []Datum
	leaf  int // depth of the elements, once one is seen
}

func (p *arrayReader) space() {
	for p.i < len(p.s) && isSpace(p.s[p.i]) {
		p.i++
	}
}

func (p *arrayReader) bounds() ([]ArrayDim, error) {
	var out []ArrayDim
	num := func() (int64, bool) {
		from := p.i
		if p.i < len(p.s) && (p.s[p.i] == '-' || p.s[p.i] == '+') {
			p.i++
		}
		for p.i < len(p.s) && isDigit(p.s[p.i]) {
			p.i++
		}
		v, err := parseInt(p.s[from:p.i], 32, "integer")
		return v, err == nil
	}
	for p.i < len(p.s) && p.s[p.i] == '[' {
		p.i++
		lo, ok := num()
		if !ok {
			return nil, errArray(p.all, `"[" must introduce explicitly-specified array dimensions.`)
		}
		hi := lo
		if p.i < len(p.s) && p.s[p.i] == ':' {
			p.i++
			if hi, ok = num(); !ok {
				return nil, errArray(p.all, "Missing array dimension value.")
			}
		} else {
			lo = 1
		}
		if p.i >= len(p.s) || p.s[p.i] != ']' {
			return nil, errArray(p.all, `Missing "]" after array dimensions.`)
		}
		p.i++
		if hi < lo {
			return nil, pgerr.New(pgerr.ArraySubscriptError, "upper bound cannot be less than lower bound")
		}
		if hi-lo >= maxArraySize {
			return nil, pgerr.New(pgerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", maxArraySize)
		}
		if len(out) == maxDims {
			return nil, errTooManyDims(maxDims + 1)
		}
		out = append(out, ArrayDim{int32(hi - lo + 1), int32(lo)})
	}
	if len(out) > 0 {
		p.space()
		if p.i >= len(p.s) || p.s[p.i] != '=' {
			return nil, errArray(p.all, `Missing "=" after array dimensions.`)
		}
		p.i++
		p.space()
	}
	return out, nil
}

const ragged = "Multidimensional arrays must have sub-arrays with matching dimensions."

// list reads one {…} at a depth.
func (p *arrayReader) list(depth int) error {
	if depth == maxDims {
		return errTooManyDims(depth + 1)
	}
	if depth == len(p.dims) {
		if p.leaf != 0 && depth >= p.leaf {
			return errArray(p.all, ragged)
		}
		p.dims = append(p.dims, -1)
	}
	p.i++ // {
	n := 0
	for {
		p.space()
		if p.i >= len(p.s) {
			return errArray(p.all, "Unexpected end of input.")
		}
		switch c := p.s[p.i]; {
		case c == '}' && n == 0:
			p.i++
			if depth > 0 {
				return errArray(p.all, `Unexpected "}" character.`)
			}
			p.dims[depth] = 0
			return nil
		case c == '{':
			if p.leaf == depth+1 {
				return errArray(p.all, `Unexpected "{" character.`)
			}
			if err := p.list(depth + 1); err != nil {
				return err
			}
		case c == '}' || c == ',':
			return errArray(p.all, `Unexpected "`+string(c)+`" character.`)
		default:
			if p.leaf == 0 {
				p.leaf = depth + 1
			}
			if p.leaf != depth+1 {
				return errArray(p.all, ragged)
			}
			if err := p.item(); err != nil {
				return err
			}
		}
		n++
		p.space()
		if p.i >= len(p.s) {
			return errArray(p.all, "Unexpected end of input.")
		}
		if p.s[p.i] == ',' {
			p.i++
			p.space()
			if p.i < len(p.s) && p.s[p.i] == '}' {
				return errArray(p.all, `Unexpected "}" character.`)
			}
			continue
		}
		if p.s[p.i] != '}' {
			return errArray(p.all, "Unexpected array element.")
		}
		p.i++
		break
	}
	if p.dims[depth] == -1 {
		p.dims[depth] = n
	} else if p.dims[depth] != n {
		return errArray(p.all, ragged)
	}
	return nil
}

// item reads one element.
func (p *arrayReader) item() error {
	var text []byte
	quoted := false
	if p.s[p.i] == '"' {
		quoted = true
		p.i++
		for {
			if p.i >= len(p.s) {
				return errArray(p.all, "Unexpected end of input.")
			}
			c := p.s[p.i]
			p.i++
			if c == '"' {
				break
			}
			if c == '\\' {
				if p.i >= len(p.s) {
					return errArray(p.all, "Unexpected end of input.")
				}
				c = p.s[p.i]
				p.i++
			}
			text = append(text, c)
		}
		p.space()
		if p.i < len(p.s) && p.s[p.i] != ',' && p.s[p.i] != '}' {
			return errArray(p.all, "Unexpected array element.")
		}
	} else {
		keep := 0 // trailing blanks go, escaped ones stay
	loop:
		for p.i < len(p.s) {
			c := p.s[p.i]
			switch c {
			case ',', '}':
				break loop
			case '{':
				return errArray(p.all, `Unexpected "{" character.`)
			case '"':
				return errArray(p.all, "Unexpected array element.")
			case '\\':
				p.i++
				if p.i >= len(p.s) {
					return errArray(p.all, "Unexpected end of input.")
				}
				text = append(text, p.s[p.i])
				keep = len(text)
				quoted = true
			default:
				text = append(text, c)
				if !isSpace(c) {
					keep = len(text)
				}
			}
			p.i++
		}
		text = text[:keep]
		if !quoted && strings.EqualFold(string(text), "null") {
			p.elems = append(p.elems, Null)
			return nil
		}
	}
	if text == nil {
		text = []byte{}
	}
	if len(p.elems) == maxTextElems {
		return pgerr.New(pgerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", maxTextElems)
	}
	d, err := Input(p.env, p.elem, text)
	if err != nil {
		return err
	}
	p.elems = append(p.elems, d)
	return nil
}
