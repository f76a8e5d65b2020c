package e2e

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestMaintainPaused has a pause of all maintenance hold up the worker, and one of a kind not.
func TestMaintainPaused(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	s, db, _, exec := jobsLake(ctx, t, 4)
	before := strings.Join(exec("SELECT count(*), sum(i) FROM lake.t"), "")
	c := connect(ctx, t, s.DSN(db))
	for _, step := range []struct{ sql, stopped string }{
		{"SELECT * FROM eider.gc_pause('trim')", ""},
		{"SELECT * FROM eider.gc_pause(NULL, 'initial load')", "maintenance is paused by eider: initial load"},
		{"SELECT * FROM eider.gc_resume()", ""},
	} {
		mustExec(ctx, t, c, step.sql)
		code, did, errs := runMaintain(ctx, t, s, db, "--min-inlined-rows", "1")
		if code != 0 || len(did) == 0 {
			t.Fatalf("exit code %d, %+v\n%s", code, did, errs)
		}
		if end := did[len(did)-1]; end.Stopped != step.stopped || step.stopped != "" && end.Steps > 0 {
			t.Errorf("after %s: %+v", step.sql, did)
		}
	}
	if after := strings.Join(exec("SELECT count(*), sum(i) FROM lake.t"), ""); after != before {
		t.Errorf("%s, want %s", after, before)
	}
}
