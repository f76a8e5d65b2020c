package store

import (
	"context"
	"errors"
	"slices"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/rel"
)

// Txn is a transaction. It reads one view of its catalog (REPEATABLE READ) or one per
// statement (READ COMMITTED), always with its own writes on top, which it buffers until
// Commit. It is used by one goroutine at a time.
type Txn struct {
	cat  *Catalog
	opts TxnOptions
	view *view // nil before the first read

	main space
	temp space

	// firstSeq is the commit number of the oldest view under which something was written.
	// While nothing was committed after it, everything the writes assume still holds.
	firstSeq uint64
	wrote    bool

	deps    []tableDep
	stays   []dataDep
	recheck func() error
	onScan  func(tbl *rel.Table, a Access)
	taken   func(tbl *rel.Table) bool
	lost    func(lost *UniqueViolation) error
	finders []*Finder

	turn    *turn    // nil: none was taken, or it was given back
	had     *turn    // as turn, but kept
	told    *promise // what it was promised, until Settle
	fills   bool     // see Fill
	entered bool     // turns.enter was called, turns.leave was not
	contend contest

	exported []string
	done     bool
	frozen   bool // made by Freeze

	probe entry // for look-ups in the overlay
	// Buffers that are reused from call to call.
	scratch  []byte // keys being built
	offsets  []keyAt
	rowKey   []byte
	newKey   []byte
	locKey   []byte
	valueBuf []byte
	spare    block // of a scan that has ended

	counter struct {
		storage uint64
		c       *rowCounter
	}
}

// tableDep says that rows of a table were written under this version of its descriptor.
type tableDep struct {
	oid     uint32
	version uint64
	storage uint64
	name    string
}

// dataDep says that the transaction read all rows of a storage to derive something that
// must hold for every row (an index, a rewritten table): no row may change meanwhile.
type dataDep struct {
	storage uint64
	seq     uint64
	name    string
	held    bool // by WatchRows: a change is not the end, see Recheck
	// schema is the name of the table's schema when the name has to stay with the storage, see
	// WatchTable; storage is 0 when no table has it.
	schema string
}

// Begin starts a transaction. It takes its view when it first reads.
func (c *Catalog) Begin(o TxnOptions) *Txn {
	t := &Txn{cat: c, opts: o}
	t.main.init(c.prefix, c.store.engine, &c.counters)
	if ts := o.Temp; ts != nil {
		t.temp.init(nil, ts.engine, &ts.counters)
		t.temp.base = ts.schema
	}
	return t
}

// Catalog returns the transaction's catalog.
func (t *Txn) Catalog() *Catalog { return t.cat }

// Options returns what the transaction was begun with.
func (t *Txn) Options() TxnOptions { return t.opts }

// SetOptions changes isolation, read-only and sync, as SET TRANSACTION and SET
// synchronous_commit do. Isolation must not change after the first read; Temp is kept.
func (t *Txn) SetOptions(o TxnOptions) error {
	if t.done {
		return ErrTxnDone
	}
	if o.Isolation != t.opts.Isolation && t.view != nil {
		return ErrSnapshotInUse
	}
	o.Temp = t.opts.Temp
	t.opts = o
	return nil
}

// Freeze returns a transaction that goes on reading what t sees now, its writes
// included, whatever t does later. It cannot write, costs O(1), and is ended by Rollback,
// before or after t.
func (t *Txn) Freeze() (*Txn, error) {
	if err := t.EnsureSnapshot(); err != nil {
		return nil, err
	}
	f := &Txn{cat: t.cat, opts: t.opts, frozen: true}
	f.main.freeze(&t.main)
	f.temp.freeze(&t.temp)
	t.cat.ref(t.view)
	f.view = t.view
	return f, nil
}

func (t *Txn) setView(v *view) {
	t.closeFinders()
	t.view = v
	t.main.base = v.schema
	t.main.own = nil
}

// acquire returns the view that t is to read: the newest that is stable, or the newest at
// all for a transaction that has, or had, the turn.
func (t *Txn) acquire() (*view, error) {
	if t.had != nil || t.fills {
		return t.cat.acquire()
	}
	return t.cat.acquireStable()
}

// EnsureSnapshot takes the transaction's view if it has none yet.
func (t *Txn) EnsureSnapshot() error {
	if t.done {
		return ErrTxnDone
	}
	if t.view != nil {
		return nil
	}
	if t.told != nil {
		return errUnsettled
	}
	v, err := t.acquire()
	if err != nil {
		return err
	}
	t.setView(v)
	return nil
}

// NewStatement must be called at the start of each statement: under READ COMMITTED it
// moves the transaction to the newest view, under REPEATABLE READ only the first call
// does something. Open iterators keep the view they started with. A *SerializationError
// says that the newest state has other versions of rows that this transaction changed:
// it cannot commit any more, and would see both versions.
func (t *Txn) NewStatement() error {
	if t.done {
		return ErrTxnDone
	}
	if t.view == nil || t.opts.Isolation == RepeatableRead {
		return t.EnsureSnapshot()
	}
	// Of a transaction with the turn only the first view may be one that is not stable yet:
	// who waits before a statement until its view is (AwaitStable) waits for the present one.
	if t.view.seq >= t.cat.readable.Load() && t.view.epoch == t.cat.store.engine.Epoch() {
		return nil
	}
	v, err := t.cat.acquireStable()
	if err != nil {
		return err
	}
	return t.moveTo(v, t.checkTouched)
}

// mayMove refuses to take what was written under a view that is lost to another one.
func (t *Txn) mayMove() error {
	if t.wrote && t.cat.isLost(t.view) {
		return &SerializationError{}
	}
	return nil
}

// moveTo makes v, which the caller has acquired, the transaction's view, if what it has
// written passes the check there.
func (t *Txn) moveTo(v *view, check func(kv.Reader) error) error {
	err := t.mayMove()
	if err == nil {
		err = check(v.snap)
	}
	if err != nil {
		t.cat.release(v)
		return err
	}
	old := t.view
	t.setView(v)
	t.cat.release(old)
	return nil
}

// checkTouched verifies that the rows that the transaction changed are in r what it took
// them for.
func (t *Txn) checkTouched(r kv.Reader) error {
	changed := t.cat.changedUnder(t, nil)
	if len(changed) == 0 {
		return nil
	}
	var err error
	t.main.ov.tree.Scan(func(e *entry) bool {
		if e.check == checkRow && slices.Contains(changed, e.tbl.Storage) {
			var rowid uint64
			if rowid, err = rel.TrailingRowID(e.key); err == nil {
				err = t.checkRow(r, e, rowid)
			}
		}
		return err == nil
	})
	return err
}

// HasSnapshot reports whether the transaction has read.
func (t *Txn) HasSnapshot() bool { return t.view != nil }

// HasWrites reports whether the transaction has written anything that Commit would make
// durable (temporary tables do not count).
func (t *Txn) HasWrites() bool { return !t.main.clean() }

// WriteBytes is the size of the buffered writes.
func (t *Txn) WriteBytes() int64 {
	n := t.main.ov.bytes
	if t.temp.ov != nil {
		n += t.temp.ov.bytes
	}
	return n
}

// Mark is a savepoint. It stays usable after RollbackTo and is worthless after the
// transaction's end.
type Mark struct {
	t           *Txn
	main, temp  spaceMark
	deps, stays int
	wrote       bool
	firstSeq    uint64
}

// Savepoint marks the present state. It costs O(1) and makes later writes copy the
// B-tree nodes that they change first.
func (t *Txn) Savepoint() Mark {
	m := Mark{t: t, main: t.main.mark(), deps: len(t.deps), stays: len(t.stays), wrote: t.wrote, firstSeq: t.firstSeq}
	if t.opts.Temp != nil {
		m.temp = t.temp.mark()
	}
	return m
}

// RollbackTo undoes everything after the savepoint. Savepoints made after it are gone:
// the caller must not use them. Open iterators keep what they saw.
func (t *Txn) RollbackTo(m Mark) error {
	if t.done {
		return ErrTxnDone
	}
	if m.t != t {
		return ErrInvalid
	}
	t.main.rollbackTo(m.main)
	if t.opts.Temp != nil {
		t.temp.rollbackTo(m.temp)
	}
	t.deps, t.stays = t.deps[:m.deps], t.stays[:m.stays]
	t.wrote, t.firstSeq = m.wrote, m.firstSeq
	return nil
}

// Commit makes the transaction's writes visible to others, durable first when
// TxnOptions.Sync is set, or fails and undoes everything. Either way the transaction is
// finished. ErrUnknownOutcome of package kv is the one error that leaves open whether
// it was committed. A canceled ctx ends the wait for the commit turn, not a write that
// has begun.
func (t *Txn) Commit(ctx context.Context) error {
	if t.done {
		return ErrTxnDone
	}
	err := t.endTemp()
	if err == nil && !t.main.clean() {
		if err = t.EnsureSnapshot(); err == nil {
			err = t.awaitCommit()
		}
		if err == nil {
			err = t.commitMain(ctx)
		}
	}
	if err == nil {
		err = t.commitTemp()
	}
	t.finish(err == nil)
	return err
}

// Rollback undoes everything. On a finished transaction it returns ErrTxnDone and does nothing.
func (t *Txn) Rollback() error {
	if t.done {
		return ErrTxnDone
	}
	t.finish(false)
	return nil
}

func (t *Txn) finish(committed bool) {
	t.done = true
	t.leaveTurn(false)
	t.unexport()
	if !committed && !t.frozen {
		for storage := range t.main.made {
			t.cat.counters.drop(storage)
		}
	}
	t.closeFinders()
	if t.view != nil {
		t.cat.release(t.view)
		t.view = nil
	}
	t.main, t.temp = space{}, space{}
	t.deps, t.stays, t.scratch, t.recheck, t.finders = nil, nil, nil, nil, nil
	t.spare = block{}
}

// reader returns the committed state that sp is read from.
func (t *Txn) reader(sp *space) (kv.Reader, error) {
	if sp == &t.temp {
		return t.opts.Temp.engine, nil
	}
	if err := t.EnsureSnapshot(); err != nil {
		return nil, err
	}
	return t.view.snap, nil
}

// wroteNow notes that a write was based on the present view.
func (t *Txn) wroteNow() {
	if t.view != nil && (!t.wrote || t.view.seq < t.firstSeq) {
		t.firstSeq = t.view.seq
	}
	t.wrote = t.wrote || t.view != nil
}

func (t *Txn) room() error {
	if t.WriteBytes() > t.cat.store.opts.MaxTxnBytes {
		return ErrTxnTooLarge
	}
	return nil
}

// get returns the value of a key as the transaction sees it, appended to buf unless it
// is in the overlay, whose bytes are stable.
func (t *Txn) get(sp *space, buf, key []byte) ([]byte, bool, error) {
	if e := sp.ov.get(&t.probe, key); e != nil {
		return e.val, !e.del, nil
	}
	r, err := t.reader(sp)
	if err != nil {
		return nil, false, err
	}
	v, err := r.AppendGet(buf, key)
	if errors.Is(err, kv.ErrNotFound) {
		return nil, false, nil
	}
	return v, err == nil, err
}
