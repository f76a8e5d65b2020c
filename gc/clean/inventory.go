package clean

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/lake/files"
	"github.com/eiderdb/eider/lake/paths"
)

// ErrShape: a table that may name files is of an unknown shape. Nothing is deleted.
var ErrShape = errors.New("clean: a table that may name files cannot be read")

// The tables with paths that do not name files, or not files to keep.
const (
	metadataTable = "ducklake_metadata"
	schemaTable   = "ducklake_schema"
	tableTable    = "ducklake_table"
	scheduleTable = "ducklake_files_scheduled_for_deletion"
)

// inventory is everything that the lakes of the server name, in the newest state of each
// catalog and in every state that a transaction still reads.
type inventory struct {
	txns  []*store.Txn
	lakes []named
	at    map[uint32]uint64 // by the catalog's oid, the commit that its newest state is of
	// trails have, by the catalog's oid, the rows that may name files and are committed from here
	// on. A watch takes them over.
	trails map[uint32]*store.Trail
}

// named is one lake in one view.
type named struct {
	catalog string
	lake    meta.Lake
	layout  *paths.Layout
	newest  bool
}

// trailLimit bounds what is remembered of the rows that are committed while files are deleted, in
// bytes of a catalog. Beyond it the tables are read again.
const trailLimit = 16 << 20

// trail begins to remember the rows of tables that may name files. What is not in it can be read by
// transactions that begin now.
func trail(ctx context.Context, cat *store.Catalog) (*store.Trail, error) {
	t := cat.Trail(trailLimit, func(tbl *rel.Table) bool {
		_, ok := tbl.Column("path")
		return ok && tbl.Name != scheduleTable
	})
	if err := cat.AwaitStable(ctx); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// take looks at all catalogs. It must be closed.
func take(ctx context.Context, st *store.Store) (*inventory, error) {
	v := &inventory{at: map[uint32]uint64{}, trails: map[uint32]*store.Trail{}}
	for _, c := range st.Catalogs() {
		cat, err := st.Catalog(c.Name)
		if errors.Is(err, store.ErrNotFound) {
			continue // dropped meanwhile
		}
		if err == nil {
			err = v.catalog(ctx, cat)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("look at the lakes of catalog %s: %w", c.Name, err), v.close())
		}
	}
	return v, nil
}

func (v *inventory) catalog(ctx context.Context, cat *store.Catalog) (err error) {
	if v.trails[cat.OID()], err = trail(ctx, cat); err != nil {
		return err
	}
	txn := cat.Begin(store.TxnOptions{Isolation: store.RepeatableRead, ReadOnly: true})
	v.txns = append(v.txns, txn)
	if err := txn.EnsureSnapshot(); err != nil {
		return err
	}
	v.at[cat.OID()], _ = txn.ViewSeq()
	held, err := txn.Held()
	if err != nil {
		return err
	}
	v.txns = append(v.txns, held...)
	for i, t := range append([]*store.Txn{txn}, held...) {
		for _, l := range meta.Lakes(t) {
			layout, err := layoutOf(ctx, l)
			if errors.Is(err, kv.ErrEngineRestarted) && i > 0 {
				break // its reader fails with the same error
			}
			if err != nil {
				return fmt.Errorf("lake %s: %w", l.Name(), err)
			}
			v.lakes = append(v.lakes, named{cat.Name(), l, layout, i == 0})
		}
	}
	return nil
}

func (v *inventory) close() error {
	for _, t := range v.trails {
		if t != nil {
			t.Close()
		}
	}
	var errs []error
	for _, t := range v.txns {
		if err := t.Rollback(); !errors.Is(err, store.ErrTxnDone) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// layoutOf reads where a lake's files lie.
func layoutOf(ctx context.Context, l meta.Lake) (*paths.Layout, error) {
	data, err := l.DataPath(ctx)
	if err != nil {
		return nil, err
	}
	var schemas []lake.Schema
	err = l.Table(schemaTable).Scan(ctx, func(r *meta.Row) error {
		p := place(r)
		schemas = append(schemas, lake.Schema{ID: r.Num("schema_id"), Path: p.Path, Relative: p.Relative})
		return nil
	})
	if err != nil {
		return nil, err
	}
	var tables []lake.Table
	err = l.Table(tableTable).Scan(ctx, func(r *meta.Row) error {
		p := place(r)
		tables = append(tables, lake.Table{ID: r.Num("table_id"), SchemaID: r.Num("schema_id"), Path: p.Path, Relative: p.Relative})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return paths.NewLayout(data, schemas, tables), nil
}

// place reads path and path_is_relative. A NULL or missing flag is that of older formats,
// whose folders all are relative.
func place(r *meta.Row) files.Place {
	relative := true
	if v := r.Value("path_is_relative"); v != nil {
		relative = r.Truth("path_is_relative")
	}
	return files.Place{Path: r.Text("path"), Relative: relative}
}

// names yields everything that rows of tables name; err is told of what cannot be read.
// incomplete names, whose folder is not known, come with whole false.
func (v *inventory) names(ctx context.Context, err *error) iter.Seq2[string, bool] {
	return func(yield func(name string, whole bool) bool) {
		for _, n := range v.lakes {
			for t := range n.lake.Tables(meta.Prefix) {
				if skipped(t) {
					continue
				}
				if *err = n.namesOf(ctx, t, yield); *err != nil {
					if errors.Is(*err, errStopped) {
						*err = nil
					}
					return
				}
			}
		}
	}
}

// skipped says whether a table names no files to keep: the schedule, folders, and all tables
// without a column "path".
func skipped(t meta.Table) bool {
	switch t.Name() {
	case scheduleTable, schemaTable, tableTable, metadataTable:
		return true
	}
	return !t.Column("path").Exists()
}

var errStopped = errors.New("clean: stopped")

// namesOf reads one table. Any with a column "path" may name files, also one that this
// server does not know.
func (n *named) namesOf(ctx context.Context, t meta.Table, yield func(string, bool) bool) error {
	return n.namesIn(t, yield, func(fn func(r *meta.Row) error) error { return t.Scan(ctx, fn) })
}

// namesIn is namesOf for the rows that each goes through.
func (n *named) namesIn(t meta.Table, yield func(string, bool) bool, each func(fn func(r *meta.Row) error) error) error {
	path, _ := t.Descriptor().Column("path")
	if !meta.IsText(path.Type) {
		return fmt.Errorf("%w: %s.%s: the path is not text", ErrShape, n.lake.Name(), t.Name())
	}
	flag, ok := t.Descriptor().Column("path_is_relative")
	if ok && flag.Type != meta.Bool {
		return fmt.Errorf("%w: %s.%s: path_is_relative is no boolean", ErrShape, n.lake.Name(), t.Name())
	}
	table := t.Column("table_id")
	if t.Name() == "ducklake_data_file" || t.Name() == "ducklake_delete_file" {
		if !t.Has("table_id") {
			return fmt.Errorf("%w: %s.%s: table_id is missing", ErrShape, n.lake.Name(), t.Name())
		}
	}
	col := t.Column("path")
	return each(func(r *meta.Row) error {
		text, ok := col.Text(r)
		if !ok {
			return nil // NULL names nothing
		}
		p := place(r)
		p.Path = text
		id, ok := table.Int(r)
		if !ok && p.Relative {
			if !yield(p.Path, false) {
				return errStopped
			}
			return nil
		}
		all, complete := n.layout.File(id, p)
		for _, name := range all {
			if !yield(name, true) {
				return errStopped
			}
		}
		if !complete && !yield(p.Path, false) {
			return errStopped
		}
		return nil
	})
}

// live makes the set of everything that rows of tables name. ErrAnything of package paths:
// one of them may be any file.
func (v *inventory) live(ctx context.Context) (*paths.Set, error) {
	s := &paths.Set{}
	var err error
	for name, whole := range v.names(ctx, &err) {
		if aerr := keep(s, name, whole); aerr != nil {
			return nil, aerr
		}
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// keep adds a name, and, for one that DuckLake made up, every other file of that name: it
// has a number in it that is never made twice, so a file of the name is a copy of the lake's,
// or the file itself by a way that nobody has thought of (another data path, a mount).
func keep(s *paths.Set, name string, whole bool) error {
	var err error
	if whole {
		err = s.Add(name)
	} else {
		err = s.AddTail(name)
	}
	if base := name[strings.LastIndexByte(name, '/')+1:]; err == nil && ownName(base) {
		err = s.AddTail(base)
	}
	if err != nil {
		return fmt.Errorf("a row names a file by %q: %w", name, err)
	}
	return nil
}

// ownName says whether a file is named as DuckLake names them: ducklake-<uuid>….parquet.
func ownName(base string) bool {
	rest, ok := strings.CutPrefix(base, "ducklake-")
	if !ok || len(rest) < 36 {
		return false
	}
	for i := range 36 {
		c := rest[i]
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') {
			return false
		} else if !dash && (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// entries calls fn for each row of a lake's schedule.
func entries(ctx context.Context, l meta.Lake, layout *paths.Layout, fn func(e Entry, r *meta.Row) error, conds ...meta.Cond) error {
	t := l.Table(scheduleTable)
	if !t.Exists() {
		return nil
	}
	if !t.Has("data_file_id") || !t.Column("path").Exists() || !t.Column("schedule_start").Exists() {
		return fmt.Errorf("%w: %s.%s", ErrShape, l.Name(), scheduleTable)
	}
	return t.Scan(ctx, func(r *meta.Row) error {
		e := Entry{ID: r.Num("data_file_id"), Name: layout.Scheduled(place(r))}
		if n, ok := r.Micros("schedule_start"); ok {
			e.Start = timeOf(n)
		}
		return fn(e, r)
	}, conds...)
}

// with yields what rows of tables name, and the entries of the schedules that a function
// picks, in newest states.
func (v *inventory) with(ctx context.Context, err *error, pick func(n *named, e Entry) bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		stopped := false
		for name, whole := range v.names(ctx, err) {
			if whole && !yield(name) {
				return
			}
		}
		for i := range v.lakes {
			n := &v.lakes[i]
			if *err != nil || stopped || !n.newest {
				continue
			}
			*err = entries(ctx, n.lake, n.layout, func(e Entry, _ *meta.Row) error {
				if pick(n, e) && !yield(e.Name) {
					stopped = true
					return meta.ErrStop
				}
				return nil
			})
		}
	}
}
