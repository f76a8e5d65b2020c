package plan

import (
	"strings"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// call binds a function, aggregate or window call.
func (b *Binder) call(sc *scope, x *ast.FuncCall) (exec.Expr, error) {
	name := x.Name.Name
	if x.Name.Schema != "" && x.Name.Schema != "pg_catalog" && x.Name.Schema != "information_schema" && !b.funcs().HasSchema(x.Name.Schema) {
		return nil, b.err(int(x.Pos), pgerr.UndefinedFunction, "function %s.%s does not exist", x.Name.Schema, name)
	}
	if e, ok, err := b.specialForm(sc, x); ok || err != nil {
		return e, err
	}
	if x.Over != nil {
		return b.windowCall(sc, x)
	}
	if exec.IsAggregate(name) || len(x.WithinGroup) > 0 && exec.Hypothetical(name) != nil {
		return b.aggregate(sc, x)
	}
	if exec.IsWindowOnly(name) {
		if len(x.WithinGroup) > 0 {
			return nil, b.unknownAggregate(sc, x)
		}
		if len(x.Args) > 0 && exec.Hypothetical(name) != nil {
			return nil, b.err(int(x.Pos), pgerr.WrongObjectType, "WITHIN GROUP is required for ordered-set aggregate %s", name)
		}
		return nil, b.err(int(x.Pos), pgerr.WrongObjectType, "window function %s requires an OVER clause", name)
	}
	if x.Distinct || len(x.OrderBy) > 0 || x.Filter != nil || len(x.WithinGroup) > 0 {
		what := "DISTINCT"
		switch {
		case x.Filter != nil:
			what = "FILTER"
		case len(x.WithinGroup) > 0:
			what = "WITHIN GROUP"
		case len(x.OrderBy) > 0:
			what = "ORDER BY"
		}
		return nil, b.err(int(x.Pos), pgerr.WrongObjectType, "%s specified, but %s is not an aggregate function", what, name)
	}
	if x.Star {
		return nil, b.err(int(x.Pos), pgerr.WrongObjectType, "%s(*) specified, but %s is not an aggregate function", name, name)
	}
	// Only the outermost call may return rows where that is allowed; arguments may too (in a select list).
	from := b.inFrom
	b.inFrom = false
	args, err := b.exprs(sc, x.Args)
	b.inFrom = from
	if err != nil {
		return nil, err
	}
	return b.callQualified(x.Name, args, x.ArgNames, x.Variadic, int(x.Pos))
}

// callNamed calls a function with arguments that are not bound yet.
func (b *Binder) callNamed(sc *scope, name string, args []ast.Expr, pos int) (exec.Expr, error) {
	as, err := b.exprs(sc, args)
	if err != nil {
		return nil, err
	}
	return b.callBound(name, as, pos)
}

func (b *Binder) callBound(name string, args []exec.Expr, pos int) (exec.Expr, error) {
	return b.callArgs(name, args, nil, false, pos)
}

// specialForm binds the calls that are syntax.
func (b *Binder) specialForm(sc *scope, x *ast.FuncCall) (exec.Expr, bool, error) {
	if x.Over != nil || x.Name.Schema != "" && !x.Special {
		return nil, false, nil
	}
	switch x.Name.Name {
	case "coalesce", "greatest", "least":
		what := strings.ToUpper(x.Name.Name)
		list, err := b.exprs(sc, x.Args)
		if err != nil {
			return nil, true, err
		}
		list, t, err := b.unify(list, what, positions(x.Args))
		if err != nil {
			return nil, true, err
		}
		if x.Name.Name == "coalesce" {
			return &exec.Coalesce{List: list, T: t}, true, nil
		}
		if !b.hasOrder(t.OID) {
			return nil, true, b.err(int(x.Pos), pgerr.UndefinedFunction, "could not identify a comparison function for type %s", types.TypeName(t.OID))
		}
		return &exec.MinMax{List: list, Max: x.Name.Name == "greatest", T: t}, true, nil
	case "nullif":
		if len(x.Args) != 2 {
			return nil, false, nil
		}
		list, err := b.exprs(sc, x.Args)
		if err != nil {
			return nil, true, err
		}
		eq, err := b.compare(exec.EQ, "=", list[0], list[1], int(x.Pos))
		if err != nil {
			return nil, true, err
		}
		arg := list[0]
		if cmp, ok := eq.(*exec.Cmp); ok {
			arg = cmp.L
			if from := list[0].Type().OID; from != types.UnknownOID && crossTyped(from, list[1].Type().OID) {
				arg = list[0]
			}
		}
		return &exec.NullIf{Arg: arg, Eq: eq}, true, nil
	case "grouping":
		if b.agg == nil || b.agg.sc != sc {
			return nil, true, b.err(int(x.Pos), pgerr.GroupingError, "grouping operations are not allowed in %s", b.clause)
		}
		list, err := b.exprs(sc, x.Args)
		if err != nil {
			return nil, true, err
		}
		return &exec.GroupingX{Args: list}, true, nil
	case "pg_collation_for":
		if len(x.Args) != 1 {
			return nil, false, nil
		}
		e, err := b.collationFor(sc, x)
		return e, true, err
	case "row":
		if x.Special {
			e, err := b.row(sc, &ast.RowExpr{Pos: x.Pos, Items: x.Args})
			return e, true, err
		}
	}
	return nil, false, nil
}

// collationFor is COLLATION FOR: the name that COLLATE gave, or the type's own.
func (b *Binder) collationFor(sc *scope, x *ast.FuncCall) (exec.Expr, error) {
	e, err := b.expr(sc, x.Args[0])
	if err != nil {
		return nil, err
	}
	arg := x.Args[0]
	out := &exec.Const{T: textT}
	if c, ok := arg.(*ast.Collate); ok {
		out.D = exec.Str(exec.QuoteIdent(c.Collation.Name))
		return out, nil
	}
	switch oid := e.Type().OID; {
	case oid == types.UnknownOID:
	case oid == types.NameOID:
		out.D = exec.Str(`"C"`)
	case category(oid) == 'S' || category(types.ElemOf(oid)) == 'S':
		out.D = exec.Str(`"default"`)
	default:
		return nil, b.err(-1, pgerr.DatatypeMismatch, "collations are not supported by type %s", types.TypeName(oid))
	}
	return out, nil
}

// crossTyped says whether PostgreSQL compares two types as they are, without converting one
// to the other.
func crossTyped(a, b types.OID) bool {
	if a == b {
		return true
	}
	family := func(o types.OID) int {
		switch o {
		case types.Int2OID, types.Int4OID, types.Int8OID:
			return 1
		case types.Float4OID, types.Float8OID:
			return 2
		case types.DateOID, types.TimestampOID, types.TimestamptzOID:
			return 3
		case types.NameOID, types.TextOID:
			return 4
		}
		return 0
	}
	return family(a) != 0 && family(a) == family(b)
}

// callArgs resolves a function by name and argument types.
func (b *Binder) callArgs(name string, args []exec.Expr, argNames []string, variadic bool, pos int) (exec.Expr, error) {
	return b.callQualified(ast.Name{Name: name}, args, argNames, variadic, pos)
}

// callQualified is callArgs for a name with its schema, which errors tell.
func (b *Binder) callQualified(full ast.Name, args []exec.Expr, argNames []string, variadic bool, pos int) (exec.Expr, error) {
	name, shown := full.Name, full.Name
	if full.Schema != "" {
		shown = full.Schema + "." + name
	}
	fs := b.funcs().LookupIn(full.Schema, name)
	actual := make([]types.OID, len(args))
	for i, a := range args {
		actual[i] = a.Type().OID
	}
	var cands []candidate[*funcMatch]
	for _, f := range fs {
		if c, ok := matchCall(f, args, argNames, variadic); ok {
			as := make([]types.OID, len(args))
			copy(as, c.decl)
			cands = append(cands, candidate[*funcMatch]{as, c})
		}
	}
	// An exact match wins.
	for i := range cands {
		exact := true
		for j, a := range actual {
			exact = exact && cands[i].args[j] == a
		}
		if exact {
			return b.makeCall(cands[i].item, args, pos)
		}
	}
	// type(x) is a cast when the types allow it without a function of that name.
	if len(args) == 1 && argNames == nil {
		if oid, ok := types.ByName(name); ok && oid != 0 {
			from := actual[0]
			_, kind, ok := types.FindCast(from, oid)
			if from == types.UnknownOID || ok && (kind == types.CastBinary || kind == types.CastIO && (category(from) == 'S' || category(oid) == 'S')) {
				return b.mustCoerce(args[0], typ(oid), types.Explicit, pos)
			}
		}
	}
	m := matching(cands, actual)
	var best *candidate[*funcMatch]
	if len(m) == 1 {
		best = &m[0]
	} else if len(m) > 1 {
		// Fixed overloads go before variadic ones.
		var fixed []candidate[*funcMatch]
		for _, c := range m {
			if !c.item.spread {
				fixed = append(fixed, c)
			}
		}
		if len(fixed) > 0 {
			m = fixed
		}
		if len(m) == 1 {
			best = &m[0]
		} else {
			best = bestCandidate(m, actual)
		}
		if best == nil {
			return nil, b.err(pos, pgerr.AmbiguousFunction, "function %s is not unique", signature(shown, actual)).
				WithHint("Could not choose a best candidate function. You might need to add explicit type casts.")
		}
	}
	if best == nil {
		if len(args) == 1 {
			if oid, ok := types.ByName(name); ok {
				if _, _, ok := types.FindCast(actual[0], oid); ok {
					return b.mustCoerce(args[0], typ(oid), types.Explicit, pos)
				}
			}
		}
		e := b.err(pos, pgerr.UndefinedFunction, "function %s does not exist", signature(shown, actual)).
			WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
		return nil, e
	}
	return b.makeCall(best.item, args, pos)
}

func signature(name string, actual []types.OID) string {
	parts := make([]string, len(actual))
	for i, a := range actual {
		parts[i] = types.TypeName(a)
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}

// funcMatch is a function with its declared types in the order of the call's arguments.
type funcMatch struct {
	f      *exec.Func
	decl   []types.OID
	slot   []int // argument i goes to parameter slot[i]
	spread bool  // variadic arguments are given one by one
}

// matchCall lines a call's arguments up with a function's parameters.
func matchCall(f *exec.Func, args []exec.Expr, names []string, variadic bool) (*funcMatch, bool) {
	n := len(args)
	m := &funcMatch{f: f}
	named := false
	for _, nm := range names {
		named = named || nm != ""
	}
	if named {
		if f.ArgNames == nil || n > len(f.Args) {
			return nil, false
		}
		used := make([]bool, len(f.Args))
		for i := range args {
			at := i
			if names[i] != "" {
				at = -1
				for k, pn := range f.ArgNames {
					if pn == names[i] {
						at = k
					}
				}
			}
			if at < 0 || at >= len(f.Args) || used[at] {
				return nil, false
			}
			used[at] = true
			m.slot = append(m.slot, at)
			m.decl = append(m.decl, f.Args[at])
		}
		for i, u := range used {
			if !u && i < len(f.Args)-f.Defaults {
				return nil, false
			}
		}
		return m, true
	}
	fixed := len(f.Args)
	if f.Variadic {
		fixed--
		if variadic { // an array for the variadic parameter
			if n != len(f.Args) {
				return nil, false
			}
			for i := range args {
				d := f.Args[i]
				if i == n-1 && d != types.AnyOID {
					d = types.ArrayOf(d)
				}
				m.decl = append(m.decl, d)
				m.slot = append(m.slot, i)
			}
			return m, true
		}
		if n < fixed || n == fixed && f.Defaults == 0 {
			return nil, false
		}
		m.spread = true
		for i := range args {
			m.decl = append(m.decl, f.Args[min(i, fixed)])
			m.slot = append(m.slot, i)
		}
		return m, true
	}
	if variadic || n > len(f.Args) || n < len(f.Args)-f.Defaults {
		return nil, false
	}
	for i := range args {
		m.decl = append(m.decl, f.Args[i])
		m.slot = append(m.slot, i)
	}
	return m, true
}

// makeCall coerces the arguments and resolves polymorphic types.
func (b *Binder) makeCall(m *funcMatch, args []exec.Expr, pos int) (exec.Expr, error) {
	f := m.f
	actual := make([]types.OID, len(args))
	for i, a := range args {
		actual[i] = a.Type().OID
	}
	elem, common := polyTypes(m.decl, actual)
	total := len(args)
	switch {
	case f.DefaultVals != nil:
		total = len(f.Args)
	case !f.Variadic:
		total = 0
		for _, s := range m.slot {
			total = max(total, s+1)
		}
	}
	x := &exec.FuncX{F: f, Args: make([]exec.Expr, total), ArgTypes: make([]types.T, total), Pos: pos, Stmt: b.stmt()}
	for i, a := range args {
		want := concrete(m.decl[i], actual[i], elem, common)
		if want == 0 {
			return nil, b.err(pos, pgerr.DatatypeMismatch, "could not determine polymorphic type because input has type %s", "unknown")
		}
		c := a
		if want != types.AnyOID {
			var err error
			if c, err = b.mustCoerce(a, typ(want), types.Implicit, pos); err != nil {
				return nil, err
			}
		} else if _, ok := a.(*exec.ParamRef); ok {
			c = b.anyValue(a)
		}
		x.Args[m.slot[i]] = c
		x.ArgTypes[m.slot[i]] = c.Type()
	}
	for i := range x.Args {
		if x.Args[i] == nil { // it was left out
			t := f.Args[i]
			if isPoly(t) {
				t = types.TextOID
			}
			left := &exec.Const{T: typ(t)}
			if k := i - (len(f.Args) - f.Defaults); k >= 0 && k < len(f.DefaultVals) {
				left.D = f.DefaultVals[k]
			}
			x.Args[i], x.ArgTypes[i] = left, typ(t)
		}
	}
	ret := f.Ret
	switch {
	case ret == types.AnyCompatibleOID:
		ret = common
	case isPoly(ret):
		ret = concrete(ret, types.TextOID, elem, common)
	}
	x.T = typ(ret)
	if ret == types.RecordOID {
		x.T = f.RecordType()
	}
	if f.Set {
		return b.setCall(x, pos)
	}
	return x, nil
}

// polyTypes finds what anyelement and anycompatible stand for.
func polyTypes(decl, actual []types.OID) (elem, common types.OID) {
	for i, d := range decl {
		a := actual[i]
		if a == types.UnknownOID {
			continue
		}
		switch d {
		case types.AnyElementOID, types.AnyNonArrayOID, types.AnyEnumOID:
			if elem == 0 {
				elem = a
			}
		case types.AnyArrayOID:
			if elem == 0 {
				elem = types.ElemOf(a)
			}
		case types.AnyCompatibleOID, types.AnyCompatibleArrayOID:
			if d == types.AnyCompatibleArrayOID {
				a = types.ElemOf(a)
			}
			if common == 0 || common != a && canCoerce(common, a, types.Implicit) && !canCoerce(a, common, types.Implicit) {
				common = a
			}
		}
	}
	if elem == 0 {
		elem = types.TextOID
	}
	if common == 0 {
		common = types.TextOID
	}
	return elem, common
}

func concrete(decl, actual, elem, common types.OID) types.OID {
	switch decl {
	case types.AnyElementOID, types.AnyNonArrayOID, types.AnyEnumOID:
		return elem
	case types.AnyArrayOID:
		if actual != types.UnknownOID && types.ElemOf(actual) == elem {
			return actual
		}
		return types.ArrayOf(elem)
	case types.AnyCompatibleOID:
		return common
	case types.AnyCompatibleArrayOID:
		return types.ArrayOf(common)
	case types.AnyOID:
		return types.AnyOID
	}
	return decl
}

// setCall places a set-returning function: in FROM it is the call itself, in a select
// list a reference to what the level computes below its projection.
func (b *Binder) setCall(x *exec.FuncX, pos int) (exec.Expr, error) {
	if b.inFrom {
		return x, nil
	}
	if b.allowSet == 0 || b.agg == nil {
		where := b.clause
		if where == "" {
			where = "this context"
		}
		return nil, b.err(pos, pgerr.FeatureNotSupported, "set-returning functions are not allowed in %s", where)
	}
	b.agg.sets = append(b.agg.sets, x)
	return &exec.SetRef{N: len(b.agg.sets) - 1, T: x.T, F: x}, nil
}

func exactOrBest[T any](cands []candidate[T], actual []types.OID) (*candidate[T], bool) {
	for i := range cands {
		exact := true
		for j, a := range actual {
			exact = exact && cands[i].args[j] == a
		}
		if exact {
			return &cands[i], false
		}
	}
	m := matching(cands, actual)
	switch len(m) {
	case 0:
		return nil, false
	case 1:
		return &m[0], false
	}
	c := bestCandidate(m, actual)
	return c, c == nil
}
