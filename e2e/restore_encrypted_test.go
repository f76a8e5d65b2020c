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

// TestRestoreEncrypted restores tables of an encrypted lake: what is written can be read with the catalog's keys, a new one for each table, and
// not without.
func TestRestoreEncrypted(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		data, db := t.TempDir(), databaseOf(t, dsn)
		// The build has no OpenSSL.
		const weak = "SET force_mbedtls_unsafe = 'true'"
		init := filepath.Join(t.TempDir(), "init.sql")
		if err := os.WriteFile(init, []byte(weak+";\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		open := func() (do func(sql string) string) {
			s := newDuck(ctx, t)
			do = func(sql string) string { t.Helper(); return strings.Join(mustDuck(ctx, t, s, sql).Lines(), "; ") }
			do(weak)
			do(fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s', ENCRYPTED)", dsn, data))
			do("USE lake")
			return do
		}
		do := open()
		for _, sql := range []string{
			"CREATE TABLE plain AS SELECT i, 'secret ' || i AS v FROM range(500) t(i)", "CREATE TABLE parts (i BIGINT, p INTEGER)", "ALTER TABLE parts SET PARTITIONED BY (p)",
			"INSERT INTO parts SELECT i, i % 3 FROM range(300) t(i)", "CREATE TABLE gone AS SELECT * FROM range(100) t(i)", "UPDATE plain SET v = 'new' WHERE i % 7 = 0", "DELETE FROM plain WHERE i < 20",
		} {
			do(sql)
		}
		content := func(do func(string) string, tables ...string) (out string) {
			t.Helper()
			for _, table := range tables {
				out += do(fmt.Sprintf("SELECT count(*), md5(string_agg(x::VARCHAR, ',' ORDER BY rowid)) FROM (SELECT rowid, * FROM %s) x", table)) + "\n"
			}
			return out
		}
		all := []string{"plain", "parts", "gone"}
		want, old := content(do, all...), headSnapshot(ctx, t, dsn)
		for _, sql := range []string{"DELETE FROM plain WHERE i > 100", "UPDATE parts SET p = 9", "DROP TABLE gone"} {
			do(sql)
		}
		c := connect(ctx, t, dsn)
		before := headSnapshot(ctx, t, dsn)
		code, res, errs := runRestore(ctx, t, target, db, fmt.Sprint(old), "--init-file", init)
		if code != 0 || res.New == 0 {
			t.Fatalf("exit code %d, %+v\n%s", code, res, errs)
		}
		for who, do := range map[string]func(string) string{"the same client": do, "a new one": open()} {
			if got := content(do, all...); got != want {
				t.Errorf("%s reads\n%s, want\n%s", who, got, want)
			}
		}
		if got := one(ctx, t, c, fmt.Sprintf("SELECT (count(*) = count(encryption_key))::text || ' ' || (min(length(encryption_key)) = 24 AND max(length(encryption_key)) = 24)::text || ' ' || "+
			"count(DISTINCT encryption_key) || ' ' || count(DISTINCT table_id) FROM ducklake_data_file WHERE begin_snapshot > %d", before)); got != "true true 3 3" {
			t.Errorf("keys of the new files: %s", got)
		}
		path := one(ctx, t, c, fmt.Sprintf("SELECT max(path) FROM ducklake_data_file WHERE begin_snapshot > %d AND partition_id IS NULL", before))
		bare := newDuck(ctx, t)
		if _, err := bare.Exec(ctx, fmt.Sprintf("SELECT * FROM read_parquet('%s/main/*/%s')", data, path)); err == nil || !strings.Contains(err.Error(), "ncrypt") {
			t.Errorf("a new file is read without its key: %v", err)
		}
		do("INSERT INTO plain SELECT i, 'more' FROM range(1000, 1100) t(i)")
		do("CALL ducklake_merge_adjacent_files('lake')")
		if got := do("SELECT count(*), count(DISTINCT rowid) FROM plain"); got != "580 | 580" {
			t.Errorf("the lake goes on with %s rows and row ids", got)
		}
		if err := healthy(ctx, target, db); err != nil {
			t.Error(err)
		}
	})
}
