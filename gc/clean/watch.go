package clean

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake/paths"
)

// watch finds which of some files rows name that were committed since the catalogs were
// looked at. The schedule keeps a lake from registering a file by the name that the schedule has;
// another lake, or another spelling, only this finds.
type watch struct {
	at    map[uint32]uint64 // by the catalog's oid, the commit that was looked at last
	files []*file
	bases map[string]struct{} // last parts of the files' names; nil: not made yet
	loose bool                // there is one whose last part does not tell
}

// watch watches files from the moment of the inventory on.
func (v *inventory) watch(all []*file) *watch { return &watch{at: v.at, files: all} }

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
	// What is on its way to stable storage is no state that a reader gets, and will be one.
	if err := cat.AwaitStable(ctx); err != nil {
		return err
	}
	seq, known := w.at[cat.OID()]
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
	for i, t := range views {
		if of, _ := t.ViewSeq(); known && of <= seq {
			continue
		}
		for _, l := range meta.Lakes(t) {
			err := w.lake(ctx, l, seq, known, found)
			if errors.Is(err, kv.ErrEngineRestarted) && i > 0 {
				break // its reader fails with the same error
			}
			if err != nil {
				return fmt.Errorf("lake %s: %w", l.Name(), err)
			}
		}
	}
	w.at[cat.OID()], _ = txn.ViewSeq()
	return nil
}

// lake reads the tables that have changed since a commit; all of them when folders have, by
// which names are resolved.
func (w *watch) lake(ctx context.Context, l meta.Lake, seq uint64, known bool, found *paths.Set) error {
	changed := func(t meta.Table) bool {
		return t.Exists() && (!known || l.Txn().ChangedSince(t.Descriptor(), seq))
	}
	all := false
	for _, name := range []string{metadataTable, schemaTable, tableTable} {
		all = all || changed(l.Table(name))
	}
	var n *named
	for t := range l.Tables(meta.Prefix) {
		if skipped(t) || !all && !changed(t) {
			continue
		}
		if n == nil {
			layout, err := layoutOf(ctx, l)
			if err != nil {
				return err
			}
			n = &named{lake: l, layout: layout}
		}
		var bad error
		err := n.namesOf(ctx, t, func(name string, whole bool) bool {
			if w.may(name) {
				bad = keep(found, name, whole)
			}
			return bad == nil
		})
		if bad != nil {
			return bad
		}
		if err != nil {
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
