package keys

import (
	"encoding/binary"
	"fmt"
)

// A numeric arrives in PostgreSQL's binary form: int16 digit count, int16 weight, int16
// sign (0x0000 +, 0x4000 -, 0xC000 NaN, 0xD000 +Inf, 0xF000 -Inf), int16 display scale,
// then base-10000 digits, the first worth 10000^weight. The key form drops the scale and
// zero digits at both ends, so numerically equal values have equal keys:
//
//	-Inf 0x00 | negative 0x01 + complement of magnitude | zero 0x02 | positive 0x03 + magnitude
//	+Inf 0x04 | NaN 0x05
//	magnitude: int16 weight (sign bit flipped), each digit + 1 as uint16, 0x0000
const (
	numNegInf   = 0x00
	numNegative = 0x01
	numZero     = 0x02
	numPositive = 0x03
	numPosInf   = 0x04
	numNaN      = 0x05
)

// AppendNumeric appends the key form of a numeric in PostgreSQL's binary form.
func AppendNumeric(dst, bin []byte) ([]byte, error) {
	if len(bin) < 8 {
		return dst, fmt.Errorf("%w: numeric of %d bytes", ErrMalformed, len(bin))
	}
	n := int(binary.BigEndian.Uint16(bin))
	weight := int(int16(binary.BigEndian.Uint16(bin[2:])))
	sign := binary.BigEndian.Uint16(bin[4:])
	digits := bin[8:]
	if len(digits) != 2*n {
		return dst, fmt.Errorf("%w: numeric with %d digits in %d bytes", ErrMalformed, n, len(digits))
	}
	switch sign {
	case 0xC000:
		return append(dst, numNaN), nil
	case 0xD000:
		return append(dst, numPosInf), nil
	case 0xF000:
		return append(dst, numNegInf), nil
	case 0x0000, 0x4000:
	default:
		return dst, fmt.Errorf("%w: numeric sign %#x", ErrMalformed, sign)
	}
	for len(digits) > 0 && digits[0] == 0 && digits[1] == 0 {
		digits = digits[2:]
		weight--
	}
	for len(digits) > 0 && digits[len(digits)-1] == 0 && digits[len(digits)-2] == 0 {
		digits = digits[:len(digits)-2]
	}
	if len(digits) == 0 {
		return append(dst, numZero), nil
	}
	if weight < -0x8000 {
		return dst, fmt.Errorf("%w: numeric weight %d", ErrMalformed, weight)
	}
	start := len(dst)
	dst = append(dst, numPositive)
	dst = binary.BigEndian.AppendUint16(dst, uint16(int16(weight))^0x8000)
	for i := 0; i < len(digits); i += 2 {
		d := binary.BigEndian.Uint16(digits[i:])
		if d > 9999 {
			return dst[:start], fmt.Errorf("%w: numeric digit %d", ErrMalformed, d)
		}
		dst = binary.BigEndian.AppendUint16(dst, d+1)
	}
	dst = append(dst, 0, 0)
	if sign == 0x4000 {
		dst[start] = numNegative
		for i := start + 1; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
	}
	return dst, nil
}

// SkipNumeric returns the bytes after a numeric's key form.
func SkipNumeric(b []byte) (rest []byte, err error) {
	if len(b) == 0 {
		return nil, ErrMalformed
	}
	switch b[0] {
	case numNegInf, numZero, numPosInf, numNaN:
		return b[1:], nil
	case numNegative, numPositive:
	default:
		return nil, ErrMalformed
	}
	end := uint16(0)
	if b[0] == numNegative {
		end = 0xFFFF
	}
	for at := 3; at+2 <= len(b); at += 2 {
		if binary.BigEndian.Uint16(b[at:]) == end {
			return b[at+2:], nil
		}
	}
	return nil, ErrMalformed
}
