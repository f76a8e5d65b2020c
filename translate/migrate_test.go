package translate_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/eiderdb/eider/translate"
)

func TestMigrationKeepsACopy(t *testing.T) {
	t.Parallel()
	var kept []string
	var fail error
	w := newWorld(t)
	w.shared = translate.NewShared(translate.SharedOptions{Migrations: translate.Migrations{Policy: "allow", Checkpoint: func(_ context.Context, catalog, version string) (string, error) {
		kept = append(kept, catalog+" "+version)
		return "copy", fail
	}}})
	run := func(sql string) string { return w.simple("a", sql, nil, "") }
	run("create table ducklake_metadata (key varchar, value varchar); insert into ducklake_metadata values ('version', '0.3')")
	if len(kept) > 0 {
		t.Fatalf("a new lake is no migration: %v", kept)
	}
	fail = errors.New("no space")
	if out := run("update ducklake_metadata set value = '1.0'"); !strings.Contains(out, "ERROR 55000") || !strings.Contains(out, "migration-checkpoints") || strings.Contains(out, "no space") {
		t.Errorf("a migration without a copy: %s", out)
	}
	fail = nil
	if out := run("update ducklake_metadata set value = '1.0'"); strings.Contains(out, "ERROR") {
		t.Error(out)
	}
	if got := strings.Join(kept, ", "); got != "lake 0.3, lake 0.3" {
		t.Error(got)
	}
}
