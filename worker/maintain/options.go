package maintain

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/internal/bytesize"
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
// into. All sizes are in bytes.
type Tier struct {
	// Min and Max bound the files: Min ≤ size < Max.
	Min, Max int64
	// Target is the size that merged files come close to. It is not below Max, or files
	// would be merged into their own tier for ever.
	Target int64
}

// String is the tier as ParseTiers reads it.
func (t Tier) String() string {
	return bytesize.Short(t.Min) + "-" + bytesize.Short(t.Max) + ":" + bytesize.Short(t.Target)
}

// DefaultTiers are those of DuckLake's documentation for streaming workloads: a row is
// written at most three times more, and files of 64 MiB are left alone.
func DefaultTiers() []Tier {
	const mib = 1 << 20
	return []Tier{
		{Min: 0, Max: mib, Target: 5 * mib},
		{Min: mib, Max: 10 * mib, Target: 32 * mib},
		{Min: 10 * mib, Max: 64 * mib, Target: 128 * mib},
	}
}

// ParseTiers reads tiers from the smallest to the largest: "0-1MiB:5MiB,1MiB-10MiB:32MiB".
func ParseTiers(s string) ([]Tier, error) {
	var tiers []Tier
	for part := range strings.SplitSeq(s, ",") {
		sizes, target, ok := strings.Cut(strings.TrimSpace(part), ":")
		low, high, ok2 := strings.Cut(sizes, "-")
		if !ok || !ok2 {
			return nil, fmt.Errorf("%w: tier %q is not MIN-MAX:TARGET", ErrOption, part)
		}
		var t Tier
		for _, v := range []struct {
			text string
			to   *int64
		}{{low, &t.Min}, {high, &t.Max}, {target, &t.Target}} {
			n, err := ParseBytes(v.text)
			if err != nil {
				return nil, err
			}
			*v.to = n
		}
		tiers = append(tiers, t)
	}
	return tiers, checkTiers(tiers)
}

func checkTiers(tiers []Tier) error {
	for i, t := range tiers {
		switch {
		case t.Min >= t.Max:
			return fmt.Errorf("%w: tier %s has no files", ErrOption, t)
		case t.Target < t.Max:
			return fmt.Errorf("%w: tier %s merges files into itself", ErrOption, t)
		case i > 0 && t.Min < tiers[i-1].Max:
			return fmt.Errorf("%w: tier %s overlaps the one before it", ErrOption, t)
		}
	}
	return nil
}

// Rule says what is done to one table, and when it is worth it.
type Rule struct {
	// Flush, Merge and Rewrite switch the steps.
	Flush, Merge, Rewrite bool
	// MinInlined is how many inlined rows and deletes must wait before they are flushed; 1
	// at least.
	MinInlined int64
	// MinFiles is how many files of one tier must be mergeable before they are merged; 2 at
	// least.
	MinFiles int64
	// DeleteThreshold is the part of a file's rows that must be deleted before it is
	// rewritten, above 0 and up to 1.
	DeleteThreshold float64
}

// DefaultRule does everything, as soon as there is something to do; a file is rewritten when
// a quarter of its rows is deleted. (DuckLake's own default, 0.95, leaves files that are
// nearly all waste.)
func DefaultRule() Rule {
	return Rule{Flush: true, Merge: true, Rewrite: true, MinInlined: 1, MinFiles: 2, DeleteThreshold: 0.25}
}

func (r Rule) check() error {
	switch {
	case r.MinInlined < 1:
		return fmt.Errorf("%w: at least 1 inlined row must be there to be flushed", ErrOption)
	case r.MinFiles < 2:
		return fmt.Errorf("%w: at least 2 files must be there to be merged", ErrOption)
	case !(r.DeleteThreshold > 0 && r.DeleteThreshold <= 1):
		return fmt.Errorf("%w: the delete threshold must be above 0 and at most 1", ErrOption)
	}
	return nil
}

// Options says what a run does. Zero fields of sizes, counts and times get the default that
// is named, unless their comment says otherwise.
type Options struct {
	// Schemas and Tables restrict the run to these names; nil for all. A table may be given
	// as schema.table. Case is ignored, as DuckDB does.
	Schemas, Tables []string
	// Rule is the rule of tables for which RuleOf is silent; DefaultRule when it is zero.
	Rule Rule
	// RuleOf gives the rule of a table (policies); nil for Rule everywhere.
	RuleOf func(schema, table string) Rule
	// Tiers go from small to large; DefaultTiers when nil.
	Tiers []Tier
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
	if o.Rule == (Rule{}) {
		o.Rule = DefaultRule()
	}
	if o.Tiers == nil {
		o.Tiers = DefaultTiers()
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
	return o, errors.Join(o.Rule.check(), checkTiers(o.Tiers))
}

func (o *Options) ruleOf(t *Table) Rule {
	if o.RuleOf != nil {
		return o.RuleOf(t.Schema, t.Name)
	}
	return o.Rule
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
