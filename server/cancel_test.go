package server

import (
	"context"
	"encoding/binary"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// shutdown runs Shutdown with a bound.
func shutdown(s *testServer, d time.Duration) chan error {
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), d)
		defer cancel()
		done <- s.Shutdown(ctx)
	}()
	return done
}

func (s *testServer) untilStopping(t *testing.T) {
	t.Helper()
	for range 5000 {
		if s.isStopping() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("the server does not stop")
}

// keyed connects with a protocol version and keeps the cancel key.
func (s *testServer) keyed(t *testing.T, version uint32) (*client, pgproto3.BackendKeyData) {
	t.Helper()
	c := s.dial(t)
	c.send(&pgproto3.StartupMessage{ProtocolVersion: version, Parameters: map[string]string{"user": "eider"}})
	c.expect("R S S")
	m, err := c.f.Receive()
	if err != nil {
		t.Fatal(err)
	}
	k := *m.(*pgproto3.BackendKeyData)
	k.SecretKey = append([]byte(nil), k.SecretKey...)
	c.expect("Z:I")
	return c, k
}

func (s *testServer) cancelRequest(t *testing.T, pid uint32, key []byte) {
	t.Helper()
	c := s.dial(t)
	c.raw(packet(codeCancel, string(binary.BigEndian.AppendUint32(nil, pid))+string(key)))
	c.expect("EOF")
}

func TestCancel(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	for _, version := range []uint32{pgproto3.ProtocolVersion30, pgproto3.ProtocolVersion32} {
		c, k := s.keyed(t, version)
		if want := map[uint32]int{pgproto3.ProtocolVersion30: 4, pgproto3.ProtocolVersion32: 32}[version]; len(k.SecretKey) != want {
			t.Errorf("a key of %d bytes", len(k.SecretKey))
		}
		// While nothing runs a cancel request hits nothing, later statements least of all.
		s.cancelRequest(t, k.ProcessID, k.SecretKey)
		c.query("BEGIN; WAIT")
		<-s.fakes.last().waiting
		wrong := append([]byte(nil), k.SecretKey...)
		wrong[0] ^= 1
		s.cancelRequest(t, k.ProcessID, wrong)
		s.cancelRequest(t, k.ProcessID, nil)
		s.cancelRequest(t, k.ProcessID+1, k.SecretKey)
		c.expect("")
		s.cancelRequest(t, k.ProcessID, k.SecretKey)
		c.expect("C:BEGIN E:57014 Z:E")
		c.query("ROLLBACK")
		c.expect("C:ROLLBACK Z:I")
		// In the extended protocol.
		c.send(&pgproto3.Parse{Query: "WAIT"}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Sync{})
		<-s.fakes.last().waiting
		s.cancelRequest(t, k.ProcessID, k.SecretKey)
		c.expect("1 2 E:57014 Z:I")
		// While the server waits for COPY data.
		c.query("COPYIN")
		c.expect("G")
		<-s.fakes.last().waiting
		s.cancelRequest(t, k.ProcessID, k.SecretKey)
		c.send(data("x"), &pgproto3.CopyDone{})
		c.expect("E:57014 Z:I")
		c.query("SELECT 1")
		c.expect("T D:1 C:SELECT_1 Z:I")
	}
}

// Idle sessions are told goodbye, also inside a transaction or between two messages of
// the extended protocol; a running statement ends first and is answered.
func TestShutdown(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	idle, block, between := s.connect(t), s.connect(t), s.connect(t)
	block.query("BEGIN")
	block.expect("C:BEGIN Z:T")
	between.send(&pgproto3.Parse{Query: "SELECT 1"}, &pgproto3.Flush{})
	between.expect("1")
	half := s.dial(t)
	half.raw([]byte("\x00"))
	busy, key := s.keyed(t, pgproto3.ProtocolVersion30)
	running := s.fakes.last()
	busy.query("WAIT; SELECT 1")
	<-running.waiting
	if !s.Ready() {
		t.Error("not ready")
	}
	done := shutdown(s, time.Minute)
	for _, c := range []*client{idle, block, between} {
		c.expect("E:FATAL:57P01 EOF")
	}
	half.expect("E:FATAL:57P03 EOF")
	if s.Ready() {
		t.Error("ready while stopping")
	}
	select {
	case err := <-done:
		t.Fatalf("shutdown did not wait for a statement: %v", err)
	default:
	}
	s.cancel(int32(key.ProcessID), key.SecretKey)
	busy.expect("E:57014 Z:I E:FATAL:57P01 EOF")
	if err := <-done; err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if n := running.closed.Load(); n != 1 {
		t.Errorf("session closed %d times", n)
	}
}

// When its time is up the server cancels what still runs.
func TestShutdownCancels(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	c := s.connect(t)
	c.query("WAIT")
	<-s.fakes.last().waiting
	if err := <-shutdown(s, time.Millisecond); err == nil {
		t.Error("shutdown had to cancel a statement and did not say so")
	}
	c.expect("E:FATAL:57P01 EOF")
}

// Notifications reach an idle client at once.
func TestNotifyIdle(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	c := s.connect(t)
	listener := s.fakes.last()
	d := s.connect(t)
	for range 3 {
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			n := listener.opts
			n.Notify(notification(n.PID, "hello"))
		}()
		c.expect("A:hello")
		wg.Wait()
		c.query("SELECT 1")
		c.expect("T D:1 C:SELECT_1 Z:I")
		d.query("SELECT 1")
		d.expect("T D:1 C:SELECT_1 Z:I")
	}
	// Not inside of a transaction.
	c.query("BEGIN")
	c.expect("C:BEGIN Z:T")
	listener.opts.Notify(notification(1, "later"))
	c.quiet()
	c.query("COMMIT")
	c.expect("C:COMMIT A:later Z:I")
}

func TestIdleTimeouts(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	c := s.connect(t)
	c.query("SET 20")
	c.expect("C:SET Z:I E:FATAL:57P05 EOF")
	c = s.connect(t)
	c.query("SET 20; BEGIN")
	c.expect("C:SET C:BEGIN Z:T E:FATAL:25P03 EOF")
	// The time of a running statement does not count.
	c, key := s.keyed(t, pgproto3.ProtocolVersion30)
	c.query("SET 100; WAIT")
	<-s.fakes.last().waiting
	time.Sleep(150 * time.Millisecond)
	s.cancel(int32(key.ProcessID), key.SecretKey)
	c.expect("C:SET E:57014 Z:I")
	c.query("SELECT 1")
	c.expect("T D:1 C:SELECT_1 Z:I")
}

// One session can be told to end by another.
func TestSignal(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	for _, sql := range []string{"BEGIN", "WAIT", "COPYIN"} {
		c, key := s.keyed(t, pgproto3.ProtocolVersion30)
		bystander := s.connect(t)
		session := s.fakes.all[len(s.fakes.all)-2]
		c.query(sql)
		switch sql {
		case "BEGIN":
			c.expect("C:BEGIN Z:T")
		case "COPYIN":
			c.expect("G")
			fallthrough
		default:
			<-session.waiting
		}
		if !s.Signal(int32(key.ProcessID), true) {
			t.Error("no such session")
		}
		if sql == "COPYIN" {
			c.quiet()
			c.send(data("x"), &pgproto3.CopyDone{})
		}
		c.expect("E:FATAL:57P01 EOF")
		bystander.query("SELECT 1")
		bystander.expect("T D:1 C:SELECT_1 Z:I")
	}
	if s.Signal(1<<30, true) {
		t.Error("signalled nobody")
	}
	c, key := s.keyed(t, pgproto3.ProtocolVersion30)
	c.query("WAIT")
	<-s.fakes.last().waiting
	s.Signal(int32(key.ProcessID), false)
	c.expect("E:57014 Z:I")
}
