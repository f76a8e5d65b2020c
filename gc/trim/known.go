package trim

import (
	"context"
	"slices"

	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/sweep"
)

// known is what rows may refer to, as a run finds it when it begins.
type known struct {
	kept       *sweep.IDs // snapshots, and all that may come
	nextFile   int64      // counters of the newest snapshot
	nextObject int64
	files      *sweep.IDs           // data files
	tables     *sweep.IDs           // tables, whether they have ended or not
	objects    *sweep.IDs           // what can have tags
	partitions *sweep.IDs           // partitionings that data files are of
	begins     map[int64]*sweep.IDs // by table, the snapshots in which its data files begin
	registered map[string]bool      // relations of inlined rows
}

func know(ctx context.Context, l meta.Lake) (*known, error) {
	k := &known{
		objects: &sweep.IDs{}, files: &sweep.IDs{}, partitions: &sweep.IDs{}, begins: map[int64]*sweep.IDs{}, registered: map[string]bool{},
	}
	snapshots := l.Table(meta.SnapshotTable)
	ids, err := sweep.IDsOf(ctx, snapshots, "snapshot_id")
	if err != nil {
		return nil, err
	}
	last, _ := ids.Max()
	head, found, err := snapshots.One(ctx, meta.Is("snapshot_id", last))
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, ErrShape
	}
	if k.kept, _, err = sweep.Kept(ctx, l); err != nil {
		return nil, err
	}
	k.nextFile, k.nextObject = head.Num("next_file_id"), head.Num("next_catalog_id")
	if k.tables, err = sweep.IDsOf(ctx, l.Table("ducklake_table"), "table_id"); err != nil {
		return nil, err
	}
	for table, column := range map[string]string{
		"ducklake_schema": "schema_id", "ducklake_table": "table_id", "ducklake_view": "view_id", "ducklake_macro": "macro_id",
	} {
		ids, err := sweep.IDsOf(ctx, l.Table(table), column)
		if err != nil {
			return nil, err
		}
		for _, r := range ids.Ranges() {
			k.objects.AddRange(r)
		}
	}
	if err := k.readFiles(ctx, l); err != nil {
		return nil, err
	}
	err = l.Table(registry).Scan(ctx, func(x *meta.Row) error {
		k.registered[x.Text("table_name")] = true
		return nil
	})
	return k, err
}

func (k *known) readFiles(ctx context.Context, l meta.Lake) error {
	t := l.Table("ducklake_data_file")
	id, table, begin, partition := t.Column("data_file_id"), t.Column("table_id"), t.Column("begin_snapshot"), t.Column("partition_id")
	return t.Scan(ctx, func(x *meta.Row) error {
		if n, ok := id.Int(x); ok {
			k.files.Add(n)
		}
		if n, ok := partition.Int(x); ok {
			k.partitions.Add(n)
		}
		owner, _ := table.Int(x)
		if n, ok := begin.Int(x); ok {
			of := k.begins[owner]
			if of == nil {
				of = &sweep.IDs{}
				k.begins[owner] = of
			}
			of.Add(n)
		}
		return nil
	})
}

// noFile says that there is no data file of an id, nor will be.
func (k *known) noFile(id int64) bool { return id < k.nextFile && !k.files.Has(id) }

// noTable says that there is no table of an id, nor will be.
func (k *known) noTable(id int64) bool { return id < k.nextObject && !k.tables.Has(id) }

// noObject says that there is nothing of an id that has tags, nor will be.
func (k *known) noObject(id int64) bool { return id < k.nextObject && !k.objects.Has(id) }

// version is a row of ducklake_schema_versions of one table.
type version struct{ begin, number int64 }

// superfluous says whether a table does without one of its schema versions. It is in force
// from its begin to that of the next one: no data file begins there, no snapshot is left
// there, and no relation of inlined rows has its number. What begins there later is dated
// back to where something begins now.
func superfluous(v version, all []version, files, kept *sweep.IDs, inlined []int64) bool {
	next, has := int64(0), false
	for _, o := range all {
		if o.begin > v.begin && (!has || o.begin < next) {
			next, has = o.begin, true
		}
	}
	return has && !kept.Any(v.begin, next-1) && (files == nil || !files.Any(v.begin, next-1)) && !slices.Contains(inlined, v.number)
}
