package guard_test

import (
	"strings"
	"testing"

	"github.com/eiderdb/eider/conflict"
)

// lakeTables are all tables of lakeSQL.
func lakeTables() (list []string) {
	for line := range strings.Lines(lakeSQL) {
		if rest, ok := strings.CutPrefix(line, "create table "); ok {
			name, _, _ := strings.Cut(rest, " ")
			list = append(list, name)
		}
	}
	return list
}

// TestTableDropped: a lake keeps the tables that make it, or loses all of them at once.
func TestTableDropped(t *testing.T) {
	const refused = "the lake would go on without ducklake_"
	fixed := lakeTables()[:len(lakeTables())-1]
	s := serve(t, conflict.Enforce, lakeSQL)
	for _, name := range fixed {
		s.want(refused+strings.TrimPrefix(name, "ducklake_"), "drop table "+name)
		s.want(refused, "drop table "+name+" cascade", "create table other (i int)")
		s.want(refused, "alter table "+name+" rename to ducklake_other")
	}
	s.want(refused, "drop table "+strings.Join(fixed[1:], ", "))
	s.want(refused, "create schema other", "alter table ducklake_tag set schema other")
	s.want(`"ducklake_inlined_delete_1" would lose its rows`, "alter table ducklake_inlined_delete_1 rename to ducklake_inlined_delete_2")
	s.want("", made("2", "")) // the lake is whole

	// What others do with tables stays possible.
	s.want("", "create table ducklake_notes (i int)")
	s.want("", "drop table ducklake_notes")
	s.want("", "drop table ducklake_tag", "create table ducklake_tag (object_id bigint, begin_snapshot bigint, end_snapshot bigint, key varchar, value varchar)")
	s = serve(t, conflict.Enforce, strings.Replace(lakeSQL, "'1.0'", "'0.4'", 1))
	s.want("", "update ducklake_metadata set value = '1.0' where key = 'version'", "drop table ducklake_tag")
}

// TestLakeDropped: all at once, whatever the way, and table by table where that is allowed.
func TestLakeDropped(t *testing.T) {
	all := lakeTables()
	serve(t, conflict.Enforce, lakeSQL).want("", "drop table "+strings.Join(all, ", "))
	serve(t, conflict.Enforce, lakeSQL).want("", "drop schema public cascade")
	s := serve(t, conflict.Enforce, lakeSQL)
	list := make([]string, len(all))
	for i, name := range all {
		list[i] = "drop table " + name
	}
	s.want("", list...)
	s = serve(t, conflict.Enforce, lakeSQL)
	s.want("", "drop schema public cascade", "create schema public")
	s.want("", lakeSQL)
	s.want("", made("2", ""))

	s = serve(t, conflict.Warn, lakeSQL)
	for _, sql := range list {
		s.want("", sql)
	}
	if got := strings.Join(s.found, ","); got != "table-dropped warn,table-dropped warn" {
		t.Errorf("found %s", got) // of two tables: with ducklake_snapshot the lake is gone
	}
	s = serve(t, conflict.Off, lakeSQL)
	s.want("", "drop table ducklake_data_file")
	if len(s.found) != 0 {
		t.Errorf("found %s", s.found)
	}

	// A lake without snapshots is none yet.
	s = serve(t, conflict.Enforce, lakeSQL[:strings.Index(lakeSQL, "insert into ducklake_snapshot values")])
	s.want("", "drop table ducklake_tag")
}
