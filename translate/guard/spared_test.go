package guard_test

import (
	"testing"

	"github.com/eiderdb/eider/conflict"
)

// TestSparedIsUndone: what a DELETE has left is no finding when the DELETE is undone.
func TestSparedIsUndone(t *testing.T) {
	s := serve(t, conflict.Enforce, lakeSQL)
	s.open("long")
	more(s)
	s.want("", "savepoint a", expire("1, 2")[0], "rollback to a")
	s.is(`select count(*) from eider.findings`, "0")
	s.want("", "savepoint a", expire("1, 2")[0], "release a")
	s.is(`select count(*) from eider.findings`, "1")
}

// TestSessionsSnapshot: eider.sessions has the newest snapshot by its id, not the row that
// was written last.
func TestSessionsSnapshot(t *testing.T) {
	const insert = "; insert into ducklake_snapshot values (5, now(), 1, 2, 2); insert into ducklake_snapshot values (3, now(), 1, 2, 2)"
	s := serve(t, conflict.Off, lakeSQL+insert+
		"; create schema bare; create table bare.ducklake_snapshot (snapshot_id bigint); insert into bare.ducklake_snapshot values (7), (6)")
	s.open("long")
	s.is("select distinct lake, snapshot_id from eider.sessions where lake is not null order by 1", "bare|7 public|5")
}
