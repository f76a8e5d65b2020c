package exec

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// jnode is a parsed JSON value; raw is its text.
type jnode struct {
	kind byte // '{', '[', '"', '0', 't' (boolean), 'n'
	raw  []byte
	keys []string
	kids []jnode
}

// jparse reads JSON text that the type's input function has checked.
type jparse struct {
	s []byte
	i int
}

func parseJSON(b []byte) jnode {
	p := jparse{s: b}
	return p.value(0)
}

func (p *jparse) space() {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\n' || p.s[p.i] == '\t' || p.s[p.i] == '\r') {
		p.i++
	}
}

func (p *jparse) value(depth int) jnode {
	p.space()
	if p.i >= len(p.s) || depth > maxDepth*4 {
		p.i = len(p.s)
		return jnode{kind: 'n', raw: []byte("null")}
	}
	start := p.i
	var n jnode
	switch c := p.s[p.i]; c {
	case '{', '[':
		n.kind = c
		p.i++
		for p.i < len(p.s) {
			p.space()
			if p.i >= len(p.s) || p.s[p.i] == '}' || p.s[p.i] == ']' {
				p.i++
				break
			}
			if p.s[p.i] == ',' {
				p.i++
				continue
			}
			if c == '{' {
				k := p.i
				p.skipString()
				n.keys = append(n.keys, unquoteJSON(p.s[k:min(p.i, len(p.s))]))
				p.space()
				p.i++ // :
			}
			n.kids = append(n.kids, p.value(depth+1))
		}
	case '"':
		n.kind = '"'
		p.skipString()
	default:
		for p.i < len(p.s) && !strings.ContainsRune(",]}: \n\t\r", rune(p.s[p.i])) {
			p.i++
		}
		switch c {
		case 't', 'f':
			n.kind = 't'
		case 'n':
			n.kind = 'n'
		default:
			n.kind = '0'
		}
		if p.i == start {
			p.i++
		}
	}
	n.raw = p.s[start:min(p.i, len(p.s))]
	return n
}

func (p *jparse) skipString() {
	for p.i++; p.i < len(p.s); p.i++ {
		switch p.s[p.i] {
		case '\\':
			p.i++
		case '"':
			p.i++
			return
		}
	}
}

// unquoteJSON decodes a string with its quotes.
func unquoteJSON(b []byte) string {
	if len(b) < 2 {
		return ""
	}
	b = b[1 : len(b)-1]
	if bytes.IndexByte(b, '\\') < 0 {
		return string(b)
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 >= len(b) {
			out = append(out, b[i])
			continue
		}
		i++
		switch b[i] {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'u':
			if i+4 >= len(b) {
				return string(out)
			}
			v, _ := strconv.ParseUint(string(b[i+1:i+5]), 16, 32)
			r := rune(v)
			i += 4
			if utf16.IsSurrogate(r) && i+6 < len(b) && b[i+1] == '\\' && b[i+2] == 'u' {
				if lo, err := strconv.ParseUint(string(b[i+3:i+7]), 16, 32); err == nil {
					r = utf16.DecodeRune(r, rune(lo))
					i += 6
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, b[i])
		}
	}
	return string(out)
}

// text is ->>: strings without quotes, null as NULL.
func (n *jnode) text() types.Datum {
	switch n.kind {
	case 'n':
		return types.Null
	case '"':
		return Str(unquoteJSON(n.raw))
	}
	return Bytes(n.raw)
}

func (n *jnode) key(k string) *jnode {
	if n.kind != '{' {
		return nil
	}
	for i := len(n.keys) - 1; i >= 0; i-- { // json keeps duplicates: the last one counts
		if n.keys[i] == k {
			return &n.kids[i]
		}
	}
	return nil
}

func (n *jnode) at(i int64) *jnode {
	if n.kind != '[' {
		return nil
	}
	if i < 0 {
		i += int64(len(n.kids))
	}
	if i < 0 || i >= int64(len(n.kids)) {
		return nil
	}
	return &n.kids[i]
}

// path walks a text path.
func (n *jnode) path(es []types.Datum) *jnode {
	for i := range es {
		if n == nil || !es[i].Valid {
			return nil
		}
		k := string(es[i].B)
		switch n.kind {
		case '{':
			n = n.key(k)
		case '[':
			v, err := strconv.ParseInt(k, 10, 64)
			if err != nil {
				return nil
			}
			n = n.at(v)
		default:
			return nil
		}
	}
	return n
}

func (n *jnode) datum(asText bool) types.Datum {
	if n == nil {
		return types.Null
	}
	if asText {
		return n.text()
	}
	return Bytes(n.raw)
}

var jsonbT = types.T{OID: types.JSONBOID, Mod: -1}

// jsonb normalises text.
func (c *Ctx) jsonb(b []byte) (types.Datum, error) { return types.Input(c.Env, jsonbT, b) }

func addJSONOps(add func(name string, l, r, ret types.OID, fn OpFunc)) {
	for _, t := range []types.OID{tJSON, tJSONB} {
		for _, text := range []bool{false, true} {
			name, pathName, ret := "->", "#>", t
			if text {
				name, pathName, ret = "->>", "#>>", tText
			}
			add(name, t, tText, ret, func(_ *Ctx, a, b types.Datum) (types.Datum, error) {
				n := parseJSON(a.B)
				return n.key(string(b.B)).datum(text), nil
			})
			add(name, t, tInt4, ret, func(_ *Ctx, a, b types.Datum) (types.Datum, error) {
				n := parseJSON(a.B)
				return n.at(b.I).datum(text), nil
			})
			add(pathName, t, tTextArr, ret, func(_ *Ctx, a, b types.Datum) (types.Datum, error) {
				es, _, err := arrayElems(b)
				if err != nil {
					return types.Null, err
				}
				n := parseJSON(a.B)
				return (&n).path(es).datum(text), nil
			})
		}
	}
	contains := func(a, b types.Datum) bool {
		x, y := parseJSON(a.B), parseJSON(b.B)
		return jsonContains(&x, &y, true)
	}
	add("@>", tJSONB, tJSONB, tBool, func(_ *Ctx, a, b types.Datum) (types.Datum, error) { return Bool(contains(a, b)), nil })
	add("<@", tJSONB, tJSONB, tBool, func(_ *Ctx, a, b types.Datum) (types.Datum, error) { return Bool(contains(b, a)), nil })
	add("?", tJSONB, tText, tBool, func(_ *Ctx, a, b types.Datum) (types.Datum, error) {
		n := parseJSON(a.B)
		return Bool(n.has(string(b.B))), nil
	})
	for _, all := range []bool{false, true} {
		name := "?|"
		if all {
			name = "?&"
		}
		add(name, tJSONB, tTextArr, tBool, func(_ *Ctx, a, b types.Datum) (types.Datum, error) {
			es, _, err := arrayElems(b)
			if err != nil {
				return types.Null, err
			}
			n := parseJSON(a.B)
			for i := range es {
				if es[i].Valid && n.has(string(es[i].B)) != all {
					return Bool(!all), nil
				}
			}
			return Bool(all), nil
		})
	}
	add("||", tJSONB, tJSONB, tJSONB, func(c *Ctx, a, b types.Datum) (types.Datum, error) {
		x, y := parseJSON(a.B), parseJSON(b.B)
		if x.kind == '{' && y.kind == '{' {
			return c.jsonb(joinJSON('{', '}', x.inner(), y.inner()))
		}
		if x.kind == '{' && y.kind != '[' || y.kind == '{' && x.kind != '[' {
			return types.Null, pgerr.New(pgerr.InvalidParameterValue, "invalid concatenation of jsonb objects")
		}
		return c.jsonb(joinJSON('[', ']', x.inner(), y.inner()))
	})
	del := func(c *Ctx, a types.Datum, drop func(i int, n *jnode) bool) (types.Datum, error) {
		n := parseJSON(a.B)
		if n.kind != '{' && n.kind != '[' {
			return types.Null, pgerr.New(pgerr.InvalidParameterValue, "cannot delete from scalar")
		}
		var keep jnode
		keep.kind = n.kind
		for i := range n.kids {
			if !drop(i, &n) {
				keep.kids = append(keep.kids, n.kids[i])
				if n.kind == '{' {
					keep.keys = append(keep.keys, n.keys[i])
				}
			}
		}
		return c.jsonb(keep.render(nil))
	}
	hit := func(i int, n *jnode, k string) bool {
		if n.kind == '{' {
			return n.keys[i] == k
		}
		return n.kids[i].kind == '"' && unquoteJSON(n.kids[i].raw) == k
	}
	add("-", tJSONB, tText, tJSONB, func(c *Ctx, a, b types.Datum) (types.Datum, error) {
		return del(c, a, func(i int, n *jnode) bool { return hit(i, n, string(b.B)) })
	})
	add("-", tJSONB, tTextArr, tJSONB, func(c *Ctx, a, b types.Datum) (types.Datum, error) {
		es, _, err := arrayElems(b)
		if err != nil {
			return types.Null, err
		}
		return del(c, a, func(i int, n *jnode) bool {
			for _, e := range es {
				if e.Valid && hit(i, n, string(e.B)) {
					return true
				}
			}
			return false
		})
	})
	add("-", tJSONB, tInt4, tJSONB, func(c *Ctx, a, b types.Datum) (types.Datum, error) {
		n := parseJSON(a.B)
		if n.kind == '{' {
			return types.Null, pgerr.New(pgerr.InvalidParameterValue, "cannot delete from object using integer index")
		}
		at := b.I
		if at < 0 {
			at += int64(len(n.kids))
		}
		return del(c, a, func(i int, _ *jnode) bool { return int64(i) == at })
	})
	add("#-", tJSONB, tTextArr, tJSONB, func(c *Ctx, a, b types.Datum) (types.Datum, error) {
		es, _, err := arrayElems(b)
		if err != nil {
			return types.Null, err
		}
		n := parseJSON(a.B)
		return c.jsonb(setPath(&n, es, nil, false, true).render(nil))
	})
}

func (n *jnode) has(k string) bool {
	switch n.kind {
	case '{':
		return n.key(k) != nil
	case '[':
		for i := range n.kids {
			if n.kids[i].kind == '"' && unquoteJSON(n.kids[i].raw) == k {
				return true
			}
		}
	case '"':
		return unquoteJSON(n.raw) == k
	}
	return false
}

// inner is what stands between the brackets, or the value itself.
func (n *jnode) inner() []byte {
	if n.kind == '{' || n.kind == '[' {
		return bytes.TrimSpace(n.raw[1 : len(n.raw)-1])
	}
	return n.raw
}

func joinJSON(open, closing byte, a, b []byte) []byte {
	out := append([]byte{open}, a...)
	if len(a) > 0 && len(b) > 0 {
		out = append(out, ',')
	}
	return append(append(out, b...), closing)
}

// render writes a node whose parts may have been changed.
func (n *jnode) render(dst []byte) []byte {
	switch {
	case n.kind == '{' && n.raw == nil:
		dst = append(dst, '{')
		for i := range n.kids {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(types.AppendJSONString(dst, []byte(n.keys[i])), ':')
			dst = n.kids[i].render(dst)
		}
		return append(dst, '}')
	case n.kind == '[' && n.raw == nil:
		dst = append(dst, '[')
		for i := range n.kids {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = n.kids[i].render(dst)
		}
		return append(dst, ']')
	}
	return append(dst, n.raw...)
}

// setPath puts val at a path; with remove it takes the place away, and without create
// only places that exist are set.
func setPath(n *jnode, path []types.Datum, val *jnode, create, remove bool) *jnode {
	if len(path) == 0 || !path[0].Valid {
		return n
	}
	k := string(path[0].B)
	last := len(path) == 1
	out := &jnode{kind: n.kind}
	switch n.kind {
	case '{':
		found := false
		for i := range n.kids {
			if n.keys[i] != k {
				out.keys, out.kids = append(out.keys, n.keys[i]), append(out.kids, n.kids[i])
				continue
			}
			found = true
			switch {
			case last && remove:
			case last:
				out.keys, out.kids = append(out.keys, k), append(out.kids, *val)
			default:
				out.keys, out.kids = append(out.keys, k), append(out.kids, *setPath(&n.kids[i], path[1:], val, create, remove))
			}
		}
		if !found && last && create && val != nil {
			out.keys, out.kids = append(out.keys, k), append(out.kids, *val)
		}
	case '[':
		at, err := strconv.ParseInt(k, 10, 64)
		if err != nil {
			return n
		}
		if at < 0 {
			at += int64(len(n.kids))
			if at < 0 && create && last && val != nil {
				out.kids = append(append(out.kids, *val), n.kids...)
				return out
			}
		}
		for i := range n.kids {
			switch {
			case int64(i) != at:
				out.kids = append(out.kids, n.kids[i])
			case last && remove:
			case last:
				out.kids = append(out.kids, *val)
			default:
				out.kids = append(out.kids, *setPath(&n.kids[i], path[1:], val, create, remove))
			}
		}
		if at >= int64(len(n.kids)) && create && last && val != nil {
			out.kids = append(out.kids, *val)
		}
	default:
		return n
	}
	return out
}

// insertPath is jsonb_insert: a new key of an object, or a new element before (or after)
// the one that the path names. A place that does not exist is left alone.
func insertPath(n *jnode, path []types.Datum, val *jnode, after bool) (*jnode, error) {
	if len(path) == 0 || !path[0].Valid {
		return n, nil
	}
	k := string(path[0].B)
	last := len(path) == 1
	out := &jnode{kind: n.kind}
	switch n.kind {
	case '{':
		for i := range n.kids {
			kid := &n.kids[i]
			if n.keys[i] == k {
				if last {
					return nil, pgerr.New(pgerr.InvalidParameterValue, "cannot replace existing key").
						WithHint("Try using the function jsonb_set to replace key value.")
				}
				var err error
				if kid, err = insertPath(kid, path[1:], val, after); err != nil {
					return nil, err
				}
			}
			out.keys, out.kids = append(out.keys, n.keys[i]), append(out.kids, *kid)
		}
		if last && n.key(k) == nil {
			out.keys, out.kids = append(out.keys, k), append(out.kids, *val)
		}
	case '[':
		at, err := strconv.ParseInt(k, 10, 64)
		if err != nil {
			return nil, pgerr.New(pgerr.InvalidTextRepresentation, "path element at position 1 is not an integer: %q", k)
		}
		size := int64(len(n.kids))
		if at < 0 {
			at += size
		}
		if last && at < 0 {
			out.kids = append(out.kids, *val)
		}
		for i := range n.kids {
			kid := &n.kids[i]
			if int64(i) != at {
				out.kids = append(out.kids, *kid)
				continue
			}
			switch {
			case last && after:
				out.kids = append(out.kids, *kid, *val)
			case last:
				out.kids = append(out.kids, *val, *kid)
			default:
				if kid, err = insertPath(kid, path[1:], val, after); err != nil {
					return nil, err
				}
				out.kids = append(out.kids, *kid)
			}
		}
		if last && at >= size {
			out.kids = append(out.kids, *val)
		}
	default:
		return n, nil
	}
	return out, nil
}

// jsonContains is @>: every part of b is in a.
func jsonContains(a, b *jnode, top bool) bool {
	switch b.kind {
	case '{':
		if a.kind != '{' {
			return false
		}
		for i, k := range b.keys {
			x := a.key(k)
			if x == nil || !jsonContains(x, &b.kids[i], false) {
				return false
			}
		}
		return true
	case '[':
		if a.kind != '[' {
			return false
		}
	next:
		for i := range b.kids {
			for k := range a.kids {
				if jsonContains(&a.kids[k], &b.kids[i], false) {
					continue next
				}
			}
			return false
		}
		return true
	}
	if a.kind == '[' && top { // an array contains a bare value
		for k := range a.kids {
			if jsonContains(&a.kids[k], b, false) {
				return true
			}
		}
		return false
	}
	return a.kind == b.kind && types.Compare(types.JSONBOID, Bytes(a.raw), Bytes(b.raw)) == 0
}
