package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/killat"
	"github.com/eiderdb/eider/e2e/internal/oracle"
	"github.com/eiderdb/eider/e2e/internal/script"
	"github.com/eiderdb/eider/e2e/internal/server"
)

var (
	targetFlag  = flag.String("target", "both", "servers to run on: pg, eider, both, or self (PostgreSQL twice, to check that the scripts are repeatable)")
	rewriteFlag = flag.Bool("rewrite", false, "run on PostgreSQL and write its results into the scripts")
	onlyFlag    = flag.String("only", os.Getenv("EIDER_E2E_ONLY"), "regular expression: run only the scripts whose path matches")
	waitingFlag = flag.Bool("waiting", false, "run the scripts of testdata/waiting.txt on eider too")
	benchFlag   = flag.Bool("bench", false, "run the benchmarks and print their table")
)

// env is what the tests of one process share: the oracle, the binary, one server. Each is started when it is first asked for.
type env struct {
	pg                lazy[*oracle.Server]
	bin               lazy[string]
	worker            lazy[string]
	gcstep, cleanstep lazy[string]
	eider             lazy[*server.Server]

	skipped     atomic.Int64 // comparisons left out because there is no PostgreSQL, or another version of it
	storageless atomic.Int64 // tests left out because there is no object storage
	mountless   atomic.Int64 // tests left out because this user may not mount a file system
	mu          sync.Mutex
	totals      totals

	statements struct{ batches, differences, pinned int }
}

type totals struct {
	scripts, statements, differences, pinned, compared int
}

type lazy[T any] struct {
	once sync.Once
	v    T
	err  error
	set  bool
}

func (l *lazy[T]) get(make func() (T, error)) (T, error) {
	l.once.Do(func() {
		l.v, l.err = make()
		l.set = l.err == nil
	})
	return l.v, l.err
}

var shared env

func TestMain(m *testing.M) {
	if socket := os.Getenv(killat.Env); socket != "" {
		os.Exit(killat.Main(socket, os.Args[1:]))
	}
	flag.Parse()
	if attach := os.Getenv(childEnv); attach != "" {
		os.Exit(runChild(attach))
	}
	code := m.Run()
	shared.close()
	os.Exit(code)
}

func (e *env) close() {
	if n := e.skipped.Load(); n > 0 {
		fmt.Print(noOracle(n, e.pg.err))
	}
	if n := e.storageless.Load(); n > 0 {
		fmt.Printf("\n!!! OBJECT STORAGE IS MISSING: %d tests of lakes in buckets were SKIPPED (scripts/fetch-duckdb.sh fetches SeaweedFS, where there is one for the machine)\n\n", n)
	}
	if n := e.mountless.Load(); n > 0 {
		fmt.Printf("\n!!! NO FILE SYSTEM MAY BE MOUNTED: %d tests of a full disk were SKIPPED (run as root)\n\n", n)
	}
	if t := e.totals; t.scripts > 0 {
		fmt.Printf("e2e: %d scripts, %d statements, %d equal outcomes, %d differences, %d pinned differences\n", t.scripts, t.statements, t.compared, t.differences, t.pinned)
	}
	if t := e.statements; t.batches > 0 {
		fmt.Printf("e2e: %d statement batches, %d differences, %d pinned differences\n", t.batches, t.differences, t.pinned)
	}
	if e.eider.set {
		if err := e.eider.v.Stop(); err != nil {
			fmt.Println("stopping eider:", err)
		}
	}
	if e.pg.set {
		if err := e.pg.v.Stop(); err != nil {
			fmt.Println("stopping PostgreSQL:", err)
		}
	}
	if os.Getenv("EIDER_E2E_BINARY") != "" {
		e.bin.set = false
	}
	for _, l := range []*lazy[string]{&e.bin, &e.gcstep, &e.cleanstep} {
		if l.set {
			_ = os.RemoveAll(filepath.Dir(l.v))
		}
	}
}

func wantPG() bool    { return *targetFlag != "eider" || *rewriteFlag }
func wantEider() bool { return (*targetFlag == "eider" || *targetFlag == "both") && !*rewriteFlag }
func selfCheck() bool { return *targetFlag == "self" && !*rewriteFlag }

// postgres returns the oracle, or nil if there is none on this machine; that is counted and said once, loudly.
func postgres(t testing.TB) *oracle.Server {
	t.Helper()
	if !wantPG() {
		return nil
	}
	pg, err := shared.postgres(func() (*oracle.Server, error) { return oracle.Start(context.Background()) })
	if err != nil {
		t.Fatal(err)
	}
	return pg
}

// postgres starts the oracle once. Where the machine has none, or one of another version, it returns nil and counts.
func (e *env) postgres(start func() (*oracle.Server, error)) (*oracle.Server, error) {
	pg, err := e.pg.get(start)
	if errors.Is(err, oracle.ErrMissing) || errors.Is(err, oracle.ErrVersion) {
		e.skipped.Add(1)
		return nil, nil
	}
	return pg, err
}

// noOracle is the line about comparisons that were left out.
func noOracle(n int64, err error) string {
	what := "MISSING"
	if errors.Is(err, oracle.ErrVersion) {
		what = "OF ANOTHER VERSION"
	}
	return fmt.Sprintf("\n!!! PostgreSQL IS %s: %d comparisons with it were SKIPPED (install postgresql %s, or run as root where apt-get works): %s\n\n",
		what, n, oracle.Version, strings.ReplaceAll(err.Error(), "\n", "; "))
}

// eiderBinary builds eider once.
func eiderBinary(t testing.TB) string {
	t.Helper()
	bin, err := shared.bin.get(func() (string, error) {
		dir, err := os.MkdirTemp("", "eider-bin-")
		if err != nil {
			return "", err
		}
		return server.Build(context.Background(), dir)
	})
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// stepBinary builds a command of internal once.
func stepBinary(t testing.TB, l *lazy[string], name string) string {
	t.Helper()
	bin, err := l.get(func() (string, error) {
		dir, err := os.MkdirTemp("", "eider-"+name+"-")
		if err != nil {
			return "", err
		}
		return server.BuildStep(context.Background(), dir, name)
	})
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// eider returns the server that the tests share, or nil with -target pg.
func eider(t testing.TB) *server.Server {
	t.Helper()
	if !wantEider() {
		return nil
	}
	bin := eiderBinary(t)
	s, err := shared.eider.get(func() (*server.Server, error) { return server.Start(context.Background(), bin) })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// needEider skips the test when only the oracle was asked for.
func needEider(t testing.TB) *server.Server {
	t.Helper()
	s := eider(t)
	if s == nil {
		t.Skip("runs on eider only")
	}
	return s
}

// privateEider starts a server for one test.
func privateEider(t testing.TB, args ...string) *server.Server {
	t.Helper()
	if !wantEider() {
		t.Skip("runs on eider only")
	}
	s, err := server.Start(context.Background(), eiderBinary(t), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			logTail(t, s.LogPath())
		}
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// newDuck is a session of a DuckDB of its own.
func newDuck(ctx context.Context, t testing.TB) duck.Session {
	t.Helper()
	inst, err := duck.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inst.Close() })
	s, err := inst.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func logTail(t testing.TB, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		return
	}
	if len(text) > 3000 {
		text = text[len(text)-3000:]
	}
	t.Logf("end of the server's log:\n%s", text)
}

var databases atomic.Int64

// newDatabase is a name that no other test of this process uses.
func newDatabase() string { return fmt.Sprintf("e2e_%d", databases.Add(1)) }

// targets lists the servers that a test compares, PostgreSQL first.
func targets(t testing.TB) []script.Target {
	t.Helper()
	var list []script.Target
	if pg := postgres(t); pg != nil {
		list = append(list, pg)
	}
	if e := eider(t); e != nil {
		list = append(list, e)
	}
	if len(list) == 0 {
		t.Skip("no server to run on")
	}
	if selfCheck() {
		list = append(list, list[0])
	}
	return list
}
