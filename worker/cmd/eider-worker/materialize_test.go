package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Commands take the flags that mean something to them, and name themselves as they are called.
func TestMaterializeCommandLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.sql":        "-- materialize ducklake://lake/a\n-- retry 2 soon\nSELECT 1 AS x",
		"b.sql":        "-- materialise ducklake://lake/b\n-- materialize ducklake://lake/b\nSELECT 1 AS x",
		"c.sql":        "-- materialize ducklake://lake/c key=x\nSELECT 1 AS x",
		"tenants.sql":  "-- materialize ducklake://lake/d\n-- partitioned dynamic key=$.t\nSELECT 1 AS x",
		"missing.sql":  "-- materialize ducklake://lake/e\n-- use lib/none\nSELECT 1 AS x",
		"settings.yml": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		args      []string
		code      int
		says, not string
	}{
		{[]string{"materialize", "bogus"}, exitUsage, `eider materialize takes a command: run, plan, test, status, backfill, graph or watch; see "eider materialize --help"`, ""},
		{[]string{"materialize"}, exitOK, "eider materialize [command]", "eider-worker"},
		{[]string{"materialize", "run", "--bogus"}, exitUsage, `see "eider materialize run --help"`, ""},
		{[]string{"restore", "--bogus"}, exitUsage, `see "eider snapshot restore --help"`, ""},
		{[]string{"maintain", "--help"}, exitOK, "eider maintain [flags]", "eider-worker"},
		{[]string{"--help"}, exitOK, "eider-worker [command]", ""},
		{[]string{"materialize", "watch", "--force"}, exitUsage, "unknown flag: --force", ""},
		{[]string{"materialize", "plan", "--at-version", "3"}, exitUsage, "unknown flag: --at-version", ""},
		{[]string{"materialize", "backfill", "--select", "x"}, exitUsage, "unknown flag: --select", ""},
		{[]string{"materialize", "backfill", "--force"}, exitUsage, "unknown flag: --force", ""}, // what is missing is run anyway
		{[]string{"materialize", "plan", file("c.sql")}, exitOK, "DELETE FROM", "materialise"},   // another script's warning
		{[]string{"materialize", "plan", file("c.sql"), "--author", "o'brien"}, exitOK, "set_commit_message('o''brien', 'materialize c (merge)'", ""},
		{[]string{"materialize", "plan", file("c.sql"), "--lake", "lake=host=a,b port=1,2 dbname=x"}, exitOK, "DELETE FROM", ""},
		{[]string{"materialize", "plan", file("b.sql")}, exitOK, "warning: b.sql:1: materialize: materialise is no annotation", ""},
		{[]string{"materialize", "plan", file("missing.sql")}, exitUsage, "missing.sql:2: there is no script lib/none to use", ""},
		{[]string{"materialize", "plan", dir}, exitUsage, "a.sql:2: retry", ""},
		{[]string{"materialize", "backfill", file("tenants.sql"), "--from", "2026-01-01"}, exitUsage, "tenants.sql:2: a backfill is of times, and the partitions are dynamic", ""},
	} {
		code, out := worker(t, nil, c.args...)
		if code != c.code || !strings.Contains(out, c.says) || c.not != "" && strings.Contains(out, c.not) {
			t.Errorf("%q: exit code %d, want %d with %q and without %q:\n%s", c.args, code, c.code, c.says, c.not, out)
		}
	}
}
