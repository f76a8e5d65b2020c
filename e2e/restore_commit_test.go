package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eiderdb/eider/e2e/internal/script"
	"github.com/eiderdb/eider/e2e/internal/tap"
)

// through is a server behind a proxy.
type through struct {
	script.Target
	proxy *tap.Commits
}

func (a through) DSN(db string) string { return a.proxy.DSN(a.Target.DSN(db)) }

// answered is a server behind a proxy that answers the first COMMITs of connections that insert a snapshot itself, with a SQLSTATE. The server is
// sent what takes their place.
func answered(t *testing.T, target script.Target, code, instead string, times int32) script.Target {
	t.Helper()
	var left atomic.Int32
	left.Store(times)
	return through{target, commitsProxy(t, target.DSN("postgres"), func(batch bool) *tap.Fate {
		if !batch || left.Add(-1) < 0 {
			return nil
		}
		return &tap.Fate{Instead: instead, Code: code}
	})}
}

// TestRestoreCommit answers the COMMIT of a restore with errors. Unless the code is one of a refusal the snapshot may be there, and with it the files
// must be.
func TestRestoreCommit(t *testing.T) {
	for _, c := range []struct {
		name, code, instead string
		times               int32
		exit                int
		restored            bool // the newest snapshot is the old one
		files               int  // that are new
	}{
		{name: "unknown, and it is there", code: "08007", instead: "COMMIT", times: 1, exit: 1, restored: true, files: 1},
		{name: "unknown, and it is not there", code: "08007", instead: "ROLLBACK", times: 1, exit: 1, files: 1},
		{name: "a shutdown, and it is there", code: "57P01", instead: "COMMIT", times: 1, exit: 1, restored: true, files: 1},
		{name: "refused", code: "23514", instead: "ROLLBACK", times: 1, exit: 1},
		{name: "a lost race", code: "40001", instead: "ROLLBACK", times: 1, restored: true, files: 1},
		{name: "lost races without end", code: "40001", instead: "ROLLBACK", times: 1000, exit: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
				data := t.TempDir()
				db := databaseOf(t, dsn)
				s := lakeSession(ctx, t, dsn, data)
				for _, sql := range []string{"CREATE TABLE main.a (i BIGINT)", "INSERT INTO main.a SELECT i FROM range(50) t(i)"} {
					mustDuck(ctx, t, s, sql)
				}
				old := int64(headSnapshot(ctx, t, dsn))
				mustDuck(ctx, t, s, "DELETE FROM main.a WHERE i < 40")
				before := map[bool]map[string]string{true: lakeVersion(ctx, t, dsn, data, old), false: lakeVersion(ctx, t, dsn, data, int64(headSnapshot(ctx, t, dsn)))}
				count := func() int {
					list, err := filepath.Glob(filepath.Join(data, "main", "a", "*.parquet"))
					if err != nil {
						t.Fatal(err)
					}
					return len(list)
				}
				files := count()
				code, res, errs := runRestore(ctx, t, answered(t, target, c.code, c.instead, c.times), db, fmt.Sprint(old))
				if unknown := c.exit != 0 && c.files > 0; code != c.exit || strings.Contains(errs, "it is not known whether the new snapshot was committed") != unknown {
					t.Errorf("exit code %d, %+v\n%s", code, res, errs)
				}
				if n := count() - files; n != c.files {
					t.Errorf("%d new files, want %d", n, c.files)
				}
				if diff := cmp.Diff(before[c.restored], lakeVersion(ctx, t, dsn, data, int64(headSnapshot(ctx, t, dsn)))); diff != "" {
					t.Error(diff)
				}
				if err := healthy(ctx, target, db); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
