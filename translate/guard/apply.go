package guard

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake"
)

// apply makes the amendments that the modes do not turn off; done says whether any was.
func (c *commit) apply(base *store.Txn, list []conflict.Amendment, modes *conflict.Modes, now time.Time) (done bool, err error) {
	var off []conflict.Amendment // the schedule
	for _, a := range list {
		var code conflict.Code
		var fn func() error
		switch {
		case a.Unschedule != nil:
			code = conflict.CodeScheduledLive
			if a.Twice {
				code = conflict.CodeScheduleTwice
			}
			fn = func() error { off = append(off, a); return nil }
		case a.Option != nil:
			code, fn = conflict.CodeOptionTwice, func() error { return c.setOnce(base, a.Option) }
		case a.Back:
			code, fn = conflict.CodeDeleteDate, func() error { return c.takeBack(base, a, now) }
		case a.Begin != 0:
			code, fn = conflict.CodeDeleteDate, func() error { return c.beginLater(a.Instead, a.Begin, false) }
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
	if err := c.unschedule(off); err != nil {
		return false, fmt.Errorf("amend the commit: %w", err)
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

// setOnce leaves one of the rows that set an option: the last that the commit adds.
func (c *commit) setOnce(base *store.Txn, o *lake.Option) error {
	rows := func(txn *store.Txn) (r relation, out []target, err error) {
		t, ok := txn.TableByName(c.space, optionTable)
		if !ok {
			return relation{}, nil, nil
		}
		r = relation{txn, t}
		err = r.each("", nil, func(rowid uint64, t row.Tuple) error {
			if x := r.option(t); x.Key == o.Key && x.Scope == o.Scope && x.ScopeID == o.ScopeID {
				out = append(out, target{rowid, slices.Clone(t)})
			}
			return nil
		})
		return r, out, err
	}
	_, before, err := rows(base)
	if err != nil {
		return err
	}
	r, list, err := rows(c.txn)
	if err != nil {
		return err
	}
	was := func(x target) bool {
		return slices.ContainsFunc(before, func(b target) bool { return b.rowid == x.rowid })
	}
	stays := -1
	for i, x := range list {
		if !was(x) {
			stays = i
		}
	}
	for i, x := range list {
		if i == stays {
			continue
		}
		if err := c.txn.Delete(r.tbl, x.rowid, x.tuple); err != nil {
			return err
		}
	}
	return nil
}

// dropCovered removes inlined deletes that the delete file of a flush holds.
func (c *commit) dropCovered(a conflict.Amendment) error {
	r, rows, err := c.find(c.txn, lake.InlinedDeletePrefix+itoa(a.Table), "file_id", a.File)
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
	// All its rows count from then on, whatever snapshots stand in the file.
	if err := c.beginLater(a.Instead, a.End, true); err != nil {
		return err
	}
	return c.restore(base, a.Keep.ID, bigint(a.End))
}

// beginLater moves the begin of a delete file, and makes all of it count from there on.
func (c *commit) beginLater(id, begin int64, whole bool) error {
	r, rows, err := c.find(c.txn, deleteFileTable, "delete_file_id", id)
	if err != nil {
		return err
	}
	for _, x := range rows {
		n, err := r.with(x.tuple, "begin_snapshot", bigint(begin))
		if err == nil && whole {
			n, err = r.with(n, "partial_max", nil)
		}
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
	return nil
}

// restore brings back the row of a delete file that the commit has removed, with another
// end_snapshot, and takes the file off the list of files to delete.
func (c *commit) restore(base *store.Txn, id int64, end []byte) error {
	old, rows, err := c.find(base, deleteFileTable, "delete_file_id", id)
	if err != nil {
		return err
	}
	t, ok := c.txn.TableByName(c.space, deleteFileTable)
	if !ok {
		return nil
	}
	for _, x := range rows {
		n, err := old.with(x.tuple, "end_snapshot", end)
		if err != nil {
			return err
		}
		if _, err := c.txn.Insert(t, n); err != nil {
			return err
		}
	}
	list, rows, err := c.find(c.txn, scheduleTable, "data_file_id", id)
	for _, x := range rows {
		if err := c.txn.Delete(list.tbl, x.rowid, x.tuple); err != nil {
			return err
		}
	}
	return err
}

// takeBack undoes what a flush did to one data file.
func (c *commit) takeBack(base *store.Txn, a conflict.Amendment, now time.Time) error {
	r, rows, err := c.find(c.txn, deleteFileTable, "delete_file_id", a.Instead)
	if err != nil {
		return err
	}
	m := flushMender{txn: c.txn, deletes: r, now: now.UnixMicro()}
	for _, x := range rows {
		if err := m.takeBack(base, r.deleteFile(x.tuple), x.rowid); err != nil {
			return err
		}
	}
	return c.restore(base, a.Keep.ID, nil)
}

// keepStats undoes that a rewrite has narrowed the bounds of a table's columns: it has
// looked at the rows of the newest snapshot, but clients prune the scans of every snapshot
// by them. The old bounds are not right either, because a client answers min and max of
// the newest snapshot from them once no file has deletes. So one of the two bounds goes:
// then the client has none to go by, and asks the files. The other stays, and as wide as
// it was: of a column without any bound the client takes the next rows' for those of all.
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
		least, most := r.field(x.before, "min_value"), r.field(x.before, "max_value")
		if (least != nil || most != nil) && !(bytes.Equal(least, r.field(n, "min_value")) && bytes.Equal(most, r.field(n, "max_value"))) {
			if most != nil {
				least = nil
			}
			for col, v := range map[string][]byte{"min_value": least, "max_value": most} {
				if n, err = r.with(n, col, v); err != nil {
					return err
				}
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
