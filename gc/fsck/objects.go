package fsck

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/lake/paths"
)

// table is what is known of a table.
type table struct {
	name     string // newest, with its schema
	live     bool
	ended    int64 // the last snapshot in which a version ended
	newest   int64 // begin of the newest version
	columns  bool  // it has a live column
	stats    int   // rows of ducklake_table_stats
	records  int64 // record_count
	next     int64 // next_row_id
	rows     int64 // of live data files, and live inlined rows
	deleted  int64 // of the rows of live data files
	bytes    int64 // of live data files
	top      int64 // the highest row id that is in use, -1 for none: of files, that of the first row
	past     int64 // one more than any row id by the catalog, which counts a file's rows from its start
	noStarts bool  // a data file has no row_id_start
	used     bool  // it has live files or inlined rows
}

// object is one version of something that has an id and a name.
type object struct {
	lake.Span
	id, schema int64
	name       string
}

// column is one version of a column. Its name is kept as a hash.
type column struct {
	table, id, parent int64
	begin, end        int64
	name              uint64
	ended, hasParent  bool
}

func (c *column) span() lake.Span { return lake.Span{Begin: c.begin, End: c.end, Ended: c.ended} }

// partition is one version of a table's partitioning.
type partition struct {
	table int64
	keys  int64
}

// readObjects reads what has a name in the catalog: schemas, tables, views and macros.
func (c *checker) readObjects() error {
	c.objects, c.tables, c.hash = map[int64]string{}, map[int64]*table{}, newHasher()
	var tables []lake.Table
	err := c.r.Each(c.ctx, "ducklake_schema", "schema_id schema_name path path_is_relative begin_snapshot end_snapshot", func(r *lake.Row) error {
		s := lake.Schema{Span: r.Span(4), ID: r.Num(0), Name: r.Text(1), Path: r.Text(2), Relative: r.Bool(3)}
		if c.version == "0.1" {
			s.Relative = true
		}
		c.schemas = append(c.schemas, s)
		return c.object(r, 4, "schema", s.ID, s.Span)
	})
	if err != nil {
		return err
	}
	newest := map[int64]lake.Schema{}
	schemas := make([]object, 0, len(c.schemas))
	for _, s := range c.schemas {
		if have, ok := newest[s.ID]; !ok || s.Begin >= have.Begin {
			newest[s.ID] = s
		}
		schemas = append(schemas, object{s.Span, s.ID, 0, s.Name})
	}
	c.versions("ducklake_schema", "schema", "schema_id", schemas)
	var named []object
	err = c.r.Each(c.ctx, "ducklake_table", "table_id schema_id table_name path path_is_relative begin_snapshot end_snapshot", func(r *lake.Row) error {
		t := lake.Table{Span: r.Span(5), ID: r.Num(0), SchemaID: r.Num(1), Name: r.Text(2), Path: r.Text(3), Relative: r.Bool(4)}
		if c.version == "0.1" {
			t.Relative = true
		}
		tables = append(tables, t)
		named = append(named, object{t.Span, t.ID, t.SchemaID, t.Name})
		c.table(&t, newest)
		return c.object(r, 5, "table", t.ID, t.Span)
	})
	if err != nil {
		return err
	}
	c.layout = paths.NewLayout(c.dataPath, c.schemas, tables)
	c.rep.Counts.Tables = int64(len(c.tables))
	c.versions("ducklake_table", "table", "table_id", named)
	n := len(named)
	err = c.r.Each(c.ctx, "ducklake_view", "view_id schema_id view_name begin_snapshot end_snapshot", func(r *lake.Row) error {
		named = append(named, object{r.Span(3), r.Num(0), r.Num(1), r.Text(2)})
		return c.object(r, 3, "view", r.Num(0), r.Span(3))
	})
	if err != nil {
		return err
	}
	c.versions("ducklake_view", "view", "view_id", slices.Clone(named[n:]))
	c.names("schema name", schemas)
	c.names("table or view name", named)
	for i := range named {
		kind := "table"
		if i >= n {
			kind = "view"
		}
		c.inSchema(kind, &named[i], newest)
	}
	return c.macros(newest)
}

// object notes the id of a catalog object and tests its validity, which is at place i.
func (c *checker) object(r *lake.Row, i int, kind string, id int64, s lake.Span) error {
	label := fmt.Sprintf("%s %d", kind, id)
	of := int64(0)
	if kind == "table" {
		of = id
	}
	if !r.Has(0) || !r.Has(i) {
		c.find(NullID, of, label, "its id or its begin_snapshot is NULL")
		return nil
	}
	if have, ok := c.objects[id]; ok && have != kind {
		c.find(IDShared, of, label, "%s %d has the id too", have, id)
	}
	c.objects[id] = kind
	c.catalogID(of, label, id)
	c.span(of, label, s)
	return nil
}

func (c *checker) table(t *lake.Table, schemas map[int64]lake.Schema) {
	have := c.tables[t.ID]
	if have == nil {
		have = &table{top: -1, newest: -1}
		c.tables[t.ID] = have
	}
	if t.Begin >= have.newest {
		have.newest = t.Begin
		have.name = t.Name
		if s, ok := schemas[t.SchemaID]; ok {
			have.name = s.Name + "." + t.Name
		}
	}
	have.live = have.live || c.live(t.Span)
	if t.Ended {
		have.ended = max(have.ended, t.End)
	}
}

// versions tests that those of one object do not overlap. It orders them.
func (c *checker) versions(relation, kind, id string, all []object) {
	slices.SortStableFunc(all, func(a, b object) int {
		if d := cmpInt(a.id, b.id); d != 0 {
			return d
		}
		return cmpInt(a.Begin, b.Begin)
	})
	same := func(i, j int) bool { return all[i].id == all[j].id }
	for _, o := range overlaps(len(all), same, func(i int) lake.Span { return all[i].Span }) {
		a, b := all[o.a], all[o.b]
		of := int64(0)
		if kind == "table" {
			of = a.id
		}
		c.overlap(of, fmt.Sprintf("%s %d", kind, a.id), a.Span, b.Span, o.mend, endAt(relation, a.Span, b.Begin, is(id, a.id)))
	}
}

// overlap reports two versions that are valid in one snapshot.
func (c *checker) overlap(table int64, label string, a, b lake.Span, mend bool, change Change) {
	f := Finding{
		Code: VersionsOverlap, TableID: table, Object: label,
		Message: fmt.Sprintf("versions [%d,%s) and [%d,%s) overlap", a.Begin, until(a), b.Begin, until(b)),
	}
	if mend {
		c.add(f, change)
		return
	}
	c.add(f)
}

// names tests that no two objects have one name in a snapshot.
func (c *checker) names(what string, all []object) {
	folded := make([]object, len(all))
	for i, o := range all {
		folded[i] = o
		folded[i].name = lake.FoldName(o.name)
	}
	slices.SortStableFunc(folded, func(a, b object) int {
		if d := cmpInt(a.schema, b.schema); d != 0 {
			return d
		}
		if d := strings.Compare(a.name, b.name); d != 0 {
			return d
		}
		return cmpInt(a.Begin, b.Begin)
	})
	same := func(i, j int) bool { return folded[i].schema == folded[j].schema && folded[i].name == folded[j].name }
	for _, o := range overlaps(len(folded), same, func(i int) lake.Span { return folded[i].Span }) {
		a, b := folded[o.a], folded[o.b]
		if a.id != b.id { // versions of one object are another matter
			c.find(NameTwice, 0, fmt.Sprintf("%s %q", what, a.name), "objects %d and %d have it", a.id, b.id)
		}
	}
}

// inSchema tests that something live is in a schema that is.
func (c *checker) inSchema(kind string, o *object, schemas map[int64]lake.Schema) {
	if !c.live(o.Span) {
		return
	}
	label := fmt.Sprintf("%s %d", kind, o.id)
	of := int64(0)
	if kind == "table" {
		of = o.id
	}
	switch s, ok := schemas[o.schema]; {
	case !ok:
		c.find(RefersToMissing, of, label, "schema %d does not exist", o.schema)
	case !c.live(s.Span):
		c.find(RefersToEnded, of, label, "its schema %d has ended", o.schema)
	}
}

func (c *checker) macros(schemas map[int64]lake.Schema) error {
	var all []object
	err := c.r.Each(c.ctx, "ducklake_macro", "macro_id schema_id macro_name begin_snapshot end_snapshot", func(r *lake.Row) error {
		all = append(all, object{r.Span(3), r.Num(0), r.Num(1), r.Text(2)})
		return c.object(r, 3, "macro", r.Num(0), r.Span(3))
	})
	if err != nil {
		return err
	}
	kinds := map[int64]string{}
	err = c.r.Each(c.ctx, "ducklake_macro_impl", "macro_id type", func(r *lake.Row) error {
		kinds[r.Num(0)] = "macro name of kind " + r.Text(1)
		return nil
	})
	if err != nil {
		return err
	}
	c.versions("ducklake_macro", "macro", "macro_id", all)
	byKind := map[string][]object{}
	for i := range all {
		c.inSchema("macro", &all[i], schemas)
		kind, ok := kinds[all[i].id]
		if !ok && c.live(all[i].Span) && c.r.Has("ducklake_macro_impl") {
			c.find(MacroWithoutImpl, 0, fmt.Sprintf("macro %d", all[i].id), "it has no row in ducklake_macro_impl")
		}
		byKind[kind] = append(byKind[kind], all[i])
	}
	for kind, list := range byKind {
		c.names(kind, list)
	}
	exists := func(id int64) bool { return c.objects[id] == "macro" }
	for _, relation := range []string{"ducklake_macro_impl", "ducklake_macro_parameters"} {
		if err := c.wholes(PartOrphaned, relation, "macro_id", "macros", exists); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) readColumns() error {
	err := c.r.Each(c.ctx, "ducklake_column", "column_id table_id column_name parent_column begin_snapshot end_snapshot", func(r *lake.Row) error {
		s := r.Span(4)
		x := column{
			table: r.Num(1), id: r.Num(0), parent: r.Num(3), hasParent: r.Has(3), begin: s.Begin, end: s.End, ended: s.Ended,
			name: c.hash.one(lake.FoldName(r.Text(2))),
		}
		if !r.Has(0) || !r.Has(1) || !r.Has(4) {
			c.find(NullID, x.table, columnLabel(&x), "its id, its table's or its begin_snapshot is NULL")
			return nil
		}
		c.columns = append(c.columns, x)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(c.columns, func(a, b column) int {
		if d := cmpInt(a.table, b.table); d != 0 {
			return d
		}
		if d := cmpInt(a.id, b.id); d != 0 {
			return d
		}
		return cmpInt(a.begin, b.begin)
	})
	return nil
}

func columnLabel(x *column) string { return fmt.Sprintf("column %d of table %d", x.id, x.table) }

// columnAt is the place of the first version of a column; ok says that there is one.
func (c *checker) columnAt(table, id int64) (i int, ok bool) {
	i = sort.Search(len(c.columns), func(i int) bool {
		x := &c.columns[i]
		return x.table > table || x.table == table && x.id >= id
	})
	return i, i < len(c.columns) && c.columns[i].table == table && c.columns[i].id == id
}

// liveColumn says whether the newest snapshot sees a column.
func (c *checker) liveColumn(table, id int64) bool {
	i, ok := c.columnAt(table, id)
	for ; ok && i < len(c.columns) && c.columns[i].table == table && c.columns[i].id == id; i++ {
		if c.live(c.columns[i].span()) {
			return true
		}
	}
	return false
}

func (c *checker) objectInvariants() error {
	c.columnInvariants()
	ids := make([]int64, 0, len(c.tables))
	for id := range c.tables {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		if t := c.tables[id]; t.live && !t.columns {
			c.find(TableWithoutColumns, id, fmt.Sprintf("table %d", id), "it has no live column")
		}
	}
	return nil
}

func (c *checker) columnInvariants() {
	all := c.columns
	gone := map[int64]int64{}
	for i := range all {
		x := &all[i]
		t := c.tables[x.table]
		c.span(x.table, columnLabel(x), x.span())
		if t == nil {
			gone[x.table]++
			continue
		}
		if !c.live(x.span()) {
			continue
		}
		t.columns = true
		if !t.live {
			c.find(RefersToEnded, x.table, columnLabel(x), "its table has ended")
		}
		if x.hasParent && !c.liveColumn(x.table, x.parent) {
			c.find(RefersToEnded, x.table, columnLabel(x), "its parent, column %d, is not live", x.parent)
		}
	}
	o := orphans{c: c, code: PartOrphaned, relation: "ducklake_column", key: "table_id", what: "tables"}
	for id, n := range gone {
		for range n {
			o.add(id)
		}
	}
	o.report()
	same := func(i, j int) bool { return all[i].table == all[j].table && all[i].id == all[j].id }
	for _, v := range overlaps(len(all), same, func(i int) lake.Span { return all[i].span() }) {
		a, b := &all[v.a], &all[v.b]
		c.overlap(a.table, columnLabel(a), a.span(), b.span(), v.mend,
			endAt("ducklake_column", a.span(), b.begin, is("table_id", a.table), is("column_id", a.id)))
	}
	// Names: the same columns in another order.
	order := make([]int32, len(all))
	for i := range order {
		order[i] = int32(i)
	}
	group := func(a, b *column) int {
		for _, d := range []int{cmpInt(a.table, b.table), cmpInt(a.parent, b.parent)} {
			if d != 0 {
				return d
			}
		}
		switch {
		case a.hasParent != b.hasParent && a.hasParent:
			return 1
		case a.hasParent != b.hasParent:
			return -1
		case a.name < b.name:
			return -1
		case a.name > b.name:
			return 1
		}
		return 0
	}
	slices.SortFunc(order, func(i, j int32) int {
		a, b := &all[i], &all[j]
		if d := group(a, b); d != 0 {
			return d
		}
		if d := cmpInt(a.begin, b.begin); d != 0 {
			return d
		}
		return cmpInt(a.id, b.id)
	})
	same = func(i, j int) bool { return group(&all[order[i]], &all[order[j]]) == 0 }
	for _, v := range overlaps(len(order), same, func(i int) lake.Span { return all[order[i]].span() }) {
		a, b := &all[order[v.a]], &all[order[v.b]]
		if a.id != b.id {
			c.find(NameTwice, a.table, columnLabel(b), "column %d has its name", a.id)
		}
	}
}
