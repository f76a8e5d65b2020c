package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
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
	lone := t.TempDir()
	if err := os.WriteFile(filepath.Join(lone, "x.sql"), []byte("-- materialise ducklake://lake/x\nSELECT 1 AS x"), 0o600); err != nil {
		t.Fatal(err)
	}
	mixed := t.TempDir()
	for name, text := range map[string]string{
		"a.sql": "-- materialize ducklake://lake/a\nSELECT 1 AS x", "helper.sql": "-- retry 0\nSELECT 1 AS x", "data.sql": "SELECT '\xff'", "materialize.yaml": "",
	} {
		if err := os.WriteFile(filepath.Join(mixed, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
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
		{[]string{"materialize", "plan", lone}, exitUsage, "warning: x.sql:1: materialize: materialise is no annotation", ""},
		{[]string{"materialize", "plan", lone}, exitUsage, "there is no script in ", ""},
		{[]string{"materialize", "plan", filepath.Join(lone, "x.sql")}, exitUsage, "warning: x.sql:1: materialize: materialise is no annotation", ""},
		{[]string{"materialize", "plan", filepath.Join(lone, "x.sql")}, exitUsage, "x.sql makes no table", ""},
		{[]string{"materialize", "plan", file("c")}, exitUsage, "c; a script is given by its file, ", ""},
		{[]string{"materialize", "plan", file("nobody")}, exitUsage, "there is no file or folder ", "--select"},
		{[]string{"materialize", "plan", mixed}, exitOK, "warning: data.sql: the file is not UTF-8", ""},
		{[]string{"materialize", "plan", mixed}, exitOK, "warning: helper.sql:1: retry: ", ""},
		{[]string{"materialize", "plan", filepath.Join(mixed, "a.sql")}, exitOK, "CREATE OR REPLACE TABLE", "warning"},
		{[]string{"materialize", "plan", filepath.Join(mixed, "data.sql")}, exitUsage, "data.sql: the file is not UTF-8", "warning"},
		{[]string{"materialize", "backfill", file("tenants.sql"), "--from", "2026-01-01"}, exitUsage, "tenants.sql:2: a backfill is of times, and the partitions are dynamic", ""},
	} {
		code, out := worker(t, nil, c.args...)
		if code != c.code || !strings.Contains(out, c.says) || c.not != "" && strings.Contains(out, c.not) {
			t.Errorf("%q: exit code %d, want %d with %q and without %q:\n%s", c.args, code, c.code, c.says, c.not, out)
		}
	}
}

// The documents have every flag, with the commands that take it.
func TestMaterializeFlagsInDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "materialize.md"))
	if err != nil {
		t.Fatal(err)
	}
	group := (&app{}).materializeCommand()
	var all []string
	have := map[string][]string{} // commands by flag
	for _, c := range group.Commands() {
		all = append(all, c.Name())
		c.Flags().VisitAll(func(f *pflag.Flag) { have[f.Name] = append(have[f.Name], c.Name()) })
	}
	flags, word := regexp.MustCompile("`--([a-z-]+)"), regexp.MustCompile("`([a-z]+)`")
	want := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, " | ")
		if len(cells) < 3 || !strings.HasPrefix(line, "| `--") {
			continue
		}
		var of []string
		for _, m := range word.FindAllStringSubmatch(cells[1], -1) {
			of = append(of, m[1])
		}
		if strings.HasPrefix(cells[1], "all") {
			of = slices.DeleteFunc(slices.Clone(all), func(c string) bool { return slices.Contains(of, c) })
		}
		for _, m := range flags.FindAllStringSubmatch(cells[0], -1) {
			want[m[1]] = of
		}
	}
	for _, m := range []map[string][]string{have, want} {
		for _, list := range m {
			slices.Sort(list)
		}
	}
	if !maps.EqualFunc(have, want, slices.Equal) {
		t.Errorf("flags and their commands are\n%v\nand docs/materialize.md says\n%v", have, want)
	}
}
