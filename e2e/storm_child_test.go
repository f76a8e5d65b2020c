package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/storm"
)

// childEnv makes the test binary run one DuckDB for a test that may crash it, and holds what the DuckDB attaches.
const childEnv = "EIDER_E2E_CHILD_ATTACH"

const childConns, childRounds = 16, 5

// B01h: sixteen connections of one DuckDB replace tables of their own. DuckDB itself may crash there (a use after free under concurrent DDL in one
// process); that is the client's and only counted. Otherwise everything lands.
func TestB01h(t *testing.T) {
	for _, target := range stormTargets(t) {
		t.Run(target.Name(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
			defer cancel()
			db, data := newDatabase(), t.TempDir()
			if err := target.CreateDatabase(ctx, db); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = target.DropDatabase(context.Background(), db) }()
			w, err := storm.OpenWriter(ctx, target.DSN(db), data)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			child := exec.CommandContext(ctx, self, "-test.run", "^$")
			child.Env = append(os.Environ(), childEnv+"="+fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s')", target.DSN(db), data))
			out, err := child.CombinedOutput()
			var ended *exec.ExitError
			switch {
			case errors.As(err, &ended) && ended.ExitCode() != childFailed:
				t.Logf("the client crashed: %v\n%.600s", err, out)
			case err != nil && target.Name() == "pg":
				t.Logf("%s", out)
			case err != nil:
				t.Errorf("%v\n%s", err, out)
			default:
				for i := range childConns {
					if got := mustDuck(ctx, t, w, fmt.Sprintf("SELECT count(*), min(round) FROM lake.t%d", i)).Rows[0]; got[0] != "100" || got[1] != fmt.Sprint(childRounds-1) {
						t.Errorf("table t%d: %v", i, got)
					}
				}
			}
			if err := healthy(ctx, target, db); err != nil {
				t.Error(err)
			}
		})
	}
}

// childFailed is the exit status of a child whose statements failed.
const childFailed = 3

// runChild is the child's whole work; it returns the exit status.
func runChild(attach string) int {
	ctx := context.Background()
	inst, err := duck.Open(ctx)
	if err != nil {
		fmt.Println(err)
		return childFailed
	}
	errs := make([]error, childConns)
	var wg sync.WaitGroup
	first := make(chan struct{})
	for i := range childConns {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s, err := inst.Conn(ctx)
			if err != nil {
				errs[i] = err
				return
			}
			if i == 0 {
				_, errs[0] = s.Exec(ctx, attach)
				close(first)
			}
			<-first
			for round := range childRounds {
				_, err := s.Exec(ctx, fmt.Sprintf("CREATE OR REPLACE TABLE lake.t%d AS SELECT range AS i, %d AS round FROM range(100)", i, round))
				if err != nil {
					errs[i] = fmt.Errorf("connection %d, round %d: %s", i, round, storm.Short(err))
					return
				}
			}
		}()
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		fmt.Println(strings.TrimSpace(err.Error()))
		return childFailed
	}
	return 0
}
