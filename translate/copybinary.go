package translate

import (
	"errors"
	"io"

	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// runBinary reads the binary format. CopyData is a stream: tuples may span messages.
func (c *copyIn) runBinary(in CopyReader) error {
	r := c.stream(in)
	head, err := r.take(len(copyHeader))
	if err != nil {
		return c.streamEnd(err, "COPY file signature not recognized", "")
	}
	if string(head[:11]) != string(copyHeader[:11]) {
		return pgerr.New(pgerr.BadCopyFileFormat, "COPY file signature not recognized")
	}
	flags := be32(head[11:])
	if flags&(1<<16) != 0 {
		return pgerr.New(pgerr.BadCopyFileFormat, "invalid COPY file header (WITH OIDS)")
	}
	if flags>>17 != 0 {
		return pgerr.New(pgerr.BadCopyFileFormat, "unrecognized critical flags in COPY file header")
	}
	if n := int(int32(be32(head[15:]))); n < 0 {
		return pgerr.New(pgerr.BadCopyFileFormat, "invalid COPY file header (missing length)")
	} else if _, err := r.take(n); err != nil {
		return c.streamEnd(err, "invalid COPY file header (wrong length)", "")
	}
	for {
		c.line++
		more, err := c.binaryRow(r)
		if err != nil || !more {
			return err
		}
	}
}

// binaryRow reads and stores one row; more is false after the trailer, or at the end of the
// data where it is missing.
func (c *copyIn) binaryRow(r *copyStream) (more bool, err error) {
	b, err := r.peek(2)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, c.streamEnd(err, "unexpected EOF in COPY data", "")
	}
	fields := int(int16(uint16(b[0])<<8 | uint16(b[1])))
	if fields == -1 {
		r.pos += 2
		_, err := r.peek(1)
		if err == nil {
			err = c.context(pgerr.New(pgerr.BadCopyFileFormat, "received copy data after EOF marker"), "")
		} else if errors.Is(err, io.EOF) {
			err = nil
		}
		return false, err
	}
	if fields != len(c.cols) {
		return false, c.context(pgerr.New(pgerr.BadCopyFileFormat, "row field count is %d, expected %d", fields, len(c.cols)), "")
	}
	// The whole tuple is brought into the buffer first, because values alias it.
	size := 2
	for i := range fields {
		b, err := r.peek(size + 4)
		if err != nil {
			return false, c.streamEnd(err, "unexpected EOF in COPY data", ", column "+c.cols[i].Name)
		}
		n := int(int32(be32(b[size:])))
		size += 4
		if n < -1 {
			return false, c.context(pgerr.New(pgerr.BadCopyFileFormat, "invalid field size"), ", column "+c.cols[i].Name)
		}
		size += max(n, 0)
		if _, err := r.peek(size); err != nil {
			return false, c.streamEnd(err, "unexpected EOF in COPY data", ", column "+c.cols[i].Name)
		}
	}
	if b, err = r.take(size); err != nil {
		return false, c.streamEnd(err, "unexpected EOF in COPY data", ", column "+c.cols[fields-1].Name)
	}
	b = b[2:]
	for i := range fields {
		n := int(int32(be32(b)))
		b = b[4:]
		if n < 0 {
			c.w.row[c.index[i]] = types.Null
			continue
		}
		d, err := types.DecodeBinary(c.types[i].OID, b[:n:n])
		if err == nil && c.types[i].Mod >= 0 {
			d, err = types.Cast(c.env, types.T{OID: c.types[i].OID, Mod: -1}, c.types[i], d, false)
		}
		if err != nil {
			if pgerr.As(err) == nil {
				err = pgerr.Wrap(err, pgerr.InvalidBinaryRepresentation, "incorrect binary data format")
			}
			return false, c.context(err, ", column "+c.cols[i].Name)
		}
		c.w.row[c.index[i]] = d
		b = b[n:]
	}
	return true, c.store()
}

func be32(b []byte) uint32 {
	return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
}

// streamEnd words the end of the data in the wrong place; other errors pass.
func (c *copyIn) streamEnd(err error, text, detail string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return c.context(pgerr.New(pgerr.BadCopyFileFormat, "%s", text), detail)
	}
	return err
}

// copyStream makes one byte stream of CopyData messages.
type copyStream struct {
	in    CopyReader
	limit int64 // of what is held at once
	buf   []byte
	pos   int
	own   bool // buf is the stream's own memory, not the message's
	eof   bool
}

// stream bounds what a row may take by what a statement may hold: rows span messages.
func (c *copyIn) stream(in CopyReader) *copyStream {
	return &copyStream{in: in, limit: c.s.deps.Limits.StatementMemory}
}

// peek returns the next n bytes or more without moving: io.EOF when there is none left,
// io.ErrUnexpectedEOF when there are fewer. They are valid until the next call.
func (r *copyStream) peek(n int) ([]byte, error) {
	if int64(n) > r.limit {
		return nil, pgerr.New(pgerr.ProgramLimitExceeded, "a row of COPY data takes more than %d bytes", r.limit)
	}
	for len(r.buf)-r.pos < n {
		rest := r.buf[r.pos:]
		if !r.eof {
			if len(rest) > 0 && !r.own {
				rest = append(make([]byte, 0, 2*len(rest)), rest...) // the message's memory is reused by Next
				r.buf, r.pos, r.own = rest, 0, true
			}
			msg, err := r.in.Next()
			if err == nil {
				if len(rest) == 0 {
					r.buf, r.pos, r.own = msg, 0, false
				} else {
					r.buf = append(r.buf, msg...)
				}
				continue
			}
			if !errors.Is(err, io.EOF) {
				return nil, err
			}
			r.eof = true
			continue
		}
		if len(rest) == 0 {
			return nil, io.EOF
		}
		return nil, io.ErrUnexpectedEOF
	}
	return r.buf[r.pos:], nil
}

// take returns the next n bytes and moves past them.
func (r *copyStream) take(n int) ([]byte, error) {
	b, err := r.peek(n)
	if err != nil {
		return nil, err
	}
	r.pos += n
	return b[:n:n], nil
}
