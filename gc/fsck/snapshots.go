package fsck

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/eiderdb/eider/lake"
)

// snap is a snapshot.
type snap struct {
	id, micros             int64
	schema, catalog, files int64 // schema_version, next_catalog_id, next_file_id
	changes, nulls         bool  // it has a row of changes; one of its columns is NULL
}

// unknownTime is the time of a snapshot that has none.
const unknownTime = math.MinInt64

const optionRelation = "ducklake_metadata"

// optionKey is what an option is set for.
type optionKey struct {
	key, scope string
	hasScope   bool
	id         int64
	hasID      bool
}

func (c *checker) options() error {
	versions := 0
	count := map[optionKey]int64{}
	last := map[optionKey]Field{}
	err := c.r.Each(c.ctx, optionRelation, "key value scope scope_id", func(r *lake.Row) error {
		k := optionKey{r.Text(0), r.Text(2), r.Has(2), r.Num(3), r.Has(3)}
		count[k]++
		last[k] = Field{Column: "value", Value: r.Text(1), Null: !r.Has(1)}
		if r.Text(2) != "" {
			return nil
		}
		switch r.Text(0) {
		case "version":
			c.version = r.Text(1)
			versions++
		case "data_path":
			c.dataPath = r.Text(1)
		}
		return nil
	})
	if versions == 0 && err == nil {
		c.find(VersionUnknown, 0, optionRelation, "there is no row of the key version")
	}
	for k, n := range count {
		if n > 1 {
			c.optionTwice(k, n, last[k])
		}
	}
	if c.o.DataPath != "" {
		c.dataPath = c.o.DataPath
	}
	c.rep.Version = c.version
	return err
}

// optionTwice leaves the last row of an option: clients read them in their order, and each takes
// the place of the one before.
func (c *checker) optionTwice(k optionKey, rows int64, stays Field) {
	object := "option " + k.key
	where := []Cond{text("key", k.key)}
	values := []Field{{Column: "key", Value: k.key}, stays}
	if c.r.Column(optionRelation, "scope") {
		scope := Cond{Column: "scope"}
		if k.hasScope {
			scope = text("scope", k.scope)
			object += " of " + k.scope
		}
		where, values = append(where, scope), append(values, Field{Column: "scope", Value: k.scope, Null: !k.hasScope})
	}
	if c.r.Column(optionRelation, "scope_id") {
		where, values = append(where, optional("scope_id", k.id, k.hasID)), append(values, setOptional("scope_id", k.id, k.hasID))
	}
	if k.hasID {
		object += fmt.Sprintf(" %d", k.id)
	}
	c.emit(Finding{
		Code: OptionTwice, Object: object, Rows: rows, Repairable: true, Message: fmt.Sprintf("it is set %d times, last to %q", rows, stays.Value),
	})
	c.plan(OptionTwice, object, true,
		Change{Op: DeleteRows, Relation: optionRelation, Where: where, Rows: rows},
		Change{Op: InsertRow, Relation: optionRelation, Set: values, Rows: 1})
}

// fixed are the relations of every lake from format 0.4 on, without those that
// development versions may rename.
var fixed = []string{
	"ducklake_column", "ducklake_column_mapping", "ducklake_column_tag", "ducklake_data_file", "ducklake_delete_file",
	"ducklake_file_column_stats", "ducklake_file_partition_value", "ducklake_file_variant_stats", "ducklake_files_scheduled_for_deletion",
	"ducklake_inlined_data_tables", "ducklake_macro", "ducklake_macro_impl", "ducklake_macro_parameters", "ducklake_metadata",
	"ducklake_name_mapping", "ducklake_partition_column", "ducklake_partition_info", "ducklake_schema", "ducklake_schema_versions",
	"ducklake_snapshot", "ducklake_snapshot_changes", "ducklake_sort_expression", "ducklake_sort_info", "ducklake_table",
	"ducklake_table_column_stats", "ducklake_table_stats", "ducklake_tag", "ducklake_view",
}

// relations looks for those that must be there. Older formats have fewer.
func (c *checker) relations() error {
	if c.version != "0.4" && c.version != "1.0" {
		return nil
	}
	for _, name := range fixed {
		if !c.r.Has(name) {
			c.find(RelationMissing, 0, name, "the relation does not exist")
		}
	}
	return nil
}

func (c *checker) snapshots() error {
	const columns = "snapshot_id snapshot_time schema_version next_catalog_id next_file_id"
	err := c.r.Each(c.ctx, "ducklake_snapshot", columns, func(r *lake.Row) error {
		nulls := false
		for i := range 5 {
			if !r.Has(i) && i != 1 {
				c.find(NullID, 0, "ducklake_snapshot", "%s is NULL in a row (snapshot %s)", strings.Fields(columns)[i], r.Text(0))
				if nulls = true; i == 0 {
					return nil
				}
			}
		}
		s := snap{id: r.Num(0), micros: microsOf(r.Text(1)), schema: r.Num(2), catalog: r.Num(3), files: r.Num(4), nulls: nulls}
		if s.micros == unknownTime {
			c.find(SnapshotTimeUnknown, 0, fmt.Sprintf("snapshot %d", s.id), "its time is %q", r.Text(1))
		}
		c.snaps = append(c.snaps, s)
		return nil
	})
	if err != nil {
		return err
	}
	c.rep.Counts.Snapshots = int64(len(c.snaps))
	if len(c.snaps) == 0 {
		c.find(NoSnapshot, 0, "lake", "there is no snapshot")
		return errStop
	}
	slices.SortStableFunc(c.snaps, func(a, b snap) int { return cmpInt(a.id, b.id) })
	c.head = c.snaps[len(c.snaps)-1]
	c.rep.Head = c.head.id
	if err := c.changes(); err != nil {
		return err
	}
	c.sequence()
	return nil
}

// snapshot says whether a snapshot exists.
func (c *checker) snapshot(id int64) bool {
	_, ok := slices.BinarySearchFunc(c.snaps, id, func(s snap, id int64) int { return cmpInt(s.id, id) })
	return ok
}

func cmpInt(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// timeForms are the ways in which sources print times.
var timeForms = []string{
	"2006-01-02 15:04:05.999999-07", "2006-01-02 15:04:05.999999-07:00", "2006-01-02 15:04:05.999999", time.RFC3339Nano, "2006-01-02",
}

func microsOf(s string) int64 {
	for _, form := range timeForms {
		if t, err := time.Parse(form, s); err == nil {
			return t.UnixMicro()
		}
	}
	return unknownTime
}

// changes marks the snapshots that have a row of changes.
func (c *checker) changes() error {
	return c.r.Each(c.ctx, "ducklake_snapshot_changes", "snapshot_id", func(r *lake.Row) error {
		id := r.Num(0)
		i := sort.Search(len(c.snaps), func(i int) bool { return c.snaps[i].id >= id })
		found := false
		for ; i < len(c.snaps) && c.snaps[i].id == id; i++ {
			c.snaps[i].changes, found = true, true
		}
		if !found {
			c.add(Finding{Code: ChangesWithoutSnapshot, Object: fmt.Sprintf("changes of snapshot %d", id), Message: "there is no such snapshot"},
				Change{Op: DeleteRows, Relation: "ducklake_snapshot_changes", Where: []Cond{is("snapshot_id", id)}, Rows: Any})
		}
		return nil
	})
}

// sequence compares each snapshot with the one before.
func (c *checker) sequence() {
	for i := range c.snaps {
		cur := &c.snaps[i]
		object := fmt.Sprintf("snapshot %d", cur.id)
		if !cur.changes && c.r.Has("ducklake_snapshot_changes") {
			c.add(Finding{Code: SnapshotWithoutChanges, Object: object, Message: "it has no row in ducklake_snapshot_changes"},
				Change{Op: InsertRow, Relation: "ducklake_snapshot_changes", Set: []Field{set("snapshot_id", cur.id)}, Rows: 1})
		}
		if i == 0 {
			continue
		}
		prev := &c.snaps[i-1]
		if prev.id == cur.id {
			c.find(SnapshotTwice, 0, object, "the id exists more than once")
		}
		for _, n := range []struct {
			name     string
			was, now int64
		}{{"schema_version", prev.schema, cur.schema}, {"next_catalog_id", prev.catalog, cur.catalog}, {"next_file_id", prev.files, cur.files}} {
			if n.now >= n.was || cur.nulls || prev.nulls {
				continue
			}
			f := Finding{Code: CounterWentBack, Object: object, Message: fmt.Sprintf("%s is %d after %d", n.name, n.now, n.was)}
			if i < len(c.snaps)-1 {
				c.add(f)
				continue
			}
			c.add(f, c.raise(n.name, n.now, c.highest(n.name)))
		}
		if cur.micros != unknownTime && prev.micros != unknownTime && cur.micros < prev.micros {
			c.find(SnapshotTimeWentBack, 0, object, "it is %v older than snapshot %d", time.Duration(prev.micros-cur.micros)*time.Microsecond, prev.id)
		}
	}
}

// highest is the highest value that a counter had in any snapshot.
func (c *checker) highest(counter string) (most int64) {
	for i := range c.snaps {
		s := &c.snaps[i]
		most = max(most, map[string]int64{"schema_version": s.schema, "next_catalog_id": s.catalog, "next_file_id": s.files}[counter])
	}
	return most
}

// raise is the change of a counter of the newest snapshot.
func (c *checker) raise(counter string, was, to int64) Change {
	return Change{
		Op: UpdateRows, Relation: "ducklake_snapshot", Where: []Cond{is("snapshot_id", c.head.id), is(counter, was)},
		Set: []Field{set(counter, to)}, Rows: 1,
	}
}

// counters compares the ids in use with what the newest snapshot has given out.
func (c *checker) counters() error {
	for _, n := range []struct {
		name      string
		next, top int64
	}{{"next_catalog_id", c.head.catalog, c.maxCatalog}, {"next_file_id", c.head.files, c.maxFile}} {
		// Where a counter has gone back too, that repair comes first; the next check finds this.
		if n.top >= n.next && n.top < math.MaxInt64 && c.rep.Totals[CounterWentBack] == 0 && !c.head.nulls {
			c.plan(IDBeyondCounter, n.name, false, c.raise(n.name, n.next, n.top+1))
		}
	}
	for i := range c.rep.Findings {
		f := &c.rep.Findings[i]
		f.Repairable = f.Repairable || f.Code == IDBeyondCounter
	}
	return nil
}

// catalogID notes an id of the counter of catalog objects.
func (c *checker) catalogID(table int64, label string, id int64) {
	c.maxCatalog = max(c.maxCatalog, id)
	if id >= c.head.catalog {
		c.find(IDBeyondCounter, table, label, "next_catalog_id is %d", c.head.catalog)
	}
}

// fileID notes an id of the counter of files.
func (c *checker) fileID(table int64, label string, id int64) {
	c.maxFile = max(c.maxFile, id)
	if id >= c.head.files {
		c.find(IDBeyondCounter, table, label, "next_file_id is %d", c.head.files)
	}
}
