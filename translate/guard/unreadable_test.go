package guard_test

import (
	"strings"
	"testing"

	"github.com/eiderdb/eider/conflict"
)

// TestUnreadableChanges: a commit whose changes_made cannot be read, and that is let pass
// for it, is looked at like any other by all checks that can do without.
func TestUnreadableChanges(t *testing.T) {
	const bad = "frobbed_table:1"
	file := func(id, rows string) string {
		return "insert into ducklake_data_file values (" + id + ", 1, 1, null, null, 'f" + id + "', true, 'parquet', " + rows + ", 10, 5, null, null, null, null, null)"
	}
	counters := func(sql string) string { return strings.Replace(sql, ", 1, 2, 2)", ", 1, 2, 9)", 1) }
	for _, mode := range []string{"warn", "off"} {
		t.Run(mode, func(t *testing.T) {
			s := serve(t, conflict.Enforce, lakeSQL)
			s.want("the commit does not say what it did", made("2", bad))
			s.want("", "create schema eider", `create table eider.settings (lake text, table_id bigint, "check" text, mode text)`,
				"insert into eider.settings values (null, null, 'changes-grammar', '"+mode+"')")
			s.found = nil
			s.want("record_count of table", made("2", bad, negative))
			s.want("does not follow the newest snapshot 1", made("7", bad))
			s.want("data file 77", made("2", bad, "insert into ducklake_inlined_delete_1 values (77, 0, 2)"))
			s.want("another transaction deleted rows of data file 0", counters(made("2", bad, "delete from ducklake_data_file where data_file_id in (0, 1)", file("5", "200"))))
			s.want("row-count", counters(made("2", bad, "delete from ducklake_data_file where data_file_id = 1", file("5", "99"))))
			if got := strings.Join(s.found, ","); strings.Contains(got, "changes-differ") {
				t.Errorf("found %s", got)
			}
			s.found = nil
			s.want("", strings.Replace(made("2", bad, "insert into ducklake_inlined_delete_1 values (1, 7, 2)"), "now()", "'2020-01-01'", 1))
			want := map[string]string{"warn": "changes-grammar warn"}[mode]
			if got := strings.Join(s.found, ","); got != want {
				t.Errorf("found %q, want %q", got, want)
			}
			if got := s.rows(order); got != "0" {
				t.Error("its time was not put right")
			}
		})
	}
}
