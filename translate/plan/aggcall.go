package plan

import (
	"strings"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// aggregate binds an aggregate call.
func (b *Binder) aggregate(sc *scope, x *ast.FuncCall) (exec.Expr, error) {
	pos := int(x.Pos)
	if level := b.aggLevel(sc, x); level != nil {
		return b.outerAggregate(level, x)
	}
	if b.agg == nil || b.clause != "" && b.clause != "HAVING" {
		where := b.clause
		if where == "" {
			where = "this context"
		}
		if where == "FROM" {
			where = "functions in FROM"
		}
		return nil, b.err(pos, pgerr.GroupingError, "aggregate functions are not allowed in %s", where)
	}
	if b.agg.inAgg {
		return nil, b.err(pos, pgerr.GroupingError, "aggregate function calls cannot be nested")
	}
	spec, err := b.aggSpec(sc, x)
	if err != nil {
		return nil, err
	}
	key := aggKey(spec)
	for i, k := range b.agg.keys {
		if k == key {
			// Equal now; with other literals they might not be.
			b.fixAgg(spec)
			b.fixAgg(b.agg.aggs[i])
			return &exec.AggRef{N: i, T: spec.T}, nil
		}
	}
	b.agg.aggs = append(b.agg.aggs, spec)
	b.agg.keys = append(b.agg.keys, key)
	return &exec.AggRef{N: len(b.agg.aggs) - 1, T: spec.T}, nil
}

func (b *Binder) fixAgg(s *exec.AggSpec) {
	for _, a := range s.Args {
		b.fixExpr(a)
	}
	for _, o := range s.Order {
		b.fixExpr(o.Expr)
	}
	if s.Filter != nil {
		b.fixExpr(s.Filter)
	}
}

func aggKey(s *exec.AggSpec) string {
	var sb strings.Builder
	sb.WriteString(s.Name)
	for _, a := range s.Args {
		sb.WriteString("," + exprKey(a))
	}
	if s.Distinct {
		sb.WriteString(" distinct")
	}
	for _, o := range s.Order {
		sb.WriteString(" order " + exprKey(o.Expr) + boolKey(o.Key.Desc) + boolKey(o.Key.NullsFirst))
	}
	if s.Filter != nil {
		sb.WriteString(" filter " + exprKey(s.Filter))
	}
	return sb.String()
}

func boolKey(v bool) string {
	if v {
		return "+"
	}
	return "-"
}

// aggSpec binds an aggregate's arguments and chooses its overload.
func (b *Binder) aggSpec(sc *scope, x *ast.FuncCall) (*exec.AggSpec, error) {
	return b.aggSpecIn(sc, x, true)
}

// aggSpecIn is aggSpec; nested says that aggregates inside of it are an error.
func (b *Binder) aggSpecIn(sc *scope, x *ast.FuncCall, nested bool) (*exec.AggSpec, error) {
	pos := int(x.Pos)
	name := x.Name.Name
	saved := b.agg.inAgg
	b.agg.inAgg = nested
	defer func() { b.agg.inAgg = saved }()
	args, err := b.exprs(sc, x.Args)
	if err != nil {
		return nil, err
	}
	spec := &exec.AggSpec{Name: name, Distinct: x.Distinct}
	if len(x.WithinGroup) > 0 {
		spec.Direct = len(args)
		if exec.Hypothetical(name) != nil {
			return b.hypothetical(sc, x, spec, args)
		}
	}
	order := x.OrderBy
	if len(x.WithinGroup) > 0 {
		order = x.WithinGroup
	}
	var withinArgs []exec.Expr
	for _, o := range order {
		e, err := b.expr(sc, o.Expr)
		if err != nil {
			return nil, err
		}
		e = b.resolveUnknown(e)
		k, err := b.sortKey(o, 0, e.Type().OID)
		if err != nil {
			return nil, err
		}
		spec.Order = append(spec.Order, exec.AggOrder{Expr: e, Key: k})
		withinArgs = append(withinArgs, e)
	}
	if x.Distinct && len(order) == 0 && showsOrder(name) {
		// DISTINCT sorts.
		for i, e := range args {
			e = b.resolveUnknown(e)
			if !b.hasOrder(e.Type().OID) {
				break
			}
			k, err := b.sortKey(ast.OrderItem{Expr: x.Args[i]}, 0, e.Type().OID)
			if err != nil {
				return nil, err
			}
			args[i] = e
			order = append(order, ast.OrderItem{Expr: x.Args[i]})
			spec.Order = append(spec.Order, exec.AggOrder{Expr: e, Key: k})
		}
	}
	if x.Filter != nil {
		if spec.Filter, err = b.condition(sc, x.Filter, "FILTER"); err != nil {
			return nil, err
		}
	}
	if x.Star {
		if name != "count" {
			return nil, b.err(pos, pgerr.UndefinedFunction, "function %s() does not exist", name).
				WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
		}
		spec.Impl, spec.T = exec.CountStar(), int8T
		return spec, nil
	}
	if name == "count" && len(args) == 0 {
		return nil, b.err(pos, pgerr.WrongObjectType, "count(*) must be used to call a parameterless aggregate function")
	}
	defs := exec.Aggregates(name)
	if len(x.WithinGroup) > 0 {
		// The direct arguments come first, then the ordered ones.
		args = append(args, withinArgs...)
	}
	actual := make([]types.OID, len(args))
	for i, a := range args {
		actual[i] = a.Type().OID
	}
	var cands []candidate[*exec.AggDef]
	for i := range defs {
		d := &defs[i]
		if len(d.Args) == len(args) && d.Ordered == (len(x.WithinGroup) > 0) {
			cands = append(cands, candidate[*exec.AggDef]{d.Args, d})
		}
	}
	best, ambiguous := exactOrBest(cands, actual)
	if best == nil {
		if ambiguous {
			return nil, b.err(pos, pgerr.AmbiguousFunction, "function %s is not unique", signature(name, actual))
		}
		if len(x.WithinGroup) == 0 && len(defs) > 0 && defs[0].Ordered && len(args) > 0 {
			return nil, b.err(pos, pgerr.WrongObjectType, "WITHIN GROUP is required for ordered-set aggregate %s", name)
		}
		return nil, b.err(pos, pgerr.UndefinedFunction, "function %s does not exist", signature(name, actual)).
			WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
	}
	d := best.item
	elem, common := polyTypes(d.Args, actual)
	for i := range args {
		want := concrete(d.Args[i], actual[i], elem, common)
		if want == types.AnyOID {
			args[i] = b.anyValue(args[i])
			continue
		}
		if args[i], err = b.mustCoerce(args[i], typ(want), types.Implicit, pos); err != nil {
			return nil, err
		}
	}
	ret := d.Ret
	if isPoly(ret) {
		ret = concrete(ret, types.UnknownOID, elem, common)
	}
	spec.Args, spec.Impl, spec.T = args, d.Impl, typ(ret)
	if spec.Impl.SameType {
		spec.T = args[0].Type()
	}
	for _, a := range args {
		spec.ArgTypes = append(spec.ArgTypes, a.Type())
	}
	if x.Distinct {
		for _, a := range args {
			if !b.hasEquality(a.Type().OID) {
				return nil, b.err(pos, pgerr.UndefinedFunction, "could not identify an equality operator for type %s", types.TypeName(a.Type().OID))
			}
		}
		for i, o := range spec.Order {
			found := false
			for _, a := range args {
				found = found || exprKey(a) == exprKey(o.Expr)
			}
			if !found {
				return nil, b.err(order[i].Expr.Position(), pgerr.InvalidColumnReference, "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list")
			}
		}
	}
	if d.NeedOrder && !b.hasOrder(args[0].Type().OID) {
		return nil, b.err(pos, pgerr.UndefinedFunction, "function %s does not exist", signature(name, actual)).
			WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
	}
	return spec, nil
}

// showsOrder says whether an aggregate's result depends on the order of its input.
func showsOrder(name string) bool {
	switch name {
	case "array_agg", "string_agg", "json_agg", "jsonb_agg":
		return true
	}
	return false
}
