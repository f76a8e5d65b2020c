package guard_test

import (
	"strings"
	"testing"

	"github.com/eiderdb/eider/conflict"
)

// negative is a commit that a check finds.
const negative = "update ducklake_table_stats set record_count = record_count - 1000"

// TestFindingsElsewhere: a table of the name that is not the guard's gets nothing, commits
// land all the same, and the log says once why there are no findings.
func TestFindingsElsewhere(t *testing.T) {
	const columns = `found_at timestamptz, lake text, snapshot_id bigint, table_id bigint, "check" text, text text, detail text, user_name text, application text`
	for _, c := range []struct{ name, make, why string }{
		{"other columns", "create table eider.findings (a int, b text)", `it has no column \"found_at\"`},
		{"one too few", "create table eider.findings (" + strings.Replace(columns, "detail text, ", "", 1) + ")", `it has no column \"detail\"`},
		{"another type", "create table eider.findings (" + strings.Replace(columns, "lake text", "lake int", 1) + ")", `its column \"lake\" is of another type`},
		{"a length", "create table eider.findings (" + strings.Replace(columns, "detail text", "detail varchar(3)", 1) + ")", `its column \"detail\" is of another type`},
		{"no NULL", "create table eider.findings (" + strings.Replace(columns, "detail text", "detail text not null", 1) + ")", `its column \"detail\" takes no NULL`},
		{"more without NULL", "create table eider.findings (id int not null, " + columns + ")", `its column \"id\" takes no NULL`},
		{"a constraint", "create table eider.findings (" + columns + ", check (table_id > 5))", "it has check constraints"},
		{"a view", "create view eider.findings as select 1 as a where false", "it is not a table"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, conflict.Warn, lakeSQL)
			s.want("", "create schema eider", c.make)
			s.want("", negative)
			s.want("", negative)
			if got := s.rows("select count(*) from eider.findings"); got != "0" {
				t.Errorf("%s rows: %s", got, s.rows("select * from eider.findings"))
			}
			if n := strings.Count(s.log.String(), "findings are not written"); n != 1 || !strings.Contains(s.log.String(), c.why) {
				t.Errorf("%d times in the log, want %s:\n%s", n, c.why, s.log.String())
			}
			if got := strings.Join(s.found, ","); got != "negative warn,negative warn" {
				t.Errorf("counted: %s", got)
			}
			kind, _, _ := strings.Cut(strings.TrimPrefix(c.make, "create "), " ")
			s.want("", "drop "+kind+" eider.findings")
			s.want("", negative)
			if got := s.rows(`select "check" from eider.findings`); got != "negative" {
				t.Errorf("afterwards there is %q", got)
			}
		})
	}
	s := serve(t, conflict.Warn, lakeSQL)
	s.want("", "create schema eider", "create table eider.findings (id int, "+strings.ReplaceAll(columns, " text,", " varchar,")+")")
	s.want("", negative)
	if got := s.rows(`select id, "check", table_id from eider.findings`); got != "NULL|negative|1" {
		t.Errorf("a table with one more column gets %q", got)
	}
}
