package translate_test

import (
	"strings"
	"testing"
)

// TestRowsPerCopyData: a client gets every row in a message of its own, as from PostgreSQL,
// until it has pinged and reset the connection as DuckDB's pool does since 1.5.2.
func TestRowsPerCopyData(t *testing.T) {
	w := newWorld(t)
	w.run("a", "create table t (a int, b text); insert into t values (1, 'x'), (2, 'y'), (3, 'z')")
	copies := []string{
		`COPY (SELECT "a", "b" FROM "public"."t" ) TO STDOUT (FORMAT "binary");`, // stored tuples as they are
		`COPY (SELECT a + 1 FROM t) TO STDOUT (FORMAT binary)`,
		`COPY t TO STDOUT`,
		`COPY t TO STDOUT (FORMAT csv, HEADER)`,
	}
	messages := func() []int {
		var n []int
		for _, c := range copies {
			out := w.simple("a", c, nil, "")
			n = append(n, strings.Count("\n"+out, "\nd "))
		}
		return n
	}
	expect := func(when string, want ...int) {
		t.Helper()
		for i, n := range messages() {
			if n != want[i] {
				t.Errorf("%s: %s: %d messages, not %d", when, copies[i], n, want[i])
			}
		}
	}
	single := []int{4, 4, 3, 4} // rows, and a trailer or a head line
	expect("new connection", single...)
	w.run("a", "SELECT 1")
	w.run("a", "DISCARD ALL")
	expect("after the pool's reset", 2, 2, 1, 1)
	w.run("a", "DISCARD ALL")
	expect("after somebody else's reset", single...)
}
