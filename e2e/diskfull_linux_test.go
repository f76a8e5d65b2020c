package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/e2e/internal/server"
)

// diskMB is the size of the disks that are filled. The server keeps a part of it in reserve, so it is not too small.
const diskMB = 64

// disk is a file system of its own that is full after some megabytes.
type disk struct {
	dir    string
	filler string
}

// newDisk mounts one; where that is not allowed the test is skipped and counted.
func newDisk(t *testing.T) *disk {
	t.Helper()
	d := &disk{dir: filepath.Join(t.TempDir(), "disk")}
	d.filler = filepath.Join(d.dir, "filler")
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	err := syscall.Mount("tmpfs", d.dir, "tmpfs", 0, fmt.Sprintf("size=%dm", diskMB))
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.ENOSYS) {
		shared.mountless.Add(1)
		t.Skip("this user may not mount a file system to fill: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(d.dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return d
}

// serveOnDisk runs a server with its data folder on such a disk and its log elsewhere.
func serveOnDisk(t *testing.T) (context.Context, *disk, *server.Server) {
	t.Helper()
	d := newDisk(t)
	s := privateEider(t, "--data", filepath.Join(d.dir, "data"))
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx, d, s
}

// fill writes a file of somebody else's until nothing more can be written.
func (d *disk) fill(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile(d.filler, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for chunk := make([]byte, 64<<10); len(chunk) > 0; {
		if _, err := f.Write(chunk); errors.Is(err, syscall.ENOSPC) {
			chunk = chunk[:len(chunk)/2]
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// free removes what fill wrote.
func (d *disk) free(t *testing.T) {
	t.Helper()
	if err := os.Remove(d.filler); err != nil {
		t.Fatal(err)
	}
}

// grow makes the disk larger, as the owner of a volume does.
func (d *disk) grow(t *testing.T, mb int) {
	t.Helper()
	if err := syscall.Mount("tmpfs", d.dir, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%dm", mb)); err != nil {
		t.Fatal(err)
	}
}

func execError(ctx context.Context, c *pgconn.PgConn, sql string) error {
	_, err := c.Exec(ctx, sql).ReadAll()
	return err
}

// full says whether an error is the server's refusal for lack of space, with the SQLSTATE and without the words that DuckLake tries again for.
func full(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != "53100" {
		return fmt.Errorf("no refusal with 53100: %w", err)
	}
	for _, word := range []string{"primary key", "unique", "conflict", "concurrent"} {
		if strings.Contains(strings.ToLower(pg.Message+pg.Detail+pg.Hint), word) {
			return fmt.Errorf("DuckLake tries again for %q: %w", word, err)
		}
	}
	return nil
}

// wantFull runs a statement of DuckDB's that the server must refuse for lack of space.
func wantFull(ctx context.Context, t *testing.T, l *lakeClient, sql string) {
	t.Helper()
	if _, err := l.sess.Exec(ctx, sql); err == nil || !strings.Contains(err.Error(), "no space left on the device of the data folder") {
		t.Errorf("%s on a full disk: %v", sql, err)
	}
}

// TestDiskFull: somebody fills the disk of the server's data folder. Commits of DuckDB and of others fail with 53100 and store nothing, what was
// committed is there and read, over a kill and a start on the full disk too, and with space again the same clients go on.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	ctx, d, s := serveOnDisk(t)
	dsn := s.DSN("lake")
	data := t.TempDir()
	l := openLake(ctx, t, dsn, data)
	const content = "SELECT count(*), sum(i) FROM lake.t"
	l.must(ctx, t, "CREATE TABLE lake.t (i INTEGER, s VARCHAR)", "INSERT INTO lake.t VALUES (1, 'one'), (2, 'two')", "INSERT INTO lake.t SELECT range + 3, 'file' FROM range(20)")
	want := l.rows(ctx, t, content)
	refused := func(when string) {
		t.Helper()
		wantFull(ctx, t, l, "INSERT INTO lake.t VALUES (100, 'lost')")
		wantFull(ctx, t, l, "CREATE TABLE lake.lost (i INTEGER)")
		wantFull(ctx, t, l, "DELETE FROM lake.t WHERE i = 1")
		c := connect(ctx, t, dsn)
		if err := full(execError(ctx, c, "CREATE TABLE public.lost (i int); INSERT INTO public.lost VALUES (1)")); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		if got := one(ctx, t, c, "SELECT count(*) FROM pg_class WHERE relname = 'lost'"); got != "0" || c.TxStatus() != 'I' {
			t.Errorf("%s: the session does not go on: %s tables, status %c", when, got, c.TxStatus())
		}
		if got := l.rows(ctx, t, content); got != want {
			t.Errorf("%s the client reads %s, want %s", when, got, want)
		}
		if got := openLake(ctx, t, dsn, data).rows(ctx, t, content); got != want {
			t.Errorf("%s a new client reads %s, want %s", when, got, want)
		}
	}
	again := func(when string) {
		t.Helper()
		l.must(ctx, t, "INSERT INTO lake.t VALUES (1000, 'again')", "DELETE FROM lake.t WHERE i = 2", "UPDATE lake.t SET i = 2000 WHERE i = 1000", "DELETE FROM lake.t WHERE i = 2000", "INSERT INTO lake.t VALUES (2, 'two')")
		if got := l.rows(ctx, t, content); got != want {
			t.Errorf("%s the client reads %s, want %s", when, got, want)
		}
		if rep, code := runFsck(ctx, t, dsn, "--files"); code != 0 {
			t.Errorf("%s: %v", when, rep.Findings)
		}
	}

	d.fill(t)
	refused("on a full disk")
	if n, err := s.Metric(ctx, "eider_storage_disk_full"); n != 1 || err != nil {
		t.Errorf("the metric of the full disk is %v, %v", n, err)
	}
	d.free(t)
	again("with space again")
	if n, err := s.Metric(ctx, "eider_storage_disk_full"); n != 0 || err != nil {
		t.Errorf("the metric of the full disk is %v, %v", n, err)
	}

	d.fill(t)
	refused("on a disk that is full again")
	if err := s.Restart(ctx, "", true); err != nil {
		t.Fatal("start on a full disk: ", err)
	}
	// Filled up again: the server has given its ballast back.
	d.fill(t)
	refused("started on a full disk")
	d.free(t)
	again("with space again after a start")
	if err := s.Restart(ctx, "", true); err != nil {
		t.Fatal(err)
	}
	if got := l.rows(ctx, t, content); got != want {
		t.Errorf("after a kill: %s, want %s", got, want)
	}
}

// TestDiskFullOwn: the server fills its disk itself, and the disk grows.
func TestDiskFullOwn(t *testing.T) {
	t.Parallel()
	ctx, d, s := serveOnDisk(t)
	l := openLake(ctx, t, s.DSN("lake"), t.TempDir())
	l.must(ctx, t, "CALL lake.set_option('data_inlining_row_limit', 1000)", "CREATE TABLE lake.t (i INTEGER, s VARCHAR)")
	// Half a megabyte that does not compress.
	insert := func(n int) string {
		return fmt.Sprintf("INSERT INTO lake.t SELECT %d, string_agg(md5(range::VARCHAR || '%d'), '') FROM range(16000)", n, n)
	}
	n := 0
	for ; n < 2*diskMB; n++ {
		_, err := l.sess.Exec(ctx, insert(n))
		if err == nil {
			continue
		}
		if !strings.Contains(err.Error(), "no space left on the device of the data folder") {
			t.Fatalf("insert %d: %.300s … %.300s", n, err.Error(), err.Error()[max(0, len(err.Error())-300):])
		}
		break
	}
	if n < 10 || n == 2*diskMB {
		t.Fatalf("%d inserts of half a megabyte into a disk of %d", n, diskMB)
	}
	check := func(want int) {
		t.Helper()
		if got, want := l.rows(ctx, t, "SELECT count(*), count(DISTINCT i), min(length(s)) FROM lake.t"), fmt.Sprintf("%d | %d | 512000", want, want); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	check(n)
	if err := s.Restart(ctx, "", true); err != nil {
		t.Fatal("start on a full disk: ", err)
	}
	check(n)
	d.grow(t, 4*diskMB)
	l.must(ctx, t, insert(n), insert(n+1))
	check(n + 2)
	t.Logf("%d inserts until the disk was full", n)
}

// TestDiskFullAmidCommits fills the disk while clients commit, so that the write of a log meets its end. A commit is acknowledged and there, or
// refused with 53100 and not there; no reader notices anything.
func TestDiskFullAmidCommits(t *testing.T) {
	t.Parallel()
	ctx, d, s := serveOnDisk(t)
	dsn := s.DSN("lake")
	setup := connect(ctx, t, dsn)
	mustExec(ctx, t, setup, "CREATE TABLE public.a (w int, n int, pad text, PRIMARY KEY (w, n)); CREATE TABLE public.b (w int, n int)")
	const rounds, writers = 4, 4
	pad := strings.Repeat("incompressible? ", 2000)
	var refusals atomic.Int64
	stored := map[[2]int]bool{}
	for round := range rounds {
		var wg sync.WaitGroup
		var mu sync.Mutex
		stop := make(chan struct{})
		committed := make(chan struct{}, writers)
		refusedOnce := make(chan struct{}, writers)
		for w := range writers {
			wg.Go(func() {
				c, err := pgconn.Connect(ctx, dsn)
				if err != nil {
					t.Error(err)
					return
				}
				defer func() { _ = c.Close(ctx) }()
				first, refused := true, false
				for n := round * 1_000_000; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					err := execError(ctx, c, fmt.Sprintf("BEGIN; INSERT INTO public.a VALUES (%d, %d, '%s'); INSERT INTO public.b VALUES (%d, %d); COMMIT", w, n, pad, w, n))
					if err == nil {
						mu.Lock()
						stored[[2]int{w, n}] = true
						mu.Unlock()
						if first {
							first = false
							committed <- struct{}{}
						}
						continue
					}
					if err := full(err); err != nil {
						t.Errorf("writer %d: %v", w, err)
						return
					}
					refusals.Add(1)
					if !refused {
						refused = true
						refusedOnce <- struct{}{}
					}
					if c.TxStatus() != 'I' {
						if err := execError(ctx, c, "ROLLBACK"); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		wg.Go(func() {
			c, err := pgconn.Connect(ctx, dsn)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = c.Close(ctx) }()
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := execError(ctx, c, "SELECT count(*) FROM public.a"); err != nil {
					t.Error("a reader: ", err)
					return
				}
			}
		})
		wait := func(ch <-chan struct{}, what string) {
			for range writers {
				select {
				case <-ch:
				case <-ctx.Done():
					t.Error("no writer ", what)
					return
				}
			}
		}
		wait(committed, "commits")
		d.fill(t)
		wait(refusedOnce, "is refused")
		close(stop)
		wg.Wait()
		if t.Failed() {
			return
		}
		if round%2 == 1 {
			if err := s.Restart(ctx, "", true); err != nil {
				t.Fatal("start on a full disk: ", err)
			}
		}
		verifyStored(ctx, t, dsn, stored)
		d.free(t)
		c := connect(ctx, t, dsn)
		if err := execError(ctx, c, "DELETE FROM public.a; DELETE FROM public.b"); err != nil {
			t.Fatalf("round %d: with space again: %v", round, err)
		}
		clear(stored)
	}
	t.Logf("%d refusals", refusals.Load())
}

// verifyStored compares the two tables with what was acknowledged.
func verifyStored(ctx context.Context, t *testing.T, dsn string, stored map[[2]int]bool) {
	t.Helper()
	c := connect(ctx, t, dsn)
	for _, table := range []string{"a", "b"} {
		var out strings.Builder
		if _, err := c.CopyTo(ctx, &out, "COPY (SELECT w, n FROM public."+table+") TO STDOUT"); err != nil {
			t.Fatal(err)
		}
		n := 0
		for r := strings.NewReader(out.String()); ; n++ {
			var k [2]int
			if _, err := fmt.Fscan(r, &k[0], &k[1]); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if !stored[k] {
				t.Errorf("table %s has %v, which was refused", table, k)
			}
		}
		if n != len(stored) {
			t.Errorf("table %s has %d rows, %d were acknowledged", table, n, len(stored))
		}
	}
}
