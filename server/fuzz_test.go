package server

import (
	"net"
	"strings"
	"testing"
	"time"
)

// FuzzServe feeds bytes into a connection, before and after the startup. Whatever they
// are, the server neither panics nor hangs, and the connection can be ended.
func FuzzServe(f *testing.F) {
	hello := string(packet(3<<16, "user\x00eider\x00database\x00lake\x00\x00"))
	q := func(s string) string { return string(message('Q', s+"\x00")) }
	for _, s := range []string{
		"", hello, hello + q("SELECT 1"), hello + q("BEGIN; FAIL") + q("ROLLBACK"),
		hello + q("COPYIN") + string(message('d', "x")) + string(message('c', "")),
		hello + q("COPYIN bad") + string(message('d', "x")) + string(message('f', "no\x00")) + q("SELECT 1"),
		hello + string(message('P', "\x00SELECT 1\x00\x00\x00")) + string(message('B', "\x00\x00\x00\x00\x00\x00\x00\x00")) +
			string(message('D', "P\x00")) + string(message('E', "\x00\x00\x00\x00\x00")) + string(message('S', "")) + string(message('X', "")),
		string(packet(codeSSL, "")) + hello, string(packet(codeGSSENC, "")), string(packet(codeCancel, "\x00\x00\x00\x01abcd")),
		"\x16\x03\x01\x02\x00", hello + "Q\x7f\xff\xff\xff", hello + q("ROWS 5000") + q("COPYOUT 4"),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if strings.Contains(string(input), "WAIT") || strings.Contains(string(input), "PANIC") || strings.Contains(string(input), "panic") {
			t.Skip("statements of the fake that do not end or that panic on purpose")
		}
		fk := &fakes{}
		m := NewMetrics()
		s := New(Options{Backend: fk, StartupTimeout: time.Second, MaxMessage: 1 << 20, Metrics: m})
		near, far := net.Pipe()
		c := newConn(s, far)
		if !s.enter(c) {
			t.Fatal("not admitted")
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer s.wg.Done()
			defer s.leave(c)
			c.run()
		}()
		read := make(chan struct{})
		go func() {
			defer close(read)
			var b [4096]byte
			for {
				if _, err := near.Read(b[:]); err != nil {
					return
				}
			}
		}()
		near.SetWriteDeadline(time.Now().Add(5 * time.Second))
		near.Write(input)
		near.Close()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			panic("the connection hangs")
		}
		<-read
		if n := testValue(t, m, "eider_panics_total"); n != 0 {
			t.Fatalf("%v panics", n)
		}
	})
}
