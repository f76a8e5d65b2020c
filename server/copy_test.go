package server

import (
	"bytes"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

func data(s string) *pgproto3.CopyData { return &pgproto3.CopyData{Data: []byte(s)} }

func TestCopyIn(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	c := s.connect(t)

	c.query("COPYIN")
	c.expect("G")
	c.send(data("a"), data(""), &pgproto3.Flush{}, data("b"), &pgproto3.Sync{}, &pgproto3.CopyDone{})
	c.expect("C:COPY_2 Z:I")
	if got := bytes.Join(s.fakes.last().lastIn, []byte("|")); string(got) != "a|b" {
		t.Errorf("received %q", got)
	}

	// CopyFail, as libpq sends it for an abandoned COPY.
	c.query("BEGIN; COPYIN")
	c.expect("C:BEGIN G")
	c.send(data("a"), &pgproto3.CopyFail{Message: "COPY terminated by new PQexec"})
	c.expect("E:57014 Z:E")
	c.query("ROLLBACK")
	c.expect("C:ROLLBACK Z:I")

	// The answer to bad data waits for the end of the data.
	c.query("COPYIN bad")
	c.expect("G")
	c.send(data("bad"), data("more"))
	c.quiet()
	c.send(data("and more"), &pgproto3.CopyDone{})
	c.expect("E:22P04 Z:I")
	c.query("COPYIN bad")
	c.expect("G")
	c.send(data("bad"), &pgproto3.CopyFail{Message: "no"})
	c.expect("E:22P04 Z:I")

	// Something else in between.
	c.query("COPYIN")
	c.expect("G")
	c.query("SELECT 1")
	c.expect("E:FATAL:08P01 EOF")
}

// In the extended protocol the error of a COPY is followed by skipping to Sync.
func TestCopyInExtended(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	c := s.connect(t)
	c.send(&pgproto3.Parse{Query: "COPYIN bad"}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Flush{})
	c.expect("1 2 G")
	c.send(data("bad"), &pgproto3.CopyDone{}, &pgproto3.Execute{}, &pgproto3.Sync{})
	c.expect("E:22P04 Z:I")
	c.send(&pgproto3.Parse{Query: "COPYIN"}, &pgproto3.Bind{}, &pgproto3.Execute{})
	c.expect("1 2 G")
	c.send(data("x"), &pgproto3.CopyDone{}, &pgproto3.Sync{})
	c.expect("C:COPY_1 Z:I")
}

// quiet checks that the server says nothing for a moment.
func (c *client) quiet() {
	c.t.Helper()
	c.nc.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
	var b [1]byte
	if n, _ := c.nc.Read(b[:]); n > 0 {
		c.t.Fatalf("the server said %q", b[:])
	}
	c.nc.SetReadDeadline(time.Now().Add(20 * time.Second))
}

// A stopping server first lets the COPY of a client end, and then tells it; when time is
// up it gives the statement up but still reads to the end of the data.
func TestShutdownDuringCopyIn(t *testing.T) {
	t.Parallel()
	t.Run("in time", func(t *testing.T) {
		t.Parallel()
		s := start(t, Options{})
		c := s.connect(t)
		c.query("COPYIN")
		c.expect("G")
		done := shutdown(s, time.Minute)
		s.untilStopping(t)
		c.send(data("x"))
		c.quiet()
		c.send(data("y"), &pgproto3.CopyDone{})
		c.expect("C:COPY_2 Z:I E:FATAL:57P01 EOF")
		if err := <-done; err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	t.Run("too late", func(t *testing.T) {
		t.Parallel()
		s := start(t, Options{})
		c := s.connect(t)
		c.query("COPYIN")
		c.expect("G")
		c.send(data("x"))
		done := shutdown(s, time.Millisecond)
		s.untilStopping(t)
		for range 50 {
			c.send(data("y")) // must never fail
			time.Sleep(time.Millisecond)
		}
		c.send(&pgproto3.CopyDone{})
		c.expect("E:FATAL:57P01 EOF")
		if err := <-done; err == nil {
			t.Error("shutdown had to cancel a statement and did not say so")
		}
	})
	t.Run("client never ends", func(t *testing.T) {
		t.Parallel()
		s := start(t, Options{DrainTimeout: 50 * time.Millisecond})
		c := s.connect(t)
		c.query("COPYIN")
		c.expect("G")
		<-shutdown(s, time.Millisecond)
		if got := c.receive(); got != "EOF" && got[:5] != "error" {
			t.Errorf("got %s", got)
		}
	})
}

// A defect while a client sends closes its connection after the data, not under it.
func TestPanic(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	c := s.connect(t)
	c.query("PANIC")
	c.expect("E:FATAL:XX000 EOF")
	c = s.connect(t)
	c.query("COPYIN panic")
	c.expect("G")
	c.send(data("x"))
	c.quiet()
	c.send(data("y"), &pgproto3.CopyDone{})
	c.expect("E:FATAL:XX000 EOF")
	s.connect(t)
}
