package server

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/eiderdb/eider/translate"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// outlet is the translate.Out of a connection.
type outlet struct {
	c *conn
	// extended: rows of Execute are not described, Describe has done that.
	extended bool
	// env is what rows are encoded with, nil until the first row of a statement: SET may
	// come between two statements of one message.
	env *types.Env
}

var _ translate.Out = (*outlet)(nil)

func (o *outlet) reset() { o.env = nil }

// RowDescription announces rows.
func (o *outlet) RowDescription(cols []exec.Column, formats []int16) error {
	o.env = o.c.sess.Env()
	if o.extended {
		return nil
	}
	return o.c.w.rowDescription(cols, formats)
}

// rowDescription encodes a RowDescription.
func (w *writer) rowDescription(cols []exec.Column, formats []int16) error {
	at := w.start('T')
	if len(cols) > math.MaxInt16 {
		w.buf = w.buf[:at]
		return pgerr.New(pgerr.TooManyColumns, "a result can have at most %d columns", math.MaxInt16)
	}
	b := binary.BigEndian.AppendUint16(w.buf, uint16(len(cols)))
	for i := range cols {
		col := &cols[i]
		size := int16(-1)
		if info, ok := types.Lookup(col.Type.OID); ok {
			size = info.Len
		}
		mod := col.Type.Mod
		if col.Type.OID == types.RecordOID {
			mod = -1 // the planner's own
		}
		b = append(b, cutNUL(col.Name)...)
		b = append(b, 0)
		b = binary.BigEndian.AppendUint32(b, col.Table)
		b = binary.BigEndian.AppendUint16(b, uint16(col.Attr))
		b = binary.BigEndian.AppendUint32(b, col.Type.OID)
		b = binary.BigEndian.AppendUint16(b, uint16(size))
		b = binary.BigEndian.AppendUint32(b, uint32(mod))
		b = binary.BigEndian.AppendUint16(b, uint16(format(formats, i)))
	}
	w.buf = b
	return w.finish(at)
}

// cutNUL ends a name where the protocol would end it.
func cutNUL(s string) string {
	for i := range len(s) {
		if s[i] == 0 {
			return s[:i]
		}
	}
	return s
}

// format is column i's format code by Bind's rules: none is text, one is for all.
func format(formats []int16, i int) int16 {
	switch len(formats) {
	case 0:
		return 0
	case 1:
		return formats[0]
	}
	if i < len(formats) {
		return formats[i]
	}
	return 0
}

// DataRow sends one row.
func (o *outlet) DataRow(row exec.Row, cols []exec.Column, formats []int16) error {
	if o.env == nil {
		o.env = o.c.sess.Env()
	}
	w := &o.c.w
	at := w.start('D')
	b := binary.BigEndian.AppendUint16(w.buf, uint16(len(row)))
	for i := range row {
		d := &row[i]
		if !d.Valid {
			b = append(b, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		size := len(b)
		b = append(b, 0, 0, 0, 0)
		if format(formats, i) == 0 {
			b = types.AppendText(o.env, b, cols[i].Type, *d)
		} else {
			b = types.AppendBinary(b, cols[i].Type.OID, *d)
		}
		n := len(b) - size - 4
		if len(b)-at > math.MaxInt32 {
			w.buf = b[:at]
			return pgerr.New(pgerr.ProgramLimitExceeded, "a row of more than %d bytes does not fit into a message", math.MaxInt32)
		}
		binary.BigEndian.PutUint32(b[size:], uint32(n))
	}
	w.buf = b
	return w.finish(at)
}

// CommandComplete ends a statement.
func (o *outlet) CommandComplete(tag string) error {
	o.env = nil
	now := time.Now()
	o.c.srv.metrics.statement(tag, now.Sub(o.c.batch.mark))
	o.c.batch.mark = now
	at := o.c.w.start('C')
	o.c.w.buf = append(o.c.w.buf, tag...)
	o.c.w.buf = append(o.c.w.buf, 0)
	return o.c.w.finish(at)
}

// failed counts the statement that ended with an error.
func (o *outlet) failed(e *pgerr.Error) {
	o.c.srv.metrics.statementFailed(o.c.batch.text, time.Since(o.c.batch.mark))
}

// EmptyQuery answers a message without a statement.
func (o *outlet) EmptyQuery() error { return o.c.w.empty('I') }

// Notice sends a notice or warning.
func (o *outlet) Notice(e *pgerr.Error) error { return o.c.w.problem('N', e) }

// ParameterStatus reports a setting.
func (o *outlet) ParameterStatus(name, value string) error {
	return o.c.w.parameterStatus(name, value)
}

func (w *writer) parameterStatus(name, value string) error {
	at := w.start('S')
	w.buf = append(w.buf, name...)
	w.buf = append(w.buf, 0)
	w.buf = append(w.buf, cutNUL(value)...)
	w.buf = append(w.buf, 0)
	return w.finish(at)
}

// Suspended says that a portal has more rows.
func (o *outlet) Suspended() error { return o.c.w.empty('s') }

// CopyOut starts COPY TO STDOUT.
func (o *outlet) CopyOut(binary bool, ncols int) error { return o.c.w.copyResponse('H', binary, ncols) }

// CopyData sends whole rows of a COPY TO.
func (o *outlet) CopyData(p []byte) error { return o.c.w.copyData(p) }

// CopyDone ends COPY TO STDOUT.
func (o *outlet) CopyDone() error { return o.c.w.empty('c') }

// CopyIn asks the client for data.
func (o *outlet) CopyIn(binary bool, ncols int) (translate.CopyReader, error) {
	if err := o.c.w.copyResponse('G', binary, ncols); err != nil {
		return nil, err
	}
	if err := o.c.w.flush(); err != nil {
		return nil, err
	}
	o.c.copying = &copyIn{c: o.c}
	return o.c.copying, nil
}

func (w *writer) copyResponse(typ byte, isBinary bool, ncols int) error {
	f := byte(0)
	if isBinary {
		f = 1
	}
	at := w.start(typ)
	w.buf = append(w.buf, f)
	w.buf = binary.BigEndian.AppendUint16(w.buf, uint16(ncols))
	for range ncols {
		w.buf = append(w.buf, 0, f)
	}
	return w.finish(at)
}
