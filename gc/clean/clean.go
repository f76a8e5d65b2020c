package clean

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
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
	// Fence says what of a lake is held and what is not due, as the commit that takes rows
	// off the schedule is judged.
	Fence func(txn *store.Txn, lake string) (Fence, error)
	// Grace is the policy deletion-grace of a lake as a transaction finds it stored: the one
	// by which Fence and Commit judge. A request may ask for a longer one, and a
	// shorter one counts for nothing. Its error ends a run before anything is deleted. nil: none is stored.
	Grace func(txn *store.Txn, lake string) (time.Duration, error)
	// Keep is the policy quarantine-keep of a lake as a transaction finds it stored. A request may
	// ask for a longer one: a shorter one would take from others what they can still bring back. nil: none is stored.
	Keep func(txn *store.Txn, lake string) (time.Duration, error)
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

// Fence is a gc.Fence that also tells by the time.
type Fence interface {
	gc.Fence
	// Early is Held, and names as well the files that are not due at this moment by the
	// policies that are stored. A commit that takes those that are not named off the schedule passes.
	Early(ctx context.Context, files []gc.FileRef) ([]string, error)
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

// job is one of the jobs of a Cleaner.
type job struct {
	c    *Cleaner
	sink Sink
	do   func(r *run, ctx context.Context) error
}

// Plan implements gc.Job.
func (j job) Plan(ctx context.Context, req *gc.Request) (gc.Result, error) {
	return j.run(ctx, req, true)
}

// Run implements gc.Job.
func (j job) Run(ctx context.Context, req *gc.Request) (gc.Result, error) {
	return j.run(ctx, req, false)
}

func (j job) run(ctx context.Context, req *gc.Request, dry bool) (gc.Result, error) {
	r, err := j.c.begin(req, j.sink, dry)
	if err != nil {
		return gc.Result{}, err
	}
	defer func() { r.watch.close() }()
	return r.ended(ctx, j.do(r, ctx))
}

// run is one run of a job.
type run struct {
	*Cleaner
	req   *gc.Request
	cat   *store.Catalog
	dry   bool
	sink  Sink
	res   gc.Result
	grace time.Duration // in force, see graceIn
	watch *watch        // of the last look at the catalogs
	seen  hashes        // names of the schedule
	met   hashes        // objects, see again
}

// hashes is a set of texts of which only the hashes are kept. Two that collide are taken for
// one; the hash is another one in every run.
type hashes struct {
	seed maphash.Seed
	set  map[uint64]struct{}
}

func newHashes() hashes { return hashes{maphash.MakeSeed(), map[uint64]struct{}{}} }

// add says whether a text is new.
func (h hashes) add(text string) bool {
	k := maphash.String(h.seed, text)
	_, have := h.set[k]
	h.set[k] = struct{}{}
	return !have
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
		Cleaner: c, req: r, cat: cat, dry: dry, sink: sink, grace: r.Policies.DeletionGrace(), seen: newHashes(), met: newHashes(),
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
	named    bool // a row names it since the catalogs were looked at, see watch
	modified time.Time
	reason   string
}

// What Result.Counts calls things.
const (
	countFiles  = "files"
	countGone   = "files that were gone"
	countClient = gc.LeftToClient
	countFailed = gc.LeftFailed
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
