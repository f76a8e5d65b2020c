package server

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/eiderdb/eider/translate/pgerr"
)

// copyIn reads the data of one COPY FROM STDIN. The socket is never closed under a
// client that sends: DuckDB takes a failed send for damage of its whole instance. So
// the data is read to its end in every case, and errors are sent after it.
type copyIn struct {
	c        *conn
	ended    error // why there is no more data: io.EOF, CopyFail's error, a lost client
	draining bool
}

// Next returns the payload of the next CopyData message.
func (r *copyIn) Next() ([]byte, error) {
	for r.ended == nil {
		err := r.c.wait(true, 0)
		if !r.draining && r.c.batch.ctx.Err() != nil {
			// Cancelled, or the server stops. What the client still sends is read by Drain.
			return nil, context.Cause(r.c.batch.ctx)
		}
		if errors.Is(err, errWake) {
			continue
		}
		if err != nil {
			return nil, r.end(lost(err))
		}
		p, err := r.message()
		if p != nil || err != nil {
			return p, err
		}
	}
	return nil, r.ended
}

// message reads one message; both results are nil for one that has no say here.
func (r *copyIn) message() ([]byte, error) {
	c := r.c
	typ, n, err := c.r.header()
	if err != nil {
		return nil, r.end(lost(err))
	}
	limit := smallMessage
	switch typ {
	case 'd':
		limit = c.srv.opts.MaxMessage
	case 'c', 'f', 'H', 'S':
	case 'X':
		return nil, r.end(errGone)
	default:
		return nil, r.end(protocolFatal("unexpected message type 0x%02X during COPY from stdin", typ))
	}
	if n > limit || r.draining && typ == 'd' {
		if typ != 'd' {
			return nil, r.end(errLength)
		}
		if err := c.r.discard(n); err != nil {
			return nil, r.end(lost(err))
		}
		if r.draining {
			return nil, nil
		}
		return nil, pgerr.New(pgerr.ProgramLimitExceeded, "a message of %d bytes exceeds the limit of %d bytes", n, limit)
	}
	body, _, err := c.r.next(n)
	if err != nil {
		return nil, r.end(lost(err))
	}
	switch typ {
	case 'd':
		if len(body) == 0 {
			return nil, nil
		}
		return body, nil
	case 'c':
		return nil, r.end(io.EOF)
	case 'f':
		why := strings.ToValidUTF8(strings.TrimRight(string(body), "\x00"), "\uFFFD")
		return nil, r.end(pgerr.New(pgerr.QueryCanceled, "COPY from stdin failed: %s", why))
	}
	// Flush and Sync mean nothing while data is being sent.
	return nil, nil
}

// end notes that there is no more data.
func (r *copyIn) end(err error) error {
	r.ended = err
	if r.c.copying == r {
		r.c.copying = nil
	}
	return err
}

// Drain drops the data that is still to come. Only a lost connection or a broken
// protocol is an error.
func (r *copyIn) Drain() error {
	r.draining = true
	for r.ended == nil {
		r.Next()
	}
	if errors.Is(r.ended, errGone) || errors.Is(r.ended, errLength) || isFatal(r.ended) {
		return r.ended
	}
	return nil
}
