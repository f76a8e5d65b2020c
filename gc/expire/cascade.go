package expire

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/sweep"
	"github.com/eiderdb/eider/lake"
)

// The tables whose rows go with the data file, and with the table, that they are of.
var (
	ofFile  = []string{"ducklake_file_column_stats", "ducklake_file_variant_stats", "ducklake_file_partition_value"}
	ofTable = []string{
		"ducklake_table", "ducklake_table_stats", "ducklake_table_column_stats", "ducklake_partition_info",
		"ducklake_partition_column", "ducklake_column", "ducklake_column_tag", "ducklake_sort_info", "ducklake_sort_expression",
		"ducklake_schema_versions", "ducklake_inlined_data_tables", "ducklake_column_mapping",
	}
	// versioned are the tables whose rows go when they have ended, each by itself. Those of
	// a table's parts (columns, partitions, tags of columns) stay as long as the table.
	versioned = []string{"ducklake_schema", "ducklake_view", "ducklake_view_column_tag", "ducklake_tag", "ducklake_macro"}
	// owned are tables whose rows go when no row of the owner has their id.
	owned = []struct{ table, owner, id string }{
		{"ducklake_macro_impl", "ducklake_macro", "macro_id"},
		{"ducklake_macro_parameters", "ducklake_macro", "macro_id"},
		{"ducklake_name_mapping", "ducklake_column_mapping", "mapping_id"},
	}
)

// cascade removes rows that no kept snapshot sees, in an order in which each transaction
// leaves a healthy lake: files before their tables, delete files with their data files.
type cascade struct {
	kept *sweep.IDs
	dead *sweep.IDs // tables of which no kept snapshot sees a version

	// of the present transaction
	lake    meta.Lake
	sched   *scheduler
	files   *sweep.IDs    // data files that it removes
	columns map[int64]int // see columnsOf
}

// begin starts a transaction.
func (c *cascade) begin(ctx context.Context, l meta.Lake, now time.Time) (err error) {
	c.lake, c.files, c.columns = l, &sweep.IDs{}, map[int64]int{}
	c.sched, err = newScheduler(ctx, l, now)
	return err
}

// steps are the walks of the cascade, in their order.
func (c *cascade) steps(ctx context.Context, l meta.Lake) ([]sweep.Walk, error) {
	var err error
	if c.dead, err = c.deadTables(ctx, l); err != nil {
		return nil, err
	}
	var out []sweep.Walk
	for _, f := range []struct {
		table string
		row   func(ctx context.Context, x *meta.Row, res *gc.Result) (int, error)
	}{{"ducklake_data_file", c.dataFile}, {"ducklake_delete_file", c.deleteFile}} {
		t := l.Table(f.table)
		if !t.Has("table_id", "begin_snapshot", "end_snapshot") {
			continue
		}
		s := sweep.Walk{Table: f.table, Ranges: [][]meta.Cond{}, Row: func(x *meta.Row, res *gc.Result) (int, error) { return f.row(ctx, x, res) }}
		tables, err := t.Distinct(ctx, "table_id")
		if err != nil {
			return nil, err
		}
		for _, id := range tables {
			if c.dead.Has(id) {
				s.Ranges = append(s.Ranges, []meta.Cond{meta.Is("table_id", id)})
			} else {
				s.Ranges = append(s.Ranges, []meta.Cond{meta.Is("table_id", id), meta.NotNull("end_snapshot")})
			}
		}
		if f.table == "ducklake_data_file" {
			s.End = func(_ meta.Lake, res *gc.Result) error { return c.ofFiles(ctx, res) }
		}
		out = append(out, s)
	}
	tables := sweep.Walk{Table: "ducklake_table", Ranges: [][]meta.Cond{}, Row: func(x *meta.Row, res *gc.Result) (int, error) { return c.table(ctx, x, res) }}
	for _, r := range c.dead.Ranges() {
		for id := r.First; id <= r.Last; id++ {
			tables.Ranges = append(tables.Ranges, []meta.Cond{meta.Is("table_id", id)})
		}
	}
	out = append(out, tables)
	for _, name := range versioned {
		if l.Table(name).Has("begin_snapshot", "end_snapshot") {
			out = append(out, sweep.Walk{Table: name, Row: c.version})
		}
	}
	for _, o := range owned {
		if l.Table(o.table).Has(o.id) && l.Table(o.owner).Has(o.id) {
			out = append(out, c.orphans(ctx, o.table, o.owner, o.id))
		}
	}
	return out, nil
}

// deadTables are the tables that no kept snapshot sees.
func (c *cascade) deadTables(ctx context.Context, l meta.Lake) (*sweep.IDs, error) {
	t := l.Table("ducklake_table")
	if !t.Has("table_id", "begin_snapshot", "end_snapshot") {
		return &sweep.IDs{}, nil
	}
	all, alive := &sweep.IDs{}, &sweep.IDs{}
	err := t.Scan(ctx, func(x *meta.Row) error {
		id, ok := x.Int("table_id")
		if !ok {
			return nil
		}
		all.Add(id)
		if !sweep.Dead(x.Span(), c.kept) {
			alive.Add(id)
		}
		return nil
	})
	return all.Without(alive), err
}

// dataFile removes the row of a data file. What is of the file goes at the end of the
// transaction, for all its files together: ofFiles.
func (c *cascade) dataFile(ctx context.Context, x *meta.Row, res *gc.Result) (int, error) {
	id, ok := x.Int("data_file_id")
	table := x.Num("table_id")
	if !ok || !sweep.Dead(x.Span(), c.kept) && !c.dead.Has(table) {
		return 0, nil
	}
	c.count(x, "data file", id, res)
	if err := c.sched.add(ctx, x, id); err != nil {
		return 0, err
	}
	c.files.Add(id)
	columns, err := c.columnsOf(ctx, table)
	if err != nil {
		return 0, err
	}
	return 2 + columns, x.Delete()
}

// columnsOf is how many columns a table has had: rows of statistics that a file may have.
func (c *cascade) columnsOf(ctx context.Context, table int64) (int, error) {
	n, ok := c.columns[table]
	if ok {
		return n, nil
	}
	ids := &sweep.IDs{}
	err := c.lake.Table("ducklake_column").Scan(ctx, func(x *meta.Row) error {
		ids.Add(x.Num("column_id"))
		return nil
	}, meta.Is("table_id", table))
	c.columns[table] = int(ids.Len())
	return int(ids.Len()), err
}

// ofFiles removes what is of the files that the transaction has removed: the ids of most
// are in a row, and so are the keys of what is theirs.
func (c *cascade) ofFiles(ctx context.Context, res *gc.Result) error {
	each := func(name string, fn func(x *meta.Row) error) error {
		t, ranges := c.lake.Table(name), c.files.Ranges()
		if len(ranges) > 1 { // else that is found out as cheaply by looking
			if _, some, err := t.One(ctx); !some || err != nil {
				return err
			}
		}
		for _, r := range ranges {
			if err := t.Scan(ctx, fn, meta.From("data_file_id", r.First), meta.Upto("data_file_id", r.Last)); err != nil {
				return err
			}
		}
		return nil
	}
	for _, name := range ofFile {
		if err := each(name, (*meta.Row).Delete); err != nil {
			return err
		}
	}
	return each("ducklake_delete_file", func(d *meta.Row) error { return c.removeDeleteFile(ctx, d, res) })
}

// deleteFile removes the row of a delete file whose data file stays, or never was.
func (c *cascade) deleteFile(ctx context.Context, x *meta.Row, res *gc.Result) (int, error) {
	if !sweep.Dead(x.Span(), c.kept) && !c.dead.Has(x.Num("table_id")) {
		return 0, nil
	}
	return 2, c.removeDeleteFile(ctx, x, res)
}

func (c *cascade) removeDeleteFile(ctx context.Context, x *meta.Row, res *gc.Result) error {
	id, ok := x.Int("delete_file_id")
	if !ok {
		return nil
	}
	c.count(x, "delete file", id, res)
	if err := c.sched.add(ctx, x, id); err != nil {
		return err
	}
	return x.Delete()
}

func (c *cascade) count(x *meta.Row, what string, id int64, res *gc.Result) {
	size := x.Num("file_size_bytes")
	res.Count(what+"s", 1)
	res.Bytes += size
	res.Add(gc.Item{What: what, ID: id, Path: x.Text("path"), Bytes: size})
}

// removeWhere removes the rows of a table with an id.
func (c *cascade) removeWhere(ctx context.Context, table, column string, id int64) (n int, err error) {
	err = c.lake.Table(table).Scan(ctx, func(x *meta.Row) error {
		n++
		return x.Delete()
	}, meta.Is(column, id))
	return n, err
}

// table removes a table of which nothing is left to see, at the first of its versions.
func (c *cascade) table(ctx context.Context, x *meta.Row, res *gc.Result) (int, error) {
	id, ok := x.Int("table_id")
	if !ok {
		return 0, nil
	}
	// The walk meets every version; the rows are there for the first only.
	left, alive, first := 0, false, false
	err := c.lake.Table("ducklake_table").Scan(ctx, func(v *meta.Row) error {
		if left == 0 {
			first = v.ID == x.ID
		}
		left++
		alive = alive || !sweep.Dead(v.Span(), c.kept)
		return nil
	}, meta.Is("table_id", id))
	if err != nil || alive || !first {
		return 0, err
	}
	res.Count("tables", 1)
	res.Add(gc.Item{What: "table", ID: id, Path: x.Text("table_name")})
	names := []string{fmt.Sprint(lake.InlinedDeletePrefix, id)}
	err = c.lake.Table(lake.InlinedRegistry).Scan(ctx, func(r *meta.Row) error {
		if name := r.Text("table_name"); strings.HasPrefix(name, fmt.Sprintf("%s%d_", lake.InlinedDataPrefix, id)) {
			names = append(names, name)
		}
		return nil
	}, meta.Is("table_id", id))
	if err != nil {
		return 0, err
	}
	wrote := 0
	for _, name := range ofTable {
		n, err := c.removeWhere(ctx, name, "table_id", id)
		if err != nil {
			return 0, err
		}
		wrote += n
	}
	for _, name := range names {
		if !c.lake.Table(name).Exists() {
			continue
		}
		if err := c.lake.DropTable(name); err != nil {
			return 0, err
		}
		res.Count("relations", 1)
		wrote += sweep.DropCost
	}
	return wrote, nil
}

// version removes a row that has ended.
func (c *cascade) version(x *meta.Row, res *gc.Result) (int, error) {
	if !sweep.Dead(x.Span(), c.kept) {
		return 0, nil
	}
	res.Count("rows of "+x.Table.Name(), 1)
	return 1, x.Delete()
}

// orphans removes the rows of a table whose owner is gone.
func (c *cascade) orphans(ctx context.Context, table, owner, column string) sweep.Walk {
	var owners *sweep.IDs
	return sweep.Walk{
		Table: table,
		Begin: func(l meta.Lake, _ *gc.Result) (err error) {
			owners, err = sweep.IDsOf(ctx, l.Table(owner), column)
			return err
		},
		Row: func(x *meta.Row, res *gc.Result) (int, error) {
			if id, ok := x.Int(column); !ok || owners.Has(id) {
				return 0, nil
			}
			res.Count("rows of "+x.Table.Name(), 1)
			return 1, x.Delete()
		},
	}
}
