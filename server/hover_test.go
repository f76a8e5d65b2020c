package server

import (
	"net"
	"runtime"
	"sync/atomic"
	"testing"
)

// pair is both ends of a TCP connection.
func pair(t *testing.T) (client, server net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return client, server
}

func testHover(t *testing.T, c net.Conn, working *atomic.Int32) *hover {
	t.Helper()
	if !canLook {
		t.Skip("on this system a connection cannot be asked whether there is something to read")
	}
	if n := runtime.GOMAXPROCS(0); n < 2 { // with one nothing is looked out for
		runtime.GOMAXPROCS(2)
		t.Cleanup(func() { runtime.GOMAXPROCS(n) })
	}
	h := new(hover)
	if h.init(c, working); h.rc == nil {
		t.Fatal("it does not look")
	}
	return h
}

// A message that is there is seen and left to be read; then the next is looked out for again.
func TestHoverSees(t *testing.T) {
	client, server := pair(t)
	var working atomic.Int32
	working.Store(1)
	h := testHover(t, server, &working)
	h.misses = hoverMisses // so often in vain: not due
	if h.due() {
		t.Error("due after as many misses")
	}
	h.misses = hoverAgain
	if _, err := client.Write([]byte("Q")); err != nil {
		t.Fatal(err)
	}
	for !readable(fdOf(t, server)) { // until the kernel has passed it on
	}
	h.wait()
	if !h.hit || h.misses != 0 || !h.due() {
		t.Errorf("a message that is there: %+v", h)
	}
	b := make([]byte, 2)
	if n, err := server.Read(b); n != 1 || err != nil || b[0] != 'Q' {
		t.Errorf("read %q, %v", b[:n], err)
	}
}

func fdOf(t *testing.T, c net.Conn) (fd uintptr) {
	t.Helper()
	rc, err := c.(*net.TCPConn).SyscallConn()
	if err == nil {
		err = rc.Control(func(f uintptr) { fd = f })
	}
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// A client that takes its time is hardly looked out for.
func TestHoverGivesUp(t *testing.T) {
	_, server := pair(t)
	var working atomic.Int32
	working.Store(1)
	h := testHover(t, server, &working)
	looked := 0
	look := h.look
	h.look = func(fd uintptr) { looked++; look(fd) }
	for range 10 * hoverAgain {
		h.wait()
	}
	if want := hoverMisses + 9; looked != want {
		t.Errorf("looked %d times in vain, want %d", looked, want)
	}
}

// Nobody looks out while another connection is at work, whose core it would take.
func TestHoverAlone(t *testing.T) {
	_, server := pair(t)
	var working atomic.Int32
	h := testHover(t, server, &working)
	h.look = func(uintptr) { t.Error("looked") }
	for _, n := range []int32{2, 8} {
		working.Store(n)
		h.wait()
	}
}

// A connection that cannot be looked at is not, and one that is closed ends the look.
func TestHoverElsewhere(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	var working atomic.Int32
	working.Store(1)
	var h hover
	h.init(b, &working)
	h.wait()
	if h.rc != nil || h.hit {
		t.Errorf("a pipe in memory: %+v", h)
	}
	client, server := pair(t)
	g := testHover(t, server, &working)
	client.Close()
	server.Close()
	g.wait()
	if g.hit {
		t.Error("saw something on a closed connection")
	}
	if n := testing.AllocsPerRun(100, g.wait); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
