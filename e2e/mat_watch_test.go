package e2e

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/eiderdb/eider/e2e/internal/script"
	"github.com/eiderdb/eider/materialize/state"
)

// TestMaterializeWatchTrouble has a watch over scripts that never succeed, and over one that writes itself: each is run once for what it waits
// for, while others go on.
func TestMaterializeWatchTrouble(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		p := newMatProject(ctx, t, target, dsn)
		p.sql(ctx, "CREATE TABLE src AS SELECT 1 AS id", "CREATE TABLE other AS SELECT 1 AS id")
		p.write("column.sql", "-- materialize ducklake://lake/c\n-- on ducklake://lake/src\nSELECT nothing FROM lake.src")
		p.write("setup.sql", "-- materialize ducklake://lake/s\n-- on ducklake://lake/src\nCREATE TEMP TABLE x AS SELECT * FROM nothing;\nSELECT * FROM x")
		p.write("syntax.sql", "-- materialize ducklake://lake/y\n-- on ducklake://lake/src\nSELECT FROM WHERE")
		p.write("refused.sql", "-- materialize ducklake://lake/r key=nothing\n-- on ducklake://lake/src\nSELECT * FROM lake.src")
		p.write("manual.sql", "-- materialize manual ducklake://lake/m\n-- on ducklake://lake/src\nATTACH 'ducklake://lake' AS dl;\nCREATE OR REPLACE TABLE dl.m AS SELECT 1 AS a")
		p.write("zlast.sql", "-- materialize ducklake://lake/z\n-- on ducklake://lake/other\nSELECT count(*) AS n FROM lake.other")
		running, ch := p.start(ctx, "watch")
		count := map[string]int{}
		next := func() {
			t.Helper()
			for l := range ch {
				switch l.Event {
				case "ended":
					count[l.Script+" "+l.Status]++
				case "note":
					count[l.Script+" note"]++
				}
				if l.Event == "ended" && l.Script == "zlast" {
					return
				}
			}
			t.Fatal("the watch has ended")
		}
		next()
		for range 4 {
			p.sql(ctx, "INSERT INTO other VALUES (2)")
			next()
		}
		if err := running.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-running.Done()
		for what, want := range map[string]int{"column failed": 1, "setup failed": 1, "syntax failed": 1, "manual materialized": 1, "refused note": 1, "zlast materialized": 5} {
			if count[what] != want {
				t.Errorf("%s: %d times, want %d (%v)", what, count[what], want, count)
			}
		}
	})
}

// TestMaterializeSetupReads has tables that only statements before the SELECT read: their lakes are attached, and a change of them makes a run.
func TestMaterializeSetupReads(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		p := newMatProject(ctx, t, target, dsn)
		p.sql(ctx, "CREATE TABLE src AS SELECT 1 AS id", "CREATE SCHEMA more", "CREATE TABLE more.src AS SELECT 7 AS id")
		p.write("ifnot.sql", "-- materialize ducklake://lake/ifnot\nCREATE TEMP TABLE IF NOT EXISTS t AS SELECT * FROM lake.src;\nCREATE TEMP TABLE IF NOT EXISTS t AS SELECT * FROM lake.more.src;\nSELECT sum(id) AS n FROM t")
		p.write("pivot.sql", "-- materialize ducklake://lake/pivot\nPIVOT (SELECT 'n' AS k, id FROM lake.src) ON k USING sum(id)")
		p.write("use.sql", "-- materialize ducklake://lake/used\nATTACH 'ducklake://lake' AS dl;\nUSE dl.main;\nCREATE TEMP TABLE t AS SELECT * FROM src;\nUSE dl.more;\nSELECT sum(id) AS n FROM t, (SELECT 1 FROM src LIMIT 1)")
		p.write("variable.sql", "-- materialize ducklake://lake/variable\nSET VARIABLE n = (SELECT sum(id) FROM lake.src);\nSELECT getvariable('n') AS n")
		if code, lines, errs := p.do(ctx, "run"); code != 0 {
			t.Fatalf("exit code %d, %s\n%s", code, ended(lines), errs)
		}
		p.sql(ctx, "INSERT INTO src VALUES (10)")
		if got := ended(p.must(ctx, "run")); strings.Contains(got, "skipped") {
			t.Errorf("after a change of what is read: %s", got)
		}
		if got := p.rows(ctx, "SELECT n FROM ifnot UNION ALL SELECT n FROM \"pivot\" UNION ALL SELECT n FROM used UNION ALL SELECT n FROM variable"); got != "11\n11\n11\n11" {
			t.Errorf("what they hold:\n%s", got)
		}
	})
}

// relay is an address that leads to another one, and can be closed.
type relay struct {
	to    string
	l     net.Listener
	mu    sync.Mutex
	conns []net.Conn
}

func (r *relay) open(t *testing.T, addr string) string {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	r.l = l
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", r.to)
			if err != nil {
				_ = in.Close()
				continue
			}
			r.mu.Lock()
			r.conns = append(r.conns, in, out)
			r.mu.Unlock()
			go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
			go func() { _, _ = io.Copy(in, out); _ = in.Close() }()
		}
	}()
	return l.Addr().String()
}

func (r *relay) close() {
	_ = r.l.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		_ = c.Close()
	}
	r.conns = nil
}

// TestMaterializeServerGone has a server that cannot be reached for a while: who follows a lake, and who records, say so each time they try, and
// go on when it is there again.
func TestMaterializeServerGone(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, _ script.Target, dsn string) {
		lakeSession(ctx, t, dsn, t.TempDir())
		cfg, err := pgx.ParseConfig(dsn)
		if err != nil {
			t.Fatal(err)
		}
		door := &relay{to: net.JoinHostPort(cfg.Host, strconv.Itoa(int(cfg.Port)))}
		addr := door.open(t, "127.0.0.1:0")
		t.Cleanup(door.close)
		host, port, _ := net.SplitHostPort(addr)
		through := dsn + " host=" + host + " port=" + port
		src, err := state.OpenSource(ctx, through, "")
		if err != nil {
			t.Fatal(err)
		}
		store := openState(ctx, t, through, state.Options{})
		follow, stop := context.WithCancel(ctx)
		heads, lost, done := make(chan int64, 100), make(chan error, 100), make(chan error, 1)
		go func() {
			done <- src.Follow(follow, state.WaitOptions{Poll: 20 * time.Millisecond}, func(h int64) { heads <- h }, func(err error) { lost <- err })
		}()
		<-heads
		door.close()
		for range 3 {
			<-lost
		}
		r := state.Run{Script: "a", Asset: state.Asset{Kind: "ducklake", Path: "lake/a"}, Strategy: "replace", Trigger: "by hand", Owner: "here", ScriptHash: "h"}
		for range 2 {
			if err := store.Begin(ctx, &r); !errors.Is(err, state.ErrConnect) {
				t.Errorf("a record while nobody listens: %v", err)
			}
		}
		door.open(t, addr)
		if err := store.Begin(ctx, &r); err != nil {
			t.Errorf("a record when there is a server again: %v", err)
		}
		stop()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
		if err := src.Close(ctx); err != nil {
			t.Error(err)
		}
	})
}
