package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eiderdb/eider/materialize/annotate"
)

// Drift is how the columns of the SELECT differ from the table's: as sets of names, in any case
// of letters.
type Drift struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
}

// String says it in a line.
func (d *Drift) String() string {
	var parts []string
	if len(d.Added) > 0 {
		parts = append(parts, "new in the SELECT: "+strings.Join(d.Added, ", "))
	}
	if len(d.Removed) > 0 {
		parts = append(parts, "only in the table: "+strings.Join(d.Removed, ", "))
	}
	return strings.Join(parts, "; ")
}

// find is the index of the column of a name, -1 if there is none. DuckDB's names are the same in
// any case of letters.
func find(columns []Column, name string) int {
	return slices.IndexFunc(columns, func(c Column) bool { return strings.EqualFold(c.Name, name) })
}

// owned are the columns of the table that the SELECT gives.
func (p *Plan) owned() []Column { return Selected(p.Strategy, p.partitioned(), p.in.Probe.Table) }

// Selected are those of a table's columns that its script selects: not the partition's, and not those
// that a history adds.
func Selected(s annotate.Strategy, partitioned bool, table []Column) []Column {
	return slices.DeleteFunc(slices.Clone(table), func(c Column) bool {
		return partitioned && strings.EqualFold(c.Name, PartitionColumn) || s == annotate.History && isMeta(c.Name)
	})
}

func isMeta(name string) bool {
	return slices.ContainsFunc([]string{validFrom, validTo, isCurrent}, func(m string) bool { return strings.EqualFold(m, name) })
}

// columns looks at what was found before the write.
func (p *Plan) columns() error {
	if p.in.Probe == nil {
		return nil
	}
	if err := p.output(); err != nil {
		return err
	}
	return p.table()
}

// output looks at the columns of the SELECT by themselves.
func (p *Plan) output() error {
	out, m := p.in.Probe.Output, p.in.Header.Materialize
	bad := func(line int, remedy, format string, args ...any) error {
		return &Error{ErrColumns, line, fmt.Sprintf(format, args...), remedy}
	}
	for i, c := range out {
		if find(out[:i], c.Name) >= 0 {
			return bad(p.in.Script.Output.Line, "name them differently with AS", "the SELECT has two columns with the name %s", c.Name)
		}
		if p.partitioned() && strings.EqualFold(c.Name, PartitionColumn) {
			return bad(p.in.Script.Output.Line, "leave it out, the run adds it", "the SELECT has a column %s", PartitionColumn)
		}
		// DuckDB would name the added one valid_from_1, and then take every row for a changed one.
		if p.Strategy == annotate.History && isMeta(c.Name) {
			return bad(p.in.Script.Output.Line, "name it differently with AS", "the SELECT has a column %s, which a history adds itself", c.Name)
		}
	}
	if p.Strategy == annotate.History || p.Strategy == annotate.Merge {
		for _, k := range m.KeyColumns() {
			if find(out, k) < 0 {
				return bad(m.Line, "select it, or give another key", "the key %s is no column of the SELECT (%s)", k, names(out))
			}
		}
	}
	if p.Strategy == annotate.History {
		for _, k := range m.Track {
			if find(out, k) < 0 {
				return bad(m.Line, "select it, or leave it out of track", "the tracked column %s is no column of the SELECT (%s)", k, names(out))
			}
		}
	}
	for _, t := range p.in.Header.Tests {
		if t.Column != "" && find(out, t.Column) < 0 && (p.Strategy != annotate.History || !isMeta(t.Column)) {
			return bad(t.Line, "select it, or leave out the test", "%s looks at a column that the SELECT does not have (%s)", t.Name(), names(out))
		}
	}
	return nil
}

// table compares the SELECT's columns with the table's.
func (p *Plan) table() error {
	m := p.in.Header.Materialize
	if !p.partitioned() && find(p.in.Probe.Table, PartitionColumn) >= 0 {
		// All its slices would go, or rows would be in none.
		return &Error{ErrColumns, m.Line, fmt.Sprintf("the table %s has partitions, and the script has none", m.Asset), "add a line with partitioned, or drop the table"}
	}
	if p.in.Probe.Table == nil || p.Strategy == annotate.Replace && !p.partitioned() {
		return nil // the table is made of the SELECT
	}
	if p.partitioned() && find(p.in.Probe.Table, PartitionColumn) < 0 {
		return &Error{
			ErrColumns, p.in.Header.Partitioned.Line, fmt.Sprintf("the table %s is there, and was made without partitions: it has no column %s", m.Asset, PartitionColumn),
			"drop it, or materialize another table",
		}
	}
	owned, out := p.owned(), p.in.Probe.Output
	d := &Drift{Added: []string{}, Removed: []string{}}
	for _, c := range out {
		if find(owned, c.Name) < 0 {
			d.Added = append(d.Added, c.Name)
		}
	}
	for _, c := range owned {
		i := find(out, c.Name)
		if i < 0 {
			d.Removed = append(d.Removed, c.Name)
		} else if c.Type != "" && c.Type != out[i].Type {
			p.Retyped = append(p.Retyped, fmt.Sprintf("%s is %s in the SELECT and %s in the table", c.Name, out[i].Type, c.Type))
		}
	}
	if len(d.Added)+len(d.Removed) == 0 {
		return nil
	}
	if p.Strategy == annotate.History {
		for _, meta := range []string{validFrom, validTo, isCurrent} {
			if find(p.in.Probe.Table, meta) < 0 {
				return &Error{ErrColumns, m.Line, fmt.Sprintf("the table %s is there, and is no history: it has no column %s", m.Asset, meta), "drop it, or materialize another table"}
			}
		}
		return &Error{
			ErrColumns, p.in.Script.Output.Line, "the columns of a history stay what they were at its first run; " + d.String(),
			"select the columns of the table, or materialize another table",
		}
	}
	if p.Strategy == annotate.Merge {
		for _, k := range m.KeyColumns() {
			if find(owned, k) < 0 {
				return &Error{ErrColumns, m.Line, fmt.Sprintf("the key %s is no column of the table (%s)", k, names(owned)), "give another key, or drop the table"}
			}
		}
	}
	switch m.OnSchemaChange {
	case annotate.SchemaFail:
		return &Error{
			ErrColumns, p.in.Script.Output.Line, "the columns have changed and the header says on_schema_change=fail; " + d.String(),
			"select the columns of the table, or write on_schema_change=sync",
		}
	case annotate.SchemaWarn, annotate.SchemaIgnore:
		// Written by position, which needs as many columns.
		if len(out) != len(owned) {
			return &Error{
				ErrColumns, p.in.Script.Output.Line, fmt.Sprintf("the SELECT has %d columns and the table %d; %s", len(out), len(owned), d),
				"write on_schema_change=sync to make the table's those of the SELECT",
			}
		}
	}
	if m.OnSchemaChange == annotate.SchemaIgnore {
		return nil
	}
	p.Drift = d
	return nil
}

func names(columns []Column) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = c.Name
	}
	return strings.Join(list, ", ")
}
