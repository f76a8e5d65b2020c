package due

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/eiderdb/eider/materialize/partition"
)

// ErrScript is returned for scripts whose partition nothing could say.
var ErrScript = errors.New("when the script runs")

// DebounceCap is how many debounce times a source that is never quiet is waited for.
const DebounceCap = 10

// Join says how many of its sources have to change for a script to run.
type Join int

// The joins.
const (
	JoinAny Join = iota // one
	JoinAll             // each
)

// Script is what its header and the project ask for.
type Script struct {
	// Schedule is when it runs by the clock; nil for never.
	Schedule *Schedule
	// Sources are the tables whose commits it runs after.
	Sources []Source
	// Join says whether one of Sources is enough. It has no say in the schedule.
	Join Join
	// Debounce is for sources that have none of their own; 0 for none.
	Debounce time.Duration
	// Freshness is how old its result may be; 0 for any age. It makes scripts without a
	// partition run, and for the others tells only what is Stale.
	Freshness time.Duration
	// Retry is what follows a failure.
	Retry Retry
	// Partition is how its table is partitioned; nil for not.
	Partition *partition.Spec
}

// Source is a table that a script runs after.
type Source struct {
	// Asset names it, as State.Commits does.
	Asset string
	// Partitioned is set if its reference has {partition}: its commits are for a slice.
	Partitioned bool
	// Debounce goes before the script's. Nil for the script's; 0 for none.
	Debounce *time.Duration
}

// Retry is how often and when a run that failed is tried again.
type Retry struct {
	Count int           // retries after the first failure; 0 for none
	Delay time.Duration // from the end of the failed run; 0 for at once
}

// State is what has happened.
type State struct {
	// Since is when the schedule began to count, where no run has answered a tick yet; zero
	// for now.
	Since time.Time
	// LastTick is the newest Run.Tick of a run that was begun, whatever came of it.
	LastTick time.Time
	// Commits are those of each source, in any order, at least the ones that are newer than
	// what the oldest of Slices saw. For sources with slices the newest of each slice is
	// enough; then the cap of debounce counts from that one.
	Commits map[string][]Commit
	// Slices are by partition; a script without one has the slice "".
	Slices map[string]Slice
}

// Commit is a change of a source.
type Commit struct {
	Snapshot  int64     // of the source's lake
	Time      time.Time // of the snapshot
	Partition string    // which slice it wrote, if its table has slices
}

// Outcome is what came of a run.
type Outcome int

// The outcomes.
const (
	Never     Outcome = iota // there was no run
	Running                  // it is not over
	Succeeded                // data tests included
	Failed
)

// Slice is the runs of one slice.
type Slice struct {
	// Outcome is of the last run, and Ended is when it was over.
	Outcome Outcome
	Ended   time.Time
	// Attempt is the Run.Attempt of the last run.
	Attempt int
	// Seen are the snapshots of sources that the last success read, by asset: the newest of
	// the asset's lake will do.
	Seen map[string]int64
	// Tried is as Seen, of the last run, whatever came of it.
	Tried map[string]int64
}

// Check refuses a dynamic partition for which something makes runs due that has no payload
// to take the partition from.
func (s Script) Check() error {
	if s.Partition == nil || s.Partition.Kind != partition.Dynamic {
		return nil
	}
	if s.Schedule != nil {
		return fmt.Errorf("%w: a schedule has no value for a dynamic partition; partition by time, or run the script with a partition", ErrScript)
	}
	partitioned := false
	for _, src := range s.Sources {
		partitioned = partitioned || src.Partitioned
	}
	for _, src := range s.Sources {
		if !src.Partitioned && !(s.Join == JoinAll && partitioned) {
			return fmt.Errorf("%w: a commit to %s has no value for a dynamic partition; write {partition} in its reference", ErrScript, src.Asset)
		}
	}
	return nil
}

// Stale tells whether a slice has no success that is younger than Freshness. Without
// Freshness nothing is stale. succeeded is when the slice's last success was over; zero if
// there was none.
func (s Script) Stale(succeeded, now time.Time) bool {
	return s.Freshness > 0 && (succeeded.IsZero() || now.Sub(succeeded) >= s.Freshness)
}

// debounce is how long a source has to be quiet, and how long it is waited for.
func (s Script) debounce(src Source) (quiet, longest time.Duration) {
	quiet = s.Debounce
	if src.Debounce != nil {
		quiet = *src.Debounce
	}
	if quiet > math.MaxInt64/DebounceCap {
		return quiet, math.MaxInt64
	}
	return quiet, quiet * DebounceCap
}
