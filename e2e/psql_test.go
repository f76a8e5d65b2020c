package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eiderdb/eider/e2e/internal/script"
)

// psqlCommands are what the README shows of psql, and what people type next.
var psqlCommands = []string{
	`\dt`,
	`\d`,
	`\dt ducklake_*file*`,
	`\d ducklake_snapshot`,
	`\d ducklake_metadata`,
	`\di`,
	`\dv`,
	`\df nothing`,
	`SELECT snapshot_id, schema_version, next_catalog_id, next_file_id FROM ducklake_snapshot ORDER BY 1`,
	`SELECT table_name, path, path_is_relative FROM ducklake_table WHERE end_snapshot IS NULL`,
	`\copy (SELECT column_name, column_type FROM ducklake_column ORDER BY 1) TO STDOUT WITH (FORMAT csv, HEADER)`,
	`\echo :DBNAME`,
	`SELECT * FROM ducklake_nothing`,
	`\d ducklake_nothing`,
}

// TestPsql: psql shows a lake's catalog on Eider as it does on PostgreSQL.
func TestPsql(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	pg := postgres(t)
	if pg == nil || !wantEider() {
		t.Skip("compares eider with PostgreSQL, by PostgreSQL's psql")
	}
	psql := pg.Program("psql")
	if _, err := os.Stat(psql); err != nil {
		t.Fatalf("PostgreSQL is here without its client: %v", err)
	}
	db := newDatabase()
	show := func(target interface {
		script.Target
		Port() int
	},
	) []string {
		if err := target.CreateDatabase(ctx, db); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := target.DropDatabase(context.WithoutCancel(ctx), db); err != nil {
				t.Error(err)
			}
		}()
		s := newDuck(ctx, t)
		for _, sql := range []string{
			fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s')", target.DSN(db), filepath.Join(t.TempDir(), "files")),
			"CREATE TABLE lake.birds (id INTEGER, name VARCHAR)",
			"INSERT INTO lake.birds VALUES (1, 'common eider')",
			"DETACH lake",
		} {
			if _, err := s.Exec(ctx, sql); err != nil {
				t.Fatalf("%s: %s: %v", target.Name(), sql, err)
			}
		}
		var out []string
		args := []string{"-X", "-w", "-h", "127.0.0.1", "-p", strconv.Itoa(target.Port()), "-U", "postgres", db}
		for _, c := range psqlCommands {
			cmd := exec.CommandContext(ctx, psql, append(args, "-c", c)...)
			cmd.Env = append(os.Environ(), "LC_ALL=C", "PGSSLMODE=disable")
			text, err := cmd.CombinedOutput()
			out = append(out, fmt.Sprintf("%s\n%s%v", c, text, err))
		}
		return out
	}
	want := show(pg)
	got := show(needEider(t))
	for i := range want {
		if d := cmp.Diff(want[i], got[i]); d != "" {
			t.Errorf("PostgreSQL -, eider +\n%s", d)
		}
	}
}
