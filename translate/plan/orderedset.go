package plan

import (
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// hypothetical binds rank(values) WITHIN GROUP (ORDER BY …) and its like: each value is
// compared with the column at its place, as the type they have in common.
func (b *Binder) hypothetical(sc *scope, x *ast.FuncCall, spec *exec.AggSpec, args []exec.Expr) (*exec.AggSpec, error) {
	pos := int(x.Pos)
	order := make([]exec.Expr, len(x.WithinGroup))
	for i, o := range x.WithinGroup {
		e, err := b.expr(sc, o.Expr)
		if err != nil {
			return nil, err
		}
		order[i] = e
	}
	if len(order) != len(args) {
		var actual []types.OID
		for _, e := range append(args[:len(args):len(args)], order...) {
			actual = append(actual, e.Type().OID)
		}
		return nil, b.err(pos, pgerr.UndefinedFunction, "function %s does not exist", signature(spec.Name, actual)).
			WithHint("To use the hypothetical-set aggregate %s, the number of hypothetical direct arguments (here %d) must match the number of ordering columns (here %d).",
				spec.Name, len(args), len(order))
	}
	for i := range order {
		at := [2]int{valuePos(x.WithinGroup[i].Expr), valuePos(x.Args[i])}
		pair, _, err := b.unify([]exec.Expr{order[i], args[i]}, "WITHIN GROUP", func(k int) int { return at[k] })
		if err != nil {
			return nil, err
		}
		order[i], args[i] = pair[0], pair[1]
		k, err := b.sortKey(x.WithinGroup[i], 0, order[i].Type().OID)
		if err != nil {
			return nil, err
		}
		spec.Order = append(spec.Order, exec.AggOrder{Expr: order[i], Key: k})
	}
	var err error
	if x.Filter != nil {
		if spec.Filter, err = b.condition(sc, x.Filter, "FILTER"); err != nil {
			return nil, err
		}
	}
	d := exec.Hypothetical(spec.Name)
	spec.Args, spec.Impl, spec.T = append(args, order...), d.Impl, typ(d.Ret)
	for _, e := range spec.Args {
		spec.ArgTypes = append(spec.ArgTypes, e.Type())
	}
	return spec, nil
}

// unknownAggregate is the error of WITHIN GROUP after a function that takes none.
func (b *Binder) unknownAggregate(sc *scope, x *ast.FuncCall) error {
	all := x.Args[:len(x.Args):len(x.Args)]
	for _, o := range x.WithinGroup {
		all = append(all, o.Expr)
	}
	args, err := b.exprs(sc, all)
	if err != nil {
		return err
	}
	var actual []types.OID
	for _, e := range args {
		actual = append(actual, e.Type().OID)
	}
	return b.err(int(x.Pos), pgerr.UndefinedFunction, "function %s does not exist", signature(x.Name.Name, actual)).
		WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
}
