package exec

import (
	"errors"

	"github.com/eiderdb/eider/translate/jsonpath"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// pathValue is an item of a path's result: a JSON value, or a date or time that a method made.
type pathValue struct {
	jnode
	num  types.Datum // of a number, once it was needed
	when types.T     // the type of a date or time, with num as its value
}

// kindWhen is a pathValue's kind of dates and times.
const kindWhen = 'd'

// pathRun is one execution of a path.
type pathRun struct {
	c       *Ctx
	lax     bool
	root    *pathValue
	item    *pathValue // @
	vars    *jnode
	tz      bool // timestamps with and without zone may be compared
	size    int  // of the array whose subscript is being computed, -1 outside
	lenient bool // what is missing is no error, whatever the mode says
	depth   int
	objects int // of keyvalue(), apart from the document
}

// errEnough stops a run whose first result was all that was wanted.
var errEnough = errors.New("exec: enough of a path")

// pathFailure is an error of a path's run, which silence suppresses and predicates take for
// unknown.
type pathFailure struct{ err *pgerr.Error }

func (p pathFailure) Error() string { return p.err.Error() }
func (p pathFailure) Unwrap() error { return p.err }

func pathErr(code, format string, args ...any) error {
	return pathFailure{pgerr.New(code, format, args...)}
}

// soft says whether an error is of a kind that silence suppresses: also errors of numbers.
func soft(err error) bool {
	var f pathFailure
	if errors.As(err, &f) {
		return true
	}
	switch pgerr.CodeOf(err) {
	case pgerr.DivisionByZero, pgerr.NumericValueOutOfRange:
		return true
	}
	return false
}

// SQLSTATEs of SQL/JSON.
const (
	codeDatetime   = "22031"
	codeSubscript  = "22033"
	codeNonNumeric = "22036"
	codeSingleton  = "22038"
	codeNoArray    = "22039"
	codeNoMember   = "2203A"
	codeNoNumber   = "2203B"
	codeNoObject   = "2203C"
)

type emit func(v *pathValue) error

// next goes on with the step after n.
func (r *pathRun) next(n *jsonpath.Node, v *pathValue, out emit) error {
	if n.Next == nil {
		return out(v)
	}
	return r.step(n.Next, v, r.lax, out)
}

// unwrapped runs a step on every element of an array.
func (r *pathRun) unwrapped(n *jsonpath.Node, v *pathValue, out emit) error {
	for i := range v.kids {
		if err := r.step(n, &pathValue{jnode: v.kids[i]}, false, out); err != nil {
			return err
		}
	}
	return nil
}

// step runs n on an item. With unwrap an array stands for its elements where n has no use for it.
func (r *pathRun) step(n *jsonpath.Node, v *pathValue, unwrap bool, out emit) error {
	if r.depth++; r.depth > maxDepth {
		return pgerr.New(pgerr.StatementTooComplex, "stack depth limit exceeded")
	}
	defer func() { r.depth-- }()
	if err := r.c.Check(); err != nil {
		return err
	}
	isArray, isObject := v.kind == '[', v.kind == '{'
	structural := !r.lax && !r.lenient
	switch n.Op {
	case jsonpath.Null, jsonpath.True, jsonpath.False, jsonpath.String, jsonpath.Number, jsonpath.Variable:
		lit, err := r.literal(n)
		if err != nil {
			return err
		}
		return r.next(n, lit, out)
	case jsonpath.Root:
		return r.next(n, r.root, out)
	case jsonpath.Current:
		return r.next(n, r.item, out)
	case jsonpath.Last:
		if r.size < 0 {
			return pgerr.New(pgerr.SyntaxError, "evaluating jsonpath LAST outside of array subscript")
		}
		return r.next(n, pathNumber(types.NumericFromInt64(int64(r.size-1))), out)
	case jsonpath.Key:
		switch {
		case isObject:
			if k := v.key(n.Text); k != nil {
				return r.next(n, &pathValue{jnode: *k}, out)
			}
			if structural {
				return pathErr(codeNoMember, "JSON object does not contain key %q", n.Text)
			}
		case unwrap && isArray:
			return r.unwrapped(n, v, out)
		case structural:
			return pathErr(codeNoMember, "jsonpath member accessor can only be applied to an object")
		}
		return nil
	case jsonpath.AnyKey:
		switch {
		case isObject:
			return r.children(n, v, 1, 1, 1, out)
		case unwrap && isArray:
			return r.unwrapped(n, v, out)
		case structural:
			return pathErr(codeNoObject, "jsonpath wildcard member accessor can only be applied to an object")
		}
		return nil
	case jsonpath.AnyArray:
		switch {
		case isArray:
			return r.children(n, v, 1, 1, 1, out)
		case r.lax:
			return r.next(n, v, out)
		case structural:
			return pathErr(codeNoArray, "jsonpath wildcard array accessor can only be applied to an array")
		}
		return nil
	case jsonpath.Index:
		return r.index(n, v, out)
	case jsonpath.Any:
		saved := r.lenient
		r.lenient = true
		defer func() { r.lenient = saved }()
		if n.First == 0 {
			if err := r.next(n, v, out); err != nil {
				return err
			}
		}
		if isArray || isObject {
			return r.children(n, v, 1, n.First, n.Last, out)
		}
		return nil
	case jsonpath.Filter:
		if unwrap && isArray {
			return r.unwrapped(n, v, out)
		}
		t, err := r.nested(n.Left, v)
		if err != nil || t != isTrue {
			return err
		}
		return r.next(n, v, out)
	case jsonpath.Method:
		return r.method(n, v, unwrap, out)
	case jsonpath.Add, jsonpath.Sub, jsonpath.Mul, jsonpath.Div, jsonpath.Mod:
		return r.arithmetic(n, v, out)
	case jsonpath.Plus, jsonpath.Minus:
		return r.signed(n, v, out)
	}
	t, err := r.predicate(n, v)
	if err != nil {
		return err
	}
	lit := &pathValue{jnode: jnode{kind: 't', raw: []byte("true")}}
	switch t {
	case isFalse:
		lit.raw = []byte("false")
	case isUnknownBool:
		lit.jnode = jnode{kind: 'n', raw: []byte("null")}
	}
	return r.next(n, lit, out)
}

// children goes on with the items inside of v at levels first to last; Unbounded as first means
// the innermost ones.
func (r *pathRun) children(n *jsonpath.Node, v *pathValue, level, first, last uint32, out emit) error {
	if r.depth++; r.depth > maxDepth {
		return pgerr.New(pgerr.StatementTooComplex, "stack depth limit exceeded")
	}
	defer func() { r.depth-- }()
	for i := range v.kids {
		kid := &pathValue{jnode: v.kids[i]}
		container := kid.kind == '[' || kid.kind == '{'
		if level >= first || first == jsonpath.Unbounded && last == jsonpath.Unbounded && !container {
			if err := r.next(n, kid, out); err != nil {
				return err
			}
		}
		if level < last && container {
			if err := r.children(n, kid, level+1, first, last, out); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *pathRun) index(n *jsonpath.Node, v *pathValue, out emit) error {
	structural := !r.lax && !r.lenient
	if v.kind != '[' && !r.lax {
		if structural {
			return pathErr(codeNoArray, "jsonpath array accessor can only be applied to an array")
		}
		return nil
	}
	single := v.kind != '['
	size := len(v.kids)
	if single {
		size = 1
	}
	saved := r.size
	defer func() { r.size = saved }()
	for _, rng := range n.Args {
		r.size = size
		from, err := r.subscript(rng.From, v)
		if err != nil {
			return err
		}
		to := from
		if rng.To != nil {
			if to, err = r.subscript(rng.To, v); err != nil {
				return err
			}
		}
		if structural && (from < 0 || from > to || to >= int64(size)) {
			return pathErr(codeSubscript, "jsonpath array subscript is out of bounds")
		}
		for i := max(from, 0); i <= min(to, int64(size)-1); i++ {
			at := v
			if !single {
				at = &pathValue{jnode: v.kids[i]}
			}
			if err := r.next(n, at, out); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *pathRun) subscript(n *jsonpath.Node, v *pathValue) (int64, error) {
	list, err := r.collect(n, v, false)
	if err != nil {
		return 0, err
	}
	if len(list) != 1 || list[0].kind != '0' {
		return 0, pathErr(codeSubscript, "jsonpath array subscript is not a single numeric value")
	}
	d, err := r.number(list[0])
	if err == nil {
		if d, err = types.NumericTrunc(d, 0); err == nil {
			var i int64
			if i, err = types.NumericToInt64(d); err == nil && i == int64(int32(i)) {
				return i, nil
			}
		}
	}
	return 0, pathErr(codeSubscript, "jsonpath array subscript is out of integer range")
}

// collect runs a path for its items; with unwrap, arrays among them stand for their elements.
func (r *pathRun) collect(n *jsonpath.Node, v *pathValue, unwrap bool) ([]*pathValue, error) {
	var list []*pathValue
	err := r.step(n, v, r.lax, func(x *pathValue) error {
		if unwrap && r.lax && x.kind == '[' {
			for i := range x.kids {
				list = append(list, &pathValue{jnode: x.kids[i]})
			}
			return nil
		}
		list = append(list, x)
		return nil
	})
	return list, err
}

func (r *pathRun) literal(n *jsonpath.Node) (*pathValue, error) {
	switch n.Op {
	case jsonpath.Null:
		return &pathValue{jnode: jnode{kind: 'n', raw: []byte("null")}}, nil
	case jsonpath.True:
		return &pathValue{jnode: jnode{kind: 't', raw: []byte("true")}}, nil
	case jsonpath.False:
		return &pathValue{jnode: jnode{kind: 't', raw: []byte("false")}}, nil
	case jsonpath.String:
		return pathString(n.Text), nil
	case jsonpath.Number:
		d, err := types.Input(nil, numT, []byte(n.Text))
		return pathNumber(d), err
	}
	if r.vars != nil {
		if k := r.vars.key(n.Text); k != nil {
			return &pathValue{jnode: *k}, nil
		}
	}
	return nil, pgerr.New(pgerr.UndefinedObject, "could not find jsonpath variable %q", n.Text)
}

var numT = types.T{OID: types.NumericOID, Mod: -1}

func pathString(s string) *pathValue {
	return &pathValue{jnode: jnode{kind: '"', raw: types.AppendJSONString(nil, []byte(s))}}
}

func pathNumber(d types.Datum) *pathValue {
	return &pathValue{jnode: jnode{kind: '0', raw: types.AppendText(nil, nil, numT, d)}, num: d}
}

// number is the value of an item that is a number.
func (r *pathRun) number(v *pathValue) (types.Datum, error) {
	if !v.num.Valid {
		d, err := types.Input(nil, numT, v.raw)
		if err != nil {
			return types.Null, err
		}
		v.num = d
	}
	return v.num, nil
}

var arithmetic = map[jsonpath.Op]struct {
	symbol string
	f      func(a, b types.Datum) (types.Datum, error)
}{
	jsonpath.Add: {"+", types.NumericAdd}, jsonpath.Sub: {"-", types.NumericSub}, jsonpath.Mul: {"*", types.NumericMul},
	jsonpath.Div: {"/", types.NumericDiv}, jsonpath.Mod: {"%", types.NumericMod},
}

func (r *pathRun) arithmetic(n *jsonpath.Node, v *pathValue, out emit) error {
	op := arithmetic[n.Op]
	left, err := r.collect(n.Left, v, true)
	if err != nil {
		return err
	}
	right, err := r.collect(n.Right, v, true)
	if err != nil {
		return err
	}
	if len(left) != 1 || left[0].kind != '0' {
		return pathErr(codeSingleton, "left operand of jsonpath operator %s is not a single numeric value", op.symbol)
	}
	if len(right) != 1 || right[0].kind != '0' {
		return pathErr(codeSingleton, "right operand of jsonpath operator %s is not a single numeric value", op.symbol)
	}
	a, err := r.number(left[0])
	if err != nil {
		return err
	}
	b, err := r.number(right[0])
	if err != nil {
		return err
	}
	d, err := op.f(a, b)
	if err != nil {
		return err
	}
	return r.next(n, pathNumber(d), out)
}

func (r *pathRun) signed(n *jsonpath.Node, v *pathValue, out emit) error {
	list, err := r.collect(n.Left, v, true)
	if err != nil {
		return err
	}
	for _, x := range list {
		if x.kind != '0' {
			return pathErr(codeNoNumber, "operand of unary jsonpath operator %s is not a numeric value", map[jsonpath.Op]string{jsonpath.Plus: "+", jsonpath.Minus: "-"}[n.Op])
		}
		if n.Op == jsonpath.Minus {
			d, err := r.number(x)
			if err != nil {
				return err
			}
			if d, err = types.NumericNeg(d); err != nil {
				return err
			}
			x = pathNumber(d)
		}
		if err := r.next(n, x, out); err != nil {
			return err
		}
	}
	return nil
}
