package clean

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake/paths"
)

// quarantineFolder is where files are moved to: below the data path, or below their own
// folder if they are not below that.
const quarantineFolder = ".eider-quarantine"

// The table of quarantined files, and its columns.
const quarantineTable = "quarantine"

func quarantineColumns() []meta.ColumnDef {
	return []meta.ColumnDef{
		{Name: "lake", Type: meta.Text, NotNull: true},            // metadata schema
		{Name: "job", Type: meta.Int8, NotNull: true},             // of eider.jobs, or a time in µs
		{Name: "path", Type: meta.Text, NotNull: true},            // where it was, absolute
		{Name: "place", Type: meta.Text, NotNull: true},           // where it is, absolute
		{Name: "bytes", Type: meta.Int8},                          // its size
		{Name: "moved_at", Type: meta.Timestamptz, NotNull: true}, // when
		{Name: "reason", Type: meta.Text},                         // why
	}
}

// aside moves files into quarantine, and takes them off the schedule.
func (r *run) aside(ctx context.Context, g *group) error {
	if r.dry {
		for _, f := range g.files {
			if err := r.moved(f); err != nil {
				return err
			}
		}
		return nil
	}
	job := r.req.Job
	if job == 0 {
		job = r.req.Now.UnixMicro()
	}
	to := make([]paths.Place, len(g.files))
	// The rows come first: a file that has moved can always be found.
	err := meta.Do(ctx, r.cat, r.o.Commit, func(txn *store.Txn) error {
		l, err := meta.Open(txn, r.req.Lake)
		if err != nil {
			return err
		}
		data, err := l.DataPath(ctx)
		if err != nil {
			return err
		}
		t, err := meta.OwnTable(txn, quarantineTable, quarantineColumns()...)
		if err != nil {
			return err
		}
		for i, f := range g.files {
			if f.gone {
				continue
			}
			to[i] = quarantined(data, f, job)
			err := t.Insert(meta.Values{
				"lake": meta.Str(r.req.Lake), "job": meta.Int(job), "path": meta.Str(f.Name), "place": meta.Str(to[i].String()),
				"bytes": meta.Int(f.size), "moved_at": meta.Time(r.req.Now), "reason": meta.Str(f.reason),
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("record files of the quarantine: %w", err)
	}
	var done []*file
	for i, f := range g.files {
		var err error
		if !f.gone {
			err = gone(g.storage.Move(ctx, f.place, to[i]))
		}
		if err != nil {
			r.failed(f, fmt.Errorf("move aside: %w", err))
			continue
		}
		f.aside = !f.gone
		done = append(done, f)
	}
	return r.forget(ctx, done)
}

// inQuarantine says whether an object lies in a folder of quarantine.
func inQuarantine(name string) bool { return strings.Contains("/"+name, "/"+quarantineFolder+"/") }

// quarantined is the place of a file in quarantine.
func quarantined(data string, f *file, job int64) paths.Place {
	to := f.place
	if to.Kind == paths.Disk {
		if real, ok := realName(to.Name); ok {
			to.Name = real
		}
	}
	i := strings.LastIndexByte(to.Name, '/') + 1
	folder, rel := to.Name[:i], to.Name[i:]
	if d, err := paths.Folder(data); err == nil {
		rules := OrphanRules{Folder: d, Real: d}
		if d.Kind == paths.Disk {
			rules.Real.Name = strings.TrimSuffix(realOr(d.Name), "/") + "/"
		}
		if r, ok := rules.relative(to); ok && r != "" {
			folder, rel = strings.TrimSuffix(to.Name, r), r
		}
	}
	to.Name = folder + quarantineFolder + "/" + strconv.FormatInt(job, 10) + "/" + rel
	return to
}

// moved records a file that is moved aside, or would be.
func (r *run) moved(f *file) error {
	if f.gone {
		return r.goes(f)
	}
	r.res.Count(countAside, 1)
	r.res.Bytes += max(f.size, 0)
	r.res.Add(gc.Item{What: "file moved aside", ID: f.ID, Path: f.Name, Bytes: max(f.size, 0), Reason: f.reason})
	return r.sink.Write(Line{Path: f.Name, Size: f.size, Reason: f.reason, Action: ActionQuarantine})
}

const countAside = "files moved aside"

// Kept is a file in quarantine.
type Kept struct {
	Lake    string // metadata schema
	Job     int64
	Path    string // where it was, absolute
	Place   string // where it is, absolute
	Bytes   int64
	MovedAt time.Time
	Reason  string
}

// Quarantined lists the files of a lake that are in quarantine, or with lake "" those of all lakes.
func (c *Cleaner) Quarantined(ctx context.Context, catalog, lake string) ([]Kept, error) {
	cat, err := c.o.Store.Catalog(catalog)
	if err != nil {
		return nil, err
	}
	var out []Kept
	err = meta.Read(ctx, cat, func(txn *store.Txn) error {
		out = nil
		return keptOf(ctx, txn, lake, func(k Kept, _ *meta.Row) error {
			out = append(out, k)
			return nil
		})
	})
	return out, err
}

// keptOf calls fn for the files of a lake in quarantine; lake "" is all.
func keptOf(ctx context.Context, txn *store.Txn, lake string, fn func(Kept, *meta.Row) error, conds ...meta.Cond) error {
	t, ok, err := meta.Own(txn, quarantineTable, quarantineColumns()...)
	if err != nil || !ok {
		return err
	}
	return t.Scan(ctx, func(r *meta.Row) error {
		if lake != "" && r.Text("lake") != lake {
			return nil
		}
		at, _ := r.Micros("moved_at")
		return fn(Kept{
			Lake: r.Text("lake"), Job: r.Num("job"), Path: r.Text("path"), Place: r.Text("place"), Bytes: r.Num("bytes"), MovedAt: timeOf(at), Reason: r.Text("reason"),
		}, r)
	}, conds...)
}

// dropKept takes files off the list.
func (c *Cleaner) dropKept(ctx context.Context, cat *store.Catalog, lake string, gone map[Kept]bool) error {
	if len(gone) == 0 {
		return nil
	}
	return meta.Do(context.WithoutCancel(ctx), cat, c.o.Commit, func(txn *store.Txn) error {
		return keptOf(context.WithoutCancel(ctx), txn, lake, func(k Kept, r *meta.Row) error {
			if !gone[k] {
				return nil
			}
			return r.Delete()
		})
	})
}

// purge deletes what has been in quarantine for long enough, a round at a time.
func (r *run) purge(ctx context.Context) error {
	var at []byte
	for more := true; more; more = at != nil {
		due, next, err := r.purgeable(ctx, at)
		if errors.Is(err, meta.ErrShape) {
			r.res.Note("the quarantine is not purged: %v", err)
			return nil
		}
		if err == nil && len(due) > 0 {
			err = r.purgeRound(ctx, due)
		}
		if err != nil {
			return err
		}
		at = next
	}
	return nil
}

// purgeable reads the rows after a position that have been there for long enough. next is
// nil when there are no more. What this run has moved aside stays until a later one, however
// short the time is: somebody must be able to bring it back.
func (r *run) purgeable(ctx context.Context, after []byte) (due []Kept, next []byte, err error) {
	asked, _ := r.req.Policies.Quarantine()
	begun := r.req.Now.Truncate(time.Microsecond) // as the list has it
	err = meta.Read(ctx, r.cat, func(txn *store.Txn) error {
		due, next = nil, nil
		keep := asked
		if r.o.Keep != nil {
			stored, err := r.o.Keep(txn, r.req.Lake)
			if err != nil {
				return fmt.Errorf("read the policy %s: %w", gc.NameQuarantineKeep, err)
			}
			keep = max(keep, stored)
		}
		return keptOf(ctx, txn, r.req.Lake, func(k Kept, row *meta.Row) error {
			if k.MovedAt.Add(keep).After(r.req.Now) || !k.MovedAt.Before(begun) {
				return nil
			}
			if due = append(due, k); len(due) < r.o.Round {
				return nil
			}
			next = append([]byte(nil), row.Position()...)
			return meta.ErrStop
		}, meta.After(after))
	})
	return due, next, err
}

func (r *run) purgeRound(ctx context.Context, due []Kept) error {
	v, err := take(ctx, r.o.Store)
	if err != nil {
		return err
	}
	live, err := v.live(ctx)
	r.watches(v.watch(nil))
	if err = errors.Join(err, v.close()); err != nil {
		return err
	}
	var all []*file
	of := map[*file]Kept{}
	for _, k := range due {
		f := &file{Entry: Entry{Name: k.Place}, size: k.Bytes, reason: "in quarantine since " + k.MovedAt.Format("2006-01-02 15:04:05") + " UTC"}
		// Anybody may write into the table: only what lies in a quarantine folder goes.
		f.place, err = paths.Locate(k.Place)
		switch {
		case err != nil || !inQuarantine(f.place.Name):
			r.deferred(f, "it is listed as quarantined and is not in "+quarantineFolder)
		case live.Has(k.Place):
			r.deferred(f, "a row of a lake names it")
		default:
			of[f] = k
			all = append(all, f)
		}
	}
	r.watch.files = all
	for len(all) > 0 {
		n := min(len(all), r.o.Chunk)
		stores, err := r.stores(ctx, all[:n])
		if err != nil {
			return err
		}
		for _, g := range stores {
			if err := r.purgeGroup(ctx, g, of); err != nil {
				return err
			}
		}
		all = all[n:]
		r.progress()
	}
	return nil
}

func (r *run) purgeGroup(ctx context.Context, g *group, of map[*file]Kept) (err error) {
	if g.files, err = r.unnamed(ctx, g.files); err != nil || len(g.files) == 0 {
		return err
	}
	purged := func(f *file) error {
		r.res.Count(countPurged, 1)
		r.res.Bytes += max(f.size, 0)
		return r.sink.Write(Line{Path: f.Name, Size: f.size, Reason: f.reason, Action: ActionDelete})
	}
	if r.dry {
		for _, f := range g.files {
			if err := purged(f); err != nil {
				return err
			}
		}
		return nil
	}
	at := make([]paths.Place, len(g.files))
	for i, f := range g.files {
		at[i] = f.place
	}
	done := map[Kept]bool{}
	for i, err := range g.storage.Delete(ctx, at) {
		f := g.files[i]
		if err != nil {
			r.failed(f, err)
			continue
		}
		done[of[f]] = true
		if err := purged(f); err != nil {
			return err
		}
	}
	if err := r.dropKept(ctx, r.cat, r.req.Lake, done); err != nil {
		return fmt.Errorf("take purged files off the list: %w", err)
	}
	return ctx.Err()
}

// Undo says which files come back from quarantine.
type Undo struct {
	Catalog string
	Lake    string // "": of all lakes
	Job     int64  // those that one job has moved; 0: of all jobs
	Path    string // those whose old path is this, or below it; "": all
}

// toucher is a storage in which a moved file keeps the time at which it was written.
type toucher interface {
	Touch(ctx context.Context, at paths.Place, now time.Time) error
}

// What Result.Counts calls things that come back.
const (
	CountBack    = "files brought back"
	CountNotBack = "files that could not be brought back"
)

// picks says whether a file is among those to come back.
func (u *Undo) picks(k *Kept) bool {
	if u.Job != 0 && k.Job != u.Job {
		return false
	}
	return u.Path == "" || k.Path == u.Path || strings.HasPrefix(k.Path, strings.TrimSuffix(u.Path, "/")+"/")
}

// Restore brings files back to where they were. What is there already is not overwritten, and is
// named in the notes. A file that nothing names is an orphan again afterwards, and as
// young as one that was just written. A lake that is not there and has nothing in quarantine is
// a meta.ErrNoLake. Files come off the list in chunks: of a call that was
// killed some may be listed that are back already, and a further call finds that out.
func (c *Cleaner) Restore(ctx context.Context, u Undo, now time.Time) (res gc.Result, err error) {
	cat, err := c.o.Store.Catalog(u.Catalog)
	if err != nil {
		return res, err
	}
	all, err := c.Quarantined(ctx, u.Catalog, u.Lake)
	if err == nil && u.Lake != "" && len(all) == 0 {
		err = meta.Read(ctx, cat, func(txn *store.Txn) error {
			_, err := meta.Open(txn, u.Lake)
			return err
		})
	}
	if err != nil {
		return res, err
	}
	back := map[Kept]bool{}
	defer func() { err = errors.Join(err, c.dropKept(ctx, cat, u.Lake, back)) }()
	var picked []Kept
	for _, k := range all {
		if u.picks(&k) {
			picked = append(picked, k)
		}
	}
	// A cleanup that was killed before it moved a file has left a row that leads nowhere; the next one has moved it elsewhere. So rows
	// whose file is missing are looked at once more when the others are back.
	for n, i := len(picked), 0; i < len(picked); i++ {
		k := picked[i]
		if err := c.restore(ctx, k, now); err != nil {
			if ctx.Err() != nil {
				return res, context.Cause(ctx)
			}
			if i < n && errors.Is(err, ErrNotFound) {
				picked = append(picked, k)
				continue
			}
			res.Count(CountNotBack, 1)
			if res.Counts[CountNotBack] <= notedFiles {
				res.Note("%s: %v", k.Path, err)
			}
			continue
		}
		back[k] = true
		res.Count(CountBack, 1)
		res.Bytes += k.Bytes
		res.Add(gc.Item{What: "file", Path: k.Path, Bytes: k.Bytes, Reason: "brought back from " + k.Place})
		if len(back) >= c.o.Chunk {
			if err := c.dropKept(ctx, cat, u.Lake, back); err != nil {
				return res, err
			}
			clear(back)
		}
	}
	return res, nil
}

func (c *Cleaner) restore(ctx context.Context, k Kept, now time.Time) error {
	from, err := paths.Locate(k.Place)
	if err != nil {
		return err
	}
	to, err := paths.Locate(k.Path)
	if err != nil {
		return err
	}
	// Both ends must be where the server may delete, and in one storage.
	st, err := c.o.Access.Storage(from)
	if err != nil {
		return err
	}
	if _, err := c.o.Access.Storage(to); err != nil {
		return err
	}
	if _, err := st.Stat(ctx, from); errors.Is(err, ErrNotFound) {
		if _, there := st.Stat(ctx, to); there == nil {
			return nil // an earlier call has moved it
		}
	}
	if t, ok := st.(toucher); ok {
		if err := t.Touch(ctx, from, now); err != nil {
			return err
		}
	}
	return st.Move(ctx, from, to)
}
