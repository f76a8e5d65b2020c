package conflict

import (
	"slices"

	"github.com/eiderdb/eider/lake"
)

// schemas: live names are taken once, and a schema ends with everything in it.
func (k *checker) schemas() error {
	ended := map[int64]bool{}
	for i := range k.Schemas.Changed {
		if e := &k.Schemas.Changed[i]; !e.Before.Ended && e.After.Ended {
			ended[e.After.ID] = true
		}
	}
	if len(k.Schemas.Added) > 0 {
		all, err := k.Is.Schemas()
		if err != nil {
			return err
		}
		for _, s := range k.Schemas.Added {
			for _, o := range all {
				if s.ID != o.ID && !s.Ended && !o.Ended && sameName(s.Name, o.Name) {
					k.add(NameTaken("schema", "", s.Name))
					break
				}
			}
		}
	}
	if len(ended) == 0 {
		return nil
	}
	tables, err := k.Is.Tables()
	if err != nil {
		return err
	}
	for _, t := range tables {
		if !t.Ended && ended[t.SchemaID] {
			k.add(SchemaNotEmpty(t.SchemaID, "table", t.ID))
		}
	}
	views, err := k.Is.Views()
	if err != nil {
		return err
	}
	for _, v := range views {
		if !v.Ended && ended[v.SchemaID] {
			k.add(SchemaNotEmpty(v.SchemaID, "view", v.ID))
		}
	}
	macros, err := k.Is.Macros()
	for _, m := range macros {
		if !m.Ended && ended[m.SchemaID] {
			k.add(SchemaNotEmpty(m.SchemaID, "macro", m.ID))
		}
	}
	return err
}

// tables: a new version of a table takes the place of a live one, in a live schema, with
// columns, under a name that is free.
func (k *checker) tables() error {
	if err := k.names(); err != nil {
		return err
	}
	for i := range k.Tables.Added {
		t := &k.Tables.Added[i]
		if t.Ended {
			continue
		}
		if err := k.schemaLive(k.ref(t.ID), "table", t.ID, t.SchemaID); err != nil {
			return err
		}
		versions, err := k.Is.Table(t.ID)
		if err != nil {
			return err
		}
		if countLive(versions) > 1 {
			k.add(TableTwice(TableRef{ID: t.ID, Name: t.Name}))
			continue
		}
		known := k.hasHead && t.ID < k.head.NextCatalogID
		if known && !k.endsTable(t.ID) {
			k.add(TableGone(k.ref(t.ID)))
			continue
		}
		columns, err := k.Is.Columns(t.ID)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(columns, func(c lake.Column) bool { return !c.Ended }) {
			k.add(TableWithoutColumns(k.ref(t.ID)))
		}
	}
	return k.tableParts()
}

func countLive(versions []lake.Table) (n int) {
	for _, v := range versions {
		if !v.Ended {
			n++
		}
	}
	return n
}

// tableParts: partition keys and sort orders belong to a live table, one of each at a time.
func (k *checker) tableParts() error {
	for i := range k.Partitions.Added {
		p := &k.Partitions.Added[i]
		if p.Ended {
			continue
		}
		if err := k.ofLiveTable("partition key", p.ID, p.TableID); err != nil {
			return err
		}
		all, err := k.Is.Partitions(p.TableID)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(all, func(o lake.Partition) bool { return !o.Ended && o.ID != p.ID }) {
			k.add(TwoLive(k.ref(p.TableID), "the partition key of table", p.TableID))
		}
	}
	for i := range k.Sorts.Added {
		s := &k.Sorts.Added[i]
		if s.Ended {
			continue
		}
		if err := k.ofLiveTable("sort order", s.ID, s.TableID); err != nil {
			return err
		}
		all, err := k.Is.Sorts(s.TableID)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(all, func(o lake.Sort) bool { return !o.Ended && o.ID != s.ID }) {
			k.add(TwoLive(k.ref(s.TableID), "the sort order of table", s.TableID))
		}
	}
	return nil
}

func (k *checker) ofLiveTable(kind string, id, table int64) error {
	live, err := k.tableLive(table)
	if err == nil && !live {
		k.add(DeadReference(k.ref(table), kind, id, "table", table))
	}
	return err
}

func (k *checker) tableLive(id int64) (bool, error) {
	if live, ok := k.live[id]; ok {
		return live, nil
	}
	versions, err := k.Is.Table(id)
	if err != nil {
		return false, err
	}
	if k.live == nil {
		k.live = make(map[int64]bool)
	}
	k.live[id] = countLive(versions) > 0
	return k.live[id], nil
}

// endsTable says whether the commit itself ends a table.
func (k *checker) endsTable(id int64) bool {
	return slices.ContainsFunc(k.Tables.Changed, func(e Edit[lake.Table]) bool {
		return e.After.ID == id && ends(e.Before.Span, e.After.Span)
	})
}

func (k *checker) schemaLive(t TableRef, kind string, id, schema int64) error {
	versions, err := k.Is.Schema(schema)
	if err == nil && !slices.ContainsFunc(versions, func(s lake.Schema) bool { return !s.Ended }) {
		k.add(DeadReference(t, kind, id, "schema", schema))
	}
	return err
}

// names: tables and views of a schema share the names, without regard to case.
func (k *checker) names() error {
	type name struct {
		schema int64
		name   string
	}
	mine := map[name]string{}
	for i := range k.Tables.Added {
		if t := &k.Tables.Added[i]; !t.Ended {
			mine[name{t.SchemaID, lake.FoldName(t.Name)}] = t.Name
		}
	}
	for i := range k.Views.Added {
		if v := &k.Views.Added[i]; !v.Ended {
			mine[name{v.SchemaID, lake.FoldName(v.Name)}] = v.Name
		}
	}
	if len(mine) == 0 {
		return nil
	}
	tables, err := k.Is.Tables()
	if err != nil {
		return err
	}
	views, err := k.Is.Views()
	if err != nil {
		return err
	}
	owner := map[name]int64{}
	take := func(schema int64, s, kind string, id int64) {
		n := name{schema, lake.FoldName(s)}
		if shown, ok := mine[n]; ok {
			if other, taken := owner[n]; taken && other != id {
				k.add(NameTaken(kind, k.schemaName(schema), shown))
			}
			owner[n] = id
		}
	}
	for _, t := range tables {
		if !t.Ended {
			take(t.SchemaID, t.Name, "table", t.ID)
		}
	}
	for _, v := range views {
		if !v.Ended {
			take(v.SchemaID, v.Name, "view", v.ID)
		}
	}
	return nil
}

func (k *checker) schemaName(id int64) string {
	versions, err := k.Is.Schema(id)
	if err != nil || len(versions) == 0 {
		return ""
	}
	return versions[len(versions)-1].Name
}

// views: as tables.
func (k *checker) views() error {
	if len(k.Views.Added) == 0 {
		return nil
	}
	all, err := k.Is.Views()
	if err != nil {
		return err
	}
	for i := range k.Views.Added {
		v := &k.Views.Added[i]
		if v.Ended {
			continue
		}
		if err := k.schemaLive(TableRef{}, "view", v.ID, v.SchemaID); err != nil {
			return err
		}
		live := 0
		for _, o := range all {
			if o.ID == v.ID && !o.Ended {
				live++
			}
		}
		if live > 1 {
			k.add(TwoLive(TableRef{}, "view", v.ID))
		}
		known := k.hasHead && v.ID < k.head.NextCatalogID
		if known && !slices.ContainsFunc(k.Views.Changed, func(e Edit[lake.View]) bool { return e.After.ID == v.ID && !e.Before.Ended && e.After.Ended }) {
			k.add(ViewGone(v.ID))
		}
	}
	return nil
}

// columns: a table has one live column for each id and, under one parent, for each name.
func (k *checker) columns() error {
	var tables []int64
	note := func(table int64) {
		if !slices.Contains(tables, table) {
			tables = append(tables, table)
		}
	}
	for i := range k.Columns.Added {
		note(k.Columns.Added[i].TableID)
	}
	for i := range k.Columns.Changed {
		note(k.Columns.Changed[i].After.TableID)
	}
	for _, table := range tables {
		if err := k.columnsOf(table); err != nil {
			return err
		}
	}
	return nil
}

func (k *checker) columnsOf(table int64) error {
	all, err := k.Is.Columns(table)
	if err != nil {
		return err
	}
	type name struct {
		parent int64
		name   string
	}
	ids, names := map[int64]bool{}, map[name]bool{}
	for _, c := range all {
		if c.Ended {
			continue
		}
		if ids[c.ID] {
			k.add(TwoLive(k.ref(table), "column", c.ID))
			return nil
		}
		ids[c.ID] = true
		n := name{-1, lake.FoldName(c.Name)}
		if c.HasParent {
			n.parent = c.Parent
		}
		if names[n] {
			k.add(NameTaken("column", k.ref(table).Name, c.Name))
			return nil
		}
		names[n] = true
	}
	live, err := k.tableLive(table)
	if err != nil {
		return err
	}
	if live && len(ids) == 0 {
		k.add(TableWithoutColumns(k.ref(table)))
	}
	for i := range k.Columns.Added {
		c := &k.Columns.Added[i]
		if c.TableID != table || c.Ended {
			continue
		}
		if !live {
			k.add(DeadReference(k.ref(table), "column", c.ID, "table", table))
			return nil
		}
		if c.HasParent && !ids[c.Parent] {
			k.add(DeadReference(k.ref(table), "column", c.ID, "column", c.Parent))
		}
		if k.resurrected(all, c) {
			k.add(ColumnGone(k.ref(table), c.ID))
		}
	}
	return nil
}

// resurrected says whether all earlier versions of a column have ended before this commit.
func (k *checker) resurrected(all []lake.Column, c *lake.Column) bool {
	earlier, open := false, false
	for _, o := range all {
		if o.ID == c.ID && o.Begin < c.Begin {
			earlier = true
			open = open || !o.Ended || o.End >= c.Begin
		}
	}
	return earlier && !open
}

// macros: a name is taken once for each type, in a live schema.
func (k *checker) macros() error {
	if len(k.Macros.Added) == 0 {
		return nil
	}
	all, err := k.Is.Macros()
	if err != nil {
		return err
	}
	for i := range k.Macros.Added {
		m := &k.Macros.Added[i]
		if m.Ended {
			continue
		}
		if err := k.schemaLive(TableRef{}, "macro", m.ID, m.SchemaID); err != nil {
			return err
		}
		for _, o := range all {
			if o.Ended || o.ID == m.ID || o.SchemaID != m.SchemaID || !sameName(o.Name, m.Name) {
				continue
			}
			a, err := k.Is.MacroType(m.ID)
			if err != nil {
				return err
			}
			b, err := k.Is.MacroType(o.ID)
			if err != nil {
				return err
			}
			if a == b {
				k.add(NameTaken("macro", k.schemaName(m.SchemaID), m.Name))
				break
			}
		}
	}
	return nil
}

// tags: a comment belongs to a live object, one for each key.
func (k *checker) tags() error {
	for i := range k.Tags.Added {
		t := &k.Tags.Added[i]
		if t.Ended {
			continue
		}
		live, err := k.objectLive(t.Object)
		if err != nil {
			return err
		}
		if !live {
			k.add(DeadReference(TableRef{}, "the comment of object", t.Object, "object", t.Object))
			continue
		}
		all, err := k.Is.Tags(t.Object)
		if err != nil {
			return err
		}
		n := 0
		for _, o := range all {
			if !o.Ended && o.Key == t.Key {
				n++
			}
		}
		if n > 1 {
			k.add(TwoLive(TableRef{}, "the comment of object", t.Object))
		}
	}
	for i := range k.ColumnTags.Added {
		t := &k.ColumnTags.Added[i]
		if t.Ended {
			continue
		}
		columns, err := k.Is.Columns(t.TableID)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(columns, func(c lake.Column) bool { return c.ID == t.ColumnID && !c.Ended }) {
			k.add(DeadReference(k.ref(t.TableID), "the comment of column", t.ColumnID, "column", t.ColumnID))
			continue
		}
		all, err := k.Is.ColumnTags(t.TableID)
		if err != nil {
			return err
		}
		n := 0
		for _, o := range all {
			if !o.Ended && o.Key == t.Key && o.ColumnID == t.ColumnID {
				n++
			}
		}
		if n > 1 {
			k.add(TwoLive(k.ref(t.TableID), "the comment of column", t.ColumnID))
		}
	}
	return nil
}

// objectLive finds an object of any kind: they share one counter.
func (k *checker) objectLive(id int64) (bool, error) {
	if live, err := k.tableLive(id); live || err != nil {
		return live, err
	}
	views, err := k.Is.Views()
	if err != nil || slices.ContainsFunc(views, func(v lake.View) bool { return v.ID == id && !v.Ended }) {
		return err == nil, err
	}
	schemas, err := k.Is.Schema(id)
	if err != nil || slices.ContainsFunc(schemas, func(s lake.Schema) bool { return !s.Ended }) {
		return err == nil, err
	}
	macros, err := k.Is.Macros()
	return err == nil && slices.ContainsFunc(macros, func(m lake.Macro) bool { return m.ID == id && !m.Ended }), err
}

// registry: a relation of inlined rows is registered once, exists, and has the columns of
// its table.
func (k *checker) registry() error {
	for i := range k.InlinedTables.Added {
		r := &k.InlinedTables.Added[i]
		all, err := k.Is.Registered(r.TableID)
		if err != nil {
			return err
		}
		n := 0
		for _, o := range all {
			if o.Name == r.Name {
				n++
			}
		}
		if n > 1 {
			k.add(RegistryTwice(k.ref(r.TableID), r.Name))
			continue
		}
		names, ok, err := k.Is.InlinedColumns(r.Name)
		if err != nil {
			return err
		}
		if !ok {
			k.add(RegistryDangling(k.ref(r.TableID), r.Name))
			continue
		}
		if !slices.Contains(k.Made, r.Name) {
			continue
		}
		columns, err := k.Is.Columns(r.TableID)
		if err != nil {
			return err
		}
		if !sameColumns(names, columns) {
			k.add(InlinedShape(k.ref(r.TableID), r.Name))
		}
	}
	return nil
}

func sameColumns(names []string, columns []lake.Column) bool {
	want := map[string]bool{}
	for _, c := range columns {
		if !c.Ended && !c.HasParent {
			want[lake.FoldName(c.Name)] = true
		}
	}
	for _, n := range names {
		if !want[lake.FoldName(n)] {
			return false
		}
	}
	return len(names) == len(want)
}
