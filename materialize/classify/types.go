package classify

import (
	"errors"
	"fmt"
)

// Statement is one statement of a script.
type Statement struct {
	// Text is the statement without its comments, the white space around it and the
	// semicolon. Never empty.
	Text string
	// Offset is where its first token is in the script, in bytes.
	Offset int
	// Line and Col are the same place, both from 1; Col is in bytes.
	Line int
	Col  int
}

// Script is a script that a table can be made of.
type Script struct {
	// Setup are the statements before the SELECT, in their order.
	Setup []Statement
	// Output is the SELECT.
	Output Statement
}

// Class is what a statement is for.
type Class int

// The classes.
const (
	// Disallowed is for statements that write, that print, or that are not known.
	Disallowed Class = iota
	// Setup is for statements that change the session only.
	Setup
	// Output is for queries.
	Output
)

func (c Class) String() string {
	switch c {
	case Setup:
		return "setup"
	case Output:
		return "output"
	}
	return "disallowed"
}

// Why a table cannot be made of a script. What is returned is an *Error, which wraps one of
// them. Of several reasons the first of this list is told.
var (
	// ErrUnterminated is for a string, a quoted name or a comment without an end. Nothing
	// can be said about the statements then.
	ErrUnterminated = errors.New("unterminated")
	// ErrEmpty is for a script without a statement.
	ErrEmpty = errors.New("the script has no statement")
	// ErrNoSelect is for a script without a query.
	ErrNoSelect = errors.New("the script has no SELECT")
	// ErrSeveral is for a script with more than one query.
	ErrSeveral = errors.New("the script has several SELECTs")
	// ErrNotLast is for a script with a statement after the query.
	ErrNotLast = errors.New("the script goes on after its SELECT")
	// ErrStatement is for a script with a statement that is neither setup nor a query.
	ErrStatement = errors.New("the script has a statement that is no setup")
)

// Error says why a table cannot be made of a script.
type Error struct {
	// Err is one of the sentinels.
	Err error
	// Line and Col are the place that is wrong, from 1; 0 if it is the whole script. Of
	// ErrNoSelect they are those of the first statement that is not allowed, if there is one.
	Line int
	Col  int
	// Snippet is the beginning of the statement there, in one line.
	Snippet string
	// Count is how many queries there are; of ErrSeveral only.
	Count int
	// Remedy says what to write.
	Remedy string
}

// Error names the line, what is wrong and what to do.
func (e *Error) Error() string {
	s := e.Err.Error()
	if e.Count > 0 {
		s += fmt.Sprintf(" (%d)", e.Count)
	}
	if e.Snippet != "" {
		s += ": " + e.Snippet
	}
	if e.Line > 0 {
		s = fmt.Sprintf("line %d: %s", e.Line, s)
	}
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Unwrap is the sentinel.
func (e *Error) Unwrap() error { return e.Err }
