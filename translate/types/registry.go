package types

import (
	"strconv"
	"strings"

	"github.com/eiderdb/eider/translate/pgerr"
)

// Info describes one type, as its pg_type row does.
type Info struct {
	OID       OID
	Name      string // typname
	Category  byte   // typcategory: 'N', 'S', 'D', 'A', …
	Preferred bool
	Len       int16
	ByVal     bool
	Kind      byte // typtype: 'b' base, 'p' pseudo
	Elem      OID  // typelem: the element type of an array or vector (and of name)
	Array     OID  // typarray: the array type over this type
	Align     byte
	Storage   byte
	Supported bool // values of the type can be read, compared and written
}

// IsArray says whether the type is a true array (pg_type's _x), not a fixed vector.
func (i *Info) IsArray() bool { return i.Len == -1 && i.Elem != 0 && i.Name[0] == '_' }

// Lookup finds a type by OID. The result is shared and must not be changed.
func Lookup(oid OID) (*Info, bool) {
	lo, hi := 0, len(infos)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if infos[mid].OID < oid {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(infos) && infos[lo].OID == oid {
		return &infos[lo], true
	}
	return nil, false
}

// All lists every known type in OID order. The slice is shared and must not be changed.
func All() []Info { return infos[:] }

// ElemOf is the element type of an array or vector type, or 0.
func ElemOf(oid OID) OID {
	if i, ok := Lookup(oid); ok && i.Category == 'A' {
		return i.Elem
	}
	return 0
}

// ArrayOf is the array type over oid, or 0.
func ArrayOf(oid OID) OID {
	if i, ok := Lookup(oid); ok {
		return i.Array
	}
	return 0
}

// IsArray says whether oid is a true array type.
func IsArray(oid OID) bool {
	i, ok := Lookup(oid)
	return ok && i.IsArray()
}

// IsReg says whether oid is one of the types that name an object of the catalog.
func IsReg(oid OID) bool {
	switch oid {
	case RegclassOID, RegtypeOID, RegprocOID, RegprocedureOID, RegnamespaceOID, RegroleOID, RegoperOID,
		RegoperatorOID, RegcollationOID, RegconfigOID, RegdictionaryOID:
		return true
	}
	return false
}

// byName maps typnames to their rows; built once and never changed.
var byName = func() map[string]*Info {
	m := make(map[string]*Info, len(infos))
	for i := range infos {
		m[infos[i].Name] = &infos[i]
	}
	return m
}()

// aliases are the SQL spellings and DuckDB's type names, lower case. A modifier that
// an alias implies is applied by Resolve only.
var aliases = map[string]T{
	"boolean": {BoolOID, -1}, "logical": {BoolOID, -1},
	"smallint": {Int2OID, -1}, "int": {Int4OID, -1}, "integer": {Int4OID, -1}, "bigint": {Int8OID, -1},
	"signed": {Int4OID, -1}, "long": {Int8OID, -1}, "short": {Int2OID, -1},
	"real": {Float4OID, -1}, "double": {Float8OID, -1}, "double precision": {Float8OID, -1}, "float": {Float8OID, -1},
	"decimal": {NumericOID, -1}, "dec": {NumericOID, -1},
	"character varying": {VarcharOID, -1}, "char varying": {VarcharOID, -1},
	"national character varying": {VarcharOID, -1}, "national char varying": {VarcharOID, -1}, "nchar varying": {VarcharOID, -1},
	"nvarchar": {VarcharOID, -1}, "string": {TextOID, -1},
	"character": {BpcharOID, 5}, "national character": {BpcharOID, 5}, "national char": {BpcharOID, 5}, "nchar": {BpcharOID, 5},
	"blob": {ByteaOID, -1}, "binary": {ByteaOID, -1}, "varbinary": {ByteaOID, -1},
	"time without time zone": {TimeOID, -1}, "time with time zone": {TimetzOID, -1},
	"timestamp without time zone": {TimestampOID, -1}, "timestamp with time zone": {TimestamptzOID, -1},
	"datetime":    {TimestampOID, -1},
	"timestamp_s": {TimestampOID, -1}, "timestamp_ms": {TimestampOID, -1}, "timestamp_us": {TimestampOID, -1}, "timestamp_ns": {TimestampOID, -1},
	"bit varying": {VarbitOID, -1},
	"tinyint":     {Int2OID, -1}, "utinyint": {Int4OID, -1}, "usmallint": {Int4OID, -1}, "uinteger": {Int8OID, -1},
	// numeric holds the unsigned and 128-bit integers exactly; 39 digits are what 2^128 needs.
	"ubigint": {NumericOID, numericTypmod(20, 0)}, "hugeint": {NumericOID, numericTypmod(39, 0)}, "uhugeint": {NumericOID, numericTypmod(39, 0)},
	"guid": {UUIDOID, -1},
}

// ByName finds a type by pg_type name, SQL spelling or DuckDB name, in lower case.
// "x[]" names the array over x. Modifiers that a spelling implies (ubigint is
// numeric(20,0), character is character(1)) are known to Resolve only. "char" means
// PostgreSQL's one-byte type: the SQL spelling CHAR is bpchar by the time it gets here.
func ByName(name string) (OID, bool) {
	if elem, ok := strings.CutSuffix(name, "[]"); ok {
		e, ok := ByName(elem)
		if !ok {
			return 0, false
		}
		if IsArray(e) {
			return e, true
		}
		a := ArrayOf(e)
		return a, a != 0
	}
	if i, ok := byName[name]; ok {
		return i.OID, true
	}
	if t, ok := aliases[name]; ok {
		return t.OID, true
	}
	return 0, false
}

// Resolve is ByName with modifiers as written and interval fields ("year to month"),
// and with array dimensions. Errors: 42704 unknown type, 0A000 a type Eider does not
// hold values of, 22023 and 42601 bad modifiers.
func Resolve(name string, mods []int64, fields string, dims int) (T, error) {
	t := T{OID: 0, Mod: -1}
	if a, ok := aliases[name]; ok && byName[name] == nil {
		t = a
	} else if oid, ok := ByName(name); ok {
		t.OID = oid
	} else {
		return t, pgerr.New(pgerr.UndefinedObject, `type "%s" does not exist`, name)
	}
	info, _ := Lookup(t.OID)
	if !info.Supported {
		return t, pgerr.New(pgerr.FeatureNotSupported, "type %s is not supported", TypeName(t.OID))
	}
	switch {
	case name == "float" && len(mods) == 1:
		switch {
		case mods[0] < 1:
			return t, pgerr.New(pgerr.InvalidParameterValue, "precision for type float must be at least 1 bit")
		case mods[0] <= 24:
			t.OID = Float4OID
		case mods[0] <= 53:
		default:
			return t, pgerr.New(pgerr.InvalidParameterValue, "precision for type float must be less than 54 bits")
		}
	case t.OID == IntervalOID && (fields != "" || len(mods) > 0):
		m, err := intervalTypmod(fields, mods)
		if err != nil {
			return t, err
		}
		t.Mod = m
	case len(mods) > 0:
		m, err := Typmod(t.OID, mods)
		if err != nil {
			return t, err
		}
		t.Mod = m
	}
	if dims > 0 && !IsArray(t.OID) {
		a := ArrayOf(t.OID)
		if a == 0 {
			return t, pgerr.New(pgerr.UndefinedObject, "could not find array type for data type %s", TypeName(t.OID))
		}
		t.OID = a
	}
	return t, nil
}

const (
	maxCharLength    = 10485760
	numericMaxPrec   = 1000
	maxTimePrecision = 6
)

func numericTypmod(precision, scale int32) int32 { return (precision<<16 | scale&0x7ff) + 4 }

// NumericTypmod makes numeric's modifier from precision and scale.
func NumericTypmod(precision, scale int32) int32 { return numericTypmod(precision, scale) }

// NumericPrecisionScale splits numeric's modifier; ok is false when there is none.
func NumericPrecisionScale(mod int32) (precision, scale int32, ok bool) {
	if mod < 4 {
		return 0, 0, false
	}
	m := mod - 4
	return m >> 16 & 0xffff, (m&0x7ff ^ 1024) - 1024, true
}

// Typmod checks type modifiers as written and packs them as pg_attribute.atttypmod does.
func Typmod(oid OID, mods []int64) (int32, error) {
	if len(mods) == 0 {
		return -1, nil
	}
	if e := ElemOf(oid); e != 0 {
		oid = e
	}
	switch oid {
	case BpcharOID, VarcharOID:
		name := "varchar"
		if oid == BpcharOID {
			name = "char"
		}
		if len(mods) != 1 {
			return -1, pgerr.New(pgerr.InvalidParameterValue, "invalid type modifier")
		}
		if mods[0] < 1 {
			return -1, pgerr.New(pgerr.InvalidParameterValue, "length for type %s must be at least 1", name)
		}
		if mods[0] > maxCharLength {
			return -1, pgerr.New(pgerr.InvalidParameterValue, "length for type %s cannot exceed %d", name, maxCharLength)
		}
		return int32(mods[0]) + 4, nil
	case NumericOID:
		if len(mods) > 2 {
			return -1, pgerr.New(pgerr.InvalidParameterValue, "invalid NUMERIC type modifier")
		}
		if mods[0] < 1 || mods[0] > numericMaxPrec {
			return -1, pgerr.New(pgerr.InvalidParameterValue, "NUMERIC precision %d must be between 1 and %d", mods[0], numericMaxPrec)
		}
		var scale int64
		if len(mods) == 2 {
			scale = mods[1]
			if scale < -numericMaxPrec || scale > numericMaxPrec {
				return -1, pgerr.New(pgerr.InvalidParameterValue, "NUMERIC scale %d must be between %d and %d", scale, -numericMaxPrec, numericMaxPrec)
			}
		}
		return numericTypmod(int32(mods[0]), int32(scale)), nil
	case TimeOID, TimetzOID, TimestampOID, TimestamptzOID:
		if len(mods) != 1 {
			return -1, pgerr.New(pgerr.InvalidParameterValue, "invalid type modifier")
		}
		p := mods[0]
		if p < 0 {
			base, zone := "TIME", ""
			if oid == TimestampOID || oid == TimestamptzOID {
				base = "TIMESTAMP"
			}
			if oid == TimetzOID || oid == TimestamptzOID {
				zone = " WITH TIME ZONE"
			}
			return -1, pgerr.New(pgerr.InvalidParameterValue, "%s(%d)%s precision must not be negative", base, p, zone)
		}
		return int32(min(p, maxTimePrecision)), nil
	case IntervalOID:
		return intervalTypmod("", mods)
	}
	return -1, pgerr.New(pgerr.SyntaxError, `type modifier is not allowed for type "%s"`, typname(oid))
}

func typname(oid OID) string {
	if i, ok := Lookup(oid); ok {
		return i.Name
	}
	return strconv.FormatUint(uint64(oid), 10)
}

// TypeName is the name of a type in messages: format_type without a modifier.
func TypeName(oid OID) string { return formatType(oid, -1, false) }

// FormatType is format_type(): the SQL spelling with the modifier.
func FormatType(t T) string { return formatType(t.OID, t.Mod, true) }

func formatType(oid OID, mod int32, given bool) string {
	if oid == 0 {
		return "-"
	}
	i, ok := Lookup(oid)
	if !ok {
		return "???"
	}
	if i.IsArray() {
		return formatType(i.Elem, mod, given) + "[]"
	}
	paren := func() string {
		if mod >= 4 {
			return "(" + strconv.Itoa(int(mod-4)) + ")"
		}
		return ""
	}
	prec := func() string {
		if mod >= 0 {
			return "(" + strconv.Itoa(int(mod)) + ")"
		}
		return ""
	}
	switch oid {
	case BitOID:
		return "bit" + prec()
	case VarbitOID:
		return "bit varying" + prec()
	case BoolOID:
		return "boolean"
	case BpcharOID:
		if mod >= 4 {
			return "character" + paren()
		}
		if given {
			return "bpchar" // character without a length would mean character(1)
		}
		return "character"
	case CharOID:
		return `"char"`
	case Float4OID:
		return "real"
	case Float8OID:
		return "double precision"
	case Int2OID:
		return "smallint"
	case Int4OID:
		return "integer"
	case Int8OID:
		return "bigint"
	case NumericOID:
		if p, s, ok := NumericPrecisionScale(mod); ok {
			return "numeric(" + strconv.Itoa(int(p)) + "," + strconv.Itoa(int(s)) + ")"
		}
		return "numeric"
	case IntervalOID:
		return "interval" + formatIntervalTypmod(mod)
	case TimeOID:
		return "time" + prec() + " without time zone"
	case TimetzOID:
		return "time" + prec() + " with time zone"
	case TimestampOID:
		return "timestamp" + prec() + " without time zone"
	case TimestamptzOID:
		return "timestamp" + prec() + " with time zone"
	case VarcharOID:
		return "character varying" + paren()
	case AnyOID:
		return `"any"`
	}
	return i.Name
}

// Interval field bits of an interval modifier, as PostgreSQL numbers them.
const (
	maskMonth  = 1 << 1
	maskYear   = 1 << 2
	maskDay    = 1 << 3
	maskHour   = 1 << 10
	maskMinute = 1 << 11
	maskSecond = 1 << 12

	intervalFullRange     = 0x7fff
	intervalFullPrecision = 0xffff
)

// intervalRanges are the spellings of interval fields with their masks.
var intervalRanges = [...]struct {
	name string
	mask int32
}{
	{"year", maskYear},
	{"month", maskMonth},
	{"day", maskDay},
	{"hour", maskHour},
	{"minute", maskMinute},
	{"second", maskSecond},
	{"year to month", maskYear | maskMonth},
	{"day to hour", maskDay | maskHour},
	{"day to minute", maskDay | maskHour | maskMinute},
	{"day to second", maskDay | maskHour | maskMinute | maskSecond},
	{"hour to minute", maskHour | maskMinute},
	{"hour to second", maskHour | maskMinute | maskSecond},
	{"minute to second", maskMinute | maskSecond},
}

func intervalTypmod(fields string, mods []int64) (int32, error) {
	rng, prec := int32(intervalFullRange), int32(intervalFullPrecision)
	if fields != "" {
		rng = 0
		f := strings.ToLower(strings.Join(strings.Fields(fields), " "))
		for _, r := range intervalRanges {
			if r.name == f {
				rng = r.mask
			}
		}
		if rng == 0 {
			return -1, pgerr.New(pgerr.InvalidParameterValue, "invalid INTERVAL type modifier")
		}
	}
	if len(mods) > 1 {
		return -1, pgerr.New(pgerr.InvalidParameterValue, "invalid INTERVAL type modifier")
	}
	if len(mods) == 1 {
		if mods[0] < 0 {
			return -1, pgerr.New(pgerr.InvalidParameterValue, "INTERVAL(%d) precision must not be negative", mods[0])
		}
		prec = int32(min(mods[0], maxTimePrecision))
	}
	return rng<<16 | prec, nil
}

// splitIntervalTypmod answers the field mask and the precision (−1: full).
func splitIntervalTypmod(mod int32) (rng int32, prec int) {
	if mod < 0 {
		return intervalFullRange, -1
	}
	rng, prec = mod>>16&0x7fff, int(mod&0xffff)
	if prec == intervalFullPrecision {
		prec = -1
	}
	return rng, prec
}

func formatIntervalTypmod(mod int32) string {
	if mod < 0 {
		return ""
	}
	rng, prec := splitIntervalTypmod(mod)
	s := ""
	for _, r := range intervalRanges {
		if r.mask == rng {
			s = " " + r.name
		}
	}
	if prec >= 0 {
		s += "(" + strconv.Itoa(prec) + ")"
	}
	return s
}
