package maintain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/eiderdb/eider/internal/bytesize"
	"github.com/eiderdb/eider/lake/retry"
	"github.com/eiderdb/eider/worker/duck"
)

// Phase is a part of a run. Their order is the one that DuckLake recommends: what is flushed
// can be merged, what is expired need not be, and files go when nothing names them any more.
type Phase int

// The phases, in the order of a run.
const (
	Flush Phase = iota
	Expire
	Merge
	Rewrite
	Cleanup
	Orphans
)

var phaseNames = [...]string{"flush", "expire", "merge", "rewrite", "cleanup", "orphans"}

// String is the phase's name in options and reports.
func (p Phase) String() string { return phaseNames[p] }

// Table is what the catalog says of one live table.
type Table struct {
	ID           int64
	Schema, Name string
	// Target is the target_file_size that is set for the table, its schema or the lake, in
	// bytes; 0 when none is.
	Target int64
	// InlinedRows and InlinedDeletes wait for a flush.
	InlinedRows, InlinedDeletes int64
	// InlinedBytes is the size of the values that wait, as text; 0 unless the rule has FlushBytes.
	InlinedBytes int64
	// InlinedOld says that some of what waits is as old as the rule's FlushAge.
	InlinedOld bool
	// Rule is what is done to the table.
	Rule Rule
	// Tiers has an entry for each tier of the rule.
	Tiers []TierFiles
	// Rewrite is about the files that the rule wants rewritten.
	Rewrite RewriteFiles
}

// TierFiles counts the files of a table in one tier.
type TierFiles struct {
	// Files are in the tier and without deletes.
	Files int64
	// Mergeable of them have another one in their partition.
	Mergeable int64
	// Bytes is the size of those that are mergeable.
	Bytes int64
	// Waiting is that size without the largest file of each partition: a merge that left a file
	// in the tier is not done again for it.
	Waiting int64
	// Old of the mergeable ones are of the rule's MergeAge, and have another such one in their
	// partition.
	Old int64
}

// RewriteFiles counts the files of a table that are worth a rewrite, and their rows.
type RewriteFiles struct {
	Files, Rows, Deleted int64
	// Part is the smallest part that is deleted of one of them; 0 without any.
	Part float64
}

// add counts a file if the rule wants it rewritten. old says that its deletes are of the rule's
// RewriteAge.
func (f *RewriteFiles) add(rule *Rule, rows, deleted, size int64, old bool) {
	part := float64(deleted) / float64(rows)
	switch {
	case part >= rule.DeleteThreshold:
	case rule.RewriteAge > 0 && old:
	case rule.RewriteBytes > 0 && part*float64(size) >= float64(rule.RewriteBytes):
	default:
		return
	}
	if f.Files == 0 || part < f.Part {
		f.Part = part
	}
	f.Files++
	f.Rows += rows
	f.Deleted += deleted
}

// threshold is what a call must be told to take all of the files. It cannot name them, so that
// others of which as much is deleted are rewritten as well.
func (f *RewriteFiles) threshold(rule *Rule) float64 {
	if f.Part == 0 || f.Part >= rule.DeleteThreshold {
		return rule.DeleteThreshold
	}
	return f.Part * (1 - 1e-9) // DuckDB reads it as a decimal number and may round it up
}

// Step is one call of one of DuckLake's functions, on one table or, for the phases that are
// the lake's, on all of it.
type Step struct {
	Phase         Phase
	Schema, Table string // "" for the lake
	Tier          Tier   // of merges
	// Target is the size of merged files in bytes, of merges.
	Target int64
	// Files, Rows and Bytes are what the step is expected to read; what is not known is 0.
	Files, Rows, Bytes int64
	// Threshold is the part of deleted rows, of rewrites.
	Threshold float64
	// Age is that of Rest, of expiry, cleanup and orphans.
	Age time.Duration
	// Off says that the rule of the table turns the step off, which otherwise would be done.
	Off bool
}

// Name is the step for people: "merge main.events 0B-1MiB".
func (s *Step) Name() string {
	name := s.Phase.String()
	if s.Table != "" {
		name += " " + s.Schema + "." + s.Table
	}
	if s.Phase == Merge {
		name += " " + bytesize.Short(s.Tier.Min) + "-" + bytesize.Short(s.Tier.Max)
	}
	return name
}

// Plan makes the steps of a phase; tier says which tier's merges, by the order of each table's
// own. The tables come in the order of the state.
func Plan(state []Table, o *Options, p Phase, tier int) []Step {
	return slices.DeleteFunc(planAll(state, o, p, tier), func(s Step) bool { return s.Off })
}

// planAll is Plan with the steps that rules turn off.
func planAll(state []Table, o *Options, p Phase, tier int) []Step {
	if step, ok := o.Rest.step(p); ok {
		return []Step{step}
	}
	var steps []Step
	for i := range state {
		t := &state[i]
		if !o.wants(t.Schema, t.Name) {
			continue
		}
		if s, ok := planTable(t, p, tier); ok {
			s.Phase, s.Schema, s.Table = p, t.Schema, t.Name
			steps = append(steps, s)
		}
	}
	return steps
}

// step is the step of a phase that is the lake's.
func (r Rest) step(p Phase) (Step, bool) {
	age := time.Duration(0)
	switch p {
	case Expire:
		age = r.Expire
	case Cleanup:
		age = r.Cleanup
	case Orphans:
		age = r.Orphans
	}
	return Step{Phase: p, Age: age}, age > 0 && !r.Server
}

func planTable(t *Table, p Phase, tier int) (s Step, worth bool) {
	rule := &t.Rule
	switch p {
	case Flush:
		n := t.InlinedRows + t.InlinedDeletes
		return Step{Rows: n, Off: !rule.Flush}, n > 0 && (n >= rule.MinInlined || rule.FlushAge > 0 && t.InlinedOld ||
			rule.FlushBytes > 0 && t.InlinedBytes >= rule.FlushBytes)
	case Merge:
		if tier >= len(rule.Tiers) {
			return Step{}, false
		}
		f, of := t.Tiers[tier], rule.Tiers[tier]
		target := of.Target
		// A table whose owner wants files smaller than the tier makes them gets them. DuckLake
		// leaves files alone that are as large as the target.
		if t.Target > 0 {
			target = min(target, t.Target)
		}
		return Step{Tier: of, Target: target, Files: f.Mergeable, Bytes: f.Bytes, Off: !rule.Merge},
			target > of.Min && f.Mergeable >= 2 && (f.Mergeable >= rule.MinFiles || rule.MergeAge > 0 && f.Old > 0 ||
				rule.MergeBytes > 0 && f.Waiting >= rule.MergeBytes)
	case Rewrite:
		return Step{Files: t.Rewrite.Files, Rows: t.Rewrite.Rows, Threshold: t.Rewrite.threshold(rule), Off: !rule.Rewrite}, t.Rewrite.Files > 0
	}
	return Step{}, false
}

// tiersOf is how many tiers the tables have at most.
func tiersOf(state []Table) (n int) {
	for i := range state {
		n = max(n, len(state[i].Rule.Tiers))
	}
	return n
}

// SQL is the statement that does the step, on a lake that is attached under a name. outputs
// bounds the files that a merge writes. Each statement returns rows; of those that merge and
// rewrite the third column is the number of files read and the fourth of files written, of
// flushes the third is the number of rows.
func (s *Step) SQL(lake string, outputs int) string {
	args := []string{duck.Literal(lake)}
	named := func(name, value string) { args = append(args, name+" => "+value) }
	var fn string
	switch s.Phase {
	case Flush:
		fn = "ducklake_flush_inlined_data"
		named("schema_name", duck.Literal(s.Schema))
		named("table_name", duck.Literal(s.Table))
	case Merge:
		fn = "ducklake_merge_adjacent_files"
		args = append(args, duck.Literal(s.Table))
		named("schema", duck.Literal(s.Schema))
		if s.Tier.Min > 0 {
			named("min_file_size", strconv.FormatInt(s.Tier.Min, 10))
		}
		named("max_file_size", strconv.FormatInt(s.Tier.Max, 10))
		named("max_compacted_files", strconv.Itoa(outputs))
	case Rewrite:
		fn = "ducklake_rewrite_data_files"
		args = append(args, duck.Literal(s.Table))
		named("schema", duck.Literal(s.Schema))
		named("delete_threshold", strconv.FormatFloat(s.Threshold, 'f', -1, 64))
	case Expire:
		fn = "ducklake_expire_snapshots"
		named("older_than", ago(s.Age))
	case Cleanup:
		fn = "ducklake_cleanup_old_files"
		named("older_than", ago(s.Age))
	case Orphans:
		fn = "ducklake_delete_orphaned_files"
		named("older_than", ago(s.Age))
	}
	return "SELECT * FROM " + fn + "(" + strings.Join(args, ", ") + ")"
}

// ago is the time before now, by DuckDB's clock.
func ago(d time.Duration) string {
	return fmt.Sprintf("now() - INTERVAL '%d seconds'", int64(d/time.Second))
}

// TargetSQL sets the size of the files that the step writes, for this DuckDB alone.
func (s *Step) TargetSQL() string {
	if s.Phase == Merge {
		return fmt.Sprintf("SET ducklake_target_file_size = '%dB'", s.Target)
	}
	return "RESET ducklake_target_file_size"
}

// retryable says whether an error means that a race was lost. It is DuckLake's own rule for
// commits, and it goes for its conflicts as well: the next attempt plans the step anew. So it
// is right for what DuckLake must not repeat by itself, and Eider's checks say so. Of what
// a server has said only that counts: the batch before it is full of names and values of the
// lake. A commit of which it is not known whether it was done is not tried again.
func retryable(err error) bool {
	text := said(err.Error())
	return retry.Is(text) || strings.Contains(text, retry.RunAgain)
}

// said is the part of an error's text that comes after the statements: what a server has
// answered, or that it has not. It is all of the text where there are none.
func said(text string) string {
	for _, severity := range []string{"ERROR:", "FATAL:", "PANIC:"} {
		if i := strings.LastIndex(text, severity); i >= 0 {
			return text[i+len(severity):]
		}
	}
	if strings.Contains(text, `Failed to execute query "`) {
		return text[strings.LastIndex(text, `"`)+1:]
	}
	return text
}
