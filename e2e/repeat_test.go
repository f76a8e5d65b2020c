package e2e

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/e2e/internal/duck"
)

// cutter is a proxy that, once armed, lets the next COMMIT through, waits for its answer, and cuts the connection instead of passing it on.
type cutter struct {
	l     net.Listener
	to    string
	armed atomic.Bool
	cuts  atomic.Int32
	wg    sync.WaitGroup
}

func newCutter(t *testing.T, port int) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{l: l, to: fmt.Sprintf("127.0.0.1:%d", port)}
	c.wg.Add(1)
	go func() {
		defer c.wg.Done()
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			c.wg.Add(1)
			go c.serve(from)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); c.wg.Wait() })
	return c
}

func (c *cutter) serve(client net.Conn) {
	defer c.wg.Done()
	defer client.Close()
	server, err := net.Dial("tcp", c.to)
	if err != nil {
		return
	}
	defer server.Close()
	var cut atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer client.Close()
		defer server.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := server.Read(buf)
			if cut.Load() || err != nil {
				return
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	startup := true
	for {
		head := make([]byte, 5)
		if startup {
			head = head[:4]
		}
		if _, err := io.ReadFull(client, head); err != nil {
			break
		}
		body := make([]byte, int(binary.BigEndian.Uint32(head[len(head)-4:]))-4)
		if _, err := io.ReadFull(client, body); err != nil {
			break
		}
		if !startup && head[0] == 'Q' && strings.EqualFold(string(bytes.Trim(body, "\x00 ;")), "COMMIT") && c.armed.CompareAndSwap(true, false) {
			cut.Store(true)
			c.cuts.Add(1)
		}
		startup = false
		if _, err := server.Write(append(head, body...)); err != nil {
			break
		}
	}
	_ = server.Close()
	<-done
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
	inst, err := duck.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer inst.Close()
	d, err := inst.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, sql := range []string{
		fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s')", s.DSN(db), t.TempDir()),
		"CREATE TABLE lake.t AS SELECT range AS i FROM range(100)",
	} {
		if _, err := d.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	proxy := newCutter(t, s.Port())
	connect := func(port int) *pgconn.PgConn {
		t.Helper()
		c, err := pgconn.Connect(ctx, fmt.Sprintf("host=127.0.0.1 port=%d user=eider dbname=%s sslmode=disable", port, db))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close(ctx) })
		return c
	}
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
	before := one(ctx, t, connect(s.Port()), "SELECT max(snapshot_id) FROM ducklake_snapshot")
	proxy.armed.Store(true)
	if err := commit(connect(proxy.l.Addr().(*net.TCPAddr).Port)); err == nil || proxy.cuts.Load() != 1 {
		t.Fatalf("the answer to COMMIT arrived: %v, %d cuts", err, proxy.cuts.Load())
	}
	c := connect(s.Port())
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
