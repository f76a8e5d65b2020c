package guard_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/kv/store"
)

// more are two snapshots after those of lakeSQL: 2 makes data file 2 (at t/f2), 3 ends it.
func more(s *server) {
	s.want("", next("2", "inserted_into_table:1"),
		"insert into ducklake_data_file values (2, 1, 2, null, null, 'f2', true, 'parquet', 10, 1000, 10, null, null, null, null, null)")
	s.want("", next("3", "deleted_from_table:1"),
		"update ducklake_data_file set end_snapshot = 3 where data_file_id = 2")
}

// schedules is a table for a lake's schedule, with ways that DuckLake has it.
const schedules = "create table ducklake_files_scheduled_for_deletion (data_file_id bigint, path varchar, path_is_relative boolean, schedule_start timestamptz)"

// next is the commit of a snapshot that leaves room for the ids of files.
func next(snapshot, changes string, statements ...string) string {
	return strings.Replace(made(snapshot, changes, statements...), "1, 2, 2)", "1, 2, "+snapshot+"0)", 1)
}

func expire(ids string) []string {
	return []string{
		"delete from ducklake_snapshot where snapshot_id in (" + ids + ")",
		"delete from ducklake_snapshot_changes where snapshot_id in (" + ids + ")",
	}
}

const leftSnapshots = "select s.snapshot_id from ducklake_snapshot s join ducklake_snapshot_changes c on c.snapshot_id = s.snapshot_id order by 1"

func (s *server) is(sql, want string) {
	s.t.Helper()
	if got := s.rows(sql); got != want {
		s.t.Errorf("%s: %q, want %q", sql, got, want)
	}
}

func (s *server) run(name, sql string) []string {
	s.t.Helper()
	rows, err := s.send(name, sql)
	if err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return rows
}

// open begins a transaction that has read.
func (s *server) open(name string) {
	s.t.Helper()
	s.run(name, "begin transaction isolation level repeatable read")
	s.run(name, "select max(snapshot_id) from ducklake_snapshot")
}

// TestPinned: an open transaction keeps the newest snapshot that it sees, and all later ones.
func TestPinned(t *testing.T) {
	s := serve(t, conflict.Enforce, lakeSQL)
	s.open("long") // at 1
	more(s)
	s.want("", next("4", ""))
	s.want("", expire("0, 1, 2, 3")...)
	s.is(leftSnapshots, "1 2 3 4")
	if got := strings.Join(s.notices, " "); !strings.Contains(got, "snapshots 1, 2, 3 stay for now: transactions that need them are open") || !strings.Contains(got, "session 2 (user eider") {
		t.Errorf("said: %s", got)
	}
	s.is(`select "check", text from eider.findings`, "snapshot-pinned|snapshots 1, 2, 3 stay for now: transactions that need them are open")
	s.want("", expire("1, 2")...)
	s.is("select count(*) from eider.findings", "1") // not one for each run
	s.run("long", "commit")
	s.want("", expire("1, 3")...)
	s.is(leftSnapshots, "2 4")
	s.run("idle", "select 1 from ducklake_snapshot") // holds nothing afterwards
	s.want("", expire("2")...)
	s.is(leftSnapshots, "4")
	s.want("23514: snapshot 4 is the newest one", expire("4")...)
}

// TestPinnedOtherwise: who gets around DELETE is refused at the commit.
func TestPinnedOtherwise(t *testing.T) {
	s := serve(t, conflict.Enforce, lakeSQL)
	s.open("long")
	more(s)
	s.want("55006: snapshot 2 cannot be removed: transactions that need it are open",
		"update ducklake_snapshot set snapshot_id = -1 where snapshot_id = 2")
	s.run("long", "rollback")
	s.is(leftSnapshots, "0 1 2 3")
	// One that began before another's commit, on whose view nobody else is.
	s.want("23514: the changes of snapshot 2 would be removed, but the snapshot stays", "delete from ducklake_snapshot_changes where snapshot_id = 2")
	s.want("", "delete from ducklake_snapshot_changes where snapshot_id = 2", "insert into ducklake_snapshot_changes values (2, 'inserted_into_table:1')")
}

// TestPinnedModes: with warn they go, and a finding says so; with off nobody looks.
func TestPinnedModes(t *testing.T) {
	for mode, finding := range map[string]string{"warn": "1", "off": "0"} {
		t.Run(mode, func(t *testing.T) {
			s := serve(t, conflict.Enforce, lakeSQL)
			s.want("", "create schema eider", `create table eider.settings (lake text, table_id bigint, "check" text, mode text)`,
				"insert into eider.settings values ('public', null, 'snapshot-pinned', '"+mode+"'), ('other', null, '*', 'enforce')")
			s.want("", "create table eider.findings (found_at timestamptz, lake text, snapshot_id bigint, table_id bigint, \"check\" text, text text, detail text, user_name text, application text)")
			s.open("long")
			more(s)
			s.want("", expire("1, 2")...)
			s.is(leftSnapshots, "0 3")
			s.is(`select count(*) from eider.findings where "check" = 'snapshot-pinned'`, finding)
		})
	}
}

// TestTagged: snapshots with tags stay.
func TestTagged(t *testing.T) {
	s := serve(t, conflict.Enforce, lakeSQL)
	s.want("", "create schema eider", "create table eider.tags (lake text, tag text, snapshot_id bigint, created_at timestamptz, note text)",
		"insert into eider.tags values ('public', 'v1', 1), ('public', 'again', 1), ('other', 'x', 0), ('public', 'head', 3)")
	more(s)
	s.want("", expire("0, 1, 2")...)
	s.is(leftSnapshots, "1 3")
	if got := strings.Join(s.notices, " "); got != "snapshot 1 stays: tags protect it" {
		t.Errorf("said: %s", got)
	}
	s.want("55006: snapshot 1 cannot be removed: tags protect it", "update ducklake_snapshot set snapshot_id = -1 where snapshot_id = 1")
	s.want("", "delete from eider.tags where snapshot_id = 1")
	s.want("", expire("1")...)
	s.is(leftSnapshots, "3")
}

// visible is what a client sees that is about to delete files, everything what it asks for.
const visible = "select data_file_id, path from ducklake_files_scheduled_for_deletion order by 1"

// schedule removes the row of file 2 and schedules it, as a client's expiry does.
var schedule = []string{
	"delete from ducklake_data_file where data_file_id = 2",
	"insert into ducklake_files_scheduled_for_deletion values (2, 'main/t/f2', true, now())",
}

const early = "55006: file \"main/t/f2\" may not be deleted yet: "

// TestScheduleReaders: B50c, a file stays while an open transaction can read it.
func TestScheduleReaders(t *testing.T) {
	s := serve(t, conflict.Enforce, lakeSQL+";"+schedules)
	more(s)
	s.open("long")
	s.run("pending", "begin transaction isolation level repeatable read")
	for _, sql := range schedule {
		s.run("pending", sql)
	}
	if got := s.run("pending", visible); len(got) != 0 {
		t.Errorf("what is not committed is seen: %v", got)
	}
	s.run("pending", "commit")
	s.is(visible, "")
	s.is("select path, path_is_relative from ducklake_files_scheduled_for_deletion", "main/t/f2|t") // for orphans
	s.is("set eider.show_schedule = 'all'", "")
	s.is(visible, "2|main/t/f2")
	s.is("reset eider.show_schedule", "")
	s.want(early+"an open transaction can still read it", "delete from ducklake_files_scheduled_for_deletion")
	s.want(early, "truncate ducklake_files_scheduled_for_deletion")
	s.want(early, "update ducklake_files_scheduled_for_deletion set path = 'other'")
	s.want("55000: file \"f2\" is scheduled for deletion and cannot be added", next("4", "inserted_into_table:1"),
		"insert into ducklake_data_file values (35, 1, 4, null, null, 'f2', true, 'parquet', 10, 1000, 10, null, null, null, null, null)")
	s.want("55000: file \"f2\" is scheduled for deletion and cannot be added", next("4", "deleted_from_table:1"),
		"insert into ducklake_delete_file values (35, 1, 4, null, 1, 'f2', true, 'parquet', 1, 1, 1, null, null)")
	s.open("later") // does not see the file
	s.run("long", "rollback")
	s.is(visible, "2|main/t/f2")
	s.want("", "delete from ducklake_files_scheduled_for_deletion where data_file_id = 2")
}

// TestScheduleCursor: what a cursor reads from counts, whatever its transaction does.
func TestScheduleCursor(t *testing.T) {
	s := serve(t, conflict.Enforce, lakeSQL+";"+schedules)
	more(s)
	s.run("cursor", "begin")
	s.run("cursor", "declare c cursor with hold for select * from ducklake_data_file")
	s.want("", schedule...)
	s.is(visible, "")
	s.run("cursor", "close c")
	s.run("cursor", "commit")
	s.is(visible, "2|main/t/f2")
}

// TestScheduleTime: a file stays until it is due.
func TestScheduleTime(t *testing.T) {
	s := serve(t, conflict.Enforce, lakeSQL+";"+schedules)
	more(s)
	s.grace = time.Hour
	s.want("", schedule...)
	s.is(visible, "")
	s.want(early+"it is due at 2026-01-02 04:04:05.000000 UTC", "delete from ducklake_files_scheduled_for_deletion")
	s.now = s.now.Add(time.Hour - time.Microsecond)
	s.is(visible, "")
	s.now = s.now.Add(time.Microsecond)
	s.is(visible, "2|main/t/f2")
	s.want("", "insert into ducklake_files_scheduled_for_deletion values (99, 'x', false, 'infinity'), (98, 'y', false, null)")
	s.is(visible, "2|main/t/f2 98|y")
	s.want("", "delete from ducklake_files_scheduled_for_deletion where data_file_id in (2, 98)")
}

// TestScheduleByHand: what is live or kept is not scheduled, whatever the row says.
func TestScheduleByHand(t *testing.T) {
	s := serve(t, conflict.Enforce, lakeSQL+";"+schedules)
	more(s)
	const insert = "insert into ducklake_files_scheduled_for_deletion values "
	s.want("23514: file \"main/t/f0\" is in use", insert+"(0, 'main/t/f0', true, now())")
	s.want("23514: file \"main/t/f2\" is in use", insert+"(99, 'main/t/f2', true, now())")
	s.want("23514: file \"/data/main/t/f0\" is in use", insert+"(99, '/data/main/t/f0', false, now())")
	s.open("long")
	s.want("", "delete from ducklake_data_file where data_file_id = 2") // and nothing else
	s.want("", insert+"(99, '/data/main/t/f2', false, now())")
	s.is(visible, "") // found by its path
	s.run("long", "commit")
	s.is(visible, "99|/data/main/t/f2")
}

// TestScheduleTwice: B51a, one row for each path; registering a file twice keeps it.
func TestScheduleTwice(t *testing.T) {
	s := serve(t, conflict.Enforce, lakeSQL+";"+schedules)
	more(s)
	s.want("", append(schedule, schedule[1])...)
	s.is(visible, "2|main/t/f2")
	s.want("", "insert into ducklake_files_scheduled_for_deletion select * from ducklake_files_scheduled_for_deletion")
	s.is(visible, "2|main/t/f2")
	s.want("", "insert into ducklake_files_scheduled_for_deletion values (2, 'main/t/f2', false, now())") // another place
	s.is(visible, "2|main/t/f2 2|main/t/f2")

	s = serve(t, conflict.Enforce, lakeSQL+";"+schedules)
	more(s)
	s.want("", "insert into ducklake_data_file values (1000, 1, 2, null, null, 'f2', true, 'parquet', 10, 1000, 10, null, null, null, 7, null)",
		"update ducklake_snapshot set next_file_id = 2000 where snapshot_id = 3")
	s.want("", schedule...)
	s.is("select count(*) from ducklake_files_scheduled_for_deletion", "0")
	s.want("", "delete from ducklake_data_file where data_file_id = 1000", "insert into ducklake_files_scheduled_for_deletion values (1000, 'main/t/f2', true, now())")
	s.is(visible, "1000|main/t/f2")
}

// TestScheduleNamedThrice: a file that is registered three times is scheduled when its last
// row goes, once and with the time of that commit.
func TestScheduleNamedThrice(t *testing.T) {
	s := serve(t, conflict.Enforce, lakeSQL+";"+schedules+";insert into ducklake_table values (3, null, 1, null, 0, 'u', 'u/', true);update ducklake_snapshot set next_catalog_id = 4")
	next := func(snapshot, changes string, statements ...string) string {
		return strings.Replace(next(snapshot, changes, statements...), ", 1, 2, ", ", 1, 4, ", 1)
	}
	const path = "'/other/x.parquet'"
	row := func(id, table string) string {
		return "(" + id + ", " + table + ", 2, null, null, " + path + ", false, 'parquet', 10, 1000, 10, null, null, null, 7, null)"
	}
	s.want("", next("2", "inserted_into_table:1,inserted_into_table:3", "insert into ducklake_data_file values "+row("15", "1")+","+row("16", "1")+","+row("17", "3")))
	s.want("", next("3", "deleted_from_table:1", "update ducklake_data_file set end_snapshot = 3 where data_file_id in (15, 16)"))
	s.want("", "delete from ducklake_data_file where data_file_id in (15, 16)",
		"insert into ducklake_files_scheduled_for_deletion values (15, "+path+", false, '2020-01-01'), (16, "+path+", false, '2020-01-01')")
	s.is("select count(*) from ducklake_files_scheduled_for_deletion", "0") // u names it
	s.open("long")
	s.want("", next("4", "deleted_from_table:3", "update ducklake_data_file set end_snapshot = 4 where data_file_id = 17"))
	s.want("", "delete from ducklake_data_file where data_file_id = 17",
		"insert into ducklake_files_scheduled_for_deletion values (17, "+path+", false, '2021-01-01'), (17, "+path+", false, '2021-01-01')")
	s.is("set eider.show_schedule = 'all'", "")
	s.is("select data_file_id, extract(year from schedule_start) from ducklake_files_scheduled_for_deletion", "17|2021")
	s.is("reset eider.show_schedule", "")
	s.is(visible, "")
	s.run("long", "commit")
	s.is(visible, "17|/other/x.parquet")
}

// TestScheduledWhileNamed: a reader that sees both the row of a file and its row of the
// schedule, from before the check, holds the file.
func TestScheduledWhileNamed(t *testing.T) {
	s := serve(t, conflict.Enforce, lakeSQL+";"+schedules)
	more(s)
	s.want("", "create schema eider", `create table eider.settings (lake text, table_id bigint, "check" text, mode text)`,
		"insert into eider.settings values ('public', null, 'scheduled-live', 'off')")
	s.want("", "insert into ducklake_files_scheduled_for_deletion values (99, 'main/t/f2', true, '2020-01-01')")
	s.open("long")
	s.want("", "delete from eider.settings")
	s.is(visible, "")
	s.want("", "delete from ducklake_data_file where data_file_id = 2")
	s.is(visible, "")
	s.want(early+"an open transaction can still read it", "delete from ducklake_files_scheduled_for_deletion")
	s.run("long", "commit")
	s.is(visible, "99|main/t/f2")
}

// TestScheduleSpellings: a row that spells the file otherwise keeps it as well.
func TestScheduleSpellings(t *testing.T) {
	for _, c := range []struct{ scheduled, named string }{
		{"'/other/a.parquet', false", "'/other//a.parquet', false"},
		{"'/other//a.parquet', false", "'/other/a.parquet', false"},
		{"'/other/a.parquet', false", "'file:///other/a.parquet', false"},
		{"'file:///other/a.parquet', false", "'/other/./a.parquet', false"},
		{"'s3://b/a.parquet', false", "'s3a://b/a.parquet', false"},
		{"'s3a://b/a%20b.parquet', false", "'s3://b/a b.parquet', false"},
		{"'main/t/a.parquet', true", "'/data/main/t//a.parquet', false"},
		{"'main/t/a.parquet', true", "'/a.parquet', true"},
		{"'/data//main/t/a.parquet', false", "'a.parquet', true"},
		{"'main/t/a.parquet', true", "'/x/../main/t/a.parquet', false"},
	} {
		t.Run(c.scheduled+" "+c.named, func(t *testing.T) {
			s := serve(t, conflict.Enforce, lakeSQL+";"+schedules)
			own := strings.Replace(c.scheduled, "main/t/", "", 1)
			if !strings.HasSuffix(c.scheduled, "true") {
				own = c.scheduled
			}
			row := func(id, path string) string {
				return "(" + id + ", 1, 2, null, null, " + path + ", 'parquet', 10, 1000, 10, null, null, null, 7, null)"
			}
			s.want("", next("2", "inserted_into_table:1", "insert into ducklake_data_file values "+row("15", own)+","+row("16", c.named)))
			s.want("", "delete from ducklake_data_file where data_file_id = 15", "insert into ducklake_files_scheduled_for_deletion values (15, "+c.scheduled+", '2020-01-01')")
			s.is("select count(*) from ducklake_files_scheduled_for_deletion", "0")
			s.want("23514: file ", "insert into ducklake_files_scheduled_for_deletion values (99, "+c.scheduled+", '2020-01-01')")
			s.open("long")
			s.want("", "delete from ducklake_data_file where data_file_id = 16")
			s.want("", "insert into ducklake_files_scheduled_for_deletion values (99, "+c.scheduled+", '2020-01-01')")
			s.is(visible, "")
			s.run("long", "commit")
			if got := s.rows(visible); !strings.HasPrefix(got, "99|") {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestPinEndsWithinExpiry: a reader that ends between the two DELETEs of an expiry.
func TestPinEndsWithinExpiry(t *testing.T) {
	s := serve(t, conflict.Enforce, lakeSQL)
	s.open("long")
	more(s)
	list := expire("0, 1, 2")
	s.run("w", "begin transaction isolation level repeatable read")
	s.run("w", list[0])
	s.run("long", "commit")
	s.run("w", list[1])
	s.run("w", "commit")
	s.is(leftSnapshots, "1 2 3")
	s.is("select snapshot_id from ducklake_snapshot_changes order by 1", "1 2 3")
	s.want("", expire("1, 2")...)
	s.is("select snapshot_id from ducklake_snapshot_changes order by 1", "3")
}

// TestScheduleDuplicatesGo: of two rows of a path that were there, one may always go.
func TestScheduleDuplicatesGo(t *testing.T) {
	s := serve(t, conflict.Off, lakeSQL+";"+schedules)
	more(s)
	s.open("long")
	s.want("", append(schedule, schedule[1])...)
	s.is("select count(*) from ducklake_files_scheduled_for_deletion", "2")
	s.want("", "create schema eider", `create table eider.settings (lake text, table_id bigint, "check" text, mode text)`, "insert into eider.settings values ('', null, '*', 'enforce')")
	s.want(early, "delete from ducklake_files_scheduled_for_deletion")
	s.want("", "delete from ducklake_files_scheduled_for_deletion where ctid = (select min(ctid) from ducklake_files_scheduled_for_deletion)")
	s.want(early, "delete from ducklake_files_scheduled_for_deletion")
}

const orphans = "select path_is_relative, path from ducklake_files_scheduled_for_deletion"

// TestOrphanScan: B50a, a commit looks for its new files when somebody has searched for
// orphans meanwhile.
func TestOrphanScan(t *testing.T) {
	s := serve(t, conflict.Enforce, lakeSQL+";"+schedules)
	insert := func(n string) []string {
		return []string{
			next(n, "inserted_into_table:1"),
			"insert into ducklake_data_file values (" + n + "0 - 5, 1, " + n + ", null, null, 'f" + n + "', true, 'parquet', 10, 1000, 10, null, null, null, null, null)",
		}
	}
	s.missing = map[string]bool{"/data/main/t/f3": true, "/data/main/t/f4": true, "/data/main/t/f5": true}
	commit := func(name, n string) error {
		for _, sql := range append(insert(n), "commit") {
			if _, err := s.send(name, sql); err != nil {
				_, _ = s.send(name, "rollback")
				return err
			}
		}
		return nil
	}
	s.want("", insert("2")...)
	s.open("a")
	s.now = s.now.Add(time.Second)
	s.run("b", orphans)
	if err := commit("a", "3"); err == nil || !strings.Contains(err.Error(), "file \"f3\" of table \"t\" (id 1) is gone") {
		t.Errorf("committed a file that is gone: %v", err)
	}
	s.now = s.now.Add(time.Second)
	s.open("a") // after the search: its files are not looked for
	if err := commit("a", "3"); err != nil {
		t.Error(err)
	}
	s.run("b", "begin")
	s.run("b", orphans)
	s.now = s.now.Add(time.Second)
	s.open("a") // while the search goes on
	if err := commit("a", "4"); err == nil {
		t.Error("committed during a search")
	}
	s.run("b", "commit")
	s.now = s.now.Add(time.Second)
	s.open("a")
	s.run("a", "select snapshot_id from ducklake_snapshot_changes where snapshot_id > 3") // a second try, planned on 3
	if err := commit("a", "4"); err == nil {
		t.Error("a second try has committed what was searched for")
	}
}

// TestOrphanScanRefused: where a catalog says so, nobody searches beside others.
func TestOrphanScanRefused(t *testing.T) {
	s := serve(t, conflict.Enforce, lakeSQL+";"+schedules+";create schema other; create table other.ducklake_snapshot (snapshot_id bigint)")
	s.want("", "alter database lake set eider.orphan_scan = 'refuse'")
	s.run("c", "begin")
	s.run("c", "select * from other.ducklake_snapshot") // of another lake
	s.run("b", orphans)
	s.open("a")
	_, err := s.send("b", orphans)
	if err == nil || !strings.Contains(err.Error(), "orphans cannot be told from the files of open transactions") {
		t.Errorf("got %v", err)
	}
	s.run("a", "commit")
	s.open("b")
	s.run("b", orphans)
	s.run("b", "commit")
	s.open("b")
	s.want("", made("2", ""))
	if _, err = s.send("b", orphans); err == nil || !strings.Contains(err.Error(), "another transaction has committed") {
		t.Errorf("got %v", err)
	}
}

// TestFence: what jobs ask.
func TestFence(t *testing.T) {
	s := serve(t, conflict.Enforce, lakeSQL+";"+schedules)
	more(s)
	c, err := s.shop.Catalog("lake")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(want string, ok bool) {
		t.Helper()
		txn := c.Begin(store.TxnOptions{Isolation: store.RepeatableRead})
		defer func() { _ = txn.Rollback() }()
		f, err := s.deps.Guard.Fence(txn, "public", nil)
		if err != nil {
			t.Fatal(err)
		}
		n, has, err := f.Pinned(context.Background())
		if err != nil || has != ok || has && itoa(n) != want {
			t.Errorf("pinned %d %v %v, want %s %v", n, has, err, want, ok)
		}
	}
	ask("", false)
	s.open("a")
	ask("", false) // at the newest view, whose newest snapshot stays anyway
	s.want("", next("4", ""))
	ask("3", true)
	s.open("b")
	s.want("", next("5", ""))
	ask("3", true)
	s.run("a", "rollback")
	ask("4", true)
	s.run("b", "rollback")
	ask("", false)
}

func itoa(n int64) string { return string(rune('0' + n)) }

// TestOrphanScanFolder: a client does not know a lake's files again below a folder with double slashes.
func TestOrphanScanFolder(t *testing.T) {
	s := serve(t, conflict.Enforce, lakeSQL+";"+schedules)
	for path, ok := range map[string]bool{
		"/data/": true, "/data//": true, "/./data": true, "s3://bucket//lake/": true, "": true, "/data//lake/": false, "//data/": false,
	} {
		s.want("", "update ducklake_metadata set value = '"+path+"' where key = 'data_path'")
		if _, err := s.send("b", orphans); (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "double slashes inside") {
			t.Errorf("%q: %v", path, err)
		}
	}
}
