package tap

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"net"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
)

// Counts is what went through a tap.
type Counts struct {
	Attempts int // batches that insert a snapshot
	Commits  int // such batches whose COMMIT was acknowledged
	// Most is the most attempts that one commit needed, or that were in vain since the last one. It is right for a client that commits one after the
	// other. A single call may do so more than once: a driver that prepares a flush commits what the client does when it binds it.
	Most  int
	Reads int // SELECT and COPY … TO messages
	// Statements are the messages with SQL, Answered the bytes that came from the server.
	Statements, Answered int
	// Errors counts error responses by "SQLSTATE kind", kind being batch, commit, read or other.
	Errors map[string]int
	// Texts holds the first text of each key of Errors.
	Texts map[string]string
}

// ReadErrors is the number of reads that were answered with an error.
func (c Counts) ReadErrors() int {
	n := 0
	for k, v := range c.Errors {
		if strings.HasSuffix(k, " read") {
			n += v
		}
	}
	return n
}

// Tap listens on a loopback port and forwards to one address.
type Tap struct {
	target string
	l      net.Listener
	wg     sync.WaitGroup

	mu     sync.Mutex
	counts Counts
	since  int // attempts since the last commit
	conns  map[net.Conn]struct{}
	closed bool
	before func(sql string) bool
}

// Before sets what is called with each statement before it goes to the server. It may
// block; when it returns false, the connection is cut and the server does not see the
// statement. Statements are cut to their first 4096 bytes.
func (t *Tap) Before(fn func(sql string) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.before = fn
}

// New starts a tap in front of the server of a connection string, on this machine.
func New(dsn string) (*Tap, error) {
	port, ok := strings.CutPrefix(portOfDSN.FindString(dsn), "port=")
	if !ok {
		return nil, fmt.Errorf("no port in %q", dsn)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t := &Tap{target: "127.0.0.1:" + port, l: l, conns: map[net.Conn]struct{}{}}
	t.wg.Add(1)
	go t.accept()
	return t, nil
}

// Port is where the tap listens.
func (t *Tap) Port() int { return t.l.Addr().(*net.TCPAddr).Port }

var portOfDSN = regexp.MustCompile(`port=\d+`)

// DSN is the connection string through the tap.
func (t *Tap) DSN(dsn string) string {
	return portOfDSN.ReplaceAllString(dsn, fmt.Sprintf("port=%d", t.Port()))
}

// Take returns the counts since the last call.
func (t *Tap) Take() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.counts
	c.Errors, c.Texts = maps.Clone(c.Errors), maps.Clone(c.Texts)
	t.counts, t.since = Counts{}, 0
	return c
}

// Close cuts all connections and waits for their end.
func (t *Tap) Close() {
	t.mu.Lock()
	t.closed = true
	for c := range t.conns {
		_ = c.Close()
	}
	t.mu.Unlock()
	_ = t.l.Close()
	t.wg.Wait()
}

func (t *Tap) accept() {
	defer t.wg.Done()
	for {
		c, err := t.l.Accept()
		if err != nil {
			return
		}
		s, err := net.Dial("tcp", t.target)
		if err != nil {
			_ = c.Close()
			continue
		}
		if !t.hold(c, s) {
			return
		}
		conv := &conversation{tap: t}
		t.wg.Add(2)
		go t.pump(c, s, conv, (&frames{startup: true, each: conv.sent}).write)
		answers := (&frames{each: conv.received}).write
		go t.pump(s, c, conv, func(b []byte) {
			t.mu.Lock()
			t.counts.Answered += len(b)
			t.mu.Unlock()
			answers(b)
		})
	}
}

func (t *Tap) hold(conns ...net.Conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range conns {
		if t.closed {
			_ = c.Close()
			continue
		}
		t.conns[c] = struct{}{}
	}
	return !t.closed
}

func (t *Tap) pump(from, to net.Conn, conv *conversation, look func([]byte)) {
	defer t.wg.Done()
	defer func() {
		_, _ = from.Close(), to.Close()
		t.mu.Lock()
		delete(t.conns, from)
		delete(t.conns, to)
		t.mu.Unlock()
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			look(buf[:n])
			if conv.cut.Load() {
				return
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// keep is how much of a message's body is looked at. A batch begins with its snapshot, so that is enough.
const keep = 4096

// frames cuts one direction of a connection into messages.
type frames struct {
	startup bool // the first message has no type
	each    func(kind byte, body []byte)

	head []byte
	body []byte
	left int
	kind byte
	in   bool
}

func (f *frames) write(b []byte) {
	for len(b) > 0 {
		if !f.in {
			size := 5
			if f.startup {
				size = 4
			}
			n := min(size-len(f.head), len(b))
			f.head = append(f.head, b[:n]...)
			b = b[n:]
			if len(f.head) < size {
				return
			}
			f.kind = 0
			if !f.startup {
				f.kind = f.head[0]
			}
			f.left = int(binary.BigEndian.Uint32(f.head[size-4:])) - 4
			f.head, f.body, f.in = f.head[:0], f.body[:0], true
		}
		n := min(f.left, len(b))
		f.body = append(f.body, b[:min(n, keep-len(f.body))]...)
		b = b[n:]
		f.left -= n
		if f.left > 0 {
			return
		}
		f.in, f.startup = false, false
		f.each(f.kind, f.body)
	}
}

// conversation follows one connection: which message is being answered.
type conversation struct {
	tap *Tap
	cut atomic.Bool // nothing goes on in either direction

	mu       sync.Mutex
	question string // kind of the message that is being answered
	batch    bool   // the open transaction has sent a batch
}

var (
	snapshotBatch = regexp.MustCompile(`^\s*INSERT INTO (?:"(?:[^"]|"")*"\.|\S*)ducklake_snapshot VALUES`)
	commitWord    = regexp.MustCompile(`(?i)^\s*COMMIT\b`)
	readWord      = regexp.MustCompile(`(?is)^\s*(SELECT|COPY\s*\(|WITH)\b`)
)

func kindOf(sql []byte) string {
	switch {
	case snapshotBatch.Match(sql):
		return "batch"
	case commitWord.Match(sql):
		return "commit"
	case readWord.Match(sql) || bytes.HasPrefix(bytes.TrimSpace(sql), []byte("COPY (")):
		return "read"
	default:
		return "other"
	}
}

func (c *conversation) sent(kind byte, body []byte) {
	switch kind {
	case 'Q':
	case 'P': // a name, then the text
		if i := bytes.IndexByte(body, 0); i >= 0 {
			body = body[i+1:]
		}
	default:
		return
	}
	c.tap.mu.Lock()
	before := c.tap.before
	c.tap.mu.Unlock()
	if before != nil && !before(string(bytes.TrimRight(body, "\x00"))) {
		c.cut.Store(true)
		return
	}
	what := kindOf(body)
	c.mu.Lock()
	c.question = what
	c.mu.Unlock()
	c.tap.mu.Lock()
	defer c.tap.mu.Unlock()
	c.tap.counts.Statements++
	switch what {
	case "batch":
		c.tap.counts.Attempts++
		c.tap.since++
		c.tap.counts.Most = max(c.tap.counts.Most, c.tap.since)
	case "read":
		c.tap.counts.Reads++
	}
}

func (c *conversation) received(kind byte, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tap
	switch kind {
	case 'C':
		tag := string(bytes.TrimRight(body, "\x00"))
		switch {
		case c.question == "batch":
			c.batch = true
		case tag == "COMMIT" && c.batch:
			c.batch = false
			t.mu.Lock()
			t.counts.Commits++
			t.since = 0
			t.mu.Unlock()
		}
	case 'E':
		c.batch = false
		code, text := parseError(body)
		key := code + " " + c.question
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.counts.Errors == nil {
			t.counts.Errors, t.counts.Texts = map[string]int{}, map[string]string{}
		}
		t.counts.Errors[key]++
		if t.counts.Texts[key] == "" {
			t.counts.Texts[key] = text
		}
	}
}

// parseError returns the SQLSTATE and the message of an ErrorResponse.
func parseError(body []byte) (code, text string) {
	for len(body) > 1 {
		end := bytes.IndexByte(body[1:], 0)
		if end < 0 {
			end = len(body) - 1
		}
		v := string(body[1 : 1+end])
		switch body[0] {
		case 'C':
			code = v
		case 'M':
			text = v
		}
		body = body[min(len(body), 2+end):]
	}
	return code, text
}
