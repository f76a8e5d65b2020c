package e2e

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/script"
)

// The published failures that need more than a script: bytes, cut connections, races. Their ids are those of the case list; the others are in
// testdata/scripts/cases.

// onBoth runs a case on each server in a database of its own.
func onBoth(t *testing.T, run func(ctx context.Context, t *testing.T, target script.Target, dsn string)) {
	t.Parallel()
	for _, target := range targets(t) {
		t.Run(target.Name(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			db := newDatabase()
			if err := target.CreateDatabase(ctx, db); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = target.DropDatabase(ctx, db) }()
			run(ctx, t, target, target.DSN(db))
		})
	}
}

func connect(ctx context.Context, t testing.TB, dsn string) *pgconn.PgConn {
	t.Helper()
	c, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func mustExec(ctx context.Context, t testing.TB, c *pgconn.PgConn, sql string) []*pgconn.Result {
	t.Helper()
	res, err := c.Exec(ctx, sql).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return res
}

// one is the single value of a query.
func one(ctx context.Context, t testing.TB, c *pgconn.PgConn, sql string) string {
	t.Helper()
	res := mustExec(ctx, t, c, sql)
	last := res[len(res)-1]
	if len(last.Rows) != 1 || len(last.Rows[0]) != 1 {
		t.Fatalf("%s: %d rows", sql, len(last.Rows))
	}
	return string(last.Rows[0][0])
}

func pgError(err error) *pgconn.PgError {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e
	}
	return &pgconn.PgError{Message: fmt.Sprint(err)}
}

// retryWords are what a DuckLake client looks for in an error before it tries a commit again.
var retryWords = []string{"primary key", "unique", "conflict", "concurrent"}

func retryable(e *pgconn.PgError) bool {
	text := strings.ToLower(e.Message + "\n" + e.Detail + "\n" + e.Hint)
	for _, w := range retryWords {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

const snapshotTable = "CREATE TABLE ducklake_snapshot (snapshot_id bigint PRIMARY KEY, snapshot_time timestamptz, schema_version bigint, next_catalog_id bigint, next_file_id bigint)"

// B02a: whatever language a session asks for, a lost race is told in the English words that the client's retry looks for.
func TestB02a(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, _ script.Target, dsn string) {
		c := connect(ctx, t, dsn)
		_, _ = c.Exec(ctx, "SET lc_messages = 'pl_PL.UTF-8'").ReadAll() // may be refused: that is fine
		mustExec(ctx, t, c, snapshotTable)
		mustExec(ctx, t, c, "INSERT INTO ducklake_snapshot VALUES (1, now(), 0, 1, 0)")
		_, err := c.Exec(ctx, "INSERT INTO ducklake_snapshot VALUES (1, now(), 0, 1, 0)").ReadAll()
		e := pgError(err)
		if e.Code != "23505" || e.Message != `duplicate key value violates unique constraint "ducklake_snapshot_pkey"` {
			t.Errorf("got %s %s", e.Code, e.Message)
		}
	})
}

// B15a at the protocol's level: the status byte, and COMMIT of a failed transaction. PostgreSQL answers that with the tag ROLLBACK, which DuckDB
// takes for success; eider answers with an error.
func TestB15a(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		c := connect(ctx, t, dsn)
		mustExec(ctx, t, c, snapshotTable)
		mustExec(ctx, t, c, "BEGIN; INSERT INTO ducklake_snapshot VALUES (1, now(), 0, 1, 0)")
		if c.TxStatus() != 'T' {
			t.Errorf("status %c in a transaction", c.TxStatus())
		}
		if _, err := c.Exec(ctx, "INSERT INTO ducklake_snapshot VALUES (1, now(), 0, 1, 0)").ReadAll(); pgError(err).Code != "23505" {
			t.Errorf("got %v", err)
		}
		if c.TxStatus() != 'E' {
			t.Errorf("status %c in a failed transaction", c.TxStatus())
		}
		res, err := c.Exec(ctx, "COMMIT").ReadAll()
		switch {
		case target.Name() == "eider":
			if e := pgError(err); e.Code != "25P02" || retryable(e) {
				t.Errorf("COMMIT of a failed transaction: %v", err)
			}
		case err != nil || res[0].CommandTag.String() != "ROLLBACK":
			t.Errorf("COMMIT of a failed transaction: %v", err)
		}
		if c.TxStatus() != 'I' {
			t.Errorf("status %c after it", c.TxStatus())
		}
		if n := one(ctx, t, c, "SELECT count(*) FROM ducklake_snapshot"); n != "0" {
			t.Errorf("%s rows are stored", n)
		}
	})
}

// B57a: a migration whose connection is cut before COMMIT leaves nothing behind.
func TestB57a(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, _ script.Target, dsn string) {
		inst, err := duck.Open(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer inst.Close()
		lake, err := inst.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		attach := fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s')", dsn, t.TempDir())
		for _, sql := range []string{attach, "CREATE TABLE lake.t (i INTEGER)", "INSERT INTO lake.t VALUES (1)"} {
			if _, err := lake.Exec(ctx, sql); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
		before := columns(ctx, t, dsn)
		c := connect(ctx, t, dsn)
		for _, sql := range []string{
			"BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ",
			`ALTER TABLE "public"."ducklake_data_file" ADD COLUMN  "new_column" BIGINT DEFAULT NULL`,
			`ALTER TABLE "public"."ducklake_column" ADD COLUMN  "flag" VARCHAR DEFAULT 'literal'`,
			`CREATE TABLE "public"."ducklake_extra"("a" BIGINT, "b" VARCHAR);`,
			`ALTER TABLE "public"."ducklake_data_file" DROP COLUMN "partial_max"`,
			`ALTER TABLE "public"."ducklake_table" RENAME COLUMN "table_name" TO "name"`,
			`ALTER TABLE "public"."ducklake_view" RENAME TO "ducklake_views"`,
			`UPDATE "public"."ducklake_metadata" SET "value" = '9.9' WHERE "key" = 'version'`,
		} {
			mustExec(ctx, t, c, sql)
		}
		if err := c.Conn().Close(); err != nil {
			t.Fatal(err)
		}
		if after := columns(ctx, t, dsn); after != before {
			t.Errorf("the catalog changed from\n%s\nto\n%s", before, after)
		}
		d := connect(ctx, t, dsn)
		if v := one(ctx, t, d, "SELECT value FROM ducklake_metadata WHERE key = 'version'"); v != "1.0" {
			t.Errorf("version is %s", v)
		}
		if _, err := lake.Exec(ctx, "INSERT INTO lake.t VALUES (2)"); err != nil {
			t.Error(err)
		}
		res, err := lake.Query(ctx, "SELECT count(*) FROM lake.t")
		if err != nil || len(res.Rows) != 1 || res.Rows[0][0] != "2" {
			t.Errorf("got %v, %v", res.Rows, err)
		}
	})
}

// columns lists all columns of the public schema.
func columns(ctx context.Context, t *testing.T, dsn string) string {
	c := connect(ctx, t, dsn)
	return one(ctx, t, c, "SELECT string_agg(c.relname || '.' || a.attname, ' ' ORDER BY c.relname, a.attnum) FROM pg_class c "+
		"JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid "+
		"WHERE n.nspname = 'public' AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped")
}

// B43c: binary COPY of a value with a NUL byte: BYTEA keeps it, VARCHAR keeps it or refuses it; nothing is cut.
func TestB43c(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, _ script.Target, dsn string) {
		c := connect(ctx, t, dsn)
		value := []byte("a\x00b")
		for _, typ := range []string{"bytea", "varchar"} {
			mustExec(ctx, t, c, "CREATE TABLE t_"+typ+" (v "+typ+")")
			_, err := c.CopyFrom(ctx, bytes.NewReader(copyBinary([][]byte{value})), "COPY t_"+typ+" FROM STDIN (FORMAT BINARY)")
			if err != nil {
				if e := pgError(err); typ == "bytea" || e.Code != "22021" {
					t.Errorf("%s: %s %s", typ, e.Code, e.Message)
				}
				continue
			}
			var out bytes.Buffer
			if _, err := c.CopyTo(ctx, &out, "COPY t_"+typ+" TO STDOUT (FORMAT BINARY)"); err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(out.Bytes(), append([]byte{0, 0, 0, 3}, value...)) {
				t.Errorf("%s: the value came back as %x", typ, out.Bytes())
			}
		}
	})
}

// copyBinary encodes rows of one column in the binary COPY format.
func copyBinary(values [][]byte) []byte {
	out := []byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	for _, v := range values {
		out = binary.BigEndian.AppendUint16(out, 1)
		out = binary.BigEndian.AppendUint32(out, uint32(len(v)))
		out = append(out, v...)
	}
	return append(out, 0xff, 0xff)
}

// B35: the ways of asking for encryption.
func TestB35(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, _ script.Target, dsn string) {
		plain := strings.Replace(dsn, "sslmode=disable", "", 1)
		for _, mode := range []string{"disable", "allow", "prefer"} {
			c, err := pgconn.Connect(ctx, plain+" sslmode="+mode)
			if err != nil {
				t.Errorf("sslmode=%s: %v", mode, err)
				continue
			}
			_ = c.Close(ctx)
		}
		c, err := pgconn.Connect(ctx, plain+" sslmode=require")
		if err == nil {
			_ = c.Close(ctx)
		} else if text := strings.ToLower(err.Error()); !strings.Contains(text, "tls") && !strings.Contains(text, "ssl") {
			t.Errorf("sslmode=require: %v", err)
		}
		// The real libpq, in DuckDB, asks for GSSAPI encryption where it was built with it.
		s := newDuck(ctx, t)
		for i, opt := range []string{"sslmode=prefer", "sslmode=allow", "gssencmode=prefer", "sslmode=prefer gssencmode=prefer"} {
			if _, err := s.Exec(ctx, fmt.Sprintf("ATTACH '%s %s' AS p%d (TYPE postgres)", plain, opt, i)); err != nil && !strings.Contains(err.Error(), "gssencmode") {
				t.Errorf("%s: %v", opt, err)
			}
		}
	})
}

// G23a: two sessions insert the same snapshot id at once, many times: exactly one wins, the other is told to retry.
func TestG23a(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, _ script.Target, dsn string) {
		mustExec(ctx, t, connect(ctx, t, dsn), snapshotTable)
		const rounds, sessions = 40, 3
		conns := make([]*pgconn.PgConn, sessions)
		for i := range conns {
			conns[i] = connect(ctx, t, dsn)
		}
		for id := range rounds {
			errs := make([]error, sessions)
			var wg sync.WaitGroup
			for i, c := range conns {
				wg.Add(1)
				go func() {
					defer wg.Done()
					if _, errs[i] = c.Exec(ctx, "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ").ReadAll(); errs[i] != nil {
						return
					}
					if _, errs[i] = c.Exec(ctx, fmt.Sprintf("INSERT INTO ducklake_snapshot VALUES (%d, NOW(), 0, 1, 0)", id)).ReadAll(); errs[i] != nil {
						_, _ = c.Exec(ctx, "ROLLBACK").ReadAll()
						return
					}
					_, errs[i] = c.Exec(ctx, "COMMIT").ReadAll()
				}()
			}
			wg.Wait()
			won := 0
			for _, err := range errs {
				if err == nil {
					won++
				} else if e := pgError(err); e.Code != "23505" || !retryable(e) {
					t.Fatalf("round %d: %s %s", id, e.Code, e.Message)
				}
			}
			if won != 1 {
				t.Fatalf("round %d: %d sessions won", id, won)
			}
		}
		c := connect(ctx, t, dsn)
		if n := one(ctx, t, c, "SELECT count(*) FROM ducklake_snapshot"); n != fmt.Sprint(rounds) {
			t.Errorf("%s rows after %d rounds", n, rounds)
		}
	})
}
