package plan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/materialize/annotate"
	"github.com/eiderdb/eider/materialize/classify"
)

// Errors of this package. What is returned is an *Error, which wraps one of them.
var (
	// ErrInput is for a header, a script or a partition that no run can be made of.
	ErrInput = errors.New("cannot be materialized")
	// ErrColumns is for columns of the SELECT that do not fit the table or the strategy.
	ErrColumns = errors.New("the columns do not fit")
)

// Error says why there is no plan, and what to do.
type Error struct {
	// Err is one of the sentinels.
	Err error
	// Line is the line of the script, from 1; 0 if it is none of them.
	Line int
	// Message says what is wrong, Remedy what to write.
	Message string
	Remedy  string
}

// Error names the line, what is wrong and what to do.
func (e *Error) Error() string {
	s := e.Message
	if e.Line > 0 {
		s = fmt.Sprintf("line %d: %s", e.Line, s)
	}
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Unwrap is the sentinel.
func (e *Error) Unwrap() error { return e.Err }

// Names that a plan uses.
const (
	// Target is the catalog under which the lake that is written is attached.
	Target = "_wm_target"
	// PartitionColumn holds the value of the partition, in every table with partitions.
	PartitionColumn = "_wm_partition"
	// DefaultSchema is the schema of a table that is named without one.
	DefaultSchema = "main"

	refPrefix = "_wm_ref_"
	changed   = "_wm_scd2_changed"
	deleted   = "_wm_scd2_deleted"
	query     = "_wm_query"
)

// Columns that history adds.
const (
	validFrom = "valid_from"
	validTo   = "valid_to"
	isCurrent = "is_current"
)

// Role is what a statement is for.
type Role string

// The roles.
const (
	Setup     Role = "setup"     // a statement of the script, or of macros that it uses
	AttachTo  Role = "attach"    // attaches the target
	Reference Role = "reference" // attaches a lake that a test looks at
	Create    Role = "create"    // makes the table, without rows
	Partition Role = "partition" // says how the table is partitioned
	Capture   Role = "capture"   // keeps what is needed from before the write, in a temporary table
	Begin     Role = "begin"
	Describe  Role = "describe" // gives the snapshot an author and a message
	Guard     Role = "guard"    // fails when the columns have drifted
	Alter     Role = "alter"    // makes the table's columns those of the SELECT
	Delete    Role = "delete"
	Close     Role = "close" // ends versions of rows
	Insert    Role = "insert"
	Write     Role = "replace" // makes the table anew
	View      Role = "view"
	Commit    Role = "commit"
	Summary   Role = "summary" // what came of it; the run's result
)

// When says whether a statement is needed.
type When int

// The conditions.
const (
	Always When = iota
	// IfMissing is for a table that is not there yet.
	IfMissing
	// IfSchemaMissing is for a schema that is not there yet.
	IfSchemaMissing
	// IfUnpartitioned is for a table that is not there yet, or not partitioned.
	IfUnpartitioned
)

// Statement is one statement of a plan.
type Statement struct {
	Role Role
	// SQL is the text, without a semicolon.
	SQL string
	// Line is where it is in the script, from 1; 0 for what the plan adds.
	Line int
	When When
	// Bootstrap is set for what happens before the write, once in a table's life.
	Bootstrap bool
}

// Column is a column as DESCRIBE gives it.
type Column struct {
	Name, Type string
}

// Probe is what was found before the write.
type Probe struct {
	// Output are the columns of the SELECT.
	Output []Column
	// Table are the columns of the table, with that of the partition; nil if there is none.
	Table []Column
}

// Snapshot is what the snapshots that a run makes say of themselves.
type Snapshot struct {
	Author, Message string
	// Extra is JSON; "" for none.
	Extra string
}

// Macros are the statements of a script of macros that this one uses.
type Macros struct {
	Script     string
	Statements []classify.Statement
}

// Input is what a plan is made of.
type Input struct {
	Header *annotate.Header
	Script *classify.Script
	// Partition is the value of the slice; "" for a script without partitions.
	Partition string
	// PartitionMacro is the statement that makes wm_partition(ts), "" for none.
	PartitionMacro string
	// Macros are those of the scripts that the header uses, in its order.
	Macros []Macros
	// Custom are the bodies of the header's own tests, by their paths.
	Custom map[string]string
	// Probe is what is known of columns; nil if nothing was looked at yet.
	Probe *Probe
	// Snapshot is what the snapshots say; nil to say nothing. Then a write that is one statement
	// has no transaction around it.
	Snapshot *Snapshot
}

// Plan is what a run does.
type Plan struct {
	Asset    annotate.Asset
	Strategy annotate.Strategy
	// Partition is the value of the slice, "" for none.
	Partition string
	// Query is the SELECT with the partition's value in it; its columns are what is probed.
	Query string
	// Statements are in the order of their execution. The last one is the summary.
	Statements []Statement
	// Checks are the data tests.
	Checks []Check
	// Drift is how the SELECT's columns differ from the table's; nil if they do not, if nothing
	// is known or if nobody asked.
	Drift *Drift
	// Retyped are the columns whose type in the SELECT is not the table's, each as a text. Their values are
	// cast.
	Retyped []string

	in     *Input
	target string // the table, qualified and quoted
}

// Build makes the plan.
func Build(in *Input) (*Plan, error) {
	if err := CheckInput(in); err != nil {
		return nil, err
	}
	m := in.Header.Materialize
	p := &Plan{Asset: m.Asset, Strategy: m.Strategy(), Partition: in.Partition, in: in, target: TargetTable(m.Asset)}
	p.Query = p.substitute(in.Script.Output.Text)
	if err := p.checks(); err != nil {
		return nil, err
	}
	if err := p.columns(); err != nil {
		return nil, err
	}
	p.setup()
	p.strategy()
	p.add(Statement{Role: Summary, SQL: p.Summarize(nil)})
	return p, nil
}

func (p *Plan) add(s ...Statement) { p.Statements = append(p.Statements, s...) }

// partitioned says whether the table has partitions.
func (p *Plan) partitioned() bool { return p.in.Header.Partitioned != nil }

// value is the partition's value as a literal.
func (p *Plan) value() string { return lake.QuoteText(p.Partition) }

// slice is the condition of the partition's rows.
func (p *Plan) slice() string { return lake.QuoteName(PartitionColumn) + " = " + p.value() }

func (p *Plan) substitute(sql string) string {
	if !p.partitioned() {
		return sql
	}
	return classify.SubstitutePartition(sql, p.Partition)
}

// setup are the statements before the write: the script's own, then the attaches of the plan.
func (p *Plan) setup() {
	for _, m := range p.in.Macros {
		for _, s := range m.Statements {
			p.add(Statement{Role: Setup, SQL: p.substitute(s.Text)})
		}
	}
	if p.in.PartitionMacro != "" {
		p.add(Statement{Role: Setup, SQL: p.in.PartitionMacro})
	}
	for _, s := range p.in.Script.Setup {
		p.add(Statement{Role: Setup, SQL: p.substitute(s.Text), Line: s.Line})
	}
	p.add(Statement{Role: AttachTo, SQL: attachLake(p.Asset.Lake(), Target)})
	for i, ref := range p.references() {
		p.add(Statement{Role: Reference, SQL: attachLake(ref.Lake(), fmt.Sprint(refPrefix, i))})
	}
}

// Preparation returns the statements before the first that writes: what a probe needs.
func (p *Plan) Preparation() []Statement {
	for i, s := range p.Statements {
		switch s.Role {
		case Setup, AttachTo, Reference:
		default:
			return p.Statements[:i]
		}
	}
	return p.Statements
}

// Writes returns the statements from the first that writes to the last, without the summary.
func (p *Plan) Writes() []Statement {
	return p.Statements[len(p.Preparation()) : len(p.Statements)-1]
}

// attachLake is the statement that attaches a lake under another name.
func attachLake(name, alias string) string {
	return "ATTACH " + lake.QuoteText("ducklake://"+name) + " AS " + lake.QuoteName(alias)
}

// idents quotes names, in front of each a qualifier such as "t.".
func idents(qualifier string, names []string) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = qualifier + lake.QuoteName(n)
	}
	return strings.Join(list, ", ")
}

// tableName is a table of an attached catalog, TABLE or SCHEMA.TABLE, quoted.
func tableName(catalog, table string) string {
	parts := []string{catalog}
	for part := range strings.SplitSeq(table, ".") {
		parts = append(parts, lake.QuoteName(part))
	}
	return strings.Join(parts, ".")
}

// TargetTable is an asset's table as plans call it.
func TargetTable(a annotate.Asset) string { return tableName(Target, a.Table()) }

// SplitTable takes TABLE or SCHEMA.TABLE apart.
func SplitTable(table string) (schema, name string) {
	if schema, name, ok := strings.Cut(table, "."); ok {
		return schema, name
	}
	return DefaultSchema, table
}
