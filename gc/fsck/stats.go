package fsck

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"github.com/eiderdb/eider/lake"
)

// firstInternal is where the ids of DuckLake's own columns begin.
const firstInternal = 2147483000

// fileStatistics reads the statistics of files: the relation that is largest in most lakes.
func (c *checker) fileStatistics() error {
	relation := "ducklake_file_column_stats"
	if !c.r.Has(relation) {
		relation = "ducklake_file_column_statistics" // before 0.3
	}
	isFile := func(id int64) bool { return c.file(id) != nil }
	orphaned := orphans{c: c, code: FileStatsOrphaned, relation: relation, key: "data_file_id", what: "data files"}
	more := map[*dataFile]map[int64]bool{} // of columns beyond the lowest 64
	var last *dataFile
	err := c.r.Each(c.ctx, relation, "data_file_id table_id column_id value_count null_count", func(r *lake.Row) error {
		c.rep.Counts.StatisticsRows++
		id, of, col := r.Num(0), r.Num(1), r.Num(2)
		if last == nil || last.id != id {
			if last = c.file(id); last == nil {
				orphaned.add(id)
				return nil
			}
		}
		f := last
		label := fmt.Sprintf
		if of != f.table {
			c.find(FileStatsForeign, f.table, label("statistics of data file %d", id), "they say table %d, the file is of table %d", of, f.table)
			return nil
		}
		twice := false
		if 0 <= col && col < 64 {
			twice = f.columns>>col&1 != 0
			f.columns |= 1 << col
		} else {
			if more[f] == nil {
				more[f] = map[int64]bool{}
			}
			twice = more[f][col]
			more[f][col] = true
		}
		if twice {
			c.find(FileStatsTwice, f.table, label("statistics of column %d of data file %d", col, id), "they exist more than once")
		}
		i, ok := c.columnAt(of, col)
		switch {
		case col >= firstInternal:
		case !ok && c.tables[of] != nil:
			c.find(FileStatsColumn, f.table, label("statistics of column %d of data file %d", col, id), "the table has no such column, and had none")
		case ok && c.flat(i) && r.Has(3) && r.Num(3)+r.Num(4) > f.records && f.records >= 0:
			c.find(FileStatsCount, f.table, label("statistics of column %d of data file %d", col, id),
				"%d values and %d NULLs in a file of %d rows", r.Num(3), r.Num(4), f.records)
		}
		return nil
	})
	if err != nil {
		return err
	}
	orphaned.report()
	return c.wholes(FileStatsOrphaned, "ducklake_file_variant_stats", "data_file_id", "data files", isFile)
}

// flat says whether the column at place i has no parts and is no part: its values are the
// file's rows.
func (c *checker) flat(i int) bool {
	x := &c.columns[i]
	if x.hasParent {
		return false
	}
	for j := i + 1; j < len(c.columns) && c.columns[j].table == x.table; j++ {
		if c.columns[j].hasParent && c.columns[j].parent == x.id {
			return false
		}
	}
	return true
}

func (c *checker) partitionValues() error {
	const relation = "ducklake_file_partition_value"
	orphaned := orphans{c: c, code: PartitionValueOrphaned, relation: relation, key: "data_file_id", what: "data files"}
	err := c.r.Each(c.ctx, relation, "data_file_id table_id partition_key_index", func(r *lake.Row) error {
		c.rep.Counts.StatisticsRows++
		id, of, key := r.Num(0), r.Num(1), r.Num(2)
		f := c.file(id)
		if f == nil {
			orphaned.add(id)
			return nil
		}
		label := fmt.Sprintf("partition value %d of data file %d", key, id)
		if of != f.table {
			c.find(PartitionValueForeign, f.table, label, "it says table %d, the file is of table %d", of, f.table)
		}
		if key < 0 || key > 63 {
			return nil
		}
		if f.keys>>key&1 != 0 {
			c.find(PartitionValueTwice, f.table, label, "it exists more than once")
		}
		f.keys |= 1 << key
		return nil
	})
	if err != nil {
		return err
	}
	orphaned.report()
	for i := range c.files {
		f := &c.files[i]
		if !f.hasParts {
			continue
		}
		for _, p := range c.parts[f.partition] {
			if n := int64(bits.OnesCount64(f.keys)); p.table == f.table && n < min(p.keys, 64) {
				c.find(PartitionValueMissing, f.table, fmt.Sprintf("data file %d", f.id), "it has %d values of the %d keys of partitioning %d", n, p.keys, f.partition)
				break
			}
		}
	}
	return nil
}

// tableStatistics reads ducklake_table_stats and ducklake_table_column_stats. What tables
// have is compared with them when the inlined rows are known too.
func (c *checker) tableStatistics() error {
	isTable := func(id int64) bool { return c.tables[id] != nil }
	type sums struct{ rows, records, next, bytes int64 }
	all := map[int64]sums{}
	err := c.r.Each(c.ctx, "ducklake_table_stats", "table_id record_count next_row_id file_size_bytes", func(r *lake.Row) error {
		id := r.Num(0)
		label := fmt.Sprintf("statistics of table %d", id)
		for i, name := range []string{"record_count", "next_row_id", "file_size_bytes"} {
			if n := r.Num(i + 1); n < 0 {
				c.find(NegativeCount, id, label, "%s is %d", name, n)
			}
		}
		s := all[id]
		all[id] = sums{s.rows + 1, max(s.records, r.Num(1)), max(s.next, r.Num(2)), max(s.bytes, r.Num(3))}
		if t := c.tables[id]; t != nil {
			t.stats++
			t.records, t.next = all[id].records, all[id].next
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if s := all[id]; s.rows > 1 {
			c.add(Finding{
				Code: TableStatsTwice, TableID: id, Object: fmt.Sprintf("statistics of table %d", id), Rows: s.rows,
				Message: fmt.Sprintf("there are %d rows", s.rows),
			},
				Change{Op: DeleteRows, Relation: "ducklake_table_stats", Where: []Cond{is("table_id", id)}, Rows: s.rows},
				statsRow(id, s.records, s.next, s.bytes))
		}
	}
	type key struct{ table, column int64 }
	columns := map[key]bool{}
	err = c.r.Each(c.ctx, "ducklake_table_column_stats", "table_id column_id", func(r *lake.Row) error {
		k := key{r.Num(0), r.Num(1)}
		if columns[k] {
			c.find(ColumnStatsTwice, k.table, fmt.Sprintf("statistics of column %d of table %d", k.column, k.table), "there is more than one row")
		}
		columns[k] = true
		return nil
	})
	if err != nil {
		return err
	}
	for _, relation := range []string{"ducklake_table_stats", "ducklake_table_column_stats"} {
		if err := c.wholes(TableStatsOrphaned, relation, "table_id", "tables", isTable); err != nil {
			return err
		}
	}
	return nil
}

func statsRow(id, records, next, bytes int64) Change {
	return Change{Op: InsertRow, Relation: "ducklake_table_stats", Rows: 1, Set: []Field{
		set("table_id", id), set("record_count", records), set("next_row_id", next), set("file_size_bytes", bytes),
	}}
}

// compareStatistics compares what each table has with its row of ducklake_table_stats.
func (c *checker) compareStatistics() error {
	for _, id := range slices.Sorted(maps.Keys(c.tables)) {
		t := c.tables[id]
		label := fmt.Sprintf("table %d", id)
		if t.stats == 0 {
			if !t.used || !t.live || !c.r.Has("ducklake_table_stats") {
				continue
			}
			f := Finding{Code: TableStatsMissing, TableID: id, Object: label, Message: fmt.Sprintf("it has %d rows and no row in ducklake_table_stats", t.rows)}
			if t.noStarts || t.past <= t.top { // ids that only the files know, or none are left
				c.add(f)
				continue
			}
			c.add(f, statsRow(id, t.rows, t.past, t.bytes))
			continue
		}
		if t.top >= t.next {
			f := Finding{
				Code: RowIDBeyondCounter, TableID: id, Object: label, Message: fmt.Sprintf("row id %d is in use, next_row_id is %d", t.top, t.next),
			}
			if t.past > t.top {
				c.add(f, c.raiseStats(id, "next_row_id", t.next, t.past, t.stats))
			} else { // no id is left
				c.add(f)
			}
		}
		// Rows that are deleted do not have to be counted: a rewrite leaves out those that are inlined, and a
		// flush then writes them to a file.
		if rows := t.rows - t.deleted; t.live && t.records < rows {
			c.add(Finding{
				Code: RecordCount, TableID: id, Object: label, Message: fmt.Sprintf("record_count is %d, files and inlined rows have %d", t.records, rows),
			}, c.raiseStats(id, "record_count", t.records, rows, t.stats))
		}
	}
	return nil
}

func (c *checker) raiseStats(id int64, counter string, was, to int64, rows int) Change {
	where := []Cond{is("table_id", id)}
	if rows == 1 {
		where = append(where, is(counter, was))
	}
	return Change{Op: UpdateRows, Relation: "ducklake_table_stats", Where: where, Set: []Field{set(counter, to)}, Rows: int64(rows)}
}
