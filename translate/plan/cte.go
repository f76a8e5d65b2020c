package plan

import (
	"slices"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// cteEntry is a WITH query in scope.
type cteEntry struct {
	name string
	node exec.Node
	cols []exec.Column
	cte  *exec.CTE
	// inline queries are planned into the one place that reads them.
	inline bool
	uses   int
	work   *exec.WorkTable // set while its own recursive part is bound
	later  bool            // comes later in the WITH that is bound, and cannot be read
}

func (b *Binder) findCTE(name string) *cteEntry {
	for i := len(b.ctes) - 1; i >= 0; i-- {
		if b.ctes[i].name == name && !b.ctes[i].later {
			return b.ctes[i]
		}
	}
	return nil
}

func (b *Binder) cteRel(c *cteEntry, alias string) (*relItem, error) {
	if c.cte != nil && c.cte.Writes && len(c.cols) == 0 {
		return nil, b.err(-1, pgerr.FeatureNotSupported, "WITH query %q does not have a RETURNING clause", c.name)
	}
	c.uses++
	var n exec.Node
	switch {
	case c.work != nil:
		n = c.work
	case c.inline && c.uses == 1:
		n = c.node
	default:
		n = &exec.CTEScan{CTE: c.cte}
	}
	r := &relItem{alias: alias, sub: &subRel{node: n}, cte: true}
	for i, col := range c.cols {
		r.cols = append(r.cols, relCol{name: col.Name, t: col.Type, att: i + 1, table: col.Table, attr: col.Attr})
	}
	return r, nil
}

// bindWith binds WITH's queries and leaves them visible. Those of WITH RECURSIVE see each other.
func (b *Binder) bindWith(w *ast.With, parent *scope) ([]*cteEntry, error) {
	seen := make(map[string]bool)
	order := make([]int, len(w.CTEs))
	for i := range w.CTEs {
		c := &w.CTEs[i]
		if seen[c.Name] {
			return nil, b.err(c.Pos, pgerr.DuplicateAlias, "WITH query name %q specified more than once", c.Name)
		}
		seen[c.Name] = true
		order[i] = i
	}
	if w.Recursive {
		var err error
		if order, err = b.orderCTEs(w); err != nil {
			return nil, err
		}
	}
	out := make([]*cteEntry, len(w.CTEs))
	mark := len(b.ctes)
	for k, i := range order {
		// What is not bound yet is known by name, for the error about it.
		b.ctes = b.ctes[:mark+k]
		for _, j := range order[k:] {
			b.ctes = append(b.ctes, &cteEntry{name: w.CTEs[j].Name, later: true})
		}
		e, err := b.bindCTE(&w.CTEs[i], w.Recursive, parent)
		if err != nil {
			return nil, err
		}
		b.ctes = append(b.ctes[:mark+k], e)
		out[i] = e
	}
	return out, nil
}

// forwardReference completes the error about a relation that a later query of the same WITH
// is named like.
func (b *Binder) forwardReference(e *pgerr.Error, name string) *pgerr.Error {
	for _, c := range b.ctes {
		if c.later && c.name == name {
			return e.WithDetail("There is a WITH item named %q, but it cannot be referenced from this part of the query.", name).
				WithHint("Use WITH RECURSIVE, or re-order the WITH items to remove forward references.")
		}
	}
	return e
}

func (b *Binder) bindCTE(c *ast.CTE, recursive bool, parent *scope) (*cteEntry, error) {
	e := &cteEntry{name: c.Name}
	saved := b.minDepth
	b.minDepth = maxDepthMark
	defer func() { b.minDepth = min(saved, b.minDepth) }()
	q, isQuery := c.Stmt.(*ast.Select)
	if recursive && stmtRefersTo(c.Stmt, c.Name) {
		if err := b.checkRecursion(c); err != nil {
			return nil, err
		}
		n, err := b.recursive(c, q, e, parent)
		if err != nil {
			return nil, err
		}
		e.node = n
	} else if isQuery {
		n, err := b.bindQuery(q, parent)
		if err != nil {
			return nil, err
		}
		if n, err = b.settleUnknown(n); err != nil {
			return nil, err
		}
		e.node = n
	} else {
		if b.nested > 1 {
			return nil, b.err(c.Pos, pgerr.FeatureNotSupported, "WITH clause containing a data-modifying statement must be at the top level")
		}
		n, err := b.bindDML(c.Stmt, parent)
		if err != nil {
			return nil, err
		}
		e.node = n
	}
	if err := b.nameCTE(c, e); err != nil {
		return nil, err
	}
	e.cte = &exec.CTE{Name: c.Name, Node: e.node, Cols: e.cols, Writes: !isQuery, Correlated: b.minDepth < maxDepthMark}
	_, e.cte.Lazy = e.node.(*exec.Recursive)
	if isQuery && (c.Materialized == nil || !*c.Materialized) {
		// Whether it is read once is known only later; the first reader gets the plan itself
		// where that costs nothing, further ones the kept rows.
		_, isValues := e.node.(*exec.Values)
		e.inline = isValues
	}
	return e, nil
}

// maxDepthMark is deeper than any level.
const maxDepthMark = 1 << 30

func (b *Binder) nameCTE(c *ast.CTE, e *cteEntry) error {
	cols := slices.Clone(e.node.Columns())
	if len(c.Columns) > len(cols) {
		return b.err(c.Pos, pgerr.InvalidColumnReference, "WITH query %q has %d columns available but %d columns specified", c.Name, len(cols), len(c.Columns))
	}
	for i, n := range c.Columns {
		cols[i].Name = n
	}
	e.cols = cols
	return nil
}

// recursive binds a WITH RECURSIVE query that reads itself.
func (b *Binder) recursive(c *ast.CTE, q *ast.Select, e *cteEntry, parent *scope) (exec.Node, error) {
	mark := len(b.ctes)
	if q.With != nil {
		if _, err := b.bindWith(q.With, parent); err != nil {
			return nil, err
		}
	}
	base, err := b.bindQuery(q.SetOp.Left, parent)
	if err == nil {
		base, err = b.settleUnknown(base)
	}
	if err != nil {
		return nil, err
	}
	e.node = base
	if err := b.nameCTE(c, e); err != nil {
		return nil, err
	}
	self := &cteEntry{name: c.Name, cols: e.cols, work: &exec.WorkTable{Cols: e.cols}}
	b.ctes = append(b.ctes, self)
	step, err := b.bindQuery(q.SetOp.Right, parent)
	b.ctes = b.ctes[:mark]
	if err != nil {
		return nil, err
	}
	sc := step.Columns()
	if len(sc) != len(e.cols) {
		return nil, b.err(c.Pos, pgerr.SyntaxError, "each UNION query must have the same number of columns")
	}
	want := make([]types.T, len(sc))
	var oids []types.OID
	for i := range sc {
		t := e.cols[i].Type
		if sc[i].Type.OID != t.OID && sc[i].Type.OID != types.UnknownOID && !canCoerce(sc[i].Type.OID, t.OID, types.Implicit) {
			return nil, b.err(c.Pos, pgerr.DatatypeMismatch, "recursive query %q column %d has type %s in non-recursive term but type %s overall",
				c.Name, i+1, types.TypeName(t.OID), types.TypeName(sc[i].Type.OID)).
				WithHint("Cast the output of the non-recursive term to the correct type.")
		}
		want[i] = types.T{OID: t.OID, Mod: -1}
		oids = append(oids, t.OID)
	}
	if step, err = b.convert(step, want, types.Implicit, func(int) int { return -1 }); err != nil {
		return nil, err
	}
	return &exec.Recursive{Base: base, Step: step, Work: self.work, Distinct: !q.SetOp.All, OIDs: oids, Cols: e.cols}, nil
}
