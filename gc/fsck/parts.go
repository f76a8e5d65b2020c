package fsck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eiderdb/eider/lake"
)

// part is one version of something that a table or object has at most one of: its
// partitioning, its sort order, a tag of a key.
type part struct {
	lake.Span
	of, sub, id int64
	key         string
}

// readParts reads what belongs to tables and other objects.
func (c *checker) readParts() error {
	isTable := func(id int64) bool { return c.tables[id] != nil }
	for _, step := range []func() error{
		c.partitions, c.sorts, c.tags, c.mappings, c.schemaVersions,
		func() error { return c.wholes(PartOrphaned, "ducklake_column_tag", "table_id", "tables", isTable) },
		func() error { return c.wholes(PartOrphaned, "ducklake_schema_versions", "table_id", "tables", isTable) },
		func() error { return c.wholes(PartOrphaned, "ducklake_column_mapping", "table_id", "tables", isTable) },
		func() error { return c.wholes(PartOrphaned, "ducklake_partition_info", "table_id", "tables", isTable) },
		func() error { return c.wholes(PartOrphaned, "ducklake_sort_info", "table_id", "tables", isTable) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// once tests that versions of one part do not overlap.
func (c *checker) once(relation, what string, all []part, ids func(p *part) []Cond) {
	slices.SortStableFunc(all, func(a, b part) int {
		for _, d := range []int{cmpInt(a.of, b.of), cmpInt(a.sub, b.sub), strings.Compare(a.key, b.key), cmpInt(a.Begin, b.Begin)} {
			if d != 0 {
				return d
			}
		}
		return 0
	})
	same := func(i, j int) bool {
		return all[i].of == all[j].of && all[i].sub == all[j].sub && all[i].key == all[j].key
	}
	for _, o := range overlaps(len(all), same, func(i int) lake.Span { return all[i].Span }) {
		a, b := &all[o.a], &all[o.b]
		of := a.of
		if c.tables[of] == nil {
			of = 0
		}
		c.overlap(of, fmt.Sprintf(what, a.of, a.sub, a.key), a.Span, b.Span, o.mend, endAt(relation, a.Span, b.Begin, ids(a)...))
	}
}

func (c *checker) partitions() error {
	c.parts = map[int64][]partition{}
	var infos []part
	at := map[int64]int{}
	err := c.r.Each(c.ctx, "ducklake_partition_info", "partition_id table_id begin_snapshot end_snapshot", func(r *lake.Row) error {
		p := part{Span: r.Span(2), of: r.Num(1), id: r.Num(0)}
		infos = append(infos, p)
		at[p.id] = len(c.parts[p.id])
		c.parts[p.id] = append(c.parts[p.id], partition{table: p.of})
		return c.object(r, 2, "partitioning", p.id, p.Span)
	})
	if err != nil {
		return err
	}
	live := map[int64]bool{}
	for i := range infos {
		live[infos[i].id] = live[infos[i].id] || c.live(infos[i].Span)
	}
	orphaned := orphans{c: c, code: PartOrphaned, relation: "ducklake_partition_column", key: "partition_id", what: "partitionings"}
	err = c.r.Each(c.ctx, "ducklake_partition_column", "partition_id table_id column_id partition_key_index", func(r *lake.Row) error {
		id := r.Num(0)
		list := c.parts[id]
		if len(list) == 0 {
			orphaned.add(id)
			return nil
		}
		list[at[id]].keys++
		// The oldest format counts columns by place.
		if _, ok := c.columnAt(list[0].table, r.Num(2)); !ok && live[id] && c.version != "0.1" {
			c.find(PartitionColumn, list[0].table, fmt.Sprintf("partitioning %d", id), "key %d is column %d, which the table has never had", r.Num(3), r.Num(2))
		}
		return nil
	})
	orphaned.report()
	c.once("ducklake_partition_info", "partitioning of table %[1]d", infos, func(p *part) []Cond {
		return []Cond{is("partition_id", p.id), is("table_id", p.of)}
	})
	return err
}

func (c *checker) sorts() error {
	var infos []part
	ids := map[int64]bool{}
	err := c.r.Each(c.ctx, "ducklake_sort_info", "sort_id table_id begin_snapshot end_snapshot", func(r *lake.Row) error {
		infos = append(infos, part{Span: r.Span(2), of: r.Num(1), id: r.Num(0)})
		ids[r.Num(0)] = true
		return c.object(r, 2, "sort order", r.Num(0), r.Span(2))
	})
	if err != nil {
		return err
	}
	c.once("ducklake_sort_info", "sort order of table %[1]d", infos, func(p *part) []Cond {
		return []Cond{is("sort_id", p.id), is("table_id", p.of)}
	})
	return c.wholes(PartOrphaned, "ducklake_sort_expression", "sort_id", "sort orders", func(id int64) bool { return ids[id] })
}

func (c *checker) tags() error {
	var tags []part
	orphaned := orphans{c: c, code: PartOrphaned, relation: "ducklake_tag", key: "object_id", what: "objects"}
	err := c.r.Each(c.ctx, "ducklake_tag", "object_id key begin_snapshot end_snapshot", func(r *lake.Row) error {
		p := part{Span: r.Span(2), of: r.Num(0), key: r.Text(1)}
		if _, ok := c.objects[p.of]; !ok {
			orphaned.add(p.of)
			return nil
		}
		c.span(0, fmt.Sprintf("tag %q of object %d", p.key, p.of), p.Span)
		tags = append(tags, p)
		return nil
	})
	if err != nil {
		return err
	}
	orphaned.report()
	c.once("ducklake_tag", "tag %[3]q of object %[1]d", tags, func(p *part) []Cond {
		return []Cond{is("object_id", p.of), text("key", p.key)}
	})
	tags = tags[:0]
	err = c.r.Each(c.ctx, "ducklake_column_tag", "table_id column_id key begin_snapshot end_snapshot", func(r *lake.Row) error {
		p := part{Span: r.Span(3), of: r.Num(0), sub: r.Num(1), key: r.Text(2)}
		if c.tables[p.of] != nil {
			c.span(p.of, fmt.Sprintf("tag %q of column %d of table %d", p.key, p.sub, p.of), p.Span)
			tags = append(tags, p)
		}
		return nil
	})
	c.once("ducklake_column_tag", "tag %[3]q of column %[2]d of table %[1]d", tags, func(p *part) []Cond {
		return []Cond{is("table_id", p.of), is("column_id", p.sub), text("key", p.key)}
	})
	return err
}

func (c *checker) mappings() error {
	c.maps = map[int64]int64{}
	err := c.r.Each(c.ctx, "ducklake_column_mapping", "mapping_id table_id", func(r *lake.Row) error {
		c.maps[r.Num(0)] = r.Num(1)
		c.fileID(r.Num(1), fmt.Sprintf("column mapping %d", r.Num(0)), r.Num(0))
		return nil
	})
	if err != nil {
		return err
	}
	return c.wholes(PartOrphaned, "ducklake_name_mapping", "mapping_id", "column mappings", func(id int64) bool {
		_, ok := c.maps[id]
		return ok
	})
}

// schemaVersions keeps from which snapshot on each table's are known.
func (c *checker) schemaVersions() error {
	c.scheme = map[int64]int64{}
	return c.r.Each(c.ctx, "ducklake_schema_versions", "table_id begin_snapshot schema_version", func(r *lake.Row) error {
		begin, of := r.Num(1), r.Num(0)
		if first, ok := c.scheme[of]; !ok || begin < first {
			c.scheme[of] = begin
		}
		if begin > c.head.id {
			c.find(BeginsAfterHead, of, fmt.Sprintf("schema version %d of table %d", r.Num(2), of), "begins at %d, the newest snapshot is %d", begin, c.head.id)
		}
		return nil
	})
}
