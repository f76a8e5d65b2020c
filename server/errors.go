package server

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/eiderdb/eider/translate/pgerr"
)

// errGone ends a connection whose client has left or cannot be reached; nothing is said.
var errGone = errors.New("server: client gone")

// fatal makes an error that ends the connection after it has been sent.
func fatal(code, format string, args ...any) *pgerr.Error {
	e := pgerr.New(code, format, args...)
	e.Severity = pgerr.SeverityFatal
	return e
}

func errStarting() *pgerr.Error {
	return fatal(pgerr.CannotConnectNow, "the database system is starting up")
}

func errStopping() *pgerr.Error {
	return fatal(pgerr.CannotConnectNow, "the database system is shutting down")
}

func errTooMany() *pgerr.Error {
	return fatal(pgerr.TooManyConnections, "sorry, too many clients already")
}

func errAdminShutdown() *pgerr.Error {
	return fatal(pgerr.AdminShutdown, "terminating connection due to administrator command")
}

func errCanceledByUser() *pgerr.Error {
	return pgerr.New(pgerr.QueryCanceled, "canceling statement due to user request")
}

func protocolError(format string, args ...any) *pgerr.Error {
	return pgerr.New(pgerr.ProtocolViolation, format, args...)
}

func protocolFatal(format string, args ...any) *pgerr.Error {
	return fatal(pgerr.ProtocolViolation, format, args...)
}

// isFatal says whether err ends the connection.
func isFatal(err error) bool {
	e := pgerr.As(err)
	return e != nil && e.Severity == pgerr.SeverityFatal
}

// retryWords are what makes DuckLake try a commit again; texts of errors that nobody
// has worded for a client must not contain them.
var retryWords = [...]string{"primary key", "unique", "conflict", "concurrent"}

// clientError is err as the client sees it. A context that was cancelled explains
// errors that do not explain themselves.
func clientError(ctx context.Context, err error) *pgerr.Error {
	if e := pgerr.As(err); e != nil {
		return e
	}
	if ctx != nil && ctx.Err() != nil {
		if e := pgerr.As(context.Cause(ctx)); e != nil {
			return e
		}
		if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			return pgerr.Wrap(err, pgerr.QueryCanceled, "canceling statement due to statement timeout")
		}
		return errCanceledByUser()
	}
	text := err.Error()
	low := strings.ToLower(text)
	for _, w := range retryWords {
		if strings.Contains(low, w) {
			text = "the server's log has the cause"
			break
		}
	}
	return pgerr.Wrap(err, pgerr.InternalError, "internal error: %s", text)
}

// lost maps a failed read to errGone, keeping errors that have a SQLSTATE.
func lost(err error) error {
	if pgerr.As(err) != nil || errors.Is(err, errLength) {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errGone
	}
	return errors.Join(errGone, err)
}

// problem sends an ErrorResponse or NoticeResponse.
func (w *writer) problem(typ byte, e *pgerr.Error) error {
	sev := e.Severity
	if sev == "" {
		sev = pgerr.SeverityError
	}
	at := w.start(typ)
	w.field('S', string(sev))
	w.field('V', string(sev))
	w.field('C', e.Code)
	w.field('M', e.Message)
	w.optional('D', e.Detail)
	w.optional('H', e.Hint)
	if e.Position > 0 {
		w.field('P', strconv.Itoa(e.Position))
	}
	w.optional('W', e.Where)
	w.optional('s', e.Schema)
	w.optional('t', e.Table)
	w.optional('c', e.Column)
	w.optional('n', e.Constraint)
	w.buf = append(w.buf, 0)
	return w.finish(at)
}

func (w *writer) optional(typ byte, s string) {
	if s != "" {
		w.field(typ, s)
	}
}

// field writes one field. The protocol's strings end at a NUL, and quoted values may
// hold some.
func (w *writer) field(typ byte, s string) {
	w.buf = append(w.buf, typ)
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", `\0`)
	}
	w.buf = append(w.buf, s...)
	w.buf = append(w.buf, 0)
}
