package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/server"
)

// oldLake makes a lake of DuckDB 1.4.4, whose format is 0.3, with 50 rows in a database of a server.
func oldLake(ctx context.Context, t *testing.T, s *server.Server, db, data string) {
	t.Helper()
	if err := s.CreateDatabase(ctx, db); err != nil {
		t.Fatal(err)
	}
	p, err := duck.OpenPython(ctx, "1.4.4")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, sql := range []string{
		fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s')", s.DSN(db), data),
		"CREATE TABLE lake.t AS SELECT range AS i FROM range(50)",
	} {
		if _, err := p.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
}

// migrateLake lets a DuckDB of the tests attach a lake and migrate it, and counts the rows.
func migrateLake(ctx context.Context, t *testing.T, s *server.Server, db, data string) (rows string, err error) {
	t.Helper()
	d := newDuck(ctx, t)
	if _, err := d.Exec(ctx, fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s', AUTOMATIC_MIGRATION true)", s.DSN(db), data)); err != nil {
		return "", err
	}
	res, err := d.Query(ctx, "SELECT count(*) FROM lake.t")
	if err != nil {
		return "", err
	}
	return res.Lines()[0], nil
}

// TestMigrateFlag: what each --migrate does to DuckDB's migration and to a format that nobody knows yet, and that the catalog's setting goes before it.
func TestMigrateFlag(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	const (
		refused = "may not be migrated from format 0.3 to"
		unknown = "may not become format 9.9, which this server does not know"
	)
	for _, c := range []struct{ flag, setting, migration, future string }{
		{"refuse", "", refused, "may not be migrated from format 0.3 to 9.9"},
		{"refuse", "allow", "", unknown},
		{"allow", "", "", unknown},
		{"any", "", "", ""},
		{"any", "refuse", refused, "may not be migrated from format 0.3 to 9.9"},
	} {
		t.Run(strings.TrimSpace(c.flag+" "+c.setting), func(t *testing.T) {
			s := privateEider(t, "--migrate", c.flag)
			data := t.TempDir()
			oldLake(ctx, t, s, "gate", data)
			conn := connect(ctx, t, s.DSN("gate"))
			if c.setting != "" {
				mustExec(ctx, t, conn, "ALTER DATABASE gate SET eider.migrate = '"+c.setting+"'")
			}
			rows, err := migrateLake(ctx, t, s, "gate", data)
			copies := 0
			switch {
			case c.migration != "":
				if err == nil || !strings.Contains(err.Error(), c.migration) || !strings.Contains(err.Error(), "eider.migrate") {
					t.Errorf("DuckDB's migration: %v", err)
				}
			default:
				copies++
				if err != nil || rows != "50" {
					t.Errorf("DuckDB's migration: %s rows, %v", rows, err)
				}
			}
			version := one(ctx, t, conn, "SELECT value FROM ducklake_metadata WHERE key = 'version'")
			if (version == "0.3") != (c.migration != "") {
				t.Errorf("the lake has format %s", version)
			}
			_, err = conn.Exec(ctx, "UPDATE ducklake_metadata SET value = '9.9' WHERE key = 'version'").ReadAll()
			want := version
			if c.future == "" {
				copies++
				want = "9.9"
				if err != nil {
					t.Errorf("a format that nobody knows: %v", err)
				}
			} else if e := pgError(err); e == nil || e.Code != "55000" || !strings.Contains(e.Message, c.future) || !strings.Contains(e.Hint, "eider.migrate") {
				t.Errorf("a format that nobody knows: %v", err)
			}
			if got := one(ctx, t, conn, "SELECT value FROM ducklake_metadata WHERE key = 'version'"); got != want {
				t.Errorf("the lake has format %s, want %s", got, want)
			}
			if got := checkpoints(t, s); len(got) != copies {
				t.Errorf("%d checkpoints, want %d: %v", len(got), copies, got)
			}
		})
	}
}

// TestMigrationUnsaved: where no checkpoint can be written nothing is migrated, and old clients go on. As soon as one can be, the same client migrates.
func TestMigrationUnsaved(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	s := privateEider(t)
	data := t.TempDir()
	oldLake(ctx, t, s, "gate", data)
	folder := filepath.Join(s.DataDir(), "checkpoints")
	if err := os.WriteFile(folder, nil, 0o600); err != nil { // for root, too, that is no folder
		t.Fatal(err)
	}
	_, err := migrateLake(ctx, t, s, "gate", data)
	if err == nil || !strings.Contains(err.Error(), "no copy of the store could be made before") || !strings.Contains(err.Error(), "migration-checkpoints = 0") {
		t.Errorf("without a checkpoint: %v", err)
	}
	conn := connect(ctx, t, s.DSN("gate"))
	if got := one(ctx, t, conn, "SELECT value FROM ducklake_metadata WHERE key = 'version'"); got != "0.3" {
		t.Errorf("the lake has format %s", got)
	}
	log, err := os.ReadFile(s.LogPath())
	if err != nil || !strings.Contains(string(log), "no checkpoint before a migration") || !strings.Contains(string(log), "not a directory") {
		t.Errorf("the log does not say why: %v", err)
	}
	old, err := duck.OpenPython(ctx, "1.4.4")
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	for _, sql := range []string{fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s')", s.DSN("gate"), data), "INSERT INTO lake.t VALUES (50)"} {
		if _, err := old.Exec(ctx, sql); err != nil {
			t.Errorf("the old client, after the refusal: %v", err)
		}
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	if rows, err := migrateLake(ctx, t, s, "gate", data); err != nil || rows != "51" {
		t.Errorf("with a checkpoint: %s rows, %v", rows, err)
	}
	if got := checkpoints(t, s); len(got) != 1 {
		t.Errorf("checkpoints: %v", got)
	}
}
