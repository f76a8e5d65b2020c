package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/e2e/internal/tap"
)

// commitsProxy is a proxy to the server of a connection string that decides about COMMITs.
func commitsProxy(t *testing.T, dsn string, decide func(batch bool) *tap.Fate) *tap.Commits {
	t.Helper()
	p, err := tap.NewCommits(dsn, decide)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// cutter is a proxy that, once armed, lets the next COMMIT through, waits for its answer, and cuts the connection instead of passing it on.
type cutter struct {
	*tap.Commits
	armed atomic.Bool
	cuts  atomic.Int32
}

func newCutter(t *testing.T, dsn string) *cutter {
	t.Helper()
	c := &cutter{}
	c.Commits = commitsProxy(t, dsn, func(bool) *tap.Fate {
		if !c.armed.CompareAndSwap(true, false) {
			return nil
		}
		c.cuts.Add(1)
		return &tap.Fate{}
	})
	return c
}

// TestLostAcknowledgement loses the answer to a COMMIT. A client that registers the same files again is told that they are committed; they are
// there once.
func TestLostAcknowledgement(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s := privateEider(t)
	const db = "lost"
	if err := s.CreateDatabase(ctx, db); err != nil {
		t.Fatal(err)
	}
	d := newDuck(ctx, t)
	for _, sql := range []string{
		fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s')", s.DSN(db), t.TempDir()),
		"CREATE TABLE lake.t AS SELECT range AS i FROM range(100)",
	} {
		if _, err := d.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	proxy := newCutter(t, s.DSN(db))
	// As a client does: the newest snapshot is read in the transaction, the batch is built on it.
	commit := func(c *pgconn.PgConn) error {
		mustExec(ctx, t, c, "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ")
		head := strings.Split(one(ctx, t, c, "SELECT concat_ws(' ', snapshot_id, schema_version, next_catalog_id, next_file_id) FROM ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1"), " ")
		if len(head) != 4 {
			t.Fatalf("head: %v", head)
		}
		var n, file int
		if _, err := fmt.Sscan(head[0]+" "+head[3], &n, &file); err != nil {
			t.Fatal(err)
		}
		table := one(ctx, t, c, "SELECT table_id FROM ducklake_table WHERE table_name = 't'")
		next := one(ctx, t, c, "SELECT next_row_id FROM ducklake_table_stats WHERE table_id = "+table)
		mustExec(ctx, t, c, fmt.Sprintf(`INSERT INTO "public".ducklake_snapshot VALUES (%[1]d, NOW(), %[2]s, %[3]s, %[4]d);
UPDATE "public".ducklake_table_stats SET record_count=record_count+7, file_size_bytes=file_size_bytes+500, next_row_id=next_row_id+7 WHERE table_id=%[6]s;
INSERT INTO "public".ducklake_data_file VALUES (%[5]d, %[6]s, %[1]d, NULL, NULL, 'ducklake-lost.parquet', true, 'parquet', 7, 500, 100, %[7]s, NULL, NULL, NULL, NULL);
INSERT INTO "public".ducklake_file_column_stats VALUES (%[5]d, %[6]s, 1, 50, 7, 0, '1', '7', NULL, NULL);
INSERT INTO "public".ducklake_snapshot_changes VALUES (%[1]d, 'inserted_into_table:%[6]s', NULL, NULL, NULL);`,
			n+1, head[1], head[2], file+1, file, table, next))
		_, err := c.Exec(ctx, "COMMIT").ReadAll()
		return err
	}
	before := one(ctx, t, connect(ctx, t, s.DSN(db)), "SELECT max(snapshot_id) FROM ducklake_snapshot")
	proxy.armed.Store(true)
	if err := commit(connect(ctx, t, proxy.DSN(s.DSN(db)))); err == nil || proxy.cuts.Load() != 1 {
		t.Fatalf("the answer to COMMIT arrived: %v, %d cuts", err, proxy.cuts.Load())
	}
	c := connect(ctx, t, s.DSN(db))
	stored := one(ctx, t, c, "SELECT max(snapshot_id) FROM ducklake_snapshot")
	if stored == before {
		t.Fatal("the commit whose answer was lost is not there")
	}
	if err := commit(c); err != nil {
		t.Errorf("the same files again: %v", err)
	}
	if got := one(ctx, t, c, "SELECT count(*) FROM ducklake_data_file WHERE path = 'ducklake-lost.parquet'"); got != "1" {
		t.Errorf("the file is registered %s times", got)
	}
	if got := one(ctx, t, c, "SELECT max(snapshot_id) FROM ducklake_snapshot"); got != stored {
		t.Errorf("snapshot %s after snapshot %s", got, stored)
	}
	if got := one(ctx, t, c, "SELECT record_count FROM ducklake_table_stats"); got != "107" {
		t.Errorf("record_count is %s", got)
	}
}
