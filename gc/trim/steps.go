package trim

import (
	"context"
	"strconv"
	"strings"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/sweep"
	"github.com/eiderdb/eider/lake"
)

// reservedColumns is where the ids begin of columns that have no row of their own: those of
// row ids and snapshots in files.
const reservedColumns = 2_000_000_000

// trimmer is one run.
type trimmer struct {
	*known

	// of the present transaction
	lake     meta.Lake
	versions map[int64][]version   // of tables
	numbers  map[int64][]int64     // schema versions of the inlined rows of tables
	begins   map[int64]*sweep.IDs  // snapshots in which data files of tables begin
	columns  map[int64]*sweep.IDs  // of tables
	owners   map[string]*sweep.IDs // ids by table and column
}

func (t *trimmer) begin(l meta.Lake, _ *gc.Result) error {
	t.lake, t.versions, t.numbers = l, map[int64][]version{}, map[int64][]int64{}
	t.columns, t.owners, t.begins = map[int64]*sweep.IDs{}, map[string]*sweep.IDs{}, map[int64]*sweep.IDs{}
	return nil
}

// remove removes a row and counts it.
func (t *trimmer) remove(x *meta.Row, res *gc.Result) (int, error) {
	res.Count("rows of "+x.Table.Name(), 1)
	return 1, x.Delete()
}

// when makes a walk that removes the rows for which fn answers true.
func (t *trimmer) when(table string, fn func(x *meta.Row) (bool, error)) sweep.Walk {
	return sweep.Walk{Table: table, Begin: t.begin, Row: func(x *meta.Row, res *gc.Result) (int, error) {
		if yes, err := fn(x); !yes || err != nil {
			return 0, err
		}
		return t.remove(x, res)
	}}
}

// missing makes a walk that removes rows whose id something is missing of.
func (t *trimmer) missing(table, column string, gone func(id int64) bool) sweep.Walk {
	return t.when(table, func(x *meta.Row) (bool, error) {
		id, ok := x.Int(column)
		return ok && gone(id), nil
	})
}

// steps are the walks of a run, in their order: what refers to something goes after it.
func (t *trimmer) steps(ctx context.Context, l meta.Lake) []sweep.Walk {
	var out []sweep.Walk
	add := func(w sweep.Walk, integers ...string) {
		if l.Table(w.Table).Has(integers...) {
			out = append(out, w)
		}
	}
	span := []string{"begin_snapshot", "end_snapshot"}
	ended := func(x *meta.Row) (bool, error) { return sweep.Dead(x.Span(), t.kept), nil }

	for _, name := range []string{"ducklake_file_column_stats", "ducklake_file_variant_stats", "ducklake_file_partition_value"} {
		add(t.missing(name, "data_file_id", t.noFile), "data_file_id")
	}
	add(t.missing("ducklake_snapshot_changes", "snapshot_id", func(id int64) bool { return !t.kept.Has(id) }), "snapshot_id")
	// Not ducklake_table: without the row of a version that nobody sees, the client (1.0) looks for
	// the inlined rows of the versions before it among its files, and fails.
	for _, name := range []string{"ducklake_column", "ducklake_sort_info", "ducklake_column_tag"} {
		add(t.when(name, ended), append(span, "table_id")...)
	}
	add(t.when("ducklake_partition_info", func(x *meta.Row) (bool, error) {
		id, ok := x.Int("partition_id")
		return ok && !t.partitions.Has(id) && sweep.Dead(x.Span(), t.kept), nil
	}), append(span, "partition_id")...)
	for _, name := range []string{
		"ducklake_table_stats", "ducklake_table_column_stats", "ducklake_column", "ducklake_column_tag", "ducklake_partition_info", "ducklake_partition_column",
		"ducklake_sort_info", "ducklake_sort_expression", "ducklake_schema_versions", "ducklake_column_mapping",
	} {
		add(t.missing(name, "table_id", t.noTable), "table_id")
	}
	for _, o := range []struct{ table, column, owner string }{
		{"ducklake_partition_column", "partition_id", "ducklake_partition_info"},
		{"ducklake_sort_expression", "sort_id", "ducklake_sort_info"},
		{"ducklake_name_mapping", "mapping_id", "ducklake_column_mapping"},
		{"ducklake_view_column_tag", "view_id", "ducklake_view"},
	} {
		if l.Table(o.owner).Has(o.column) {
			add(t.when(o.table, func(x *meta.Row) (bool, error) { return t.ownerless(ctx, x, o.owner, o.column) }), o.column)
		}
	}
	add(t.missing("ducklake_tag", "object_id", t.noObject), "object_id")
	add(t.when("ducklake_table_column_stats", func(x *meta.Row) (bool, error) { return t.columnless(ctx, x) }), "table_id", "column_id")
	for r := range l.Tables(lake.InlinedDeletePrefix) {
		add(t.missing(r.Name(), "file_id", t.noFile), "file_id")
	}
	for r := range l.Tables(lake.InlinedDataPrefix) {
		if t.registered[r.Name()] {
			add(t.when(r.Name(), ended), span...)
		}
	}
	add(sweep.Walk{Table: lake.InlinedRegistry, Begin: t.begin, Row: func(x *meta.Row, res *gc.Result) (int, error) { return t.registration(ctx, x, res) }}, "table_id", "schema_version")
	// After the registry: a relation that is gone needs no version.
	add(t.when("ducklake_schema_versions", func(x *meta.Row) (bool, error) { return t.superseded(ctx, x) }), "table_id", "begin_snapshot", "schema_version")
	return out
}

// ownerless says that no row of the owner has the id of a row.
func (t *trimmer) ownerless(ctx context.Context, x *meta.Row, owner, column string) (bool, error) {
	ids, ok := t.owners[owner]
	if !ok {
		var err error
		if ids, err = sweep.IDsOf(ctx, t.lake.Table(owner), column); err != nil {
			return false, err
		}
		t.owners[owner] = ids
	}
	id, ok := x.Int(column)
	return ok && !ids.Has(id), nil
}

// columnless says that a table has, and had, no column of the statistics.
func (t *trimmer) columnless(ctx context.Context, x *meta.Row) (bool, error) {
	table, column := x.Num("table_id"), x.Num("column_id")
	if !t.tables.Has(table) || column >= reservedColumns {
		return false, nil
	}
	ids, ok := t.columns[table]
	if !ok {
		ids = &sweep.IDs{}
		err := t.lake.Table("ducklake_column").Scan(ctx, func(c *meta.Row) error {
			ids.Add(c.Num("column_id"))
			return nil
		}, meta.Is("table_id", table))
		if err != nil {
			return false, err
		}
		t.columns[table] = ids
	}
	return ids.Len() > 0 && !ids.Has(column), nil
}

// superseded says that nothing is of a schema version of a table.
func (t *trimmer) superseded(ctx context.Context, x *meta.Row) (bool, error) {
	table, ok := x.Int("table_id")
	if !ok {
		return false, nil
	}
	all, ok := t.versions[table]
	if !ok {
		err := x.Table.Scan(ctx, func(v *meta.Row) error {
			all = append(all, version{v.Num("begin_snapshot"), v.Num("schema_version")})
			return nil
		}, meta.Is("table_id", table))
		if err != nil {
			return false, err
		}
		var numbers []int64
		err = t.lake.Table(lake.InlinedRegistry).Scan(ctx, func(r *meta.Row) error {
			numbers = append(numbers, r.Num("schema_version"))
			return nil
		}, meta.Is("table_id", table))
		if err != nil {
			return false, err
		}
		t.versions[table], t.numbers[table] = all, numbers
	}
	v := version{x.Num("begin_snapshot"), x.Num("schema_version")}
	return superfluous(v, all, t.kept, t.numbers[table], func() (*sweep.IDs, error) { return t.beginsOf(ctx, table) })
}

// beginsOf are the snapshots in which data files of a table begin. They are read in the
// transaction that reads the registry: a flush that came since the run began has dated its
// files back, and taken its relation out of the registry.
func (t *trimmer) beginsOf(ctx context.Context, table int64) (*sweep.IDs, error) {
	ids, ok := t.begins[table]
	if ok {
		return ids, nil
	}
	ids = &sweep.IDs{}
	files := t.lake.Table("ducklake_data_file")
	begin := files.Column("begin_snapshot")
	err := files.Scan(ctx, func(x *meta.Row) error {
		if n, ok := begin.Int(x); ok {
			ids.Add(n)
		}
		return nil
	}, meta.Is("table_id", table))
	t.begins[table] = ids
	return ids, err
}

// idIn takes the table's id out of the name of a relation.
func idIn(name, prefix string) (int64, bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return 0, false
	}
	rest, _, _ = strings.Cut(rest, "_")
	id, err := strconv.ParseInt(rest, 10, 64)
	return id, err == nil
}
