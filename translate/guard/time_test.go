package guard_test

import (
	"strings"
	"testing"

	"github.com/eiderdb/eider/conflict"
)

// endless are times that nothing could come after, or that clients cannot hold.
var endless = []string{"infinity", "-infinity", "294276-12-31 23:59:59.999999", "294247-01-10 04:00:54.775806", "10000-01-01"}

// order is how many snapshots are not after the one before.
const order = `select count(*) from ducklake_snapshot a join ducklake_snapshot b on b.snapshot_id = a.snapshot_id + 1
	where b.snapshot_time <= a.snapshot_time or not isfinite(b.snapshot_time)`

// at is the commit of a snapshot with that time.
func at(snapshot, time string) string {
	return strings.Replace(made(snapshot, ""), "now()", "'"+time+"'", 1)
}

// TestSnapshotTimeOfNewOnes: a new snapshot with a time that is none gets the present.
func TestSnapshotTimeOfNewOnes(t *testing.T) {
	for _, time := range endless {
		s := serve(t, conflict.Enforce, lakeSQL)
		s.want("", at("2", time))
		s.want("", made("3", ""))
		if got := s.rows("select snapshot_time from ducklake_snapshot where snapshot_id > 1 order by snapshot_id"); got != "2026-01-02 03:04:05+00 2026-01-02 03:04:05.000001+00" {
			t.Errorf("%s: %s", time, got)
		}
	}
}

// TestSnapshotTimeMoved: an UPDATE leaves times finite and in order.
func TestSnapshotTimeMoved(t *testing.T) {
	s := serve(t, conflict.Enforce, lakeSQL)
	s.want("", made("2", ""))
	const update, refused = "update ducklake_snapshot set snapshot_time = '", "which is not between those of the snapshots beside it"
	for _, time := range append(endless, "2026-01-02 03:04:05", "2026-01-01") {
		for _, id := range []string{"1", "2"} {
			if id == "2" && time == "2026-01-02 03:04:05" {
				continue // it has it
			}
			s.want(refused, update+time+"' where snapshot_id = "+id)
		}
	}
	s.want("", update+"2026-01-01 01:00' where snapshot_id = 1")
	s.want("", update+"2025-01-01' where snapshot_id = 0", update+"2025-06-01' where snapshot_id = 1")
	s.want("", made("3", ""))
	if got := s.rows(order); got != "0" {
		t.Errorf("%s snapshots are out of order", got)
	}
}

// TestSnapshotTimeLoaded: a lake that came with an infinite time goes on, and its times can
// be put right.
func TestSnapshotTimeLoaded(t *testing.T) {
	s := serve(t, conflict.Enforce, strings.Replace(lakeSQL, "'2026-01-01 00:01'", "'infinity'", 1))
	s.want("", made("2", ""))
	s.want("", "update ducklake_snapshot set snapshot_time = '2026-01-01 00:01' where snapshot_id = 1")
	if got := s.rows(order); got != "0" {
		t.Errorf("%s snapshots are out of order", got)
	}
}
