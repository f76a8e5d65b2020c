package server

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
)

// errFormat is a message whose body does not have the form of its type.
var errFormat = errors.New("server: invalid message format")

// extended handles Parse, Bind, Describe, Execute and Close.
func (c *conn) extended(typ byte, body []byte) error {
	var err error
	switch typ {
	case 'P':
		err = c.parse(body)
	case 'B':
		err = c.bind(body)
	case 'D':
		err = c.describe(body)
	case 'E':
		err = c.execute(body)
	case 'C':
		err = c.closeObject(body)
	}
	c.end()
	if err == nil {
		if c.w.err != nil {
			return errGone
		}
		if c.copying != nil {
			return c.copying.Drain()
		}
		return nil
	}
	if errors.Is(err, errFormat) {
		err = protocolError("invalid message format")
		c.sess.Fail()
	}
	return c.failExtended(err)
}

// failExtended reports an error and drops everything up to Sync.
func (c *conn) failExtended(err error) error {
	c.skip = true
	return c.report(err)
}

func (c *conn) parse(body []byte) error {
	var m pgproto3.Parse
	if err := m.Decode(body); err != nil {
		c.begin("")
		return errFormat
	}
	ctx := c.begin(m.Query)
	if !utf8.ValidString(m.Query) {
		c.sess.Fail()
		return validUTF8([]byte(m.Query))
	}
	if err := c.sess.Parse(ctx, m.Name, m.Query, m.ParameterOIDs); err != nil {
		return err
	}
	return c.w.empty('1')
}

func (c *conn) bind(body []byte) error {
	ctx := c.begin(c.batch.text)
	var m pgproto3.Bind
	// The portal keeps its parameters beyond this message.
	if err := m.Decode(bytes.Clone(body)); err != nil {
		return errFormat
	}
	err := c.sess.Bind(ctx, m.DestinationPortal, m.PreparedStatement, m.ParameterFormatCodes, m.Parameters, m.ResultFormatCodes)
	if err != nil {
		return err
	}
	return c.w.empty('2')
}

func (c *conn) describe(body []byte) error {
	ctx := c.begin(c.batch.text)
	kind, name, err := target(body)
	if err != nil {
		return err
	}
	c.out.reset()
	if kind == 'P' {
		cols, formats, err := c.sess.DescribePortal(name)
		if err != nil {
			return err
		}
		if cols == nil {
			return c.w.empty('n')
		}
		return c.w.rowDescription(cols, formats)
	}
	params, cols, err := c.sess.DescribeStatement(ctx, name)
	if err != nil {
		return err
	}
	at := c.w.start('t')
	c.w.buf = binary.BigEndian.AppendUint16(c.w.buf, uint16(len(params)))
	for _, oid := range params {
		c.w.buf = binary.BigEndian.AppendUint32(c.w.buf, oid)
	}
	if err := c.w.finish(at); err != nil {
		return err
	}
	if cols == nil {
		return c.w.empty('n')
	}
	return c.w.rowDescription(cols, nil)
}

func (c *conn) execute(body []byte) error {
	ctx := c.begin(c.batch.text)
	i := bytes.IndexByte(body, 0)
	if i < 0 || len(body) != i+5 {
		return errFormat
	}
	name := string(body[:i])
	rows := int32(binary.BigEndian.Uint32(body[i+1:]))
	c.out.extended = true
	err := c.sess.Execute(ctx, name, int(max(rows, 0)), &c.out)
	c.out.extended = false
	return err
}

func (c *conn) closeObject(body []byte) error {
	c.begin(c.batch.text)
	kind, name, err := target(body)
	if err != nil {
		return err
	}
	if kind == 'P' {
		err = c.sess.ClosePortal(name)
	} else {
		err = c.sess.CloseStatement(name)
	}
	if err != nil {
		return err
	}
	return c.w.empty('3')
}

// target decodes the body of Describe and Close.
func target(body []byte) (kind byte, name string, err error) {
	if len(body) < 2 || body[len(body)-1] != 0 || bytes.IndexByte(body[1:], 0) != len(body)-2 {
		return 0, "", errFormat
	}
	if body[0] != 'S' && body[0] != 'P' {
		return 0, "", protocolError("invalid message subtype %d", body[0])
	}
	return body[0], string(body[1 : len(body)-1]), nil
}

// sync ends a run of extended messages, and the skipping after an error.
func (c *conn) sync(body []byte) error {
	if len(body) != 0 {
		return errLength
	}
	c.skip = false
	ctx := c.begin(c.batch.text)
	err := c.sess.Sync(ctx)
	c.end()
	if err := c.report(err); err != nil {
		return err
	}
	return c.ready()
}

// empty sends a message without a body.
func (w *writer) empty(typ byte) error { return w.finish(w.start(typ)) }
