package types

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unsafe"

	"github.com/eiderdb/eider/translate/pgerr"
)

// Bool makes a bool datum.
func Bool(v bool) Datum {
	if v {
		return Datum{I: 1, Valid: true}
	}
	return Datum{Valid: true}
}

// Int makes a datum of any type that lives in I: the integers, oids, dates and times.
func Int(v int64) Datum { return Datum{I: v, Valid: true} }

// Float8 makes a float8 (or, already rounded to single precision, a float4) datum.
func Float8(f float64) Datum { return Datum{I: int64(math.Float64bits(f)), Valid: true} }

// Float is the value of a float4 or float8 datum.
func (d Datum) Float() float64 { return math.Float64frombits(uint64(d.I)) }

// Text makes a datum of any type that lives in B.
func Text(b []byte) Datum { return Datum{B: b, Valid: true} }

// String makes a text datum.
func String(s string) Datum { return Datum{B: []byte(s), Valid: true} }

// TID makes a tid datum.
func TID(block uint32, offset uint16) Datum {
	return Datum{I: int64(block)<<16 | int64(offset), Valid: true}
}

// Clone copies a datum so that it shares no memory with what it was made from.
func (d Datum) Clone() Datum {
	if d.B != nil {
		d.B = bytes.Clone(d.B)
	}
	if d.R != nil {
		r := make([]Datum, len(d.R))
		for i := range d.R {
			r[i] = d.R[i].Clone()
		}
		d.R = r
	}
	return d
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isDigit(c byte) bool { return c-'0' <= 9 }

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func trimSpace(s []byte) []byte {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// view is s as a string without a copy; the string must not outlive the call it is made for.
func view(s []byte) string { return unsafe.String(unsafe.SliceData(s), len(s)) }

func parseInt(s []byte, bits uint, typ string) (int64, error) {
	t := trimSpace(s)
	neg := false
	if len(t) > 0 && (t[0] == '-' || t[0] == '+') {
		neg = t[0] == '-'
		t = t[1:]
	}
	if len(t) == 0 {
		return 0, errSyntax(typ, s)
	}
	limit := uint64(1) << (bits - 1)
	if !neg {
		limit--
	}
	var v uint64
	over := false
	for _, c := range t {
		if !isDigit(c) {
			return 0, errSyntax(typ, s)
		}
		if over {
			continue
		}
		if v > (math.MaxUint64-9)/10 {
			over = true
			continue
		}
		v = v*10 + uint64(c-'0')
		over = v > limit
	}
	if over {
		return 0, errRange(typ, s)
	}
	if neg {
		return -int64(v), nil
	}
	return int64(v), nil
}

func parseOID(s []byte, typ string) (uint32, error) {
	v, err := parseInt(s, 64, typ)
	if err != nil {
		return 0, err
	}
	if v < math.MinInt32 || v > math.MaxUint32 {
		return 0, errRange(typ, s)
	}
	return uint32(v), nil
}

// parseUintPrefix reads a leading number the way strtoull with base 0 does: blanks, a
// sign, 0x and 0 prefixes; what follows is ignored and no digits mean 0. xid, cid and
// xid8 read their input like this.
func parseUintPrefix(s []byte) uint64 {
	s = trimSpace(s)
	neg := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		s = s[1:]
	}
	base := uint64(10)
	if len(s) > 1 && s[0] == '0' {
		base = 8
		if s[1]|0x20 == 'x' {
			base = 16
			s = s[2:]
		}
	}
	var v uint64
	for _, c := range s {
		x := hexValue(c)
		if x < 0 || uint64(x) >= base {
			break
		}
		v = v*base + uint64(x)
	}
	if neg {
		v = -v
	}
	return v
}

func hexValue(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

func parseBool(s []byte) (v, ok bool) {
	s = trimSpace(s)
	if len(s) == 0 || len(s) > 5 {
		return false, false
	}
	is := func(word string, least int) bool {
		return len(s) >= least && len(s) <= len(word) && strings.EqualFold(view(s), word[:len(s)])
	}
	switch {
	case is("true", 1), is("yes", 1), is("on", 2), is("1", 1):
		return true, true
	case is("false", 1), is("no", 1), is("off", 2), is("0", 1):
		return false, true
	}
	return false, false
}

func appendInt(dst []byte, v int64) []byte   { return strconv.AppendInt(dst, v, 10) }
func appendUint(dst []byte, v uint64) []byte { return strconv.AppendUint(dst, v, 10) }

// tidInput reads (block,offset). Like PostgreSQL's reader it skips to the opening
// parenthesis and ignores what follows the closing one, so quotes around it pass.
func tidInput(s []byte) (Datum, error) {
	bad := func() (Datum, error) { return Null, errSyntax("tid", s) }
	open := bytes.IndexByte(s, '(')
	if open < 0 {
		return bad()
	}
	rest := s[open+1:]
	comma := bytes.IndexByte(rest, ',')
	if comma < 0 {
		return bad()
	}
	end := bytes.IndexByte(rest[comma:], ')')
	if end < 0 {
		return bad()
	}
	number := func(s []byte) (int64, error) {
		if s = trimLeft(s); len(s) == 0 {
			return 0, nil // strtoul's answer
		}
		return parseInt(s, 64, "tid")
	}
	block, err := number(rest[:comma])
	if err != nil || block < math.MinInt32 || block > math.MaxUint32 || endsInSpace(rest[:comma]) {
		return bad()
	}
	offText := rest[comma+1 : comma+end]
	off, err := number(offText)
	if err != nil || off < 0 || off > math.MaxUint16 || endsInSpace(offText) {
		return bad()
	}
	return TID(uint32(block), uint16(off)), nil
}

func trimLeft(s []byte) []byte {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	return s
}

func endsInSpace(s []byte) bool { return len(s) > 0 && isSpace(s[len(s)-1]) }

func uuidInput(s []byte) (Datum, error) {
	t := s
	if len(t) > 1 && t[0] == '{' {
		if t[len(t)-1] != '}' {
			return Null, errSyntax("uuid", s)
		}
		t = t[1 : len(t)-1]
	}
	var u [16]byte
	for i := range u {
		if len(t) < 2 {
			return Null, errSyntax("uuid", s)
		}
		hi, lo := hexValue(t[0]), hexValue(t[1])
		if hi < 0 || lo < 0 {
			return Null, errSyntax("uuid", s)
		}
		u[i] = byte(hi<<4 | lo)
		t = t[2:]
		// A hyphen may stand after each group of four digits.
		if len(t) > 0 && t[0] == '-' && i%2 == 1 && i < 15 {
			t = t[1:]
		}
	}
	if len(t) > 0 {
		return Null, errSyntax("uuid", s)
	}
	return Datum{B: append([]byte(nil), u[:]...), Valid: true}, nil
}

func appendUUID(dst, u []byte) []byte {
	for i, c := range u {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
	}
	return dst
}

func byteaInput(s []byte) (Datum, error) {
	if len(s) >= 2 && s[0] == '\\' && s[1] == 'x' {
		out := make([]byte, 0, (len(s)-2)/2)
		for i := 2; i < len(s); {
			if c := s[i]; c == ' ' || c == '\n' || c == '\t' || c == '\r' {
				i++
				continue
			}
			hi := hexValue(s[i])
			if hi < 0 {
				return Null, errHexDigit(s[i:])
			}
			if i+1 >= len(s) {
				return Null, pgerr.New(pgerr.InvalidParameterValue, "invalid hexadecimal data: odd number of digits")
			}
			lo := hexValue(s[i+1])
			if lo < 0 {
				return Null, errHexDigit(s[i+1:])
			}
			out = append(out, byte(hi<<4|lo))
			i += 2
		}
		return Datum{B: out, Valid: true}, nil
	}
	if bytes.IndexByte(s, '\\') < 0 {
		return Datum{B: s, Valid: true}, nil
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		switch {
		case s[i] != '\\':
			out = append(out, s[i])
			i++
		case i+1 < len(s) && s[i+1] == '\\':
			out = append(out, '\\')
			i += 2
		case i+3 < len(s) && s[i+1] >= '0' && s[i+1] <= '3' && s[i+2] >= '0' && s[i+2] <= '7' && s[i+3] >= '0' && s[i+3] <= '7':
			out = append(out, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 4
		default:
			return Null, pgerr.New(pgerr.InvalidTextRepresentation, "invalid input syntax for type bytea")
		}
	}
	return Datum{B: out, Valid: true}, nil
}

func errHexDigit(s []byte) error {
	r := []rune(string(s[:min(len(s), 4)]))
	return pgerr.New(pgerr.InvalidParameterValue, `invalid hexadecimal digit: "%c"`, r[0])
}

func appendBytea(env *Env, dst, b []byte) []byte {
	if env == nil || !env.ByteaEscape {
		dst = append(dst, '\\', 'x')
		for _, c := range b {
			dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
		}
		return dst
	}
	for _, c := range b {
		switch {
		case c == '\\':
			dst = append(dst, '\\', '\\')
		case c < 0x20 || c > 0x7e:
			dst = append(dst, '\\', '0'+c>>6, '0'+(c>>3&7), '0'+(c&7))
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// regInput reads the numeric forms of the reg types, "-", and type names for regtype.
// Names of relations, functions and roles need a catalog and are looked up above.
func regInput(env *Env, oid OID, s []byte) (Datum, error) {
	if len(s) == 1 && s[0] == '-' {
		return Int(0), nil
	}
	digits := len(s) > 0
	for _, c := range s {
		digits = digits && isDigit(c)
	}
	if digits {
		v, err := parseOID(s, "oid")
		return Datum{I: int64(v), Valid: err == nil}, err
	}
	if env != nil && env.RegInput != nil && oid != RegtypeOID {
		v, err := env.RegInput(oid, string(s))
		return Datum{I: int64(v), Valid: err == nil}, err
	}
	switch oid {
	case RegtypeOID:
		name := strings.Join(strings.Fields(strings.ToLower(string(s))), " ")
		if name == "char" {
			return Int(int64(BpcharOID)), nil
		}
		name = strings.TrimPrefix(name, "pg_catalog.")
		name = strings.ReplaceAll(name, `"`, "")
		if paren := strings.IndexByte(name, '('); paren > 0 {
			if end := strings.IndexByte(name, ')'); end > paren {
				name = strings.Join(strings.Fields(name[:paren]+" "+name[end+1:]), " ")
				name = strings.ReplaceAll(name, " []", "[]")
			}
		}
		if v, ok := ByName(name); ok {
			return Int(int64(v)), nil
		}
		return Null, pgerr.New(pgerr.UndefinedObject, `type "%s" does not exist`, s)
	case RegclassOID:
		return Null, pgerr.New(pgerr.UndefinedTable, `relation "%s" does not exist`, s)
	case RegprocOID, RegprocedureOID:
		return Null, pgerr.New(pgerr.UndefinedFunction, `function "%s" does not exist`, s)
	case RegnamespaceOID:
		return Null, pgerr.New(pgerr.InvalidSchemaName, `schema "%s" does not exist`, s)
	case RegroleOID:
		return Null, pgerr.New(pgerr.UndefinedObject, `role "%s" does not exist`, s)
	case RegcollationOID:
		return Null, pgerr.New(pgerr.UndefinedObject, `collation "%s" for encoding "UTF8" does not exist`, s)
	}
	return Null, pgerr.New(pgerr.UndefinedObject, `%s "%s" does not exist`, typname(oid), s)
}

func appendReg(dst []byte, v int64) []byte {
	if v == 0 {
		return append(dst, '-')
	}
	return appendInt(dst, int64(uint32(v)))
}

func lsnInput(s []byte) (Datum, error) {
	slash := bytes.IndexByte(s, '/')
	part := func(p []byte) (uint64, bool) {
		if len(p) == 0 || len(p) > 8 {
			return 0, false
		}
		var v uint64
		for _, c := range p {
			x := hexValue(c)
			if x < 0 {
				return 0, false
			}
			v = v<<4 | uint64(x)
		}
		return v, true
	}
	if slash >= 0 {
		hi, ok1 := part(s[:slash])
		lo, ok2 := part(s[slash+1:])
		if ok1 && ok2 {
			return Int(int64(hi<<32 | lo)), nil
		}
	}
	return Null, errSyntax("pg_lsn", s)
}

func appendLSN(dst []byte, v uint64) []byte {
	up := func(x uint64) []byte { return bytes.ToUpper(strconv.AppendUint(nil, x, 16)) }
	dst = append(dst, up(v>>32)...)
	dst = append(dst, '/')
	return append(dst, up(v&0xffffffff)...)
}

// charInput reads "char": one byte, or \ooo for a byte that is no ASCII.
func charInput(s []byte) Datum {
	octal := func(c byte, top byte) bool { return c >= '0' && c <= top }
	if len(s) == 4 && s[0] == '\\' && octal(s[1], '3') && octal(s[2], '7') && octal(s[3], '7') {
		return Text([]byte{(s[1]-'0')<<6 | (s[2]-'0')<<3 | (s[3] - '0')})
	}
	return Text(s[:min(1, len(s))])
}

func appendChar(dst, b []byte) []byte {
	switch {
	case len(b) == 0 || b[0] == 0:
		return dst
	case b[0] >= 0x80:
		c := b[0]
		return append(dst, '\\', '0'+c>>6, '0'+(c>>3&7), '0'+(c&7))
	}
	return append(dst, b[0])
}
