package store

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
)

// Base returns a transaction that reads what t's view shows without t's own writes: what
// was there when t began. It cannot write, costs O(1), and is ended by Rollback, before or
// after t.
func (t *Txn) Base() (*Txn, error) {
	if err := t.EnsureSnapshot(); err != nil {
		return nil, err
	}
	b := &Txn{cat: t.cat, opts: t.opts, frozen: true}
	b.main.init(t.main.prefix, t.main.newest, t.main.counters)
	t.cat.ref(t.view)
	b.setView(t.view)
	return b, nil
}

// Touched returns the oids of the tables of a name, in any schema, whose rows t has written.
func (t *Txn) Touched(name string) []uint32 {
	var oids []uint32
	for i := range t.deps {
		if t.deps[i].name == name && !slices.Contains(oids, t.deps[i].oid) {
			oids = append(oids, t.deps[i].oid)
		}
	}
	return oids
}

// TouchedTables calls fn for every table of the catalog whose rows t has written, as t's
// view has it, once; tables that t has dropped since are left out.
func (t *Txn) TouchedTables(fn func(tbl *rel.Table)) {
	for i := range t.deps {
		d := &t.deps[i]
		if slices.ContainsFunc(t.deps[:i], func(o tableDep) bool { return o.oid == d.oid }) {
			continue
		}
		if tbl, ok := t.TableByOID(d.oid); ok {
			fn(tbl)
		}
	}
}

// TouchedPrefix reports whether t has written rows of, made, changed or dropped a table
// whose name starts with prefix. It costs next to nothing.
func (t *Txn) TouchedPrefix(prefix string) bool {
	for i := range t.deps {
		if strings.HasPrefix(t.deps[i].name, prefix) {
			return true
		}
	}
	if t.main.ddl == nil || t.main.ddl.Len() == 0 {
		return false
	}
	found := false
	t.Reshaped(func(before, after *rel.Table) {
		found = found || (before != nil && strings.HasPrefix(before.Name, prefix)) || (after != nil && strings.HasPrefix(after.Name, prefix))
	})
	return found
}

// AppendWrote appends the names of the tables whose rows t has written, or has lost the race
// for. At its end it has forgotten them.
func (t *Txn) AppendWrote(names []string) []string {
	for i := range t.deps {
		names = append(names, t.deps[i].name)
	}
	return names
}

// Reshaped calls fn for each relation of the catalog that t makes (before is nil), drops
// (after is nil) or alters. One whose Storage changes has lost its rows, or has them all
// written again.
func (t *Txn) Reshaped(fn func(before, after *rel.Table)) {
	t.main.ddl.Scan(func(e ddlEntry) bool {
		if e.kind == descTable {
			fn(e.before, e.after)
		}
		return true
	})
}

// RowChange is what a transaction does to one row in all: Before is nil for a new row,
// After for one that is gone. The tuples must not be changed.
type RowChange struct {
	RowID         uint64
	Before, After row.Tuple
}

// Changes calls fn for the rows of a table that t has inserted, changed or removed, until
// fn answers false: those of a clustered table that got another key last, all others in
// key order. Rows that a change of the whole table (TRUNCATE) took are not among them.
func (t *Txn) Changes(tbl *rel.Table, fn func(RowChange) bool) error {
	sp := t.spaceOf(tbl)
	lo := rel.AppendPrimary(join(sp.rows), tbl)
	var err error
	// Rows of a clustered table whose key changed have two entries: one for each key.
	var moved map[uint64]RowChange
	sp.ov.tree.Ascend(&entry{key: lo}, func(e *entry) bool {
		if !bytes.HasPrefix(e.key, lo) {
			return false
		}
		var c RowChange
		if c.RowID, err = rel.TrailingRowID(e.key); err != nil {
			return false
		}
		if e.check == checkRow {
			c.Before = row.Tuple(e.exp[1:])
		}
		if !e.del {
			c.After = row.Tuple(e.val[1:])
		}
		if len(tbl.Layout) > 0 && (c.Before == nil || c.After == nil) {
			if moved == nil {
				moved = make(map[uint64]RowChange)
			}
			if other, ok := moved[c.RowID]; ok {
				if c.Before == nil {
					c.Before = other.Before
				} else {
					c.After = other.After
				}
			}
			moved[c.RowID] = c
			return true
		}
		return fn(c)
	})
	if err != nil || len(moved) == 0 {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(moved)) {
		if !fn(moved[id]) {
			return nil
		}
	}
	return nil
}

// Refresh moves t to the newest committed state, whatever its isolation level, for a last
// look before Commit. It fails, and t stays where it is, when what t has written does not
// fit there any more: with the error that Commit would give.
func (t *Txn) Refresh() error {
	if t.done {
		return ErrTxnDone
	}
	if t.view == nil {
		return t.EnsureSnapshot()
	}
	if t.Newest() {
		return nil
	}
	v, err := t.cat.acquire()
	if err != nil {
		return err
	}
	return t.moveTo(v, t.fits)
}

// fits verifies what t's writes assume about rows and unique keys in the state r, which is
// one that has been published.
func (t *Txn) fits(r kv.Reader) error {
	changed := t.cat.changedUnder(t, nil)
	if len(changed) == 0 {
		return nil
	}
	var err error
	t.main.ov.tree.Scan(func(e *entry) bool {
		if e.check != checkNone && slices.Contains(changed, e.tbl.Storage) {
			err = t.fitsEntry(r, e)
		}
		return err == nil
	})
	return err
}

func (t *Txn) fitsEntry(r kv.Reader, e *entry) error {
	if e.check == checkRow {
		rowid, err := rel.TrailingRowID(e.key)
		if err != nil {
			return err
		}
		return t.checkRow(r, e, rowid)
	}
	v, err := r.AppendGet(t.valueBuf[:0], e.key)
	missing := errors.Is(err, kv.ErrNotFound)
	if err != nil && !missing {
		return err
	}
	if !missing {
		t.valueBuf = v[:0]
	}
	switch {
	case e.check == checkFree && !missing:
		return t.violationAt(e)
	case e.check == checkOwned && (missing || !bytes.Equal(v, e.exp)):
		return &SerializationError{Table: e.tbl.Name, Deleted: missing}
	}
	return nil
}

// WatchRows makes Commit look whether another transaction has committed changes to rows of
// tbl since t's view was taken. If so, the function given to Recheck is called.
func (t *Txn) WatchRows(tbl *rel.Table) {
	if tbl.Storage == 0 || tbl.Temp || t.view == nil || t.main.made[tbl.Storage] {
		return
	}
	for i := range t.stays {
		if d := &t.stays[i]; d.held && d.schema == "" && d.storage == tbl.Storage {
			d.seq = t.view.seq
			return
		}
	}
	t.stays = append(t.stays, dataDep{storage: tbl.Storage, seq: t.view.seq, name: tbl.Name, held: true})
}

// maxRechecks bounds how often Commit starts over because held rows have changed.
const maxRechecks = 8

// Recheck gives Commit a function to call when rows that WatchRows named have changed. It
// runs after Refresh, may write, and holds again what it relies on; its error ends the
// transaction. Without one, and after some tries, Commit gives up with a
// *SerializationError.
func (t *Txn) Recheck(fn func() error) { t.recheck = fn }

// commitMain passes the transaction through the sequencer, again when held rows changed.
func (t *Txn) commitMain(ctx context.Context) error {
	for try := 1; ; try++ {
		err := t.cat.commit(ctx, t)
		var taken *UniqueViolation
		if t.lost != nil && try < maxLost && errors.As(err, &taken) {
			if err := t.lost(taken); err != nil {
				return err
			}
			if err := t.contendAgain(); err != nil {
				return err
			}
			continue
		}
		var serial *SerializationError
		if t.recheck == nil || try == maxRechecks || !errors.As(err, &serial) || !serial.held {
			return err
		}
		if err := t.Refresh(); err != nil {
			return err
		}
		t.stays = slices.DeleteFunc(t.stays, func(d dataDep) bool { return d.held })
		if err := t.recheck(); err != nil {
			return err
		}
	}
}

// goneIsGone says that two transactions may delete the same row of a table. DuckLake
// removes the registration of an empty inlined table, and drops the table, after the
// COMMIT of a flush. If that fails, because another client has just done the same, it
// takes the flush for failed and deletes the files that it has committed.
func goneIsGone(tbl *rel.Table) bool { return tbl.Name == "ducklake_inlined_data_tables" }

// OnScan gives t a function to call at the start of each scan of a table of the catalog.
func (t *Txn) OnScan(fn func(tbl *rel.Table, a Access)) { t.onScan = fn }

// Written calls fn for the rows of a table that t has inserted or changed, as they are
// now, in key order, until fn answers false. The tuple must not be changed.
func (t *Txn) Written(tbl *rel.Table, fn func(rowid uint64, tup row.Tuple) bool) error {
	sp := t.spaceOf(tbl)
	lo := rel.AppendPrimary(join(sp.rows), tbl)
	var err error
	sp.ov.tree.Ascend(&entry{key: lo}, func(e *entry) bool {
		if !bytes.HasPrefix(e.key, lo) {
			return false
		}
		if e.del {
			return true
		}
		var rowid uint64
		if rowid, err = rel.TrailingRowID(e.key); err != nil {
			return false
		}
		return fn(rowid, row.Tuple(e.val[1:]))
	})
	return err
}
