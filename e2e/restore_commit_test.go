package e2e

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/eiderdb/eider/e2e/internal/script"
)

// answerer is a proxy that, on connections that insert a snapshot, answers COMMIT itself, with a SQLSTATE. The server is sent what takes its place.
type answerer struct {
	script.Target
	l       net.Listener
	to      string
	code    string
	instead string       // a statement; "COMMIT" to commit all the same
	left    atomic.Int32 // how many are still to be answered so
	wg      sync.WaitGroup
}

func newAnswerer(t *testing.T, target script.Target, code, instead string, times int32) *answerer {
	t.Helper()
	cfg, err := pgconn.ParseConfig(target.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a := &answerer{Target: target, l: l, to: net.JoinHostPort(cfg.Host, fmt.Sprint(cfg.Port)), code: code, instead: instead}
	a.left.Store(times)
	a.wg.Add(1)
	go func() {
		defer a.wg.Done()
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			a.wg.Add(1)
			go a.serve(from)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); a.wg.Wait() })
	return a
}

// DSN is the target's, through the proxy.
func (a *answerer) DSN(db string) string {
	cfg, err := pgconn.ParseConfig(a.Target.DSN(db))
	if err != nil {
		return ""
	}
	_, port, _ := net.SplitHostPort(a.l.Addr().String())
	return fmt.Sprintf("host=127.0.0.1 port=%s user=%s dbname=%s sslmode=disable", port, cfg.User, db)
}

func (a *answerer) serve(client net.Conn) {
	defer a.wg.Done()
	defer client.Close()
	server, err := net.Dial("tcp", a.to)
	if err != nil {
		return
	}
	defer server.Close()
	var swallow atomic.Bool // the next answer
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer client.Close()
		defer server.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := server.Read(buf)
			if err != nil {
				return
			}
			out := buf[:n]
			if swallow.Load() {
				if !bytes.Contains(out, []byte("Z\x00\x00\x00\x05")) {
					continue
				}
				swallow.Store(false)
				if out, err = (&pgproto3.ErrorResponse{Severity: "ERROR", Code: a.code, Message: "answered by the test"}).Encode(nil); err != nil {
					return
				}
				if out, err = (&pgproto3.ReadyForQuery{TxStatus: 'I'}).Encode(out); err != nil {
					return
				}
			}
			if _, err := client.Write(out); err != nil {
				return
			}
		}
	}()
	commits := false // the connection has inserted a snapshot
	for startup := true; ; startup = false {
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
		message := append(head, body...)
		if sql := string(bytes.Trim(body, "\x00 ;")); !startup && head[0] == 'Q' {
			commits = commits || strings.HasPrefix(sql, "INSERT INTO") && strings.Contains(sql, "ducklake_snapshot")
			if commits && strings.EqualFold(sql, "COMMIT") && a.left.Add(-1) >= 0 {
				swallow.Store(true)
				if message, err = (&pgproto3.Query{String: a.instead}).Encode(nil); err != nil {
					break
				}
			}
		}
		if _, err := server.Write(message); err != nil {
			break
		}
	}
	_ = server.Close()
	<-done
}

// TestRestoreCommit answers the COMMIT of a restore with errors. Unless the code is one of a refusal the snapshot may be there, and with it the files
// must be.
func TestRestoreCommit(t *testing.T) {
	for _, c := range []struct {
		name, code, instead string
		times               int32
		exit                int
		restored            bool // the newest snapshot is the old one
		files               int  // that are new
	}{
		{name: "unknown, and it is there", code: "08007", instead: "COMMIT", times: 1, exit: 1, restored: true, files: 1},
		{name: "unknown, and it is not there", code: "08007", instead: "ROLLBACK", times: 1, exit: 1, files: 1},
		{name: "a shutdown, and it is there", code: "57P01", instead: "COMMIT", times: 1, exit: 1, restored: true, files: 1},
		{name: "refused", code: "23514", instead: "ROLLBACK", times: 1, exit: 1},
		{name: "a lost race", code: "40001", instead: "ROLLBACK", times: 1, restored: true, files: 1},
		{name: "lost races without end", code: "40001", instead: "ROLLBACK", times: 1000, exit: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
				data := t.TempDir()
				db := databaseOf(t, dsn)
				s := lakeSession(ctx, t, dsn, data)
				for _, sql := range []string{"CREATE TABLE main.a (i BIGINT)", "INSERT INTO main.a SELECT i FROM range(50) t(i)"} {
					mustDuck(ctx, t, s, sql)
				}
				old := int64(headSnapshot(ctx, t, dsn))
				mustDuck(ctx, t, s, "DELETE FROM main.a WHERE i < 40")
				before := map[bool]map[string]string{true: lakeVersion(ctx, t, dsn, data, old), false: lakeVersion(ctx, t, dsn, data, int64(headSnapshot(ctx, t, dsn)))}
				count := func() int {
					list, err := filepath.Glob(filepath.Join(data, "main", "a", "*.parquet"))
					if err != nil {
						t.Fatal(err)
					}
					return len(list)
				}
				files := count()
				code, res, errs := runRestore(ctx, t, newAnswerer(t, target, c.code, c.instead, c.times), db, fmt.Sprint(old))
				if unknown := c.exit != 0 && c.files > 0; code != c.exit || strings.Contains(errs, "it is not known whether the new snapshot was committed") != unknown {
					t.Errorf("exit code %d, %+v\n%s", code, res, errs)
				}
				if n := count() - files; n != c.files {
					t.Errorf("%d new files, want %d", n, c.files)
				}
				if diff := cmp.Diff(before[c.restored], lakeVersion(ctx, t, dsn, data, int64(headSnapshot(ctx, t, dsn)))); diff != "" {
					t.Error(diff)
				}
				if err := healthy(ctx, target, db); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
