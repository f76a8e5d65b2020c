package jobs

import (
	"errors"
	"time"
)

// The errors that callers act on.
var (
	// ErrNoCatalog is returned for a catalog that the server does not have.
	ErrNoCatalog = errors.New("no such catalog")
	// ErrNoLake is returned for a lake that the catalog does not have.
	ErrNoLake = errors.New("no such lake")
	// ErrNoObject is returned for a schema or table that the lake does not have.
	ErrNoObject = errors.New("no such object")
	// ErrNoJob is returned for a job that is not in the history.
	ErrNoJob = errors.New("no such job")
	// ErrStopped is returned while the manager does not run.
	ErrStopped = errors.New("maintenance does not run: the server starts or stops")
	// ErrUnavailable is returned for a kind of job that this server cannot do.
	ErrUnavailable = errors.New("this server cannot run jobs of the kind")
	// ErrProblems is returned for a lake with policies that cannot be read.
	ErrProblems = errors.New("a policy cannot be read")
	// ErrBusy is returned when too many jobs wait already.
	ErrBusy = errors.New("too many jobs wait")
	// ErrOff is returned for a job that the policies turn off, and is the cause when a policy
	// that has changed ends a job of the scheduler.
	ErrOff = errors.New("the policies turn it off")
	// ErrNotPaused is returned by Resume when nothing is paused.
	ErrNotPaused = errors.New("it is not paused")
	// ErrNoTag is returned for a tag that the lake does not have.
	ErrNoTag = errors.New("no such tag")
	// ErrTag is returned for a tag that cannot be set.
	ErrTag = errors.New("the tag cannot be set")
	// ErrCancelled is the cause when somebody has cancelled the job.
	ErrCancelled = errors.New("the job was cancelled")
	// errStopping is the cause when the server stops.
	errStopping = errors.New("the server stops")
)

// Clock tells the time. The real one is SystemClock.
type Clock interface {
	Now() time.Time
	// After returns a channel that gets a value when d has passed, and a function that ends
	// the wait.
	After(d time.Duration) (<-chan time.Time, func())
}

// SystemClock is the clock of the machine.
type SystemClock struct{}

// Now is the time.
func (SystemClock) Now() time.Time { return time.Now() }

// After is a timer.
func (SystemClock) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}
