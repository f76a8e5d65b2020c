package guard

import (
	"context"
	"sync"
	"time"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
)

// DuckLake's delete_orphaned_files lists the data path and removes what its scans of the
// catalog did not name: also the files of transactions that have not committed. Which files
// it removes, or how old they have to be, is not in its statements. CHECKPOINT does the same
// for files that are days old, so it cannot be refused whenever somebody else is at work.
// Instead the commits look: a transaction that was open while somebody searched for
// orphans must find its new files where they are, if the server can reach them.

// Presence tells whether files are there.
type Presence interface {
	// Missing says that a file is not there for certain; what is out of reach is not missing.
	Missing(ctx context.Context, path string) bool
}

// searches remembers when clients searched lakes for orphans.
type searches struct {
	mu sync.Mutex
	m  map[searchKey]*search
}

type searchKey struct{ catalog, space uint32 }

// search is the searches of one lake.
type search struct {
	running int
	ended   int64 // the last one, in µs since 1970
}

// begin notes a search; the function it returns ends it.
func (s *searches) begin(k searchKey, now func() time.Time) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil {
		s.m = make(map[searchKey]*search)
	}
	x := s.m[k]
	if x == nil {
		x = &search{}
		s.m[k] = x
	}
	x.running++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		x.running--
		x.ended = max(x.ended, now().UnixMicro())
	}
}

// after says whether a search ended at a time or later, or goes on.
func (s *searches) after(k searchKey, micros int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.m[k]
	return x != nil && (x.running > 0 || x.ended >= micros)
}

// OrphanScan notes that a transaction searches for orphans, of which its scan of the schedule
// tbl is a part; done, unless it is nil, is to be called when the transaction has ended. With
// refuse the search is refused when transactions are open besides whose files are not
// catalogued yet, which open names, or when the transaction does not see the newest files.
func (g *Guard) OrphanScan(txn *store.Txn, tbl *rel.Table, refuse bool, open func() string) (done func(), err error) {
	if tbl.Temp || tbl.Name != scheduleTable {
		return nil, nil
	}
	if refuse {
		if who := open(); who != "" {
			return nil, refusal(conflict.OrphanScan(who))
		}
		if !txn.Newest() {
			return nil, refusal(conflict.OrphanScanOld())
		}
	}
	return g.searches.begin(searchKey{txn.Catalog().OID(), tbl.Schema}, g.o.Clock), nil
}

// filesThere looks for the new files of a commit if somebody may have taken them for orphans.
func (r *run) filesThere(c *commit, was *view, st *holdState) ([]conflict.Violation, error) {
	if r.g.o.Files == nil || len(c.batch.DataFiles.Added)+len(c.batch.DeleteFiles.Added) == 0 {
		return nil, nil
	}
	since, err := r.began(was)
	if err != nil || !r.g.searches.after(searchKey{r.txn.Catalog().OID(), c.space}, since) {
		return nil, err
	}
	look := func(table int64, path string, relative bool) (*conflict.Violation, error) {
		full, err := st.Path(table, path, relative)
		if err != nil || !r.g.o.Files.Missing(r.ctx, full) {
			return nil, err
		}
		v := conflict.FileGone(st.Table(table), path)
		return &v, nil
	}
	var v *conflict.Violation
	for i := range c.batch.DataFiles.Added {
		if f := &c.batch.DataFiles.Added[i]; v == nil && err == nil {
			v, err = look(f.TableID, f.Path, f.Relative)
		}
	}
	for i := range c.batch.DeleteFiles.Added {
		if d := &c.batch.DeleteFiles.Added[i]; v == nil && err == nil {
			v, err = look(d.TableID, d.Path, d.Relative)
		}
	}
	if v == nil {
		return nil, err
	}
	return []conflict.Violation{*v}, err
}

// began is when the client may have begun to write the files of a commit, in µs since
// 1970. One that comes again after a lost race has written them in an earlier transaction:
// not before the snapshot that its changes are planned on.
func (r *run) began(was *view) (int64, error) {
	if !r.in.Looked {
		return r.in.Started.UnixMicro(), nil
	}
	if !r.in.HasSince {
		return 0, nil
	}
	s, ok, err := one(was, snapshotTable, "snapshot_id", r.in.Since, relation.snapshot)
	if err != nil || !ok {
		return 0, err
	}
	return min(s.Micros, r.in.Started.UnixMicro()), nil
}
