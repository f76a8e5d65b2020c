package plan

import (
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// tree is a FROM item: a relation or a join of two trees.
type tree struct {
	rel  *relItem
	kind exec.JoinKind
	l, r *tree
	on   []exec.Expr
	set  relSet
}

// stmt is where literals and calls look up the text for their positions.
func (b *Binder) stmt() *string {
	if b.text == nil || *b.text != b.Text {
		s := b.Text
		b.text = &s
	}
	return b.text
}

// from binds the items of a FROM clause.
func (b *Binder) from(sc *scope, items []ast.TableExpr) ([]*tree, error) {
	var out []*tree
	for _, it := range items {
		start := len(sc.items)
		t, err := b.tableExpr(sc, it)
		if err != nil {
			return nil, err
		}
		if err := b.checkAliases(sc, start, it); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

func (b *Binder) checkAliases(sc *scope, start int, _ ast.TableExpr) error {
	for i := start; i < len(sc.items); i++ {
		n := sc.items[i]
		if n.colOnly || n.hidden || n.name == "" {
			continue
		}
		for j := range i {
			o := sc.items[j]
			if o.name == n.name && !o.colOnly && !o.hidden && o.schema == n.schema {
				return b.err(-1, pgerr.DuplicateAlias, "table name %q specified more than once", n.name)
			}
		}
	}
	return nil
}

func (b *Binder) addRel(sc *scope, r *relItem, alias ast.Alias, pos int) (*tree, error) {
	if len(sc.rels) >= maxRels {
		return nil, b.err(pos, pgerr.ProgramLimitExceeded, "a query can join at most %d relations", maxRels)
	}
	if len(alias.Columns) > len(r.cols) {
		return nil, b.err(-1, pgerr.InvalidColumnReference, "table %q has %d columns available but %d columns specified", r.alias, len(r.cols), len(alias.Columns))
	}
	for i, n := range alias.Columns {
		r.cols[i].name = n
	}
	sc.addRel(r)
	return &tree{rel: r, set: r.bit()}, nil
}

func (b *Binder) tableExpr(sc *scope, t ast.TableExpr) (*tree, error) {
	if err := b.enter(-1); err != nil {
		return nil, err
	}
	defer b.leave()
	switch x := t.(type) {
	case *ast.TableRef:
		return b.tableRef(sc, x)
	case *ast.SubqueryRef:
		return b.subqueryRef(sc, x)
	case *ast.FuncRef:
		return b.funcRef(sc, x)
	case *ast.Join:
		return b.join(sc, x)
	}
	return nil, b.err(-1, pgerr.FeatureNotSupported, "FROM item is not supported")
}

func (b *Binder) tableRef(sc *scope, x *ast.TableRef) (*tree, error) {
	if x.Sample != "" {
		return nil, b.err(x.Name.Pos, pgerr.FeatureNotSupported, "TABLESAMPLE is not supported")
	}
	alias := x.Alias.Name
	if alias == "" {
		alias = x.Name.Name
	}
	if x.Name.Schema == "" {
		if cte := b.findCTE(x.Name.Name); cte != nil {
			r, err := b.cteRel(cte, alias)
			if err != nil {
				return nil, b.at(err, x.Name.Pos)
			}
			return b.addRel(sc, r, x.Alias, x.Name.Pos)
		}
	}
	r, err := b.lookupRel(x.Name, alias)
	if err != nil {
		return nil, err
	}
	tr, err := b.addRel(sc, r, x.Alias, x.Name.Pos)
	if err == nil && x.Alias.Name == "" {
		sc.items[len(sc.items)-1].schema = x.Name.Schema
		if x.Name.Schema == "" && r.table != nil {
			if s, ok := b.Txn.SchemaByOID(r.table.Schema); ok {
				sc.items[len(sc.items)-1].schema = s.Name
			}
		}
	}
	return tr, err
}

// lookupRel finds a table, view or virtual table by name.
func (b *Binder) lookupRel(n ast.Name, alias string) (*relItem, error) {
	if n.Catalog != "" && b.Session != nil && n.Catalog != b.Session.Database() {
		return nil, b.err(n.Pos, pgerr.FeatureNotSupported, "cross-database references are not implemented: %q", n.Catalog+"."+n.Schema+"."+n.Name)
	}
	t, vt, err := b.findRel(n)
	if err != nil {
		return nil, err
	}
	if vt != nil {
		return virtualRel(vt, alias), nil
	}
	if t.Kind == rel.KindView {
		return b.viewRel(t, alias, n.Pos)
	}
	r := b.tableRel(t, alias)
	return r, nil
}

// findRel resolves a name: temporary tables, then pg_catalog, then the search path.
func (b *Binder) findRel(n ast.Name) (*rel.Table, exec.VirtualTable, error) {
	missing := func() error {
		name := n.Name
		if n.Schema != "" {
			name = n.Schema + "." + name
		}
		e := b.err(n.Pos, pgerr.UndefinedTable, "relation %q does not exist", name)
		if n.Schema == "" {
			e = b.forwardReference(e, name)
		}
		return e
	}
	if n.Schema != "" {
		if b.Virtual != nil && b.Virtual.HasSchema(n.Schema) {
			if vt, ok := b.Virtual.Table(n.Schema, n.Name); ok {
				return nil, vt, nil
			}
			return nil, nil, missing()
		}
		if b.Txn == nil {
			return nil, nil, missing()
		}
		if n.Schema == "pg_temp" {
			if t, ok := b.Txn.TempTableByName(n.Name); ok {
				return t, nil, nil
			}
			return nil, nil, missing()
		}
		if ts := b.Txn.TempSchema(); ts != nil && ts.Name == n.Schema {
			if t, ok := b.Txn.TempTableByName(n.Name); ok {
				return t, nil, nil
			}
			return nil, nil, missing()
		}
		s, ok := b.Txn.SchemaByName(n.Schema)
		if ok {
			if t, ok := b.Txn.TableByName(s.OID, n.Name); ok {
				return t, nil, nil
			}
		}
		if b.Virtual != nil {
			if vt, ok := b.Virtual.Table(n.Schema, n.Name); ok {
				return nil, vt, nil
			}
		}
		if !ok {
			return nil, nil, missing()
		}
		return b.ghost(s.OID, n, missing)
	}
	if b.Txn != nil {
		if t, ok := b.Txn.TempTableByName(n.Name); ok {
			return t, nil, nil
		}
	}
	if b.Virtual != nil {
		explicit := false
		for _, p := range b.SearchPath {
			explicit = explicit || p == "pg_catalog"
		}
		if !explicit {
			if vt, ok := b.Virtual.Table("pg_catalog", n.Name); ok {
				return nil, vt, nil
			}
		}
	}
	for _, p := range b.SearchPath {
		if b.Virtual != nil && b.Virtual.HasSchema(p) {
			if vt, ok := b.Virtual.Table(p, n.Name); ok {
				return nil, vt, nil
			}
			continue
		}
		if b.Txn == nil {
			continue
		}
		s, ok := b.Txn.SchemaByName(p)
		if !ok {
			continue
		}
		if t, ok := b.Txn.TableByName(s.OID, n.Name); ok {
			return t, nil, nil
		}
	}
	if b.Txn != nil {
		for _, p := range b.SearchPath {
			if s, ok := b.Txn.SchemaByName(p); ok {
				if t, _, err := b.ghost(s.OID, n, missing); err == nil {
					return t, nil, nil
				}
			}
		}
	}
	return nil, nil, missing()
}

// ghost finds the last descriptor of a dropped inlined-data table, which clients that
// cached it may still scan: it has no rows.
func (b *Binder) ghost(schema uint32, n ast.Name, missing func() error) (*rel.Table, exec.VirtualTable, error) {
	if b.writes {
		return nil, nil, missing()
	}
	if t, ok := b.Txn.GhostTable(schema, n.Name); ok {
		return t, nil, nil
	}
	return nil, nil, missing()
}

func (b *Binder) bindTable(n ast.Name) (*rel.Table, error) {
	b.writes = true
	t, vt, err := b.findRel(n)
	b.writes = false
	if err != nil {
		return nil, err
	}
	if vt != nil && !b.Virtual.HasSchema(vt.Schema()) {
		return nil, b.err(n.Pos, pgerr.UndefinedTable, "relation %q holds nothing yet and cannot be written", vt.Schema()+"."+vt.Name()).
			WithHint("The server makes the table when it first needs it.")
	}
	if vt != nil {
		return nil, b.err(n.Pos, pgerr.InsufficientPrivilege, "permission denied: %q is a system catalog", vt.Name())
	}
	return t, nil
}

func (b *Binder) tableRel(t *rel.Table, alias string) *relItem {
	r := &relItem{alias: alias, table: t}
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Dropped {
			continue
		}
		r.cols = append(r.cols, relCol{
			name: c.Name, t: types.T{OID: c.Type, Mod: c.Mod}, att: int(c.Num), table: t.OID, attr: c.Num,
		})
	}
	return r
}

func virtualRel(vt exec.VirtualTable, alias string) *relItem {
	r := &relItem{alias: alias, vt: vt}
	for i, c := range vt.Columns() {
		r.cols = append(r.cols, relCol{name: c.Name, t: c.Type, att: i + 1, table: vt.OID(), attr: int16(i + 1)})
	}
	return r
}

// maxViews bounds views that read views.
const maxViews = 100

func (b *Binder) viewRel(t *rel.Table, alias string, pos int) (*relItem, error) {
	if b.views >= maxViews {
		return nil, b.err(pos, pgerr.InvalidObjectDefinition, "infinite recursion detected in rules for relation %q", t.Name)
	}
	q, err := b.parseQuery(t.View)
	if err != nil {
		return nil, err
	}
	node, err := b.foreign(func() (exec.Node, error) { return b.bindQuery(q, nil) })
	if err != nil {
		return nil, err
	}
	r := queryRel(node, alias, nil)
	// The view's own column names and types hold, whatever its query says now.
	i := 0
	for k := range t.Columns {
		c := &t.Columns[k]
		if c.Dropped || i >= len(r.cols) {
			continue
		}
		r.cols[i].name = c.Name
		r.cols[i].table, r.cols[i].attr = t.OID, c.Num
		i++
	}
	return r, nil
}

// foreign binds stored text: its positions and literal slots are not the statement's,
// and it sees no CTEs.
func (b *Binder) foreign(f func() (exec.Node, error)) (exec.Node, error) {
	text, ctes, slots := b.Text, b.ctes, b.noSlots
	b.Text, b.ctes, b.noSlots = "", nil, true
	b.views++
	n, err := f()
	b.views--
	b.Text, b.ctes, b.noSlots = text, ctes, slots
	return n, err
}

// queryRel makes a relation of a bound query.
func queryRel(n exec.Node, alias string, cell *exec.Cell) *relItem {
	r := &relItem{alias: alias, sub: &subRel{node: n, cell: cell}}
	for i, c := range n.Columns() {
		r.cols = append(r.cols, relCol{name: c.Name, t: c.Type, att: i + 1, table: c.Table, attr: c.Attr})
	}
	return r
}

func (b *Binder) subqueryRef(sc *scope, x *ast.SubqueryRef) (*tree, error) {
	parent := sc.parent
	if x.Lateral {
		parent = sc
	}
	logged := len(sc.outer)
	if !x.Lateral {
		// The subquery is outside of this level, but runs inside of it.
		parent = sc.parent
	}
	beside := b.beside
	b.beside = append(beside[:len(beside):len(beside)], sc)
	node, err := b.bindQuery(x.Query, parent)
	b.beside = beside
	if err != nil {
		return nil, err
	}
	if node, err = b.settleUnknown(node); err != nil {
		return nil, err
	}
	r := queryRel(node, x.Alias.Name, nil)
	b.lateralDeps(sc, r, logged)
	return b.addRel(sc, r, x.Alias, x.Pos)
}

// lateralDeps notes which siblings a LATERAL item reads.
func (b *Binder) lateralDeps(sc *scope, r *relItem, logged int) {
	if logged == len(sc.outer) {
		return
	}
	for _, o := range sc.outer[logged:] {
		if src, ok := o.Col.Src.(*relItem); ok {
			r.deps |= src.bit()
		}
	}
	if r.sub != nil {
		r.sub.cell = sc.cell
	}
}

func (b *Binder) join(sc *scope, x *ast.Join) (*tree, error) {
	start := len(sc.items)
	l, err := b.tableExpr(sc, x.Left)
	if err != nil {
		return nil, err
	}
	mid := len(sc.items)
	r, err := b.tableExpr(sc, x.Right)
	if err != nil {
		return nil, err
	}
	if err := b.checkAliases(sc, mid, nil); err != nil {
		return nil, err
	}
	t := &tree{l: l, r: r, set: l.set | r.set}
	switch x.Kind {
	case "left":
		t.kind = exec.LeftJoin
	case "right":
		t.kind = exec.RightJoin
	case "full":
		t.kind = exec.FullJoin
	}
	left, right := sc.items[start:mid:mid], sc.items[mid:len(sc.items):len(sc.items)]
	using := x.Using
	if x.Natural {
		using = nil
		rc := visibleCols(right)
		for _, c := range visibleCols(left) {
			for _, d := range rc {
				if c.name == d.name {
					using = append(using, c.name)
					break
				}
			}
		}
	}
	if len(using) > 0 {
		if err := b.using(sc, t, x, using, left, right); err != nil {
			return nil, err
		}
	}
	if x.On != nil {
		hide := sc.items[:start]
		saved := make([]bool, len(hide))
		for i, it := range hide {
			saved[i] = it.hidden
			it.hidden = true
		}
		clause := b.clause
		b.clause = "JOIN conditions"
		c, err := b.condition(sc, x.On, "JOIN/ON")
		b.clause = clause
		for i, it := range hide {
			it.hidden = saved[i]
		}
		if err != nil {
			return nil, err
		}
		t.on = conjuncts(c, nil)
	}
	if x.Alias.Name != "" {
		var cols []nsCol
		for _, c := range visibleCols(sc.items[start:]) {
			cols = append(cols, *c)
		}
		for _, it := range sc.items[start:] {
			it.hidden = true
		}
		if len(x.Alias.Columns) > len(cols) {
			return nil, b.err(-1, pgerr.InvalidColumnReference, "join expression %q has %d columns available but %d columns specified", x.Alias.Name, len(cols), len(x.Alias.Columns))
		}
		for i, n := range x.Alias.Columns {
			cols[i].name = n
		}
		sc.items = append(sc.items, &nsItem{name: x.Alias.Name, cols: cols})
	}
	return t, nil
}

// visibleCols are the columns that a bare * would show.
func visibleCols(items []*nsItem) []*nsCol {
	var out []*nsCol
	for _, it := range items {
		if it.relOnly || it.hidden {
			continue
		}
		for i := range it.cols {
			out = append(out, &it.cols[i])
		}
	}
	return out
}

// using merges the columns of JOIN USING and NATURAL JOIN.
func (b *Binder) using(sc *scope, t *tree, x *ast.Join, names []string, left, right []*nsItem) error {
	lc, rc := visibleCols(left), visibleCols(right)
	find := func(cols []*nsCol, name, side string) (*nsCol, error) {
		var hit *nsCol
		for _, c := range cols {
			if c.name == name {
				if hit != nil {
					return nil, b.err(-1, pgerr.AmbiguousColumn, "common column name %q appears more than once in %s table", name, side)
				}
				hit = c
			}
		}
		if hit == nil {
			return nil, b.err(-1, pgerr.UndefinedColumn, "column %q specified in USING clause does not exist in %s table", name, side)
		}
		return hit, nil
	}
	merged := &nsItem{colOnly: true}
	used := make(map[*nsCol]bool)
	seen := make(map[string]bool)
	for _, name := range names {
		if seen[name] {
			return b.err(-1, pgerr.DuplicateColumn, "column name %q appears more than once in USING clause", name)
		}
		seen[name] = true
		l, err := find(lc, name, "left")
		if err != nil {
			return err
		}
		r, err := find(rc, name, "right")
		if err != nil {
			return err
		}
		used[l], used[r] = true, true
		le, re := l.ref(), r.ref()
		eq, err := b.operator("=", le, re, x.Pos)
		if err != nil {
			return err
		}
		t.on = append(t.on, eq)
		pair, ct, err := b.unify([]exec.Expr{le, re}, "JOIN/USING", func(int) int { return x.Pos })
		if err != nil {
			return err
		}
		var out exec.Expr
		switch t.kind {
		case exec.RightJoin:
			out = pair[1]
		case exec.FullJoin:
			out = &exec.Coalesce{List: pair, T: ct}
		default:
			out = pair[0]
		}
		merged.cols = append(merged.cols, nsCol{name: name, expr: out})
	}
	for _, cols := range [][]*nsCol{lc, rc} {
		for _, c := range cols {
			if !used[c] {
				merged.cols = append(merged.cols, *c)
			}
		}
	}
	for _, side := range [][]*nsItem{left, right} {
		for _, it := range side {
			if it.colOnly {
				it.hidden = true
			} else {
				it.relOnly = true
			}
		}
	}
	if x.UsingAlias != "" {
		alias := &nsItem{name: x.UsingAlias, relOnly: true, cols: append([]nsCol(nil), merged.cols[:len(names)]...)}
		sc.items = append(sc.items, alias)
	}
	sc.items = append(sc.items, merged)
	return nil
}

// conjuncts splits a condition at its ANDs.
func conjuncts(e exec.Expr, out []exec.Expr) []exec.Expr {
	if a, ok := e.(*exec.And); ok {
		for _, p := range a.List {
			out = conjuncts(p, out)
		}
		return out
	}
	return append(out, e)
}

// refsOf is which of its level's relations an expression reads, through subqueries too.
func refsOf(e exec.Expr) relSet {
	var s relSet
	exec.WalkExpr(e, func(p exec.Expr) bool {
		switch x := p.(type) {
		case *exec.Col:
			if r, ok := x.Src.(*relItem); ok {
				s |= r.bit()
			}
		case *exec.ScalarSub:
			s |= planRefs(x.Plan)
		case *exec.ExistsSub:
			s |= planRefs(x.Plan)
		case *exec.QuantSub:
			s |= planRefs(x.Plan)
		}
		return true
	})
	return s
}

func planRefs(p *exec.SubPlan) relSet {
	var s relSet
	for _, o := range p.Outer {
		if r, ok := o.Col.Src.(*relItem); ok {
			s |= r.bit()
		}
	}
	return s
}
