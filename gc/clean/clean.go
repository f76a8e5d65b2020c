package clean

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake/files"
	"github.com/eiderdb/eider/lake/paths"
)

// Options are what a Cleaner works with.
type Options struct {
	// Store has the catalogs: files of all their lakes are looked at, whichever lake is cleaned.
	Store *store.Store
	// Access finds the storage of files. None: everything is left to clients.
	Access Access
	// Fence says what open transactions hold of a lake.
	Fence func(txn *store.Txn, lake string) (gc.Fence, error)
	// Commit commits what a job writes.
	Commit meta.Committer
	// Writing is when the oldest transaction began, of those that are open in any catalog
	// of the server or were until shortly before and may come again: a client that lost a
	// race writes the same files into the catalog with its next transaction. Zero: there is
	// none. The time is this machine's.
	Writing func() time.Time
	// Spare are folders of this machine that are never cleaned: the store's own.
	Spare []string
	// Skew is how far the clock of a storage may be behind this machine's. 15 minutes when zero.
	Skew time.Duration
	// Round is how many files are dealt with between two looks at the catalogs. 50,000 when
	// zero.
	Round int
	// Chunk is how many files one transaction and one batch of deletions have. 1,000 when
	// zero.
	Chunk int
}

// Cleaner deletes files of lakes. It is safe for concurrent use; two jobs of one lake at a
// time do each other no harm, and work twice.
type Cleaner struct{ o Options }

// New makes a Cleaner.
func New(o Options) *Cleaner {
	if o.Access == nil {
		o.Access = None{}
	}
	if o.Writing == nil {
		o.Writing = func() time.Time { return time.Time{} }
	}
	if o.Skew <= 0 {
		o.Skew = 15 * time.Minute
	}
	if o.Round <= 0 {
		o.Round = 50_000
	}
	if o.Chunk <= 0 {
		o.Chunk = 1_000
	}
	return &Cleaner{o}
}

// run is one run of a job.
type run struct {
	*Cleaner
	req  *gc.Request
	cat  *store.Catalog
	dry  bool
	sink Sink
	res  gc.Result
	seen map[string]bool      // names of the schedule
	met  map[paths.Place]bool // see again
}

func (c *Cleaner) begin(r *gc.Request, sink Sink, dry bool) (*run, error) {
	cat, err := c.o.Store.Catalog(r.Catalog)
	if err != nil {
		return nil, err
	}
	if sink == nil {
		sink = discard{}
	}
	return &run{
		Cleaner: c, req: r, cat: cat, dry: dry, sink: sink, seen: map[string]bool{}, met: map[paths.Place]bool{},
	}, nil
}

func (r *run) progress() {
	if r.req.Progress != nil {
		r.req.Progress(r.res.Clone())
	}
}

// file is a file that may go.
type file struct {
	Entry
	raw      files.Place // as the schedule has it
	place    paths.Place
	size     int64 // bytes; 0 when the file is gone
	gone     bool
	aside    bool // it is in quarantine now
	modified time.Time
	reason   string
}

// What Result.Counts calls things.
const (
	countFiles  = "files"
	countGone   = "files that were gone"
	countClient = "files left to the client"
	countFailed = "files that could not be deleted"
	countPurged = "files purged from quarantine"
)

// deferred leaves a file for the next time.
func (r *run) deferred(f *file, why string) {
	r.res.Deferred++
	if r.res.Deferred <= notedFiles {
		r.res.Note("%s stays: %s", f.Name, why)
	}
}

// notedFiles is how many single files are spoken of in the notes.
const notedFiles = 20

// failed leaves a file whose deletion went wrong.
func (r *run) failed(f *file, err error) {
	r.res.Count(countFailed, 1)
	if r.res.Counts[countFailed] <= notedFiles {
		r.res.Note("%s: %v", f.Name, err)
	}
}

// goes records a file that is deleted, or would be.
func (r *run) goes(f *file) error {
	count := countFiles
	if f.gone {
		count = countGone
	}
	r.res.Count(count, 1)
	r.res.Bytes += max(f.size, 0)
	r.res.Add(gc.Item{What: "file", ID: f.ID, Path: f.Name, Bytes: max(f.size, 0), Reason: f.reason})
	return r.sink.Write(Line{Path: f.Name, Size: f.size, Reason: f.reason, Action: ActionDelete})
}

// toClient hands a file back.
func (r *run) toClient(f *file, why error) error {
	r.res.Count(countClient, 1)
	r.res.Add(gc.Item{What: "file left to the client", ID: f.ID, Path: f.Name, Reason: why.Error()})
	return r.sink.Write(Line{Path: f.Name, Size: -1, Reason: f.reason, Action: ActionClient})
}

// ended gives the result of a run, with the cause when its context has ended.
func (r *run) ended(ctx context.Context, err error) (gc.Result, error) {
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if n := r.res.Counts[countClient]; n > 0 {
		r.res.Note("%d files are left to a client, whose ducklake_cleanup_old_files finds them: the server may not delete there (delete-paths)", n)
	}
	return r.res, err
}

// twins drops the files that are one with a file that stays, by another name: one that a row
// names, or one of the entries of schedules that are picked.
func (r *run) twins(ctx context.Context, v *inventory, all []*file, pick func(n *named, e Entry) bool) ([]*file, error) {
	var disks []*file
	var at []paths.Place
	for _, f := range all {
		if f.place.Kind == paths.Disk {
			disks, at = append(disks, f), append(at, f.place)
		}
	}
	if len(disks) == 0 {
		return all, nil
	}
	st, err := r.o.Access.Storage(at[0])
	if errors.Is(err, ErrNoAccess) {
		st = &disk{}
	} else if err != nil {
		return nil, err
	}
	who, ok := st.(Identifier)
	if !ok {
		return all, nil
	}
	var nerr error
	found, err := who.Twins(ctx, at, v.with(ctx, &nerr, pick))
	if err = errors.Join(err, nerr); err != nil {
		return nil, fmt.Errorf("compare files with those that stay: %w", err)
	}
	twin := map[*file]bool{}
	for i, name := range found {
		twin[disks[i]] = true
		r.deferred(disks[i], "it is the same file as "+name+", which stays")
	}
	out := all[:0]
	for _, f := range all {
		if !twin[f] {
			out = append(out, f)
		}
	}
	return out, nil
}

// timeOf is a time in µs since 1970; those at the ends of the range are as far as time goes.
func timeOf(micros int64) time.Time { return time.UnixMicro(micros).UTC() }
