package clean

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake/files"
	"github.com/eiderdb/eider/lake/paths"
)

// Orphans is the job that deletes files in a lake's folders that nothing names. Each file
// is written to the sink, if there is one.
func (c *Cleaner) Orphans(sink Sink) gc.Job { return job{c, sink, (*run).orphans} }

func (r *run) orphans(ctx context.Context) error {
	where, err := r.where(ctx)
	if err != nil || where == nil {
		return err
	}
	return r.list(ctx, where, func(listed []*file) error {
		found, err := r.judge(ctx, where, listed)
		if err != nil || len(found) == 0 {
			return err
		}
		if r.dry {
			return r.planned(ctx, found)
		}
		return r.remove(ctx, where, found)
	})
}

// remove puts orphans into the schedule, all of them before the catalogs are looked at once
// more. If the run is killed in between, the next cleanup goes on.
func (r *run) remove(ctx context.Context, where *search, found []*file) error {
	only := make(map[int64]*file, len(found))
	for len(found) > 0 {
		n := min(len(found), r.o.Chunk)
		if err := r.schedule(ctx, where, found[:n]); err != nil {
			return err
		}
		for _, f := range found[:n] {
			only[f.ID] = f
		}
		found = found[n:]
	}
	return r.scheduled(ctx, only)
}

// planned goes on with orphans as if they were scheduled.
func (r *run) planned(ctx context.Context, found []*file) error {
	for len(found) > 0 {
		n := min(len(found), r.o.Chunk)
		var free []*file
		err := meta.Read(ctx, r.cat, func(txn *store.Txn) (err error) {
			if r.grace, err = r.graceIn(txn); err != nil {
				return err
			}
			ask := make([]question, n)
			for i, f := range found[:n] {
				ask[i] = question{f, []gc.FileRef{{ID: f.ID, Path: f.raw.Path, Relative: f.raw.Relative, Start: r.dueAtOnce().UnixMicro()}}}
			}
			free, err = r.ask(ctx, txn, ask)
			return err
		})
		if err != nil {
			return err
		}
		if err := r.dispose(ctx, free); err != nil {
			return err
		}
		found = found[n:]
	}
	return nil
}

// search is where orphans are looked for.
type search struct {
	OrphanRules
	layout *paths.Layout // of the data path alone
}

// where is the lake's data path; nil when nothing can be looked for there, with a note.
func (r *run) where(ctx context.Context) (*search, error) {
	var data string
	err := meta.Read(ctx, r.cat, func(txn *store.Txn) error {
		l, err := meta.Open(txn, r.req.Lake)
		if err == nil {
			data, err = l.DataPath(ctx)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	folder, err := paths.Folder(data)
	if err == nil && (folder.Name == "/" || climbsEncoded(data)) {
		err = paths.ErrUnknown
	}
	if err != nil {
		r.res.Note("orphans are not looked for: the data path %q does not say where it is", data)
		return nil, nil //nolint:nilnil // documented
	}
	rules := &search{OrphanRules{Folder: folder, Real: folder}, paths.NewLayout(data, nil, nil)}
	if folder.Kind == paths.Disk {
		if real, err := filepath.EvalSymlinks(folder.Name); err == nil {
			rules.Real.Name = real + "/"
		}
	}
	age := r.req.Policies.OrphanMinAge()
	rules.Before = r.req.Now.Add(-age)
	return rules, nil
}

// climbsEncoded says whether a path has a ".." in it once it is decoded.
func climbsEncoded(path string) bool { _, ok := paths.Tail(path); return ok }

// list calls fn with the objects that may be orphans, a round at a time.
func (r *run) list(ctx context.Context, where *search, fn func([]*file) error) error {
	at := where.Folder
	at.Name += probe
	st, err := r.o.Access.Storage(at)
	if errors.Is(err, ErrNoAccess) {
		r.res.Note("orphans are left to a client, with ducklake_delete_orphaned_files: the server may not delete in %s (delete-paths)", where.Folder)
		return nil
	}
	if err != nil {
		return fmt.Errorf("reach %s: %w", where.Folder, err)
	}
	// A first look at the names only, so that most of the listing is forgotten at once.
	rules := where.OrphanRules
	if rules.Live, rules.Spared, err = r.known(ctx, where); err != nil {
		return err
	}
	var found []*file
	err = st.List(ctx, where.Folder, func(o Object) error {
		switch verdict, why := rules.Judge(o); verdict {
		case Defer:
			r.res.Deferred++
		case Remove:
			rel, _ := rules.relative(o.Place)
			raw := files.Place{Path: rel, Relative: true}
			// The name as the schedule will have it: that of the listing may be without links.
			name := where.layout.Scheduled(raw)
			found = append(found, &file{
				Entry: Entry{ID: orphanID(name), Name: name}, raw: raw,
				place: o.Place, size: o.Size, modified: o.Modified, reason: why,
			})
		}
		if len(found) < r.o.Round {
			return nil
		}
		all := found
		found = nil
		return fn(all)
	})
	if err != nil {
		return fmt.Errorf("list %s: %w", where.Folder, err)
	}
	if len(found) == 0 {
		return nil
	}
	return fn(found)
}

// probe stands for any file of a folder.
const probe = "probe.parquet"

// known takes the names of all files of all lakes, scheduled ones too, and the folders
// that are spared.
func (r *run) known(ctx context.Context, where *search) (live *paths.Set, spared []paths.Place, err error) {
	v, err := take(ctx, r.o.Store)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	return r.knownIn(ctx, v, where)
}

func (r *run) knownIn(ctx context.Context, v *inventory, where *search) (*paths.Set, []paths.Place, error) {
	live, err := v.live(ctx)
	if err != nil {
		return nil, nil, err
	}
	spared := r.sparedIn(where)
	for _, n := range v.lakes {
		err := entries(ctx, n.lake, n.layout, func(e Entry, _ *meta.Row) error {
			if err := live.Add(e.Name); err != nil && !errors.Is(err, paths.ErrAnything) {
				return err
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		// A lake below this one: its own job looks there.
		if f, err := paths.Folder(n.layout.DataPath); err == nil && within(where.Folder, f) && !within(f, where.Folder) {
			spared = append(spared, f)
		}
		if f, err := paths.Folder(n.layout.DataPath); err == nil && f.Kind == paths.Disk {
			if real, err := filepath.EvalSymlinks(f.Name); err == nil {
				f.Name = real + "/"
				if within(where.Real, f) && !within(f, where.Real) {
					spared = append(spared, f)
				}
			}
		}
	}
	return live, spared, nil
}

// sparedIn are the folders that are spared whatever the catalogs say.
func (r *run) sparedIn(where *search) []paths.Place {
	var out []paths.Place
	for _, f := range []paths.Place{where.Folder, where.Real} {
		f.Name += quarantineFolder + "/"
		out = append(out, f)
	}
	for _, s := range r.o.Spare {
		for _, name := range []string{s, realOr(s)} {
			if abs, err := filepath.Abs(name); err == nil {
				out = append(out, paths.Place{Kind: paths.Disk, Name: abs + "/"})
			}
		}
	}
	return out
}

func realOr(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	return name
}

// judge looks at what was found once more: first at the transactions that are open, then at
// the catalogs, in this order (invariant 3).
func (r *run) judge(ctx context.Context, where *search, listed []*file) (found []*file, err error) {
	rules := where.OrphanRules
	if t := r.o.Writing(); !t.IsZero() {
		rules.Writing = t.Add(-r.o.Skew)
	}
	v, err := take(ctx, r.o.Store)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	if rules.Live, rules.Spared, err = r.knownIn(ctx, v, where); err != nil {
		return nil, err
	}
	for _, f := range listed {
		verdict, why := rules.Judge(Object{Place: f.place, Size: f.size, Modified: f.modified})
		switch verdict {
		case Defer:
			r.deferred(f, why)
		case Remove:
			f.reason = why
			found = append(found, f)
		}
	}
	found, err = r.twins(ctx, v, found, func(*named, Entry) bool { return true })
	r.watches(v.watch(found))
	return found, err
}

// orphanID is the id in the schedule of a file that never had one. It is above all that a
// lake gives out, the same for the same file, and hardly ever that of two files: clients
// take rows off by their id.
func orphanID(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return 1<<62 | int64(h.Sum64()>>2)
}

// dueAtOnce is the schedule_start of what is due now: an orphan has had the time of its minimum age.
func (r *run) dueAtOnce() time.Time { return r.req.Now.Add(-r.grace - time.Second) }

// schedule puts orphans into the deletion schedule, due at once.
func (r *run) schedule(ctx context.Context, where *search, found []*file) error {
	err := meta.Do(ctx, r.cat, r.o.Commit, func(txn *store.Txn) (err error) {
		if r.grace, err = r.graceIn(txn); err != nil {
			return err
		}
		due := r.dueAtOnce()
		l, err := meta.Open(txn, r.req.Lake)
		if err != nil {
			return err
		}
		data, err := l.DataPath(ctx)
		if err != nil {
			return err
		}
		if data != where.layout.DataPath {
			return fmt.Errorf("%w: the data path, while orphans were looked for", ErrChanged)
		}
		for _, f := range found {
			f.Start = due
			if rows, err := r.entry(ctx, l, f); err != nil {
				return err
			} else if len(rows) > 0 {
				continue // of a run that was killed
			}
			err := l.Table(scheduleTable).Insert(meta.Values{
				"data_file_id": meta.Int(f.ID), "path": meta.Str(f.raw.Path), "path_is_relative": meta.Truth(true), "schedule_start": meta.Time(due),
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("schedule orphans: %w", err)
	}
	return nil
}
