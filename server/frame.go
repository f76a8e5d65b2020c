package server

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"sync"
)

const (
	// idleBuffer is what a connection holds while it waits for its client. It takes the
	// statements that surround every transaction (SELECT 1, BEGIN, COMMIT, DISCARD ALL)
	// in one read.
	idleBuffer = 512
	// readBuffer is the pooled buffer of a connection that has input.
	readBuffer = 16 << 10
	// keepBody is the largest body that is read into a pooled buffer; beyond it a buffer
	// is made for the message and left to whoever got it.
	keepBody = 256 << 10
)

// Buffers are pooled by pointer, so that Put does not allocate.
var (
	readPool = sync.Pool{New: func() any { b := make([]byte, readBuffer); return &b }}
	bodyPool = sync.Pool{New: func() any { b := make([]byte, keepBody); return &b }}
)

// errLength is a message whose length field cannot be right.
var errLength = errors.New("server: invalid message length")

// reader cuts the client's byte stream into messages. It holds only idleBuffer bytes
// while nothing is being received.
type reader struct {
	src io.Reader
	// onTimeout decides what a passed read deadline means: nil means read on.
	onTimeout func() error
	received  uint64

	small  [idleBuffer]byte
	pooled *[]byte // from readPool, nil while small is in use
	body   *[]byte // from bodyPool, nil unless the last body is in it
	r, w   int     // buffered bytes are buf()[r:w]
}

func (b *reader) buf() []byte {
	if b.pooled != nil {
		return *b.pooled
	}
	return b.small[:]
}

// buffered says how many received bytes have not been consumed.
func (b *reader) buffered() int { return b.w - b.r }

// read is one Read that retries passed deadlines as long as onTimeout says so.
func (b *reader) read(p []byte) (int, error) {
	for {
		n, err := b.src.Read(p)
		if n > 0 {
			b.received += uint64(n)
			return n, nil
		}
		if err == nil {
			continue
		}
		if errors.Is(err, os.ErrDeadlineExceeded) && b.onTimeout != nil {
			if err := b.onTimeout(); err != nil {
				return 0, err
			}
			continue
		}
		return 0, err
	}
}

// fill makes at least n bytes available, n ≤ readBuffer.
func (b *reader) fill(n int) error {
	if b.w-b.r >= n {
		return nil
	}
	if b.r == b.w {
		b.r, b.w = 0, 0
	}
	if n > len(b.buf())-b.r {
		if b.pooled == nil && n > len(b.small) {
			p := readPool.Get().(*[]byte)
			b.w = copy(*p, b.small[b.r:b.w])
			b.pooled, b.r = p, 0
		} else {
			b.w = copy(b.buf(), b.buf()[b.r:b.w])
			b.r = 0
		}
	}
	for b.w-b.r < n {
		m, err := b.read(b.buf()[b.w:])
		if err != nil {
			return err
		}
		b.w += m
	}
	return nil
}

// rest gives the pooled buffers back when nothing is buffered: the connection is about
// to wait for its client.
func (b *reader) rest() {
	if b.body != nil {
		bodyPool.Put(b.body)
		b.body = nil
	}
	if b.pooled != nil && b.r == b.w {
		readPool.Put(b.pooled)
		b.pooled, b.r, b.w = nil, 0, 0
	}
}

// header reads a message's type and the length of its body.
func (b *reader) header() (typ byte, n int, err error) {
	if err := b.fill(5); err != nil {
		return 0, 0, err
	}
	h := b.buf()[b.r : b.r+5]
	size := int64(int32(binary.BigEndian.Uint32(h[1:])))
	typ = h[0]
	b.r += 5
	if size < 4 {
		return typ, 0, errLength
	}
	return typ, int(size - 4), nil
}

// next reads a body of n bytes, valid until the next call of any method. owned says
// that the buffer was made for this message, so that the caller may keep it.
func (b *reader) next(n int) (p []byte, owned bool, err error) {
	if n <= readBuffer {
		if err := b.fill(n); err != nil {
			return nil, false, err
		}
		p = b.buf()[b.r : b.r+n : b.r+n]
		b.r += n
		return p, false, nil
	}
	if n <= keepBody {
		if b.body == nil {
			b.body = bodyPool.Get().(*[]byte)
		}
		p = (*b.body)[:n:n]
		return p, false, b.full(p)
	}
	// The buffer grows with what arrives: a length alone must not reserve memory.
	p = make([]byte, min(n, 4*keepBody))
	for got := 0; ; {
		if err := b.full(p[got:]); err != nil {
			return nil, false, err
		}
		got = len(p)
		if got == n {
			return p, true, nil
		}
		grown := make([]byte, min(n, 2*got))
		copy(grown, p)
		p = grown
	}
}

// full fills p from the buffer and the source.
func (b *reader) full(p []byte) error {
	m := copy(p, b.buf()[b.r:b.w])
	b.r += m
	for m < len(p) {
		k, err := b.read(p[m:])
		if err != nil {
			return err
		}
		m += k
	}
	return nil
}

// discard drops n bytes.
func (b *reader) discard(n int) error {
	for n > 0 {
		if err := b.fill(1); err != nil {
			return err
		}
		m := min(n, b.w-b.r)
		b.r += m
		n -= m
	}
	return nil
}
