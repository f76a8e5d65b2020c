package plan

import (
	"strings"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// relSet is a set of a level's relations, by their number.
type relSet uint64

func (s relSet) has(t relSet) bool { return s&t == t }

// maxRels is how many relations one FROM clause can hold.
const maxRels = 64

// relItem is one relation of a query level: a table, a virtual table, a query, a
// function. Its columns get places in the level's row when they are referred to.
type relItem struct {
	id    int
	alias string
	cols  []relCol
	table *rel.Table
	vt    exec.VirtualTable
	sub   *subRel
	cte   bool // sub is a WITH query
	fn    *funcRel
	refs  map[int]*exec.Col
	order []int // attribute numbers in the order they were referred to
	set   *exec.ColSet
	deps  relSet // relations that a LATERAL item reads
	// ghost tables are dropped ones that may still be scanned: no rows.
	ghost bool
}

type subRel struct {
	node exec.Node
	cell *exec.Cell
}

type funcRel struct {
	parts []exec.FuncPart
	width int
}

// relCol is a column of a relItem; att is what scans know it by.
type relCol struct {
	name  string
	t     types.T
	att   int
	table uint32
	attr  int16
}

func (r *relItem) bit() relSet { return 1 << r.id }

// col returns the one Col of an attribute.
func (r *relItem) col(att int) *exec.Col {
	if c, ok := r.refs[att]; ok {
		return c
	}
	c := &exec.Col{Idx: -1, Src: r, Att: att, T: r.typeOf(att), Name: r.nameOf(att)}
	if r.refs == nil {
		r.refs = make(map[int]*exec.Col)
	}
	r.refs[att] = c
	r.order = append(r.order, att)
	return c
}

var systemColumns = []struct {
	name string
	att  int
	oid  types.OID
}{
	{"ctid", exec.AttCtid, types.TidOID},
	{"tableoid", exec.AttTableOID, types.OidOID},
	{"xmin", exec.AttXmin, types.XidOID},
	{"xmax", exec.AttXmax, types.XidOID},
	{"cmin", exec.AttCmin, types.CidOID},
	{"cmax", exec.AttCmax, types.CidOID},
}

func (r *relItem) typeOf(att int) types.T {
	for i := range r.cols {
		if r.cols[i].att == att {
			return r.cols[i].t
		}
	}
	for _, s := range systemColumns {
		if s.att == att {
			return types.T{OID: s.oid, Mod: -1}
		}
	}
	if att == exec.AttTuple {
		return types.T{OID: types.ByteaOID, Mod: -1}
	}
	return types.T{OID: types.Int8OID, Mod: -1}
}

func (r *relItem) nameOf(att int) string {
	for i := range r.cols {
		if r.cols[i].att == att {
			return r.cols[i].name
		}
	}
	for _, s := range systemColumns {
		if s.att == att {
			return s.name
		}
	}
	return ""
}

// origin says which table column a Col is, for RowDescription.
func origin(e exec.Expr) (table uint32, attr int16) {
	c, ok := e.(*exec.Col)
	if !ok {
		return 0, 0
	}
	r, ok := c.Src.(*relItem)
	if !ok {
		return 0, 0
	}
	for i := range r.cols {
		if r.cols[i].att == c.Att {
			return r.cols[i].table, r.cols[i].attr
		}
	}
	if r.table != nil && c.Att < 0 && c.Att > -100 {
		return r.table.OID, int16(c.Att)
	}
	return 0, 0
}

// nsItem is a name in scope: an alias with its columns.
type nsItem struct {
	name    string
	schema  string // set for a table without an alias
	bare    string // an UPDATE or DELETE target's own name
	cols    []nsCol
	rel     *relItem // for system columns and whole-row references
	relOnly bool     // its columns are reachable qualified only
	colOnly bool     // no name of its own (a join's merged columns)
	hidden  bool     // not reachable at all (before it may be)
}

type nsCol struct {
	name string
	expr exec.Expr // nil: the rel's attribute att
	rel  *relItem
	att  int
}

func (c *nsCol) ref() exec.Expr {
	if c.expr != nil {
		return c.expr
	}
	return c.rel.col(c.att)
}

// scope is one query level's names.
type scope struct {
	parent *scope
	depth  int
	items  []*nsItem
	rels   []*relItem
	cell   *exec.Cell
	outer  []*exec.OuterCol // references from below to this level
	width  int
	// agg and clause are where the expression with the subquery being bound stands.
	agg    *aggScope
	clause string
	// fixedLayout scopes have places already.
	fixedLayout bool
}

func (s *scope) addRel(r *relItem) *nsItem {
	r.id = len(s.rels)
	s.rels = append(s.rels, r)
	it := &nsItem{name: r.alias, rel: r}
	for i := range r.cols {
		it.cols = append(it.cols, nsCol{name: r.cols[i].name, rel: r, att: r.cols[i].att})
	}
	s.items = append(s.items, it)
	return it
}

// layout gives every referred column its place in the level's row.
func (s *scope) layout() {
	if s.fixedLayout {
		return
	}
	n := 0
	for _, r := range s.rels {
		if r.set == nil {
			r.set = &exec.ColSet{}
		}
		r.set.Idx = r.set.Idx[:0]
		for _, att := range r.order {
			r.refs[att].Idx = n
			r.set.Idx = append(r.set.Idx, n)
			n++
		}
	}
	s.width = n
}

// scanCols lists a relation's referred columns for its scan.
func (r *relItem) scanCols() []exec.ScanCol {
	out := make([]exec.ScanCol, 0, len(r.order))
	for _, att := range r.order {
		out = append(out, exec.ScanCol{Att: att, To: r.refs[att]})
	}
	return out
}

// up wraps a column of an enclosing level found from sc.
func (b *Binder) up(sc, found *scope, e exec.Expr) (exec.Expr, error) {
	if sc == found {
		return e, nil
	}
	if found.cell == nil {
		found.cell = b.newCell()
	}
	b.minDepth = min(b.minDepth, found.depth)
	return exec.MapExpr(e, func(p exec.Expr) (exec.Expr, error) {
		if c, ok := p.(*exec.Col); ok {
			o := &exec.OuterCol{Cell: found.cell, Col: c}
			found.outer = append(found.outer, o)
			return o, nil
		}
		return nil, nil
	})
}

// column resolves a column reference.
func (b *Binder) column(sc *scope, ref *ast.ColumnRef) (exec.Expr, error) {
	e, err := b.findColumn(sc, ref)
	if o, ok := e.(*exec.OuterCol); ok && err == nil {
		o.Pos = int(ref.Pos)
	}
	if c, ok := e.(*exec.Col); ok && err == nil && b.agg != nil {
		if b.agg.pos == nil {
			b.agg.pos = make(map[*exec.Col]int)
		}
		if _, seen := b.agg.pos[c]; !seen {
			b.agg.pos[c] = int(ref.Pos)
		}
	}
	return e, err
}

func (b *Binder) findColumn(sc *scope, ref *ast.ColumnRef) (exec.Expr, error) {
	switch len(ref.Parts) {
	case 1:
		return b.bareColumn(sc, ref)
	case 2:
		return b.qualified(sc, ref, "", ref.Parts[0], ref.Parts[1])
	case 3:
		return b.qualified(sc, ref, ref.Parts[0], ref.Parts[1], ref.Parts[2])
	case 4:
		return b.qualified(sc, ref, ref.Parts[1], ref.Parts[2], ref.Parts[3])
	}
	return nil, b.err(int(ref.Pos), pgerr.SyntaxError, "improper qualified name (too many dotted names): %s", strings.Join(ref.Parts, "."))
}

func (b *Binder) bareColumn(sc *scope, ref *ast.ColumnRef) (exec.Expr, error) {
	name := ref.Parts[0]
	for s := sc; s != nil; s = s.parent {
		var found exec.Expr
		n := 0
		for _, it := range s.items {
			if it.relOnly || it.hidden {
				continue
			}
			for i := range it.cols {
				if it.cols[i].name == name {
					n++
					found = it.cols[i].ref()
				}
			}
		}
		if n > 1 {
			return nil, b.err(int(ref.Pos), pgerr.AmbiguousColumn, "column reference %q is ambiguous", name)
		}
		if n == 0 {
			for _, it := range s.items {
				if it.hidden || it.colOnly {
					continue
				}
				if e := systemColumn(it, name); e != nil {
					found = e
					n++
				}
			}
			if n > 1 {
				return nil, b.err(int(ref.Pos), pgerr.AmbiguousColumn, "column reference %q is ambiguous", name)
			}
		}
		if n == 1 {
			return b.up(sc, s, found)
		}
	}
	// A bare relation name is its whole row.
	for s := sc; s != nil; s = s.parent {
		for _, it := range s.items {
			if it.name == name && !it.colOnly && !it.hidden {
				return b.wholeRow(sc, s, it)
			}
		}
	}
	e := b.err(int(ref.Pos), pgerr.UndefinedColumn, "column %q does not exist", name)
	if h := b.hintColumn(sc, name); h != "" {
		e = e.WithHint("%s", h)
	}
	return nil, e
}

// hintColumn looks for the name in relations that are there but cannot be reached by it.
func (b *Binder) hintColumn(sc *scope, name string) string {
	for s := sc; s != nil; s = s.parent {
		for _, it := range s.items {
			for i := range it.cols {
				if strings.EqualFold(it.cols[i].name, name) && it.name != "" {
					return "Perhaps you meant to reference the column \"" + it.name + "." + it.cols[i].name + "\"."
				}
			}
		}
	}
	return ""
}

func systemColumn(it *nsItem, name string) exec.Expr {
	if it.rel == nil || it.rel.table == nil && it.rel.vt == nil || it.rel.table != nil && it.rel.table.Kind == rel.KindView {
		return nil
	}
	for _, s := range systemColumns {
		if s.name == name {
			return it.rel.col(s.att)
		}
	}
	return nil
}

func (b *Binder) wholeRow(sc, found *scope, it *nsItem) (exec.Expr, error) {
	if it.rel != nil && it.rel.fn != nil && len(it.cols) == 1 {
		return b.up(sc, found, it.cols[0].ref())
	}
	r := &exec.RowX{}
	for i := range it.cols {
		r.Items = append(r.Items, it.cols[i].ref())
		r.Names = append(r.Names, it.cols[i].name)
	}
	return b.up(sc, found, r)
}

// findItem finds an alias, innermost level first.
func (b *Binder) findItem(sc *scope, schema, table string) (*nsItem, *scope) {
	for s := sc; s != nil; s = s.parent {
		for _, it := range s.items {
			if it.colOnly || it.hidden {
				continue
			}
			if schema == "" && (it.name == table || it.bare != "" && it.bare == table) ||
				schema != "" && it.schema == schema && (it.name == table || it.bare == table) {
				return it, s
			}
		}
	}
	return nil, nil
}

func (b *Binder) qualified(sc *scope, ref *ast.ColumnRef, schema, table, name string) (exec.Expr, error) {
	it, s := b.findItem(sc, schema, table)
	if it == nil {
		// (composite).field written without parentheses is not supported by PostgreSQL either.
		return nil, b.missingFrom(sc, int(ref.Pos), table)
	}
	var found *nsCol
	for i := range it.cols {
		if it.cols[i].name == name {
			if found != nil {
				return nil, b.err(int(ref.Pos), pgerr.AmbiguousColumn, "column reference %q is ambiguous", name)
			}
			found = &it.cols[i]
		}
	}
	if found != nil {
		return b.up(sc, s, found.ref())
	}
	if e := systemColumn(it, name); e != nil {
		return b.up(sc, s, e)
	}
	return nil, b.err(int(ref.Pos), pgerr.UndefinedColumn, "column %s.%s does not exist", table, name)
}

func (b *Binder) missingFrom(sc *scope, pos int, table string) error {
	for s := sc; s != nil; s = s.parent {
		for _, it := range s.items {
			if it.rel != nil && it.rel.table != nil && it.rel.table.Name == table && it.name != table {
				return b.err(pos, pgerr.UndefinedTable, "invalid reference to FROM-clause entry for table %q", table).
					WithHint("Perhaps you meant to reference the table alias %q.", it.name)
			}
			if it.hidden && it.name == table {
				return b.err(pos, pgerr.UndefinedTable, "invalid reference to FROM-clause entry for table %q", table).
					WithHint("There is an entry for table %q, but it cannot be referenced from this part of the query.", table)
			}
		}
	}
	for _, s := range b.beside {
		for _, it := range s.items {
			if it.name == table {
				return b.err(pos, pgerr.UndefinedTable, "invalid reference to FROM-clause entry for table %q", table).
					WithHint("There is an entry for table %q, but it cannot be referenced from this part of the query.", table)
			}
		}
	}
	return b.err(pos, pgerr.UndefinedTable, "missing FROM-clause entry for table %q", table)
}

// star expands * or t.*.
func (b *Binder) star(sc *scope, st *ast.Star) ([]exec.Expr, []string, error) {
	var exprs []exec.Expr
	var names []string
	add := func(s *scope, it *nsItem) error {
		for i := range it.cols {
			e, err := b.up(sc, s, it.cols[i].ref())
			if err != nil {
				return err
			}
			exprs = append(exprs, e)
			names = append(names, it.cols[i].name)
		}
		return nil
	}
	if len(st.Table) > 0 {
		schema, table := "", st.Table[len(st.Table)-1]
		if len(st.Table) > 1 {
			schema = st.Table[len(st.Table)-2]
		}
		it, s := b.findItem(sc, schema, table)
		if it == nil {
			return nil, nil, b.missingFrom(sc, int(st.Pos), table)
		}
		err := add(s, it)
		return exprs, names, err
	}
	any := false
	for _, it := range sc.items {
		if it.relOnly || it.hidden {
			continue
		}
		any = true
		if err := add(sc, it); err != nil {
			return nil, nil, err
		}
	}
	if !any {
		return nil, nil, b.err(int(st.Pos), pgerr.SyntaxError, "SELECT * with no tables specified is not valid")
	}
	return exprs, names, nil
}
