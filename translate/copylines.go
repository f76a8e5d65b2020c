package translate

import (
	"bytes"
	"errors"
	"io"

	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// endOfLine is how the data ends its lines, known after the first one.
type endOfLine uint8

const (
	eolUnknown endOfLine = iota
	eolNL
	eolCR
	eolCRNL
)

// lineReader cuts a stream of CopyData messages into lines.
type lineReader struct {
	r     copyStream
	csv   bool
	quote byte
	esc   byte
	delim byte
	eol   endOfLine
	lines int  // newlines passed inside a CSV value
	open  bool // the data ended inside quotes
	ended bool // the end marker has been read; what stands before it in its line is the last line
}

// field is one value of a line as it was written, and whether CSV quotes were around it.
type field struct {
	text   []byte
	quoted bool
}

// runLines reads the text and CSV formats.
func (c *copyIn) runLines(in CopyReader, csv bool) error {
	lr := &lineReader{r: *c.stream(in), csv: csv, quote: c.opts.quote, esc: c.opts.escape, delim: c.opts.delim}
	header := c.opts.header
	var fields []field
	var arena []byte
	for {
		c.line++
		line, err := lr.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && lr.ended && len(line) == 0 {
			return c.skipRest(in)
		}
		if err != nil {
			if pgerr.As(err) == nil {
				return err
			}
			if l := c.lineContext(line); lr.open {
				return c.context(err, l)
			}
			return c.context(err, "")
		}
		if header {
			header = false
			if c.opts.headerMatch {
				if err := c.matchHeader(lr, line); err != nil {
					return err
				}
			}
			continue
		}
		if csv && bytes.Equal(line, []byte(`\.`)) {
			return c.skipRest(in)
		}
		arena = arena[:0]
		if csv {
			fields, arena = lr.csvFields(line, fields[:0], arena)
		} else {
			fields = lr.textFields(line, fields[:0])
		}
		if err := c.lineRow(line, fields, arena, csv); err != nil {
			return err
		}
		c.line += lr.lines
		lr.lines = 0
		if lr.ended {
			return c.skipRest(in)
		}
	}
}

// skipRest drops what follows the end marker. The client may still say that it failed.
func (c *copyIn) skipRest(in CopyReader) error {
	for {
		if _, err := in.Next(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (c *copyIn) lineContext(line []byte) string { return `: "` + shorten(line) + `"` }

func (c *copyIn) matchHeader(lr *lineReader, line []byte) error {
	var fields []field
	if lr.csv {
		fields, _ = lr.csvFields(line, nil, nil)
	} else {
		fields = lr.textFields(line, nil)
	}
	if len(fields) != len(c.cols) {
		return c.context(pgerr.New(pgerr.BadCopyFileFormat, "wrong number of fields in header line: got %d, expected %d",
			len(fields), len(c.cols)), c.lineContext(line))
	}
	for i, f := range fields {
		if string(f.text) == c.opts.null && !f.quoted {
			return c.context(pgerr.New(pgerr.BadCopyFileFormat, `column name mismatch in header line field %d: got null value ("%s"), expected %q`,
				i+1, c.opts.null, c.cols[i].Name), c.lineContext(line))
		}
		if name := string(f.text); name != c.cols[i].Name {
			return c.context(pgerr.New(pgerr.BadCopyFileFormat, "column name mismatch in header line field %d: got %q, expected %q",
				i+1, name, c.cols[i].Name), c.lineContext(line))
		}
	}
	return nil
}

// lineRow turns a line's fields into a row and stores it.
func (c *copyIn) lineRow(line []byte, fields []field, arena []byte, csv bool) error {
	if len(fields) > len(c.cols) {
		if len(c.cols) > 0 || len(line) > 0 {
			return c.context(pgerr.New(pgerr.BadCopyFileFormat, "extra data after last expected column"), c.lineContext(line))
		}
		fields = fields[:0]
	}
	for i := range c.cols {
		if i >= len(fields) {
			return c.context(pgerr.New(pgerr.BadCopyFileFormat, "missing data for column %q", c.cols[i].Name), c.lineContext(line))
		}
		f := &fields[i]
		text, null := f.text, false
		if csv {
			isNull := string(text) == c.opts.null
			null = isNull && (!f.quoted && !c.notNull[i] || f.quoted && c.null[i])
		} else if string(text) == c.opts.null {
			null = true
		} else if bytes.IndexByte(text, '\\') >= 0 {
			start := len(arena)
			arena = unescapeText(arena, text)
			text = arena[start:len(arena):len(arena)]
		}
		if null {
			c.w.row[c.index[i]] = types.Null
			continue
		}
		if bytes.IndexByte(text, 0) < 0 {
			if err := types.CheckUTF8(text); err != nil {
				return c.context(err, "")
			}
		}
		d, err := types.Input(c.env, c.types[i], text)
		if err != nil {
			return c.context(err, columnContext(c.cols[i].Name, text, false))
		}
		c.w.row[c.index[i]] = d
	}
	c.rowLine = line
	return c.store()
}

// next returns the next line without its end; it is valid until the following call.
func (l *lineReader) next() ([]byte, error) {
	b, err := l.r.peek(1)
	if err != nil {
		return nil, err
	}
	i, inQuote := 0, false
	more := func() bool { // makes b[i] available
		if i < len(b) {
			return true
		}
		b, err = l.r.peek(i + 1)
		if err != nil {
			b = l.r.buf[l.r.pos:]
			return false
		}
		return true
	}
	for more() {
		ch := b[i]
		switch {
		case l.csv && ch == l.esc && l.esc != l.quote && inQuote:
			i++
			if more() && (b[i] == l.quote || b[i] == l.esc) {
				i++
			}
			continue
		case l.csv && ch == l.quote:
			inQuote = !inQuote
		case !l.csv && ch == '\\':
			i++
			if more() && b[i] == '.' {
				return l.endMarker(i - 1)
			}
			if i < len(b) {
				i++
			}
			continue
		case ch == '\n' && inQuote:
			l.lines++
		case inQuote:
		case ch == '\n':
			if l.eol == eolUnknown {
				l.eol = eolNL
			}
			if l.eol != eolNL {
				return b[:i], pgerr.New(pgerr.BadCopyFileFormat, "literal newline found in data").
					WithHint("Use \"\\n\" to represent newline.")
			}
			l.r.pos += i + 1
			return b[:i], nil
		case ch == '\r':
			end := i
			i++
			isCRNL := more() && b[i] == '\n'
			if l.eol == eolUnknown {
				l.eol = eolCR
				if isCRNL {
					l.eol = eolCRNL
				}
			}
			if l.eol == eolNL || l.eol == eolCRNL != isCRNL {
				return b[:end], pgerr.New(pgerr.BadCopyFileFormat, "literal carriage return found in data").
					WithHint("Use \"\\r\" to represent carriage return.")
			}
			if isCRNL {
				i++
			}
			l.r.pos += i
			return b[:end], nil
		}
		i++
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	if inQuote {
		l.open = true
		return b, pgerr.New(pgerr.BadCopyFileFormat, "unterminated CSV quoted field")
	}
	l.r.pos += len(b)
	return b, nil
}

// endMarker reads \. at an offset and the end of its line, which must be as those before it.
func (l *lineReader) endMarker(at int) ([]byte, error) {
	b, err := l.r.peek(at + 3)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	corrupt := pgerr.New(pgerr.BadCopyFileFormat, "end-of-copy marker corrupt")
	other := pgerr.New(pgerr.BadCopyFileFormat, "end-of-copy marker does not match previous newline style")
	if err != nil {
		return nil, corrupt
	}
	end := b[at+2]
	switch {
	case end != '\n' && end != '\r':
		return nil, corrupt
	case l.eol == eolNL && end != '\n', l.eol == eolCR && end != '\r', l.eol == eolCRNL && end == '\n':
		return nil, other
	case l.eol == eolCRNL:
		if b, err = l.r.peek(at + 4); err != nil || b[at+3] != '\n' {
			return nil, other
		}
	}
	l.ended = true
	return b[:at], nil
}

// textFields cuts a line of the text format at its delimiters.
func (l *lineReader) textFields(line []byte, out []field) []field {
	start := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case l.delim:
			out = append(out, field{text: line[start:i:i]})
			start = i + 1
		}
	}
	return append(out, field{text: line[start:]})
}

// unescapeText appends text with its backslash sequences replaced.
func unescapeText(dst, text []byte) []byte {
	for i := 0; i < len(text); i++ {
		ch := text[i]
		if ch != '\\' || i+1 == len(text) {
			dst = append(dst, ch)
			continue
		}
		i++
		switch ch = text[i]; ch {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'v':
			dst = append(dst, '\v')
		case '0', '1', '2', '3', '4', '5', '6', '7':
			v := ch - '0'
			for k := 0; k < 2 && i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '7'; k++ {
				i++
				v = v<<3 | (text[i] - '0')
			}
			dst = append(dst, v)
		case 'x':
			v, digits := byte(0), 0
			for digits < 2 && i+1 < len(text) {
				h, ok := hexDigit(text[i+1])
				if !ok {
					break
				}
				v = v<<4 | h
				digits++
				i++
			}
			if digits == 0 {
				dst = append(dst, 'x')
			} else {
				dst = append(dst, v)
			}
		default:
			dst = append(dst, ch)
		}
	}
	return dst
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// csvFields cuts a CSV line into values, with their quotes taken away. Values go to the
// arena, whose growth does not move what is there already.
func (l *lineReader) csvFields(line []byte, out []field, arena []byte) ([]field, []byte) {
	if cap(arena)-len(arena) < len(line) {
		arena = make([]byte, 0, 2*len(line)+64)
	}
	i := 0
	for {
		start, quoted, inQuote := len(arena), false, false
		for i < len(line) {
			ch := line[i]
			if !inQuote {
				if ch == l.delim {
					break
				}
				if ch == l.quote {
					inQuote, quoted = true, true
					i++
					continue
				}
				arena = append(arena, ch)
				i++
				continue
			}
			if ch == l.esc && i+1 < len(line) && (line[i+1] == l.quote || line[i+1] == l.esc) {
				arena = append(arena, line[i+1])
				i += 2
				continue
			}
			if ch == l.quote {
				inQuote = false
				i++
				continue
			}
			arena = append(arena, ch)
			i++
		}
		out = append(out, field{text: arena[start:len(arena):len(arena)], quoted: quoted})
		if i >= len(line) {
			return out, arena
		}
		i++ // the delimiter
	}
}
