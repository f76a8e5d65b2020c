package types

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Numbers of at most 18 digits take these paths, which work on one int64 and allocate
// only their result.

var pow10int = [...]int64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
}

// smallNumeric answers a finite numeric as v / 10^scale, scale its display scale, when
// v has at most 18 digits.
func smallNumeric(b []byte) (v int64, scale int, ok bool) {
	sign := numSign(b)
	scale = numDscale(b)
	count := (len(b) - 8) / 2
	if sign != signPos && sign != signNeg || scale > 18 {
		return 0, 0, false
	}
	if count == 0 {
		return 0, scale, true
	}
	weight := numWeight(b)
	// Digits before the point plus those shown after it.
	if weight > 4 || weight < -5 || (weight+1)*decDigits+scale > 18 {
		return 0, 0, false
	}
	exp := weight * decDigits // decimal exponent of the current group
	for i := range count {
		d := int64(binary.BigEndian.Uint16(b[8+2*i:]))
		if s := exp + scale; s >= 0 {
			v += d * pow10int[s]
		} else {
			v += d / pow10int[-s] // exact: nothing lies beyond the scale
		}
		exp -= decDigits
	}
	if sign == signNeg {
		v = -v
	}
	return v, scale, true
}

// makeSmall builds the numeric v / 10^scale, 0 ≤ scale ≤ 18.
func makeSmall(v int64, scale int) Datum {
	u := uint64(v)
	sign := uint16(signPos)
	if v < 0 {
		u = -u
		sign = signNeg
	}
	p := uint64(pow10int[scale])
	whole, frac := u/p, u%p
	// Groups from the point outwards, then together without zeros at the ends.
	var groups [12]uint16
	at := 5
	for w := whole; w > 0; w /= nbase {
		at--
		groups[at] = uint16(w % nbase)
	}
	weight := 4 - at
	end := 5
	for s := scale; s > 0; s -= decDigits {
		if s >= decDigits {
			q := uint64(pow10int[s-decDigits])
			groups[end] = uint16(frac / q)
			frac %= q
		} else {
			groups[end] = uint16(frac * uint64(pow10int[decDigits-s]))
		}
		end++
	}
	for end > at && groups[end-1] == 0 {
		end--
	}
	for at < end && groups[at] == 0 {
		at++
		weight--
	}
	if at == end {
		weight, sign = 0, signPos
	}
	b := make([]byte, 8+2*(end-at))
	binary.BigEndian.PutUint16(b, uint16(end-at))
	binary.BigEndian.PutUint16(b[2:], uint16(weight))
	binary.BigEndian.PutUint16(b[4:], sign)
	binary.BigEndian.PutUint16(b[6:], uint16(scale))
	for i, g := range groups[at:end] {
		binary.BigEndian.PutUint16(b[8+2*i:], g)
	}
	return Datum{B: b, Valid: true}
}

// makeSmallTypmod is makeSmall under a modifier, false when that needs the general path.
func makeSmallTypmod(v int64, scale int, mod int32) (Datum, bool) {
	p, s, ok := NumericPrecisionScale(mod)
	if !ok {
		return makeSmall(v, scale), true
	}
	if int(s) < scale || s > 18 || p < s {
		return Null, false
	}
	v, ok = rescale(v, int(s)-scale)
	if !ok || p < 18 && abs64(v) >= pow10int[p] {
		return Null, false
	}
	return makeSmall(v, int(s)), true
}

// rescale brings a value to a larger scale, false when it grows past 18 digits.
func rescale(v int64, by int) (int64, bool) {
	hi, lo := bits.Mul64(uint64(abs64(v)), uint64(pow10int[by]))
	if hi != 0 || lo >= 1e18 {
		return 0, false
	}
	if v < 0 {
		return -int64(lo), true
	}
	return int64(lo), true
}

// addSmall is a + b or a − b.
func addSmall(a, b []byte, negate bool) (Datum, bool) {
	x, xs, ok1 := smallNumeric(a)
	y, ys, ok2 := smallNumeric(b)
	if !ok1 || !ok2 {
		return Null, false
	}
	if negate {
		y = -y
	}
	ok := true
	if xs < ys {
		x, ok = rescale(x, ys-xs)
		xs = ys
	} else if ys < xs {
		y, ok = rescale(y, xs-ys)
	}
	if !ok {
		return Null, false
	}
	return makeSmall(x+y, xs), true // two values below 10^18 cannot overflow
}

// mulSmall is a · b.
func mulSmall(a, b []byte) (Datum, bool) {
	x, xs, ok1 := smallNumeric(a)
	y, ys, ok2 := smallNumeric(b)
	if !ok1 || !ok2 || xs+ys > 18 {
		return Null, false
	}
	hi, lo := bits.Mul64(uint64(abs64(x)), uint64(abs64(y)))
	if hi != 0 || lo > math.MaxInt64 {
		return Null, false
	}
	p := int64(lo)
	if (x < 0) != (y < 0) {
		p = -p
	}
	return makeSmall(p, xs+ys), true
}

// parseSmall reads plain decimals of at most 18 digits.
func parseSmall(s []byte) (v int64, scale int, ok bool) {
	neg := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		s = s[1:]
	}
	if len(s) == 0 || len(s) > 19 {
		return 0, 0, false
	}
	digits, point := 0, false
	for _, c := range s {
		switch {
		case isDigit(c):
			v = v*10 + int64(c-'0')
			digits++
			if point {
				scale++
			}
			if digits > 18 {
				return 0, 0, false
			}
		case c == '.' && !point:
			point = true
		default:
			return 0, 0, false
		}
	}
	if digits == 0 {
		return 0, 0, false
	}
	if neg {
		v = -v
	}
	return v, scale, true
}
