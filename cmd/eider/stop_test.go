package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// answer is what a client got for a statement.
type answer struct {
	value int
	err   error
}

// running begins a statement on a connection of its own and returns when the server says
// that it runs. The answer comes later.
func running(t *testing.T, ctx context.Context, p *process, watcher *pgx.Conn, sql string) <-chan answer {
	t.Helper()
	conn := p.connect(t, "lake")
	pid := conn.PgConn().PID()
	out := make(chan answer, 1)
	go func() {
		var a answer
		a.err = conn.QueryRow(ctx, sql, pgx.QueryExecModeSimpleProtocol).Scan(&a.value)
		out <- a
	}()
	for {
		var n int
		if err := watcher.QueryRow(ctx, "select count(*) from pg_stat_activity where pid = $1 and state = 'active'", int32(pid)).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			return out
		}
	}
}

// goodbye waits until the server says on an idle connection that it ends.
func goodbye(t *testing.T, ctx context.Context, idle *pgx.Conn) {
	t.Helper()
	_, err := idle.WaitForNotification(ctx)
	if !isCode(err, "57P01") {
		t.Fatalf("an idle client was told %v", err)
	}
}

func isCode(err error, code string) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe) && pe.Code == code
}

// end waits for a server that was told to stop and returns its exit code.
func (p *process) end(ctx context.Context) int {
	p.t.Helper()
	select {
	case code := <-p.done:
		p.done = nil
		return code
	case <-ctx.Done():
		p.t.Fatalf("serve does not end:\n%s", p.log)
		return -1
	}
}

// A signal ends the server when the statements that run have ended: their clients get
// their rows, and the exit code is that of success.
func TestSignalLetsStatementsFinish(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for seconds := 1; ; seconds *= 4 {
		p := serve(t, "--engine", "memory")
		idle := p.connect(t, "lake")
		got := running(t, ctx, p, idle, fmt.Sprintf("select 42 from pg_sleep(%d)", seconds))
		p.sig <- syscall.SIGTERM
		goodbye(t, ctx, idle)
		if len(got) > 0 && seconds < 60 {
			continue // it has ended before the signal: too short for this machine
		}
		if a := <-got; a.err != nil || a.value != 42 {
			t.Errorf("the running statement got %d, %v", a.value, a.err)
		}
		if code := p.end(ctx); code != exitOK {
			t.Errorf("exit code %d:\n%s", code, p.log)
		}
		return
	}
}

// A second signal cancels what still runs.
func TestSecondSignalCancels(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	p := serve(t, "--engine", "memory", "--shutdown-timeout", "1h")
	idle := p.connect(t, "lake")
	got := running(t, ctx, p, idle, "select 42 from pg_sleep(3600)")
	p.sig <- syscall.SIGTERM
	goodbye(t, ctx, idle)
	if len(got) > 0 {
		t.Fatalf("the first signal ended the statement: %v", (<-got).err)
	}
	p.sig <- syscall.SIGTERM
	if a := <-got; !isCode(a.err, "57P01") {
		t.Errorf("the cancelled statement got %v", a.err)
	}
	if code := p.end(ctx); code != exitOK || !strings.Contains(p.log.String(), "second signal: cancelling statements") {
		t.Errorf("exit code %d:\n%s", code, p.log)
	}
}
