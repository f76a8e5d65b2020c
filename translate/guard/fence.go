package guard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake"
)

// Fence says what of one lake open transactions and tags hold, as one transaction finds
// it. It implements gc.Fence and conflict.Fence, and belongs to the transaction's goroutine.
type Fence struct {
	g       *Guard
	txn     *store.Txn
	space   uint32 // oid of the metadata schema; 0: there is no such lake
	lake    string // its name
	holders func() string
}

// Fence asks for the lake whose metadata is in a schema of the transaction's catalog.
// holders names the open transactions for texts; nil: nobody can.
func (g *Guard) Fence(txn *store.Txn, lake string, holders func() string) (*Fence, error) {
	if err := txn.EnsureSnapshot(); err != nil {
		return nil, err
	}
	f := &Fence{g: g, txn: txn, lake: lake, holders: holders}
	if s, ok := txn.SchemaByName(lake); ok {
		f.space = s.OID
	}
	return f, nil
}

// Holders names the open transactions.
func (f *Fence) Holders() string {
	if f.holders == nil {
		return ""
	}
	return f.holders()
}

// all pins every snapshot.
const all = math.MinInt64

// Pinned is the newest snapshot of the oldest view that somebody else holds.
func (f *Fence) Pinned(context.Context) (snapshot int64, ok bool, err error) {
	held, err := f.txn.Held()
	if err != nil {
		return 0, false, err
	}
	defer end(held)
	for _, h := range held {
		s, ok, err := (&view{txn: h, space: f.space}).Head()
		switch {
		case errors.Is(err, kv.ErrEngineRestarted):
			return all, true, nil // nobody knows any more what it has read
		case err != nil:
			return 0, false, fmt.Errorf("read the newest snapshot of an open transaction: %w", err)
		case ok:
			return s.ID, true, nil
		}
	}
	return 0, false, nil
}

func end(txns []*store.Txn) {
	for _, t := range txns {
		_ = t.Rollback() // it cannot fail: nobody else ends them
	}
}

// Reasons why a file is held.
const (
	heldOpen    = "an open transaction can still read it"
	heldUnknown = "a transaction from before the storage was opened again may still read it"
)

// Held says what keeps files from being removed.
func (f *Fence) Held(ctx context.Context, files []lake.Scheduled) ([]string, error) {
	l, err := f.look()
	if err != nil {
		return nil, err
	}
	defer l.close()
	why := make([]string, len(files))
	for i, s := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if why[i], err = l.holds(s); err != nil {
			return nil, err
		}
	}
	return why, nil
}

// Early says why scheduled files may not be deleted yet.
func (f *Fence) Early(ctx context.Context, files []lake.Scheduled) ([]string, error) {
	why, err := f.Held(ctx, files)
	if err != nil {
		return nil, err
	}
	due, err := f.due()
	if err != nil {
		return nil, err
	}
	for i, s := range files {
		if why[i] == "" {
			why[i] = due.early(s)
		}
	}
	return why, nil
}

// dueTime tells scheduled files by the time.
type dueTime struct {
	now   int64 // µs since 1970
	grace time.Duration
}

func (f *Fence) due() (d dueTime, err error) {
	d.now = f.g.o.Clock().UnixMicro()
	if f.g.o.DeletionGrace != nil {
		d.grace, err = f.g.o.DeletionGrace(f.txn, f.lake)
	}
	return d, err
}

// at is when a file may be deleted, by the time alone.
func (d dueTime) at(s lake.Scheduled) int64 {
	if g := d.grace.Microseconds(); s.Start < math.MaxInt64-g {
		return s.Start + g
	}
	return math.MaxInt64
}

func (d dueTime) early(s lake.Scheduled) string {
	at := d.at(s)
	if at <= d.now {
		return ""
	}
	return "it is due at " + time.UnixMicro(at).UTC().Format("2006-01-02 15:04:05.000000") + " UTC"
}

// look is what can be read of a lake at one moment: the committed state that the
// transaction began with, the same with what it has written, and the views that are held.
type look struct {
	own   []*sight
	held  []*sight // newest first
	close func()
}

// sight is one view of the files of a lake.
type sight struct {
	v     *view
	paths *conflict.Paths
}

func (f *Fence) look() (*look, error) {
	see := func(t *store.Txn) *sight {
		v := &view{txn: t, space: f.space}
		return &sight{v: v, paths: conflict.NewPaths(v)}
	}
	base, err := f.txn.Base()
	if err != nil {
		return nil, err
	}
	held, err := f.txn.Held()
	if err != nil {
		return nil, errors.Join(err, base.Rollback())
	}
	l := &look{own: []*sight{see(base)}, close: func() { end(append(held, base)) }}
	if f.txn.HasWrites() {
		l.own = append(l.own, see(f.txn))
	}
	for _, h := range slices.Backward(held) {
		l.held = append(l.held, see(h))
	}
	return l, nil
}

// holds says what keeps a file from being removed, "" when nothing does.
func (l *look) holds(s lake.Scheduled) (string, error) {
	for _, o := range l.own {
		table, ok, err := o.names(s)
		if err != nil {
			return "", err
		}
		if ok {
			return fmt.Sprintf("it is a file of table %d", table), nil
		}
	}
	for _, o := range l.held {
		_, ok, err := o.names(s)
		switch {
		case errors.Is(err, kv.ErrEngineRestarted):
			return heldUnknown, nil
		case err != nil:
			return "", fmt.Errorf("read in the view of an open transaction: %w", err)
		case ok:
			return heldOpen, nil
		}
	}
	return "", nil
}

// names says whether a row of a data file or delete file is of the file.
func (o *sight) names(s lake.Scheduled) (table int64, ok bool, err error) {
	if table, ok, err = o.byID(s); ok || err != nil || s.Path == "" {
		return table, ok, err
	}
	return o.paths.Named(s)
}

func (o *sight) byID(s lake.Scheduled) (table int64, ok bool, err error) {
	if f, ok, err := o.v.DataFile(s.ID); err != nil || ok {
		if ok && s.Path != "" {
			ok, err = o.paths.Is(f.TableID, f.Path, f.Relative, s)
		}
		return f.TableID, ok, err
	}
	d, ok, err := o.v.DeleteFile(s.ID)
	if ok && err == nil && s.Path != "" {
		ok, err = o.paths.Is(d.TableID, d.Path, d.Relative, s)
	}
	return d.TableID, ok, err
}
