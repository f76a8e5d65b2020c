package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/materialize/annotate"
	"github.com/eiderdb/eider/materialize/classify"
)

// SampleRows is how many rows against a test are shown at most, SampleBytes how large they may
// be together, as JSON.
const (
	SampleRows  = 20
	SampleBytes = 51200
)

// Check is a data test as a query for what violates it.
type Check struct {
	// Name is what the test is called in results.
	Name string
	// Rows is a query whose rows are the violations: rows of the table without the partition,
	// for a unique test each value that is there more than once with how often it is, for a
	// custom one what the script gives.
	Rows string
	// Needs is a query of what the test compares with, which has to be there before anything is written; ""
	// for a test that looks at the table alone.
	Needs string
	// Line is where it is in the header.
	Line int
}

// Count is the query for the number of violations.
func (c *Check) Count() string { return "SELECT count(*) FROM (" + c.Rows + "\n)" }

// Sample is a query for one row, with some violations as a JSON array of at most SampleRows.
func (c *Check) Sample() string {
	rows := fmt.Sprintf("SELECT COLUMNS(c -> lower(c) <> %s) FROM (%s\n) LIMIT %d", lake.QuoteText(PartitionColumn), c.Rows, SampleRows)
	return "SELECT CAST(to_json(list(to_json(_wm_row))) AS VARCHAR) FROM (" + rows + ") AS _wm_row"
}

// references are the lakes, other than the target's, that tests look at, each once.
func (p *Plan) references() []annotate.Asset {
	var list []annotate.Asset
	for _, t := range p.in.Header.Tests {
		if t.Kind != annotate.TestRelationships || t.Ref.Lake() == p.Asset.Lake() {
			continue
		}
		if !slices.ContainsFunc(list, func(a annotate.Asset) bool { return a.Lake() == t.Ref.Lake() }) {
			list = append(list, t.Ref)
		}
	}
	return list
}

// scope is what of the table tests look at, as a condition with AND in front.
func (p *Plan) scope(qualifier string) string {
	s := ""
	if p.partitioned() {
		s += " AND " + qualifier + p.slice()
	}
	if p.Strategy == annotate.History {
		s += " AND " + qualifier + isCurrent
	}
	return s
}

// checks makes the queries of the tests.
func (p *Plan) checks() error {
	for _, t := range p.in.Header.Tests {
		c := Check{Name: t.Name(), Line: t.Line}
		col := lake.QuoteName(t.Column)
		rows := "SELECT *"
		if p.partitioned() {
			rows += " EXCLUDE (" + lake.QuoteName(PartitionColumn) + ")"
		}
		rows += " FROM " + p.target
		switch t.Kind {
		case annotate.TestUnique:
			c.Rows = fmt.Sprintf("SELECT %s AS value, count(*) AS count FROM %s WHERE %[1]s IS NOT NULL%[3]s GROUP BY %[1]s HAVING count(*) > 1", col, p.target, p.scope(""))
		case annotate.TestNotNull:
			c.Rows = rows + " WHERE " + col + " IS NULL" + p.scope("")
		case annotate.TestAcceptedValues:
			c.Rows = rows + " WHERE " + col + " IS NOT NULL AND " + p.notAmong(t) + p.scope("")
		case annotate.TestRelationships:
			ref, err := p.reference(t)
			if err != nil {
				return err
			}
			if ref != p.target {
				c.Needs = "SELECT " + lake.QuoteName(t.RefColumn) + " FROM " + ref
			}
			c.Rows = rows + " AS s WHERE s." + col + " IS NOT NULL" + p.scope("s.") + " AND NOT EXISTS (SELECT 1 FROM " + ref + " AS r WHERE r." + lake.QuoteName(t.RefColumn) + " = s." + col + ")"
		default:
			body, err := p.custom(t)
			if err != nil {
				return err
			}
			c.Rows = body
		}
		p.Checks = append(p.Checks, c)
	}
	return nil
}

// notAmong is true of a value that is none of the accepted ones. Where the column's type is known
// each of these is read as one of it, so that 1 is 1.0 and a text that is no number is not an error.
func (p *Plan) notAmong(t annotate.DataTest) string {
	typ := ""
	if p.in.Probe != nil {
		if i := find(p.in.Probe.Output, t.Column); i >= 0 {
			typ = p.in.Probe.Output[i].Type
		}
	}
	list := make([]string, len(t.Values))
	for i, v := range t.Values {
		list[i] = lake.QuoteText(v)
		if typ != "" && typ != "VARCHAR" {
			list[i] = "TRY_CAST(" + list[i] + " AS " + typ + ")"
		}
	}
	if typ == "" || typ == "VARCHAR" {
		return lake.QuoteName(t.Column) + " NOT IN (" + strings.Join(list, ", ") + ")"
	}
	return "NOT coalesce(" + lake.QuoteName(t.Column) + " IN (" + strings.Join(list, ", ") + "), false)"
}

// reference is the table that a relationships test compares with.
func (p *Plan) reference(t annotate.DataTest) (string, error) {
	if t.Ref.Kind != annotate.KindLake {
		return "", &Error{ErrInput, t.Line, fmt.Sprintf("%s: only tables of lakes are compared with, and %s is none", t.Name(), t.Ref), "write ducklake://LAKE/TABLE.COLUMN"}
	}
	if err := checkTable(t.Ref, t.Line, t.Name()+":"); err != nil {
		return "", err
	}
	if t.Ref.Lake() == p.Asset.Lake() {
		return tableName(Target, t.Ref.Table()), nil
	}
	i := slices.IndexFunc(p.references(), func(a annotate.Asset) bool { return a.Lake() == t.Ref.Lake() })
	return tableName(fmt.Sprint(refPrefix, i), t.Ref.Table()), nil
}

// custom is the query of a script of the user's own: one SELECT whose rows are the violations.
func (p *Plan) custom(t annotate.DataTest) (string, error) {
	const example = "write one SELECT of the rows that should not be there, such as SELECT * FROM " + Target + ".orders WHERE amount < 0"
	body, ok := p.in.Custom[t.Script]
	if !ok {
		return "", &Error{ErrInput, t.Line, fmt.Sprintf("there is no script %s", t.Script), "name a script of the project, or one of the tests unique, not_null, accepted_values, relationships"}
	}
	s, err := classify.Classify(body)
	var bad *classify.Error
	if errors.As(err, &bad) {
		inner := *bad
		inner.Remedy = "" // it speaks of tables
		err = &inner
	}
	if err != nil {
		return "", &Error{ErrInput, t.Line, fmt.Sprintf("%s has to be a single SELECT: %s", t.Script, err), example}
	}
	if len(s.Setup) > 0 {
		return "", &Error{ErrInput, t.Line, fmt.Sprintf("%s has to be a single SELECT, and has %d statements before it", t.Script, len(s.Setup)), example}
	}
	if !strings.Contains(strings.ToLower(s.Output.Text), Target) {
		return "", &Error{ErrInput, t.Line, fmt.Sprintf("%s does not look at %s, the lake that was written", t.Script, Target), example}
	}
	return p.substitute(s.Output.Text), nil
}
