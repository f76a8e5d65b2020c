package server

import (
	"encoding/binary"
	"io"
	"math"
	"net"
	"sync"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/eiderdb/eider/translate/pgerr"
)

const (
	// flushAt is how many buffered bytes are sent without waiting for the end of an answer.
	flushAt = 32 << 10
	// writeBuffer is the capacity of a pooled buffer: flushAt and one more usual message.
	writeBuffer = 64 << 10
	// writeThrough is the CopyData payload that is handed to the socket without copying it.
	writeThrough = 8 << 10
)

var writePool = sync.Pool{New: func() any { b := make([]byte, 0, writeBuffer); return &b }}

// writer buffers messages to the client. Its first failure is kept and returned by
// everything that follows: the client is gone. It holds no buffer while it is empty.
type writer struct {
	dst    io.Writer
	pooled *[]byte
	buf    []byte
	err    error
	sent   uint64
}

// start begins a message and returns its offset for finish.
func (w *writer) start(typ byte) int {
	if w.pooled == nil {
		w.pooled = writePool.Get().(*[]byte)
		w.buf = (*w.pooled)[:0]
	}
	at := len(w.buf)
	w.buf = append(w.buf, typ, 0, 0, 0, 0)
	return at
}

// finish sets the length of the message that began at offset at.
func (w *writer) finish(at int) error {
	n := len(w.buf) - at - 1
	if n > math.MaxInt32 {
		w.buf = w.buf[:at]
		return pgerr.New(pgerr.ProgramLimitExceeded, "a row of %d bytes does not fit into a message", n)
	}
	binary.BigEndian.PutUint32(w.buf[at+1:], uint32(n))
	if len(w.buf) >= flushAt {
		return w.flush()
	}
	return w.err
}

// send encodes a message that is not worth an encoder of its own.
func (w *writer) send(m pgproto3.BackendMessage) error {
	if w.pooled == nil {
		w.pooled = writePool.Get().(*[]byte)
		w.buf = (*w.pooled)[:0]
	}
	b, err := m.Encode(w.buf)
	if err != nil {
		return pgerr.Wrap(err, pgerr.ProgramLimitExceeded, "an answer does not fit into a message")
	}
	w.buf = b
	return w.err
}

// copyData sends a CopyData message.
func (w *writer) copyData(p []byte) error {
	at := w.start('d')
	if len(p) < writeThrough {
		w.buf = append(w.buf, p...)
		return w.finish(at)
	}
	if len(p) > math.MaxInt32-4 {
		w.buf = w.buf[:at]
		return pgerr.New(pgerr.ProgramLimitExceeded, "a row of %d bytes does not fit into a message", len(p))
	}
	binary.BigEndian.PutUint32(w.buf[at+1:], uint32(len(p)+4))
	if w.err == nil {
		parts := net.Buffers{w.buf, p}
		n, err := parts.WriteTo(w.dst)
		w.sent += uint64(n)
		w.err = err
	}
	w.buf = w.buf[:0]
	return w.err
}

// flush sends what is buffered and keeps the buffer.
func (w *writer) flush() error {
	if len(w.buf) == 0 {
		return w.err
	}
	if w.err == nil {
		n, err := w.dst.Write(w.buf)
		w.sent += uint64(n)
		w.err = err
	}
	w.buf = w.buf[:0]
	return w.err
}

// rest gives an empty buffer back. One that grew for a huge row is left to the collector.
func (w *writer) rest() {
	if w.pooled == nil || len(w.buf) > 0 {
		return
	}
	if cap(w.buf) <= 2*writeBuffer {
		*w.pooled = w.buf
		writePool.Put(w.pooled)
	}
	w.pooled, w.buf = nil, nil
}

// release drops everything: the connection ends.
func (w *writer) release() {
	w.buf = w.buf[:0]
	w.rest()
}
