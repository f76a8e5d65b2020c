package annotate

import (
	"slices"
	"strings"
)

// Header is what the header of a script says. Durations are texts as they were written:
// see ParseDuration. Lines are numbered from 1.
type Header struct {
	// Pipeline is set for a script that is part of a pipeline.
	Pipeline bool
	// Partitioned says what the slices of the table are; nil if it is written as a whole.
	Partitioned *Partitioned
	// Freshness is the age at which the table is stale; empty if it never is.
	Freshness string
	// Materialize is the table and how it is written; nil for a script that makes none.
	Materialize *Materialize
	// Tests are what must hold of the table after a run, in the order of their lines.
	Tests []DataTest
	// Triggers are what the script runs for, in the order of their lines, each once.
	Triggers []Trigger
	// Join says whether one trigger is enough.
	Join Join
	// Debounce is how long triggers have to be quiet before a run, for those that have no
	// debounce of their own; empty for no wait.
	Debounce string
	// Tag is a word that scripts are chosen by; empty if there is none.
	Tag string
	// Retry says what happens after a failure; nil if nothing.
	Retry *Retry
	// Columns says where columns of the table come from. It goes before what can be
	// inferred, column by column.
	Columns []Column
	// Mute is which assets the script does not run for, though it reads them.
	Mute Mute
	// Macros is set for a script that holds macros for others to use.
	Macros bool
	// Use are the paths of scripts whose macros are used, each once.
	Use []string
	// Measures and Dimensions describe the table to readers, one of a name.
	Measures   []Measure
	Dimensions []Dimension

	// Lines are the numbers of the lines that single facts were taken from, by keyword:
	// of pipeline, freshness, trigger, debounce, tag, macros and mute; and those of the
	// scripts that are used, by "use " and their path. The other records
	// have a Line of their own.
	Lines map[string]int
	// Diagnostics are what is wrong with the header, in the order of their lines.
	Diagnostics []Diagnostic
}

// Kinds of partitions.
const (
	Daily   = "daily"
	Hourly  = "hourly"
	Weekly  = "weekly"
	Monthly = "monthly"
	Dynamic = "dynamic"
)

// Partitioned is the line that slices the table. Only Kind is checked, and that a dynamic
// one has a key; package partition checks the rest.
type Partitioned struct {
	// Kind is daily, hourly, weekly, monthly or dynamic.
	Kind string
	// Key is where in the payload a dynamic partition has its value. Never empty there.
	Key string
	// TZ is the time zone of the calendar, Format what values look like, Start the first
	// day. Empty if the line does not say.
	TZ     string
	Format string
	Start  string
	Line   int
}

// Strategy is how a managed table is written.
type Strategy int

// The strategies.
const (
	Replace Strategy = iota // the rows become those of the SELECT: of the table, or of the slice
	Append                  // the rows of the SELECT are added
	Merge                   // rows of the SELECT replace those with the same key
	History                 // versions of rows with their times, by key
)

func (s Strategy) String() string {
	switch s {
	case Append:
		return "append"
	case Merge:
		return "merge"
	case History:
		return "history"
	}
	return "replace"
}

// SchemaChange is what happens if the SELECT has other columns than the table.
type SchemaChange string

// The ways to take other columns.
const (
	SchemaWarn   SchemaChange = "warn"   // written by position; the run reports it. The default
	SchemaIgnore SchemaChange = "ignore" // written by position
	SchemaFail   SchemaChange = "fail"   // refused before anything is written
	SchemaSync   SchemaChange = "sync"   // the table's columns are made those of the SELECT
)

// Materialize is the line that names the table.
type Materialize struct {
	// Asset is the table, usually of a lake.
	Asset Asset
	// Manual is set for a script that writes the table itself; the run is only recorded.
	Manual bool
	// Append, Key and History choose the strategy: see Strategy.
	Append  bool
	Key     string
	History bool
	// Track are the columns whose change makes a new version of a row; empty for all but
	// the key. Only History looks at it.
	Track []string
	// CloseDeleted is set if the version of a key that has vanished ends. Only History
	// looks at it.
	CloseDeleted bool
	// OnSchemaChange is what other columns mean. Never empty after Parse.
	OnSchemaChange SchemaChange
	Line           int
}

// Strategy is how the table is written: history before append before merge, and replace
// for a line that chooses none.
func (m *Materialize) Strategy() Strategy {
	switch {
	case m.History:
		return History
	case m.Append:
		return Append
	case m.Key != "":
		return Merge
	}
	return Replace
}

// Managed tells whether the table is written for the script.
func (m *Materialize) Managed() bool { return !m.Manual }

// currentSuffix is what the view of the current versions has after the table's name.
const currentSuffix = "_current"

// WriteTargets are the assets that a run changes: the table, and for a managed history the
// view of its current versions.
func (m *Materialize) WriteTargets() []Asset {
	targets := []Asset{m.Asset}
	if m.History && !m.Manual {
		targets = append(targets, Asset{Kind: m.Asset.Kind, Path: m.Asset.Path + currentSuffix})
	}
	return targets
}

// TestKind is what a data test looks at.
type TestKind string

// The kinds of data tests.
const (
	TestUnique         TestKind = "unique"          // no value of the column twice
	TestNotNull        TestKind = "not_null"        // no NULL in the column
	TestAcceptedValues TestKind = "accepted_values" // only these values in the column
	TestRelationships  TestKind = "relationships"   // only values that another column has
	TestCustom         TestKind = "custom"          // a script returns no rows
)

// DataTest is one thing that must hold of the table.
type DataTest struct {
	Kind TestKind
	// Column is the column that is looked at; empty for a custom test.
	Column string
	// Values are those of accepted_values. Never empty there.
	Values []string
	// Ref and RefColumn are the other column of relationships.
	Ref       Asset
	RefColumn string
	// Script is the path of a custom test.
	Script string
	Line   int
}

// Name is what the test is called in results, such as unique(order_id).
func (t DataTest) Name() string {
	arg := t.Column
	switch t.Kind {
	case TestRelationships:
		arg += " -> " + t.Ref.Path + "." + t.RefColumn
	case TestCustom:
		arg = t.Script
	}
	return string(t.Kind) + "(" + arg + ")"
}

// Trigger is one thing that the script runs for. Either Native or Asset is set.
type Trigger struct {
	// Native is a word such as schedule, webhook or kafka.
	Native string
	// Asset is what a change of is waited for.
	Asset Asset
	// Debounce is how long the asset has to be quiet before a run; empty if the header's
	// counts.
	Debounce string
	// Cron is when a schedule is due, and TZ the time zone of its clock; empty if the line
	// does not say.
	Cron string
	TZ   string
	Line int
}

// Schedule is the native trigger that time fires.
const Schedule = "schedule"

// Natives are the triggers that are no assets.
func Natives() []string {
	return []string{Schedule, "webhook", "email", "kafka", "mqtt", "nats", "postgres", "sqs", "gcp", "data_upload"}
}

// PartitionBearing tells whether the trigger fires for one partition.
func (t Trigger) PartitionBearing() bool { return t.Asset.PartitionBearing() }

// String is the trigger's word or asset.
func (t Trigger) String() string {
	if t.Native != "" {
		return t.Native
	}
	return t.Asset.String()
}

// Join says how many of its triggers a script waits for.
type Join int

// The joins.
const (
	JoinAny Join = iota // one is enough
	JoinAll             // each has to fire
)

func (j Join) String() string {
	if j == JoinAll {
		return "all"
	}
	return "any"
}

// Retry says how often a failed run is tried again.
type Retry struct {
	// Count is how many times at most. Never 0.
	Count int
	// Delay is how long before each; empty for at once.
	Delay string
	Line  int
}

// Column is where one column of the table comes from.
type Column struct {
	Name string
	// From are the columns that it is made of, in the order of the line. Never empty.
	From []ColumnRef
	Line int
}

// ColumnRef is a column of an asset.
type ColumnRef struct {
	Asset  Asset
	Column string
}

// Mute is which assets a script does not run for.
type Mute struct {
	// All is set for none.
	All bool
	// Assets are single ones, each once.
	Assets []Asset
}

// Has tells whether changes of the asset are muted.
func (m Mute) Has(a Asset) bool {
	return m.All || slices.Contains(m.Assets, a)
}

// Measure is an aggregate that readers of the table can ask for.
type Measure struct {
	Name string
	Expr string
	// Where is the condition on the rows that count; empty for all.
	Where string
	Line  int
}

// Dimension is an expression that readers of the table can group by.
type Dimension struct {
	Name string
	Expr string
	Line int
}

// KeyColumns are the columns of Key, which are separated by commas.
func (m *Materialize) KeyColumns() []string { return splitList(m.Key) }

// splitList takes a list apart at its commas, without white space and empty elements.
func splitList(s string) []string {
	var list []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}
