package server

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/types"
)

// BenchmarkSelect1 is a round trip of the statement that surrounds every transaction.
func BenchmarkSelect1(b *testing.B) {
	s := start(b, Options{})
	c, err := s.pgconn(b, "user=eider sslmode=disable")
	if err != nil {
		b.Fatal(err)
	}
	nc := c.Conn()
	nc.SetDeadline(time.Time{})
	q := message('Q', "SELECT 1\x00")
	var buf [4096]byte
	b.ReportAllocs()
	for b.Loop() {
		if _, err := nc.Write(q); err != nil {
			b.Fatal(err)
		}
		for {
			n, err := nc.Read(buf[:])
			if err != nil {
				b.Fatal(err)
			}
			if buf[n-6] == 'Z' && buf[n-1] == 'I' {
				break
			}
		}
	}
}

// BenchmarkCopyOut is the server's share of a large COPY TO.
func BenchmarkCopyOut(b *testing.B) {
	s := start(b, Options{})
	c, err := s.pgconn(b, "user=eider sslmode=disable")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(1000 * 20_000)
	for b.Loop() {
		if _, err := c.CopyTo(context.Background(), io.Discard, "COPYOUT 1000"); err != nil {
			b.Fatal(err)
		}
	}
}

// discardConn takes everything.
type discardConn struct{ net.Conn }

func (discardConn) Write(p []byte) (int, error) { return len(p), nil }

// Encoding a row allocates nothing, and neither do the messages around it.
func TestRowAllocations(t *testing.T) {
	c := newConn(New(Options{}), discardConn{})
	c.sess = &fakeSession{}
	cols := []exec.Column{{Name: "a", Type: types.T{OID: types.Int8OID, Mod: -1}}, {Name: "b", Type: types.T{OID: types.TextOID, Mod: -1}}}
	row := exec.Row{{I: 12345, Valid: true}, {B: []byte("some text"), Valid: true}}
	if n := testing.AllocsPerRun(10_000, func() {
		if c.out.DataRow(row, cols, nil) != nil || c.out.DataRow(row, cols, []int16{1}) != nil {
			t.Fatal("no row")
		}
	}); n != 0 {
		t.Errorf("%v allocations per row", n)
	}
	if n := testing.AllocsPerRun(10_000, func() { c.w.empty('1'); c.w.flush() }); n != 0 {
		t.Errorf("%v allocations per message", n)
	}
}
