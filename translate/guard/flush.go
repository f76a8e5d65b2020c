package guard

import (
	"fmt"
	"slices"
	"time"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake"
)

// mendFlushes takes back the delete files of a flush that would make older snapshots read
// rows twice (conflict.MisplacedFlushes), gives the inlined deletes back that the flush
// has removed, and schedules the files for deletion. All other work of the flush stays.
// It runs as the last thing before a commit, in the commit's own transaction.
func mendFlushes(txn *store.Txn, now time.Time) error {
	for _, oid := range txn.Touched(deleteFileTable) {
		tbl, ok := txn.TableByOID(oid)
		if !ok {
			continue
		}
		m := flushMender{txn: txn, deletes: relation{txn, tbl}, now: now.UnixMicro()}
		if m.files, ok = sibling(txn, tbl, dataFileTable); !ok {
			continue
		}
		if err := m.run(); err != nil {
			return fmt.Errorf("mend flush: %w", err)
		}
	}
	return nil
}

// sibling is another table of the same metadata schema.
func sibling(txn *store.Txn, tbl *rel.Table, name string) (relation, bool) {
	t, ok := txn.TableByName(tbl.Schema, name)
	return relation{txn, t}, ok
}

type flushMender struct {
	txn     *store.Txn
	deletes relation
	files   relation
	now     int64 // µs since 1970
}

func (m *flushMender) run() error {
	base, err := m.txn.Base()
	if err != nil {
		return err
	}
	defer func() { _ = base.Rollback() }()
	var added []lake.DeleteFile
	rowids := map[int64]uint64{}
	err = m.txn.Written(m.deletes.tbl, func(id uint64, t row.Tuple) bool {
		if d := m.deletes.deleteFile(t); d.HasPartialMax {
			added = append(added, d)
			rowids[d.ID] = id
		}
		return true
	})
	if err != nil || len(added) == 0 {
		return err
	}
	// A row that was there before was changed, not added.
	for i := 0; i < len(added); i++ {
		_, old, err := base.Get(m.deletes.tbl, rowids[added[i].ID])
		if err != nil {
			return err
		}
		if old {
			added = slices.Delete(added, i, i+1)
			i--
		}
	}
	misplaced, err := conflict.MisplacedFlushes(added, conflict.Files{DataFile: m.dataFile, DeletesOf: m.deletesOf})
	if err != nil {
		return err
	}
	for _, d := range misplaced {
		if err := m.takeBack(base, d, rowids[d.ID]); err != nil {
			return err
		}
	}
	return nil
}

func (m *flushMender) dataFile(id int64) (f lake.DataFile, ok bool, err error) {
	err = m.files.eachID("data_file_id", id, func(_ uint64, t row.Tuple) error {
		f, ok = lake.DataFile{ID: id, Span: m.files.span(t)}, true
		return nil
	})
	return f, ok, err
}

func (m *flushMender) deletesOf(id int64) (out []lake.DeleteFile, err error) {
	err = m.deletes.eachID("data_file_id", id, func(_ uint64, t row.Tuple) error {
		out = append(out, m.deletes.deleteFile(t))
		return nil
	})
	return out, err
}

// takeBack removes one delete file and brings the inlined deletes back that it stands for.
func (m *flushMender) takeBack(base *store.Txn, d lake.DeleteFile, rowid uint64) error {
	old, ok, err := m.txn.Get(m.deletes.tbl, rowid)
	if err != nil || !ok {
		return err
	}
	if err := m.txn.Delete(m.deletes.tbl, rowid, append(row.Tuple(nil), old...)); err != nil {
		return err
	}
	inlined, ok := sibling(m.txn, m.deletes.tbl, lake.InlinedDeletePrefix+itoa(d.TableID))
	if !ok {
		return nil
	}
	var back []row.Tuple
	was := relation{base, inlined.tbl}
	err = was.eachID("file_id", d.DataFileID, func(id uint64, t row.Tuple) error {
		if was.num(t, "begin_snapshot") > d.PartialMax {
			return nil
		}
		if _, still, err := m.txn.Get(inlined.tbl, id); still || err != nil {
			return err
		}
		back = append(back, append(row.Tuple(nil), t...))
		return nil
	})
	if err != nil {
		return err
	}
	for _, t := range back {
		if _, err := m.txn.Insert(inlined.tbl, t); err != nil {
			return err
		}
	}
	return m.schedule(d)
}

// schedule puts the file on the list of files to delete, with its path as DuckLake writes
// it there: relative to the lake's data path, or absolute.
func (m *flushMender) schedule(d lake.DeleteFile) error {
	list, ok := sibling(m.txn, m.deletes.tbl, scheduleTable)
	if !ok || len(list.tbl.Columns) != 4 {
		return nil
	}
	path, relative := d.Path, d.Relative
	tables, ok := sibling(m.txn, m.deletes.tbl, "ducklake_table")
	if relative && ok {
		var schema int64
		err := tables.eachID("table_id", d.TableID, func(_ uint64, t row.Tuple) error {
			schema = tables.num(t, "schema_id")
			path, relative = tables.text(t, "path")+d.Path, tables.truth(t, "path_is_relative")
			return nil
		})
		if err != nil {
			return err
		}
		if schemas, ok := sibling(m.txn, m.deletes.tbl, "ducklake_schema"); ok && relative {
			within := path
			err := schemas.eachID("schema_id", schema, func(_ uint64, t row.Tuple) error {
				path, relative = schemas.text(t, "path")+within, schemas.truth(t, "path_is_relative")
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	var b row.Builder
	b.Reset()
	b.Int64(d.ID)
	b.String(path)
	b.Bool(relative)
	b.Int64(m.now - pgEpochMicros)
	t, err := b.Tuple()
	if err != nil {
		return err
	}
	_, err = m.txn.Insert(list.tbl, t)
	return err
}
