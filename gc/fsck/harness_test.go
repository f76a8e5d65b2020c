package fsck_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/eiderdb/eider/gc/fsck"
	"github.com/eiderdb/eider/lake"
)

// tables is a lake of literal rows: "relation: col col" followed by one line a row, fields
// split by blanks, "-" for NULL.
type tables map[string]*rows

type rows struct {
	cols []string
	rows [][]string
}

func parse(text string) tables {
	out := tables{}
	var cur *rows
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case strings.HasSuffix(f[0], ":"):
			cur = &rows{cols: f[1:]}
			out[strings.TrimSuffix(f[0], ":")] = cur
		default:
			if len(f) != len(cur.cols) {
				panic(fmt.Sprintf("%q has not %d fields", line, len(cur.cols)))
			}
			cur.rows = append(cur.rows, f)
		}
	}
	return out
}

func (s tables) clone() tables {
	out := tables{}
	for name, r := range s {
		c := &rows{cols: r.cols}
		for _, row := range r.rows {
			c.rows = append(c.rows, slices.Clone(row))
		}
		out[name] = c
	}
	return out
}

func (s tables) Relations(context.Context) (map[string][]string, error) {
	out := map[string][]string{}
	for name, r := range s {
		out[name] = r.cols
	}
	return out, nil
}

func (s tables) Rows(_ context.Context, relation string, columns []string, fn func([]*string) error) error {
	r := s[relation]
	v := make([]*string, len(columns))
	for _, row := range r.rows {
		for i, c := range columns {
			text := row[slices.Index(r.cols, c)]
			if v[i] = &text; text == "-" {
				v[i] = nil
			}
		}
		if err := fn(v); err != nil {
			return err
		}
	}
	return nil
}

// writer makes repairs in tables, as a server does.
type writer struct {
	t           tables
	checkpoints int
	log         []string
	err         error        // of the next Apply
	before      func(tables) // called by each Apply
}

func (w *writer) Checkpoint(context.Context) (string, error) {
	w.checkpoints++
	return "checkpoint-1", nil
}

func (w *writer) Apply(_ context.Context, r *fsck.Repair) error {
	if w.before != nil {
		w.before(w.t)
	}
	if w.err != nil {
		return w.err
	}
	if !r.Steady && w.t.head() != r.Head {
		return fsck.ErrMoved
	}
	next := w.t.clone()
	for i := range r.Changes {
		c := &r.Changes[i]
		n, err := next.apply(c)
		if err != nil {
			return err
		}
		if c.Rows != fsck.Any && n != c.Rows {
			return fmt.Errorf("%w: %d rows, not %d: %s", fsck.ErrMoved, n, c.Rows, c.SQL("public"))
		}
	}
	w.log = append(w.log, string(r.Code))
	maps.DeleteFunc(w.t, func(name string, _ *rows) bool { return next[name] == nil })
	maps.Copy(w.t, next)
	return nil
}

func (s tables) head() int64 {
	top := int64(-1)
	for _, row := range s["ducklake_snapshot"].rows {
		id, _ := strconv.ParseInt(row[0], 10, 64)
		top = max(top, id)
	}
	return top
}

func (s tables) apply(c *fsck.Change) (n int64, err error) {
	r := s[c.Relation]
	if r == nil {
		return 0, fmt.Errorf("no relation %s", c.Relation)
	}
	field := func(f *fsck.Field) string {
		switch {
		case f.Null:
			return "-"
		case f.Now:
			return "2027-01-01"
		}
		return f.Value
	}
	hit := func(row []string) bool {
		for _, w := range c.Where {
			v := row[slices.Index(r.cols, w.Column)]
			if len(w.In) == 0 && v != "-" || len(w.In) > 0 && !slices.Contains(w.In, v) {
				return false
			}
		}
		return len(c.Where) > 0
	}
	switch c.Op {
	case fsck.DeleteRows:
		was := len(r.rows)
		r.rows = slices.DeleteFunc(r.rows, hit)
		n = int64(was - len(r.rows))
	case fsck.UpdateRows:
		for _, row := range r.rows {
			if hit(row) {
				n++
				for i := range c.Set {
					row[slices.Index(r.cols, c.Set[i].Column)] = field(&c.Set[i])
				}
			}
		}
	case fsck.InsertRow:
		row := slices.Repeat([]string{"-"}, len(r.cols))
		for i := range c.Set {
			row[slices.Index(r.cols, c.Set[i].Column)] = field(&c.Set[i])
		}
		r.rows = append(r.rows, row)
		n = 1
	case fsck.DropRelation:
		delete(s, c.Relation)
		n = c.Rows
	}
	return n, nil
}

func check(t *testing.T, src lake.Source, o fsck.Options) *fsck.Report {
	t.Helper()
	rep, err := fsck.Check(context.Background(), src, o)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// codes are those of a report's findings, each once, in order.
func codes(rep *fsck.Report) string {
	var out []string
	for _, f := range rep.Findings {
		out = append(out, string(f.Code))
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

// healthy is a lake with one of everything.
const healthy = `
ducklake_metadata: key value scope
 version 1.0 -
 data_path /lake/ -
ducklake_snapshot: snapshot_id snapshot_time schema_version next_catalog_id next_file_id
 0 2026-01-01 0 1 0
 1 2026-01-02 1 9 8
 2 2026-01-03 1 9 9
ducklake_snapshot_changes: snapshot_id changes_made author commit_message commit_extra_info
 0 - - - -
 1 created_table:"main"."t" - - -
 2 deleted_from_table:1 - - -
ducklake_schema: schema_id schema_name path path_is_relative begin_snapshot end_snapshot
 0 main main/ t 0 -
ducklake_table: table_id schema_id table_name path path_is_relative begin_snapshot end_snapshot
 1 0 old t/ t 1 2
 1 0 t t/ t 2 -
 3 0 dropped d/ t 1 2
ducklake_view: view_id schema_id view_name begin_snapshot end_snapshot
 2 0 v 1 -
ducklake_macro: schema_id macro_id macro_name begin_snapshot end_snapshot
 0 4 m 1 -
ducklake_macro_impl: macro_id impl_id dialect sql type
 4 0 duckdb 1 scalar
ducklake_macro_parameters: macro_id impl_id column_id parameter_name
 4 0 0 x
ducklake_column: column_id table_id column_name parent_column begin_snapshot end_snapshot
 1 1 a - 1 -
 2 1 b - 1 2
 3 1 s - 1 -
 4 1 a 3 1 -
 1 3 a - 1 2
ducklake_partition_info: partition_id table_id begin_snapshot end_snapshot
 5 1 1 -
ducklake_partition_column: partition_id table_id partition_key_index column_id transform
 5 1 0 1 identity
ducklake_sort_info: sort_id table_id begin_snapshot end_snapshot
 6 1 1 -
ducklake_sort_expression: sort_id table_id sort_key_index expression
 6 1 0 a
ducklake_tag: object_id begin_snapshot end_snapshot key value
 1 1 2 comment x
 1 2 - comment y
ducklake_column_tag: table_id column_id begin_snapshot end_snapshot key value
 1 1 1 2 comment x
 1 1 2 - comment y
ducklake_column_mapping: mapping_id table_id type
 7 1 map_by_name
ducklake_name_mapping: mapping_id column_id source_name
 7 0 a
ducklake_schema_versions: begin_snapshot schema_version table_id
 1 1 1
ducklake_data_file: data_file_id table_id begin_snapshot end_snapshot path path_is_relative file_format record_count file_size_bytes footer_size row_id_start partition_id mapping_id encryption_key partial_max
 0 1 1 - f0 t parquet 10 100 10 0 5 7 - -
 1 1 1 2 f1 t parquet 10 100 10 10 - - - -
ducklake_delete_file: delete_file_id table_id begin_snapshot end_snapshot data_file_id path path_is_relative format delete_count file_size_bytes footer_size encryption_key partial_max
 2 1 1 2 0 d2 t parquet 3 100 10 - -
 3 1 2 - 0 d3 t parquet 4 100 10 - -
ducklake_file_column_stats: data_file_id table_id column_id value_count null_count
 0 1 1 10 0
 0 1 2 9 1
 1 1 1 10 0
ducklake_file_variant_stats: data_file_id table_id column_id
 0 1 1
ducklake_file_partition_value: data_file_id table_id partition_key_index partition_value
 0 1 0 x
ducklake_table_stats: table_id record_count next_row_id file_size_bytes
 1 21 22 200
ducklake_table_column_stats: table_id column_id contains_null
 1 1 f
ducklake_files_scheduled_for_deletion: data_file_id path path_is_relative schedule_start
 8 main/t/gone t 2026-01-03
ducklake_inlined_data_tables: table_id table_name schema_version
 1 ducklake_inlined_data_1_1 1
ducklake_inlined_data_1_1: row_id begin_snapshot end_snapshot
 20 1 2
 20 2 -
ducklake_inlined_delete_1: file_id row_id begin_snapshot
 0 7 2
`

func edit(t *testing.T, from, to string) string {
	t.Helper()
	if !strings.Contains(healthy, from) {
		t.Fatalf("the healthy lake has no %q", from)
	}
	return strings.Replace(healthy, from, to, 1)
}

func sorted(words string) string {
	f := strings.Fields(words)
	slices.Sort(f)
	return strings.Join(f, " ")
}
