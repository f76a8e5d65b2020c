package meta

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
)

// Type oids of columns, as in PostgreSQL.
const (
	Bool        = 16
	Int8        = 20
	Int2        = 21
	Int4        = 23
	Text        = 25
	Float8      = 701
	Bpchar      = 1042
	Varchar     = 1043
	Timestamp   = 1114
	Timestamptz = 1184
	UUID        = 2950
)

// epochMicros is 2000-01-01 in µs since 1970; timestamps are stored from there.
const epochMicros = 946_684_800_000_000

// The binary forms of values, as columns of bigint, text, boolean and timestamptz hold them.

// Int is a bigint.
func Int(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// Str is a text or varchar.
func Str(s string) []byte { return []byte(s) }

// Truth is a boolean.
func Truth(b bool) []byte {
	if b {
		return []byte{1}
	}
	return []byte{0}
}

// Time is a timestamptz, cut to µs.
func Time(t time.Time) []byte { return Int(t.UnixMicro() - epochMicros) }

// Values are a row's values in binary form by the names of their columns; nil is NULL.
type Values map[string][]byte

func isInteger(oid uint32) bool { return oid == Int8 || oid == Int4 || oid == Int2 }

// IsText says whether values of a type are texts.
func IsText(oid uint32) bool { return oid == Text || oid == Varchar || oid == Bpchar }

func isTime(oid uint32) bool { return oid == Timestamptz || oid == Timestamp }

// appendText appends the text form of a value, as PostgreSQL prints it in UTC.
func appendText(dst []byte, c *rel.Column, v []byte) ([]byte, error) {
	switch n := len(v); {
	case IsText(c.Type):
		return append(dst, v...), nil
	case isInteger(c.Type):
		if x, ok := row.Integer(v); ok {
			return strconv.AppendInt(dst, x, 10), nil
		}
	case c.Type == Bool && n == 1:
		if v[0] != 0 {
			return append(dst, 't'), nil
		}
		return append(dst, 'f'), nil
	case isTime(c.Type) && n == 8:
		return appendTime(dst, int64(binary.BigEndian.Uint64(v)), c.Type == Timestamptz), nil
	case c.Type == Float8 && n == 8:
		return strconv.AppendFloat(dst, math.Float64frombits(binary.BigEndian.Uint64(v)), 'g', -1, 64), nil
	case c.Type == UUID && n == 16:
		h := hex.EncodeToString(v)
		return append(dst, h[:8]+"-"+h[8:12]+"-"+h[12:16]+"-"+h[16:20]+"-"+h[20:]...), nil
	}
	return dst, fmt.Errorf("%w: column %q, type %d, %d bytes", ErrType, c.Name, c.Type, len(v))
}

func appendTime(dst []byte, micros int64, zone bool) []byte {
	switch micros {
	case math.MaxInt64:
		return append(dst, "infinity"...)
	case math.MinInt64:
		return append(dst, "-infinity"...)
	}
	t := time.Unix(micros/1e6+epochMicros/1e6, micros%1e6*1e3).UTC()
	form := "2006-01-02 15:04:05.999999"
	if zone {
		form += "+00"
	}
	return t.AppendFormat(dst, form)
}
