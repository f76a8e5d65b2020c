package translate_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/conflict/hold"
	"github.com/eiderdb/eider/lake/files"
	"github.com/eiderdb/eider/translate/guard"
)

// stuck is a store of files that answers when who asked has given up.
type stuck struct{ asked func() }

func (stuck) Reach(string) files.Reach { return files.Yes }

func (s stuck) Open(ctx context.Context, _ string, _ int64) (files.File, error) {
	s.asked()
	<-ctx.Done()
	return nil, ctx.Err()
}

// A commit that waits for files can be cancelled, and then nothing of it is there.
func TestGuardCancel(t *testing.T) {
	w := newLake(t)
	w.run("a", "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ")
	w.run("a", lakeBatch(6, "3, 7, 12", "inserted_into_table:1,deleted_from_table:1",
		file(10, 1, 6, "NULL", "f10", 5, "230, NULL, NULL, NULL, NULL"), deleteFile(11, 1, 6, 4, 5, "NULL")))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	v := hold.New(hold.Options{Files: stuck{asked: cancel}, Timeout: time.Hour, NewTimeout: time.Hour})
	g := guard.New(guard.Options{Clock: w.clock, Hold: &guard.Hold{Verifier: v, NullStarts: true, Gaps: true}})
	if err := g.Commit(ctx, w.session("a").Txn(), guard.Info{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	w.run("a", "ROLLBACK")
	if got := w.rows("b", "select max(snapshot_id) from ducklake_snapshot"); strings.TrimSpace(got) != "5" {
		t.Errorf("the newest snapshot is %q", got)
	}
}
