package guard

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

// Presence tells whether files are there. It is safe for concurrent use.
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

// forget forgets a catalog. A search of it that still runs ends on its own.
func (s *searches) forget(catalog uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.m, func(k searchKey, _ *search) bool { return k.catalog == catalog })
}

// OrphanScan notes that a transaction searches for orphans, of which its scan of the schedule
// tbl is a part; done, unless it is nil, is to be called when the transaction has ended. With
// refuse the search is refused when transactions are open besides whose files are not
// catalogued yet, which open names, or when the transaction does not see the newest files. A search of a folder whose live files the client
// would take for orphans is always refused.
func (g *Guard) OrphanScan(txn *store.Txn, tbl *rel.Table, refuse bool, open func() string) (done func(), err error) {
	if tbl.Temp || tbl.Name != scheduleTable {
		return nil, nil
	}
	data, err := (&view{txn: txn, space: tbl.Schema}).DataPath()
	if err != nil {
		return nil, err
	}
	if doubled(data) {
		return nil, refusal(conflict.OrphanScanFolder(data))
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

// doubled says whether a path of a disk has double slashes inside. DuckDB lists the folder without them, and DuckLake compares
// its files' names with those in the catalog letter by letter.
func doubled(path string) bool {
	return !strings.Contains(path, "://") && strings.Contains(strings.TrimRight(path, "/"), "//")
}

// newFile is a file that a commit registers.
type newFile struct {
	table int64
	path  string // as the row has it
	full  string // absolute
}

func newFiles(c *commit, st *holdState) (out []newFile, err error) {
	add := func(table int64, path string, relative bool) {
		if err == nil {
			var full string
			full, err = st.Path(table, path, relative)
			out = append(out, newFile{table, path, full})
		}
	}
	for i := range c.batch.DataFiles.Added {
		f := &c.batch.DataFiles.Added[i]
		add(f.TableID, f.Path, f.Relative)
	}
	for i := range c.batch.DeleteFiles.Added {
		d := &c.batch.DeleteFiles.Added[i]
		add(d.TableID, d.Path, d.Relative)
	}
	return out, err
}

// filesThere finds new files of a commit that somebody has deleted: those that a cleanup has
// taken off the schedule since the client began, and, if somebody may have taken them for
// orphans, those that are not where they should be.
func (r *run) filesThere(c *commit, was *view, st *holdState, load func() (*conflict.Modes, error)) ([]conflict.Violation, error) {
	k := searchKey{r.txn.Catalog().OID(), c.space}
	if len(c.batch.DataFiles.Added)+len(c.batch.DeleteFiles.Added) == 0 {
		return nil, nil
	}
	taken := r.g.taken.any(k)
	if !taken && r.g.o.Files == nil {
		return nil, nil
	}
	since, err := r.began(was)
	if err != nil {
		return nil, err
	}
	searched := r.g.o.Files != nil && r.g.searches.after(k, since)
	if !taken && !searched {
		return nil, nil
	}
	files, err := newFiles(c, st)
	if err != nil {
		return nil, err
	}
	modes, err := load()
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(f newFile) bool { return modes.Of(conflict.CodeFileGone, f.table) == conflict.Off })
	for _, f := range files {
		if r.g.taken.after(k, f.full, since, r.announced) {
			return []conflict.Violation{conflict.FileDeleted(st.Table(f.table), f.path)}, nil
		}
	}
	if !searched {
		return nil, nil
	}
	gone, err := r.missing(k, files)
	if err != nil || gone == nil {
		return nil, err
	}
	return []conflict.Violation{conflict.FileGone(st.Table(gone.table), gone.path)}, nil
}

const (
	// lookWidth is how many files are looked for at a time.
	lookWidth = 16
	// lookTime bounds the look for the files of one commit. Those that were not reached are
	// not known to be missing.
	lookTime = time.Minute
)

// missing looks for files, and returns one that is not there. One that was found is not
// looked for again while nobody searches.
func (r *run) missing(k searchKey, files []newFile) (*newFile, error) {
	now := r.g.o.Clock().UnixMicro()
	files = slices.DeleteFunc(files, func(f newFile) bool {
		at, ok := r.there[f.full]
		return ok && !r.g.searches.after(k, at)
	})
	ctx, cancel := context.WithTimeout(r.ctx, lookTime)
	defer cancel()
	gone := make([]bool, len(files))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(lookWidth, len(files)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(files) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if gone[i] = r.g.o.Files.Missing(ctx, files[i].full); gone[i] {
					cancel() // one is enough
				}
			}
		})
	}
	wg.Wait()
	for i := range files {
		if gone[i] {
			return &files[i], nil
		}
	}
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	if r.there == nil {
		r.there = make(map[string]int64, len(files))
	}
	for _, f := range files {
		r.there[f.full] = now
	}
	return nil, nil //nolint:nilnil // none
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
