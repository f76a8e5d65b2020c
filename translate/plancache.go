package translate

import (
	"container/list"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/lex"
	"github.com/eiderdb/eider/translate/parse"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/plan"
)

// The plan cache keeps bound statements by their lexical fingerprint: the token stream
// with literals replaced by their class. A statement that comes again with other
// literals is neither parsed nor bound; its literals become the execution's slots.
//
// A plan is good for a transaction exactly if everything it looked up by name is the
// same there: every name in its text is looked up again and must give the descriptor
// the plan was bound with. Descriptors are immutable and shared, so that this compares
// pointers, and it is right for old snapshots, for tables a transaction changed itself
// and for temporary tables alike.

// PlanStats are the counters of the plan cache.
type PlanStats struct {
	// Hits are statements that ran a cached plan, Misses those that were bound and could
	// have been cached; Stale counts the misses whose plan no longer fitted the catalog.
	Hits, Misses, Stale, Evictions uint64
	Entries                        int
}

const (
	defaultPlanEntries = 4096
	// maxVariants bounds the plans of one fingerprint, which differ in fixed literals.
	maxVariants = 8
)

// planCaches holds the plans of all catalogs. limit bounds their number; 0 keeps none.
type planCaches struct {
	limit int

	hits, misses, stale, evictions atomic.Uint64

	mu     sync.Mutex
	byHash map[planHash][]*list.Element
	lru    *list.List // of *cachedPlan, most recently used first
	// answered are the plans whose answer is kept, the last one that was asked for at the end.
	answered    []*cachedPlan
	answerBytes int
}

type planHash struct {
	catalog uint32
	hash    uint64
}

// cachedPlan is a bound statement. It is immutable, but for its answer.
type cachedPlan struct {
	at      planHash
	norm    string
	context string // search path and settings it was bound under
	params  []uint32
	stmt    ast.Stmt
	query   ast.Stmt // what was bound: stmt, or the query of COPY TO
	node    exec.Node
	starts  []int // 1-based character positions of the literals in the text it was bound from
	fixed   []fixedLiteral
	deps    []planDep
	copy    *copyOptions // of COPY TO
	cols    []exec.Column
	// descriptors says that its rows follow from the catalog's descriptors.
	descriptors bool
	answer      *answer // guarded by planCaches.mu
}

// fixedLiteral is a literal whose value is part of the plan.
type fixedLiteral struct {
	slot int
	text string
}

// planDep is a name that the statement's text has, and what it stood for.
type planDep struct {
	name ast.Name
	tbl  *rel.Table // nil: no stored relation
}

func newPlanCaches(limit int) *planCaches {
	if limit == 0 {
		limit = defaultPlanEntries
	}
	return &planCaches{limit: max(limit, 0), byHash: make(map[planHash][]*list.Element), lru: list.New()}
}

func (p *planCaches) stats() PlanStats {
	p.mu.Lock()
	n := p.lru.Len()
	p.mu.Unlock()
	return PlanStats{
		Hits: p.hits.Load(), Misses: p.misses.Load(), Stale: p.stale.Load(), Evictions: p.evictions.Load(), Entries: n,
	}
}

// candidates appends the plans of a fingerprint to buf.
func (p *planCaches) candidates(at planHash, norm []byte, buf []*cachedPlan) []*cachedPlan {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.byHash[at] {
		if c := e.Value.(*cachedPlan); c.norm == string(norm) {
			buf = append(buf, c)
		}
	}
	return buf
}

// used marks a plan as recently used.
func (p *planCaches) used(c *cachedPlan) {
	p.hits.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.byHash[c.at] {
		if e.Value == any(c) {
			p.lru.MoveToFront(e)
			return
		}
	}
}

// add keeps a plan; one with the same literals and context is replaced.
func (p *planCaches) add(c *cachedPlan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	same := 0
	var oldest *list.Element // the plans of a fingerprint are in the order of their making
	for _, e := range p.byHash[c.at] {
		o := e.Value.(*cachedPlan)
		if o.norm != c.norm {
			continue
		}
		if o.context == c.context && slices.Equal(o.fixed, c.fixed) && slices.Equal(o.params, c.params) {
			p.remove(e)
			break
		}
		if same++; oldest == nil {
			oldest = e
		}
	}
	if same >= maxVariants && oldest != nil {
		p.remove(oldest)
		p.evictions.Add(1)
	}
	e := p.lru.PushFront(c)
	p.byHash[c.at] = append(p.byHash[c.at], e)
	for p.lru.Len() > p.limit {
		p.remove(p.lru.Back())
		p.evictions.Add(1)
	}
}

// remove forgets a plan. REQUIRES: p.mu.
func (p *planCaches) remove(e *list.Element) {
	c := p.lru.Remove(e).(*cachedPlan)
	p.dropAnswer(c)
	list := p.byHash[c.at]
	if i := slices.Index(list, e); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if len(list) == 0 {
		delete(p.byHash, c.at)
	} else {
		p.byHash[c.at] = list
	}
}

// planContext names the settings that a plan may depend on.
func (s *Session) planContext() string {
	if s.planCtxGen == s.set.gen && s.planCtx != "" {
		return s.planCtx
	}
	g := s.set
	s.planCtx = strings.Join([]string{
		s.opts.User, g.text("search_path"), g.text("timezone"), g.text("datestyle"), g.text("intervalstyle"),
		g.text("bytea_output"), g.text("extra_float_digits"), g.text("transform_null_equals"), g.text("array_nulls"),
	}, "\x00")
	s.planCtxGen = g.gen
	return s.planCtx
}

// mayBeCached says whether plans of a fingerprint are there. A statement with one is
// certainly free of syntax errors.
func (s *Session) mayBeCached(fp *lex.FP) bool {
	p := s.shared.plans
	if p.limit == 0 || !fp.Cacheable {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.byHash[planHash{catalog: s.catOID, hash: fp.Hash}] {
		if e.Value.(*cachedPlan).norm == string(fp.Norm) {
			return true
		}
	}
	return false
}

// lookup finds a plan that fits the statement and the transaction.
func (s *Session) lookup(t *store.Txn, fp *lex.FP, params []uint32) *cachedPlan {
	p := s.shared.plans
	if p.limit == 0 || fp == nil || !fp.Cacheable {
		return nil
	}
	var buf [maxVariants]*cachedPlan
	at := planHash{catalog: s.catOID, hash: fp.Hash}
	found := p.candidates(at, fp.Norm, buf[:0])
	if len(found) == 0 {
		return nil
	}
	ctx := s.planContext()
	stale := false
	for _, c := range found {
		if c.context != ctx || len(c.starts) != len(fp.Slots) || !slices.Equal(c.params, params) || !c.literalsFit(fp) {
			continue
		}
		if !s.depsFit(t, c) {
			stale = true
			continue
		}
		p.used(c)
		return c
	}
	if stale {
		p.stale.Add(1)
	}
	return nil
}

func (c *cachedPlan) literalsFit(fp *lex.FP) bool {
	for _, f := range c.fixed {
		if fp.Text(f.slot) != f.text {
			return false
		}
	}
	return true
}

// depsFit looks every name of the plan up again.
func (s *Session) depsFit(t *store.Txn, c *cachedPlan) bool {
	d := ddl{s: s, t: t}
	for i := range c.deps {
		tbl, _, err := d.find(c.deps[i].name)
		if err != nil || tbl != c.deps[i].tbl {
			return false
		}
	}
	return true
}

// slotsOf are the literal values of a fingerprinted statement.
func slotsOf(fp *lex.FP) []exec.Slot {
	out := make([]exec.Slot, len(fp.Slots))
	for i := range fp.Slots {
		kind := ast.LitString
		switch fp.Slots[i].Kind {
		case lex.SlotInt4, lex.SlotInt8:
			kind = ast.LitInteger
		case lex.SlotNumeric:
			kind = ast.LitNumeric
		case lex.SlotBit:
			kind = ast.LitBit
		}
		out[i] = exec.Slot{Kind: uint8(kind), Text: fp.Text(i)}
	}
	return out
}

// replace moves the position of an error from the text a cached plan was bound from to the
// statement that ran: positions of literals are known, others are left out.
func (c *cachedPlan) replace(err error, sql string, fp *lex.FP) error {
	e := pgerr.As(err)
	if e == nil || e.Position == 0 {
		return err
	}
	moved := *e
	moved.Position = 0
	for i, at := range c.starts {
		if at == e.Position {
			return (&moved).At(sql, fp.Slots[i].Pos())
		}
	}
	return &moved
}

// maxKept is how much text a cached plan may keep alive.
const maxKept = 64 << 10

// remember makes a cache entry of a statement that was just bound, if it may be kept.
// query is the statement that was bound: the request's own, or the one inside COPY.
func (s *Session) remember(t *store.Txn, rq *request, query ast.Stmt, node exec.Node, bound plan.Bound, opts *copyOptions) {
	cache, fp, p := s.shared.plans, rq.fp, rq.parsed
	cache.misses.Add(1)
	if bound.NoCache || p.Slots != len(fp.Slots) || len(rq.sql) > maxKept {
		return
	}
	c := &cachedPlan{
		at: planHash{catalog: s.catOID, hash: fp.Hash}, norm: string(fp.Norm), context: s.planContext(),
		params: append([]uint32(nil), rq.ptypes...), stmt: p.Stmt, query: query, node: node, copy: opts, cols: node.Columns(),
	}
	at, chars := 0, 1
	for i := range fp.Slots {
		pos := fp.Slots[i].Pos()
		chars += utf8.RuneCountInString(rq.sql[at:pos])
		at = pos
		c.starts = append(c.starts, chars)
	}
	free := make([]bool, len(fp.Slots))
	names := map[ast.Name]bool{}
	s.planFacts(query, free, names, 0)
	for _, slot := range p.Fixed {
		if slot >= 0 && slot < len(free) {
			free[slot] = false
		}
	}
	for _, f := range bound.Fixed {
		if !f.ClassOnly && f.Slot >= 0 && f.Slot < len(free) { // the class is part of the fingerprint
			free[f.Slot] = false
		}
	}
	for i, ok := range free {
		if !ok {
			c.fixed = append(c.fixed, fixedLiteral{slot: i, text: strings.Clone(fp.Text(i))})
		}
	}
	d := ddl{s: s, t: t}
	for n := range names {
		tbl, _, err := d.find(n)
		if err != nil {
			return
		}
		if tbl != nil && tbl.Temp {
			return // a temporary table is of use to one session only, and soon gone
		}
		c.deps = append(c.deps, planDep{name: n, tbl: tbl})
	}
	c.descriptors = s.asksDescriptors(query, c.deps)
	cache.add(c)
}

// planFacts collects which slots are plain literals of the tree, whose values the plan
// takes from the execution, and the names of relations in it and in the views it uses.
func (s *Session) planFacts(tree any, free []bool, names map[ast.Name]bool, depth int) {
	addName := func(n ast.Name) {
		n.Pos = 0
		if names[n] {
			return
		}
		names[n] = true
		if depth > 16 {
			return
		}
		d := ddl{s: s, t: s.tx.txn}
		if tbl, _, err := d.find(n); err == nil && tbl != nil && tbl.View != "" {
			if list, err := parse.Parse(tbl.View, s.parseLimits()); err == nil {
				for i := range list {
					s.planFacts(list[i].Stmt, nil, names, depth+1)
				}
			}
		}
	}
	walkTree(tree, func(n any) {
		switch n := n.(type) {
		case *ast.Literal:
			if n.Slot >= 0 && n.Slot < len(free) {
				free[n.Slot] = true
			}
		case *ast.TableRef:
			addName(n.Name)
		case *ast.Insert:
			addName(n.Table)
		case *ast.Update:
			addName(n.Table)
		case *ast.Delete:
			addName(n.Table)
		}
	})
}

// planQuery finds or makes the plan of a query statement. The slots are the literal values
// to run it with; nil means those it was bound with.
func (s *Session) planQuery(t *store.Txn, rq *request) (exec.Node, []exec.Slot, error) {
	return s.planFor(t, rq, rq.stmt, nil)
}

// planFor is planQuery for a statement whose query is a part of it, as in COPY.
func (s *Session) planFor(t *store.Txn, rq *request, query ast.Stmt, opts *copyOptions) (exec.Node, []exec.Slot, error) {
	if rq.plan == nil {
		rq.plan = s.lookup(t, rq.fp, rq.ptypes)
	}
	if rq.plan != nil {
		node, slots := rq.plan.node, slotsOf(rq.fp)
		if rq.plan.descriptors {
			node = &answered{Node: node, plan: rq.plan, cache: s.shared.plans, slots: slots}
		}
		return node, slots, nil
	}
	keep := rq.fp != nil && rq.fp.Cacheable && rq.parsed != nil && s.shared.plans.limit > 0
	b := s.binder(t, rq)
	b.Slots = keep
	node, err := b.BindStmt(query)
	if err != nil {
		return nil, nil, err
	}
	if keep {
		s.remember(t, rq, query, node, b.Bound(), opts)
	}
	return node, nil, nil
}

// resolve makes sure that a request has its statement: that of a cached plan, or the text
// parsed.
func (s *Session) resolve(rq *request) error {
	if rq.stmt != nil {
		return nil
	}
	if s.mayBeCached(rq.fp) {
		t, err := s.newStatement()
		if err != nil {
			return err
		}
		rq.begun = true
		if rq.plan = s.lookup(t, rq.fp, rq.ptypes); rq.plan != nil {
			rq.stmt = rq.plan.stmt
			return nil
		}
	}
	p, _, ok, err := parse.Next(rq.sql, rq.fp.Start, s.parseLimits())
	if err != nil {
		return err
	}
	if !ok {
		return pgerr.New(pgerr.InternalError, "internal error: a statement has vanished")
	}
	rq.parsed, rq.stmt = &p, p.Stmt
	return nil
}
