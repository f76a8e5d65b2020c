package types

import "github.com/eiderdb/eider/translate/pgerr"

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

func errBinary(typ string) error {
	return pgerr.New(pgerr.InvalidBinaryRepresentation, "incorrect binary data format for type %s", typ)
}

func errUnsupported(oid OID) error {
	return pgerr.New(pgerr.FeatureNotSupported, "type %s is not supported", TypeName(oid))
}
