package gc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"
)

// The errors that callers act on.
var (
	// ErrKind is returned for a name that is no kind of job.
	ErrKind = errors.New("unknown kind of job")
	// ErrPolicy is returned for a policy that is unknown, has a value that cannot be read, or
	// is set for a scope that it has no meaning for.
	ErrPolicy = errors.New("policy")
	// ErrWindowClosed is the cause of the end of a job's context when its window has closed.
	// A job ends as soon as it can then, between two transactions, and goes on in the next one.
	ErrWindowClosed = errors.New("the window for maintenance has closed")
	// ErrPaused is the cause when an operator has paused the job's catalog or kind.
	ErrPaused = errors.New("maintenance is paused")

	// errTwice is the problem of a second row for the same policy and scope.
	errTwice = fmt.Errorf("%w: set twice for the same scope", ErrPolicy)
)

// Kind is a kind of job.
type Kind string

// The kinds, in the order in which a round runs them: what a job leaves for the next one is
// there when that begins.
const (
	Expire  Kind = "expire"  // snapshots that no policy keeps, and the rows that only they see
	Trim    Kind = "trim"    // metadata that nothing needs: statistics, values, tags, relations
	Cleanup Kind = "cleanup" // files whose scheduled time has passed
	Orphans Kind = "orphans" // files in the lake's folders that nothing names
	Fsck    Kind = "fsck"    // the invariants of a healthy lake; it only reports
)

// Maintain is what DuckDB is needed for: flushes, merges, rewrites. It is no job of the server,
// whose history has the runs of "eider maintain" by this name.
const Maintain Kind = "maintain"

// Kinds are all kinds of the server's jobs, in the order of a round.
func Kinds() []Kind { return []Kind{Expire, Trim, Cleanup, Orphans, Fsck} }

// ParseKind reads the name of a kind, Maintain among them: ErrKind when there is no such one.
func ParseKind(s string) (Kind, error) {
	for _, k := range append(Kinds(), Maintain) {
		if string(k) == s {
			return k, nil
		}
	}
	return "", fmt.Errorf("%w: %q (there are expire, trim, cleanup, orphans, fsck, and maintain, which only \"eider maintain\" does)", ErrKind, s)
}

// Job does the work of one kind on one lake. It keeps no state between calls that the
// catalog does not have, so that it may be ended between any two transactions and called
// again.
type Job interface {
	// Plan finds out what Run would do at this moment, and changes nothing.
	Plan(ctx context.Context, r *Request) (Result, error)
	// Run does it. When ctx ends it returns what was done until then, with the cause. It
	// calls r.Progress, if that is set, after each transaction or batch of deletions.
	Run(ctx context.Context, r *Request) (Result, error)
}

// Request is what a job is to do.
type Request struct {
	Catalog  string    // the catalog's name
	Lake     string    // the metadata schema of the lake
	Policies *Policies // in force for the lake, with what the asker has overridden
	Now      time.Time // of the job's begin, by the injected clock
	AskedBy  string    // the user, or Scheduler
	Job      int64     // the id in eider.jobs; 0 when the job is not recorded
	// Progress takes the result so far; it may be nil. It must not be called after the job
	// has returned.
	Progress func(Result)
}

// Scheduler stands for a user in what the server does by itself. No job of a user has it: see
// jobs.Manager.Submit.
const Scheduler = "scheduler"

// Result is what a job did, or would do.
type Result struct {
	// Counts are the things dealt with by what they are: "snapshots", "data files", ...
	Counts map[string]int64
	// Bytes is the size of the files removed or, by jobs that only schedule them, released.
	Bytes int64
	// Deferred counts what was left for the next time because somebody still holds it.
	Deferred int64
	// Notes are sentences for people: what was deferred and why, what could not be known.
	Notes []string
	// Items are the single things, PlanItems of them at most; Cut says that there are more.
	Items []Item
	Cut   bool
}

// What a result's counts call things that were left as they are. They are no work done; every
// other count is.
const (
	LeftPinned   = "pinned snapshots"                // an open transaction can still read them
	LeftTagged   = "tagged snapshots"                // a tag keeps them
	LeftToClient = "files left to the client"        // the server may not delete there
	LeftFailed   = "files that could not be deleted" // the storage refused
)

// Idle says that nothing was done: there are no counts but of what was left.
func (r *Result) Idle() bool {
	for what, n := range r.Counts {
		switch what {
		case LeftPinned, LeftTagged, LeftToClient, LeftFailed:
		default:
			if n != 0 {
				return false
			}
		}
	}
	return true
}

// PlanItems bounds the items that a job keeps: they are for people to look at, and the
// history holds them.
const PlanItems = 1000

// Item is one thing that goes or would go.
type Item struct {
	What   string `json:"what"` // "snapshot", "data file", "relation", ...
	ID     int64  `json:"id,omitempty"`
	Path   string `json:"path,omitempty"` // of a file; the name of a relation
	Bytes  int64  `json:"bytes,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Count adds n to a count.
func (r *Result) Count(what string, n int64) {
	if n == 0 {
		return
	}
	if r.Counts == nil {
		r.Counts = make(map[string]int64)
	}
	r.Counts[what] += n
}

// Add keeps an item, if there is still room for it.
func (r *Result) Add(i Item) {
	if len(r.Items) >= PlanItems {
		r.Cut = true
		return
	}
	r.Items = append(r.Items, i)
}

// Note adds a sentence, once.
func (r *Result) Note(format string, args ...any) {
	n := fmt.Sprintf(format, args...)
	for _, have := range r.Notes {
		if have == n {
			return
		}
	}
	r.Notes = append(r.Notes, n)
}

// Merge adds what another result says: what was done next.
func (r *Result) Merge(o *Result) {
	for what, n := range o.Counts {
		r.Count(what, n)
	}
	r.Bytes += o.Bytes
	r.Deferred += o.Deferred
	for _, n := range o.Notes {
		r.Note("%s", n)
	}
	for _, i := range o.Items {
		r.Add(i)
	}
	r.Cut = r.Cut || o.Cut
}

// Report is a Result as a worker writes it in JSON, for what it has done since its last one.
type Report struct {
	Counts map[string]int64 `json:"counts,omitempty"`
	Notes  []string         `json:"notes,omitempty"`
	Items  []Item           `json:"items,omitempty"`
}

// Clone returns a copy that does not change with r.
func (r *Result) Clone() Result {
	c := *r
	c.Counts = maps.Clone(r.Counts)
	c.Notes = append([]string(nil), r.Notes...)
	c.Items = append([]Item(nil), r.Items...)
	return c
}
