package guard

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake"
)

// ScheduleTable is the list of files to delete of a lake.
const ScheduleTable = scheduleTable

// Schedule calls fn for each file that is scheduled for deletion in a lake, with the time
// from which it may be deleted, in µs since 1970, and what else keeps it, "" when nothing
// does. pending is true for those that the transaction has scheduled itself: whether they go
// is known when it commits.
func (f *Fence) Schedule(ctx context.Context, fn func(e Entry) error) error {
	return f.schedule(ctx, nil, fn)
}

// Verdicts are what a transaction has found to keep scheduled files, so that it looks for
// each of them once. They hold for one view: in the same view nothing new comes to be held,
// and what was held may only have been let go.
type Verdicts struct {
	space uint32
	seq   uint64
	why   map[lake.Scheduled]string
}

// of makes v that of a transaction's view of a lake.
func (v *Verdicts) of(txn *store.Txn, space uint32) {
	if seq, ok := txn.ViewSeq(); v.why == nil || !ok || v.seq != seq || v.space != space {
		*v = Verdicts{space: space, seq: seq, why: make(map[lake.Scheduled]string)}
	}
}

// schedule is Schedule. With verdicts, what keeps a file is not looked for before its time.
func (f *Fence) schedule(ctx context.Context, v *Verdicts, fn func(e Entry) error) error {
	l, err := f.look()
	if err != nil {
		return err
	}
	defer l.close()
	r, ok := l.own[0].v.of(scheduleTable)
	if !ok {
		return nil
	}
	due, err := f.due()
	if err != nil {
		return err
	}
	return r.each("", nil, func(rowid uint64, t row.Tuple) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		e := Entry{Scheduled: r.scheduled(t), RowID: rowid}
		e.Due = due.at(e.Scheduled)
		known := false
		if v != nil {
			if e.Why = due.early(e.Scheduled); e.Why != "" {
				return fn(e)
			}
			e.Why, known = v.why[e.Scheduled]
		}
		if !known {
			if e.Why, err = l.holds(e.Scheduled); err != nil {
				return err
			}
		}
		if v != nil {
			v.why[e.Scheduled] = e.Why
		}
		if e.Why == "" {
			e.Why = due.early(e.Scheduled)
		}
		return fn(e)
	})
}

// Entry is one row of the schedule.
type Entry struct {
	lake.Scheduled
	RowID uint64
	// Due is when the file may be deleted by the time alone, in µs since 1970.
	Due int64
	// Why says in words why it may not be deleted now; "" when it may.
	Why string
}

// NotDue are the rows of a table, by row id, that a client must not see which is about to
// delete the files that they name; nil: none. Rows that the transaction has written itself
// are among them: it may be rolled back. found are the transaction's.
func (g *Guard) NotDue(ctx context.Context, txn *store.Txn, tbl *rel.Table, found *Verdicts) (map[uint64]struct{}, error) {
	f, mode, err := g.schedule(txn, tbl)
	if err != nil || mode != conflict.Enforce {
		return nil, err
	}
	var hidden map[uint64]struct{}
	hide := func(rowid uint64) {
		if hidden == nil {
			hidden = make(map[uint64]struct{})
		}
		hidden[rowid] = struct{}{}
	}
	found.of(txn, tbl.Schema)
	err = f.schedule(ctx, found, func(e Entry) error {
		if e.Why != "" {
			hide(e.RowID)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the schedule: %w", err)
	}
	err = txn.Changes(tbl, func(c store.RowChange) bool {
		if c.After != nil && !bytes.Equal(c.Before, c.After) {
			hide(c.RowID)
		}
		return true
	})
	return hidden, err
}

// schedule is the fence of the lake that a schedule is of, and the mode of its check there;
// off when it is no lake's.
func (g *Guard) schedule(txn *store.Txn, tbl *rel.Table) (*Fence, conflict.Mode, error) {
	if tbl.Temp || tbl.Name != scheduleTable {
		return nil, conflict.Off, nil
	}
	l, ok := txn.SchemaByOID(tbl.Schema)
	if !ok {
		return nil, conflict.Off, nil
	}
	f, err := g.Fence(txn, l.Name, nil)
	if err != nil {
		return nil, conflict.Off, err
	}
	base, err := txn.Base()
	if err != nil {
		return nil, conflict.Off, err
	}
	defer end([]*store.Txn{base})
	modes, err := loadModes(base, l.Name, g.o.Default)
	if err != nil {
		return nil, conflict.Off, err
	}
	return f, modes.Of(conflict.CodeScheduleEarly, 0), nil
}

// scheduledPath is what rows of the schedule are the same by.
type scheduledPath struct {
	path     string
	relative bool
}

// unschedule takes rows off the list of files to delete that the commit has put there.
func (c *commit) unschedule(list []conflict.Amendment) error {
	t, ok := c.txn.TableByName(c.space, scheduleTable)
	if !ok || len(list) == 0 {
		return nil
	}
	r := relation{c.txn, t}
	mine := make(map[scheduledPath][]target, len(list))
	for _, a := range list {
		mine[scheduledPath{a.Unschedule.Path, a.Unschedule.Relative}] = nil
	}
	err := c.txn.Changes(t, func(ch store.RowChange) bool {
		if ch.Before == nil && ch.After != nil {
			s := r.scheduled(ch.After)
			at := scheduledPath{s.Path, s.Relative}
			if rows, ok := mine[at]; ok {
				mine[at] = append(rows, target{ch.RowID, slices.Clone(ch.After)})
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	for _, a := range list {
		rows := mine[scheduledPath{a.Unschedule.Path, a.Unschedule.Relative}]
		if a.Twice {
			n := 0
			err := r.each("path", []byte(a.Unschedule.Path), func(_ uint64, t row.Tuple) error {
				if r.truth(t, "path_is_relative") == a.Unschedule.Relative {
					n++
				}
				return nil
			})
			if err != nil {
				return err
			}
			if n == len(rows) && n > 0 {
				rows = rows[1:] // none of them was there before
			}
		}
		for _, x := range rows {
			if err := c.txn.Delete(t, x.rowid, x.tuple); err != nil {
				return err
			}
		}
	}
	return nil
}
