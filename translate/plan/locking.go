package plan

import (
	"strings"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
)

// FOR UPDATE and its like take no locks: what another transaction changed meanwhile fails at
// commit. Where PostgreSQL could not say which rows they mean they are refused as there.

func lockName(l ast.LockClause) string { return "FOR " + strings.ToUpper(l.Strength) }

// lockOver refuses the locking clauses of a query whose rows are none of a table's.
func (b *Binder) lockOver(q *ast.Select, text string) error {
	if len(q.Locks) == 0 {
		return nil
	}
	return b.err(-1, pgerr.FeatureNotSupported, "%s %s", lockName(q.Locks[0]), text)
}

// checkLocks checks the locking clauses of a SELECT whose parts are bound.
func (c *coreBinder) checkLocks(trees []*tree) error {
	b := c.b
	for _, l := range c.q.Locks {
		with := ""
		switch {
		case c.core.Distinct || len(c.core.DistinctOn) > 0:
			with = "DISTINCT clause"
		case len(c.core.GroupBy) > 0:
			with = "GROUP BY clause"
		case c.having != nil:
			with = "HAVING clause"
		case len(c.agg.aggs) > 0:
			with = "aggregate functions"
		case len(c.agg.wins) > 0:
			with = "window functions"
		case len(c.agg.sets) > 0:
			with = "set-returning functions in the target list"
		}
		if with != "" {
			return b.err(-1, pgerr.FeatureNotSupported, "%s is not allowed with %s", lockName(l), with)
		}
		locked := make(map[*relItem]bool)
		for _, n := range l.Of {
			if n.Schema != "" {
				return b.err(n.Pos, pgerr.SyntaxError, "%s must specify unqualified relation names", lockName(l))
			}
			if err := c.lockRel(l, n, locked); err != nil {
				return err
			}
		}
		for _, t := range trees {
			if hit := nullable(t, false, func(r *relItem) bool { return locked[r] || len(l.Of) == 0 && lockable(r) }); hit {
				return b.err(-1, pgerr.FeatureNotSupported, "%s cannot be applied to the nullable side of an outer join", lockName(l))
			}
		}
	}
	return nil
}

// lockRel finds a relation that FOR UPDATE OF names.
func (c *coreBinder) lockRel(l ast.LockClause, n ast.Name, locked map[*relItem]bool) error {
	for _, it := range c.sc.items {
		if it.name != n.Name {
			continue
		}
		what := ""
		switch r := it.rel; {
		case r == nil:
			what = "a join"
		case r.fn != nil:
			what = "a function"
		case r.cte:
			what = "a WITH query"
		default:
			locked[r] = true
			return nil
		}
		return c.b.err(n.Pos, pgerr.FeatureNotSupported, "%s cannot be applied to %s", lockName(l), what)
	}
	return c.b.err(n.Pos, pgerr.UndefinedTable, "relation %q in %s clause not found in FROM clause", n.Name, lockName(l))
}

// lockable says whether a locking clause without names means a relation.
func lockable(r *relItem) bool { return r.fn == nil && !r.cte }

// nullable says whether a relation that f chooses is on the side of an outer join that may be
// filled with NULLs.
func nullable(t *tree, inner bool, f func(*relItem) bool) bool {
	if t.rel != nil {
		return inner && f(t.rel)
	}
	l := inner || t.kind == exec.RightJoin || t.kind == exec.FullJoin
	r := inner || t.kind == exec.LeftJoin || t.kind == exec.FullJoin
	return nullable(t.l, l, f) || nullable(t.r, r, f)
}
