package guard

import (
	"fmt"
	"slices"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
)

// apply makes the amendments that the modes do not turn off; done says whether any was.
func (c *commit) apply(base *store.Txn, list []conflict.Amendment, modes *conflict.Modes) (done bool, err error) {
	for _, a := range list {
		var code conflict.Code
		var fn func() error
		switch {
		case a.Keep != nil:
			code, fn = conflict.CodeDeleteDate, func() error { return c.keepDeleteFile(base, a) }
		case a.Covered:
			code, fn = conflict.CodeDeleteOverlap, func() error { return c.dropCovered(a) }
		case a.Stats:
			code, fn = conflict.CodeStatistics, func() error { return c.keepStats(a.Table) }
		default:
			code, fn = conflict.CodeSnapshotTime, func() error { return c.setTime(a) }
		}
		table := a.Table
		if a.Keep != nil {
			table = a.Keep.TableID
		}
		if modes.Of(code, table) == conflict.Off {
			continue
		}
		if err := fn(); err != nil {
			return false, fmt.Errorf("amend the commit: %w", err)
		}
		done = true
	}
	return done, nil
}

// target is a row to change.
type target struct {
	rowid uint64
	tuple row.Tuple
}

// find returns the rows of a table with an id, as the transaction sees them.
func (c *commit) find(txn *store.Txn, table, column string, id int64) (relation, []target, error) {
	t, ok := txn.TableByName(c.space, table)
	if !ok {
		return relation{}, nil, nil
	}
	r := relation{txn, t}
	var out []target
	err := r.eachID(column, id, func(rowid uint64, t row.Tuple) error {
		out = append(out, target{rowid, slices.Clone(t)})
		return nil
	})
	return r, out, err
}

func (c *commit) setTime(a conflict.Amendment) error {
	r, rows, err := c.find(c.txn, snapshotTable, "snapshot_id", a.Snapshot)
	for _, x := range rows {
		n, werr := r.with(x.tuple, "snapshot_time", bigint(a.Micros-pgEpochMicros))
		if werr != nil {
			return werr
		}
		if err := c.txn.Update(r.tbl, x.rowid, x.tuple, n); err != nil {
			return err
		}
	}
	return err
}

// dropCovered removes inlined deletes that the delete file of a flush holds.
func (c *commit) dropCovered(a conflict.Amendment) error {
	r, rows, err := c.find(c.txn, inlinedDeletePrefix+itoa(a.Table), "file_id", a.File)
	for _, x := range rows {
		if r.num(x.tuple, "begin_snapshot") > a.Upto {
			continue
		}
		if err := c.txn.Delete(r.tbl, x.rowid, x.tuple); err != nil {
			return err
		}
	}
	return err
}

// keepDeleteFile brings back the row of a replaced delete file, ended, lets the one that
// takes its place begin there, and takes the file off the list of files to delete.
func (c *commit) keepDeleteFile(base *store.Txn, a conflict.Amendment) error {
	r, rows, err := c.find(c.txn, deleteFileTable, "delete_file_id", a.Instead)
	if err != nil {
		return err
	}
	for _, x := range rows {
		n, err := r.with(x.tuple, "begin_snapshot", bigint(a.End))
		if err != nil {
			return err
		}
		if sameTuple(n, x.tuple) {
			continue
		}
		if err := c.txn.Update(r.tbl, x.rowid, x.tuple, n); err != nil {
			return err
		}
	}
	old, rows, err := c.find(base, deleteFileTable, "delete_file_id", a.Keep.ID)
	if err != nil {
		return err
	}
	for _, x := range rows {
		n, err := old.with(x.tuple, "end_snapshot", bigint(a.End))
		if err != nil {
			return err
		}
		if _, err := c.txn.Insert(r.tbl, n); err != nil {
			return err
		}
	}
	list, rows, err := c.find(c.txn, scheduleTable, "data_file_id", a.Keep.ID)
	for _, x := range rows {
		if err := c.txn.Delete(list.tbl, x.rowid, x.tuple); err != nil {
			return err
		}
	}
	return err
}

// keepStats gives a table the bounds back that its column statistics had: the rewrite
// that computed new ones has looked at the rows of the newest snapshot, but clients use
// them for every snapshot.
func (c *commit) keepStats(table int64) error {
	t, ok := c.txn.TableByName(c.space, columnStatsTable)
	if !ok {
		return nil
	}
	r := relation{c.txn, t}
	type edit struct {
		target
		before row.Tuple
	}
	var rows []edit
	err := c.txn.Changes(t, func(ch store.RowChange) bool {
		if ch.Before != nil && ch.After != nil && r.num(ch.After, "table_id") == table {
			rows = append(rows, edit{target{ch.RowID, slices.Clone(ch.After)}, slices.Clone(ch.Before)})
		}
		return true
	})
	if err != nil {
		return err
	}
	for _, x := range rows {
		n := x.tuple
		for _, col := range []string{"min_value", "max_value"} {
			if n, err = r.with(n, col, r.field(x.before, col)); err != nil {
				return err
			}
		}
		for _, col := range []string{"contains_null", "contains_nan"} {
			if r.truth(x.before, col) {
				if n, err = r.with(n, col, []byte{1}); err != nil {
					return err
				}
			}
		}
		if sameTuple(n, x.tuple) {
			continue
		}
		if err := c.txn.Update(t, x.rowid, x.tuple, n); err != nil {
			return err
		}
	}
	return nil
}
