package lake

import (
	"fmt"
	"sort"
	"strings"
)

// Finding is one broken invariant.
type Finding struct {
	Code    string // stable identifier of the invariant, e.g. "delete-file-dangling"
	Object  string // what it is about, e.g. "delete file 17"
	Message string
}

// String is the finding on one line.
func (f Finding) String() string { return f.Code + ": " + f.Object + ": " + f.Message }

// Check tests every invariant that metadata alone can show and returns the findings in
// a stable order; an empty result is a healthy lake.
//
// The invariants: one changes row for each snapshot; counters and times never go back;
// ids stay below the head's counters; nothing begins after the head; versions of one
// object do not overlap and names do not collide; live objects refer to live objects;
// a delete file names a file of its own table, at most one at a time; inlined deletes
// name existing files and positions once; row ids stay below next_row_id; the inlined
// registry and its relations agree; nothing live is scheduled for deletion.
func Check(m *Model) []Finding {
	c := &checker{m: m}
	head, ok := m.Head()
	if !ok {
		c.add("no-snapshot", "lake", "there is no snapshot")
		return c.found
	}
	c.head = head
	c.snapshots()
	c.versions()
	c.names()
	c.references()
	c.dataFiles()
	c.deletes()
	c.statistics()
	c.inlinedRegistry()
	c.schedule()
	sort.SliceStable(c.found, func(i, j int) bool {
		a, b := c.found[i], c.found[j]
		if a.Code != b.Code {
			return a.Code < b.Code
		}
		return a.Object < b.Object
	})
	return c.found
}

type checker struct {
	m     *Model
	head  Snapshot
	found []Finding
}

func (c *checker) add(code, object, format string, args ...any) {
	c.found = append(c.found, Finding{code, object, fmt.Sprintf(format, args...)})
}

func (c *checker) snapshots() {
	s := append([]Snapshot(nil), c.m.Snapshots...)
	sort.Slice(s, func(i, j int) bool { return s[i].ID < s[j].ID })
	for i, cur := range s {
		obj := fmt.Sprintf("snapshot %d", cur.ID)
		if !cur.HasChanges {
			c.add("snapshot-without-changes", obj, "no row in ducklake_snapshot_changes")
		}
		if i == 0 {
			continue
		}
		prev := s[i-1]
		if prev.ID == cur.ID {
			c.add("snapshot-twice", obj, "the id exists more than once")
		}
		back := func(what string, a, b int64) {
			if b < a {
				c.add("counter-went-back", obj, "%s is %d after %d", what, b, a)
			}
		}
		back("schema_version", prev.SchemaVersion, cur.SchemaVersion)
		back("next_catalog_id", prev.NextCatalogID, cur.NextCatalogID)
		back("next_file_id", prev.NextFileID, cur.NextFileID)
		// Times are compared as printed: one source prints all of them in one zone, and
		// this form sorts as text.
		if cur.Time < prev.Time {
			c.add("snapshot-time-went-back", obj, "%s after %s", cur.Time, prev.Time)
		}
	}
}

// object is the part of a versioned row that the generic checks need.
type object struct {
	Span
	label string
	group string // versions of one group may not overlap
	id    int64
}

func (c *checker) versions() {
	var all []object
	catalog := func(kind string, id int64, s Span) {
		label := fmt.Sprintf("%s %d", kind, id)
		all = append(all, object{s, label, label, id})
		if id >= c.head.NextCatalogID {
			c.add("id-beyond-counter", label, "next_catalog_id is %d", c.head.NextCatalogID)
		}
	}
	for _, x := range c.m.Schemas {
		catalog("schema", x.ID, x.Span)
	}
	for _, x := range c.m.Tables {
		catalog("table", x.ID, x.Span)
	}
	for _, x := range c.m.Views {
		catalog("view", x.ID, x.Span)
	}
	for _, x := range c.m.Columns {
		label := fmt.Sprintf("column %d of table %d", x.ID, x.TableID)
		all = append(all, object{x.Span, label, label, x.ID})
	}
	file := func(kind string, id int64, s Span, group string) {
		label := fmt.Sprintf("%s %d", kind, id)
		all = append(all, object{s, label, group, id})
		if id >= c.head.NextFileID {
			c.add("id-beyond-counter", label, "next_file_id is %d", c.head.NextFileID)
		}
	}
	for _, x := range c.m.DataFiles {
		file("data file", x.ID, x.Span, fmt.Sprintf("data file %d", x.ID))
	}
	for _, x := range c.m.DeleteFiles {
		file("delete file", x.ID, x.Span, fmt.Sprintf("deletes of data file %d", x.DataFileID))
	}
	for _, o := range all {
		if o.Begin > c.head.ID {
			c.add("begins-after-head", o.label, "begins at %d, the head is %d", o.Begin, c.head.ID)
		}
		if o.Ended && o.End < o.Begin {
			c.add("ends-before-begin", o.label, "begins at %d, ends at %d", o.Begin, o.End)
		}
	}
	overlaps(all, func(a, b object) {
		c.add("versions-overlap", a.group, "%s [%d,%s) and %s [%d,%s)", a.label, a.Begin, end(a.Span), b.label, b.Begin, end(b.Span))
	})
}

func end(s Span) string {
	if !s.Ended {
		return "live"
	}
	return fmt.Sprint(s.End)
}

// overlaps calls fn for neighbours of one group whose validities share a snapshot.
func overlaps(all []object, fn func(a, b object)) {
	groups := map[string][]object{}
	for _, o := range all {
		if !o.Empty() {
			groups[o.group] = append(groups[o.group], o)
		}
	}
	for _, g := range groups {
		sort.Slice(g, func(i, j int) bool { return g[i].Begin < g[j].Begin })
		for i := 1; i < len(g); i++ {
			if g[i-1].Overlaps(g[i].Span) {
				fn(g[i-1], g[i])
			}
		}
	}
}

func (c *checker) names() {
	var all []object
	add := func(space string, owner int64, name, label string, s Span) {
		all = append(all, object{s, label, fmt.Sprintf("%s %q in %d", space, FoldName(name), owner), 0})
	}
	for _, x := range c.m.Schemas {
		add("schema name", 0, x.Name, fmt.Sprintf("schema %d", x.ID), x.Span)
	}
	for _, x := range c.m.Tables {
		add("table or view name", x.SchemaID, x.Name, fmt.Sprintf("table %d", x.ID), x.Span)
	}
	for _, x := range c.m.Views {
		add("table or view name", x.SchemaID, x.Name, fmt.Sprintf("view %d", x.ID), x.Span)
	}
	overlaps(all, func(a, b object) {
		if a.label != b.label { // versions of one object are checked by versions
			c.add("name-twice", a.group, "%s and %s", a.label, b.label)
		}
	})
	columns := make([]object, 0, len(c.m.Columns))
	for _, x := range c.m.Columns {
		columns = append(columns, object{
			x.Span, fmt.Sprintf("column %d", x.ID),
			fmt.Sprintf("column name %q in table %d under %d", FoldName(x.Name), x.TableID, x.Parent), x.ID,
		})
	}
	overlaps(columns, func(a, b object) {
		if a.id != b.id {
			c.add("name-twice", a.group, "%s and %s", a.label, b.label)
		}
	})
}

func (c *checker) references() {
	h := c.head.ID
	schemas, tables, withColumns, ended := map[int64]bool{}, map[int64]bool{}, map[int64]bool{}, map[int64]int64{}
	for _, s := range c.m.Schemas {
		schemas[s.ID] = schemas[s.ID] || s.VisibleAt(h)
	}
	for _, t := range c.m.Tables {
		tables[t.ID] = tables[t.ID] || t.VisibleAt(h)
		if t.Ended {
			ended[t.ID] = max(ended[t.ID], t.End)
		}
	}
	live := func(label string, s Span, what string, ok bool) {
		if s.VisibleAt(h) && !ok {
			c.add("refers-to-ended", label, "its %s is not live", what)
		}
	}
	for _, t := range c.m.Tables {
		live(fmt.Sprintf("table %d", t.ID), t.Span, "schema", schemas[t.SchemaID])
	}
	for _, v := range c.m.Views {
		live(fmt.Sprintf("view %d", v.ID), v.Span, "schema", schemas[v.SchemaID])
	}
	for _, x := range c.m.Columns {
		live(fmt.Sprintf("column %d of table %d", x.ID, x.TableID), x.Span, "table", tables[x.TableID])
		if x.VisibleAt(h) {
			withColumns[x.TableID] = true
		}
	}
	for _, t := range c.m.Tables {
		if t.VisibleAt(h) && !withColumns[t.ID] {
			c.add("table-without-columns", fmt.Sprintf("table %d", t.ID), "no live column")
		}
	}
	for _, f := range c.m.DataFiles {
		// A client that writes to a table and drops it in one transaction leaves the file's row live.
		end, over := ended[f.TableID]
		live(fmt.Sprintf("data file %d", f.ID), f.Span, "table", tables[f.TableID] || over && end == f.Begin)
	}
}

func (c *checker) dataFiles() {
	ids, paths := map[int64]bool{}, map[string]int64{}
	for _, f := range c.m.DataFiles {
		label := fmt.Sprintf("data file %d", f.ID)
		if ids[f.ID] {
			c.add("data-file-twice", label, "the id exists more than once")
		}
		ids[f.ID] = true
		if f.Records < 0 {
			c.add("negative-count", label, "record_count is %d", f.Records)
		}
		if !f.VisibleAt(c.head.ID) {
			continue
		}
		key := fmt.Sprintf("%v/%s", f.Relative, f.Path)
		if f.Relative {
			key = fmt.Sprintf("%d/%s", f.TableID, f.Path)
		}
		if other, ok := paths[key]; ok {
			c.add("path-twice", label, "data file %d has the path %s too", other, f.Path)
		}
		paths[key] = f.ID
	}
}

func (c *checker) deletes() {
	files := map[int64]DataFile{}
	for _, f := range c.m.DataFiles {
		files[f.ID] = f
	}
	for _, d := range c.m.DeleteFiles {
		label := fmt.Sprintf("delete file %d", d.ID)
		f, ok := files[d.DataFileID]
		switch {
		case !ok:
			c.add("delete-file-dangling", label, "data file %d does not exist", d.DataFileID)
			continue
		case f.TableID != d.TableID:
			c.add("delete-file-foreign", label, "table %d, but data file %d is of table %d", d.TableID, f.ID, f.TableID)
		}
		if d.Count < 0 || d.Count > f.Records {
			c.add("delete-count", label, "deletes %d of %d rows", d.Count, f.Records)
		}
	}
	type position struct{ file, row int64 }
	seen := map[position]bool{}
	for _, d := range c.m.InlinedDeletes {
		label := fmt.Sprintf("inlined delete of row %d of data file %d", d.RowID, d.FileID)
		f, ok := files[d.FileID]
		switch {
		case !ok:
			c.add("inlined-delete-dangling", label, "the file does not exist")
			continue
		case f.TableID != d.TableID:
			c.add("inlined-delete-foreign", label, "of table %d, but the file is of table %d", d.TableID, f.TableID)
		case d.RowID < 0 || d.RowID >= f.Records:
			c.add("inlined-delete-position", label, "the file has %d rows", f.Records)
		}
		p := position{d.FileID, d.RowID}
		if seen[p] {
			c.add("inlined-delete-twice", label, "deleted more than once")
		}
		seen[p] = true
	}
}

func (c *checker) statistics() {
	stats := map[int64]TableStats{}
	for _, s := range c.m.Stats {
		label := fmt.Sprintf("table %d", s.TableID)
		if _, ok := stats[s.TableID]; ok {
			c.add("statistics-twice", label, "more than one row in ducklake_table_stats")
		}
		if s.Records < 0 || s.NextRowID < 0 {
			c.add("negative-count", label, "record_count %d, next_row_id %d", s.Records, s.NextRowID)
		}
		stats[s.TableID] = s
	}
	for _, f := range c.m.DataFiles {
		s, ok := stats[f.TableID]
		if f.HasRowIDStart && ok && f.VisibleAt(c.head.ID) && f.RowIDStart >= s.NextRowID && f.Records > 0 {
			c.add("row-id-beyond-counter", fmt.Sprintf("data file %d", f.ID), "row_id_start %d, next_row_id %d", f.RowIDStart, s.NextRowID)
		}
	}
	type row struct{ table, id int64 }
	live := map[row]string{}
	for _, r := range c.m.InlinedRows {
		label := fmt.Sprintf("row %d of %s", r.RowID, r.Relation)
		if s, ok := stats[r.TableID]; ok && r.RowID >= s.NextRowID {
			c.add("row-id-beyond-counter", label, "next_row_id is %d", s.NextRowID)
		}
		if !r.VisibleAt(c.head.ID) {
			continue
		}
		k := row{r.TableID, r.RowID}
		if other, ok := live[k]; ok {
			c.add("row-id-twice", label, "live in %s too", other)
		}
		live[k] = r.Relation
	}
}

func (c *checker) inlinedRegistry() {
	registered := map[string]bool{}
	for _, t := range c.m.InlinedTables {
		if registered[t.Name] {
			c.add("registry-twice", t.Name, "registered more than once")
		}
		registered[t.Name] = true
		if !c.m.Relations[t.Name] {
			c.add("registry-dangling", t.Name, "registered, but there is no such relation")
		}
	}
	for name := range c.m.Relations {
		if strings.HasPrefix(name, inlinedDataPrefix) && name != inlinedRegistry && !registered[name] {
			c.add("relation-unregistered", name, "not in "+inlinedRegistry)
		}
	}
}

func (c *checker) schedule() {
	live := map[string]string{}
	at := func(relative bool, path string) string {
		// A scheduled relative path starts at the lake's data path, a file's at its
		// table's: the file names agree, and they hold a uuid.
		if i := strings.LastIndexByte(path, '/'); relative && i >= 0 {
			path = path[i+1:]
		}
		return path
	}
	for _, f := range c.m.DataFiles {
		if f.VisibleAt(c.head.ID) {
			live[at(f.Relative, f.Path)] = fmt.Sprintf("data file %d", f.ID)
		}
	}
	for _, d := range c.m.DeleteFiles {
		if d.VisibleAt(c.head.ID) {
			live[at(d.Relative, d.Path)] = fmt.Sprintf("delete file %d", d.ID)
		}
	}
	for _, s := range c.m.Scheduled {
		if owner, ok := live[at(s.Relative, s.Path)]; ok {
			c.add("scheduled-live", s.Path, "scheduled for deletion while %s is live", owner)
		}
	}
}
