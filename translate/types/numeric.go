package types

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"

	"github.com/eiderdb/eider/translate/pgerr"
)

// Limits and signs of PostgreSQL's numeric.
const (
	nbase          = 10000
	decDigits      = 4
	minSigDigits   = 16
	maxDispScale   = 1000
	maxResultScale = 2000
	dscaleMax      = 0x3fff

	signPos    = 0x0000
	signNeg    = 0x4000
	signNaN    = 0xc000
	signPosInf = 0xd000
	signNegInf = 0xf000

	infinityScale = 0x20 // what PostgreSQL sends as the scale of an infinity
)

// num is a numeric in working form: Σ digits[i]·10000^(weight−i), shown with dscale
// decimal places. Results of arithmetic may have leading and trailing zero digits
// until strip.
type num struct {
	digits []int16
	weight int
	dscale int
	sign   uint16
}

func (n *num) finite() bool { return n.sign == signPos || n.sign == signNeg }
func (n *num) isNaN() bool  { return n.sign == signNaN }
func (n *num) zero() bool   { return n.finite() && len(n.digits) == 0 }

// numHeader is the fixed part of a numeric's binary form.
func numSign(b []byte) uint16 { return binary.BigEndian.Uint16(b[4:]) }
func numWeight(b []byte) int  { return int(int16(binary.BigEndian.Uint16(b[2:]))) }
func numDscale(b []byte) int  { return int(binary.BigEndian.Uint16(b[6:])) }

// load reads a datum's bytes, which are canonical.
func (n *num) load(b []byte) {
	c := (len(b) - 8) / 2
	n.weight, n.sign, n.dscale = numWeight(b), numSign(b), numDscale(b)
	n.digits = n.space(c)
	for i := range n.digits {
		n.digits[i] = int16(binary.BigEndian.Uint16(b[8+2*i:]))
	}
}

// strip makes the digits canonical: no zero groups at either end, zero has weight 0 and no sign.
func (n *num) strip() {
	for len(n.digits) > 0 && n.digits[0] == 0 {
		n.digits = n.digits[1:]
		n.weight--
	}
	for len(n.digits) > 0 && n.digits[len(n.digits)-1] == 0 {
		n.digits = n.digits[:len(n.digits)-1]
	}
	if len(n.digits) == 0 && n.finite() {
		n.weight, n.sign = 0, signPos
	}
}

func errNumericOverflow() error {
	return pgerr.New(pgerr.NumericValueOutOfRange, "value overflows numeric format")
}

// append writes the binary form.
func (n *num) append(dst []byte) ([]byte, error) {
	n.strip()
	if n.weight > math.MaxInt16 || n.weight < math.MinInt16 || n.dscale > dscaleMax {
		return dst, errNumericOverflow()
	}
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(n.digits)))
	dst = binary.BigEndian.AppendUint16(dst, uint16(n.weight))
	dst = binary.BigEndian.AppendUint16(dst, n.sign)
	dst = binary.BigEndian.AppendUint16(dst, uint16(n.dscale))
	for _, d := range n.digits {
		dst = binary.BigEndian.AppendUint16(dst, uint16(d))
	}
	return dst, nil
}

func (n *num) datum() (Datum, error) {
	b, err := n.append(make([]byte, 0, 8+2*len(n.digits)))
	if err != nil {
		return Null, err
	}
	return Datum{B: b, Valid: true}, nil
}

func specialNumeric(sign uint16) Datum {
	n := num{sign: sign}
	if sign != signNaN {
		n.dscale = infinityScale
	}
	d, _ := n.datum()
	return d
}

// numericInput reads a numeric literal and applies the modifier.
func numericInput(s []byte, mod int32) (Datum, error) {
	if v, scale, ok := parseSmall(s); ok {
		if d, ok := makeSmallTypmod(v, scale, mod); ok {
			return d, nil
		}
	}
	return numericInputSlow(s, mod)
}

func numericInputSlow(s []byte, mod int32) (Datum, error) {
	var n num
	if err := n.parse(s); err != nil {
		return Null, err
	}
	if err := n.applyTypmod(mod); err != nil {
		return Null, err
	}
	return n.datum()
}

// parse reads a decimal literal. Exponents only shift: nothing is expanded.
func (n *num) parse(s []byte) error {
	t := trimSpace(s)
	bad := func() error { return errSyntax("numeric", s) }
	if len(t) == 0 {
		return bad()
	}
	n.sign = signPos
	body := t
	signed := false
	if body[0] == '+' || body[0] == '-' {
		signed = true
		if body[0] == '-' {
			n.sign = signNeg
		}
		body = body[1:]
	}
	if len(body) > 0 && isAlpha(body[0]) {
		switch {
		case !signed && strings.EqualFold(view(body), "nan"):
			n.sign = signNaN
		case strings.EqualFold(view(body), "inf"), strings.EqualFold(view(body), "infinity"):
			if n.sign == signNeg {
				n.sign = signNegInf
			} else {
				n.sign = signPosInf
			}
			n.dscale = infinityScale
		default:
			return bad()
		}
		return nil
	}
	// Digits before and after the point, then the exponent.
	i := 0
	for i < len(body) && isDigit(body[i]) {
		i++
	}
	intPart := body[:i]
	var frac []byte
	if i < len(body) && body[i] == '.' {
		i++
		from := i
		for i < len(body) && isDigit(body[i]) {
			i++
		}
		frac = body[from:i]
	}
	if len(intPart) == 0 && len(frac) == 0 {
		return bad()
	}
	exp := 0
	if i < len(body) && body[i]|0x20 == 'e' {
		i++
		neg := false
		if i < len(body) && (body[i] == '+' || body[i] == '-') {
			neg = body[i] == '-'
			i++
		}
		from := i
		for i < len(body) && isDigit(body[i]) {
			if exp < math.MaxInt32 {
				exp = exp*10 + int(body[i]-'0')
			}
			i++
		}
		if i == from || i < len(body) {
			return bad()
		}
		if exp >= math.MaxInt32/2 {
			return errNumericOverflow()
		}
		if neg {
			exp = -exp
		}
	}
	if i < len(body) {
		return bad()
	}
	n.dscale = max(len(frac)-exp, 0)
	for len(intPart) > 0 && intPart[0] == '0' {
		intPart = intPart[1:]
	}
	// Decimal weight of the first digit, then its group and offset in the group.
	dweight := len(intPart) - 1 + exp
	n.weight = floorDiv(dweight, decDigits)
	lead := (n.weight+1)*decDigits - 1 - dweight // zeros before the first digit in its group
	total := len(intPart) + len(frac)
	groups := (lead + total + decDigits - 1) / decDigits
	n.digits = n.space(groups)[:0]
	g, fill := int16(0), lead
	put := func(c byte) {
		g = g*10 + int16(c-'0')
		fill++
		if fill == decDigits {
			n.digits = append(n.digits, g)
			g, fill = 0, 0
		}
	}
	for _, c := range intPart {
		put(c)
	}
	for _, c := range frac {
		put(c)
	}
	for fill != 0 {
		put('0')
	}
	n.strip()
	return nil
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// applyTypmod rounds to the scale of numeric(p,s) and refuses what p cannot hold.
func (n *num) applyTypmod(mod int32) error {
	p, s, ok := NumericPrecisionScale(mod)
	if !ok || n.isNaN() {
		return nil
	}
	overflow := func() *pgerr.Error { return pgerr.New(pgerr.NumericValueOutOfRange, "numeric field overflow") }
	if !n.finite() {
		return overflow().WithDetail("A field with precision %d, scale %d cannot hold an infinite value.", p, s)
	}
	n.round(int(s))
	n.dscale = max(n.dscale, 0)
	n.strip()
	maxDigits := int(p - s)
	if len(n.digits) > 0 && (n.weight+1)*decDigits > maxDigits {
		d := (n.weight + 1) * decDigits
		switch f := n.digits[0]; {
		case f < 10:
			d -= 3
		case f < 100:
			d -= 2
		case f < 1000:
			d--
		}
		if d > maxDigits {
			base := "10^"
			if maxDigits == 0 {
				base, maxDigits = "", 1
			}
			return overflow().WithDetail("A field with precision %d, scale %d must round to an absolute value less than %s%d.", p, s, base, maxDigits)
		}
	}
	return nil
}

var pow10 = [...]int16{1, 10, 100, 1000}

// cut keeps rscale decimal places and says whether the first digit cut off was 5 or more.
func (n *num) cut(rscale int) (half bool) {
	n.dscale = rscale
	// How many decimal digits stay, counted from the top of digits[0].
	keep := (n.weight+1)*decDigits + rscale
	if keep < 0 {
		n.digits, n.weight = n.digits[:0], 0
		return false
	}
	full, part := keep/decDigits, keep%decDigits
	if full >= len(n.digits) {
		return false
	}
	d := n.digits[full]
	if part == 0 {
		half = d >= nbase/2
		n.digits = n.digits[:full]
		return half
	}
	unit := pow10[decDigits-part]
	half = d%unit >= unit/2
	n.digits[full] = d - d%unit
	n.digits = n.digits[:full+1]
	return half
}

// round rounds half away from zero to rscale decimal places (which may be negative).
func (n *num) round(rscale int) {
	if !n.finite() {
		return
	}
	weight := n.weight
	if !n.cut(rscale) {
		return
	}
	// Add one unit of the last kept place.
	keep := (weight+1)*decDigits + rscale
	unit := int16(1)
	last := keep/decDigits - 1
	if part := keep % decDigits; part != 0 {
		last++
		unit = pow10[decDigits-part]
	}
	for i := last; i >= 0; i-- {
		v := n.digits[i] + unit
		if v < nbase {
			n.digits[i] = v
			return
		}
		n.digits[i] = v - nbase
		unit = 1
	}
	n.digits = append([]int16{unit}, n.digits...)
	n.weight = weight + 1
}

// trunc cuts towards zero to rscale decimal places.
func (n *num) trunc(rscale int) {
	if n.finite() {
		n.cut(rscale)
	}
}

// appendNumericText writes a numeric with exactly dscale decimal places.
func appendNumericText(dst, b []byte) []byte {
	switch numSign(b) {
	case signNaN:
		return append(dst, "NaN"...)
	case signPosInf:
		return append(dst, "Infinity"...)
	case signNegInf:
		return append(dst, "-Infinity"...)
	case signNeg:
		dst = append(dst, '-')
	}
	weight, dscale := numWeight(b), numDscale(b)
	count := (len(b) - 8) / 2
	digit := func(i int) int16 {
		if i < 0 || i >= count {
			return 0
		}
		return int16(binary.BigEndian.Uint16(b[8+2*i:]))
	}
	if weight < 0 {
		dst = append(dst, '0')
	}
	for i := 0; i <= weight; i++ {
		d := digit(i)
		if i == 0 {
			dst = appendInt(dst, int64(d))
			continue
		}
		dst = append(dst, byte('0'+d/1000), byte('0'+d/100%10), byte('0'+d/10%10), byte('0'+d%10))
	}
	if dscale == 0 {
		return dst
	}
	dst = append(dst, '.')
	end := len(dst) + dscale
	for i := weight + 1; len(dst) < end; i++ {
		d := digit(i)
		dst = append(dst, byte('0'+d/1000), byte('0'+d/100%10), byte('0'+d/10%10), byte('0'+d%10))
	}
	return dst[:end]
}

// numericDecode checks a numeric from the wire and makes it canonical.
func numericDecode(b []byte) (Datum, error) {
	if len(b) < 8 {
		return Null, wrongSize(b, 8)
	}
	count := int(binary.BigEndian.Uint16(b))
	sign, dscale := numSign(b), numDscale(b)
	if len(b) != 8+2*count {
		return Null, wrongSize(b, 8+2*count)
	}
	bad := func(what string) (Datum, error) {
		return Null, pgerr.New(pgerr.InvalidBinaryRepresentation, `invalid %s in external "numeric" value`, what)
	}
	switch sign {
	case signPos, signNeg:
	case signNaN, signPosInf, signNegInf:
		return specialNumeric(sign), nil
	default:
		return bad("sign")
	}
	if dscale > dscaleMax {
		return bad("scale")
	}
	for i := range count {
		if binary.BigEndian.Uint16(b[8+2*i:]) >= nbase {
			return bad("digit")
		}
	}
	if isCanonical(b, count, dscale) {
		return Datum{B: b, Valid: true}, nil
	}
	return canonicalNumeric(b, dscale)
}

// isCanonical says that no end group is zero and no digit lies beyond the scale.
func isCanonical(b []byte, count, dscale int) bool {
	weight := numWeight(b)
	if count == 0 {
		return numSign(b) == signPos && weight == 0
	}
	last := int16(binary.BigEndian.Uint16(b[len(b)-2:]))
	if binary.BigEndian.Uint16(b[8:]) == 0 || last == 0 {
		return false
	}
	over := (count-1-weight)*decDigits - dscale // places of the last group beyond the scale
	return over <= 0 || over < decDigits && last%pow10[over] == 0
}

func canonicalNumeric(b []byte, dscale int) (Datum, error) {
	var n num
	n.load(b)
	n.trunc(dscale)
	return n.datum()
}

// compareNumeric orders numerics: −Infinity, finite values, Infinity, NaN.
func compareNumeric(a, b []byte) int {
	sa, sb := numSign(a), numSign(b)
	ca, cb := numClass(a, sa), numClass(b, sb)
	if ca != cb {
		if ca < cb {
			return -1
		}
		return 1
	}
	c := 0
	if sa == signPos || sa == signNeg {
		if wa, wb := numWeight(a), numWeight(b); wa != wb {
			c = 1
			if wa < wb {
				c = -1
			}
		} else {
			c = bytes.Compare(a[8:], b[8:])
		}
		if sa == signNeg {
			c = -c
		}
	}
	return c
}

// numClass is the coarse order: −Infinity, negative, zero, positive, Infinity, NaN.
func numClass(b []byte, sign uint16) int {
	switch sign {
	case signNegInf:
		return 0
	case signNeg:
		return 1
	case signPosInf:
		return 4
	case signNaN:
		return 5
	}
	if len(b) == 8 {
		return 2
	}
	return 3
}

// appendNumericHash writes what equal numerics share: all but the display scale.
func appendNumericHash(dst, b []byte) []byte {
	dst = append(dst, b[0], b[1], b[2], b[3], b[4], b[5])
	return append(dst, b[8:]...)
}
