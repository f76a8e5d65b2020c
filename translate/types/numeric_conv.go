package types

import (
	"math"
	"math/big"

	"github.com/eiderdb/eider/translate/pgerr"
)

// NumericFromInt64 makes a numeric of scale 0.
func NumericFromInt64(v int64) Datum {
	u, neg := uint64(v), v < 0
	if neg {
		u = -u
	}
	return numericFromUint(u, neg)
}

// NumericFromUint64 makes a numeric of scale 0.
func NumericFromUint64(v uint64) Datum { return numericFromUint(v, false) }

func numericFromUint(u uint64, neg bool) Datum {
	if u < 1e18 {
		if neg {
			return makeSmall(-int64(u), 0)
		}
		return makeSmall(int64(u), 0)
	}
	var n num
	n.setUint(u, neg)
	d, _ := n.datum()
	return d
}

func (n *num) setUint(u uint64, neg bool) {
	n.sign, n.dscale = signPos, 0
	if neg {
		n.sign = signNeg
	}
	groups := 0
	for v := u; v > 0; v /= nbase {
		groups++
	}
	n.digits = n.space(groups)
	for i := groups - 1; i >= 0; i-- {
		n.digits[i] = int16(u % nbase)
		u /= nbase
	}
	n.weight = len(n.digits) - 1
	n.strip()
}

// bigInt is n·10^scale truncated to an integer.
func (n *num) bigInt(scale int) *big.Int {
	v := new(big.Int)
	var text []byte
	for _, d := range n.digits {
		text = append(text, byte('0'+d/1000), byte('0'+d/100%10), byte('0'+d/10%10), byte('0'+d%10))
	}
	shift := (n.weight+1-len(n.digits))*decDigits + scale
	if shift >= 0 {
		if len(text) == 0 {
			return v
		}
		v.SetString(string(text), 10)
		v.Mul(v, tenTo(shift))
	} else if keep := len(text) + shift; keep > 0 {
		v.SetString(string(text[:keep]), 10)
	}
	if n.sign == signNeg {
		v.Neg(v)
	}
	return v
}

func tenTo(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// setBig makes n = v / 10^scale with dscale decimal places kept as scale (at least 0).
func (n *num) setBig(v *big.Int, scale int) {
	text := new(big.Int).Abs(v).Append(nil, 10)
	if v.Sign() == 0 {
		n.sign, n.digits, n.weight, n.dscale = signPos, nil, 0, max(scale, 0)
		return
	}
	dweight := len(text) - 1 - scale
	n.weight = floorDiv(dweight, decDigits)
	lead := (n.weight+1)*decDigits - 1 - dweight
	n.digits = make([]int16, 0, (lead+len(text)+3)/decDigits)
	g, fill := int16(0), lead
	for _, c := range text {
		g = g*10 + int16(c-'0')
		fill++
		if fill == decDigits {
			n.digits = append(n.digits, g)
			g, fill = 0, 0
		}
	}
	if fill > 0 {
		for ; fill < decDigits; fill++ {
			g *= 10
		}
		n.digits = append(n.digits, g)
	}
	n.sign, n.dscale = signPos, max(scale, 0)
	if v.Sign() < 0 {
		n.sign = signNeg
	}
	n.strip()
}

// NumericFromBig makes v / 10^scale shown with scale decimal places.
func NumericFromBig(v *big.Int, scale int) (Datum, error) {
	var n num
	n.setBig(v, scale)
	return n.datum()
}

// NumericToBig answers the value as unscaled / 10^scale with scale the display scale;
// ok is false for NaN and the infinities.
func NumericToBig(d Datum) (unscaled *big.Int, scale int, ok bool) {
	var n num
	n.load(d.B)
	if !n.finite() {
		return nil, 0, false
	}
	return n.bigInt(n.dscale), n.dscale, true
}

// NumericToFloat64 is the nearest float8.
func NumericToFloat64(d Datum) (float64, error) {
	var buf [64]byte
	return parseFloat(appendNumericText(buf[:0], d.B), 64)
}

// NumericFromFloat makes a numeric from a float of the given width: 15 significant
// digits of a float8, 6 of a float4, as PostgreSQL's cast does.
func NumericFromFloat(f float64, bits int) (Datum, error) {
	switch {
	case math.IsNaN(f):
		return specialNumeric(signNaN), nil
	case math.IsInf(f, 1):
		return specialNumeric(signPosInf), nil
	case math.IsInf(f, -1):
		return specialNumeric(signNegInf), nil
	}
	env := Env{ExtraFloatDigits: 0}
	var buf [40]byte
	return numericInput(appendFloat(&env, buf[:0], f, bits), -1)
}

// numericToInt rounds half away from zero to an integer of the given width.
func numericToInt(d Datum, bits uint, typ string) (int64, error) {
	switch numSign(d.B) {
	case signNaN:
		return 0, pgerr.New(pgerr.FeatureNotSupported, "cannot convert NaN to %s", typ)
	case signPosInf, signNegInf:
		return 0, pgerr.New(pgerr.FeatureNotSupported, "cannot convert infinity to %s", typ)
	}
	var n num
	n.load(d.B)
	n.round(0)
	n.strip()
	if n.weight > 4 {
		return 0, errOutOfRange(typ)
	}
	var u uint64
	for i := 0; i <= n.weight && len(n.digits) > 0; i++ {
		if u > math.MaxUint64/nbase {
			return 0, errOutOfRange(typ)
		}
		u *= nbase
		if i < len(n.digits) {
			g := uint64(n.digits[i])
			if u > math.MaxUint64-g {
				return 0, errOutOfRange(typ)
			}
			u += g
		}
	}
	limit := uint64(1) << (bits - 1)
	if n.sign == signNeg {
		if u > limit {
			return 0, errOutOfRange(typ)
		}
		return -int64(u), nil
	}
	if u > limit-1 {
		return 0, errOutOfRange(typ)
	}
	return int64(u), nil
}

// NumericToInt64 rounds half away from zero; 22003 when it does not fit.
func NumericToInt64(d Datum) (int64, error) { return numericToInt(d, 64, "bigint") }
