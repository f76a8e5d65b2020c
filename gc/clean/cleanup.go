package clean

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake/paths"
)

// Cleanup is the job that deletes the files whose scheduled time has passed, and what has been
// in quarantine for long enough. Each file is written to the sink, if there is one.
func (c *Cleaner) Cleanup(sink Sink) gc.Job { return job{c, sink, (*run).cleanup} }

func (r *run) cleanup(ctx context.Context) error {
	if err := r.scheduled(ctx, nil); err != nil {
		return err
	}
	return r.purge(ctx)
}

// scheduled deals with the entries of the schedule that are due, or with some of them only.
func (r *run) scheduled(ctx context.Context, only map[int64]*file) error {
	var at []byte
	for more := true; more; {
		var due []*file
		var err error
		if due, at, err = r.due(ctx, at, only); err != nil {
			return err
		}
		more = at != nil
		for len(due) > 0 {
			n := min(len(due), r.o.Chunk)
			if err := r.chunk(ctx, due[:n]); err != nil {
				return err
			}
			due = due[n:]
			r.progress()
		}
	}
	return nil
}

// due looks at everything that is named anywhere, and takes the entries after a position
// that may go. next is nil when there are no more.
func (r *run) due(ctx context.Context, after []byte, only map[int64]*file) (due []*file, next []byte, err error) {
	v, err := take(ctx, r.o.Store)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	own, err := v.own(r.req)
	if err != nil {
		return nil, nil, err
	}
	if r.grace, err = r.graceIn(own.lake.Txn()); err != nil {
		return nil, nil, err
	}
	rules := &CleanupRules{Early: &paths.Set{}, Now: r.req.Now, Grace: r.grace}
	if rules.Live, err = v.live(ctx); err != nil {
		return nil, nil, err
	}
	err = entries(ctx, own.lake, own.layout, func(e Entry, _ *meta.Row) error {
		if !rules.Due(e) {
			// One that may be any file is no reason to keep all: it is itself kept.
			if err := rules.Early.Add(e.Name); err != nil && !errors.Is(err, paths.ErrAnything) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	err = entries(ctx, own.lake, own.layout, func(e Entry, row *meta.Row) error {
		f := &file{Entry: e, raw: place(row)}
		if only != nil {
			o, ok := only[e.ID]
			if !ok || o.Name != e.Name {
				return nil
			}
			f.reason = o.reason
		}
		verdict, why := rules.Judge(e)
		switch verdict {
		case Defer:
			r.deferred(f, why)
		case Remove:
			if !r.seen.add(e.Name) {
				return nil // several rows for one name go together
			}
			if f.reason == "" {
				f.reason = why
			}
			f.place, _ = paths.Locate(e.Name) // judged
			due = append(due, f)
			if len(due) >= r.o.Round {
				next = append([]byte(nil), row.Position()...)
				return meta.ErrStop
			}
		}
		return nil
	}, meta.After(after))
	if err != nil {
		return nil, nil, err
	}
	due, err = r.twins(ctx, v, due, func(n *named, e Entry) bool { return n == own && !rules.Due(e) })
	r.watches(v.watch(due))
	return due, next, err
}

// graceIn is the grace in force: what is stored, or what the request asks for if that is longer.
func (r *run) graceIn(txn *store.Txn) (time.Duration, error) {
	asked := r.req.Policies.DeletionGrace()
	if r.o.Grace == nil {
		return asked, nil
	}
	stored, err := r.o.Grace(txn, r.req.Lake)
	if err != nil {
		return 0, fmt.Errorf("read the policy %s: %w", gc.NameDeletionGrace, err)
	}
	return max(asked, stored), nil
}

func (r *run) isDue(e Entry) bool {
	return (&CleanupRules{Now: r.req.Now, Grace: r.grace}).Due(e)
}

// own finds the lake that is cleaned, in its newest state.
func (v *inventory) own(req *gc.Request) (*named, error) {
	for i := range v.lakes {
		if n := &v.lakes[i]; n.newest && n.catalog == req.Catalog && n.lake.Name() == req.Lake {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", meta.ErrNoLake, req.Lake)
}

// chunk deals with entries that may go: bytes first, then the rows.
func (r *run) chunk(ctx context.Context, all []*file) error {
	free, err := r.fenced(ctx, all)
	if err != nil {
		return err
	}
	return r.dispose(ctx, free)
}

// dispose deletes files, moves them aside or hands them back; in a dry run it only says so.
func (r *run) dispose(ctx context.Context, free []*file) error {
	stores, err := r.stores(ctx, free)
	if err != nil {
		return err
	}
	for _, g := range stores {
		if err := r.group(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// fenced asks in a new transaction whether the entries are still there, and may go by the
// rules by which the removal of their rows will be judged: afterwards it would be too late.
func (r *run) fenced(ctx context.Context, all []*file) (free []*file, err error) {
	err = meta.Read(ctx, r.cat, func(txn *store.Txn) error {
		free = nil
		l, err := meta.Open(txn, r.req.Lake)
		if err != nil {
			return err
		}
		var ask []question
		for _, f := range all {
			refs, err := r.entry(ctx, l, f)
			if err != nil {
				return err
			}
			if len(refs) > 0 {
				ask = append(ask, question{f, refs})
			}
		}
		free, err = r.ask(ctx, txn, ask)
		return err
	})
	return free, err
}

// question is a file with the rows of the schedule that go with it.
type question struct {
	file *file
	rows []gc.FileRef
}

// ask takes those of some files that may go by all their rows.
func (r *run) ask(ctx context.Context, txn *store.Txn, all []question) (free []*file, err error) {
	fence, err := r.o.Fence(txn, r.req.Lake)
	if err != nil {
		return nil, err
	}
	var refs []gc.FileRef
	for _, q := range all {
		refs = append(refs, q.rows...)
	}
	why, err := fence.Early(ctx, refs)
	if err != nil {
		return nil, fmt.Errorf("ask what is held: %w", err)
	}
	for _, q := range all {
		said := ""
		for _, w := range why[:len(q.rows)] {
			said = cmp.Or(said, w)
		}
		why = why[len(q.rows):]
		if said != "" {
			r.deferred(q.file, said)
		} else {
			free = append(free, q.file)
		}
	}
	return free, nil
}

// entry finds the rows of a file in the schedule.
func (r *run) entry(ctx context.Context, l meta.Lake, f *file) (refs []gc.FileRef, err error) {
	layout, err := r.layout(ctx, l)
	if err != nil {
		return nil, err
	}
	err = entries(ctx, l, layout, func(e Entry, row *meta.Row) error {
		if e.Name == f.Name && !e.Start.IsZero() {
			p := place(row)
			refs = append(refs, gc.FileRef{ID: e.ID, Path: p.Path, Relative: p.Relative, Start: e.Start.UnixMicro()})
		}
		return nil
	}, meta.Equal("path", meta.Str(f.raw.Path)))
	return refs, err
}

// layout is what entries of the schedule need of a lake's: the data path.
func (r *run) layout(ctx context.Context, l meta.Lake) (*paths.Layout, error) {
	data, err := l.DataPath(ctx)
	if err != nil {
		return nil, err
	}
	return paths.NewLayout(data, nil, nil), nil
}

// group is files of one storage and bucket.
type group struct {
	storage Storage
	files   []*file
}

// stores sorts files by their storage, and looks at each.
func (r *run) stores(ctx context.Context, all []*file) ([]*group, error) {
	var out []*group
	byPlace := map[paths.Place]*group{}
	for _, f := range all {
		st, err := r.o.Access.Storage(f.place)
		if errors.Is(err, ErrNoAccess) {
			if err := r.toClient(f, err); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reach %s: %w", f.Name, err)
		}
		key := f.place
		key.Name = ""
		if d, ok := st.(*disk); ok {
			key.Name = d.root
		}
		g := byPlace[key]
		if g == nil {
			g = &group{storage: st}
			byPlace[key] = g
			out = append(out, g)
		}
		g.files = append(g.files, f)
	}
	for _, g := range out {
		r.look(ctx, g)
	}
	return out, ctx.Err()
}

// lookers is how many files are looked at at a time.
const lookers = 16

// look finds the sizes, and drops files that cannot be looked at.
func (r *run) look(ctx context.Context, g *group) {
	errs := make([]error, len(g.files))
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(lookers, len(g.files)) {
		wg.Go(func() {
			for i := range next {
				var o Object
				if o, errs[i] = g.storage.Stat(ctx, g.files[i].place); errs[i] == nil {
					g.files[i].size = o.Size
				}
			}
		})
	}
	for i := range g.files {
		next <- i
	}
	close(next)
	wg.Wait()
	keep := g.files[:0]
	for i, f := range g.files {
		switch {
		case errs[i] == nil && r.again(f.place):
			// By another name it has been dealt with, also in a dry run.
			f.gone, f.size = true, 0
			keep = append(keep, f)
		case errs[i] == nil:
			keep = append(keep, f)
		case errors.Is(errs[i], ErrNotFound):
			f.gone = true
			keep = append(keep, f)
		case ctx.Err() == nil:
			r.failed(f, errs[i])
		}
	}
	g.files = keep
}

// again says whether the run has come to the object before.
func (r *run) again(at paths.Place) bool {
	if at.Kind == paths.Disk {
		if real, ok := realName(at.Name); ok {
			at.Name = real
		}
	}
	return !r.met.add(fmt.Sprintf("%d %q %q %q", at.Kind, at.Account, at.Bucket, at.Name))
}

// group deletes files of one storage, or moves them aside, and takes them off the schedule.
func (r *run) group(ctx context.Context, g *group) (err error) {
	if g.files, err = r.unnamed(ctx, g.files); err != nil || len(g.files) == 0 {
		return err
	}
	if _, on := r.req.Policies.Quarantine(); on {
		return r.aside(ctx, g)
	}
	if r.dry {
		for _, f := range g.files {
			if err := r.goes(f); err != nil {
				return err
			}
		}
		return nil
	}
	at := make([]paths.Place, len(g.files))
	for i, f := range g.files {
		at[i] = f.place
	}
	var done []*file
	for i, err := range g.storage.Delete(ctx, at) {
		if f := g.files[i]; err != nil {
			r.failed(f, err)
		} else {
			done = append(done, f)
		}
	}
	return r.forget(ctx, done)
}

// forget takes the entries of files that are gone off the schedule. It goes on when ctx has
// ended: what is deleted is better forgotten.
func (r *run) forget(ctx context.Context, done []*file) error {
	if len(done) == 0 {
		return ctx.Err()
	}
	err := meta.Do(context.WithoutCancel(ctx), r.cat, r.o.Commit, func(txn *store.Txn) error {
		l, err := meta.Open(txn, r.req.Lake)
		if err != nil {
			return err
		}
		layout, err := r.layout(ctx, l)
		if err != nil {
			return err
		}
		for _, f := range done {
			err := entries(context.WithoutCancel(ctx), l, layout, func(e Entry, row *meta.Row) error {
				if e.Name != f.Name || !r.isDue(e) {
					return nil
				}
				return row.Delete()
			}, meta.Equal("path", meta.Str(f.raw.Path)))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("take deleted files off the schedule: %w", err)
	}
	for _, f := range done {
		say := r.goes
		if f.aside {
			say = r.moved
		}
		if err := say(f); err != nil {
			return err
		}
	}
	return ctx.Err()
}
