package e2e

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/eiderdb/eider/e2e/internal/script"
)

const scriptsDir = "testdata/scripts"

// minScripts is the size of the suite: a script that is not found must not pass for one that succeeds.
const minScripts = 160

// TestScripts runs every script on PostgreSQL and on eider and compares what the two did.
func TestScripts(t *testing.T) {
	only, err := regexp.Compile(*onlyFlag)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = filepath.WalkDir(scriptsDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".lake" {
			return err
		}
		name := strings.TrimSuffix(filepath.ToSlash(strings.TrimPrefix(path, scriptsDir+string(filepath.Separator))), ".lake")
		n++
		if !only.MatchString(name) {
			return nil
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runScript(t, path, name)
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < minScripts {
		t.Errorf("%d scripts found, there are at least %d", n, minScripts)
	}
}

// waitingFile lists scripts that eider does not pass yet, one name a line. They run on
// PostgreSQL only, or everywhere with -waiting.
const waitingFile = "testdata/waiting.txt"

func waiting(t testing.TB, name string) bool {
	return slices.Contains(allWaiting(t), name)
}

func allWaiting(t testing.TB) []string {
	if *waitingFlag {
		return nil
	}
	text, err := os.ReadFile(waitingFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

func runScript(t *testing.T, path, name string) {
	s, err := script.Load(path, name)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	var traces []*script.Trace
	for _, target := range targets(t) {
		if target.Name() == "eider" && waiting(t, name) {
			continue
		}
		if s.Private && target.Name() == "eider" {
			target = privateEider(t)
		}
		trace, err := script.Run(ctx, s, target, newDatabase())
		if err != nil {
			t.Errorf("on %s: %v", target.Name(), err)
			return
		}
		if *rewriteFlag {
			for _, f := range trace.Failures {
				if !strings.Contains(f, "\n  want\n") {
					t.Error(f)
				}
			}
			if !t.Failed() {
				if err := script.Rewrite(s, path, trace); err != nil {
					t.Fatal(err)
				}
			}
			return
		}
		for _, f := range trace.Failures {
			t.Error(f)
		}
		traces = append(traces, trace)
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.totals.scripts++
	shared.totals.statements += script.Count(s.Steps)
	if len(traces) < 2 {
		return
	}
	c := script.Compare(s, traces[0], traces[1])
	if selfCheck() {
		c.DropStale()
	}
	for _, d := range c.Differences {
		t.Error(d)
	}
	shared.totals.differences += len(c.Differences)
	shared.totals.pinned += c.Pinned
	shared.totals.compared += c.Compared
}
