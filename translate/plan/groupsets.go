package plan

import (
	"slices"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// group adds a grouping expression and returns its number.
func (c *coreBinder) group(e ast.Expr) (int, error) {
	b := c.b
	var x exec.Expr
	switch r := e.(type) {
	case *ast.Literal:
		if r.Kind == ast.LitInteger {
			at, err := b.ordinal(r, c.visible, "GROUP BY")
			if err != nil {
				return 0, err
			}
			x = c.targets[at].expr
		} else if r.Kind != ast.LitNull {
			return 0, b.err(int(r.Pos), pgerr.SyntaxError, "non-integer constant in GROUP BY")
		}
	case *ast.ColumnRef:
		// An input column goes before an output name here.
		if len(r.Parts) == 1 {
			if in, err := b.column(c.sc, r); err == nil {
				x = in
			} else if pgerr.CodeOf(err) == pgerr.AmbiguousColumn {
				return 0, err
			} else if at, ok, _ := c.findTarget(r.Parts[0]); ok {
				x = c.targets[at].expr
			}
		}
	}
	if x == nil {
		b.clause = "GROUP BY"
		var err error
		x, err = b.expr(c.sc, e)
		b.clause = ""
		if err != nil {
			return 0, err
		}
	}
	x = b.resolveUnknown(x)
	if hasAgg(x) {
		return 0, b.err(e.Position(), pgerr.GroupingError, "aggregate functions are not allowed in GROUP BY")
	}
	if !b.hasEquality(x.Type().OID) {
		return 0, b.err(e.Position(), pgerr.UndefinedFunction, "could not identify an equality operator for type %s", types.TypeName(x.Type().OID))
	}
	key := exprKey(x)
	for i, g := range c.groups {
		if exprKey(g) == key {
			return i, nil
		}
	}
	b.fixExpr(x)
	c.groups = append(c.groups, x)
	return len(c.groups) - 1, nil
}

func hasAgg(e exec.Expr) bool {
	found := false
	exec.WalkExpr(e, func(p exec.Expr) bool {
		if _, ok := p.(*exec.AggRef); ok {
			found = true
		}
		return !found
	})
	return found
}

// maxSets bounds the grouping sets of one GROUP BY.
const maxSets = 4096

func (c *coreBinder) bindGroups() error {
	plain := true
	for _, g := range c.core.GroupBy {
		plain = plain && g.Kind == "" && g.Expr != nil
	}
	if plain {
		for _, g := range c.core.GroupBy {
			if _, err := c.group(g.Expr); err != nil {
				return err
			}
		}
		return nil
	}
	sets := [][]int{{}}
	for i := range c.core.GroupBy {
		s, err := c.groupSets(&c.core.GroupBy[i])
		if err != nil {
			return err
		}
		if len(sets)*len(s) > maxSets {
			return c.b.err(-1, pgerr.StatementTooComplex, "too many grouping sets present (maximum %d)", maxSets)
		}
		var cross [][]int
		for _, a := range sets {
			for _, d := range s {
				cross = append(cross, union(a, d))
			}
		}
		sets = cross
	}
	if c.core.GroupDistinct {
		var uniq [][]int
		for _, s := range sets {
			slices.Sort(s)
			if !slices.ContainsFunc(uniq, func(u []int) bool { return slices.Equal(u, s) }) {
				uniq = append(uniq, s)
			}
		}
		sets = uniq
	}
	c.sets = sets
	return nil
}

func union(a, b []int) []int {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// groupSets expands one GROUP BY item to its sets.
func (c *coreBinder) groupSets(g *ast.GroupItem) ([][]int, error) {
	member := func(m *ast.GroupItem) ([]int, error) {
		var out []int
		if m.Kind == "list" {
			for i := range m.Sets {
				n, err := c.group(m.Sets[i].Expr)
				if err != nil {
					return nil, err
				}
				out = append(out, n)
			}
			return out, nil
		}
		if r, ok := m.Expr.(*ast.RowExpr); ok {
			for _, e := range r.Items {
				n, err := c.group(e)
				if err != nil {
					return nil, err
				}
				out = append(out, n)
			}
			return out, nil
		}
		n, err := c.group(m.Expr)
		return []int{n}, err
	}
	switch g.Kind {
	case "empty":
		return [][]int{{}}, nil
	case "", "list":
		m, err := member(g)
		return [][]int{m}, err
	case "sets":
		var out [][]int
		for i := range g.Sets {
			s, err := c.groupSets(&g.Sets[i])
			if err != nil {
				return nil, err
			}
			out = append(out, s...)
		}
		return out, nil
	}
	var parts [][]int
	for i := range g.Sets {
		m, err := member(&g.Sets[i])
		if err != nil {
			return nil, err
		}
		parts = append(parts, m)
	}
	var out [][]int
	if g.Kind == "rollup" {
		for n := len(parts); n >= 0; n-- {
			s := []int{}
			for _, p := range parts[:n] {
				s = union(s, p)
			}
			out = append(out, s)
		}
		return out, nil
	}
	if len(parts) > 12 {
		return nil, c.b.err(-1, pgerr.TooManyColumns, "CUBE is limited to 12 elements")
	}
	for mask := 1<<len(parts) - 1; mask >= 0; mask-- {
		s := []int{}
		for i, p := range parts {
			if mask&(1<<(len(parts)-1-i)) != 0 {
				s = union(s, p)
			}
		}
		out = append(out, s)
	}
	return out, nil
}
