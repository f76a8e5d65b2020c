package translate_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestCommitThatComesAgain: the acknowledgement of snapshot 6 was lost, and the same
// files are registered again on top of it. An error would make DuckLake remove files that
// snapshot 6 names, so what is stored already is answered as committed.
func TestCommitThatComesAgain(t *testing.T) {
	sized := func(id, begin int, path string, rows int) string {
		return file(id, 1, begin, "NULL", path, rows, fmt.Sprintf("%d, NULL, NULL, NULL, NULL", 220+id))
	}
	stats := func(n int) string {
		return fmt.Sprintf("UPDATE ducklake_table_stats SET record_count=%d, file_size_bytes=1, next_row_id=%d WHERE table_id=1", 210+n, 500+n)
	}
	first := lakeBatch(6, "3, 7, 13", "inserted_into_table:1,deleted_from_table:1", stats(1), sized(10, 6, "n0", 1), sized(11, 6, "n1", 2), deleteFile(12, 1, 6, 0, 5, "NULL"))
	// The ids are new ones, the delete file's path is the same.
	again := strings.NewReplacer("'d15'", "'d12'")
	for _, c := range []struct{ name, sql, want string }{
		{"the same", again.Replace(lakeBatch(7, "3, 7, 16", "inserted_into_table:1,deleted_from_table:1", stats(2), sized(13, 7, "n0", 1), sized(14, 7, "n1", 2), deleteFile(15, 1, 7, 0, 5, "NULL"))), ""},
		{"part of the files", lakeBatch(7, "3, 7, 16", "inserted_into_table:1,deleted_from_table:1", stats(2), sized(13, 7, "n1", 2)), ""},
		{"with other rows", lakeBatch(7, "3, 7, 16", "inserted_into_table:1,deleted_from_table:1", stats(2), sized(13, 7, "n1", 3)), "55000: this commit is stored already"},
		{"with a file more", lakeBatch(7, "3, 7, 16", "inserted_into_table:1,deleted_from_table:1", stats(2), sized(13, 7, "n1", 2), sized(14, 7, "n2", 2)), "23514: file \"n1\" is registered"},
		{"that says something else", lakeBatch(7, "3, 7, 16", "inserted_into_table:1", stats(2), sized(13, 7, "n1", 2)), "55000: this commit is stored already"},
		{"with inlined rows besides", lakeBatch(7, "3, 7, 16", "inserted_into_table:1,deleted_from_table:1,inlined_insert:1", stats(2), sized(13, 7, "n1", 2), "insert into ducklake_inlined_data_1_1 values (500, 7, null, 1, '1')"), "55000: this commit is stored already"},
		{"with rows elsewhere besides", lakeBatch(7, "3, 7, 16", "inserted_into_table:1,deleted_from_table:1", stats(2), sized(13, 7, "n1", 2), "create schema x", "create table x.n (a int)", "insert into x.n values (1)"), "55000: this commit is stored already"},
		{"of two snapshots", lakeBatch(7, "3, 7, 16", "inserted_into_table:1,deleted_from_table:1", stats(2), sized(13, 7, "n1", 2), sized(14, 7, "f4", 10)), "23514: file"},
		{"with other files", lakeBatch(7, "3, 7, 16", "inserted_into_table:1", stats(2), sized(13, 7, "n3", 2)), "new"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newLake(t)
			if got := w.attempt("a", first); got != "" {
				t.Fatal(got)
			}
			got := w.attempt("b", c.sql)
			head := w.rows("c", "select max(snapshot_id) from ducklake_snapshot")
			if c.want == "new" {
				if got != "" || head != "7" {
					t.Errorf("%q, head %s", got, head)
				}
				return
			}
			if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if head != "6" {
				t.Errorf("head is %s", head)
			}
			if twice := w.rows("c", "select path from ducklake_data_file group by path having count(*) > 1"); twice != "" {
				t.Errorf("registered twice: %s", twice)
			}
			// The session goes on as after any commit.
			if got := w.attempt("b", lakeBatch(7, "3, 7, 14", "inserted_into_table:1", stats(3), sized(13, 7, "n9", 1))); got != "" {
				t.Errorf("the next commit: %s", got)
			}
		})
	}
}
