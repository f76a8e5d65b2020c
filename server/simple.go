package server

import (
	"bytes"
	"errors"
	"unicode/utf8"
	"unsafe"

	"github.com/eiderdb/eider/translate"
	"github.com/eiderdb/eider/translate/pgerr"
)

// query handles a Query message.
func (c *conn) query(body []byte, owned bool) error {
	text, err := cString(body, owned)
	if err != nil {
		c.begin("")
		c.sess.Fail()
		return c.finishSimple(err)
	}
	ctx := c.begin(text)
	err = c.sess.Simple(ctx, text, &c.out)
	return c.finishSimple(err)
}

// finishSimple ends a simple query: the error, if any, and ReadyForQuery.
func (c *conn) finishSimple(err error) error {
	c.end()
	if err := c.report(err); err != nil {
		return err
	}
	return c.ready()
}

// report sends the ErrorResponse for err, after the client has ended its COPY data. It
// returns an error when the connection must end.
func (c *conn) report(err error) error {
	c.logStatement(err)
	if c.copying != nil {
		if derr := c.copying.Drain(); derr != nil {
			return derr
		}
	}
	if c.w.err != nil || errors.Is(err, errGone) {
		return errGone
	}
	if err == nil {
		return nil
	}
	e := clientError(c.batch.ctx, err)
	if isFatal(e) {
		return e
	}
	c.srv.metrics.failed(e.Code)
	c.out.failed(e)
	if e.Code == pgerr.InternalError {
		c.log.Error("internal error", "error", err, "cause", errors.Unwrap(e), "statement", shorten(c.batch.text))
	}
	if c.w.problem('E', e) != nil || c.w.flush() != nil {
		return errGone
	}
	return nil
}

// ready ends the answer to a Query or Sync.
func (c *conn) ready() error {
	c.endBatch()
	status := c.sess.TxStatus()
	if status == 'I' && c.noted.Load() {
		// A stop is left to the main loop: this message gets its whole answer.
		if err := c.deliver(); err != nil {
			return err
		}
	}
	switch status {
	case 'T':
		c.state.Store(stateInTransaction)
	case 'E':
		c.state.Store(stateInFailedTransaction)
	default:
		c.state.Store(stateIdle)
	}
	at := c.w.start('Z')
	c.w.buf = append(c.w.buf, status)
	if c.w.finish(at) != nil || c.w.flush() != nil {
		return errGone
	}
	c.w.rest()
	c.count()
	return nil
}

// functionCall refuses the protocol's function call.
func (c *conn) functionCall() error {
	c.begin("")
	c.sess.Fail()
	return c.finishSimple(pgerr.New(pgerr.FeatureNotSupported, "function calls by protocol message are not supported").
		WithHint("Call the function in a SELECT."))
}

// notification encodes a NotificationResponse.
func (w *writer) notification(n translate.Notification) error {
	at := w.start('A')
	w.buf = append(w.buf, byte(n.PID>>24), byte(n.PID>>16), byte(n.PID>>8), byte(n.PID))
	w.buf = append(w.buf, n.Channel...)
	w.buf = append(w.buf, 0)
	w.buf = append(w.buf, n.Payload...)
	w.buf = append(w.buf, 0)
	return w.finish(at)
}

// cString takes the one NUL-terminated string that is the whole body. An owned buffer
// becomes the string: nobody writes to it any more.
func cString(body []byte, owned bool) (string, error) {
	i := bytes.IndexByte(body, 0)
	if i != len(body)-1 || i < 0 {
		return "", protocolError("invalid message format")
	}
	body = body[:i]
	if err := validUTF8(body); err != nil {
		return "", err
	}
	if owned && len(body) > 0 {
		return unsafe.String(unsafe.SliceData(body), len(body)), nil
	}
	return string(body), nil
}

// validUTF8 refuses statement texts that are not UTF-8, as PostgreSQL does.
func validUTF8(b []byte) error {
	if utf8.Valid(b) {
		return nil
	}
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n <= 1 {
			break
		}
		b = b[n:]
	}
	seq := b[:min(len(b), sequenceLength(b[0]))]
	text := ""
	for i, x := range seq {
		if i > 0 {
			text += " "
		}
		text += "0x" + string("0123456789abcdef"[x>>4]) + string("0123456789abcdef"[x&15])
	}
	return pgerr.New(pgerr.CharacterNotInRepertoire, `invalid byte sequence for encoding "UTF8": %s`, text)
}

// sequenceLength is how long the UTF-8 sequence that begins with b claims to be.
func sequenceLength(b byte) int {
	switch {
	case b >= 0xf0 && b < 0xf8:
		return 4
	case b >= 0xe0 && b < 0xf0:
		return 3
	case b >= 0xc0 && b < 0xe0:
		return 2
	}
	return 1
}

// shorten cuts a statement for a log line.
func shorten(s string) string {
	if len(s) > 1024 {
		return s[:1024] + "…"
	}
	return s
}
