package types

import (
	"bytes"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/eiderdb/eider/translate/pgerr"
)

// nanBits is the NaN that PostgreSQL writes.
const nanBits = 0x7ff8000000000000

func floatName(bits int) string {
	if bits == 32 {
		return "real"
	}
	return "double precision"
}

// parseFloat reads a float as strtod does: blanks around it, inf, infinity and nan in
// any case, hexadecimal floats. What is too large, or too small and not zero, is out of range.
func parseFloat(s []byte, bits int) (float64, error) {
	t := trimSpace(s)
	bad := func() (float64, error) { return 0, errSyntax(floatName(bits), s) }
	if len(t) == 0 {
		return bad()
	}
	body := t
	if body[0] == '+' || body[0] == '-' {
		body = body[1:]
	}
	if len(body) == 0 {
		return bad()
	}
	if !isDigit(body[0]) && body[0] != '.' {
		switch {
		case strings.EqualFold(view(body), "inf"), strings.EqualFold(view(body), "infinity"):
			if t[0] == '-' {
				return math.Inf(-1), nil
			}
			return math.Inf(1), nil
		case strings.EqualFold(view(body), "nan"):
			return math.Float64frombits(nanBits), nil
		}
		return bad()
	}
	if bytes.IndexByte(t, '_') >= 0 {
		return bad()
	}
	num := view(t)
	if len(body) > 1 && body[1]|0x20 == 'x' && !bytes.ContainsAny(body, "pP") {
		num += "p0" // strtod does without the binary exponent, ParseFloat does not
	}
	f, err := strconv.ParseFloat(num, bits)
	if err != nil && !math.IsInf(f, 0) {
		return bad()
	}
	if math.IsInf(f, 0) || f == 0 && hasNonzeroDigit(body) {
		return 0, pgerr.New(pgerr.NumericValueOutOfRange, `"%s" is out of range for type %s`, t, floatName(bits))
	}
	return f, nil
}

// hasNonzeroDigit looks at a float's mantissa.
func hasNonzeroDigit(s []byte) bool {
	hex := len(s) > 1 && s[1]|0x20 == 'x'
	for i, c := range s {
		switch {
		case hex && i < 2, c == '.', c == '0':
		case c|0x20 == 'p', c|0x20 == 'e' && !hex:
			return false
		default:
			return true
		}
	}
	return false
}

// appendFloat writes a float as PostgreSQL does: with extra_float_digits above 0 the
// shortest digits that read back the same, else %.*g with so many digits.
func appendFloat(env *Env, dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	env = env.orDefault()
	digits, top := 15, 15
	if bits == 32 {
		digits, top = 6, 6
	}
	var buf [32]byte
	var e []byte
	if env.ExtraFloatDigits > 0 {
		e = shortest(buf[:0], f, bits)
	} else {
		digits = max(digits+env.ExtraFloatDigits, 1)
		top = digits
		e = strconv.AppendFloat(buf[:0], f, 'e', digits-1, 64)
	}
	return appendG(dst, e, top, env.ExtraFloatDigits <= 0)
}

// shortest is the shortest text that reads back as f. Text that lies exactly between f
// and its neighbour reads back only by the round-to-even rule; PostgreSQL does not use
// it and takes another digit.
func shortest(dst []byte, f float64, bits int) []byte {
	e := strconv.AppendFloat(dst, f, 'e', -1, bits)
	digits := bytes.IndexByte(e, 'e') - 2
	if e[0] == '-' {
		digits--
	}
	digits = max(digits, 0) // after the point
	for digits < 20 && onBoundary(e, f, bits) {
		digits++
		e = strconv.AppendFloat(dst, f, 'e', digits, bits)
	}
	return e
}

// onBoundary says whether a text is halfway between f and a neighbour.
func onBoundary(e []byte, f float64, bits int) bool {
	if bits == 32 {
		g := float32(f)
		v, err := strconv.ParseFloat(view(e), 64)
		if err != nil || v == f {
			return false
		}
		next := math.Nextafter32(g, float32(math.Inf(1)))
		if v < f {
			next = math.Nextafter32(g, float32(math.Inf(-1)))
		}
		return v == (f+float64(next))/2
	}
	if a := math.Abs(f); a < 1<<53 || a > 1e40 {
		return false // below, a halfway point needs more digits than the shortest text has
	}
	v, _, err := big.ParseFloat(string(e), 10, 200, big.ToNearestEven)
	if err != nil {
		return false
	}
	toward := math.Inf(1)
	if v.Cmp(big.NewFloat(f)) < 0 {
		toward = math.Inf(-1)
	}
	mid := new(big.Float).SetPrec(200).Add(big.NewFloat(f), big.NewFloat(math.Nextafter(f, toward)))
	mid.Quo(mid, big.NewFloat(2))
	return v.Cmp(mid) == 0
}

// appendG lays out d.ddde±xx as C's %g does: an exponent form below 1e-4 and from
// 10^top on, else plain decimals; trim drops trailing zeros of the fraction.
func appendG(dst, e []byte, top int, trim bool) []byte {
	if e[0] == '-' {
		dst = append(dst, '-')
		e = e[1:]
	}
	at := bytes.IndexByte(e, 'e')
	exp, _ := strconv.Atoi(string(e[at+1:]))
	var mant [24]byte
	m := append(mant[:0], e[0])
	if at > 2 {
		m = append(m, e[2:at]...)
	}
	if trim {
		for len(m) > 1 && m[len(m)-1] == '0' {
			m = m[:len(m)-1]
		}
	}
	switch {
	case exp < -4 || exp >= top:
		dst = append(dst, m[0])
		if len(m) > 1 {
			dst = append(dst, '.')
			dst = append(dst, m[1:]...)
		}
		dst = append(dst, 'e')
		if exp < 0 {
			dst = append(dst, '-')
			exp = -exp
		} else {
			dst = append(dst, '+')
		}
		if exp < 10 {
			dst = append(dst, '0')
		}
		return strconv.AppendInt(dst, int64(exp), 10)
	case exp < 0:
		dst = append(dst, '0', '.')
		for i := -1; i > exp; i-- {
			dst = append(dst, '0')
		}
		return append(dst, m...)
	default:
		for i := 0; i <= exp; i++ {
			if i < len(m) {
				dst = append(dst, m[i])
			} else {
				dst = append(dst, '0')
			}
		}
		if len(m) > exp+1 {
			dst = append(dst, '.')
			dst = append(dst, m[exp+1:]...)
		}
		return dst
	}
}
