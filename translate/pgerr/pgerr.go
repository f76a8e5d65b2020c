package pgerr

import (
	"errors"
	"fmt"
)

// Severity is the S field of an ErrorResponse or NoticeResponse.
type Severity string

// The severities that Eider sends.
const (
	SeverityError   Severity = "ERROR"
	SeverityFatal   Severity = "FATAL"
	SeverityNotice  Severity = "NOTICE"
	SeverityWarning Severity = "WARNING"
)

// Error is an error or notice as PostgreSQL reports it. The zero Severity means ERROR.
type Error struct {
	Severity   Severity
	Code       string // SQLSTATE, five characters
	Message    string
	Detail     string
	Hint       string
	Position   int // 1-based character position in the statement; 0: none
	Where      string
	Schema     string
	Table      string
	Column     string
	Constraint string
	cause      error
}

// Error returns the message with its SQLSTATE.
func (e *Error) Error() string { return e.Message + " (SQLSTATE " + e.Code + ")" }

// Unwrap returns the inner error, for logs and errors.Is.
func (e *Error) Unwrap() error { return e.cause }

// New makes an error with a SQLSTATE and a formatted message.
func New(code, format string, args ...any) *Error {
	return &Error{Severity: SeverityError, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap makes an error that keeps its cause for errors.Is; the cause is not shown to the client.
func Wrap(cause error, code, format string, args ...any) *Error {
	e := New(code, format, args...)
	e.cause = cause
	return e
}

// At sets the position from a byte offset in text (converted to 1-based characters)
// when none is set yet. A negative offset leaves the error as it is.
func (e *Error) At(text string, byteOffset int) *Error {
	if e.Position != 0 || byteOffset < 0 || byteOffset > len(text) {
		return e
	}
	n := 1
	for range text[:byteOffset] {
		n++
	}
	e.Position = n
	return e
}

// WithDetail sets the detail and returns e.
func (e *Error) WithDetail(format string, args ...any) *Error {
	e.Detail = fmt.Sprintf(format, args...)
	return e
}

// WithHint sets the hint and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// As returns the *Error in err's chain, or nil.
func As(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// CodeOf returns the SQLSTATE of err, or "" when it has none.
func CodeOf(err error) string {
	if e := As(err); e != nil {
		return e.Code
	}
	return ""
}
