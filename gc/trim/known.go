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
	files      *sweep.IDs      // data files
	tables     *sweep.IDs      // tables, whether they have ended or not
	objects    *sweep.IDs      // what can have tags
	partitions *sweep.IDs      // partitionings that data files are of
	registered map[string]bool // relations of inlined rows
}

func know(ctx context.Context, l meta.Lake) (*known, error) {
	k := &known{
		objects: &sweep.IDs{}, files: &sweep.IDs{}, partitions: &sweep.IDs{},
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
	k.registered, err = registeredIn(ctx, l)
	return k, err
}

func (k *known) readFiles(ctx context.Context, l meta.Lake) error {
	t := l.Table("ducklake_data_file")
	id, partition := t.Column("data_file_id"), t.Column("partition_id")
	return t.Scan(ctx, func(x *meta.Row) error {
		if n, ok := id.Int(x); ok {
			k.files.Add(n)
		}
		if n, ok := partition.Int(x); ok {
			k.partitions.Add(n)
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
// from its begin to that of the next one: no snapshot is left there, no relation of inlined
// rows has its number, and no data file begins there. What begins there later is dated back
// to where something begins now. The begins of files are asked for last: they are many.
func superfluous(v version, all []version, kept *sweep.IDs, inlined []int64, files func() (*sweep.IDs, error)) (bool, error) {
	next, has := int64(0), false
	for _, o := range all {
		if o.begin > v.begin && (!has || o.begin < next) {
			next, has = o.begin, true
		}
	}
	if !has || kept.Any(v.begin, next-1) || slices.Contains(inlined, v.number) {
		return false, nil
	}
	begins, err := files()
	return err == nil && !begins.Any(v.begin, next-1), err
}
