package store

import (
	"bytes"
	"context"
	"errors"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/rel"
)

// AwaitRetry waits for the turn of a transaction that repeats one which lost a race. It
// must be called before the transaction reads. Until the transaction ends, or the turn's
// bound has passed, nobody else commits a snapshot. The error is the context's.
func (t *Txn) AwaitRetry(ctx context.Context) error { return t.awaitTurn(ctx, &turn{kind: TurnRetry}) }

// AwaitLease waits for the turn of a first attempt that is likely to commit a row of the
// race. It must be called before the transaction reads, and waits only while losses are
// frequent. It may return before its turn has come: see Promised. The error is the context's.
func (t *Txn) AwaitLease(ctx context.Context, r *Race, f Forecast) error {
	if t.cat.turns.o.NoPacing || !t.cat.turns.stormy() {
		return nil
	}
	u := &turn{kind: TurnLease, fore: f}
	if f.Schema != "" {
		u.oid = t.cat.tableOID(f.Schema, r.Table)
	}
	return t.awaitTurn(ctx, u)
}

// tableOID is the oid of a table in the newest state, or 0.
func (c *Catalog) tableOID(schema, table string) uint32 {
	c.mu.Lock()
	desc := c.cur.schema
	c.mu.Unlock()
	if s, ok := desc.schemaByName(schema); ok {
		if tbl, ok := desc.tableByName(s.OID, table); ok {
			return tbl.OID
		}
	}
	return 0
}

func (t *Txn) awaitTurn(ctx context.Context, u *turn) error {
	if t.done {
		return ErrTxnDone
	}
	if t.turn != nil || t.view != nil || t.cat.turns.o.Off {
		return nil
	}
	if err := t.cat.turns.take(ctx, u); err != nil {
		t.cat.endTurn(u)
		return err
	}
	t.turn, t.had, t.told = u, u, u.told
	return nil
}

// endTurn gives a turn back.
func (c *Catalog) endTurn(u *turn) {
	if v := c.turns.end(u); v != nil {
		c.release(v)
	}
}

// Contend says that transactions race for the keys of tables. If t adds one, Commit lets
// the holder of the turn go first, unless ctx ends: then it fails with the context's error.
func (t *Txn) Contend(ctx context.Context, r *Race) { t.contend.ctx, t.contend.race = ctx, r }

// Contends reports, after Commit, whether t has added what Contend named.
func (t *Txn) Contends() bool { return t.contend.adds }

// awaitCommit lets the holder of the turn go first. A transaction that has lost already
// does not wait: the sequencer refuses it.
func (t *Txn) awaitCommit() error {
	c := &t.contend
	if c.ctx == nil {
		return nil
	}
	var taken bool
	var err error
	if c.adds, taken, err = t.adds(c.race.Table); err != nil || !c.adds || taken || t.cat.turns.o.Off {
		return err
	}
	if err := t.cat.turns.enter(c.ctx, t.turn, t.fills); err != nil {
		return err
	}
	t.entered = true
	return nil
}

// Unstable reports whether what the transaction reads is not yet on stable storage.
func (t *Txn) Unstable() bool {
	if t.view == nil || t.view.landed == nil {
		return false
	}
	select {
	case <-t.view.landed:
		return false
	default:
		return true
	}
}

// AwaitStable waits until what the transaction reads is on stable storage. Only a
// transaction that has the turn reads what is not: what it is answered before that, a
// power failure may make untrue. The error is the context's, or ErrEngineRestarted of
// package kv when what was read is lost.
func (t *Txn) AwaitStable(ctx context.Context) error {
	v := t.view
	if v == nil || v.landed == nil {
		return nil
	}
	return t.cat.awaitLanding(ctx, v)
}

// AwaitStable waits until everything that has been committed so far is on stable storage,
// or lost.
func (c *Catalog) AwaitStable(ctx context.Context) error {
	c.mu.Lock()
	v := c.cur
	c.mu.Unlock()
	if v == nil || v.landed == nil {
		return nil
	}
	if err := c.awaitLanding(ctx, v); !errors.Is(err, kv.ErrEngineRestarted) {
		return err
	}
	return nil
}

func (c *Catalog) awaitLanding(ctx context.Context, v *view) error {
	select {
	case <-v.landed:
	case <-ctx.Done():
		return ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if v.lost {
		return kv.ErrEngineRestarted
	}
	return nil
}

// Overran reports whether the transaction lost a retry's turn because its bound had passed.
// It may be called after the transaction's end.
func (t *Txn) Overran() bool {
	u := t.had
	if u == nil {
		return false
	}
	t.cat.turns.mu.Lock()
	defer t.cat.turns.mu.Unlock()
	return u.overran && u.kind == TurnRetry
}

// HadRetry reports whether the transaction got the turn of a retry, and did not overrun it.
func (t *Txn) HadRetry() bool {
	u := t.had
	if u == nil {
		return false
	}
	t.cat.turns.mu.Lock()
	defer t.cat.turns.mu.Unlock()
	return !u.overran && u.kind == TurnRetry
}

// leaveTurn gives back whatever the transaction has of the turn. The sequencer calls it
// as soon as others can see the commit, so that the next one need not wait for the disk.
func (t *Txn) leaveTurn(committed bool) {
	u, g := t.turn, t.cat.turns
	t.turn, t.told = nil, nil
	if committed {
		t.forgetRows()
	}
	if t.entered {
		t.entered = false
		if committed {
			g.obs.CommitAttempt(t.cat.Name(), "committed")
			t.leaveCommitted(u)
			return
		}
		g.leave(u, false)
		return
	}
	if u != nil {
		t.cat.endTurn(u)
	}
}

// leaveCommitted is leaveTurn of a commit that was just published. Nobody else publishes
// before it returns: the newest view is the one that the commit has left.
func (t *Txn) leaveCommitted(u *turn) {
	g, c := t.cat.turns, &t.contend
	var v *view
	if g.awaited(c) { // and is until then: whoever was promised it may only drop it
		v, _ = t.cat.acquire() // without one, the engine is gone, and everybody's view with it
	}
	g.mu.Lock()
	if c.known {
		c.step, c.stepped = g.stepTo(c.oid, c.row)
		if _, other := g.heads[c.oid]; c.stepped || !other {
			g.heads[c.oid] = c.row
		} else {
			delete(g.heads, c.oid) // it left out some, or is an old one
		}
	}
	taken := v != nil && g.open != nil
	if taken {
		by := "kept"
		if t.fills {
			by = "filled"
		}
		g.keep(v, by)
	}
	g.leaveWith(u, true)
	g.mu.Unlock()
	if v != nil && !taken {
		t.cat.release(v)
	}
}

// Lost notes that a transaction which wanted to commit a snapshot lost a race for what:
// "snapshot", "row" or "schema".
func (c *Catalog) Lost(what string) {
	if c.turns.o.Off {
		return
	}
	c.turns.lost()
	c.turns.obs.CommitAttempt(c.Name(), what)
}

// Turns reports whether the catalog's transactions take turns.
func (c *Catalog) Turns() bool { return !c.turns.o.Off }

// Overtaken reports whether t adds a key to the tables of a name that somebody has
// committed meanwhile: whatever error it fails with, it has lost the race for the key.
// After Commit it reports whether t added what Contend named.
func (t *Txn) Overtaken(table string) bool {
	if t.done {
		return t.contend.adds && t.contend.race.Table == table
	}
	_, taken, err := t.adds(table)
	return taken && err == nil
}

// adds reports whether t adds a key to a unique index of a table of the given name, in any
// schema, and whether somebody has committed such a key meanwhile.
func (t *Txn) adds(table string) (adds, taken bool, err error) {
	sp := &t.main
	t.contend.known = false
	for i := range t.deps {
		if t.deps[i].name != table {
			continue
		}
		tbl, ok := sp.current().table(t.deps[i].oid)
		if !ok {
			continue
		}
		for j := range tbl.Indexes {
			lo := rel.AppendIndex(join(sp.rows), tbl, &tbl.Indexes[j])
			sp.ov.tree.Ascend(&entry{key: lo}, func(e *entry) bool {
				if !bytes.HasPrefix(e.key, lo) {
					return false
				}
				if e.check != checkFree || e.del {
					return true
				}
				t.contend.note(t, tbl, e, adds)
				adds = true
				if !sp.made[tbl.Storage] {
					taken, err = sp.newest.Has(e.key)
				}
				return err == nil && !taken
			})
			if taken || err != nil {
				return adds, taken, err
			}
		}
	}
	return adds, false, nil
}
