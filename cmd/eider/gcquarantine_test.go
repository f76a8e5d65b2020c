package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Files that are moved aside are listed, and come back; a shorter grace than the stored one
// is no way to delete earlier.
func TestQuarantine(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := serve(t, "--engine", "memory", "--maintenance=false", "--delete-paths", dir)
	env := map[string]string{"EIDER_SERVER": p.url("postgres")}
	conn := lakeConn(t, p)
	is := func(sql, want string) {
		t.Helper()
		var got string
		if err := conn.QueryRow(context.Background(), sql, pgx.QueryExecModeSimpleProtocol).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", sql, got, err, want)
		}
	}
	gc := func(args ...string) result { t.Helper(); return eider(t, "", env, append([]string{"gc"}, args...)...) }
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}

	is("select count(*)::text from eider.quarantine", "0")
	gc("quarantine", "list").want(t, 0, "PATH")
	gc("quarantine", "list", "--format", "json").want(t, 0, "[]")
	gc("quarantine", "restore").want(t, 2, "--job, --path, or --all")
	gc("quarantine", "restore", "--all", "--lake", "nope").want(t, 1, `no such lake: "nope"`)

	is("update ducklake_metadata set value = '"+dir+"/' where key = 'data_path' returning key", "data_path")
	for _, f := range []string{"a.parquet", "b.parquet"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte(f), 0o600); err != nil {
			t.Fatal(err)
		}
		is("insert into ducklake_files_scheduled_for_deletion values (7, '"+f+"', true, now() - interval '1 hour') returning 'ok'", "ok")
	}

	gc("policy", "set", "deletion-grace", "2h").want(t, 0)
	gc("run", "cleanup", "--set", "deletion-grace=0s").want(t, 0, "done")
	is("select count(*)::text from ducklake_files_scheduled_for_deletion", "2")
	if !there("a.parquet") || !there("b.parquet") {
		t.Fatal("files have gone before the grace has passed")
	}
	gc("policy", "set", "deletion-grace", "1m").want(t, 0)
	gc("run", "cleanup", "--set", "deletion-grace=2h").want(t, 0, "done")
	is("select count(*)::text from ducklake_files_scheduled_for_deletion", "2")

	gc("policy", "set", "quarantine", "on").want(t, 0)
	gc("run", "cleanup").want(t, 0, "2 files moved aside")
	if there("a.parquet") || there("b.parquet") {
		t.Fatal("files have not moved")
	}
	is("select string_agg(path, ' ' order by path) from eider.quarantine", dir+"/a.parquet "+dir+"/b.parquet")
	is("select count(*)::text from eider.quarantine_list('public', '"+dir+"/a.parquet')", "1")
	is("select count(*)::text from eider.quarantine_list('nope')", "0")
	gc("quarantine", "list").want(t, 0, "public", dir+"/a.parquet", dir+"/b.parquet", "scheduled")
	if r := gc("quarantine", "list", "--path", dir+"/a.parquet"); strings.Contains(r.out, "b.parquet") {
		t.Error(r.out)
	}

	gc("quarantine", "restore", "--path", dir+"/a.parquet", "--format", "json").want(t, 0, `"restored": 1`)
	if !there("a.parquet") || there("b.parquet") {
		t.Error("the wrong files are back")
	}
	// What is there already is not overwritten.
	if err := os.WriteFile(filepath.Join(dir, "b.parquet"), []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	gc("quarantine", "restore", "--all").want(t, 1, "b.parquet", "1 files did not come back")
	if err := os.Remove(filepath.Join(dir, "b.parquet")); err != nil {
		t.Fatal(err)
	}
	is("select restored || ' ' || failed from eider.quarantine_restore('*')", "1 0")
	if !there("b.parquet") {
		t.Error("it is not back")
	}
	is("select count(*)::text from eider.quarantine", "0")
	for sql, code := range map[string]string{
		"select * from eider.quarantine_restore(NULL)":                       "22004",
		"select * from eider.quarantine_restore('*', 0)":                     "22023",
		"begin read only; select * from eider.quarantine_restore('*')":       "25006",
		"insert into eider.quarantine (lake) values ('x') returning nothing": "42703",
	} {
		_, err := conn.Exec(context.Background(), sql, pgx.QueryExecModeSimpleProtocol)
		if err == nil || !strings.Contains(err.Error(), code) {
			t.Errorf("%s: %v, want %s", sql, err, code)
		}
		_, _ = conn.Exec(context.Background(), "rollback", pgx.QueryExecModeSimpleProtocol)
	}
}
