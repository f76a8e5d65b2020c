package translate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/translate"
)

// snapshotTables makes the tables that commits are told by, in a schema.
func snapshotTables(schema string) string {
	return fmt.Sprintf(`create schema if not exists %[1]s;
create table %[1]s.ducklake_snapshot (snapshot_id bigint primary key, snapshot_time timestamptz, schema_version bigint, next_catalog_id bigint, next_file_id bigint);
create table %[1]s.ducklake_snapshot_changes (snapshot_id bigint primary key, changes_made varchar, author varchar, commit_message varchar, commit_extra_info varchar);
`, schema)
}

// addSnapshot adds a snapshot to a lake. values are those of its changes, after the id.
func addSnapshot(schema string, id int, values string) string {
	return fmt.Sprintf("insert into %[1]s.ducklake_snapshot values (%[2]d, now(), 0, 1, 0); insert into %[1]s.ducklake_snapshot_changes values (%[2]d, %[3]s);", schema, id, values)
}

const noChanges = "null, null, null, null"

// TestCommitNotifications: which transactions listeners hear of, and what.
func TestCommitNotifications(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		heard := func(name string) string {
			synctest.Wait()
			return strings.Join(w.taken(name), "\n")
		}
		want := func(sql, want string) {
			t.Helper()
			w.simple("writer", sql, nil, "") // some fail on purpose
			if want != "" {
				want = fmt.Sprintf("A eider_commit %q", want)
			}
			if got := heard("listener"); got != want {
				t.Errorf("%s:\ngot  %s\nwant %s", sql, got, want)
			}
		}
		w.run("writer", "create database elsewhere")
		if _, err := w.open("other", "elsewhere", nil); err != nil {
			t.Fatal(err)
		}
		w.run("other", "listen eider_commit")
		want(snapshotTables("public"), "")
		w.run("listener", "listen eider_commit")

		want(addSnapshot("public", 0, `'created_schema:"main"', null, null, null`), `{"lake":"public","snapshot_id":0,"changes":"created_schema:\"main\""}`)
		want(addSnapshot("public", 1, `null, 'ann', 'a note', null`), `{"lake":"public","snapshot_id":1,"changes":"","author":"ann","message":"a note"}`)
		want("begin; "+addSnapshot("public", 2, noChanges)+"rollback", "")
		want(addSnapshot("public", 1, noChanges), "") // refused
		want("update ducklake_snapshot_changes set commit_message = 'x' where snapshot_id = 1", "")
		want("delete from ducklake_snapshot where snapshot_id = 0; delete from ducklake_snapshot_changes where snapshot_id = 0", "")
		want("begin; savepoint a; "+addSnapshot("public", 2, noChanges)+"rollback to a; commit", "")
		// Another lake, whose tables come with several snapshots at once.
		want("begin; "+snapshotTables("second")+addSnapshot("second", 0, noChanges)+addSnapshot("second", 1, `'x', '', '', null`)+"commit",
			`{"lake":"second","snapshot_id":1,"changes":"x"}`)
		want("create schema odd; create table odd.ducklake_snapshot (snapshot_id varchar); insert into odd.ducklake_snapshot values ('a')", "")
		want("create temp table ducklake_snapshot (snapshot_id bigint, snapshot_time timestamptz, schema_version bigint, next_catalog_id bigint, next_file_id bigint); insert into pg_temp.ducklake_snapshot values (9, now(), 0, 0, 0); drop table pg_temp.ducklake_snapshot", "")

		// The channel is the server's own.
		if out := w.simple("writer", "notify eider_commit, 'x'", nil, ""); !strings.Contains(out, "42939") {
			t.Errorf("notify: %s", out)
		}
		if out := w.simple("writer", "select pg_notify('eider_dropped', 'x')", nil, ""); !strings.Contains(out, "42939") {
			t.Errorf("pg_notify: %s", out)
		}
		if got := heard("listener"); got != "" {
			t.Errorf("heard %s", got)
		}

		// Listening ends and begins again; LISTEN in a block counts from its COMMIT on.
		w.run("listener", "begin; unlisten eider_commit; rollback; listen eider_commit")
		want(addSnapshot("public", 2, noChanges), `{"lake":"public","snapshot_id":2,"changes":""}`)
		for i, off := range []string{"unlisten eider_commit", "unlisten *", "discard all"} {
			w.run("listener", off)
			want(addSnapshot("public", 3+2*i, noChanges), "")
			w.run("listener", "begin; listen eider_commit; commit")
			want(addSnapshot("public", 4+2*i, noChanges), fmt.Sprintf(`{"lake":"public","snapshot_id":%d,"changes":""}`, 4+2*i))
		}
		if got := heard("other"); got != "" {
			t.Errorf("a listener of another database heard %s", got)
		}
	})
}

// TestCommitOrder: whoever commits, and with listeners that come and go, each listener hears
// of the snapshots of each lake in their order, without a gap from its LISTEN on.
func TestCommitOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		lakes := []string{"public", "second"}
		writers := rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom(lakes), 1, 8), 1, 8).Draw(rt, "writers")
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			for _, lake := range lakes {
				w.run("setup", snapshotTables(lake)+addSnapshot(lake, 0, noChanges))
			}
			w.run("early", "listen eider_commit")
			w.session("late")
			var wg sync.WaitGroup
			total := map[string]int{}
			for i, list := range writers {
				s := w.session(fmt.Sprint("w", i))
				for _, lake := range list {
					total[lake]++
				}
				wg.Go(func() {
					for _, lake := range list {
						for !commitNext(t, s, lake) {
						}
					}
				})
			}
			w.run("late", "listen eider_commit")
			from := map[string]int{}
			for _, lake := range lakes {
				var n int
				if _, err := fmt.Sscanf(strings.SplitN(w.run("reader", "select max(snapshot_id) from "+lake+".ducklake_snapshot"), "\nD ", 2)[1], "%d", &n); err != nil {
					t.Error(err)
				}
				from[lake] = n
			}
			wg.Wait()
			synctest.Wait()
			for name, since := range map[string]map[string]int{"early": {}, "late": from} {
				next := map[string]int{}
				for _, line := range w.taken(name) {
					var text string
					var p struct {
						Lake string
						ID   int `json:"snapshot_id"`
					}
					if _, err := fmt.Sscanf(line, "A eider_commit %q", &text); err != nil {
						t.Fatal(line, err)
					}
					if err := json.Unmarshal([]byte(text), &p); err != nil {
						t.Fatal(text, err)
					}
					if next[p.Lake] == 0 && name == "late" && p.ID <= since[p.Lake]+1 {
						next[p.Lake] = p.ID // it may also hear of what it can read already
					}
					if next[p.Lake] == 0 {
						next[p.Lake] = since[p.Lake] + 1
					}
					if p.ID != next[p.Lake] {
						t.Fatalf("%s heard of %d in %s, want %d", name, p.ID, p.Lake, next[p.Lake])
					}
					next[p.Lake]++
				}
				for _, lake := range lakes {
					if last := total[lake]; next[lake] != last+1 && since[lake] < last {
						t.Errorf("%s heard of %s up to %d, want %d", name, lake, next[lake]-1, last)
					}
				}
			}
		})
	})
}

// commitNext tries to add a lake's next snapshot.
func commitNext(t *testing.T, s *translate.Session, lake string) bool {
	o := &transcript{sess: s}
	err := s.Simple(context.Background(), fmt.Sprintf(`begin transaction isolation level repeatable read;
insert into %[1]s.ducklake_snapshot select max(snapshot_id) + 1, now(), 0, 1, 0 from %[1]s.ducklake_snapshot;
insert into %[1]s.ducklake_snapshot_changes (snapshot_id) select max(snapshot_id) from %[1]s.ducklake_snapshot; commit`, lake), o)
	if err == nil {
		return true
	}
	if e := asPG(t, err); e.Code != "23505" && e.Code != "40001" {
		t.Errorf("%s: %s", e.Code, e.Message)
		return true
	}
	_ = s.Simple(context.Background(), "rollback", o)
	return false
}
