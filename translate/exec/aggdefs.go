package exec

import (
	"errors"
	"math"
	"math/bits"
	"sort"
	"sync"

	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

var errUnplaced = errors.New("exec: reference was not placed by the binder")

// AggDef is one overload of an aggregate.
type AggDef struct {
	Name string
	Args []types.OID
	Ret  types.OID
	Impl *AggImpl
	// Ordered aggregates take WITHIN GROUP; their last arguments are the ordered ones.
	Ordered bool
	// NeedOrder: the argument's type must have an order.
	NeedOrder bool
}

// IsAggregate says whether a name is an aggregate's.
func IsAggregate(name string) bool { return len(aggTable()[name]) > 0 }

// Aggregates are the overloads of an aggregate.
func Aggregates(name string) []AggDef { return aggTable()[name] }

// CountStar is count(*).
func CountStar() *AggImpl { return countStar }

var countStar = &AggImpl{New: func(*AggSpec) AggState { return &countState{} }, NullArgs: true}

type countState struct{ n int64 }

func (s *countState) Add(*Ctx, []types.Datum) error    { s.n++; return nil }
func (s *countState) Result(*Ctx) (types.Datum, error) { return Int(s.n), nil }

// sumInt sums integers in 128 bits.
type sumInt struct {
	hi   int64
	lo   uint64
	n    int64
	mode byte // 's' bigint sum, 'S' numeric sum, 'a' average
}

func (s *sumInt) Add(_ *Ctx, a []types.Datum) error {
	v := a[0].I
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, uint64(v), 0)
	s.hi += v>>63 + int64(carry)
	s.n++
	return nil
}

func (s *sumInt) numeric() (types.Datum, error) {
	if s.hi == int64(s.lo)>>63 {
		return types.NumericFromInt64(int64(s.lo)), nil
	}
	// hi·2^64 + lo
	two64, err := types.NumericAdd(types.NumericFromUint64(math.MaxUint64), types.NumericFromInt64(1))
	if err != nil {
		return types.Null, err
	}
	h, err := types.NumericMul(types.NumericFromInt64(s.hi), two64)
	if err != nil {
		return types.Null, err
	}
	return types.NumericAdd(h, types.NumericFromUint64(s.lo))
}

func (s *sumInt) Result(*Ctx) (types.Datum, error) {
	if s.n == 0 {
		return types.Null, nil
	}
	if s.mode == 's' {
		if s.hi != int64(s.lo)>>63 {
			return types.Null, pgerr.New(pgerr.NumericValueOutOfRange, "bigint out of range")
		}
		return Int(int64(s.lo)), nil
	}
	d, err := s.numeric()
	if err != nil || s.mode == 'S' {
		return d, err
	}
	return types.NumericDiv(d, types.NumericFromInt64(s.n))
}

type sumNumeric struct {
	sum types.Datum
	n   int64
	avg bool
}

func (s *sumNumeric) Add(_ *Ctx, a []types.Datum) error {
	s.n++
	if s.n == 1 {
		s.sum = types.Datum{B: append([]byte(nil), a[0].B...), Valid: true}
		return nil
	}
	d, err := types.NumericAdd(s.sum, a[0])
	s.sum = d
	return err
}

func (s *sumNumeric) Result(*Ctx) (types.Datum, error) {
	if s.n == 0 {
		return types.Null, nil
	}
	if s.avg {
		return types.NumericDiv(s.sum, types.NumericFromInt64(s.n))
	}
	return s.sum, nil
}

// floatAgg is sum, avg and the variance family over floats, by Youngs and Cramer's updates.
type floatAgg struct {
	n    float64
	sx   float64
	sxx  float64
	kind string
	f4   bool
}

func (s *floatAgg) Add(_ *Ctx, a []types.Datum) error {
	x := math.Float64frombits(uint64(a[0].I))
	s.n++
	s.sx += x
	if s.n > 1 {
		t := x*s.n - s.sx
		s.sxx += t * t / (s.n * (s.n - 1))
	} else if math.IsInf(x, 0) || math.IsNaN(x) {
		s.sxx = math.NaN()
	}
	return nil
}

func (s *floatAgg) Result(*Ctx) (types.Datum, error) {
	if s.n == 0 {
		return types.Null, nil
	}
	f := func(v float64) (types.Datum, error) {
		if s.f4 {
			v = float64(float32(v))
		}
		return types.Float8(v), nil
	}
	switch s.kind {
	case "sum":
		return f(s.sx)
	case "avg":
		return f(s.sx / s.n)
	case "var_pop":
		return f(s.sxx / s.n)
	case "stddev_pop":
		return f(math.Sqrt(s.sxx / s.n))
	}
	if s.n < 2 {
		return types.Null, nil
	}
	if s.kind == "var_samp" {
		return f(s.sxx / (s.n - 1))
	}
	return f(math.Sqrt(s.sxx / (s.n - 1)))
}

// numVar is the variance family over exact numbers.
type numVar struct {
	n       int64
	sx, sxx types.Datum
	kind    string
	toNum   func(types.Datum) types.Datum
}

func (s *numVar) Add(_ *Ctx, a []types.Datum) error {
	x := s.toNum(a[0])
	sq, err := types.NumericMul(x, x)
	if err != nil {
		return err
	}
	if s.n == 0 {
		s.sx, s.sxx = types.Datum{B: append([]byte(nil), x.B...), Valid: true}, sq
	} else {
		if s.sx, err = types.NumericAdd(s.sx, x); err != nil {
			return err
		}
		if s.sxx, err = types.NumericAdd(s.sxx, sq); err != nil {
			return err
		}
	}
	s.n++
	return nil
}

func (s *numVar) Result(*Ctx) (types.Datum, error) {
	pop := s.kind == "var_pop" || s.kind == "stddev_pop"
	if s.n == 0 || s.n == 1 && !pop {
		return types.Null, nil
	}
	n := types.NumericFromInt64(s.n)
	a, err := types.NumericMul(n, s.sxx)
	if err != nil {
		return types.Null, err
	}
	b, err := types.NumericMul(s.sx, s.sx)
	if err != nil {
		return types.Null, err
	}
	num, err := types.NumericSub(a, b)
	if err != nil {
		return types.Null, err
	}
	if types.NumericSign(num) <= 0 && !types.NumericIsNaN(num) {
		return types.NumericFromInt64(0), nil
	}
	d := n
	if !pop {
		d = types.NumericFromInt64(s.n - 1)
	}
	den, err := types.NumericMul(n, d)
	if err != nil {
		return types.Null, err
	}
	v, err := types.NumericDiv(num, den)
	if err != nil || s.kind == "var_pop" || s.kind == "var_samp" {
		return v, err
	}
	return types.NumericSqrt(v)
}

type sumInterval struct {
	sum types.Datum
	n   int64
	avg bool
}

func (s *sumInterval) Add(_ *Ctx, a []types.Datum) error {
	s.n++
	if s.n == 1 {
		s.sum = a[0]
		return nil
	}
	d, err := types.IntervalAdd(s.sum, a[0])
	s.sum = d
	return err
}

func (s *sumInterval) Result(*Ctx) (types.Datum, error) {
	if s.n == 0 {
		return types.Null, nil
	}
	if s.avg {
		return types.IntervalDiv(s.sum, float64(s.n))
	}
	return s.sum, nil
}

// extreme is min and max.
type extreme struct {
	oid  types.OID
	max  bool
	best types.Datum
	buf  []byte
}

func (s *extreme) Add(_ *Ctx, a []types.Datum) error {
	if s.best.Valid {
		cmp := CompareDatum(s.oid, &a[0], &s.best)
		if s.max && cmp <= 0 || !s.max && cmp >= 0 {
			return nil
		}
	}
	s.best = a[0]
	if a[0].B != nil {
		s.buf = append(s.buf[:0:0], a[0].B...)
		s.best.B = s.buf
	}
	return nil
}

func (s *extreme) Result(*Ctx) (types.Datum, error) { return s.best, nil }

type boolAgg struct {
	and bool
	v   types.Datum
}

func (s *boolAgg) Add(_ *Ctx, a []types.Datum) error {
	switch {
	case !s.v.Valid:
		s.v = a[0]
	case s.and:
		s.v.I &= a[0].I
	default:
		s.v.I |= a[0].I
	}
	return nil
}

func (s *boolAgg) Result(*Ctx) (types.Datum, error) { return s.v, nil }

type bitAgg struct {
	op byte
	v  types.Datum
}

func (s *bitAgg) Add(_ *Ctx, a []types.Datum) error {
	switch {
	case !s.v.Valid:
		s.v = a[0]
	case s.op == '&':
		s.v.I &= a[0].I
	case s.op == '|':
		s.v.I |= a[0].I
	default:
		s.v.I ^= a[0].I
	}
	return nil
}

func (s *bitAgg) Result(*Ctx) (types.Datum, error) { return s.v, nil }

// stringAgg joins strings. The first value's delimiter is not used.
type stringAgg struct {
	buf   []byte
	any   bool
	store *rowStore
}

func (s *stringAgg) use(st *rowStore) { s.store = st }

func (s *stringAgg) Add(_ *Ctx, a []types.Datum) error {
	before := cap(s.buf)
	if s.any && a[1].Valid {
		s.buf = append(s.buf, a[1].B...)
	}
	s.any = true
	s.buf = append(s.buf, a[0].B...)
	return s.store.grow(int64(cap(s.buf) - before))
}

func (s *stringAgg) Result(*Ctx) (types.Datum, error) {
	if !s.any {
		return types.Null, nil
	}
	return Bytes(s.buf), nil
}

// listAgg keeps its arguments' rows; make turns them into the result.
type listAgg struct {
	store *rowStore
	rows  []Row
	make  func(c *Ctx, spec *AggSpec, rows []Row) (types.Datum, error)
	spec  *AggSpec
}

func (s *listAgg) use(st *rowStore) { s.store = st }

func (s *listAgg) Add(_ *Ctx, a []types.Datum) error {
	k, err := s.store.keep(a)
	if err != nil {
		return err
	}
	s.rows = append(s.rows, k)
	return nil
}

func (s *listAgg) Result(c *Ctx) (types.Datum, error) {
	if len(s.rows) == 0 {
		return types.Null, nil
	}
	return s.make(c, s.spec, s.rows)
}

func listImpl(nullArgs bool, f func(c *Ctx, spec *AggSpec, rows []Row) (types.Datum, error)) *AggImpl {
	return &AggImpl{NullArgs: nullArgs, New: func(s *AggSpec) AggState { return &listAgg{make: f, spec: s} }}
}

func arrayAgg(_ *Ctx, spec *AggSpec, rows []Row) (types.Datum, error) {
	elems := make([]types.Datum, len(rows))
	for i, r := range rows {
		elems[i] = r[0]
	}
	return makeArrayOf(spec.ArgTypes[0].OID, elems)
}

// makeArrayOf builds an array of elements, which may be arrays themselves.
func makeArrayOf(oid types.OID, elems []types.Datum) (types.Datum, error) {
	if !types.IsArray(oid) {
		return types.MakeArray(oid, elems), nil
	}
	return accumulate(types.ElemOf(oid), elems)
}

// percentile: rows are (fraction, value), sorted by value.
func percentile(cont bool) func(*Ctx, *AggSpec, []Row) (types.Datum, error) {
	return func(_ *Ctx, spec *AggSpec, rows []Row) (types.Datum, error) {
		at := func(p float64) (types.Datum, error) {
			if p < 0 || p > 1 || math.IsNaN(p) {
				return types.Null, pgerr.New(pgerr.NumericValueOutOfRange, "percentile value %g is not between 0 and 1", p)
			}
			n := float64(len(rows))
			if !cont {
				i := int(math.Ceil(p*n)) - 1
				return rows[max(0, i)][1], nil
			}
			pos := p * (n - 1)
			lo, hi := int(math.Floor(pos)), int(math.Ceil(pos))
			a := rows[lo][1]
			if lo == hi {
				return a, nil
			}
			b := rows[hi][1]
			frac := pos - float64(lo)
			if spec.ArgTypes[1].OID == types.IntervalOID {
				d, err := types.IntervalSub(b, a)
				if err != nil {
					return types.Null, err
				}
				if d, err = types.IntervalMul(d, frac); err != nil {
					return types.Null, err
				}
				return types.IntervalAdd(a, d)
			}
			x, y := math.Float64frombits(uint64(a.I)), math.Float64frombits(uint64(b.I))
			return types.Float8(x + (y-x)*frac), nil
		}
		if types.IsArray(spec.ArgTypes[0].OID) {
			elems, _, err := arrayElems(rows[0][0])
			if err != nil {
				return types.Null, err
			}
			out := make([]types.Datum, len(elems))
			for i, e := range elems {
				if e.Valid {
					if out[i], err = at(math.Float64frombits(uint64(e.I))); err != nil {
						return types.Null, err
					}
				}
			}
			return types.MakeArray(spec.ArgTypes[1].OID, out), nil
		}
		return at(math.Float64frombits(uint64(rows[0][0].I)))
	}
}

func mode(_ *Ctx, spec *AggSpec, rows []Row) (types.Datum, error) {
	oid := spec.ArgTypes[0].OID
	best, bestN := rows[0][0], 0
	for i := 0; i < len(rows); {
		j := i + 1
		for j < len(rows) && CompareDatum(oid, &rows[i][0], &rows[j][0]) == 0 {
			j++
		}
		if j-i > bestN {
			best, bestN = rows[i][0], j-i
		}
		i = j
	}
	return best, nil
}

// regr is the family over pairs (Y, X).
type regr struct {
	n, sx, sy, sxx, syy, sxy float64
	kind                     string
}

func (s *regr) Add(_ *Ctx, a []types.Datum) error {
	y, x := math.Float64frombits(uint64(a[0].I)), math.Float64frombits(uint64(a[1].I))
	s.n++
	s.sx += x
	s.sy += y
	if s.n > 1 {
		tx, ty, sc := x*s.n-s.sx, y*s.n-s.sy, 1/(s.n*(s.n-1))
		s.sxx += tx * tx * sc
		s.syy += ty * ty * sc
		s.sxy += tx * ty * sc
	}
	return nil
}

func (s *regr) Result(*Ctx) (types.Datum, error) {
	if s.kind == "regr_count" {
		return Int(int64(s.n)), nil
	}
	if s.n < 1 || s.kind == "covar_samp" && s.n < 2 {
		return types.Null, nil
	}
	var v float64
	switch s.kind {
	case "covar_pop":
		v = s.sxy / s.n
	case "covar_samp":
		v = s.sxy / (s.n - 1)
	case "corr":
		if s.sxx == 0 || s.syy == 0 {
			return types.Null, nil
		}
		v = s.sxy / math.Sqrt(s.sxx*s.syy)
	case "regr_slope":
		if s.sxx == 0 {
			return types.Null, nil
		}
		v = s.sxy / s.sxx
	case "regr_intercept":
		if s.sxx == 0 {
			return types.Null, nil
		}
		v = (s.sy - s.sx*s.sxy/s.sxx) / s.n
	case "regr_r2":
		if s.sxx == 0 {
			return types.Null, nil
		}
		v = 1
		if s.syy != 0 {
			v = s.sxy * s.sxy / (s.sxx * s.syy)
		}
	case "regr_avgx":
		v = s.sx / s.n
	case "regr_avgy":
		v = s.sy / s.n
	case "regr_sxx":
		v = s.sxx
	case "regr_syy":
		v = s.syy
	case "regr_sxy":
		v = s.sxy
	}
	return types.Float8(v), nil
}

// aggTable lists the aggregates by name.
var aggTable = sync.OnceValue(func() map[string][]AggDef {
	m := make(map[string][]AggDef)
	add := func(name string, ret types.OID, impl *AggImpl, args ...types.OID) {
		m[name] = append(m[name], AggDef{Name: name, Args: args, Ret: ret, Impl: impl})
	}
	simple := func(f func() AggState) *AggImpl {
		return &AggImpl{New: func(*AggSpec) AggState { return f() }}
	}
	add("count", types.Int8OID, simple(func() AggState { return &countState{} }), types.AnyOID)
	for _, t := range []types.OID{types.Int2OID, types.Int4OID} {
		add("sum", types.Int8OID, simple(func() AggState { return &sumInt{mode: 's'} }), t)
	}
	add("sum", types.NumericOID, simple(func() AggState { return &sumInt{mode: 'S'} }), types.Int8OID)
	for _, t := range []types.OID{types.Int2OID, types.Int4OID, types.Int8OID} {
		add("avg", types.NumericOID, simple(func() AggState { return &sumInt{mode: 'a'} }), t)
	}
	add("sum", types.NumericOID, simple(func() AggState { return &sumNumeric{} }), types.NumericOID)
	add("avg", types.NumericOID, simple(func() AggState { return &sumNumeric{avg: true} }), types.NumericOID)
	add("sum", types.Float4OID, simple(func() AggState { return &floatAgg{kind: "sum", f4: true} }), types.Float4OID)
	add("sum", types.Float8OID, simple(func() AggState { return &floatAgg{kind: "sum"} }), types.Float8OID)
	for _, t := range []types.OID{types.Float4OID, types.Float8OID} {
		add("avg", types.Float8OID, simple(func() AggState { return &floatAgg{kind: "avg"} }), t)
	}
	add("sum", types.IntervalOID, simple(func() AggState { return &sumInterval{} }), types.IntervalOID)
	add("avg", types.IntervalOID, simple(func() AggState { return &sumInterval{avg: true} }), types.IntervalOID)
	for name, kind := range map[string]string{
		"variance": "var_samp", "var_samp": "var_samp", "var_pop": "var_pop",
		"stddev": "stddev_samp", "stddev_samp": "stddev_samp", "stddev_pop": "stddev_pop",
	} {
		for _, t := range []types.OID{types.Float4OID, types.Float8OID} {
			add(name, types.Float8OID, simple(func() AggState { return &floatAgg{kind: kind} }), t)
		}
		for _, t := range []types.OID{types.Int2OID, types.Int4OID, types.Int8OID} {
			add(name, types.NumericOID, simple(func() AggState {
				return &numVar{kind: kind, toNum: func(d types.Datum) types.Datum { return types.NumericFromInt64(d.I) }}
			}), t)
		}
		add(name, types.NumericOID, simple(func() AggState {
			return &numVar{kind: kind, toNum: func(d types.Datum) types.Datum { return d }}
		}), types.NumericOID)
	}
	for _, t := range []types.OID{
		types.Int8OID, types.Int4OID, types.Int2OID, types.OidOID, types.Float4OID, types.Float8OID, types.NumericOID,
		types.TextOID, types.BpcharOID, types.DateOID, types.TimeOID, types.TimetzOID, types.TimestampOID,
		types.TimestamptzOID, types.IntervalOID, types.AnyArrayOID, types.TidOID, types.PgLSNOID,
	} {
		for _, name := range []string{"min", "max"} {
			add(name, t, &AggImpl{New: func(s *AggSpec) AggState {
				return &extreme{oid: s.ArgTypes[0].OID, max: s.Name == "max"}
			}}, t)
		}
	}
	add("bool_and", types.BoolOID, simple(func() AggState { return &boolAgg{and: true} }), types.BoolOID)
	add("every", types.BoolOID, simple(func() AggState { return &boolAgg{and: true} }), types.BoolOID)
	add("bool_or", types.BoolOID, simple(func() AggState { return &boolAgg{} }), types.BoolOID)
	for name, op := range map[string]byte{"bit_and": '&', "bit_or": '|', "bit_xor": '^'} {
		for _, t := range []types.OID{types.Int2OID, types.Int4OID, types.Int8OID} {
			add(name, t, simple(func() AggState { return &bitAgg{op: op} }), t)
		}
	}
	strs := &AggImpl{FirstOnly: true, New: func(*AggSpec) AggState { return &stringAgg{} }}
	add("string_agg", types.TextOID, strs, types.TextOID, types.TextOID)
	add("string_agg", types.ByteaOID, strs, types.ByteaOID, types.ByteaOID)
	add("array_agg", types.AnyArrayOID, listImpl(true, arrayAgg), types.AnyNonArrayOID)
	add("array_agg", types.AnyArrayOID, listImpl(true, arrayAgg), types.AnyArrayOID)
	add("json_agg", types.JSONOID, listImpl(true, jsonAgg(false)), types.AnyElementOID)
	add("jsonb_agg", types.JSONBOID, listImpl(true, jsonAgg(true)), types.AnyElementOID)
	add("json_object_agg", types.JSONOID, listImpl(true, jsonObjectAgg(false)), types.AnyOID, types.AnyOID)
	add("jsonb_object_agg", types.JSONBOID, listImpl(true, jsonObjectAgg(true)), types.AnyOID, types.AnyOID)
	for _, k := range []string{
		"regr_count", "covar_pop", "covar_samp", "corr", "regr_slope", "regr_intercept", "regr_r2",
		"regr_avgx", "regr_avgy", "regr_sxx", "regr_syy", "regr_sxy",
	} {
		ret := types.Float8OID
		if k == "regr_count" {
			ret = types.Int8OID
		}
		add(k, ret, simple(func() AggState { return &regr{kind: k} }), types.Float8OID, types.Float8OID)
	}
	ordered := func(name string, ret types.OID, f func(*Ctx, *AggSpec, []Row) (types.Datum, error), args ...types.OID) {
		m[name] = append(m[name], AggDef{Name: name, Args: args, Ret: ret, Impl: listImpl(false, f), Ordered: true})
	}
	ordered("percentile_cont", types.Float8OID, percentile(true), types.Float8OID, types.Float8OID)
	ordered("percentile_cont", types.IntervalOID, percentile(true), types.Float8OID, types.IntervalOID)
	ordered("percentile_cont", types.Float8ArrayOID, percentile(true), types.Float8ArrayOID, types.Float8OID)
	ordered("percentile_disc", types.AnyElementOID, percentile(false), types.Float8OID, types.AnyElementOID)
	ordered("percentile_disc", types.AnyArrayOID, percentile(false), types.Float8ArrayOID, types.AnyElementOID)
	ordered("mode", types.AnyElementOID, mode, types.AnyElementOID)
	return m
})

// AggregateNames lists the aggregates, for pg_proc.
func AggregateNames() []string {
	var out []string
	for n := range aggTable() {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}
