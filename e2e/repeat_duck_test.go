package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eiderdb/eider/e2e/internal/script"
)

// TestLostAcknowledgementDuckDB loses the answer to a COMMIT of a DuckDB, which then runs the statement again by hand. DuckDB says that it has failed,
// at once. What it repeats has other files, or none: no server can tell it from a new statement.
func TestLostAcknowledgementDuckDB(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		data := t.TempDir()
		proxy := newCutter(t, dsn)
		a := openLake(ctx, t, proxy.DSN(dsn), data)
		external := filepath.Join(t.TempDir(), "external.parquet")
		a.must(ctx, t, fmt.Sprintf("COPY (SELECT range::INTEGER AS i FROM range(30)) TO '%s' (FORMAT parquet)", external))
		for _, c := range []struct {
			name, sql string
			once      string // what is read after the loss
			again     string // and when the statement has run again
			findings  string // what fsck then says of the files
		}{
			{"inlined", "INSERT INTO lake.inlined VALUES (1)", "1", "2", ""},
			// DuckDB has removed the file of a commit that it takes for failed. That is loud: nothing reads the table as if the rows were there.
			{"files", "INSERT INTO lake.files SELECT range FROM range(20)", "No such file or directory", "No such file or directory", "file-missing"},
			{"registered", fmt.Sprintf("CALL ducklake_add_data_files('lake', 'registered', '%s')", external), "30", "60", ""},
		} {
			a.must(ctx, t, fmt.Sprintf("CREATE TABLE lake.%s (i INTEGER)", c.name))
			before := a.rows(ctx, t, "SELECT max(snapshot_id) FROM lake.snapshots()")
			cuts := proxy.cuts.Load()
			a.must(ctx, t, "BEGIN", c.sql)
			proxy.armed.Store(true)
			_, err := a.sess.Exec(ctx, "COMMIT")
			if err == nil || proxy.cuts.Load() != cuts+1 {
				t.Fatalf("%s: the answer to COMMIT arrived: %v", c.name, err)
			}
			if text := err.Error(); !strings.Contains(text, "server closed the connection") || strings.Contains(text, "Exceeded the maximum retry count") {
				t.Errorf("%s: the client says %s", c.name, oneLine(text))
			}
			_, _ = a.sess.Exec(ctx, "ROLLBACK")
			fresh := openLake(ctx, t, dsn, data)
			if got := fresh.rows(ctx, t, "SELECT max(snapshot_id) FROM lake.snapshots()"); got == before {
				t.Errorf("%s: the commit whose answer was lost is not there", c.name)
			}
			read := "SELECT sum(i // 1000 + 1) FROM lake." + c.name // which statistics do not answer
			if got := fresh.rows(ctx, t, read); got != c.once && !(c.findings != "" && strings.Contains(got, c.once)) {
				t.Errorf("%s: after the loss there are %s", c.name, got)
			}
			a.must(ctx, t, c.sql)
			if got := fresh.rows(ctx, t, read); got != c.again && !(c.findings != "" && strings.Contains(got, c.again)) {
				t.Errorf("%s, again: there are %s", c.name, got)
			}
			found, err := script.FileFindings(ctx, dsn, filepath.Dir(filepath.Dir(external)))
			if err != nil {
				t.Fatal(err)
			}
			if codes := fmt.Sprint(found); (c.name == "inlined") != (len(found) == 0) || !strings.Contains(codes, c.findings) {
				t.Errorf("%s: fsck finds %s", c.name, codes)
			}
		}
		if _, err := os.Stat(external); err != nil {
			t.Error(err)
		}
	})
}
