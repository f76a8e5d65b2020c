package annotate

import (
	"errors"
	"fmt"
	"slices"
)

// Severity is what a diagnostic means for a run.
type Severity int

// The severities.
const (
	// SeverityWarning is for what is probably not meant, and does no harm.
	SeverityWarning Severity = iota
	// SeverityError is for what makes a run do something other than what the header asks
	// for. No run should start.
	SeverityError
)

func (s Severity) String() string {
	if s == SeverityError {
		return "error"
	}
	return "warning"
}

// Code is what a diagnostic is about.
type Code string

// The codes.
const (
	// CodeMalformed is for a line that is not read.
	CodeMalformed Code = "malformed"
	// CodeDuplicate is for a line that another one of the same keyword leaves without
	// effect, and for an option that comes twice.
	CodeDuplicate Code = "duplicate"
	// CodeMisspelt is for a comment that would be an annotation with another first word.
	CodeMisspelt Code = "misspelt"
	// CodeOption is for an option that the keyword does not have.
	CodeOption Code = "option"
	// CodeStray is for a word between options.
	CodeStray Code = "stray"
	// CodeValue is for a value that is not one of those that an option takes.
	CodeValue Code = "value"
	// CodeNoEffect is for what another part of the header leaves without effect.
	CodeNoEffect Code = "no-effect"
	// CodeConflict is for lines that contradict each other.
	CodeConflict Code = "conflict"
	// CodeTarget is for a table that cannot be one.
	CodeTarget Code = "target"
	// CodePrefix is for an annotation behind #, which is no comment in SQL.
	CodePrefix Code = "prefix"
	// CodeUnseen is for an annotation after the end of the header.
	CodeUnseen Code = "unseen"
)

// ErrHeader is what every error about a header wraps.
var ErrHeader = errors.New("bad header")

// Diagnostic is one thing that is wrong with a header.
type Diagnostic struct {
	// Line is the number of the line in the script, from 1; 0 if it is none of them.
	Line int
	// Keyword is the annotation that it is about.
	Keyword  string
	Code     Code
	Severity Severity
	// Message says what is wrong, Remedy what to write.
	Message string
	Remedy  string
}

// String is the diagnostic as one line, without its severity.
func (d Diagnostic) String() string {
	s := d.Message
	if d.Line > 0 {
		s = fmt.Sprintf("line %d: %s", d.Line, s)
	}
	if d.Remedy != "" {
		s += "; " + d.Remedy
	}
	return s
}

// Error makes an error of the diagnostic, which wraps ErrHeader.
func (d Diagnostic) Error() string { return d.String() }

// Unwrap is ErrHeader.
func (d Diagnostic) Unwrap() error { return ErrHeader }

// Err is the diagnostics that refuse a run, joined; nil if there are none. errors.As finds
// the first as a Diagnostic.
func (h *Header) Err() error {
	var errs []error
	for _, d := range h.Diagnostics {
		if d.Severity == SeverityError {
			errs = append(errs, d)
		}
	}
	return errors.Join(errs...)
}

// Unreadable tells whether the header has a line that should name the table, and cannot be read.
func (h *Header) Unreadable() bool {
	return slices.ContainsFunc(h.Diagnostics, func(d Diagnostic) bool {
		return d.Keyword == keyMaterialize && d.Code == CodeMalformed && d.Severity == SeverityError
	})
}

// MalformedTests counts the data_test lines of the header that were not read.
func (h *Header) MalformedTests() int {
	n := 0
	for _, d := range h.Diagnostics {
		if d.Keyword == keyDataTest && d.Code == CodeMalformed {
			n++
		}
	}
	return n
}
