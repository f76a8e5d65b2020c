package gc

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/eiderdb/eider/internal/bytesize"
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

// String is the tier as ParseTiers reads it, its sizes rounded for people.
func (t Tier) String() string {
	return bytesize.Short(t.Min) + "-" + bytesize.Short(t.Max) + ":" + bytesize.Short(t.Target)
}

// defaultTiers are those of DuckLake's documentation for streaming workloads: a row is written
// at most three times more, and files of 64 MiB are left alone.
const defaultTiers = "0-1MiB:5MiB,1MiB-10MiB:32MiB,10MiB-64MiB:128MiB"

// maxSize bounds the sizes of tiers, so that sums of a million files fit.
const maxSize = 1 << 43

// ParseTiers reads tiers from the smallest to the largest: "0-1MiB:5MiB,1MiB-10MiB:32MiB".
func ParseTiers(s string) ([]Tier, error) {
	var tiers []Tier
	for part := range strings.SplitSeq(s, ",") {
		sizes, target, ok := strings.Cut(strings.TrimSpace(part), ":")
		low, high, ok2 := strings.Cut(sizes, "-")
		if !ok || !ok2 {
			return nil, fmt.Errorf("tier %q is not MIN-MAX:TARGET", part)
		}
		var t Tier
		for _, v := range []struct {
			text string
			to   *int64
		}{{low, &t.Min}, {high, &t.Max}, {target, &t.Target}} {
			n, err := bytesize.Parse(v.text)
			if err != nil || n > maxSize {
				return nil, fmt.Errorf("%q is not a size such as 64MiB", v.text)
			}
			*v.to = n
		}
		tiers = append(tiers, t)
	}
	return tiers, CheckTiers(tiers)
}

// CheckTiers says why tiers make no sense, if they do not.
func CheckTiers(tiers []Tier) error {
	for i, t := range tiers {
		switch {
		case t.Min >= t.Max:
			return fmt.Errorf("tier %s has no files", t)
		case t.Target < t.Max:
			return fmt.Errorf("tier %s merges files into itself", t)
		case i > 0 && t.Min < tiers[i-1].Max:
			return fmt.Errorf("tier %s overlaps the one before it", t)
		}
	}
	return nil
}

func parseTiers(s string) (any, error) {
	tiers, err := ParseTiers(s)
	return tiers, err
}

// FileRule says what is done with the files of one table by what DuckDB is needed for ("eider
// maintain"), and when it is worth it.
type FileRule struct {
	// Flush, Merge and Rewrite switch the steps.
	Flush, Merge, Rewrite bool
	// MinInlined is how many inlined rows and deletes must wait before they are flushed; 1
	// at least.
	MinInlined int64
	// FlushAge and FlushBytes flush fewer as well: when one of them is so old, or their values
	// are so many bytes. 0, as in the fields below, is no such rule.
	FlushAge   time.Duration
	FlushBytes int64
	// MinFiles is how many files of one tier must be mergeable before they are merged; 2 at
	// least.
	MinFiles int64
	// MergeAge and MergeBytes merge fewer as well: when two that can be merged are so old, or
	// so many bytes wait beside the largest file.
	MergeAge   time.Duration
	MergeBytes int64
	// Tiers go from small to large.
	Tiers []Tier
	// DeleteThreshold is the part of a file's rows that must be deleted before it is
	// rewritten, above 0 and up to 1.
	DeleteThreshold float64
	// RewriteAge and RewriteBytes rewrite others as well: those with deletes that are so old,
	// or that take up so many bytes of the file.
	RewriteAge   time.Duration
	RewriteBytes int64
}

// Check says why a rule makes no sense, if it does not.
func (r *FileRule) Check() error {
	switch {
	case r.MinInlined < 1:
		return errors.New("at least 1 inlined row must be there to be flushed")
	case r.MinFiles < 2:
		return errors.New("at least 2 files must be there to be merged")
	case !(r.DeleteThreshold > 0 && r.DeleteThreshold <= 1):
		return errors.New("the delete threshold must be above 0 and at most 1")
	case r.FlushAge < 0 || r.MergeAge < 0 || r.RewriteAge < 0:
		return errors.New("an age is negative")
	case r.FlushBytes < 0 || r.MergeBytes < 0 || r.RewriteBytes < 0:
		return errors.New("a size is negative")
	}
	return CheckTiers(r.Tiers)
}

// DefaultFileRule is the rule where nothing is set.
func DefaultFileRule() FileRule { return NewSet(nil).For("").FileRule("", "") }

// FileRule is what counts for the files of a table, which is named as it is now.
func (p *Policies) FileRule(schema, table string) (r FileRule) {
	sc := Scope{Lake: p.lake, Schema: schema, Table: table}
	r.Flush, _ = p.value(NameFlush, sc).(bool)
	r.Merge, _ = p.value(NameMerge, sc).(bool)
	r.Rewrite, _ = p.value(NameRewrite, sc).(bool)
	r.MinInlined, _ = p.value(NameMinInlined, sc).(int64)
	r.MinFiles, _ = p.value(NameMinFiles, sc).(int64)
	r.Tiers, _ = p.value(NameTiers, sc).([]Tier)
	r.DeleteThreshold, _ = p.value(NameDeleteThreshold, sc).(float64)
	r.FlushAge, _ = p.value(NameFlushAge, sc).(time.Duration)
	r.FlushBytes, _ = p.value(NameFlushBytes, sc).(int64)
	r.MergeAge, _ = p.value(NameMergeAge, sc).(time.Duration)
	r.MergeBytes, _ = p.value(NameMergeBytes, sc).(int64)
	r.RewriteAge, _ = p.value(NameRewriteAge, sc).(time.Duration)
	r.RewriteBytes, _ = p.value(NameRewriteBytes, sc).(int64)
	return r
}
