package translate

import (
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
)

// Out receives what a statement answers. The wire server implements it. An error from
// any method means that the client is gone: the statement ends with that error.
//
// Slices and rows handed to Out are valid only during the call.
type Out interface {
	// RowDescription announces rows. formats has no entry (all text), one entry for all
	// columns, or one per column, as in a Bind message.
	RowDescription(cols []exec.Column, formats []int16) error
	// DataRow sends one row of the columns and formats announced.
	DataRow(row exec.Row, cols []exec.Column, formats []int16) error
	// CommandComplete ends a statement.
	CommandComplete(tag string) error
	// EmptyQuery answers a message that holds no statement at all.
	EmptyQuery() error
	// Notice sends a notice or warning.
	Notice(*pgerr.Error) error
	// ParameterStatus reports a new value of a reported setting.
	ParameterStatus(name, value string) error
	// CopyOut starts COPY TO STDOUT.
	CopyOut(binary bool, ncols int) error
	// CopyData sends one or more whole rows (or the header or trailer) of a COPY TO.
	CopyData([]byte) error
	// CopyDone ends COPY TO STDOUT; CommandComplete follows.
	CopyDone() error
	// CopyIn asks the client for data. The reader is used up to CopyDone, CopyFail or loss
	// of the connection before the statement answers anything.
	CopyIn(binary bool, ncols int) (CopyReader, error)
	// Suspended says that a portal has more rows than Execute asked for.
	Suspended() error
}

// CopyReader yields the payloads of CopyData messages.
type CopyReader interface {
	// Next returns the next payload, valid until the following call; io.EOF after
	// CopyDone; an error for CopyFail (a *pgerr.Error with 57014) or a lost connection.
	Next() ([]byte, error)
	// Drain reads and drops everything up to CopyDone or CopyFail. It does nothing when
	// the end has been reached already.
	Drain() error
}
