package plan

import (
	"slices"
	"strings"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/parse"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

func (b *Binder) parseExpr(s string) (ast.Expr, error) {
	if b.ParseExpr != nil {
		return b.ParseExpr(s)
	}
	return parse.ParseExpr(s)
}

func (b *Binder) parseQuery(s string) (*ast.Select, error) {
	if b.ParseQuery != nil {
		return b.ParseQuery(s)
	}
	list, err := parse.Parse(s, parse.Limits{})
	if err != nil {
		return nil, err
	}
	if len(list) == 1 {
		if q, ok := list[0].Stmt.(*ast.Select); ok {
			return q, nil
		}
	}
	return nil, b.err(-1, pgerr.InternalError, "stored query is not a SELECT")
}

// bindDML binds INSERT, UPDATE or DELETE, on its own or in WITH.
func (b *Binder) bindDML(st ast.Stmt, parent *scope) (exec.Node, error) {
	b.nested++
	defer func() { b.nested-- }()
	clause, agg := b.clause, b.agg
	b.clause, b.agg = "", nil
	defer func() { b.clause, b.agg = clause, agg }()
	var with *ast.With
	switch x := st.(type) {
	case *ast.Insert:
		with = x.With
	case *ast.Update:
		with = x.With
	case *ast.Delete:
		with = x.With
	}
	var ctes []*cteEntry
	if with != nil {
		mark := len(b.ctes)
		var err error
		if ctes, err = b.bindWith(with, parent); err != nil {
			return nil, err
		}
		defer func() { b.ctes = b.ctes[:mark] }()
	}
	var n exec.Node
	var err error
	switch x := st.(type) {
	case *ast.Insert:
		n, err = b.insert(x, parent)
	case *ast.Update:
		n, err = b.update(x, parent)
	case *ast.Delete:
		n, err = b.delete(x, parent)
	default:
		err = b.err(-1, pgerr.FeatureNotSupported, "statement cannot be used here")
	}
	if err != nil {
		return nil, err
	}
	return b.withNode(ctes, n), nil
}

// dmlTarget finds the table that is written.
func (b *Binder) dmlTarget(n ast.Name, verb string) (*rel.Table, error) {
	t, err := b.bindTable(n)
	if err != nil {
		return nil, err
	}
	if t.Kind == rel.KindView {
		what := map[string]string{"insert": "insert into", "update": "update", "delete": "delete from"}[verb]
		return nil, b.err(-1, pgerr.ObjectNotInPrerequisite, "cannot %s view %q", what, t.Name).
			WithDetail("Views are read-only.")
	}
	return t, nil
}

// stored binds an expression kept as text with a table: a DEFAULT or a CHECK.
func (b *Binder) stored(text string, sc *scope) (exec.Expr, error) {
	e, err := b.parseExpr(text)
	if err != nil {
		return nil, err
	}
	saved, ctes, slots := b.Text, b.ctes, b.noSlots
	b.Text, b.ctes, b.noSlots = "", nil, true
	x, err := b.expr(sc, e)
	b.Text, b.ctes, b.noSlots = saved, ctes, slots
	return x, err
}

// BindDefault binds a column's DEFAULT to the column's type; nil when it has none.
func (b *Binder) BindDefault(t *rel.Table, col int) (exec.Expr, error) {
	c := &t.Columns[col]
	if c.Default == "" || c.Dropped {
		return nil, nil
	}
	e, err := b.stored(c.Default, &scope{})
	if err != nil {
		return nil, err
	}
	return b.coerceAssign(e, types.T{OID: c.Type, Mod: c.Mod}, c.Name, -1)
}

// BindChecks binds a table's CHECK constraints over rows laid out by column index.
func (b *Binder) BindChecks(t *rel.Table) ([]exec.CheckExpr, error) {
	if len(t.Checks) == 0 {
		return nil, nil
	}
	sc := b.tableScope(t, t.Name)
	var out []exec.CheckExpr
	// Checked by name, like PostgreSQL does; the first that fails is reported.
	checks := slices.Clone(t.Checks)
	slices.SortFunc(checks, func(a, b rel.Check) int { return strings.Compare(a.Name, b.Name) })
	for _, ck := range checks {
		e, err := b.stored(ck.Expr, sc.s)
		if err != nil {
			return nil, err
		}
		if e, err = b.boolean(e, "CHECK", -1); err != nil {
			return nil, err
		}
		out = append(out, exec.CheckExpr{Name: ck.Name, Cond: e})
	}
	// Columns got their places when the scope was made; those named only now have none yet.
	fixRowLayout(sc.s.rels[0])
	return out, nil
}

// fixRowLayout places a table's columns at their index in Table.Columns, and the system
// columns that RETURNING can read behind them.
func fixRowLayout(r *relItem) {
	n := len(r.table.Columns)
	for att, c := range r.refs {
		switch {
		case att > 0:
			for i := range r.table.Columns {
				if int(r.table.Columns[i].Num) == att {
					c.Idx = i
				}
			}
		case att == exec.AttCtid:
			c.Idx = n
		case att == exec.AttTableOID:
			c.Idx = n + 1
		default:
			c.Idx = n + 1
		}
	}
}

func columnIndex(t *rel.Table, name string) int {
	for i := range t.Columns {
		if t.Columns[i].Name == name && !t.Columns[i].Dropped {
			return i
		}
	}
	return -1
}

// assign binds one SET item, which may set several columns.
func (b *Binder) assign(sc *scope, t *rel.Table, a ast.Assignment, set func(col int, e exec.Expr) error) error {
	cols := make([]int, len(a.Columns))
	for i, name := range a.Columns {
		cols[i] = columnIndex(t, name)
		if cols[i] < 0 {
			return b.err(a.Pos, pgerr.UndefinedColumn, "column %q of relation %q does not exist", name, t.Name)
		}
	}
	one := func(col int, e ast.Expr) error {
		c := &t.Columns[col]
		if _, ok := e.(*ast.Default); ok {
			d, err := b.BindDefault(t, col)
			if err != nil {
				return err
			}
			if d == nil {
				d = &exec.Const{T: types.T{OID: c.Type, Mod: c.Mod}}
			}
			return set(col, d)
		}
		x, err := b.expr(sc, e)
		if err != nil {
			return err
		}
		x, err = b.coerceAssign(x, types.T{OID: c.Type, Mod: c.Mod}, c.Name, e.Position())
		if err != nil {
			return err
		}
		return set(col, x)
	}
	if len(cols) == 1 && !a.Multi {
		if r, ok := a.Expr.(*ast.RowExpr); !ok || len(r.Items) != 1 {
			return one(cols[0], a.Expr)
		}
	}
	switch r := a.Expr.(type) {
	case *ast.RowExpr:
		if len(r.Items) != len(cols) {
			return b.err(int(r.Pos), pgerr.SyntaxError, "number of columns does not match number of values")
		}
		for i, e := range r.Items {
			if err := one(cols[i], e); err != nil {
				return err
			}
		}
		return nil
	case *ast.Subquery:
		p, err := b.subPlan(sc, r.Query)
		if err != nil {
			return err
		}
		out := p.Node.Columns()
		if len(out) != len(cols) {
			return b.err(a.Pos, pgerr.SyntaxError, "number of columns does not match number of values")
		}
		sub := &exec.ScalarSub{Plan: p, T: typ(types.RecordOID), Row: true}
		for i, col := range cols {
			c := &t.Columns[col]
			e, err := b.coerceAssign(&exec.FieldX{Arg: sub, N: i, T: out[i].Type}, types.T{OID: c.Type, Mod: c.Mod}, c.Name, a.Pos)
			if err != nil {
				return err
			}
			if err := set(col, e); err != nil {
				return err
			}
		}
		return nil
	}
	return b.err(a.Expr.Position(), pgerr.FeatureNotSupported, "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression")
}

// dmlScope makes the scope of UPDATE and DELETE: the target first, then FROM or USING.
func (b *Binder) dmlScope(t *rel.Table, name ast.Name, alias string, from []ast.TableExpr, parent *scope) (*scope, *relItem, []*tree, error) {
	sc := newScope(parent)
	b.agg = nil
	shown := alias
	if shown == "" {
		shown = t.Name
	}
	r := b.tableRel(t, shown)
	it := sc.addRel(r)
	if alias == "" {
		it.schema = name.Schema
		if s, ok := b.Txn.SchemaByOID(t.Schema); ok && name.Schema == "" {
			it.schema = s.Name
		}
	}
	r.col(exec.AttRowID)
	r.col(exec.AttTuple)
	trees := []*tree{{rel: r, set: r.bit()}}
	b.clause = "FROM"
	more, err := b.from(sc, from)
	b.clause = ""
	if err != nil {
		return nil, nil, nil, err
	}
	return sc, r, append(trees, more...), nil
}

func (b *Binder) dmlWhere(sc *scope, e ast.Expr) ([]exec.Expr, error) {
	if e == nil {
		return nil, nil
	}
	b.clause = "WHERE"
	w, err := b.condition(sc, e, "WHERE")
	b.clause = ""
	if err != nil {
		return nil, err
	}
	return conjuncts(w, nil), nil
}

// dmlInput plans the rows to write: row id, stored tuple, the given expressions, and the
// columns that RETURNING reads of other tables.
func (b *Binder) dmlInput(sc *scope, target *relItem, trees []*tree, where, exprs []exec.Expr) (exec.Node, map[*exec.Col]int) {
	jp := &joinPlanner{b: b, sc: sc}
	src, rest := jp.plan(trees, where)
	sc.layout()
	jp.finish()
	p := &exec.Project{In: &exec.Scan{Src: src, Width: sc.width, Cond: andOf(rest)}}
	p.Exprs = append(p.Exprs, target.col(exec.AttRowID), target.col(exec.AttTuple))
	p.Exprs = append(p.Exprs, exprs...)
	places := make(map[*exec.Col]int)
	for _, r := range sc.rels {
		if r == target {
			continue
		}
		for _, att := range r.order {
			places[r.refs[att]] = len(p.Exprs)
			p.Exprs = append(p.Exprs, r.refs[att])
		}
	}
	return p, places
}

// returningOver moves RETURNING's columns onto the rows that Update and Delete hand it: the
// target's columns by index, ctid, tableoid, then the input's columns from extra on.
func returningOver(t *rel.Table, target *relItem, es []exec.Expr, places map[*exec.Col]int, extra int) error {
	for i := range es {
		m, err := exec.MapExpr(es[i], func(p exec.Expr) (exec.Expr, error) {
			c, ok := p.(*exec.Col)
			if !ok {
				return nil, nil
			}
			n := *c
			if c.Src == any(target) {
				switch {
				case c.Att > 0:
					for k := range t.Columns {
						if int(t.Columns[k].Num) == c.Att {
							n.Idx = k
						}
					}
				case c.Att == exec.AttCtid:
					n.Idx = len(t.Columns)
				default:
					n.Idx = len(t.Columns) + 1
				}
				return &n, nil
			}
			if at, ok := places[c]; ok {
				n.Idx = len(t.Columns) + 2 + at - extra
			}
			return &n, nil
		})
		if err != nil {
			return err
		}
		es[i] = m
	}
	return nil
}

func (b *Binder) update(x *ast.Update, parent *scope) (exec.Node, error) {
	t, err := b.dmlTarget(x.Table, "update")
	if err != nil {
		return nil, err
	}
	n := &exec.Update{Target: exec.Target{Table: t}}
	if n.Checks, err = b.BindChecks(t); err != nil {
		return nil, err
	}
	sc, r, trees, err := b.dmlScope(t, x.Table, x.Alias, x.From, parent)
	if err != nil {
		return nil, err
	}
	where, err := b.dmlWhere(sc, x.Where)
	if err != nil {
		return nil, err
	}
	if len(x.Returning) > 0 {
		if n.Returning, n.Cols, err = b.returning(sc, x.Returning); err != nil {
			return nil, err
		}
	}
	var exprs []exec.Expr
	seen := make(map[int]bool)
	b.clause = "UPDATE"
	for _, a := range x.Set {
		err = b.assign(sc, t, a, func(col int, e exec.Expr) error {
			if seen[col] {
				return b.err(-1, pgerr.SyntaxError, "multiple assignments to same column %q", t.Columns[col].Name)
			}
			seen[col] = true
			n.Into = append(n.Into, col)
			exprs = append(exprs, e)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	b.clause = ""
	var places map[*exec.Col]int
	n.In, places = b.dmlInput(sc, r, trees, where, exprs)
	n.Extra = 2 + len(exprs)
	if err := returningOver(t, r, n.Returning, places, n.Extra); err != nil {
		return nil, err
	}
	return n, nil
}

func (b *Binder) delete(x *ast.Delete, parent *scope) (exec.Node, error) {
	t, err := b.dmlTarget(x.Table, "delete")
	if err != nil {
		return nil, err
	}
	n := &exec.Delete{Table: t, Extra: 2}
	sc, r, trees, err := b.dmlScope(t, x.Table, x.Alias, x.Using, parent)
	if err != nil {
		return nil, err
	}
	where, err := b.dmlWhere(sc, x.Where)
	if err != nil {
		return nil, err
	}
	if len(x.Returning) > 0 {
		if n.Returning, n.Cols, err = b.returning(sc, x.Returning); err != nil {
			return nil, err
		}
	}
	var places map[*exec.Col]int
	n.In, places = b.dmlInput(sc, r, trees, where, nil)
	if err := returningOver(t, r, n.Returning, places, n.Extra); err != nil {
		return nil, err
	}
	return n, nil
}

func (b *Binder) returning(sc *scope, list []ast.Target) ([]exec.Expr, []exec.Column, error) {
	b.clause = "RETURNING"
	ts, err := b.bindTargetList(sc, list)
	b.clause = ""
	if err != nil {
		return nil, nil, err
	}
	var es []exec.Expr
	var cols []exec.Column
	for _, t := range ts {
		e := b.resolveUnknown(t.expr)
		es = append(es, e)
		tab, attr := origin(e)
		cols = append(cols, exec.Column{Name: t.name, Type: e.Type(), Table: tab, Attr: attr})
	}
	return es, cols, nil
}
