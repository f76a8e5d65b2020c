package translate

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake"
)

const (
	deleteFileTable = "ducklake_delete_file"
	dataFileTable   = "ducklake_data_file"
	scheduleTable   = "ducklake_files_scheduled_for_deletion"
)

// mendFlushes takes back the delete files of a flush that would make older snapshots read
// rows twice (conflict.MisplacedFlushes), gives the inlined deletes back that the flush
// has removed, and schedules the files for deletion. All other work of the flush stays.
// It runs as the last thing before a commit, in the commit's own transaction.
func (s *Session) mendFlushes(txn *store.Txn) error {
	for _, oid := range txn.Touched(deleteFileTable) {
		tbl, ok := txn.TableByOID(oid)
		if !ok {
			continue
		}
		m := flushMender{txn: txn, deletes: relation{txn, tbl}, now: s.now().UnixMicro()}
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
		if d := m.deleteFile(t); d.HasPartialMax {
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

func (m *flushMender) deleteFile(t row.Tuple) lake.DeleteFile {
	r := m.deletes
	d := lake.DeleteFile{ID: r.num(t, "delete_file_id"), TableID: r.num(t, "table_id"), DataFileID: r.num(t, "data_file_id"), Path: r.text(t, "path"), Relative: r.truth(t, "path_is_relative")}
	d.Span = r.span(t)
	d.PartialMax, d.HasPartialMax = r.optional(t, "partial_max")
	return d
}

func (m *flushMender) dataFile(id int64) (f lake.DataFile, ok bool, err error) {
	err = m.files.each("data_file_id", id, func(_ uint64, t row.Tuple) error {
		f, ok = lake.DataFile{ID: id, Span: m.files.span(t)}, true
		return nil
	})
	return f, ok, err
}

func (m *flushMender) deletesOf(id int64) (out []lake.DeleteFile, err error) {
	err = m.deletes.each("data_file_id", id, func(_ uint64, t row.Tuple) error {
		out = append(out, m.deleteFile(t))
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
	inlined, ok := sibling(m.txn, m.deletes.tbl, fmt.Sprintf("ducklake_inlined_delete_%d", d.TableID))
	if !ok {
		return nil
	}
	var back []row.Tuple
	was := relation{base, inlined.tbl}
	err = was.each("file_id", d.DataFileID, func(id uint64, t row.Tuple) error {
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
		err := tables.each("table_id", d.TableID, func(_ uint64, t row.Tuple) error {
			schema = tables.num(t, "schema_id")
			path, relative = tables.text(t, "path")+d.Path, tables.truth(t, "path_is_relative")
			return nil
		})
		if err != nil {
			return err
		}
		if schemas, ok := sibling(m.txn, m.deletes.tbl, "ducklake_schema"); ok && relative {
			within := path
			err := schemas.each("schema_id", schema, func(_ uint64, t row.Tuple) error {
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

// pgEpochMicros is 2000-01-01 in µs since 1970; timestamps are stored from there.
const pgEpochMicros = 946_684_800_000_000

// relation reads rows of a DuckLake table by column name.
type relation struct {
	txn *store.Txn
	tbl *rel.Table
}

// each calls fn for all rows, or for those whose bigint column has a value, through an
// index where there is one. The tuple is good until fn returns.
func (r relation) each(column string, value int64, fn func(rowid uint64, t row.Tuple) error) error {
	var a store.Access
	if column != "" {
		c := r.column(column)
		if c == nil {
			return nil
		}
		key := [][]byte{binary.BigEndian.AppendUint64(nil, uint64(value))}
		if len(r.tbl.Layout) > 0 && r.tbl.Layout[0].Column == c.Num && !r.tbl.Layout[0].IsNull {
			a.Eq = key
		}
		for i := range r.tbl.Indexes {
			if x := &r.tbl.Indexes[i]; len(x.Columns) > 0 && x.Columns[0] == c.Num {
				a.Index, a.Eq = x, key
				break
			}
		}
	}
	it, err := r.txn.Scan(r.tbl, a)
	if err != nil {
		return err
	}
	defer func() { _ = it.Close() }()
	for it.Next() {
		t := it.Tuple()
		if column != "" {
			if v, ok := r.optional(t, column); !ok || v != value {
				continue
			}
		}
		if err := fn(it.RowID(), t); err != nil {
			return err
		}
	}
	return it.Err()
}

func (r relation) column(name string) *rel.Column {
	for i := range r.tbl.Columns {
		if c := &r.tbl.Columns[i]; c.Name == name && !c.Dropped {
			return c
		}
	}
	return nil
}

func (r relation) field(t row.Tuple, name string) []byte {
	c := r.column(name)
	if c == nil {
		return nil
	}
	v, null, ok := t.Field(int(c.Num) - 1)
	if !ok && c.HasMissing {
		return c.Missing
	}
	if null || !ok {
		return nil
	}
	return v
}

func (r relation) optional(t row.Tuple, name string) (int64, bool) {
	if v := r.field(t, name); len(v) == 8 {
		return int64(binary.BigEndian.Uint64(v)), true
	}
	return 0, false
}

func (r relation) num(t row.Tuple, name string) int64 {
	n, _ := r.optional(t, name)
	return n
}

func (r relation) text(t row.Tuple, name string) string { return string(r.field(t, name)) }

func (r relation) truth(t row.Tuple, name string) bool {
	v := r.field(t, name)
	return len(v) == 1 && v[0] != 0
}

func (r relation) span(t row.Tuple) lake.Span {
	s := lake.Span{Begin: r.num(t, "begin_snapshot")}
	s.End, s.Ended = r.optional(t, "end_snapshot")
	return s
}
