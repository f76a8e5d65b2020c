package state

import (
	"encoding/json"
	"fmt"
	"time"
)

// Asset is what a run writes: a kind such as "ducklake" and a path such as
// "analytics/orders_daily".
type Asset struct {
	Kind, Path string
}

// String is the asset as a URI.
func (a Asset) String() string { return a.Kind + "://" + a.Path }

// Status is where a run, or a slice of an asset, stands.
type Status string

// The states. A slice is never Skipped: it keeps what it had. A run that was cancelled has Failed.
const (
	Running      Status = "running"
	Materialized Status = "materialized"
	Failed       Status = "failed"
	Skipped      Status = "skipped"
)

// Column is one column of a table as DESCRIBE gives it.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Test is the outcome of one data test.
type Test struct {
	Name string `json:"test"`
	// Violating is how many rows, or values of a unique test, are against it.
	Violating int64 `json:"violating"`
	// Sample are some of these rows, as a JSON array; absent when there are none.
	Sample json.RawMessage `json:"sample,omitempty"`
}

// Run is one attempt to materialize one slice of one asset.
type Run struct {
	// ID is a UUID, given by Begin.
	ID string
	// Script is the script's name in its project.
	Script string
	Asset  Asset
	// Partition is the slice, "" for an asset without.
	Partition string
	// Strategy is replace, append, merge, history or manual.
	Strategy string
	Status   Status
	// Trigger says why the run began: "by hand", "schedule 2026-01-01T00:00:00Z" and so on.
	Trigger string
	// Attempt counts from 1; above it are retries of the run before.
	Attempt int
	// Owner is who runs it: host, process and user.
	Owner string
	// Started and Ended are in UTC; Ended is zero while it runs.
	Started, Ended time.Time
	// ScriptHash tells whether the script, its macros or its tests have changed.
	ScriptHash string
	// Sources are the tables that were read, "LAKE/schema.table", with the newest snapshot
	// of their lake at that time. Nil when they are not known.
	Sources map[string]int64
	Outcome
}

// Outcome is what came of a run.
type Outcome struct {
	// Snapshot is the snapshot that the run committed; nil when it is not known or nothing
	// was written.
	Snapshot *int64
	// Rows is the number of rows of the table, or of the slice, after the run.
	Rows *int64
	// Columns are the table's, for the history of schemas; nil when they are not known.
	Columns []Column
	// SchemaVersion is the version that Columns have in the history, set by Finish.
	SchemaVersion *int64
	Tests         []Test
	// Error is the text of what went wrong, "" when nothing did.
	Error string
}

// Event is something that happened in a run.
type Event struct {
	Seq  int64
	At   time.Time
	Kind string
	Data string
}

// Slice is the state of one partition of an asset.
type Slice struct {
	Asset     Asset
	Partition string
	Status    Status
	Snapshot  *int64
	Rows      *int64
	Run       string // ID, "" when it is not known
	Script    string
	At        time.Time
	Error     string
}

// Schema is one version of an asset's columns.
type Schema struct {
	Version  int64
	Columns  []Column
	Snapshot *int64
	Run      string
	Captured time.Time
}

// maxText bounds texts, in bytes: an error of DuckDB can hold a whole statement.
const maxText = 64 << 10

// clean is a text as a column can hold it: PostgreSQL takes no NUL, and nobody reads more
// than maxText.
func clean(s string) string {
	b := make([]byte, 0, min(len(s), maxText))
	for _, r := range s { // invalid bytes become U+FFFD
		if r == 0 {
			r = '\uFFFD'
		}
		if len(b) > maxText-8 {
			return string(b) + "…"
		}
		b = append(b, string(r)...)
	}
	return string(b)
}

func (s Status) check() error {
	switch s {
	case Running, Materialized, Failed, Skipped:
		return nil
	}
	return fmt.Errorf("%w: status %q", ErrValue, string(s))
}
