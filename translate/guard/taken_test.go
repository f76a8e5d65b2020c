package guard_test

import (
	"testing"
	"time"

	"github.com/eiderdb/eider/conflict"
)

// TestTakenOff: what a cleanup has deleted while a transaction was open is not registered by
// that transaction, however the path is written.
func TestTakenOff(t *testing.T) {
	const gone = " was deleted and cannot be added to table \"t\" (id 1)"
	for _, tc := range []struct{ name, path, relative, want string }{
		{"relative", "f2", "true", "55000: file \"f2\"" + gone},
		{"absolute", "/data//main/t/f2", "false", gone},
		{"another", "f3", "true", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := serve(t, conflict.Enforce, lakeSQL+";"+schedules)
			more(s)
			s.want("", schedule...)
			add := []string{
				next("4", "inserted_into_table:1"),
				"insert into ducklake_data_file values (35, 1, 4, null, null, '" + tc.path + "', " + tc.relative + ", 'parquet', 10, 1000, 10, null, null, null, null, null)",
			}
			s.now = s.now.Add(time.Second)
			s.open("writer") // the file is there, and scheduled
			for _, sql := range []string{"begin", "delete from ducklake_files_scheduled_for_deletion", "rollback"} {
				s.run("cleaner", sql)
			}
			s.now = s.now.Add(time.Second)
			if got := s.attempt("cleaner", "delete from ducklake_files_scheduled_for_deletion"); got != "" {
				t.Fatal(got)
			}
			s.want(tc.want, add...)
			if tc.want == "" {
				return
			}
			s.now = s.now.Add(time.Second)
			s.want("", add...) // by one that has begun since: the file is there again
		})
	}
}

// TestFileGoneOff: nobody looks for files when nothing would follow.
func TestFileGoneOff(t *testing.T) {
	s := serve(t, conflict.Enforce, lakeSQL+";"+schedules)
	more(s)
	s.want("", "create schema eider", `create table eider.settings (lake text, table_id bigint, "check" text, mode text)`,
		"insert into eider.settings values ('public', 1, 'file-gone', 'off')")
	s.open("writer")
	s.run("searcher", orphans)
	s.missing = map[string]bool{"/data/main/t/f4": true}
	s.looked = func(path string) { t.Errorf("looked for %s", path) }
	s.want("", next("4", "inserted_into_table:1"),
		"insert into ducklake_data_file values (35, 1, 4, null, null, 'f4', true, 'parquet', 10, 1000, 10, null, null, null, null, null)")
}
