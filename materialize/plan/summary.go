package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/materialize/annotate"
)

// LastSnapshot is the query for the snapshot that this connection committed last; NULL if it
// committed none.
const LastSnapshot = "SELECT id FROM ducklake_last_committed_snapshot('" + Target + "') AS t(id)"

// Summarize is the query for what came of the run: one row. Its columns are materialized,
// partition (only for a script with partitions), rows, snapshot_id, output_schema (a list of
// name and type in the table's order, without the partition), schema_drift (only when
// the columns are written by position and drift is to be told) and data_tests (only when there
// are tests: a list of test and violating). With the snapshot that the run committed, rows and columns
// are of that one, whatever others did since; nil stands for the newest.
func (p *Plan) Summarize(snapshot *int64) string {
	at, id := "", "(SELECT id FROM ducklake_current_snapshot('"+Target+"') AS t(id))"
	if snapshot != nil {
		id = strconv.FormatInt(*snapshot, 10)
		at = " AT (VERSION => " + id + ")"
	}
	table := p.target + at
	var with, cols []string
	cols = append(cols, lake.QuoteText(p.Asset.String())+" AS materialized")
	where, except := "", ""
	if p.partitioned() {
		cols = append(cols, p.value()+" AS partition")
		where = " WHERE " + p.slice()
		except = " WHERE column_name <> " + lake.QuoteText(PartitionColumn)
	}
	with = append(with, "_wm_rows AS (SELECT count(*) AS n FROM "+table+where+")",
		"_wm_columns AS (SELECT list({'name': column_name, 'type': column_type} ORDER BY ordinal) AS list FROM (SELECT column_name, column_type, row_number() OVER () AS ordinal FROM (DESCRIBE SELECT * FROM "+
			table+"))"+except+")")
	cols = append(cols, "(SELECT n FROM _wm_rows) AS rows", id+" AS snapshot_id", "(SELECT list FROM _wm_columns) AS output_schema")
	if p.tellsDrift() {
		cols = append(cols, p.drift()+" AS schema_drift")
	}
	if len(p.Checks) > 0 {
		tests := make([]string, len(p.Checks))
		for i, c := range p.Checks {
			name := fmt.Sprint("_wm_test_", i)
			with = append(with, name+" AS ("+c.Count()+")")
			tests[i] = "{'test': " + lake.QuoteText(c.Name) + ", 'violating': (FROM " + name + ")}"
		}
		cols = append(cols, "["+strings.Join(tests, ", ")+"] AS data_tests")
	}
	return "WITH " + strings.Join(with, ", ") + " SELECT " + strings.Join(cols, ", ")
}

// tellsDrift says whether the summary has a column for drift.
func (p *Plan) tellsDrift() bool {
	fixed := p.Strategy == annotate.Append || p.Strategy == annotate.Merge || p.Strategy == annotate.Replace && p.partitioned()
	return fixed && p.in.Header.Materialize.OnSchemaChange == annotate.SchemaWarn
}

func (p *Plan) drift() string {
	if p.Drift == nil {
		return "NULL"
	}
	list := func(names []string) string {
		for i := range names {
			names[i] = lake.QuoteText(names[i])
		}
		return "[" + strings.Join(names, ", ") + "]"
	}
	return "{'added': " + list(append([]string{}, p.Drift.Added...)) + ", 'removed': " + list(append([]string{}, p.Drift.Removed...)) + "}"
}
