package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/server"
)

// TestMigrationGate lets DuckDB 1.5.5 migrate the lake of DuckDB 1.4.4: refused by the setting of the catalog, then allowed, with a
// checkpoint from before on which the old client works again.
func TestMigrationGate(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	s := privateEider(t)
	const db = "gate"
	if err := s.CreateDatabase(ctx, db); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	attach := func(version, options string) (*duck.Python, error) {
		p, err := duck.OpenPython(ctx, version)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		_, err = p.Exec(ctx, fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s'%s)", s.DSN(db), data, options))
		return p, err
	}
	count := func(p *duck.Python, sql, want string) {
		t.Helper()
		r, err := p.Query(ctx, sql)
		if err != nil || len(r.Rows) != 1 || fmt.Sprint(r.Rows[0][0]) != want {
			t.Errorf("%s: %v, %v", sql, r.Rows, err)
		}
	}
	setting := func(sql string) {
		t.Helper()
		c, err := pgconn.Connect(ctx, s.DSN(db))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(ctx)
		mustExec(ctx, t, c, sql)
	}

	old, err := attach("1.4.4", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.Exec(ctx, "CREATE TABLE lake.t AS SELECT range AS i FROM range(50)"); err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}

	setting("ALTER DATABASE " + db + " SET eider.migrate = 'refuse'")
	began := time.Now()
	if _, err := attach("1.5.5", ", AUTOMATIC_MIGRATION true"); err == nil || !strings.Contains(err.Error(), "eider.migrate") {
		t.Errorf("a migration that the catalog refuses: %v", err)
	}
	t.Logf("refused in %v", time.Since(began).Round(time.Millisecond))
	if got := checkpoints(t, s); len(got) != 0 {
		t.Errorf("checkpoints of a refused migration: %v", got)
	}
	if old, err = attach("1.4.4", ""); err != nil {
		t.Fatalf("after a refusal: %v", err)
	}
	count(old, "SELECT count(*) FROM lake.t", "50")

	setting("ALTER DATABASE " + db + " RESET eider.migrate")
	fresh, err := attach("1.5.5", ", AUTOMATIC_MIGRATION true")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fresh.Exec(ctx, "INSERT INTO lake.t VALUES (1000)"); err != nil {
		t.Fatal(err)
	}
	count(fresh, "SELECT count(*) FROM lake.t", "51")
	if _, err := attach("1.4.4", ""); err == nil {
		t.Error("the old client attaches a migrated lake")
	}
	if err := fresh.Close(); err != nil {
		t.Fatal(err)
	}

	got := checkpoints(t, s)
	if len(got) != 1 || !strings.HasPrefix(got[0], db+"-0.3-") {
		t.Fatalf("checkpoints: %v", got)
	}
	// Going back, as docs/operate.md says.
	s.Kill()
	away := s.DataDir() + ".away"
	if err := os.Rename(s.DataDir(), away); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(away, "checkpoints", got[0]), s.DataDir()); err != nil {
		t.Fatal(err)
	}
	if err := s.Launch(ctx); err != nil {
		t.Fatal(err)
	}
	if old, err = attach("1.4.4", ""); err != nil {
		t.Fatalf("on the checkpoint: %v", err)
	}
	count(old, "SELECT count(*) FROM lake.t", "50")
	if _, err := old.Exec(ctx, "INSERT INTO lake.t VALUES (2000)"); err != nil {
		t.Error(err)
	}
	count(old, "SELECT sum(i) FROM lake.t", "3225")
}

func checkpoints(t *testing.T, s *server.Server) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(s.DataDir(), "checkpoints"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
