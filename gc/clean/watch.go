package clean

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake/paths"
)

// watch finds which of some files rows name that were committed since the catalogs were
// looked at. The schedule keeps a lake from registering a file by the name that the schedule has;
// another lake, or another spelling, only this finds.
type watch struct {
	at     map[uint32]uint64 // by the catalog's oid, the commit that was looked at last
	trails map[uint32]*store.Trail
	lakes  map[lakeKey]*lakeState // as they were looked at last, in their newest state
	files  []*file
	bases  map[string]struct{} // last parts of the files' names; nil: not made yet
	loose  bool                // there is one whose last part does not tell
	read   int64               // rows that were looked at
}

// lakeKey names a lake: the oids of its catalog and its metadata schema.
type lakeKey struct{ catalog, schema uint32 }

// lakeState is what says whether the rows that were looked at name the same files still.
type lakeState struct {
	layout *paths.Layout
	shapes map[uint32]uint64 // by the oid of a table, the version of its descriptor
}

// shapesOf are the tables that may name files.
func shapesOf(l meta.Lake) map[uint32]uint64 {
	m := map[uint32]uint64{}
	for t := range l.Tables(meta.Prefix) {
		if !skipped(t) {
			m[t.Descriptor().OID] = t.Descriptor().Version
		}
	}
	return m
}

// watch watches from the moment of the inventory on, until it is closed.
func (v *inventory) watch(all []*file) *watch {
	w := &watch{at: v.at, trails: v.trails, lakes: map[lakeKey]*lakeState{}, files: all}
	v.trails = nil
	for _, n := range v.lakes {
		if n.newest {
			w.lakes[lakeKey{n.lake.Txn().Catalog().OID(), n.lake.Schema()}] = &lakeState{n.layout, shapesOf(n.lake)}
		}
	}
	return w
}

// close ends it; w may be nil.
func (w *watch) close() {
	if w == nil {
		return
	}
	for _, t := range w.trails {
		t.Close()
	}
}

// watches takes a watch in place of the last one.
func (r *run) watches(w *watch) {
	r.watch.close()
	r.watch = w
}

// unnamed looks at what was committed since the last look, and takes those of some watched
// files that no row names. It must come right before they go.
func (r *run) unnamed(ctx context.Context, all []*file) ([]*file, error) {
	if err := r.watch.look(ctx, r.o.Store); err != nil {
		return nil, fmt.Errorf("look for rows that were committed meanwhile: %w", err)
	}
	out := all[:0]
	for _, f := range all {
		if f.named {
			r.deferred(f, "a row of a lake names it since a moment ago")
		} else {
			out = append(out, f)
		}
	}
	return out, nil
}

// look marks the watched files that rows of changed tables name.
func (w *watch) look(ctx context.Context, st *store.Store) error {
	found := &paths.Set{}
	for _, c := range st.Catalogs() {
		cat, err := st.Catalog(c.Name)
		if errors.Is(err, store.ErrNotFound) {
			continue // dropped meanwhile
		}
		if err == nil {
			err = w.catalog(ctx, cat, found)
		}
		if err != nil {
			return fmt.Errorf("catalog %s: %w", c.Name, err)
		}
	}
	if found.Len() == 0 {
		return nil
	}
	for _, f := range w.files {
		f.named = f.named || found.Has(f.Name) || found.Has(f.place.String())
	}
	return nil
}

func (w *watch) catalog(ctx context.Context, cat *store.Catalog, found *paths.Set) (err error) {
	oid := cat.OID()
	if w.trails[oid] == nil { // it is new
		if w.trails[oid], err = trail(ctx, cat); err != nil {
			delete(w.trails, oid)
			return err
		}
	}
	// What is on its way to stable storage is no state that a reader gets, and will be one.
	if err := cat.AwaitStable(ctx); err != nil {
		return err
	}
	seq, known := w.at[oid]
	if known && cat.Seq() == seq {
		return nil
	}
	txn := cat.Begin(store.TxnOptions{Isolation: store.RepeatableRead, ReadOnly: true})
	views := []*store.Txn{txn}
	defer func() {
		for _, t := range views {
			if e := t.Rollback(); !errors.Is(e, store.ErrTxnDone) {
				err = errors.Join(err, e)
			}
		}
	}()
	held, err := txn.Held()
	if err != nil {
		return err
	}
	views = append(views, held...)
	news := map[lakeKey]*lakeState{}
	for i, t := range views {
		if of, _ := t.ViewSeq(); known && of <= seq {
			continue
		}
		for _, l := range meta.Lakes(t) {
			k := lakeKey{oid, l.Schema()}
			was := w.lakes[k]
			if !known {
				was = nil
			}
			is, err := w.lake(ctx, l, seq, was, found)
			if errors.Is(err, kv.ErrEngineRestarted) && i > 0 {
				break // its reader fails with the same error
			}
			if err != nil {
				return fmt.Errorf("lake %s: %w", l.Name(), err)
			}
			if i == 0 {
				news[k] = is
			}
		}
	}
	maps.DeleteFunc(w.lakes, func(k lakeKey, _ *lakeState) bool { return k.catalog == oid })
	maps.Copy(w.lakes, news)
	w.at[oid], _ = txn.ViewSeq()
	w.trails[oid].Forget(w.at[oid])
	return nil
}

// lake looks at the rows that have come since a commit, at which the lake was as was says; at all
// rows of a table that is another than then, and of all tables when folders are by which their
// names are resolved. A nil state is that of a lake that was not there.
func (w *watch) lake(ctx context.Context, l meta.Lake, seq uint64, was *lakeState, found *paths.Set) (*lakeState, error) {
	changed := func(t meta.Table) bool {
		return t.Exists() && (was == nil || l.Txn().ChangedSince(t.Descriptor(), seq))
	}
	moved := was == nil
	for _, name := range []string{metadataTable, schemaTable, tableTable} {
		moved = moved || changed(l.Table(name))
	}
	is, all := &lakeState{shapes: shapesOf(l)}, false
	if moved {
		layout, err := layoutOf(ctx, l)
		if err != nil {
			return nil, err
		}
		is.layout, all = layout, was == nil || !layout.Extends(was.layout)
	} else {
		is.layout = was.layout
	}
	n := &named{lake: l, layout: is.layout}
	for t := range l.Tables(meta.Prefix) {
		if skipped(t) {
			continue
		}
		d := t.Descriptor()
		whole := all || was.shapes[d.OID] != d.Version
		if !whole && !changed(t) {
			continue
		}
		each := func(fn func(r *meta.Row) error) error { return t.Scan(ctx, fn) }
		if !whole {
			if rows, ok := w.trails[l.Txn().Catalog().OID()].Since(d, seq); ok {
				each = func(fn func(r *meta.Row) error) error { return eachTuple(ctx, t, rows, fn) }
			}
		}
		if err := w.rows(n, t, each, found); err != nil {
			return nil, err
		}
	}
	return is, nil
}

// rows adds the names of some rows of a table that may be those of watched files.
func (w *watch) rows(n *named, t meta.Table, each func(fn func(r *meta.Row) error) error, found *paths.Set) error {
	var bad error
	err := n.namesIn(t, func(name string, whole bool) bool {
		if w.may(name) {
			bad = keep(found, name, whole)
		}
		return bad == nil
	}, func(fn func(r *meta.Row) error) error {
		return each(func(r *meta.Row) error {
			w.read++
			return fn(r)
		})
	})
	return cmp.Or(bad, err)
}

// eachTuple calls fn for rows that were remembered.
func eachTuple(ctx context.Context, t meta.Table, rows []row.Tuple, fn func(r *meta.Row) error) error {
	for i, x := range rows {
		if i%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := fn(&meta.Row{Table: t, Tuple: x}); err != nil {
			return err
		}
	}
	return nil
}

// may says whether a name may be one of a watched file: most rows are told by the last part
// of their names, which plain spellings of one object have in common. It errs on the side of yes.
func (w *watch) may(name string) bool {
	if strings.ContainsAny(name, `%?#\`) {
		return true
	}
	if bare(name) {
		return true
	}
	base := lastPart(name)
	if noName(base) {
		return true
	}
	if w.bases == nil {
		w.bases = make(map[string]struct{}, len(w.files))
		for _, f := range w.files {
			w.loose = w.loose || noName(lastPart(f.place.Name)) || noName(lastPart(f.Name))
			for _, name := range []string{f.Name, f.place.String()} {
				_, climbs := paths.Tail(name)
				w.loose = w.loose || climbs
				w.bases[lastPart(name)] = struct{}{}
				for _, k := range paths.Keys(name) {
					w.loose = w.loose || noName(lastPart(k)) || bare(k)
					w.bases[lastPart(k)] = struct{}{}
				}
			}
		}
	}
	_, ok := w.bases[base]
	return ok || w.loose
}

// bare says whether a URL is that of a bucket or a host.
func bare(url string) bool {
	i := strings.Index(url, "://")
	return i >= 0 && !strings.Contains(url[i+3:], "/")
}

// noName says whether the last part of a name is none of an object.
func noName(base string) bool { return base == "" || base == "." || base == ".." }

func lastPart(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }
