package fsck

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/lake/files"
	"github.com/eiderdb/eider/lake/paths"
)

// dataFile is a row of ducklake_data_file, without its path.
type dataFile struct {
	id, table, begin, end     int64
	records, start, partition int64
	columns                   uint64 // of the lowest 64 columns, those that have statistics
	keys                      uint64 // partition keys that have a value
	ended, hasStart, hasParts bool
}

func (f *dataFile) span() lake.Span { return lake.Span{Begin: f.begin, End: f.end, Ended: f.ended} }

// deleteFile is a row of ducklake_delete_file, without its path.
type deleteFile struct {
	id, table, data, begin, end, count int64
	ended                              bool
}

func (d *deleteFile) span() lake.Span { return lake.Span{Begin: d.begin, End: d.end, Ended: d.ended} }

// owner is the row that has a path.
type owner struct {
	id      int64
	deletes bool
	mapped  bool
}

func (o owner) String() string {
	if o.deletes {
		return fmt.Sprintf("delete file %d", o.id)
	}
	return fmt.Sprintf("data file %d", o.id)
}

const (
	dataFileColumns = "data_file_id table_id begin_snapshot end_snapshot path path_is_relative record_count file_size_bytes footer_size " +
		"row_id_start partition_id mapping_id encryption_key"
	deleteFileColumns = "delete_file_id table_id begin_snapshot end_snapshot path path_is_relative delete_count file_size_bytes footer_size " +
		"data_file_id format encryption_key"
)

func (c *checker) readFiles() error {
	c.paths = map[pathKey]owner{}
	err := c.r.Each(c.ctx, "ducklake_data_file", dataFileColumns, func(r *lake.Row) error {
		s := r.Span(2)
		f := dataFile{id: r.Num(0), table: r.Num(1), begin: s.Begin, end: s.End, ended: s.Ended, records: r.Num(6), start: r.Num(9), hasStart: r.Has(9)}
		f.partition, f.hasParts = r.Num(10), r.Has(10)
		label := fmt.Sprintf("data file %d", f.id)
		if !r.Has(0) || !r.Has(1) || !r.Has(2) {
			c.find(NullID, f.table, label, "its id, its table's or its begin_snapshot is NULL")
			return nil
		}
		c.files = append(c.files, f)
		c.fileID(f.table, label, f.id)
		c.span(f.table, label, s)
		c.sizes(f.table, label, "record_count", f.records, r.Num(7), r.Num(8))
		c.path(f.table, r.Text(4), r.Bool(5), owner{id: f.id, mapped: r.Has(11)})
		if of, ok := c.maps[r.Num(11)]; r.Has(11) && (!ok || of != f.table) {
			c.find(MappingUnknown, f.table, label, "the table has no column mapping %d", r.Num(11))
		}
		if t := c.tables[f.table]; t != nil && c.live(s) {
			t.bytes += r.Num(7)
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(c.files, func(a, b dataFile) int { return cmpInt(a.id, b.id) })
	err = c.r.Each(c.ctx, "ducklake_delete_file", deleteFileColumns, func(r *lake.Row) error {
		s := r.Span(2)
		d := deleteFile{id: r.Num(0), table: r.Num(1), data: r.Num(9), begin: s.Begin, end: s.End, ended: s.Ended, count: r.Num(6)}
		label := fmt.Sprintf("delete file %d", d.id)
		if !r.Has(0) || !r.Has(2) || !r.Has(9) {
			c.find(NullID, d.table, label, "its id, its data file's or its begin_snapshot is NULL")
			return nil
		}
		c.fileID(d.table, label, d.id)
		c.span(d.table, label, s)
		c.sizes(d.table, label, "delete_count", d.count, r.Num(7), r.Num(8))
		c.path(d.table, r.Text(4), r.Bool(5), owner{id: d.id, deletes: true})
		if c.file(d.data) == nil {
			c.dangling(&d, label, files.Place{Path: r.Text(4), Relative: r.Bool(5)})
			return nil
		}
		c.deletes = append(c.deletes, d)
		return nil
	})
	slices.SortStableFunc(c.deletes, func(a, b deleteFile) int {
		if d := cmpInt(a.data, b.data); d != 0 {
			return d
		}
		return cmpInt(a.begin, b.begin)
	})
	c.rep.Counts.DataFiles, c.rep.Counts.DeleteFiles = int64(len(c.files)), int64(len(c.deletes))
	return err
}

// file is the data file of an id.
func (c *checker) file(id int64) *dataFile {
	i := sort.Search(len(c.files), func(i int) bool { return c.files[i].id >= id })
	if i < len(c.files) && c.files[i].id == id {
		return &c.files[i]
	}
	return nil
}

func (c *checker) sizes(table int64, label, count string, records, bytes, footer int64) {
	for _, n := range []struct {
		name  string
		value int64
	}{{count, records}, {"file_size_bytes", bytes}, {"footer_size", footer}} {
		if n.value < 0 {
			c.find(NegativeCount, table, label, "%s is %d", n.name, n.value)
		}
	}
}

// resolve is where a file of a table is, by the newest path of its table.
func (c *checker) resolve(table int64, p files.Place) string {
	names, _ := c.layout.File(table, p)
	if len(names) == 0 {
		return p.Path
	}
	return names[len(names)-1]
}

// keyOf is what the path is compared by: its most exact normal form, or, where only its
// end is known, that.
func (c *checker) keyOf(path string) pathKey {
	if keys := paths.Keys(path); len(keys) > 0 {
		return c.hash.path(keys[0])
	}
	if tail, ok := paths.Tail(path); ok {
		path = tail
	}
	return c.hash.path("../" + path)
}

// path notes the path of a row, and reports another row that has it. Files that a client
// registers, which have a mapping, may be registered twice on purpose.
func (c *checker) path(table int64, path string, relative bool, o owner) {
	full := c.resolve(table, files.Place{Path: path, Relative: relative})
	key := c.keyOf(full)
	other, ok := c.paths[key]
	if !ok {
		c.paths[key] = o
		return
	}
	if other.mapped && o.mapped || other == o {
		return // the latter is an id that exists twice
	}
	c.add(Finding{Code: PathTwice, TableID: table, Object: o.String(), Path: full, Message: fmt.Sprintf("%s has the path %s too", other, full)})
}

// dangling is a delete file without its data file. Nothing reads it.
func (c *checker) dangling(d *deleteFile, label string, p files.Place) {
	f := Finding{
		Code: DeleteFileDangling, TableID: d.table, Object: label, Snapshot: &d.begin, Path: c.resolve(d.table, p),
		Message: fmt.Sprintf("data file %d does not exist", d.data),
	}
	remove := Change{Op: DeleteRows, Relation: "ducklake_delete_file", Where: []Cond{is("delete_file_id", d.id), is("data_file_id", d.data)}, Rows: 1}
	c.add(f, remove, Change{Op: InsertRow, Relation: "ducklake_files_scheduled_for_deletion", Rows: 1, Set: []Field{
		set("data_file_id", d.id), {Column: "path", Value: f.Path}, {Column: "path_is_relative", Value: "false"}, {Column: "schedule_start", Now: true},
	}})
}

func (c *checker) fileInvariants() error {
	for i := range c.files {
		f := &c.files[i]
		label := fmt.Sprintf("data file %d", f.id)
		if i > 0 && c.files[i-1].id == f.id {
			c.find(DataFileTwice, f.table, label, "the id exists more than once")
		}
		c.fileOfTable(f, label)
		if f.hasParts {
			list := c.parts[f.partition]
			if !slices.ContainsFunc(list, func(p partition) bool { return p.table == f.table }) {
				c.find(PartitionUnknown, f.table, label, "the table has no partitioning %d", f.partition)
			}
		}
		if first, ok := c.firstScheme(f.table); c.live(f.span()) && (!ok || first > f.begin) {
			c.find(SchemaVersion, f.table, label, "it begins at %d, and no row of ducklake_schema_versions for its table before", f.begin)
		}
	}
	c.deleteFiles()
	c.ranges()
	return nil
}

// firstScheme is the first snapshot for which a table's schema version is known. Formats
// before 0.3 have no such relation, 0.3 has rows for the whole lake.
func (c *checker) firstScheme(table int64) (int64, bool) {
	if !c.r.Has("ducklake_schema_versions") {
		return math.MinInt64, true
	}
	if first, ok := c.scheme[table]; ok {
		return first, true
	}
	if c.r.Column("ducklake_schema_versions", "table_id") {
		return 0, false
	}
	first, ok := c.scheme[0]
	return first, ok
}

// fileOfTable tests a file against its table, and adds it to what the table has.
func (c *checker) fileOfTable(f *dataFile, label string) {
	t := c.tables[f.table]
	if t == nil {
		c.find(RefersToMissing, f.table, label, "table %d does not exist", f.table)
		return
	}
	if f.hasStart && f.records > 0 {
		// The ids after the first may be others: those inside of the file, or with gaps.
		t.top, t.past = max(t.top, f.start), max(t.past, f.start+f.records)
	}
	t.noStarts = t.noStarts || !f.hasStart
	if !c.live(f.span()) {
		return
	}
	t.used = true
	t.rows += max(f.records, 0)
	// A client that writes to a table and drops it in one transaction leaves the file's row live.
	if !t.live && t.ended != f.begin {
		c.find(RefersToEnded, f.table, label, "its table has ended")
	}
}

func (c *checker) deleteFiles() {
	all := c.deletes
	c.deletedRows = map[int64]int64{}
	ids := map[int64]bool{}
	for i := range all {
		d := &all[i]
		label := fmt.Sprintf("delete file %d", d.id)
		if ids[d.id] {
			c.find(DeleteFileTwice, d.table, label, "the id exists more than once")
		}
		ids[d.id] = true
		f := c.file(d.data)
		if f.table != d.table {
			c.find(DeleteFileForeign, d.table, label, "it is of table %d, its data file %d of table %d", d.table, f.id, f.table)
		}
		if d.count > f.records {
			c.find(DeleteCount, d.table, label, "deletes %d of %d rows", d.count, f.records)
		} else if c.live(d.span()) && c.live(f.span()) {
			c.deletedRows[f.id] += d.count
		}
	}
	same := func(i, j int) bool { return all[i].data == all[j].data }
	for _, o := range overlaps(len(all), same, func(i int) lake.Span { return all[i].span() }) {
		a, b := &all[o.a], &all[o.b]
		// A delete file has all deletes of those before it: one that has fewer says something else.
		c.overlap(a.table, fmt.Sprintf("delete files %d and %d of data file %d", a.id, b.id, a.data), a.span(), b.span(), o.mend && b.count >= a.count,
			endAt("ducklake_delete_file", a.span(), b.begin, is("delete_file_id", a.id)))
	}
}

// ranges compares the row ids of live data files, as the catalog has them.
func (c *checker) ranges() {
	order := make([]int32, 0, len(c.files))
	for i := range c.files {
		if f := &c.files[i]; f.hasStart && f.records > 0 && c.live(f.span()) {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(i, j int32) int {
		a, b := &c.files[i], &c.files[j]
		if d := cmpInt(a.table, b.table); d != 0 {
			return d
		}
		if d := cmpInt(a.start, b.start); d != 0 {
			return d
		}
		return cmpInt(a.id, b.id)
	})
	for k := 1; k < len(order); k++ {
		a, b := &c.files[order[k-1]], &c.files[order[k]]
		if a.table == b.table && a.start+a.records > b.start {
			c.find(RowIDRange, a.table, fmt.Sprintf("data file %d", b.id), "row ids %d to %d, data file %d has %d to %d",
				b.start, b.start+b.records-1, a.id, a.start, a.start+a.records-1)
		}
	}
}

// deletedCounts tests that no file has more rows deleted than it has rows, and takes them
// from what the table has.
func (c *checker) deletedCounts() error {
	for _, id := range slices.Sorted(maps.Keys(c.deletedRows)) {
		n := c.deletedRows[id]
		f := c.file(id)
		if f == nil {
			continue
		}
		if t := c.tables[f.table]; t != nil {
			t.deleted += min(n, max(f.records, 0))
		}
		if n > f.records {
			c.find(DeleteCount, f.table, fmt.Sprintf("data file %d", id), "%d of %d rows are deleted, by delete files and inlined", n, f.records)
		}
	}
	return nil
}
