package translate

import (
	"sync/atomic"

	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/exec"
)

// PlanStats are the counters of the plan cache.
type PlanStats struct {
	Hits, Misses, Evictions uint64
	Entries                 int
}

// planCaches holds the plans of every catalog.
type planCaches struct {
	limit  int
	hits   atomic.Uint64
	misses atomic.Uint64
}

const defaultPlanEntries = 4096

func newPlanCaches(limit int) *planCaches {
	if limit == 0 {
		limit = defaultPlanEntries
	}
	return &planCaches{limit: limit}
}

func (p *planCaches) stats() PlanStats {
	return PlanStats{Hits: p.hits.Load(), Misses: p.misses.Load()}
}

// planQuery binds a query statement. The slots are the literal values to run it with.
func (s *Session) planQuery(t *store.Txn, rq *request) (exec.Node, []exec.Slot, error) {
	b := s.binder(t, rq)
	node, err := b.BindStmt(rq.stmt)
	return node, nil, err
}
