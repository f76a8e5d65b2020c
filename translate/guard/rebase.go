package guard

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake"
)

// errNoRebase says that a lost race is the client's to repeat.
var errNoRebase = errors.New("guard: the commit cannot be given other ids")

// rebase gives a commit that has lost the race for its snapshot id the ids that it would
// have got on the newest state, and writes it there, when conflict.PlanRebase says that
// nothing else was lost. Otherwise, or when something moves meanwhile, it returns an
// error; the transaction is then of no use but to be rolled back.
func (r *run) rebase() error {
	commits, err := extract(r.txn)
	if err != nil {
		return err
	}
	if len(commits) != 1 {
		return errNoRebase
	}
	c := commits[0]
	if c.batch.Bootstrap {
		return errNoRebase
	}
	set, err := conflict.Classify(c.batch)
	if err != nil {
		return errNoRebase
	}
	base, err := r.txn.Base()
	if err != nil {
		return err
	}
	defer func() { _ = base.Rollback() }()
	newest := r.txn.Catalog().Begin(store.TxnOptions{Isolation: store.RepeatableRead})
	defer func() { _ = newest.Rollback() }()
	if err := newest.EnsureSnapshot(); err != nil {
		return err
	}
	plan, ok, err := conflict.PlanRebase(conflict.Commit{
		Batch: c.batch, Set: set, Was: &view{txn: base, space: c.space}, Is: &view{txn: newest, space: c.space}, Ctx: r.ctx,
	})
	if err != nil {
		return err
	}
	if !ok {
		return errNoRebase
	}
	writes, err := rewrite(r.txn, c.space, plan)
	if err != nil {
		return err
	}
	if err := r.txn.Restart(); err != nil {
		return err
	}
	for _, w := range writes {
		if err := w.run(r.txn); err != nil {
			return err
		}
	}
	return nil
}

// maxRebases bounds how often one commit gets new ids.
const maxRebases = 16

// settle turns the error of a look, or of the sequencer, into none when it is a lost race
// for ids and the commit has got others.
func (r *run) settle(err error) error {
	for range maxRebases {
		var u *store.UniqueViolation
		if r.in.Rebase == nil || !errors.As(err, &u) || !strings.HasPrefix(u.Table, prefix) || !r.in.Rebase() {
			return err
		}
		rerr := r.rebase()
		if errors.Is(rerr, errNoRebase) || errors.Is(rerr, store.ErrSerialization) || errors.Is(rerr, store.ErrUnique) {
			return err // as without a rebase: the client repeats the commit
		}
		if rerr != nil {
			return rerr
		}
		r.findings = r.findings[:0]
		r.rebased++
		if err = r.look(); err == nil {
			return nil
		}
	}
	return err
}

// write is one row of a rebased commit: new when before is nil, changed otherwise.
type write struct {
	tbl           *rel.Table
	rowid         uint64
	before, after row.Tuple
}

func (w write) run(txn *store.Txn) error {
	tbl, ok := txn.TableByOID(w.tbl.OID)
	if !ok || tbl.Version != w.tbl.Version {
		return errNoRebase
	}
	if w.before == nil {
		_, err := txn.Insert(tbl, w.after)
		return err
	}
	now, ok, err := txn.Get(tbl, w.rowid)
	if err != nil {
		return err
	}
	if !ok || !bytes.Equal(now, w.before) {
		return errNoRebase // somebody else has changed it
	}
	return txn.Update(tbl, w.rowid, slices.Clone(now), w.after)
}

// rewrite returns the rows that a transaction writes, with the ids of the plan. Any table
// that is not listed here stops it.
func rewrite(txn *store.Txn, space uint32, p conflict.Rebase) ([]write, error) {
	var out []write
	var failed error
	txn.TouchedTables(func(tbl *rel.Table) {
		if failed != nil {
			return
		}
		if tbl.Schema != space {
			failed = errNoRebase
			return
		}
		r := relation{txn, tbl}
		change, updates := rowChange(r, p)
		if change == nil {
			failed = errNoRebase
			return
		}
		err := txn.Changes(tbl, func(ch store.RowChange) bool {
			switch {
			case ch.Before == nil && ch.After == nil:
				return true
			case ch.After == nil, ch.Before != nil && !updates:
				failed = errNoRebase
				return false
			}
			w := write{tbl: tbl, rowid: ch.RowID, before: slices.Clone(ch.Before)}
			w.after, failed = change(ch.After)
			out = append(out, w)
			return failed == nil
		})
		failed = errors.Join(failed, err)
	})
	return out, failed
}

// rowChange returns how rows of a table get the plan's ids, and whether rows that were
// there before may be changed.
func rowChange(r relation, p conflict.Rebase) (change func(row.Tuple) (row.Tuple, error), updates bool) {
	set := func(values map[string]int64) func(row.Tuple) (row.Tuple, error) {
		return func(t row.Tuple) (_ row.Tuple, err error) {
			t = slices.Clone(t)
			for name, v := range values {
				if t, err = r.with(t, name, bigint(v)); err != nil {
					return nil, err
				}
			}
			return t, nil
		}
	}
	file := func(and func(row.Tuple) (row.Tuple, error)) func(row.Tuple) (row.Tuple, error) {
		return func(t row.Tuple) (row.Tuple, error) {
			t, err := r.with(slices.Clone(t), "data_file_id", bigint(r.num(t, "data_file_id")+p.Files))
			if err != nil || and == nil {
				return t, err
			}
			return and(t)
		}
	}
	begins := map[string]int64{"begin_snapshot": p.To}
	switch r.tbl.Name {
	case snapshotTable:
		return set(map[string]int64{
			"snapshot_id": p.To, "schema_version": p.SchemaVersion, "next_catalog_id": p.NextCatalog, "next_file_id": p.NextFile,
		}), false
	case changesTable:
		return set(map[string]int64{"snapshot_id": p.To}), false
	case dataFileTable:
		return file(set(begins)), false
	case fileStatsTable, fileValueTable, "ducklake_file_variant_stats":
		return file(nil), false
	case tableStatsTable, columnStatsTable:
		return set(nil), true
	}
	if strings.HasPrefix(r.tbl.Name, lake.InlinedDataPrefix) && r.column("row_id") != nil {
		return set(begins), false
	}
	return nil, false
}
