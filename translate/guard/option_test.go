package guard_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/translate/pgerr"
)

// together runs two transactions that both begin before either commits.
func (s *server) together(first, second string) {
	s.t.Helper()
	for _, x := range [][2]string{{"a", "begin"}, {"b", "begin"}, {"a", "select * from ducklake_metadata"}, {"b", "select * from ducklake_metadata"}, {"a", first}, {"b", second}, {"a", "commit"}, {"b", "commit"}} {
		if _, err := s.send(x[0], x[1]); err != nil {
			s.t.Fatalf("%s: %v", x[1], err)
		}
	}
}

// TestOptionTwice: an option has one row for each scope, that of the later commit.
func TestOptionTwice(t *testing.T) {
	t.Parallel()
	const all = "select key, value, scope, scope_id from ducklake_metadata where key not in ('version', 'data_path') order by 1, 2, 3, 4"
	s := serve(t, conflict.Enforce, lakeSQL)
	s.together("insert into ducklake_metadata values ('x', '1', null, null), ('x', '2', 'table', 1), ('y', '3', null, null)",
		"insert into ducklake_metadata values ('x', '4', null, null), ('x', '5', 'table', 2), ('x', '6', 'schema', 1)")
	if got, want := s.rows(all), "x|2|table|1 x|4|NULL|NULL x|5|table|2 x|6|schema|1 y|3|NULL|NULL"; got != want {
		t.Errorf("options are %s, want %s", got, want)
	}
	// So is one that is written by hand, and one in a transaction that makes a snapshot.
	s.want("", "insert into ducklake_metadata values ('y', '7', null, null), ('y', '8', null, null)")
	s.want("", made("2", "", "insert into ducklake_metadata values ('x', '9', 'table', 1)"))
	if got, want := s.rows(all), "x|4|NULL|NULL x|5|table|2 x|6|schema|1 x|9|table|1 y|8|NULL|NULL"; got != want {
		t.Errorf("options are %s, want %s", got, want)
	}
	s.want("", "create schema eider", `create table eider.settings (lake text, table_id bigint, "check" text, mode text)`, "insert into eider.settings values (null, null, 'option-twice', 'off')")
	s.want("", "insert into ducklake_metadata values ('y', '10', null, null)")
	if got := s.rows("select count(*) from ducklake_metadata where key = 'y'"); got != "2" {
		t.Errorf("%s rows where the check is off, want 2", got)
	}
}

// TestOptionRaces: many clients add the same option at once, with commits that overlap. One row is left, of a commit that landed.
func TestOptionRaces(t *testing.T) {
	t.Parallel()
	const clients, rounds = 6, 30
	s := serve(t, conflict.Enforce, lakeSQL)
	for i := range clients {
		if _, err := s.send(fmt.Sprint(i), "select 1"); err != nil {
			t.Fatal(err)
		}
	}
	for round := range rounds {
		landed := make([]bool, clients)
		var wg sync.WaitGroup
		for i := range clients {
			wg.Go(func() {
				c := s.conn[fmt.Sprint(i)]
				for _, sql := range []string{"begin", fmt.Sprintf("insert into ducklake_metadata values ('k%d', '%d', null, null)", round, i), "commit"} {
					err := c.Simple(context.Background(), sql, &answer{srv: s, sess: c})
					if e := pgerr.As(err); err != nil && (e == nil || e.Code != "40001") {
						t.Errorf("%s: %v", sql, err)
					}
					landed[i] = sql == "commit" && err == nil
				}
			})
		}
		wg.Wait()
		var last int
		got := s.rows(fmt.Sprintf("select value from ducklake_metadata where key = 'k%d'", round))
		if n, err := fmt.Sscan(got, &last); n != 1 || err != nil || got != fmt.Sprint(last) || !landed[last] {
			t.Fatalf("round %d: the option has the values %q; landed: %v", round, got, landed)
		}
	}
}
