package meta_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/meta/metatest"
	"github.com/eiderdb/eider/kv/store"
)

// A Finder finds the rows of a Scan with one Equal, with an index or without, in a table of the
// transaction's, in one that is not there, and in a rehearsal.
func TestFinder(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	c := catalog(t)
	do(t, c, func(txn *store.Txn) error {
		must(t, metatest.CreateTable(txn, store.PublicOID, meta.SnapshotTable, metatest.SnapshotColumns()...))
		must(t, metatest.CreateTable(txn, store.PublicOID, "ducklake_files_scheduled_for_deletion", "data_file_id", "path varchar"))
		l, err := meta.Open(txn, "public")
		must(t, err)
		for i := range int64(20) {
			must(t, l.Table("ducklake_files_scheduled_for_deletion").Insert(meta.Values{
				"data_file_id": meta.Int(i % 7), "path": meta.Str(string(rune('a' + i%3))),
			}))
		}
		return nil
	})
	errEnd := errors.New("end")
	err := meta.Do(ctx, c, metatest.Plain{}, func(txn *store.Txn) error {
		l, err := meta.Open(txn, "public")
		must(t, err)
		for _, l := range []meta.Lake{l, l.Rehearse()} {
			for _, name := range []string{"ducklake_files_scheduled_for_deletion", "ducklake_snapshot", "none"} {
				for _, column := range []string{"data_file_id", "path", "none"} {
					table := l.Table(name)
					f, err := table.Finder(column)
					must(t, err)
					check := func() (n int) {
						values := [][]byte{meta.Str("b"), meta.Str("d")}
						if column == "data_file_id" {
							values = [][]byte{meta.Int(3), meta.Int(9)}
						}
						for _, v := range values {
							var want []uint64
							must(t, table.Scan(ctx, func(r *meta.Row) error {
								want = append(want, r.ID)
								return nil
							}, meta.Equal(column, v)))
							got, err := f.Find(ctx, v)
							must(t, err)
							if !slices.Equal(got, want) {
								t.Errorf("%s.%s of %q: %v, want %v", name, column, v, got, want)
							}
							n += len(got)
						}
						return n
					}
					before := check()
					if column != "path" || before == 0 {
						continue
					}
					must(t, table.Scan(ctx, func(r *meta.Row) error {
						must(t, r.Delete())
						return meta.ErrStop
					}, meta.Equal(column, meta.Str("b"))))
					if after := check(); after != before-1 {
						t.Errorf("%s: %d rows of %d are left", name, after, before)
					}
				}
			}
		}
		return errEnd
	})
	if !errors.Is(err, errEnd) {
		t.Error(err)
	}
}
