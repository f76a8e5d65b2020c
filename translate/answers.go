package translate

import (
	"container/list"
	"slices"

	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgcatalog"
)

// A client lists all relations of a database when it attaches, and with thousands of them the
// joins behind that list take most of the time. The answer follows from the descriptors alone,
// so it is kept beside the plan, for the next transaction that sees the same ones.

// How many rows an answer has at least for it to be worth keeping, and how many bytes one takes
// at most, and all.
const (
	minAnswerRows = 50
	maxAnswer     = 16 << 20
	maxAnswers    = 32 << 20
)

// answer is what a plan has yielded.
type answer struct {
	of    store.Descriptors
	slots []exec.Slot
	rows  *exec.Kept
}

// answered is the plan of a query that asks for descriptors only.
type answered struct {
	exec.Node
	plan  *cachedPlan
	cache *planCaches
	slots []exec.Slot
}

// Open yields the answer that is kept, or else what the plan yields, and keeps that.
func (n *answered) Open(c *exec.Ctx) (exec.Iter, error) {
	of, ok := c.Txn.Descriptors()
	if !ok {
		return n.Node.Open(c)
	}
	if k := n.cache.answer(n.plan, of, n.slots); k != nil {
		return k.Open(c), nil
	}
	it, err := n.Node.Open(c)
	if err != nil {
		return nil, err
	}
	txn := c.Txn
	return exec.Keep(it, n.Node.Columns(), maxAnswer, func(k *exec.Kept) {
		// Rows are made one by one: all of them must be of the same descriptors.
		if now, ok := txn.Descriptors(); ok && now == of && k.Rows() >= minAnswerRows {
			n.cache.setAnswer(n.plan, &answer{of: of, slots: n.slots, rows: k})
		}
	}), nil
}

// answer returns the rows that are kept of a plan, if they are what it would yield.
func (p *planCaches) answer(c *cachedPlan, of store.Descriptors, slots []exec.Slot) *exec.Kept {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.answer == nil || c.answer.of != of || !slices.Equal(c.answer.slots, slots) {
		return nil
	}
	p.toFront(c)
	return c.answer.rows
}

// setAnswer keeps a plan's answer in place of the one before, and forgets those that were not
// asked for for the longest time, if they are too many.
func (p *planCaches) setAnswer(c *cachedPlan, a *answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropAnswer(c)
	if !slices.ContainsFunc(p.byHash[c.at], func(e *list.Element) bool { return e.Value == any(c) }) {
		return // the plan has gone meanwhile
	}
	c.answer = a
	p.answered = append(p.answered, c)
	p.answerBytes += a.rows.Bytes()
	for p.answerBytes > maxAnswers {
		p.dropAnswer(p.answered[0])
	}
}

// toFront marks an answer as the last one that was asked for. REQUIRES: p.mu.
func (p *planCaches) toFront(c *cachedPlan) {
	if i := slices.Index(p.answered, c); i >= 0 {
		p.answered = append(slices.Delete(p.answered, i, i+1), c)
	}
}

// dropAnswer forgets a plan's answer. REQUIRES: p.mu.
func (p *planCaches) dropAnswer(c *cachedPlan) {
	if c.answer == nil {
		return
	}
	p.answerBytes -= c.answer.rows.Bytes()
	c.answer = nil
	i := slices.Index(p.answered, c)
	p.answered = slices.Delete(p.answered, i, i+1)
}

// asksDescriptors says whether the rows of a query follow from the catalog's descriptors: it
// has nothing but relations that are made of them, columns, constants and comparisons. deps
// are the names of relations in it.
func (s *Session) asksDescriptors(query ast.Stmt, deps []planDep) bool {
	if _, ok := query.(*ast.Select); !ok {
		return false
	}
	for _, d := range deps {
		if d.tbl != nil || d.name.Catalog != "" || d.name.Schema != "" && d.name.Schema != "pg_catalog" || !pgcatalog.OfDescriptors(d.name.Name) {
			return false
		}
	}
	only := len(deps) > 0
	walkTree(query, func(n any) {
		switch n := n.(type) {
		case *ast.Select:
			only = only && n.Lock == "" && len(n.Locks) == 0
		case *ast.TableRef:
			only = only && n.Sample == ""
		case *ast.SelectCore, *ast.SetOp, *ast.Join, *ast.ColumnRef, *ast.Star, *ast.Literal, *ast.Unary, *ast.Binary, *ast.In, *ast.IsTest:
		default:
			only = false // functions, casts and the like may look at the session
		}
	})
	return only
}
