package fsck

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/eiderdb/eider/lake"
)

// registration is a row of ducklake_inlined_data_tables.
type registration struct{ table, version int64 }

// inlinedDelete is a row of a relation of inlined deletes.
type inlinedDelete struct{ row, begin int64 }

// inlinedName takes apart the name of a relation of inlined rows.
func inlinedName(name string) (table, version int64, ok bool) {
	rest, ok := strings.CutPrefix(name, lake.InlinedDataPrefix)
	if !ok || name == lake.InlinedRegistry {
		return 0, 0, false
	}
	t, v, _ := strings.Cut(rest, "_")
	table, err1 := strconv.ParseInt(t, 10, 64)
	version, err2 := strconv.ParseInt(v, 10, 64)
	return table, version, err1 == nil && err2 == nil
}

func (c *checker) readRegistry() error {
	c.registry = map[string][]registration{}
	return c.r.Each(c.ctx, lake.InlinedRegistry, "table_id table_name schema_version", func(r *lake.Row) error {
		if !r.Has(0) || r.Text(1) == "" {
			c.find(NullID, r.Num(0), lake.InlinedRegistry, "the table or the name of a relation is NULL or empty")
			return nil
		}
		c.registry[r.Text(1)] = append(c.registry[r.Text(1)], registration{r.Num(0), r.Num(2)})
		return nil
	})
}

// inlinedTables tests the registry against the relations, and the rows in them.
func (c *checker) inlinedTables() error {
	if err := c.readRegistry(); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.registry)) {
		c.registered(name, c.registry[name])
	}
	byTable := map[int64][]string{}
	for _, name := range c.r.Relations() {
		id, _, ok := inlinedName(name)
		if regs := c.registry[name]; len(regs) > 0 && c.r.Column(name, "row_id") {
			id, ok = regs[0].table, true
		}
		if ok {
			byTable[id] = append(byTable[id], name)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(byTable)) {
		if err := c.inlinedRows(id, byTable[id]); err != nil {
			return err
		}
	}
	return nil
}

func register(name string, r registration) Change {
	return Change{Op: InsertRow, Relation: lake.InlinedRegistry, Rows: 1, Set: []Field{
		set("table_id", r.table), {Column: "table_name", Value: name}, set("schema_version", r.version),
	}}
}

// registered tests the registrations of one name.
func (c *checker) registered(name string, regs []registration) {
	remove := Change{Op: DeleteRows, Relation: lake.InlinedRegistry, Where: []Cond{text("table_name", name)}, Rows: int64(len(regs))}
	switch {
	case c.tables[regs[0].table] == nil:
		changes := []Change{remove}
		if _, _, ok := inlinedName(name); ok && c.r.Has(name) { // the row may name anything
			changes = append(changes, Change{Op: DropRelation, Relation: name})
		}
		c.add(Finding{Code: RegistryForeign, Object: name, Message: fmt.Sprintf("it is registered for table %d, which does not exist", regs[0].table)}, changes...)
	case !c.r.Has(name):
		c.add(Finding{Code: RegistryDangling, TableID: regs[0].table, Object: name, Message: "it is registered, but there is no such relation"}, remove)
	case len(regs) > 1:
		f := Finding{Code: RegistryTwice, TableID: regs[0].table, Object: name, Rows: int64(len(regs)), Message: fmt.Sprintf("it is registered %d times", len(regs))}
		for _, r := range regs {
			if r != regs[0] { // which of them is right is not known
				c.add(f)
				return
			}
		}
		c.add(f, remove, register(name, regs[0]))
	}
}

// inlinedRows reads the inlined rows of one table.
func (c *checker) inlinedRows(id int64, names []string) error {
	var live []int64
	t := c.tables[id]
	for _, name := range names {
		rows := int64(0)
		err := c.r.Each(c.ctx, name, "row_id begin_snapshot end_snapshot", func(r *lake.Row) error {
			c.rep.Counts.InlinedRows++
			rows++
			s := r.Span(1)
			if c.live(s) {
				live = append(live, r.Num(0))
			}
			if t == nil {
				return nil
			}
			if s.Begin > c.head.id || s.Ended && (s.End > c.head.id || s.End < s.Begin) {
				c.span(id, fmt.Sprintf("row %d of %s", r.Num(0), name), s)
			}
			t.top, t.past = max(t.top, r.Num(0)), max(t.past, r.Num(0)+1)
			return nil
		})
		if err != nil {
			return err
		}
		if len(c.registry[name]) == 0 {
			c.unregistered(id, name, rows)
		}
	}
	if t == nil {
		return nil
	}
	t.rows += int64(len(live))
	t.used = t.used || len(live) > 0
	slices.Sort(live)
	for i := 1; i < len(live); i++ {
		if live[i] == live[i-1] && (i == 1 || live[i-2] != live[i]) {
			c.find(RowIDTwice, id, fmt.Sprintf("row %d of table %d", live[i], id), "more than one live inlined row has the id")
		}
	}
	return nil
}

// unregistered is a relation of inlined rows that the registry does not name: rows of a
// table that are lost to its readers, or what a flush or DROP TABLE has left behind.
func (c *checker) unregistered(id int64, name string, rows int64) {
	_, version, ok := inlinedName(name)
	if t := c.tables[id]; ok && t != nil && rows > 0 {
		c.add(Finding{
			Code: RelationUnregistered, TableID: id, Object: name, Rows: rows,
			Message: fmt.Sprintf("it has %d rows and is not in %s", rows, lake.InlinedRegistry),
		}, register(name, registration{id, version}))
		return
	}
	c.add(Finding{Code: RelationLeaked, Object: name, Rows: rows, Message: fmt.Sprintf("it is not in %s, and no table needs it", lake.InlinedRegistry)},
		Change{Op: DropRelation, Relation: name})
}

// inlinedDeletes reads the relations of inlined deletes, one after the other.
func (c *checker) inlinedDeletes() error {
	if c.o.Files != nil {
		c.inlined = map[int64][]inlinedDelete{}
	}
	for _, name := range c.r.Relations() {
		rest, ok := strings.CutPrefix(name, lake.InlinedDeletePrefix)
		id, err := strconv.ParseInt(rest, 10, 64)
		if !ok || err != nil {
			continue
		}
		if c.tables[id] == nil {
			c.add(Finding{Code: RelationLeaked, Object: name, Message: fmt.Sprintf("table %d does not exist", id)}, Change{Op: DropRelation, Relation: name})
			continue
		}
		if err := c.deletesOf(id, name); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) deletesOf(id int64, name string) error {
	type del struct{ file, row, begin int64 }
	var all []del
	err := c.r.Each(c.ctx, name, "file_id row_id begin_snapshot", func(r *lake.Row) error {
		c.rep.Counts.InlinedDeletes++
		all = append(all, del{r.Num(0), r.Num(1), r.Num(2)})
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b del) int {
		for _, d := range []int{cmpInt(a.file, b.file), cmpInt(a.row, b.row), cmpInt(a.begin, b.begin)} {
			if d != 0 {
				return d
			}
		}
		return 0
	})
	// A file is there in the snapshot that deletes a row of it, and as long as that snapshot is: one
	// that is gone with the snapshot has expired. Expiry, DuckLake's and ours, leaves such deletes.
	left := orphans{c: c, code: InlinedDeleteOrphaned, relation: name, key: "file_id", what: "data files"}
	for i := 0; i < len(all); {
		d := all[i]
		n := i + 1
		for n < len(all) && all[n].file == d.file && all[n].row == d.row {
			n++
		}
		label := fmt.Sprintf("inlined delete of row %d of data file %d", d.row, d.file)
		remove := Change{Op: DeleteRows, Relation: name, Where: []Cond{is("file_id", d.file), is("row_id", d.row)}, Rows: int64(n - i)}
		f := c.file(d.file)
		if last := all[n-1].begin; last > c.head.id {
			c.find(BeginsAfterHead, id, label, "begins at %d, the newest snapshot is %d", last, c.head.id)
		}
		switch {
		case f == nil && !c.snapshot(all[n-1].begin):
			left.add(d.file)
		case f == nil:
			begin := d.begin
			c.add(Finding{Code: InlinedDeleteDangling, TableID: id, Object: label, Snapshot: &begin, Message: "the file does not exist"}, remove)
		case f.table != id:
			c.find(InlinedDeleteForeign, id, label, "it is of table %d, the file of table %d", id, f.table)
		case d.row < 0 || d.row >= f.records:
			c.find(InlinedDeletePosition, id, label, "the file has %d rows", f.records)
		case n-i > 1:
			c.add(Finding{Code: InlinedDeleteTwice, TableID: id, Object: label, Rows: int64(n - i), Message: fmt.Sprintf("it is deleted %d times", n-i)},
				remove, Change{Op: InsertRow, Relation: name, Rows: 1, Set: []Field{set("file_id", d.file), set("row_id", d.row), set("begin_snapshot", d.begin)}})
		}
		if f != nil && f.table == id {
			if c.live(f.span()) && d.begin <= c.head.id && d.row < f.records {
				c.deletedRows[f.id]++
			}
			if c.inlined != nil {
				c.inlined[f.id] = append(c.inlined[f.id], inlinedDelete{d.row, d.begin})
			}
		}
		i = n
	}
	left.report()
	return nil
}
