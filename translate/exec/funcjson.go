package exec

import (
	"math"

	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// appendJSON writes a value as JSON, as to_json does.
func (c *Ctx) appendJSON(dst []byte, oid types.OID, d types.Datum) ([]byte, error) {
	if !d.Valid {
		return append(dst, "null"...), nil
	}
	switch oid {
	case types.BoolOID:
		if d.I != 0 {
			return append(dst, "true"...), nil
		}
		return append(dst, "false"...), nil
	case types.Int2OID, types.Int4OID, types.Int8OID:
		return appendInt(dst, d.I), nil
	case types.Float4OID, types.Float8OID:
		if f := Float(d); math.IsNaN(f) || math.IsInf(f, 0) {
			return types.AppendJSONString(dst, c.textOf(oid, d).B), nil
		}
		return append(dst, c.textOf(oid, d).B...), nil
	case types.NumericOID:
		if !types.NumericIsFinite(d) {
			return types.AppendJSONString(dst, c.textOf(oid, d).B), nil
		}
		return append(dst, c.textOf(oid, d).B...), nil
	case types.JSONOID, types.JSONBOID:
		return append(dst, d.B...), nil
	case types.TimestampOID, types.TimestamptzOID, types.DateOID:
		env := types.DefaultEnv()
		if c.Env != nil {
			e := *c.Env
			env = &e
		}
		env.DateStyle = types.DefaultEnv().DateStyle
		b := types.AppendText(env, nil, types.T{OID: oid, Mod: -1}, d)
		if oid != types.DateOID {
			for i := range b {
				if b[i] == ' ' {
					b[i] = 'T'
					break
				}
			}
			if n := len(b); oid == types.TimestamptzOID && n > 3 && (b[n-3] == '+' || b[n-3] == '-') {
				b = append(b, ":00"...)
			}
		}
		return types.AppendJSONString(dst, b), nil
	case types.RecordOID:
		dst = append(dst, '{')
		var err error
		for i := range d.R {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, `"f`...)
			dst = append(appendInt(dst, int64(i+1)), `":`...)
			if dst, err = c.appendJSON(dst, types.RecordField(d, i), d.R[i]); err != nil {
				return nil, err
			}
		}
		return append(dst, '}'), nil
	}
	if elem := types.ElemOf(oid); elem != 0 && types.IsArray(oid) {
		es, dims, err := arrayElems(d)
		if err != nil {
			return nil, err
		}
		return c.jsonArray(dst, elem, es, dims)
	}
	return types.AppendJSONString(dst, c.textOf(oid, d).B), nil
}

func (c *Ctx) jsonArray(dst []byte, elem types.OID, es []types.Datum, dims []types.ArrayDim) ([]byte, error) {
	dst = append(dst, '[')
	var err error
	if len(dims) > 1 {
		step := len(es) / int(dims[0].Len)
		for i := 0; i < int(dims[0].Len); i++ {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = c.jsonArray(dst, elem, es[i*step:(i+1)*step], dims[1:]); err != nil {
				return nil, err
			}
		}
		return append(dst, ']'), nil
	}
	for i := range es {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = c.appendJSON(dst, elem, es[i]); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

// finishJSON is a built text as json, or normalised as jsonb.
func (c *Ctx) finishJSON(b []byte, jsonb bool) (types.Datum, error) {
	if jsonb {
		return c.jsonb(b)
	}
	return Bytes(b), nil
}

func jsonAgg(jsonb bool) func(c *Ctx, spec *AggSpec, rows []Row) (types.Datum, error) {
	return func(c *Ctx, spec *AggSpec, rows []Row) (types.Datum, error) {
		out := []byte{'['}
		var err error
		for i, r := range rows {
			if i > 0 {
				out = append(out, ", "...)
			}
			if out, err = c.appendJSON(out, spec.ArgTypes[0].OID, r[0]); err != nil {
				return types.Null, err
			}
		}
		return c.finishJSON(append(out, ']'), jsonb)
	}
}

// appendKey writes an object key, which must be a plain value.
func (c *Ctx) appendKey(dst []byte, oid types.OID, d types.Datum) ([]byte, error) {
	if !d.Valid {
		return nil, pgerr.New(pgerr.NullValueNotAllowed, "field name must not be null")
	}
	if oid == types.JSONOID || oid == types.JSONBOID || oid == types.RecordOID || types.IsArray(oid) {
		return nil, pgerr.New(pgerr.InvalidParameterValue, "key value must be scalar, not array, composite, or json")
	}
	return types.AppendJSONString(dst, c.textOf(oid, d).B), nil
}

func jsonObjectAgg(jsonb bool) func(c *Ctx, spec *AggSpec, rows []Row) (types.Datum, error) {
	return func(c *Ctx, spec *AggSpec, rows []Row) (types.Datum, error) {
		out := []byte("{ ")
		var err error
		for i, r := range rows {
			if i > 0 {
				out = append(out, ", "...)
			}
			if out, err = c.appendKey(out, spec.ArgTypes[0].OID, r[0]); err != nil {
				return types.Null, err
			}
			out = append(out, " : "...)
			if out, err = c.appendJSON(out, spec.ArgTypes[1].OID, r[1]); err != nil {
				return types.Null, err
			}
		}
		return c.finishJSON(append(out, " }"...), jsonb)
	}
}

func jsonFuncs() []Func {
	var out []Func
	for _, jb := range []bool{false, true} {
		p, t := "json", tJSON
		if jb {
			p, t = "jsonb", tJSONB
		}
		build := func(name string, open, closing byte, object bool) {
			eval := func(c *Call) (types.Datum, error) {
				if object && len(c.Args)%2 != 0 {
					return types.Null, pgerr.New(pgerr.InvalidParameterValue, "argument list must have even number of elements").
						WithHint("The arguments of %s() must consist of alternating keys and values.", name)
				}
				b := []byte{open}
				var err error
				for i := range c.Args {
					if object && i%2 == 0 {
						if i > 0 {
							b = append(b, ", "...)
						}
						if !c.Args[i].Valid {
							return types.Null, pgerr.New(pgerr.NullValueNotAllowed, "argument %d cannot be null", i+1).
								WithHint("Object keys should be text.")
						}
						if b, err = c.appendKey(b, c.Types[i].OID, c.Args[i]); err != nil {
							return types.Null, err
						}
						b = append(b, " : "...)
						continue
					}
					if !object && i > 0 {
						b = append(b, ", "...)
					}
					if b, err = c.appendJSON(b, c.Types[i].OID, c.Args[i]); err != nil {
						return types.Null, err
					}
				}
				return c.finishJSON(append(b, closing), jb)
			}
			out = append(out, variadic(nullable(stableFn(name, t, eval, tAny))), nullable(stableFn(name, t, eval)))
		}
		build(p+"_build_object", '{', '}', true)
		build(p+"_build_array", '[', ']', false)
		to := func(c *Call) (types.Datum, error) {
			b, err := c.appendJSON(nil, c.Types[0].OID, c.Args[0])
			if err != nil {
				return types.Null, err
			}
			return c.finishJSON(b, jb)
		}
		out = append(out, stableFn("to_"+p, t, to, tElem))
		if !jb {
			out = append(out, stableFn("row_to_json", t, to, types.RecordOID), stableFn("array_to_json", t, to, tArr))
		}
		path := func(text bool) evalFn {
			return func(c *Call) (types.Datum, error) {
				n := parseJSON(c.Args[0].B)
				es := c.Args[1:]
				if len(es) == 1 && c.Types[1].OID == tTextArr {
					var err error
					if es, _, err = arrayElems(es[0]); err != nil {
						return types.Null, err
					}
				}
				return (&n).path(es).datum(text), nil
			}
		}
		out = append(
			out,
			variadic(fn(p+"_extract_path", t, path(false), t, tText)), variadic(fn(p+"_extract_path_text", tText, path(true), t, tText)),
			fn(p+"_typeof", tText, func(c *Call) (types.Datum, error) {
				n := parseJSON(c.Args[0].B)
				return Str(map[byte]string{'{': "object", '[': "array", '"': "string", '0': "number", 't': "boolean", 'n': "null"}[n.kind]), nil
			}, t),
			fn(p+"_array_length", tInt4, func(c *Call) (types.Datum, error) {
				n := parseJSON(c.Args[0].B)
				switch n.kind {
				case '[':
					return Int(int64(len(n.kids))), nil
				case '{':
					return types.Null, pgerr.New(pgerr.InvalidParameterValue, "cannot get array length of a non-array")
				}
				return types.Null, pgerr.New(pgerr.InvalidParameterValue, "cannot get array length of a scalar")
			}, t),
			fn(p+"_strip_nulls", t, func(c *Call) (types.Datum, error) {
				n := parseJSON(c.Args[0].B)
				return c.finishJSON(stripNulls(&n).render(nil), jb)
			}, t),
			fn(p+"_object", t, jsonObject(jb), tTextArr), fn(p+"_object", t, jsonObject(jb), tTextArr, tTextArr),
		)
	}
	setFn := func(insert bool) evalFn {
		return func(c *Call) (types.Datum, error) {
			n, v := parseJSON(c.Args[0].B), parseJSON(c.Args[2].B)
			es, _, err := arrayElems(c.Args[1])
			if err != nil {
				return types.Null, err
			}
			flag := len(c.Args) > 3 && c.Args[3].I != 0
			if insert {
				out, err := insertPath(&n, es, &v, flag)
				if err != nil {
					return types.Null, err
				}
				return c.jsonb(out.render(nil))
			}
			create := len(c.Args) <= 3 || flag
			return c.jsonb(setPath(&n, es, &v, create, false).render(nil))
		}
	}
	return append(
		out,
		defaults(1, fn("jsonb_set", tJSONB, setFn(false), tJSONB, tTextArr, tJSONB, tBool)),
		defaults(1, fn("jsonb_insert", tJSONB, setFn(true), tJSONB, tTextArr, tJSONB, tBool)),
		fn("jsonb_pretty", tText, func(c *Call) (types.Datum, error) {
			n := parseJSON(c.Args[0].B)
			return Bytes(n.pretty(nil, 0)), nil
		}, tJSONB),
	)
}

func stripNulls(n *jnode) *jnode {
	if n.kind != '{' && n.kind != '[' {
		return n
	}
	out := &jnode{kind: n.kind}
	for i := range n.kids {
		if n.kind == '{' && n.kids[i].kind == 'n' {
			continue
		}
		if n.kind == '{' {
			out.keys = append(out.keys, n.keys[i])
		}
		out.kids = append(out.kids, *stripNulls(&n.kids[i]))
	}
	return out
}

func (n *jnode) pretty(dst []byte, depth int) []byte {
	if n.kind != '{' && n.kind != '[' {
		return append(dst, n.raw...)
	}
	indent := func(k int) {
		dst = append(dst, '\n')
		for range k * 4 {
			dst = append(dst, ' ')
		}
	}
	dst = append(dst, n.kind)
	for i := range n.kids {
		if i > 0 {
			dst = append(dst, ',')
		}
		indent(depth + 1)
		if n.kind == '{' {
			dst = append(types.AppendJSONString(dst, []byte(n.keys[i])), ": "...)
		}
		dst = n.kids[i].pretty(dst, depth+1)
	}
	indent(depth)
	if n.kind == '{' {
		return append(dst, '}')
	}
	return append(dst, ']')
}

// jsonSetFuncs are the JSON functions that return rows.
func jsonSetFuncs() []Func {
	var out []Func
	for _, jb := range []bool{false, true} {
		p, t := "json", tJSON
		if jb {
			p, t = "jsonb", tJSONB
		}
		for _, text := range []bool{false, true} {
			suffix, vt := "", t
			if text {
				suffix, vt = "_text", tText
			}
			each := set(p+"_each"+suffix, types.RecordOID, func(c *Call) (Iter, error) {
				n := parseJSON(c.Args[0].B)
				if n.kind != '{' {
					return nil, pgerr.New(pgerr.InvalidParameterValue, "cannot call %s on a non-object", c.Func.Name)
				}
				rows := make([]Row, len(n.kids))
				for i := range n.kids {
					rows[i] = Row{Str(n.keys[i]), (&n.kids[i]).datum(text)}
				}
				return &SliceIter{Items: rows}, nil
			}, t)
			each.Cols = []Column{{Name: "key", Type: types.T{OID: tText, Mod: -1}}, {Name: "value", Type: types.T{OID: vt, Mod: -1}}}
			elems := set(p+"_array_elements"+suffix, vt, func(c *Call) (Iter, error) {
				n := parseJSON(c.Args[0].B)
				if n.kind != '[' {
					what := "a scalar"
					if n.kind == '{' {
						what = "an object"
					}
					return nil, pgerr.New(pgerr.InvalidParameterValue, "cannot extract elements from %s", what)
				}
				rows := make([]Row, len(n.kids))
				for i := range n.kids {
					rows[i] = Row{(&n.kids[i]).datum(text)}
				}
				return &SliceIter{Items: rows}, nil
			}, t)
			elems.Cols = []Column{{Name: "value", Type: types.T{OID: vt, Mod: -1}}}
			out = append(out, each, elems)
		}
		out = append(out, set(p+"_object_keys", tText, func(c *Call) (Iter, error) {
			n := parseJSON(c.Args[0].B)
			if n.kind != '{' {
				what := "a scalar"
				if n.kind == '[' {
					what = "an array"
				}
				return nil, pgerr.New(pgerr.InvalidParameterValue, "cannot call %s on %s", c.Func.Name, what)
			}
			rows := make([]Row, len(n.keys))
			for i, k := range n.keys {
				rows[i] = Row{Str(k)}
			}
			return &SliceIter{Items: rows}, nil
		}, t))
	}
	return out
}

// jsonObject builds an object of text arrays: keys and values, or one array that holds both in
// turn or in rows of two.
func jsonObject(jsonb bool) evalFn {
	subscripts := func(text string) error { return pgerr.New(pgerr.ArraySubscriptError, "%s", text) }
	pairs := func(c *Call) (keys, vals []types.Datum, err error) {
		es, dims, err := arrayElems(c.Args[0])
		if err != nil {
			return nil, nil, err
		}
		if len(c.Args) > 1 {
			vals, vdims, err := arrayElems(c.Args[1])
			switch {
			case err != nil:
				return nil, nil, err
			case len(dims) > 1 || len(dims) != len(vdims):
				return nil, nil, subscripts("wrong number of array subscripts")
			case len(es) != len(vals):
				return nil, nil, subscripts("mismatched array dimensions")
			}
			return es, vals, nil
		}
		switch {
		case len(dims) == 1 && len(es)%2 != 0:
			return nil, nil, subscripts("array must have even number of elements")
		case len(dims) == 2 && dims[1].Len != 2:
			return nil, nil, subscripts("array must have two columns")
		case len(dims) > 2:
			return nil, nil, subscripts("wrong number of array subscripts")
		}
		for i := 0; i < len(es); i += 2 {
			keys, vals = append(keys, es[i]), append(vals, es[i+1])
		}
		return keys, vals, nil
	}
	return func(c *Call) (types.Datum, error) {
		keys, vals, err := pairs(c)
		if err != nil {
			return types.Null, err
		}
		b := []byte{'{'}
		for i := range keys {
			if i > 0 {
				b = append(b, ", "...)
			}
			if !keys[i].Valid {
				return types.Null, pgerr.New(pgerr.NullValueNotAllowed, "null value not allowed for object key")
			}
			if b, err = c.appendKey(b, tText, keys[i]); err != nil {
				return types.Null, err
			}
			b = append(b, " : "...)
			if b, err = c.appendJSON(b, tText, vals[i]); err != nil {
				return types.Null, err
			}
		}
		return c.finishJSON(append(b, '}'), jsonb)
	}
}
