package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv/store"
)

// growth says what grow adds to a lake, on its first live table.
type growth struct {
	snapshots int64 // new ones
	every     int64 // a data file for each so many snapshots, which ends with the next one; 0: none
	columns   int64 // rows of statistics for each file
	orphans   int64 // rows of statistics of files that do not exist
}

// plain commits without checks and without waiting for the disk.
type plain struct{}

func (plain) Commit(ctx context.Context, txn *store.Txn) error {
	o := txn.Options()
	o.Sync = false
	if err := txn.SetOptions(o); err != nil {
		return err
	}
	return txn.Commit(ctx)
}

// grow gives a lake a past.
func grow(ctx context.Context, cat *store.Catalog, name string, g growth) error {
	const chunk = 10_000
	var head, catalog, file, version, table int64
	var at time.Time
	err := meta.Read(ctx, cat, func(txn *store.Txn) error {
		l, err := meta.Open(txn, name)
		if err != nil {
			return err
		}
		r, ok, err := l.Table(meta.SnapshotTable).One(ctx, meta.From("snapshot_id", 0), meta.Reverse())
		if err != nil || !ok {
			return errors.Join(err, errors.New("the lake has no snapshot"))
		}
		head, catalog, file, version = r.Num("snapshot_id"), r.Num("next_catalog_id"), r.Num("next_file_id"), r.Num("schema_version")
		micros, _ := r.Micros("snapshot_time")
		at = time.UnixMicro(micros)
		t, ok, err := l.Table("ducklake_table").One(ctx, meta.Null("end_snapshot"))
		if err != nil || !ok {
			return errors.Join(err, errors.New("the lake has no table"))
		}
		table = t.Num("table_id")
		return nil
	})
	if err != nil {
		return err
	}
	// Files that are gone have ids below the counter.
	lost := file
	if g.orphans > 0 {
		file += g.orphans/10 + 1
		g.snapshots = max(1, g.snapshots)
	}
	for done := int64(0); done < g.snapshots; {
		n := min(chunk, g.snapshots-done)
		err := meta.Do(ctx, cat, plain{}, func(txn *store.Txn) error {
			l, err := meta.Open(txn, name)
			if err != nil {
				return err
			}
			for range n {
				head++
				at = at.Add(time.Millisecond)
				made := fmt.Sprint("inlined_insert:", table)
				if g.every > 0 && head%g.every == 0 {
					made = fmt.Sprint("inserted_into_table:", table)
					if err := addFile(l, table, file, head, head+g.every, g.columns); err != nil {
						return err
					}
					file++
				}
				err := errors.Join(
					l.Table(meta.SnapshotTable).Insert(meta.Values{
						"snapshot_id": meta.Int(head), "snapshot_time": meta.Time(at), "schema_version": meta.Int(version),
						"next_catalog_id": meta.Int(catalog), "next_file_id": meta.Int(file),
					}),
					l.Table("ducklake_snapshot_changes").Insert(meta.Values{"snapshot_id": meta.Int(head), "changes_made": meta.Str(made)}),
				)
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		done += n
	}
	for done := int64(0); done < g.orphans; {
		n := min(chunk, g.orphans-done)
		err := meta.Do(ctx, cat, plain{}, func(txn *store.Txn) error {
			l, err := meta.Open(txn, name)
			if err != nil {
				return err
			}
			for i := range n {
				if err := addStats(l, table, lost+(done+i)/10, (done+i)%10+1); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		done += n
	}
	return nil
}

func addFile(l meta.Lake, table, file, begin, end, columns int64) error {
	err := l.Table("ducklake_data_file").Insert(meta.Values{
		"data_file_id": meta.Int(file), "table_id": meta.Int(table), "begin_snapshot": meta.Int(begin), "end_snapshot": meta.Int(end),
		"path":             meta.Str(fmt.Sprintf("ducklake-01a22a26-2fa9-71e9-b0f6-%012d.parquet", file)),
		"path_is_relative": meta.Truth(true), "file_format": meta.Str("parquet"), "record_count": meta.Int(100),
		"file_size_bytes": meta.Int(1000), "footer_size": meta.Int(300), "row_id_start": meta.Int(0),
	})
	for c := int64(1); c <= columns && err == nil; c++ {
		err = addStats(l, table, file, c)
	}
	return err
}

func addStats(l meta.Lake, table, file, column int64) error {
	return l.Table("ducklake_file_column_stats").Insert(meta.Values{
		"data_file_id": meta.Int(file), "table_id": meta.Int(table), "column_id": meta.Int(column), "column_size_bytes": meta.Int(40),
		"value_count": meta.Int(100), "null_count": meta.Int(0), "min_value": meta.Str("0"), "max_value": meta.Str("99"),
	})
}
