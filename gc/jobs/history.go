package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv/store"
)

// State is where a job stands.
type State string

// The states. A job ends in one of the last six.
const (
	Queued      State = "queued"
	Running     State = "running"
	Done        State = "done"
	Failed      State = "failed"
	Stopped     State = "stopped"     // by a pause, a policy, a closed window or the server's end; it goes on when it is due
	Cancelled   State = "cancelled"   // by somebody
	Interrupted State = "interrupted" // by a crash, of the server or of the worker
	Skipped     State = "skipped"     // asked for in a round, but off or paused: it never ran
)

// Ended says that the job will not change any more.
func (s State) Ended() bool { return s != Queued && s != Running }

// Entry is a row of eider.jobs.
type Entry struct {
	ID        int64
	Lake      string
	Kind      gc.Kind
	State     State
	DryRun    bool
	Asked     time.Time
	Started   time.Time // zero before it runs
	Ended     time.Time // zero before it has ended
	AskedBy   string    // a user, or gc.Scheduler
	Overrides map[string]string
	Result    gc.Result
	Error     string
}

// The table of the history.
const jobsTable = "jobs"

var jobsColumns = []meta.ColumnDef{
	{Name: "id", Type: meta.Int8, NotNull: true},
	{Name: "lake", Type: meta.Text, NotNull: true},
	{Name: "kind", Type: meta.Text, NotNull: true},
	{Name: "state", Type: meta.Text, NotNull: true},
	{Name: "dry_run", Type: meta.Bool, NotNull: true},
	{Name: "asked", Type: meta.Timestamptz, NotNull: true},
	{Name: "started", Type: meta.Timestamptz},
	{Name: "ended", Type: meta.Timestamptz},
	{Name: "asked_by", Type: meta.Text, NotNull: true},
	{Name: "options", Type: meta.Text},
	{Name: "counts", Type: meta.Text},
	{Name: "bytes", Type: meta.Int8},
	{Name: "deferred", Type: meta.Int8},
	{Name: "notes", Type: meta.Text},
	{Name: "error", Type: meta.Text},
	{Name: "plan", Type: meta.Text},
}

// Counts are the counts of a result as JSON, "" for none.
func Counts(r *gc.Result) string { return object(len(r.Counts), r.Counts) }

// Plan is the items of a result as JSON, "" for none.
func Plan(r *gc.Result) string {
	if len(r.Items) == 0 {
		return ""
	}
	return object(len(r.Items), struct {
		Items []gc.Item `json:"items"`
		Cut   bool      `json:"cut,omitempty"`
	}{r.Items, r.Cut})
}

// object is v as JSON, "" when it has no parts.
func object(n int, v any) string {
	if n == 0 {
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "" // there are texts and numbers only
	}
	return string(b)
}

func (e *Entry) values() meta.Values {
	v := meta.Values{
		"id": meta.Int(e.ID), "lake": meta.Str(e.Lake), "kind": meta.Str(string(e.Kind)), "state": meta.Str(string(e.State)),
		"dry_run": meta.Truth(e.DryRun), "asked": meta.Time(e.Asked), "asked_by": meta.Str(e.AskedBy),
		"bytes": meta.Int(e.Result.Bytes), "deferred": meta.Int(e.Result.Deferred),
	}
	for name, t := range map[string]time.Time{"started": e.Started, "ended": e.Ended} {
		v[name] = nil
		if !t.IsZero() {
			v[name] = meta.Time(t)
		}
	}
	for name, s := range map[string]string{
		"options": object(len(e.Overrides), e.Overrides), "counts": Counts(&e.Result), "notes": object(len(e.Result.Notes), e.Result.Notes),
		"error": e.Error, "plan": Plan(&e.Result),
	} {
		v[name] = nil
		if s != "" {
			v[name] = meta.Str(s)
		}
	}
	return v
}

// entry reads a row. JSON that somebody has spoilt reads as nothing.
func entry(r *meta.Row) Entry {
	e := Entry{
		ID: r.Num("id"), Lake: r.Text("lake"), Kind: gc.Kind(r.Text("kind")), State: State(r.Text("state")), DryRun: r.Truth("dry_run"),
		Asked: moment(r, "asked"), Started: moment(r, "started"), Ended: moment(r, "ended"), AskedBy: r.Text("asked_by"), Error: r.Text("error"),
	}
	e.Result.Bytes, e.Result.Deferred = r.Num("bytes"), r.Num("deferred")
	_ = json.Unmarshal([]byte(r.Text("options")), &e.Overrides)
	_ = json.Unmarshal([]byte(r.Text("counts")), &e.Result.Counts)
	_ = json.Unmarshal([]byte(r.Text("notes")), &e.Result.Notes)
	var plan struct {
		Items []gc.Item
		Cut   bool
	}
	_ = json.Unmarshal([]byte(r.Text("plan")), &plan)
	e.Result.Items, e.Result.Cut = plan.Items, plan.Cut
	return e
}

func moment(r *meta.Row, column string) time.Time {
	n, ok := r.Micros(column)
	if !ok {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

// entries reads the history, oldest first.
func entries(ctx context.Context, txn *store.Txn) ([]Entry, error) {
	t, ok, err := meta.Own(txn, jobsTable, jobsColumns...)
	if !ok || err != nil {
		return nil, err
	}
	var out []Entry
	err = t.Scan(ctx, func(r *meta.Row) error {
		out = append(out, entry(r))
		return nil
	})
	slices.SortFunc(out, func(a, b Entry) int { return int(a.ID - b.ID) })
	return out, err
}

// record writes an entry, in place of the one with its id.
func (m *Manager) record(ctx context.Context, cat *store.Catalog, e *Entry) error {
	err := meta.Do(ctx, cat, m.o.Committer, func(txn *store.Txn) error {
		t, err := meta.OwnTable(txn, jobsTable, jobsColumns...)
		if err != nil {
			return err
		}
		old, ok, err := t.One(ctx, meta.Is("id", e.ID))
		if err != nil {
			return err
		}
		if ok {
			return old.Update(e.values())
		}
		return t.Insert(e.values())
	})
	if err != nil {
		return fmt.Errorf("record job %d: %w", e.ID, err)
	}
	return nil
}

// prune removes the oldest entries beyond those that the history keeps. Those by which is told
// what is due stay: the last of each kind on each lake that was done, and that was cancelled.
func (m *Manager) prune(ctx context.Context, cat *store.Catalog) error {
	return meta.Do(ctx, cat, m.o.Committer, func(txn *store.Txn) error {
		t, ok, err := meta.Own(txn, jobsTable, jobsColumns...)
		if !ok || err != nil {
			return err
		}
		var all []brief
		err = t.Scan(ctx, func(r *meta.Row) error {
			all = append(all, briefly(r))
			return nil
		})
		if err != nil || len(all) <= m.o.History {
			return err
		}
		gone := surplus(all, m.o.History)
		return t.Scan(ctx, func(r *meta.Row) error {
			if gone[r.Num("id")] {
				return r.Delete()
			}
			return nil
		})
	})
}

// brief is what prune needs of an entry. The texts of JSON, of which a plan may be long, are
// not decoded.
type brief struct {
	id    int64
	key   lakeKind
	state State
	told  bool // what is due is told by it, if it is the last of its state
}

func briefly(r *meta.Row) brief {
	b := brief{id: r.Num("id"), key: lakeKind{r.Text("lake"), gc.Kind(r.Text("kind"))}, state: State(r.Text("state"))}
	switch scheduled := r.Text("asked_by") == gc.Scheduler; b.state {
	case Done:
		b.told = scheduled || !r.Truth("dry_run") && (b.key.kind == gc.Maintain || r.Text("options") == "")
	case Cancelled:
		b.told = scheduled
	}
	return b
}

// surplus returns the ids of those to remove, so that the newest are kept.
func surplus(all []brief, keep int) map[int64]bool {
	type lastOf struct {
		lakeKind
		State
	}
	slices.SortFunc(all, func(a, b brief) int { return cmp.Compare(b.id, a.id) })
	gone, last := map[int64]bool{}, map[lastOf]bool{}
	kept := 0
	for _, b := range all {
		key := lastOf{b.key, b.state}
		told := b.told && !last[key]
		if told {
			last[key] = true
		}
		if kept < keep || told || !b.state.Ended() {
			kept++
			continue
		}
		gone[b.id] = true
	}
	return gone
}

// lakeKind is what jobs are told apart by.
type lakeKind struct {
	lake string
	kind gc.Kind
}
