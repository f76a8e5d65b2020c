package maintain

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/eiderdb/eider/gc"
)

// Errors of this package.
var (
	// ErrOption is returned for options that make no sense.
	ErrOption = errors.New("invalid option")
	// ErrBusy is returned when another worker maintains the lake.
	ErrBusy = errors.New("another worker maintains this lake")
	// ErrLost is returned when the connection that holds the lake's lock is gone, so that
	// another worker may have begun.
	ErrLost = errors.New("the lock on the lake is lost")
	// ErrNoLake is returned when the metadata schema has no DuckLake catalog.
	ErrNoLake = errors.New("there is no lake")
	// ErrServerJob is returned when a job that the server was asked for has failed.
	ErrServerJob = errors.New("a job of the server has failed")
	// ErrFailed is returned when a run came to its end and steps of it failed.
	ErrFailed = errors.New("steps failed")
)

// Tier is a class of data files by size, and how large the files become that they are merged
// into.
type Tier = gc.Tier

// ParseTiers reads tiers as gc.ParseTiers does.
func ParseTiers(s string) ([]Tier, error) {
	tiers, err := gc.ParseTiers(s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOption, err)
	}
	return tiers, nil
}

// DefaultTiers are those of the policy's default.
func DefaultTiers() []Tier { return DefaultRule().Tiers }

// Rule says what is done to one table, and when it is worth it.
type Rule = gc.FileRule

// DefaultRule is what the policies say where nothing is set: everything is done as soon as there
// is something to do, and a file is rewritten when a quarter of its rows is deleted. (DuckLake's
// own default, 0.95, leaves files that are nearly all waste.)
func DefaultRule() Rule { return gc.DefaultFileRule() }

// Options says what a run does. Zero fields of sizes, counts and times get the default that
// is named, unless their comment says otherwise.
type Options struct {
	// Schemas and Tables restrict the run to these names; nil for all. A table may be given
	// as schema.table. Case is ignored, as DuckDB does.
	Schemas, Tables []string
	// Rule is the rule of all tables when RuleOf is nil; DefaultRule when that is nil as well.
	Rule *Rule
	// RuleOf gives the rule of a table (policies).
	RuleOf func(schema, table string) Rule
	// Outputs is how many files one merge step may write, which bounds its memory and how
	// long its transaction is open; 16.
	Outputs int
	// MaxFiles ends the run after the step with which it has read so many files; 0 for no
	// bound.
	MaxFiles int64
	// MaxTime ends the run after the step in which it has passed; 0 for no bound.
	MaxTime time.Duration
	// Windows are the times at which steps may begin, on Zone's clock; the zero value is
	// always.
	Windows gc.Windows
	// Zone is the location of Windows; UTC when nil.
	Zone *time.Location
	// Retries is how often a step that lost a race is tried again; 10. Below 0: never.
	Retries int
	// Backoff is how long the first retry waits at most; each later one waits twice as long,
	// up to 5 s; 200 ms.
	Backoff time.Duration
	// Rest asks for what is not DuckDB's alone: expiry, cleanup, orphans.
	Rest Rest
	// AllowRenumber lets merges happen that would give rows other row ids. Only catalogs
	// that do not hold row ids, PostgreSQL for one, let such a merge land.
	AllowRenumber bool
	// Seed seeds the jitter of waits.
	Seed uint64
}

// Rest says what of the maintenance that needs no DuckDB is done as well, through DuckLake's
// own functions. A step whose age is 0 is left out.
type Rest struct {
	// Expire is the age from which snapshots are expired.
	Expire time.Duration
	// Cleanup is how long ago a file must have been scheduled for its deletion.
	Cleanup time.Duration
	// Orphans is the age from which files that the catalog does not know are deleted.
	Orphans time.Duration
	// Server leaves all three to the server's own job, which knows what open transactions
	// read; the ages then do not count.
	Server bool
}

// withDefaults fills in defaults and checks the rest.
func (o Options) withDefaults() (Options, error) {
	if o.Rule == nil {
		rule := DefaultRule()
		o.Rule = &rule
	}
	if o.Outputs == 0 {
		o.Outputs = 16
	}
	if o.Retries == 0 {
		o.Retries = 10
	}
	if o.Backoff == 0 {
		o.Backoff = 200 * time.Millisecond
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.Outputs < 0 || o.MaxFiles < 0 || o.MaxTime < 0 || o.Backoff < 0 {
		return o, fmt.Errorf("%w: a bound is negative", ErrOption)
	}
	if o.Rest.Expire < 0 || o.Rest.Cleanup < 0 || o.Rest.Orphans < 0 {
		return o, fmt.Errorf("%w: an age is negative", ErrOption)
	}
	if err := o.Rule.Check(); err != nil {
		return o, fmt.Errorf("%w: %w", ErrOption, err)
	}
	return o, nil
}

func (o *Options) ruleOf(schema, table string) Rule {
	if o.RuleOf != nil {
		return o.RuleOf(schema, table)
	}
	return *o.Rule
}

// wants says whether a table is of the run.
func (o *Options) wants(schema, table string) bool {
	in := func(list []string, names ...string) bool {
		for _, l := range list {
			for _, n := range names {
				if strings.EqualFold(l, n) {
					return true
				}
			}
		}
		return len(list) == 0
	}
	return in(o.Schemas, schema) && in(o.Tables, table, schema+"."+table)
}
