package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/eiderdb/eider/kv/kvtest"
	"github.com/eiderdb/eider/kv/memkv"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate"
)

// startReal serves real sessions over an in-memory store with one catalog, lake.
func startReal(t testing.TB, o Options) *testServer {
	t.Helper()
	st, err := store.Open(context.Background(), kvtest.Spoil(memkv.New()), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	if err := st.CreateCatalog(context.Background(), "lake"); err != nil {
		t.Fatal(err)
	}
	deps := translate.Deps{Store: st, Shared: translate.NewShared(translate.SharedOptions{}), Version: "test"}
	o.Backend = BackendFunc(func(_ context.Context, so translate.SessionOptions) (Session, error) {
		s, err := translate.NewSession(deps, so)
		if err != nil {
			return nil, err
		}
		return s, nil
	})
	return start(t, o)
}

// real connects by messages.
func (s *testServer) real(t testing.TB) *client {
	t.Helper()
	c := s.dial(t)
	c.send(&pgproto3.StartupMessage{ProtocolVersion: 196608, Parameters: map[string]string{"user": "eider", "database": "lake"}})
	for {
		switch got := c.receive(); got {
		case "R", "S", "K":
		case "Z:I":
			return c
		default:
			t.Fatalf("startup: %s", got)
		}
	}
}

// pgx connects by a driver.
func (s *testServer) pgx(t testing.TB, params string) *pgx.Conn {
	t.Helper()
	host, port, _ := net.SplitHostPort(s.addr)
	c, err := pgx.Connect(context.Background(), fmt.Sprintf("host=%s port=%s user=eider dbname=lake sslmode=disable %s", host, port, params))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// script sends queries and compares the answers.
func (c *client) script(lines ...string) {
	c.t.Helper()
	for i := 0; i+1 < len(lines); i += 2 {
		c.query(lines[i])
		c.expect(lines[i+1])
	}
}

// What libpq is told at startup.
func TestParameterStatus(t *testing.T) {
	t.Parallel()
	s := startReal(t, Options{})
	c := s.pgx(t, "application_name=app options='-c statement_timeout=12345'").PgConn()
	for name, want := range map[string]string{
		"server_encoding": "UTF8", "client_encoding": "UTF8", "DateStyle": "ISO, MDY", "IntervalStyle": "postgres",
		"integer_datetimes": "on", "standard_conforming_strings": "on", "in_hot_standby": "off",
		"default_transaction_read_only": "off", "application_name": "app", "session_authorization": "eider",
	} {
		if got := c.ParameterStatus(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if c.ParameterStatus("server_version") == "" || c.ParameterStatus("TimeZone") == "" {
		t.Error("no server_version or TimeZone")
	}
	res, err := c.Exec(context.Background(), "SHOW statement_timeout").ReadAll()
	if err != nil || string(res[0].Rows[0][0]) != "12345ms" {
		t.Errorf("options: %v, %v", res, err)
	}
	if _, err := c.Exec(context.Background(), "SET application_name = 'other'").ReadAll(); err != nil {
		t.Fatal(err)
	}
	if got := c.ParameterStatus("application_name"); got != "other" {
		t.Errorf("application_name is %q", got)
	}
	_, err = s.pgconn(t, "user=eider dbname=nothere sslmode=disable")
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != "3D000" || pg.Severity != "FATAL" || pg.Message != `database "nothere" does not exist` {
		t.Errorf("unknown database: %v", err)
	}
}

// B15a, B36 and the multi-statement traps: the status byte, tags and implicit
// transactions.
func TestTransactions(t *testing.T) {
	t.Parallel()
	c := startReal(t, Options{}).real(t)
	c.script(
		"CREATE TABLE t (a int PRIMARY KEY)", "C:CREATE_TABLE Z:I",
		"BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ;\nSELECT 1;\nSELECT 2 WHERE false;\n", "C:BEGIN T D:1 C:SELECT_1 T C:SELECT_0 Z:T",
		"ROLLBACK", "C:ROLLBACK Z:I",
		// B15a as separate messages. The COMMIT is an error: the client takes a ROLLBACK tag
		// for success.
		"BEGIN", "C:BEGIN Z:T",
		"INSERT INTO t VALUES (1)", "C:INSERT_0_1 Z:T",
		"INSERT INTO t VALUES (1)", "E:23505 Z:E",
		"SELECT 1", "E:25P02 Z:E",
	)
	c.query("COMMIT")
	if got := c.receive(); !strings.HasPrefix(got, "E:") {
		t.Errorf("COMMIT of a failed transaction: %s", got)
	}
	c.expect("Z:I")
	c.script("SELECT a FROM t", "T C:SELECT_0 Z:I")
	// As one message: everything is skipped after the error, the block stays failed.
	c.script(
		"BEGIN; INSERT INTO t VALUES (1); INSERT INTO nothere VALUES (1); COMMIT", "C:BEGIN C:INSERT_0_1 E:42P01 Z:E",
		"ROLLBACK", "C:ROLLBACK Z:I",
		"SELECT a FROM t", "T C:SELECT_0 Z:I",
		// An implicit transaction is one.
		"INSERT INTO t VALUES (1); INSERT INTO t VALUES (1)", "C:INSERT_0_1 E:23505 Z:I",
		"SELECT a FROM t", "T C:SELECT_0 Z:I",
		"INSERT INTO t VALUES (1); INSERT INTO t VALUES (2);", "C:INSERT_0_1 C:INSERT_0_1 Z:I",
		// B36.
		"DISCARD ALL", "C:DISCARD_ALL Z:I",
		"SELECT 1", "T D:1 C:SELECT_1 Z:I",
		"BEGIN", "C:BEGIN Z:T",
		"DISCARD ALL", "E:25001 Z:E",
		"ROLLBACK", "C:ROLLBACK Z:I",
		"ROLLBACK", "N:25P01 C:ROLLBACK Z:I",
		"SELECT 1", "T D:1 C:SELECT_1 Z:I",
		"", "I Z:I",
		";", "I Z:I",
		"SELECT 1; \n", "T D:1 C:SELECT_1 Z:I",
		"SELECT 1", "T D:1 C:SELECT_1 Z:I",
		"BEGIN; SELECT nothere", "C:BEGIN E:42703 Z:E",
		"ROLLBACK", "C:ROLLBACK Z:I",
		"COMMIT", "N:25P01 C:COMMIT Z:I",
		"BEGIN; COMMIT; SELECT 1", "C:BEGIN C:COMMIT T D:1 C:SELECT_1 Z:I",
	)
}

// B02a and B02d: the words that make DuckLake retry are in the texts of lost races and
// in no other.
func TestErrorTexts(t *testing.T) {
	t.Parallel()
	c := startReal(t, Options{}).pgx(t, "")
	ctx := context.Background()
	exec := func(sql string) *pgconn.PgError {
		t.Helper()
		_, err := c.PgConn().Exec(ctx, sql).ReadAll()
		var pg *pgconn.PgError
		if err != nil && !errors.As(err, &pg) {
			t.Fatalf("%s: %v", sql, err)
		}
		return pg
	}
	exec("CREATE TABLE ducklake_snapshot (snapshot_id bigint PRIMARY KEY, n int NOT NULL)")
	exec("INSERT INTO ducklake_snapshot VALUES (1, 1)")
	exec("SET lc_messages TO 'pl_PL.UTF-8'")
	if e := exec("INSERT INTO ducklake_snapshot VALUES (1, 1)"); e == nil || e.Code != "23505" ||
		e.Message != `duplicate key value violates unique constraint "ducklake_snapshot_pkey"` {
		t.Errorf("duplicate: %v", e)
	}
	for sql, code := range map[string]string{
		"SELECT * FROM nothere":                          "42P01",
		"SELECT nothere FROM ducklake_snapshot":          "42703",
		"INSERT INTO ducklake_snapshot VALUES ('x', 1)":  "22P02",
		"INSERT INTO ducklake_snapshot VALUES (2, NULL)": "23502",
		"SELECT FROM WHERE":                              "42601",
		"INSERT INTO ducklake_snapshot VALUES (2, true)": "42804",
		"SELECT 1/0": "22012",
		"SELECT * FROM \"unique concurrent primary key\"": "42P01",
	} {
		e := exec(sql)
		if e == nil || e.Code != code {
			t.Errorf("%s: %v, want %s", sql, e, code)
			continue
		}
		text := strings.ToLower(e.Message + e.Detail + e.Hint)
		for _, w := range retryWords {
			if strings.Contains(text, w) {
				t.Errorf("%s: the text says %q: %s", sql, w, text)
			}
		}
	}
	if e := exec("SELECT\n  nothere"); e == nil || e.Position != 10 {
		t.Errorf("position: %+v", e)
	}
}

var copyHeader = []byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00")

// The extension's way to read and write tables.
func TestCopyReal(t *testing.T) {
	t.Parallel()
	c := startReal(t, Options{}).real(t)
	c.script("CREATE TABLE t (a bigint, b varchar)", "C:CREATE_TABLE Z:I")

	// Header and trailer of an empty table come in one message.
	c.script(`COPY (SELECT "a", "b" FROM "public"."t" ) TO STDOUT (FORMAT "binary");`, "H d:21 c C:COPY_0 Z:I")

	tuples := func(n int) []byte {
		var b []byte
		for i := range n {
			b = binary.BigEndian.AppendUint16(b, 2)
			b = binary.BigEndian.AppendUint32(b, 8)
			b = binary.BigEndian.AppendUint64(b, uint64(i))
			b = binary.BigEndian.AppendUint32(b, 1)
			b = append(b, 'x')
		}
		return b
	}
	c.query(`COPY "public"."t" FROM STDIN (FORMAT BINARY)`)
	c.expect("G")
	c.send(&pgproto3.CopyData{Data: copyHeader}, &pgproto3.CopyData{Data: tuples(3000)}, &pgproto3.CopyData{Data: []byte{0xff, 0xff}}, &pgproto3.CopyDone{})
	c.expect("C:COPY_3000 Z:I")

	// Whole rows in every message, the header in the first.
	c.query(`COPY (SELECT "a" FROM "public"."t" ) TO STDOUT (FORMAT "binary");`)
	c.expect("H")
	rows, first := 0, true
	for done := false; !done; {
		m, err := c.f.Receive()
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case *pgproto3.CopyData:
			p := m.Data
			if first {
				if !bytes.HasPrefix(p, copyHeader) || len(p) == len(copyHeader) {
					t.Fatalf("first message %q", p[:min(30, len(p))])
				}
				p, first = p[len(copyHeader):], false
			}
			for len(p) > 0 {
				if bytes.Equal(p, []byte{0xff, 0xff}) {
					break
				}
				if len(p) < 14 || binary.BigEndian.Uint16(p) != 1 || binary.BigEndian.Uint32(p[2:]) != 8 {
					t.Fatalf("row %d straddles a message", rows)
				}
				rows++
				p = p[14:]
			}
		case *pgproto3.CopyDone:
			done = true
		}
	}
	c.expect("C:COPY_3000 Z:I")
	if rows != 3000 {
		t.Errorf("%d rows", rows)
	}

	// An abandoned COPY, bad data, a missing column: the error comes after the data, and the
	// block has failed.
	c.script("BEGIN", "C:BEGIN Z:T")
	c.query(`COPY t FROM STDIN (FORMAT BINARY)`)
	c.expect("G")
	c.send(&pgproto3.CopyData{Data: copyHeader}, &pgproto3.CopyFail{Message: "COPY terminated by new PQexec"})
	c.expect("E:57014 Z:E")
	c.script("ROLLBACK", "C:ROLLBACK Z:I")
	for _, bad := range []string{"nonsense that is no header at all", string(copyHeader) + "\x00\x03\x00\x00", string(copyHeader) + "\x00\x02\x00\x00\x00\x03abc\x00\x00\x00\x01x"} {
		c.query(`BEGIN; COPY t FROM STDIN (FORMAT BINARY)`)
		c.expect("C:BEGIN G")
		c.send(&pgproto3.CopyData{Data: []byte(bad)}, &pgproto3.CopyData{Data: bytes.Repeat([]byte("x"), 100_000)})
		c.send(&pgproto3.CopyData{Data: []byte("more")}, &pgproto3.CopyDone{})
		if got := c.receive(); !strings.HasPrefix(got, "E:22P0") && !strings.HasPrefix(got, "E:08P01") {
			t.Errorf("bad data: %s", got)
		}
		c.expect("Z:E")
		c.script("ROLLBACK", "C:ROLLBACK Z:I")
	}
	c.script("COPY t (nothere) FROM STDIN", "E:42703 Z:I")

	// The text form with a backspace as NULL, ended by \. as well.
	c.script("TRUNCATE t", "C:TRUNCATE_TABLE Z:I")
	c.query("COPY t FROM STDIN (FORMAT TEXT, NULL '\b')")
	c.expect("G")
	c.send(data("1\ta\n2\t"), data("\b\n"), data("\\.\n"), &pgproto3.CopyDone{})
	c.expect("C:COPY_2 Z:I")
	c.script(
		"SELECT a, b FROM t ORDER BY a", "T D:1|a D:2| C:SELECT_2 Z:I",
		"COPY t TO STDOUT", "H d:4 d:5 c C:COPY_2 Z:I",
	)
}

// postgres_query: Parse and Describe of the unnamed statement, each with its own Sync,
// then COPY of the same text as a subquery.
func TestPostgresQuery(t *testing.T) {
	t.Parallel()
	c := startReal(t, Options{}).real(t)
	sync := &pgproto3.Sync{}
	c.script("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ", "C:BEGIN Z:T")
	c.send(&pgproto3.Parse{Query: "SELECT 1 AS a, 'x' AS b"}, sync)
	c.expect("1 Z:T")
	c.send(&pgproto3.Describe{ObjectType: 'S'}, sync)
	c.expect("t T Z:T")
	c.script(`COPY (SELECT "a", "b" FROM (SELECT 1 AS a, 'x' AS b) AS __unnamed_subquery ) TO STDOUT (FORMAT "binary");`, "")
	c.expect("H")
	for c.receive() != "Z:T" {
	}
	c.script("COMMIT", "C:COMMIT Z:I")
	// A failing Parse fails the block.
	c.script("BEGIN", "C:BEGIN Z:T")
	c.send(&pgproto3.Parse{Query: "SELECT * FROM nothere"}, sync)
	c.expect("E:42P01 Z:E")
	c.script("ROLLBACK", "C:ROLLBACK Z:I")
}

// The driver's ways: parameters, binary results, batches, COPY FROM.
func TestDriver(t *testing.T) {
	t.Parallel()
	c := startReal(t, Options{}).pgx(t, "")
	ctx := context.Background()
	if _, err := c.Exec(ctx, "CREATE TABLE t (a bigint PRIMARY KEY, b text, c timestamptz)"); err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	for i := range 3 {
		if tag, err := c.Exec(ctx, "INSERT INTO t VALUES ($1, $2, $3)", i, fmt.Sprint("row ", i), now); err != nil || tag.RowsAffected() != 1 {
			t.Fatalf("insert: %v, %v", tag, err)
		}
	}
	var a int64
	var b string
	var at time.Time
	if err := c.QueryRow(ctx, "SELECT a, b, c FROM t WHERE a = $1", 2).Scan(&a, &b, &at); err != nil || a != 2 || b != "row 2" || !at.Equal(now) {
		t.Errorf("got %d %q %v, %v", a, b, at, err)
	}
	batch := &pgx.Batch{}
	for i := range 100 {
		batch.Queue("SELECT $1::int + 1", i)
	}
	if err := c.SendBatch(ctx, batch).Close(); err != nil {
		t.Error(err)
	}
	n, err := c.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"a", "b"}, pgx.CopyFromSlice(5000, func(i int) ([]any, error) {
		return []any{int64(i + 100), "copied"}, nil
	}))
	if err != nil || n != 5000 {
		t.Errorf("copied %d, %v", n, err)
	}
	// A COPY that fails on the way leaves a usable connection.
	_, err = c.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"a"}, pgx.CopyFromSlice(100_000, func(int) ([]any, error) { return []any{int64(1)}, nil }))
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != "23505" {
		t.Errorf("copy of a duplicate: %v", err)
	}
	if err := c.QueryRow(ctx, "SELECT count(*) FROM t").Scan(&a); err != nil || a != 5003 {
		t.Errorf("count %d, %v", a, err)
	}
	// A context that ends cancels the statement at the server.
	cctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if _, err := c.Exec(cctx, "SELECT pg_sleep(60)"); err == nil {
		t.Error("a sleep of a minute ended")
	}
}

// 57014 for a statement that a cancel request has stopped, and the session goes on.
func TestCancelReal(t *testing.T) {
	t.Parallel()
	c := startReal(t, Options{}).pgx(t, "").PgConn()
	ctx := context.Background()
	go func() {
		time.Sleep(20 * time.Millisecond)
		c.CancelRequest(ctx)
	}()
	_, err := c.Exec(ctx, "BEGIN; SELECT pg_sleep(60)").ReadAll()
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != "57014" || pg.Message != "canceling statement due to user request" || c.TxStatus() != 'E' {
		t.Errorf("got %v, status %c", err, c.TxStatus())
	}
	if _, err := c.Exec(ctx, "ROLLBACK; SET statement_timeout = 20").ReadAll(); err != nil {
		t.Fatal(err)
	}
	_, err = c.Exec(ctx, "SELECT pg_sleep(60)").ReadAll()
	if !errors.As(err, &pg) || pg.Code != "57014" || pg.Message != "canceling statement due to statement timeout" {
		t.Errorf("got %v", err)
	}
}

// B33c: four hundred sessions, all open at once, and the last one is answered.
func TestManySessions(t *testing.T) {
	t.Parallel()
	s := startReal(t, Options{})
	const n = 400
	conns := make([]*pgconn.PgConn, n)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := w; i < n; i += 8 {
				c, err := s.pgconn(t, "user=eider sslmode=disable")
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := c.Exec(context.Background(), "SELECT 1").ReadAll(); err != nil {
					t.Error(err)
				}
				conns[i] = c
			}
		})
	}
	wg.Wait()
	s.mu.Lock()
	got := len(s.mu.byPID)
	s.mu.Unlock()
	if got != n {
		t.Errorf("%d sessions", got)
	}
	for _, c := range conns {
		if c == nil {
			continue
		}
		if _, err := c.Exec(context.Background(), "SELECT 1").ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
}

// LISTEN and NOTIFY between two sessions.
func TestListen(t *testing.T) {
	t.Parallel()
	s := startReal(t, Options{})
	a, b := s.real(t), s.real(t)
	a.script("LISTEN c", "C:LISTEN Z:I")
	b.script("NOTIFY c, 'hello'", "C:NOTIFY Z:I")
	a.expect("A:hello")
	a.script("BEGIN", "C:BEGIN Z:T")
	b.script("NOTIFY c, 'later'", "C:NOTIFY Z:I")
	a.script("SELECT 1", "T D:1 C:SELECT_1 Z:T", "COMMIT", "C:COMMIT A:later Z:I")
	a.script("NOTIFY c, 'me'", "C:NOTIFY A:me Z:I")
}

// A connection that is cut loses what it had not committed.
func TestDisconnect(t *testing.T) {
	t.Parallel()
	s := startReal(t, Options{})
	a, b := s.real(t), s.real(t)
	a.script("CREATE TABLE t (a int)", "C:CREATE_TABLE Z:I", "BEGIN; INSERT INTO t VALUES (1)", "C:BEGIN C:INSERT_0_1 Z:T")
	a.nc.Close()
	b.script("SELECT a FROM t", "T C:SELECT_0 Z:I")
}
