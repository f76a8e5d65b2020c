package exec

import (
	"crypto/rand"
	"math"
	"time"

	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// Short names for the types in function tables.
const (
	tAny     = types.AnyOID
	tElem    = types.AnyElementOID
	tArr     = types.AnyArrayOID
	tBool    = types.BoolOID
	tBytea   = types.ByteaOID
	tText    = types.TextOID
	tName    = types.NameOID
	tInt2    = types.Int2OID
	tInt4    = types.Int4OID
	tInt8    = types.Int8OID
	tF4      = types.Float4OID
	tF8      = types.Float8OID
	tNum     = types.NumericOID
	tDate    = types.DateOID
	tTime    = types.TimeOID
	tTimetz  = types.TimetzOID
	tTS      = types.TimestampOID
	tTZ      = types.TimestamptzOID
	tIv      = types.IntervalOID
	tUUID    = types.UUIDOID
	tTextArr = types.TextArrayOID
	tJSON    = types.JSONOID
	tJSONB   = types.JSONBOID
)

type evalFn = func(c *Call) (types.Datum, error)

// fn is an immutable strict function.
func fn(name string, ret types.OID, eval evalFn, args ...types.OID) Func {
	return Func{Name: name, Args: args, Ret: ret, Eval: eval}
}

func stableFn(name string, ret types.OID, eval evalFn, args ...types.OID) Func {
	f := fn(name, ret, eval, args...)
	f.Vol = Stable
	return f
}

func volatileFn(name string, ret types.OID, eval evalFn, args ...types.OID) Func {
	f := fn(name, ret, eval, args...)
	f.Vol = Volatile
	return f
}

// nullable functions are called with NULL arguments.
func nullable(f Func) Func {
	f.NullCall = true
	return f
}

func variadic(f Func) Func {
	f.Variadic = true
	return f
}

// defaults lets the last n arguments be left out.
func defaults(n int, f Func) Func {
	f.Defaults = n
	return f
}

func argNames(f Func, names ...string) Func {
	f.ArgNames = names
	return f
}

func set(name string, ret types.OID, rows func(c *Call) (Iter, error), args ...types.OID) Func {
	return Func{Name: name, Args: args, Ret: ret, Set: true, Rows: rows}
}

func (c *Call) str(i int) string { return string(c.Args[i].B) }

func (c *Call) strOK(s string, err error) (types.Datum, error) {
	if err != nil {
		return types.Null, err
	}
	return Str(s), nil
}

// builtinLists are the functions of this package.
func builtinLists() [][]Func {
	return [][]Func{
		textFuncs(), textMoreFuncs(), unicodeFuncs(), bytesFuncs(), regexFuncs(), mathFuncs(), dateFuncs(), dateMoreFuncs(),
		arrayFuncs(), setFuncs(), jsonFuncs(), jsonSetFuncs(), pathFuncs(), miscFuncs(), formatFuncs(),
	}
}

func miscFuncs() []Func {
	uuid := func(c *Call) (types.Datum, error) {
		b := make([]byte, 16)
		if _, err := rand.Read(b); err != nil {
			return types.Null, err
		}
		b[6] = b[6]&0x0f | 0x40
		b[8] = b[8]&0x3f | 0x80
		return Bytes(b), nil
	}
	random := func(c *Call) (types.Datum, error) {
		var b [8]byte
		if _, err := rand.Read(b[:]); err != nil {
			return types.Null, err
		}
		return types.Float8(float64(uint64(be64(b[:]))>>11) / (1 << 53)), nil
	}
	num := func(nulls bool) evalFn {
		return func(c *Call) (types.Datum, error) {
			n := int64(0)
			args := c.Args
			if len(args) == 1 && types.IsArray(c.Types[0].OID) {
				es, _, err := arrayElems(args[0])
				if err != nil {
					return types.Null, err
				}
				args = es
			}
			for i := range args {
				if args[i].Valid != nulls {
					n++
				}
			}
			return Int(n), nil
		}
	}
	hash := func(c *Call) (types.Datum, error) {
		return Int(int64(int32(fnv(c.Args[0].B, 0)))), nil
	}
	hash8 := func(c *Call) (types.Datum, error) {
		return Int(int64(uint64(fnv(c.Args[0].B, 0))<<32 | uint64(fnv(c.Args[0].B, uint32(c.Args[1].I))))), nil
	}
	return []Func{
		volatileFn("gen_random_uuid", tUUID, uuid),
		volatileFn("uuid_generate_v4", tUUID, uuid),
		volatileFn("random", tF8, random),
		variadic(nullable(fn("num_nulls", tInt4, num(true), tAny))),
		variadic(nullable(fn("num_nonnulls", tInt4, num(false), tAny))),
		fn("hashtext", tInt4, hash, tText),
		fn("hashtextextended", tInt8, hash8, tText, tInt8),
		nullable(stableFn("pg_typeof", types.RegtypeOID, func(c *Call) (types.Datum, error) { return Int(int64(c.Types[0].OID)), nil }, tAny)),
		nullable(stableFn("pg_column_size", tInt4, func(c *Call) (types.Datum, error) {
			if !c.Args[0].Valid {
				return types.Null, nil
			}
			b := types.AppendBinary(nil, c.Types[0].OID, c.Args[0])
			if i, ok := types.Lookup(c.Types[0].OID); ok && i.Len > 0 {
				return Int(int64(i.Len)), nil
			}
			return Int(int64(len(b) + 1)), nil
		}, tAny)),
		volatileFn("pg_sleep", types.VoidOID, pgSleep, tF8),
		stableFn("pg_client_encoding", tName, func(*Call) (types.Datum, error) { return Str("UTF8"), nil }),
		fn("tidlarger", types.TidOID, func(c *Call) (types.Datum, error) { return c.Args[0], nil }, types.TidOID, types.TidOID),
	}
}

// fnv is a small hash; its values are not PostgreSQL's.
func fnv(b []byte, seed uint32) uint32 {
	h := 2166136261 ^ seed
	for _, x := range b {
		h = (h ^ uint32(x)) * 16777619
	}
	return h
}

func pgSleep(c *Call) (types.Datum, error) {
	s := Float(c.Args[0])
	if s <= 0 || math.IsNaN(s) {
		return types.Datum{B: emptyBytes, Valid: true}, nil
	}
	t := time.NewTimer(time.Duration(min(s, 1e9) * float64(time.Second)))
	defer t.Stop()
	if c.Ctx == nil || c.Context == nil {
		<-t.C
		return types.Datum{B: emptyBytes, Valid: true}, nil
	}
	select {
	case <-t.C:
		return types.Datum{B: emptyBytes, Valid: true}, nil
	case <-c.Done():
		return types.Null, c.CheckNow()
	}
}

// setFuncs return rows.
func setFuncs() []Func {
	series := func(oid types.OID) func(c *Call) (Iter, error) {
		return func(c *Call) (Iter, error) {
			from, to, step := c.Args[0].I, c.Args[1].I, int64(1)
			if len(c.Args) > 2 {
				step = c.Args[2].I
			}
			if step == 0 {
				return nil, pgerr.New(pgerr.InvalidParameterValue, "step size cannot equal zero")
			}
			row := make(Row, 1)
			done := false
			return &funcRows{next: func() (Row, error) {
				if done || step > 0 && from > to || step < 0 && from < to {
					return nil, EOF
				}
				if err := c.Check(); err != nil {
					return nil, err
				}
				row[0] = Int(from)
				next := from + step
				done = (next > from) != (step > 0)
				from = next
				return row, nil
			}}, nil
		}
	}
	stamps := func(tz bool) func(c *Call) (Iter, error) {
		return func(c *Call) (Iter, error) {
			from, to, step := c.Args[0], c.Args[1], c.Args[2]
			zero := types.Interval(0, 0, 0)
			sign := types.Compare(tIv, step, zero)
			if sign == 0 {
				return nil, pgerr.New(pgerr.InvalidParameterValue, "step size cannot equal zero")
			}
			row := make(Row, 1)
			return &funcRows{next: func() (Row, error) {
				if sign > 0 && from.I > to.I || sign < 0 && from.I < to.I {
					return nil, EOF
				}
				if err := c.Check(); err != nil {
					return nil, err
				}
				row[0] = from
				var err error
				if tz {
					from, err = types.TimestamptzAddInterval(c.Env, from, step)
				} else {
					from, err = types.TimestampAddInterval(from, step)
				}
				return row, err
			}}, nil
		}
	}
	numeric := func(c *Call) (Iter, error) {
		from, to, step := c.Args[0], c.Args[1], types.NumericFromInt64(1)
		if len(c.Args) > 2 {
			step = c.Args[2]
		}
		sign := types.NumericSign(step)
		if sign == 0 {
			return nil, pgerr.New(pgerr.InvalidParameterValue, "step size cannot equal zero")
		}
		row := make(Row, 1)
		return &funcRows{next: func() (Row, error) {
			if cmp := types.Compare(tNum, from, to); sign > 0 && cmp > 0 || sign < 0 && cmp < 0 {
				return nil, EOF
			}
			if err := c.Check(); err != nil {
				return nil, err
			}
			row[0] = from
			var err error
			from, err = types.NumericAdd(from, step)
			return row, err
		}}, nil
	}
	unnest := func(c *Call) (Iter, error) {
		es, _, err := arrayElems(c.Args[0])
		if err != nil {
			return nil, err
		}
		at := 0
		row := make(Row, 1)
		return &funcRows{next: func() (Row, error) {
			if at >= len(es) {
				return nil, EOF
			}
			row[0] = es[at]
			at++
			return row, nil
		}}, nil
	}
	subscripts := func(c *Call) (Iter, error) {
		_, dims, err := arrayElems(c.Args[0])
		if err != nil {
			return nil, err
		}
		d := int(c.Args[1].I)
		if d < 1 || d > len(dims) {
			return &SliceIter{}, nil
		}
		n := int(dims[d-1].Len)
		lo := int64(dims[d-1].Lower)
		rev := len(c.Args) > 2 && c.Args[2].Valid && c.Args[2].I != 0
		rows := make([]Row, n)
		for i := range n {
			v := lo + int64(i)
			if rev {
				v = lo + int64(n-1-i)
			}
			rows[i] = Row{Int(v)}
		}
		return &SliceIter{Items: rows}, nil
	}
	pairExpand := set("_pg_expandarray", types.RecordOID, func(c *Call) (Iter, error) {
		es, _, err := arrayElems(c.Args[0])
		if err != nil {
			return nil, err
		}
		rows := make([]Row, len(es))
		for i, e := range es {
			rows[i] = Row{e, Int(int64(i + 1))}
		}
		return &SliceIter{Items: rows}, nil
	}, types.Int2ArrayOID)
	pairExpand.Cols = []Column{{Name: "x", Type: types.T{OID: tInt2, Mod: -1}}, {Name: "n", Type: types.T{OID: tInt4, Mod: -1}}}
	vecExpand := pairExpand
	vecExpand.Args = []types.OID{types.Int2VectorOID}
	return []Func{
		set("generate_series", tInt4, series(tInt4), tInt4, tInt4),
		set("generate_series", tInt4, series(tInt4), tInt4, tInt4, tInt4),
		set("generate_series", tInt8, series(tInt8), tInt8, tInt8),
		set("generate_series", tInt8, series(tInt8), tInt8, tInt8, tInt8),
		set("generate_series", tNum, numeric, tNum, tNum),
		set("generate_series", tNum, numeric, tNum, tNum, tNum),
		set("generate_series", tTS, stamps(false), tTS, tTS, tIv),
		set("generate_series", tTZ, stamps(true), tTZ, tTZ, tIv),
		set("unnest", tElem, unnest, tArr),
		set("generate_subscripts", tInt4, subscripts, tArr, tInt4),
		set("generate_subscripts", tInt4, subscripts, tArr, tInt4, tBool),
		pairExpand, vecExpand,
	}
}

// same says whether two values are not distinct.
func same(oid types.OID, a, b *types.Datum) bool {
	return a.Valid == b.Valid && (!a.Valid || CompareDatum(oid, a, b) == 0)
}

// arrayFuncs work on arrays.
func arrayFuncs() []Func {
	dim := func(f func(d types.ArrayDim) int64) evalFn {
		return func(c *Call) (types.Datum, error) {
			_, dims, err := arrayElems(c.Args[0])
			n := c.Args[1].I
			if err != nil || n < 1 || n > int64(len(dims)) {
				return types.Null, err
			}
			return Int(f(dims[n-1])), nil
		}
	}
	elem := func(c *Call, i int) types.OID { return types.ElemOf(c.Types[i].OID) }
	// search finds the elements that are not distinct from a value, from a subscript on; found
	// says whether to go on.
	search := func(c *Call, from int64, found func(at int64) bool) error {
		es, dims, err := arrayElems(c.Args[0])
		if err != nil || len(dims) == 0 {
			return err
		}
		if len(dims) > 1 {
			return pgerr.New(pgerr.FeatureNotSupported, "searching for elements in multidimensional arrays is not supported")
		}
		lower := int64(dims[0].Lower)
		for i := range es {
			at := int64(i) + lower
			if at >= from && same(elem(c, 0), &es[i], &c.Args[1]) && !found(at) {
				break
			}
		}
		return nil
	}
	position := func(c *Call) (types.Datum, error) {
		if !c.Args[0].Valid {
			return types.Null, nil
		}
		from := int64(math.MinInt64)
		if len(c.Args) > 2 {
			if !c.Args[2].Valid {
				return types.Null, pgerr.New(pgerr.NullValueNotAllowed, "initial position must not be null")
			}
			from = c.Args[2].I
		}
		out := types.Null
		err := search(c, from, func(at int64) bool {
			out = Int(at)
			return false
		})
		return out, err
	}
	positions := func(c *Call) (types.Datum, error) {
		if !c.Args[0].Valid {
			return types.Null, nil
		}
		var all []types.Datum
		err := search(c, math.MinInt64, func(at int64) bool {
			all = append(all, Int(at))
			return true
		})
		return types.MakeArray(tInt4, all), err
	}
	replace := func(c *Call) (types.Datum, error) {
		if !c.Args[0].Valid {
			return types.Null, nil
		}
		es, dims, err := arrayElems(c.Args[0])
		if err != nil {
			return types.Null, err
		}
		remove := len(c.Args) == 2
		var out []types.Datum
		for i := range es {
			hit := same(elem(c, 0), &es[i], &c.Args[1])
			switch {
			case hit && remove:
				continue
			case hit:
				out = append(out, c.Args[2])
			default:
				out = append(out, es[i])
			}
		}
		if remove {
			if len(dims) > 1 {
				return types.Null, pgerr.New(pgerr.FeatureNotSupported, "removing elements from multidimensional arrays is not supported")
			}
			return types.MakeArray(elem(c, 0), out), nil
		}
		return types.MakeArrayDims(elem(c, 0), dims, out)
	}
	toString := func(c *Call) (types.Datum, error) {
		if !c.Args[0].Valid || !c.Args[1].Valid {
			return types.Null, nil
		}
		es, _, err := arrayElems(c.Args[0])
		if err != nil {
			return types.Null, err
		}
		var out []byte
		first := true
		for _, e := range es {
			var s []byte
			if !e.Valid {
				if len(c.Args) < 3 || !c.Args[2].Valid {
					continue
				}
				s = c.Args[2].B
			} else {
				s = c.textOf(elem(c, 0), e).B
			}
			if !first {
				out = append(out, c.Args[1].B...)
			}
			first = false
			out = append(out, s...)
		}
		return Bytes(out), nil
	}
	fill := func(c *Call) (types.Datum, error) {
		if !c.Args[1].Valid {
			return types.Null, pgerr.New(pgerr.NullValueNotAllowed, "dimension array or low bound array cannot be null")
		}
		ds, _, err := arrayElems(c.Args[1])
		if err != nil {
			return types.Null, err
		}
		n := int64(1)
		var dims []types.ArrayDim
		for _, d := range ds {
			n *= max(0, d.I)
			if n > 1<<24 {
				return types.Null, pgerr.New(pgerr.ProgramLimitExceeded, "array size exceeds the maximum allowed")
			}
			dims = append(dims, types.ArrayDim{Len: int32(d.I), Lower: 1})
		}
		if err := c.room(n * (elemSize + int64(len(c.Args[0].B)))); err != nil {
			return types.Null, err
		}
		es := make([]types.Datum, n)
		for i := range es {
			es[i] = c.Args[0]
		}
		return types.MakeArrayDims(c.Types[0].OID, dims, es)
	}
	return []Func{
		fn("array_length", tInt4, dim(func(d types.ArrayDim) int64 { return int64(d.Len) }), tArr, tInt4),
		fn("array_lower", tInt4, dim(func(d types.ArrayDim) int64 { return int64(d.Lower) }), tArr, tInt4),
		fn("array_upper", tInt4, dim(func(d types.ArrayDim) int64 { return int64(d.Lower) + int64(d.Len) - 1 }), tArr, tInt4),
		fn("cardinality", tInt4, func(c *Call) (types.Datum, error) {
			es, _, err := arrayElems(c.Args[0])
			return Int(int64(len(es))), err
		}, tArr),
		fn("array_ndims", tInt4, func(c *Call) (types.Datum, error) {
			_, ds, err := arrayElems(c.Args[0])
			if len(ds) == 0 {
				return types.Null, err
			}
			return Int(int64(len(ds))), err
		}, tArr),
		nullable(fn("array_position", tInt4, position, types.AnyCompatibleArrayOID, types.AnyCompatibleOID)),
		nullable(fn("array_position", tInt4, position, types.AnyCompatibleArrayOID, types.AnyCompatibleOID, tInt4)),
		nullable(fn("array_positions", types.Int4ArrayOID, positions, types.AnyCompatibleArrayOID, types.AnyCompatibleOID)),
		nullable(fn("array_remove", types.AnyCompatibleArrayOID, replace, types.AnyCompatibleArrayOID, types.AnyCompatibleOID)),
		nullable(fn("array_replace", types.AnyCompatibleArrayOID, replace, types.AnyCompatibleArrayOID, types.AnyCompatibleOID, types.AnyCompatibleOID)),
		nullable(fn("array_append", types.AnyCompatibleArrayOID, func(c *Call) (types.Datum, error) {
			return arrayPush(elem(c, 0), c.Args[0], c.Args[1], false)
		}, types.AnyCompatibleArrayOID, types.AnyCompatibleOID)),
		nullable(fn("array_prepend", types.AnyCompatibleArrayOID, func(c *Call) (types.Datum, error) {
			return arrayPush(elem(c, 1), c.Args[1], c.Args[0], true)
		}, types.AnyCompatibleOID, types.AnyCompatibleArrayOID)),
		nullable(fn("array_cat", types.AnyCompatibleArrayOID, func(c *Call) (types.Datum, error) {
			if !c.Args[0].Valid {
				return c.Args[1], nil
			}
			if !c.Args[1].Valid {
				return c.Args[0], nil
			}
			return arrayCat(elem(c, 0))(c.Ctx, c.Args[0], c.Args[1])
		}, types.AnyCompatibleArrayOID, types.AnyCompatibleArrayOID)),
		nullable(fn("array_to_string", tText, toString, tArr, tText)),
		nullable(fn("array_to_string", tText, toString, tArr, tText, tText)),
		nullable(fn("string_to_array", tTextArr, stringToArray, tText, tText)),
		nullable(fn("string_to_array", tTextArr, stringToArray, tText, tText, tText)),
		nullable(fn("array_fill", tArr, fill, tElem, types.Int4ArrayOID)),
		fn("trim_array", tArr, func(c *Call) (types.Datum, error) {
			es, _, err := arrayElems(c.Args[0])
			if err != nil {
				return types.Null, err
			}
			n := c.Args[1].I
			if n < 0 || n > int64(len(es)) {
				return types.Null, pgerr.New(pgerr.ArraySubscriptError, "number of elements to trim must be between 0 and %d", len(es))
			}
			return types.MakeArray(elem(c, 0), es[:len(es)-int(n)]), nil
		}, tArr, tInt4),
		fn("array_dims", tText, func(c *Call) (types.Datum, error) {
			_, ds, err := arrayElems(c.Args[0])
			if err != nil || len(ds) == 0 {
				return types.Null, err
			}
			var out []byte
			for _, d := range ds {
				out = append(out, '[')
				out = appendInt(out, int64(d.Lower))
				out = append(out, ':')
				out = appendInt(out, int64(d.Lower)+int64(d.Len)-1)
				out = append(out, ']')
			}
			return Bytes(out), nil
		}, tArr),
	}
}
