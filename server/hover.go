package server

import (
	"net"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// A client that has its answer often sends the next message within a few microseconds. If
// the connection's goroutine sleeps by then, the kernel has to wake two threads for every
// message, and a core from its own sleep. So a connection looks out for a moment before it
// sleeps: if it is the only one at work, so that it takes no core from anybody, and while
// that has helped lately.

const (
	// hoverFor is how long a connection looks out: about what it takes to wake a thread.
	hoverFor = 40 * time.Microsecond
	// hoverMisses is how often in a row it may do so in vain. Then it does only once in
	// hoverAgain messages, until it has helped again.
	hoverMisses = 3
	hoverAgain  = 32
)

// hover looks out for a connection's next message.
type hover struct {
	rc      syscall.RawConn // nil: this connection, or machine, cannot be looked at
	look    func(fd uintptr)
	working *atomic.Int32 // connections at work, of the whole server
	misses  int
	hit     bool
}

func (h *hover) init(c net.Conn, working *atomic.Int32) {
	h.working = working
	sc, ok := c.(syscall.Conn)
	if !ok || !canLook || runtime.GOMAXPROCS(0) < 2 {
		return
	}
	h.rc, _ = sc.SyscallConn()
	h.look = func(fd uintptr) {
		end := time.Now().Add(hoverFor)
		for !h.hit {
			if h.hit = readable(fd); h.working.Load() != 1 || time.Now().After(end) {
				return
			}
		}
	}
}

// due reports whether to look out before this message.
func (h *hover) due() bool {
	return h.rc != nil && h.working.Load() == 1 && (h.misses < hoverMisses || h.misses%hoverAgain == 0)
}

// wait returns when there is something to read, or after a moment.
func (h *hover) wait() {
	if h.hit = false; h.due() {
		_ = h.rc.Control(h.look) // a closed connection shows at the read
	}
	if h.hit {
		h.misses = 0
	} else {
		h.misses++
	}
}
