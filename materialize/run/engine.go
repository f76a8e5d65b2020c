package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/eiderdb/eider/materialize/plan"
	"github.com/eiderdb/eider/materialize/project"
	"github.com/eiderdb/eider/materialize/state"
)

// Errors of this package.
var (
	// ErrInput is for what is refused before anything is written: a bad script, partition, lake
	// or table. The remedy is in its text.
	ErrInput = errors.New("refused")
	// ErrFailed is for a run that began and did not succeed. Its record says so.
	ErrFailed = errors.New("failed")
	// ErrTests is for a run whose data tests failed. What it wrote is there.
	ErrTests = errors.New("data tests failed")
)

// Engine is a DuckDB with nothing attached.
type Engine interface {
	// Exec runs one statement that has no result.
	Exec(ctx context.Context, sql string) error
	// Query runs one statement and returns its rows.
	Query(ctx context.Context, sql string) ([][]any, error)
	// Attach attaches a lake under an alias. options are DuckDB's, as text.
	Attach(ctx context.Context, lake Lake, alias, options string) error
	// Close ends it.
	Close() error
}

// Lake is where a lake is.
type Lake struct {
	// Name is the lake's in ducklake://NAME/….
	Name string
	// DSN is the connection string of the catalog's database.
	DSN string
	// Schema is the metadata schema; "" for public.
	Schema string
	// DataPath replaces the data path that the catalog has; "" to take that.
	DataPath string
}

// Options says how runs are made. The zero value is a run by hand.
type Options struct {
	// Owner says in records who runs: host, process, user. "" for this process.
	Owner string
	// Author is who snapshots are by; "" for the owner's user.
	Author string
	// Force runs although nothing has changed since the last run.
	Force bool
	// AtVersion makes scripts read lakes as of a snapshot, by their names. "" is the name for all
	// that have none of their own.
	AtVersion map[string]int64
	// Now is the clock; nil for the system's.
	Now func() time.Time
	// Sleep waits, for retries; nil for the system's clock.
	Sleep func(context.Context, time.Duration) error
	// NewID makes ids of runs; nil for random ones.
	NewID func() string
}

func (o Options) withDefaults() Options {
	if o.Owner == "" {
		host, _ := os.Hostname()
		o.Owner = fmt.Sprintf("%s process %d user %s", host, os.Getpid(), userName())
	}
	if o.Author == "" {
		o.Author = userName()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.NewID == nil {
		o.NewID = state.NewID
	}
	return o
}

func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return fmt.Sprint(os.Getuid())
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Runner runs the scripts of a project.
type Runner struct {
	Project *project.Project
	// Open opens a DuckDB for one run.
	Open func(ctx context.Context) (Engine, error)
	// Lake says where a lake is.
	Lake    func(name string) (Lake, error)
	Options Options
	// Report hears what happens; nil for nobody.
	Report func(Event)
}

// Kind is what an event is.
type Kind string

// The kinds of events.
const (
	Waiting  Kind = "waiting"  // another run has the asset's lock
	Lost     Kind = "lost"     // an earlier run's owner is gone; its record says failed now
	Started  Kind = "started"  // the run is recorded
	Step     Kind = "step"     // a statement begins
	Note     Kind = "note"     // something that people should know: drift, a record that failed
	Ended    Kind = "ended"    // materialized, failed or skipped: see Run
	Retrying Kind = "retrying" // after a failure
	Due      Kind = "due"      // a watch found something to run
)

// Event is something that happened.
type Event struct {
	Kind      Kind
	Script    string
	Asset     string
	Partition string
	// Role, Done and Total are of a Step: what the statement is for, and how many come before it
	// of how many.
	Role        plan.Role
	Done, Total int
	// Run is the run, where there is one. It is not to be changed.
	Run *state.Run
	// Text is for people.
	Text string
	At   time.Time
}

// Job is one run that is wanted.
type Job struct {
	Script *project.Script
	// Partition is the slice; "" for a script without partitions.
	Partition string
	// Trigger says why; "" for "by hand".
	Trigger string
	// Attempt is which attempt this is, from 1; 0 for 1.
	Attempt int
	// Force runs although nothing has changed.
	Force bool
}
