package types

import (
	"errors"

	"github.com/eiderdb/eider/translate/pgerr"
)

func errSyntax(typ string, s []byte) error {
	return pgerr.New(pgerr.InvalidTextRepresentation, `invalid input syntax for type %s: "%s"`, typ, s)
}

func errRange(typ string, s []byte) error {
	return pgerr.New(pgerr.NumericValueOutOfRange, `value "%s" is out of range for type %s`, s, typ)
}

func errOutOfRange(what string) error {
	return pgerr.New(pgerr.NumericValueOutOfRange, "%s out of range", what)
}

func errDatetimeSyntax(typ string, s []byte) error {
	return pgerr.New(pgerr.InvalidDatetimeFormat, `invalid input syntax for type %s: "%s"`, typ, s)
}

func errDatetimeField(s []byte) error {
	return pgerr.New(pgerr.DatetimeFieldOverflow, `date/time field value out of range: "%s"`, s)
}

func errDatetimeOverflow(what string) error {
	return pgerr.New(pgerr.DatetimeFieldOverflow, "%s out of range", what)
}

// ErrLeftOver is what DecodeBinary answers for a value with bytes behind it. The caller knows
// what PostgreSQL would call the value.
var ErrLeftOver = errors.New("types: data left over behind a binary value")

// wrongSize is the error of a binary value that does not have n bytes.
func wrongSize(b []byte, n int) error {
	if len(b) > n {
		return ErrLeftOver
	}
	if n == 1 {
		return pgerr.New(pgerr.ProtocolViolation, "no data left in message")
	}
	return pgerr.New(pgerr.ProtocolViolation, "insufficient data left in message")
}

// errItemSize is the error of an item that says it is longer than what holds it.
func errItemSize() error {
	return pgerr.New(pgerr.InvalidBinaryRepresentation, "insufficient data left in message")
}

func errUnsupported(oid OID) error {
	return pgerr.New(pgerr.FeatureNotSupported, "type %s is not supported", TypeName(oid))
}
