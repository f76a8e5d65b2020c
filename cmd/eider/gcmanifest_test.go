package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// A manifest has every file, also beyond what a plan keeps.
func TestManifest(t *testing.T) {
	t.Parallel()
	const files = 1200
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := serve(t, "--engine", "memory", "--maintenance=false", "--delete-paths", dir)
	env := map[string]string{"EIDER_SERVER": p.url("postgres")}
	conn := lakeConn(t, p)
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(context.Background(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	exec("update ducklake_metadata set value = '" + dir + "/' where key = 'data_path'")
	exec(fmt.Sprintf("insert into ducklake_files_scheduled_for_deletion select i, 'main/t/' || i || '.parquet', true, now() - interval '1 hour' from generate_series(1, %d) i", files))
	if err := os.MkdirAll(dir+"/main/t", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/main/t/7.parquet", []byte("seven"), 0o600); err != nil {
		t.Fatal(err)
	}
	gc := func(args ...string) result { t.Helper(); return eider(t, "", env, append([]string{"gc"}, args...)...) }
	out := t.TempDir()
	gc("plan", "--manifest", out+"/m.txt").want(t, 2, ".csv, .json or .jsonl")
	gc("plan", "expire", "--manifest", out+"/m.csv").want(t, 2, "cleanup and orphans")
	gc("plan", "--lake", "nope", "--manifest", out+"/m.csv").want(t, 1, "no such lake")
	gc("plan", "--manifest", out+"/m.csv").want(t, 0, fmt.Sprint(files, " files"))
	f, err := os.ReadFile(out + "/m.csv")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(string(f))).ReadAll()
	if err != nil || len(lines) != files+1 || strings.Join(lines[0], ",") != "lake,kind,path,size,reason,action" {
		t.Fatalf("%v, %d lines, the first %v", err, len(lines), lines[0])
	}
	seen := map[string]bool{}
	for _, l := range lines[1:] {
		seen[l[2]] = true
		if l[2] == dir+"/main/t/7.parquet" && (l[0] != "public" || l[1] != "cleanup" || l[3] != "5" || l[4] == "" || l[5] != "delete") {
			t.Errorf("%v", l)
		}
	}
	if len(seen) != files {
		t.Errorf("%d different files", len(seen))
	}
	gc("plan", "cleanup", "--manifest", out+"/m.jsonl", "--set", "deletion-grace=2h").want(t, 0, "0 files")
	gc("plan", "cleanup", "--manifest", out+"/m.jsonl", "--set", "quarantine=on").want(t, 0, fmt.Sprint(files, " files"))
	if f, err = os.ReadFile(out + "/m.jsonl"); err != nil {
		t.Fatal(err)
	}
	n := 0
	for d := json.NewDecoder(strings.NewReader(string(f))); d.More(); n++ {
		var l manifestLine
		if err := d.Decode(&l); err != nil {
			t.Fatal(err)
		}
		if is := l.Path == dir+"/main/t/7.parquet"; is != (l.Action == "quarantine") {
			t.Errorf("%+v", l)
		}
	}
	if n != files {
		t.Errorf("%d lines", n)
	}

	// Who reads no further ends the dry run, and the next one is not in its way.
	var path string
	if err := conn.QueryRow(context.Background(), "select path from eider.gc_manifest('public', 'cleanup') limit 1").Scan(&path); err != nil || path == "" {
		t.Error(path, err)
	}
	for sql, code := range map[string]string{
		"select * from eider.gc_manifest('public', 'expire')":                   "22023",
		"select * from eider.gc_manifest('nope', 'cleanup')":                    "42704",
		"select * from eider.gc_manifest(NULL, 'cleanup')":                      "22004",
		"select * from eider.gc_manifest('public', 'cleanup', '{\"nope\": 1}')": "22023",
	} {
		if _, err := conn.Exec(context.Background(), sql, pgx.QueryExecModeSimpleProtocol); err == nil || !strings.Contains(err.Error(), code) {
			t.Errorf("%s: %v, want %s", sql, err, code)
		}
	}
	var left string
	if err := conn.QueryRow(context.Background(), "select count(*)::text from ducklake_files_scheduled_for_deletion").Scan(&left); err != nil || left != fmt.Sprint(files) {
		t.Error(left, err)
	}
}
