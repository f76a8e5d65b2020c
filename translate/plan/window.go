package plan

import (
	"strings"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// winCall is one window call with its definition.
type winCall struct {
	call  *exec.WindowCall
	part  []exec.Expr
	order []exec.AggOrder
	frame exec.FrameSpec
	group string // equal for calls that share a definition
}

// mapAll rewrites every expression of the call.
func (w *winCall) mapAll(f func(exec.Expr) (exec.Expr, error)) error {
	var err error
	each := func(l []exec.Expr) error {
		for i := range l {
			if l[i], err = f(l[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := each(w.part); err != nil {
		return err
	}
	if err := each(w.call.Args); err != nil {
		return err
	}
	for i := range w.order {
		if w.order[i].Expr, err = f(w.order[i].Expr); err != nil {
			return err
		}
	}
	if a := w.call.Agg; a != nil {
		if err := each(a.Args); err != nil {
			return err
		}
		for i := range a.Order {
			if a.Order[i].Expr, err = f(a.Order[i].Expr); err != nil {
				return err
			}
		}
		if a.Filter != nil {
			if a.Filter, err = f(a.Filter); err != nil {
				return err
			}
		}
	}
	for _, e := range []*exec.FrameEnd{&w.frame.Start, &w.frame.End} {
		if e.Offset != nil {
			if e.Offset, err = f(e.Offset); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *Binder) windowCall(sc *scope, x *ast.FuncCall) (exec.Expr, error) {
	pos := int(x.Pos)
	name := x.Name.Name
	if b.agg == nil || b.clause != "" {
		where := b.clause
		if where == "" {
			where = "this context"
		}
		return nil, b.err(pos, pgerr.WindowingError, "window functions are not allowed in %s", where)
	}
	if b.agg.inWin {
		if b.agg.inDef {
			return nil, b.err(pos, pgerr.WindowingError, "window functions are not allowed in window definitions")
		}
		return nil, b.err(pos, pgerr.WindowingError, "window function calls cannot be nested")
	}
	if b.agg.inAgg {
		return nil, b.err(pos, pgerr.GroupingError, "aggregate function calls cannot contain window function calls")
	}
	if x.Distinct {
		return nil, b.err(pos, pgerr.FeatureNotSupported, "DISTINCT is not implemented for window functions")
	}
	if len(x.WithinGroup) > 0 && (exec.IsAggregate(name) || exec.Hypothetical(name) != nil) {
		return nil, b.err(pos, pgerr.FeatureNotSupported, "OVER is not supported for ordered-set aggregate %s", name)
	}
	b.agg.inWin = true
	defer func() { b.agg.inWin = false }()
	w := &winCall{call: &exec.WindowCall{Name: name}}
	switch {
	case exec.IsAggregate(name):
		if len(x.OrderBy) > 0 {
			return nil, b.err(pos, pgerr.FeatureNotSupported, "aggregate ORDER BY is not implemented for window functions")
		}
		spec, err := b.windowAgg(sc, x)
		if err != nil {
			return nil, err
		}
		w.call.Agg, w.call.T = spec, spec.T
	case exec.IsWindowOnly(name):
		if err := b.windowFunc(sc, x, w.call); err != nil {
			return nil, err
		}
	default:
		if len(b.funcs().Lookup(name)) > 0 {
			return nil, b.err(pos, pgerr.WrongObjectType, "OVER specified, but %s is not a window function nor an aggregate function", name)
		}
		return nil, b.err(pos, pgerr.UndefinedFunction, "function %s() does not exist", name)
	}
	b.agg.inDef = true
	err := b.windowDef(sc, x.Over, w, pos)
	b.agg.inDef = false
	if err != nil {
		return nil, err
	}
	b.agg.wins = append(b.agg.wins, w)
	return &exec.WinRef{N: len(b.agg.wins) - 1, T: w.call.T}, nil
}

// windowAgg binds an aggregate used as a window function.
func (b *Binder) windowAgg(sc *scope, x *ast.FuncCall) (*exec.AggSpec, error) {
	plain := *x
	plain.Over = nil
	// Its arguments may hold aggregates of the grouped query.
	return b.aggSpecIn(sc, &plain, false)
}

func (b *Binder) windowFunc(sc *scope, x *ast.FuncCall, call *exec.WindowCall) error {
	pos := int(x.Pos)
	if x.Filter != nil {
		return b.err(pos, pgerr.FeatureNotSupported, "FILTER is not implemented for non-aggregate window functions")
	}
	args, err := b.exprs(sc, x.Args)
	if err != nil {
		return err
	}
	bad := func() error {
		actual := make([]types.OID, len(args))
		for i, a := range args {
			actual[i] = a.Type().OID
		}
		return b.err(pos, pgerr.UndefinedFunction, "function %s does not exist", signature(call.Name, actual)).
			WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
	}
	asInt := func(i int) error {
		c, err := b.coerce(args[i], typ(types.Int4OID), types.Implicit, x.Args[i].Position())
		if err == nil && c == nil {
			err = bad()
		}
		if err != nil {
			return err
		}
		args[i] = c
		return nil
	}
	lo, hi := 0, 0
	switch call.Name {
	case "row_number", "rank", "dense_rank":
		call.T = int8T
	case "percent_rank", "cume_dist":
		call.T = typ(types.Float8OID)
	case "ntile":
		lo, hi, call.T = 1, 1, typ(types.Int4OID)
	case "first_value", "last_value":
		lo, hi = 1, 1
	case "nth_value":
		lo, hi = 2, 2
	default:
		lo, hi = 1, 3
	}
	if len(args) < lo || len(args) > hi {
		return bad()
	}
	if call.Name == "ntile" {
		if err := asInt(0); err != nil {
			return err
		}
	} else if lo > 0 {
		if len(args) > 1 {
			if err := asInt(1); err != nil {
				return err
			}
		}
		vals := []exec.Expr{args[0]}
		if len(args) > 2 {
			vals = append(vals, args[2])
		}
		vals, t, err := b.unify(vals, strings.ToUpper(call.Name), func(int) int { return pos })
		if err != nil {
			return bad()
		}
		args[0] = vals[0]
		if len(args) > 2 {
			args[2] = vals[1]
		}
		call.T = t
	}
	call.Args = args
	return nil
}

// windowDef binds OVER, with the named window it extends.
func (b *Binder) windowDef(sc *scope, def *ast.Window, w *winCall, pos int) error {
	over := def
	var base *ast.Window
	if over.Name != "" {
		base = b.agg.named[over.Name]
		if base == nil {
			return b.err(def.Pos, pgerr.UndefinedObject, "window %q does not exist", over.Name)
		}
	}
	part, order, frame := over.PartitionBy, over.OrderBy, over.Frame
	for depth := 0; base != nil; depth++ {
		if len(over.PartitionBy) > 0 {
			return b.err(def.Pos, pgerr.WindowingError, "cannot override PARTITION BY clause of window %q", over.Name)
		}
		if len(part) == 0 {
			part = base.PartitionBy
		}
		if len(base.OrderBy) > 0 {
			if len(order) > 0 {
				return b.err(def.Pos, pgerr.WindowingError, "cannot override ORDER BY clause of window %q", over.Name)
			}
			order = base.OrderBy
		}
		if frame == nil {
			frame = base.Frame
		}
		if base.Name == "" || depth > 100 {
			break
		}
		over, base = base, b.agg.named[base.Name]
	}
	for _, e := range part {
		x, err := b.expr(sc, e)
		if err != nil {
			return err
		}
		x = b.resolveUnknown(x)
		if !b.hasOrder(x.Type().OID) {
			return b.err(e.Position(), pgerr.UndefinedFunction, "could not identify an ordering operator for type %s", types.TypeName(x.Type().OID))
		}
		w.part = append(w.part, x)
	}
	for _, o := range order {
		x, err := b.expr(sc, o.Expr)
		if err != nil {
			return err
		}
		x = b.resolveUnknown(x)
		k, err := b.sortKey(o, 0, x.Type().OID)
		if err != nil {
			return err
		}
		w.order = append(w.order, exec.AggOrder{Expr: x, Key: k})
	}
	if err := b.windowFrame(sc, frame, w, pos); err != nil {
		return err
	}
	var key strings.Builder
	for _, e := range w.part {
		b.fixExpr(e) // definitions are shared by what they say
		key.WriteString(exprKey(e) + ";")
	}
	for _, o := range w.order {
		b.fixExpr(o.Expr)
		key.WriteString("|" + exprKey(o.Expr) + boolKey(o.Key.Desc) + boolKey(o.Key.NullsFirst))
	}
	key.WriteString("#" + string(w.frame.Mode) + string(w.frame.Start.Kind) + string(w.frame.End.Kind) + w.frame.Exclude)
	for _, e := range []exec.FrameEnd{w.frame.Start, w.frame.End} {
		if e.Offset != nil {
			key.WriteString("@" + exprKey(e.Offset))
			b.fixExpr(e.Offset)
		}
	}
	w.group = key.String()
	return nil
}

func (b *Binder) windowFrame(sc *scope, f *ast.Frame, w *winCall, pos int) error {
	w.frame = exec.FrameSpec{Mode: 'R', Start: exec.FrameEnd{Kind: 'U'}, End: exec.FrameEnd{Kind: 'c'}}
	if f == nil {
		return nil
	}
	w.frame.Mode = map[string]byte{"rows": 'r', "range": 'R', "groups": 'g'}[f.Mode]
	w.frame.Exclude = f.Exclude
	if w.frame.Mode == 'g' && len(w.order) == 0 {
		return b.err(pos, pgerr.WindowingError, "GROUPS mode requires an ORDER BY clause")
	}
	kinds := map[string]byte{
		"unbounded preceding": 'U', "preceding": 'p', "current row": 'c', "following": 'f', "unbounded following": 'u', "": 'c',
	}
	ends := []struct {
		from ast.FrameBound
		to   *exec.FrameEnd
	}{{f.Start, &w.frame.Start}, {f.End, &w.frame.End}}
	for _, e := range ends {
		e.to.Kind = kinds[e.from.Kind]
		if e.from.Expr == nil {
			continue
		}
		x, err := b.expr(sc, e.from.Expr)
		if err != nil {
			return err
		}
		at := e.from.Expr.Position()
		if w.frame.Mode != 'R' {
			c, err := b.coerce(x, int8T, types.Assignment, at)
			if err != nil {
				return err
			}
			if c == nil {
				return b.err(at, pgerr.DatatypeMismatch, "argument of %s must be type bigint, not type %s", strings.ToUpper(f.Mode), types.TypeName(x.Type().OID))
			}
			e.to.Offset = c
			continue
		}
		if len(w.order) != 1 {
			return b.err(pos, pgerr.WindowingError, "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column")
		}
		if err := b.rangeOffset(w, e.to, x, at); err != nil {
			return err
		}
	}
	return nil
}

// rangeOffset finds how a RANGE offset is added to and subtracted from the sort column.
func (b *Binder) rangeOffset(w *winCall, e *exec.FrameEnd, x exec.Expr, pos int) error {
	key := w.order[0].Expr.Type()
	test := &exec.CaseTest{T: key}
	if isUnknown(x) {
		t := key
		switch key.OID {
		case types.DateOID, types.TimestampOID, types.TimestamptzOID, types.TimeOID, types.TimetzOID:
			t = typ(types.IntervalOID)
		}
		var err error
		if x, err = b.mustCoerce(x, t, types.Implicit, pos); err != nil {
			return err
		}
	}
	for _, op := range []string{"+", "-"} {
		fn, err := b.operator(op, test, x, pos)
		if err != nil {
			return b.err(pos, pgerr.FeatureNotSupported, "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s and offset type %s",
				types.TypeName(key.OID), types.TypeName(x.Type().OID))
		}
		o, ok := fn.(*exec.Op)
		if !ok {
			return b.err(pos, pgerr.FeatureNotSupported, "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s", types.TypeName(key.OID))
		}
		e.Offset = o.R
		// Dates plus intervals are timestamps: the sort column is compared as one, too.
		if o.T.OID != key.OID {
			c, err := b.coerce(w.order[0].Expr, o.T, types.Implicit, pos)
			if err != nil || c == nil {
				return b.err(pos, pgerr.FeatureNotSupported, "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s and offset type %s",
					types.TypeName(key.OID), types.TypeName(x.Type().OID))
			}
			w.order[0].Expr, w.order[0].Key.OID = c, o.T.OID
			return b.rangeOffset(w, e, x, pos)
		}
		if op == "+" {
			e.Add = o.Fn
		} else {
			e.Sub = o.Fn
		}
	}
	return nil
}

// buildWindows stacks one node per window definition and moves the targets onto their results.
func (c *coreBinder) buildWindows(in exec.Node, width int) (exec.Node, int, error) {
	cols := make([]*exec.Col, len(c.agg.wins))
	done := make([]bool, len(c.agg.wins))
	for i, w := range c.agg.wins {
		if done[i] {
			continue
		}
		n := &exec.Window{In: in, Width: width, Partition: w.part, Order: w.order, Frame: w.frame}
		for _, e := range w.part {
			n.PartOIDs = append(n.PartOIDs, e.Type().OID)
		}
		for k := i; k < len(c.agg.wins); k++ {
			o := c.agg.wins[k]
			if done[k] || o.group != w.group {
				continue
			}
			done[k] = true
			cols[k] = &exec.Col{Idx: width + len(n.Calls), T: o.call.T}
			n.Calls = append(n.Calls, o.call)
		}
		width += len(n.Calls)
		in = n
	}
	move := func(e exec.Expr) (exec.Expr, error) {
		return exec.MapExpr(e, func(p exec.Expr) (exec.Expr, error) {
			if r, ok := p.(*exec.WinRef); ok {
				return cols[r.N], nil
			}
			return nil, nil
		})
	}
	var err error
	for i := range c.targets {
		if c.targets[i].expr, err = move(c.targets[i].expr); err != nil {
			return nil, 0, err
		}
	}
	for _, f := range c.agg.sets {
		for i := range f.Args {
			if f.Args[i], err = move(f.Args[i]); err != nil {
				return nil, 0, err
			}
		}
	}
	return in, width, nil
}
