package guard

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/pgerr"
)

// Options configure a Guard. The zero value enforces every check and reads no files.
type Options struct {
	// Clock is the time source; time.Now when nil.
	Clock func() time.Time
	// Logger gets findings and refusals; nobody when nil.
	Logger *slog.Logger
	// Default is the mode of checks that no setting of a catalog names.
	Default conflict.Mode
	// Found is told about each violation with what was done about it; may be nil.
	Found func(catalog string, code conflict.Code, mode conflict.Mode)
	// Judged is told about each verdict of the row-id hold: how far it looked and what it came
	// to, see hold.Verdict. A commit that is tried again is judged again. May be nil.
	Judged func(catalog string, tier int, outcome string)
	// Hold keeps row ids in compactions, after all checks have passed, and reads delete
	// files; may be nil. It may be slow: nothing is locked while it reads.
	Hold *Hold
	// DeletionGrace is how long files stay in a lake after they were scheduled for deletion,
	// as the transaction finds it set; none when nil.
	DeletionGrace func(txn *store.Txn, lake string) (time.Duration, error)
	// Files tells whether the new files of a commit are there, which is asked when a client
	// has searched for orphans while the commit's transaction was open; nil: Hold tells.
	Files Presence
	// Writing is when the oldest transaction began, in any catalog, whose client may have found
	// files that it registers, zero when there is none: what was deleted before need not be
	// remembered. nil: it is remembered as long as there is room.
	Writing func() time.Time
}

// Guard looks at commits that write to lakes. It is safe for concurrent use.
type Guard struct {
	o Options
	// oddities are relations of the schema eider that are not the server's, and why not: string
	// by oddKey.
	oddities sync.Map
	// deferred is when a finding was last written about things left: int64, µs since 1970,
	// by deferredKey.
	deferred sync.Map
	searches searches
	taken    takenFiles
}

// New makes a Guard.
func New(o Options) *Guard {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Files == nil && o.Hold != nil && o.Hold.Verifier != nil {
		o.Files = o.Hold.Verifier
	}
	return &Guard{o: o}
}

// Info is what a session knows of its transaction.
type Info struct {
	User, Application string
	// Started is when the transaction began.
	Started time.Time
	// Looked says that the client has read ducklake_snapshot_changes, as it does before it
	// commits again: what others did since the snapshot Since, on which its changes are
	// planned, or since an unknown one.
	Looked   bool
	Since    int64
	HasSince bool
	// Rebase says whether a commit that loses the race for its snapshot id may be given
	// another one (see rebase). It is asked when one has lost; nil: no.
	Rebase func() bool
	// Holders names the transactions that are open besides, for texts; nil: nobody can.
	Holders func() string
	// Deferred is what statements of the transaction have left (Spares).
	Deferred []Deferred
}

// Commit commits a transaction, or refuses it. Either way the transaction is finished.
// The error of a refusal is a *pgerr.Error, others are those of Txn.Commit.
//
// The look, which may read files, ends with ctx. What comes after it does not: the outcome
// of a commit that is cancelled under way would be unknown.
func (g *Guard) Commit(ctx context.Context, txn *store.Txn, in Info) error {
	cat := txn.Catalog()
	err := g.commit(ctx, txn, in)
	if err == nil && len(in.Deferred) > 0 {
		g.recordDeferred(ctx, cat, in)
	}
	return err
}

func (g *Guard) commit(ctx context.Context, txn *store.Txn, in Info) error {
	under := context.WithoutCancel(ctx)
	if !txn.TouchedPrefix(prefix) {
		return txn.Commit(under)
	}
	c := g.run(ctx, txn, in)
	c.commits = true
	landed := false
	defer func() { c.ended(landed) }()
	if err := c.settle(c.look()); err != nil {
		if errors.Is(err, errRepeated) {
			return txn.Rollback()
		}
		if rerr := txn.Rollback(); rerr != nil && !errors.Is(rerr, store.ErrTxnDone) {
			return errors.Join(err, rerr)
		}
		return err
	}
	txn.Recheck(func() error {
		c.findings = c.findings[:0]
		return c.check()
	})
	if in.Rebase != nil {
		txn.OnLost(func(u *store.UniqueViolation) error { return c.settle(u) })
	}
	cat := txn.Catalog()
	err := txn.Commit(under)
	landed = err == nil || errors.Is(err, kv.ErrUnknownOutcome)
	if err != nil {
		if errors.Is(err, errRepeated) { // found out when the commit had got other ids
			return nil
		}
		return err
	}
	c.record(cat)
	return nil
}

// Look does what Commit does before the commit, which may be done more than once.
func (g *Guard) Look(ctx context.Context, txn *store.Txn, in Info) error {
	if !txn.TouchedPrefix(prefix) {
		return nil
	}
	return g.run(ctx, txn, in).look()
}

func (g *Guard) run(ctx context.Context, txn *store.Txn, in Info) *run {
	return &run{g: g, ctx: ctx, txn: txn, in: in, catalog: txn.Catalog().Name()}
}

func (r *run) look() error {
	if err := r.txn.Refresh(); err != nil {
		return err
	}
	return r.check()
}

// run is the look at one commit.
type run struct {
	g        *Guard
	ctx      context.Context
	txn      *store.Txn
	in       Info
	catalog  string
	findings []finding
	rebased  int // how often the commit got new ids

	commits   bool              // it is not only a look
	announced map[takenKey]bool // what it takes off schedules
	many      []searchKey       // lakes of which it takes off too much to remember
	there     map[string]int64  // files that were found, and when, in µs since 1970
}

// finding is a violation that was let pass.
type finding struct {
	lake     string
	snapshot int64
	makes    bool
	v        conflict.Violation
}

// check looks at all that the transaction does, changes what has to be changed, and says
// with an error that it must not be committed.
func (r *run) check() error {
	if err := mendFlushes(r.txn, r.g.o.Clock()); err != nil {
		return err
	}
	commits, err := extract(r.txn)
	if err != nil {
		return err
	}
	base, err := r.txn.Base()
	if err != nil {
		return err
	}
	defer func() { _ = base.Rollback() }()
	if len(commits) == 1 {
		if err := r.repeated(commits[0], base); err != nil {
			return err
		}
	}
	for i, c := range commits {
		amended, err := r.lake(c, base, true)
		if err != nil {
			return err
		}
		if !amended {
			continue
		}
		again, err := extract(r.txn)
		if err != nil {
			return err
		}
		if _, err := r.lake(again[i], base, false); err != nil {
			return err
		}
	}
	return nil
}

// lake looks at the commit to one lake. It answers true, and has not checked anything,
// when it has amended the commit.
func (r *run) lake(c *commit, base *store.Txn, amend bool) (amended bool, err error) {
	was := &view{txn: base, space: c.space}
	is := &view{txn: r.txn, space: c.space}
	_, hasHead, err := was.Head()
	if err != nil {
		return false, err
	}
	c.batch.Bootstrap = !hasHead
	if c.batch.Bootstrap {
		return false, nil
	}
	modes := func() (*conflict.Modes, error) { return loadModes(base, c.batch.Schema, r.g.o.Default) }
	if err := c.unscheduleAll(base); err != nil {
		return false, err
	}
	k := conflict.Commit{Batch: c.batch, Was: was, Is: is, Ctx: r.ctx}
	if len(c.batch.Scheduled.Added) > 0 {
		k.Loose = &view{txn: r.txn, space: c.space}
	}
	if len(c.batch.Snapshots.Removed)+len(c.batch.Snapshots.Changed)+len(c.batch.Logs.Removed)+
		len(c.batch.Scheduled.Removed)+len(c.batch.Scheduled.Changed) > 0 {
		if k.Fence, err = r.fence(c.batch.Schema); err != nil {
			return false, err
		}
		watchTags(r.txn)
	}
	if err := r.takes(c, was); err != nil {
		return false, err
	}
	st := &holdState{was: was, is: is}
	if r.g.o.Hold != nil {
		k.Positions = r.g.o.Hold.positions(st)
	}
	if s, ok := c.batch.Snapshot(); ok {
		k.Base, k.HasBase = s.ID-1, true
		if r.in.Looked {
			k.Base, k.HasBase = r.in.Since, r.in.HasSince
		}
	}
	set, err := conflict.Classify(c.batch)
	if err != nil {
		m, merr := modes()
		if merr != nil {
			return false, merr
		}
		// Where that lets it pass, the checks see to what the rows alone say. They find the
		// text again, for the record.
		if v := conflict.ChangesUnreadable(err); m.Of(v.Code, v.Table) == conflict.Enforce {
			return false, r.judge(c, []conflict.Violation{v}, modes)
		}
	}
	k.Set = set
	if amend {
		if err := r.g.o.Hold.register(r.ctx, c, set, st); err != nil {
			return false, err
		}
		list, err := conflict.Amend(k, r.g.o.Clock().UnixMicro())
		if err != nil {
			return false, err
		}
		if len(list) > 0 {
			m, err := modes()
			if err != nil {
				return false, err
			}
			done, err := c.apply(base, list, m, r.g.o.Clock())
			if done || err != nil {
				return done, err
			}
		}
	}
	found, err := conflict.Check(k)
	if err != nil {
		return false, err
	}
	found = append(found, conflict.Agree(set, conflict.Names{Schema: is.schemaName})...)
	held, verdicts, err := r.g.o.Hold.verify(r.ctx, c, set, st, modes)
	if err != nil {
		return false, err
	}
	if r.g.o.Judged != nil {
		for i := range verdicts {
			r.g.o.Judged(r.catalog, int(verdicts[i].Tier), verdicts[i].Outcome())
		}
	}
	found = append(found, held...)
	gone, err := r.filesThere(c, was, st, modes)
	if err != nil {
		return false, err
	}
	found = append(found, gone...)
	if len(c.batch.Options.Added) > 0 {
		_, _ = is.of(optionTable) // an amended commit has not asked again
	}
	_, makes := c.batch.Snapshot()
	for _, t := range append(is.read, was.read...) {
		// Snapshots only come, and what a commit that makes none was found to be stays so,
		// but for the times that it changes.
		if makes || len(c.batch.Snapshots.Changed) > 0 || t.Name != snapshotTable {
			r.txn.WatchRows(t)
		}
	}
	if len(found) == 0 {
		return false, nil
	}
	return false, r.judge(c, found, modes)
}

// judge applies the modes: the error is the first violation that is not let pass.
func (r *run) judge(c *commit, found []conflict.Violation, load func() (*conflict.Modes, error)) error {
	modes, err := load()
	if err != nil {
		return err
	}
	s, makes := c.batch.Snapshot()
	for _, v := range found {
		mode := modes.Of(v.Code, v.Table)
		if v.Retry {
			mode = conflict.Enforce
		}
		switch mode {
		case conflict.Off:
			continue
		case conflict.Warn:
			r.findings = append(r.findings, finding{lake: c.batch.Schema, snapshot: s.ID, makes: makes, v: v})
			continue
		}
		if !v.Retry {
			r.g.note(r.catalog, r.in, v, mode)
		}
		return refusal(v)
	}
	return nil
}

// note tells log and metrics about a violation.
func (g *Guard) note(catalog string, in Info, v conflict.Violation, mode conflict.Mode) {
	if g.o.Found != nil {
		g.o.Found(catalog, v.Code, mode)
	}
	g.o.Logger.Warn("commit violates a check", "catalog", catalog, "check", string(v.Code), "mode", mode.String(),
		"table", v.Table, "text", v.Text, "user", in.User, "application", in.Application)
}

// refusal is a violation as a client gets it.
func refusal(v conflict.Violation) error {
	e := pgerr.New(v.SQLState, "%s", v.Text)
	e.Detail, e.Hint, e.Constraint = v.Detail, v.Hint, string(v.Code)
	if !v.Retry {
		// DuckDB shows a hint, but not the constraint.
		e.Hint = strings.TrimSpace(v.Hint + " (check " + string(v.Code) + ")")
	}
	if v.Retry {
		return e
	}
	return e.Terminal()
}

// Forget forgets a catalog that was dropped.
func (g *Guard) Forget(name string, oid uint32) {
	g.deferred.Range(func(k, _ any) bool {
		if k.(deferredKey).catalog == name {
			g.deferred.Delete(k)
		}
		return true
	})
	g.oddities.Range(func(k, _ any) bool {
		if k.(oddKey).catalog == name {
			g.oddities.Delete(k)
		}
		return true
	})
	g.searches.forget(oid)
	g.taken.forget(oid)
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
