package types

import (
	"math"
	"math/big"

	"github.com/eiderdb/eider/translate/pgerr"
)

// Errors of logarithms and powers, by PostgreSQL's codes.
const (
	codeInvalidLog   = "2201E"
	codeInvalidPower = "2201F"
)

const (
	log10e = 0.434294481903252
	ln10   = 2.302585092994046
	guard  = 24 // decimal places computed beyond what is shown
)

func dispScale(scale int, floors ...int) int {
	for _, f := range floors {
		scale = max(scale, f)
	}
	return min(max(scale, 0), maxDispScale)
}

// NumericSqrt is sqrt(a).
func NumericSqrt(a Datum) (Datum, error) {
	var n num
	n.load(a.B)
	switch {
	case n.isNaN() || n.sign == signPosInf:
		return a, nil
	case n.sign != signPos:
		return Null, pgerr.New(codeInvalidPower, "cannot take square root of a negative number")
	}
	rscale := dispScale(minSigDigits-((n.weight+1)*decDigits/2-1), n.dscale)
	v := n.bigInt(2 * (rscale + 2))
	var r num
	r.setBig(v.Sqrt(v), rscale+2)
	r.round(rscale)
	return r.datum()
}

// float is the nearest float64, infinite when too large.
func (n *num) float() float64 {
	f := 0.0
	for i := 0; i < len(n.digits) && i < 6; i++ {
		f += float64(n.digits[i]) * math.Pow(nbase, float64(n.weight-i))
	}
	if n.sign == signNeg {
		return -f
	}
	return f
}

// fixedExp is e^x for x = v/10^prec, to about prec places, as an integer scaled by 10^prec.
func fixedExp(v *big.Int, prec int) *big.Int {
	one := tenTo(prec)
	// Halve the argument until it is small, sum the series, square back.
	k := uint(max(v.BitLen()-one.BitLen()+8, 0))
	extra := int(k)/3 + 10
	w := new(big.Int).Mul(v, tenTo(extra))
	unit := tenTo(prec + extra)
	w.Rsh(w, k)
	sum := new(big.Int).Add(unit, w)
	term := new(big.Int).Set(w)
	for i := int64(2); term.Sign() != 0; i++ {
		term.Mul(term, w)
		term.Quo(term, unit)
		term.Quo(term, big.NewInt(i))
		sum.Add(sum, term)
	}
	for range k {
		sum.Mul(sum, sum)
		sum.Quo(sum, unit)
	}
	return sum.Quo(sum, tenTo(extra))
}

// expNum sets r = e^x rounded to rscale places.
func (r *num) expNum(x *num, rscale int) error {
	f := x.float()
	if math.Abs(f) >= maxResultScale*3 {
		if f > 0 {
			return errNumericOverflow()
		}
		*r = num{dscale: rscale}
		return nil
	}
	// The leading digits of a large result need as many more places.
	prec := rscale + guard + max(int(math.Abs(f)*log10e), 0)
	neg := x.sign == signNeg
	v := x.bigInt(prec)
	v.Abs(v)
	e := fixedExp(v, prec)
	if neg {
		e = new(big.Int).Quo(tenTo(2*prec), e)
	}
	r.setBig(e, prec)
	r.round(rscale)
	return nil
}

// fixedLn is ln(v/10^prec) scaled by 10^prec, for v > 0.
func fixedLn(v *big.Int, prec int) *big.Int {
	one := tenTo(prec)
	// v = m·2^k with m in [1, 2).
	k := v.BitLen() - one.BitLen()
	m := new(big.Int)
	if k >= 0 {
		m.Rsh(v, uint(k))
	} else {
		m.Lsh(v, uint(-k))
	}
	r := atanhSeries(new(big.Int).Sub(m, one), new(big.Int).Add(m, one), one)
	if k != 0 {
		ln2 := atanhSeries(big.NewInt(1), big.NewInt(3), one)
		r.Add(r, ln2.Mul(ln2, big.NewInt(int64(k))))
	}
	return r
}

// atanhSeries is 2·atanh(p/q) scaled by one.
func atanhSeries(p, q, one *big.Int) *big.Int {
	z := new(big.Int).Mul(p, one)
	z.Quo(z, q)
	sq := new(big.Int).Mul(z, z)
	sq.Quo(sq, one)
	sum := new(big.Int).Set(z)
	t := new(big.Int)
	for i := int64(3); z.Sign() != 0; i += 2 {
		z.Mul(z, sq)
		z.Quo(z, one)
		sum.Add(sum, t.Quo(z, big.NewInt(i)))
	}
	return sum.Lsh(sum, 1)
}

// lnFixed is ln(x)·10^prec for x > 0.
func lnFixed(x *num, prec int) *big.Int {
	// Shift x near 1 by powers of ten so that no digit is lost or wasted.
	shift := x.weight * decDigits
	wide := prec + 8
	y := num{digits: x.digits, weight: 0, sign: signPos}
	v := fixedLn(y.bigInt(max(wide, len(x.digits)*decDigits)), max(wide, len(x.digits)*decDigits))
	v.Quo(v, tenTo(max(wide, len(x.digits)*decDigits)-wide))
	if shift != 0 {
		ten := fixedLn(tenTo(wide+1), wide)
		v.Add(v, ten.Mul(ten, big.NewInt(int64(shift))))
	}
	return v.Quo(v, tenTo(wide-prec))
}

// lnWeight estimates the decimal weight of ln(x), as the choice of scales needs it.
func lnWeight(x *num) int {
	if x.sign != signPos || len(x.digits) == 0 {
		return 0
	}
	var lo, hi num
	_ = lo.parse([]byte("0.9"))
	_ = hi.parse([]byte("1.1"))
	if cmpAbs(x, &lo) >= 0 && cmpAbs(x, &hi) <= 0 {
		var one, d num
		one.setUint(1, true)
		d.sum(x, &one)
		if len(d.digits) == 0 {
			return 0
		}
		return d.weight*decDigits + int(math.Log10(float64(d.digits[0])))
	}
	digits, dweight := float64(x.digits[0]), x.weight*decDigits
	if len(x.digits) > 1 {
		digits = digits*nbase + float64(x.digits[1])
		dweight -= decDigits
	}
	return int(math.Log10(math.Abs(math.Log(digits) + float64(dweight)*ln10)))
}

// NumericExp is exp(a).
func NumericExp(a Datum) (Datum, error) {
	var n, r num
	n.load(a.B)
	switch n.sign {
	case signNaN, signPosInf:
		return a, nil
	case signNegInf:
		return r.datum()
	}
	val := min(max(n.float()*log10e, -maxResultScale), maxResultScale)
	if err := r.expNum(&n, dispScale(minSigDigits-int(val), n.dscale)); err != nil {
		return Null, err
	}
	return r.datum()
}

func checkLog(n *num) error {
	switch {
	case n.signum() < 0:
		return pgerr.New(codeInvalidLog, "cannot take logarithm of a negative number")
	case n.signum() == 0 && !n.isNaN():
		return pgerr.New(codeInvalidLog, "cannot take logarithm of zero")
	}
	return nil
}

// NumericLn is ln(a).
func NumericLn(a Datum) (Datum, error) {
	var n, r num
	n.load(a.B)
	if n.isNaN() {
		return a, nil
	}
	if err := checkLog(&n); err != nil {
		return Null, err
	}
	if !n.finite() {
		return a, nil
	}
	rscale := dispScale(minSigDigits-lnWeight(&n), n.dscale)
	r.setBig(lnFixed(&n, rscale+guard), rscale+guard)
	r.round(rscale)
	return r.datum()
}

// NumericLog10 is log(a), base 10.
func NumericLog10(a Datum) (Datum, error) { return NumericLog(NumericFromInt64(10), a) }

// NumericLog is log(base, a).
func NumericLog(base, a Datum) (Datum, error) {
	var b, n, r num
	finite := load2(&b, &n, base, a)
	if b.isNaN() || n.isNaN() {
		return numericNaN, nil
	}
	if err := checkLog(&b); err != nil {
		return Null, err
	}
	if err := checkLog(&n); err != nil {
		return Null, err
	}
	if !finite {
		switch {
		case b.finite():
			return numericInf, nil
		case n.finite():
			return r.datum()
		}
		return numericNaN, nil
	}
	lb, ln := lnWeight(&b), lnWeight(&n)
	rscale := dispScale(minSigDigits-(ln-lb), b.dscale, n.dscale)
	prec := rscale + guard + max(-lb, 0) + max(ln, 0)
	den := lnFixed(&b, prec)
	if den.Sign() == 0 {
		return Null, errDivZero()
	}
	q := lnFixed(&n, prec)
	q.Mul(q, tenTo(prec))
	// Round the last guard places away so that exact logarithms come out exact.
	r.setBig(q.Quo(q, den), prec)
	r.round(rscale + guard/2)
	r.round(rscale)
	return r.datum()
}

// integral says whether a finite value has no fraction, and whether it is odd.
func (n *num) integral() (whole, odd bool) {
	if len(n.digits) == 0 {
		return true, false
	}
	if n.low() < 0 {
		return false, false
	}
	return true, n.low() == 0 && n.digits[len(n.digits)-1]&1 == 1
}

// NumericPower is a ^ b.
func NumericPower(a, b Datum) (Datum, error) {
	var x, y, r num
	finite := load2(&x, &y, a, b)
	one := NumericFromInt64(1)
	if !finite {
		return powerSpecial(&x, &y, a, b)
	}
	if x.signum() == 0 && y.signum() < 0 {
		return Null, pgerr.New(codeInvalidPower, "zero raised to a negative power is undefined")
	}
	whole, odd := y.integral()
	if x.signum() < 0 && !whole {
		return Null, pgerr.New(codeInvalidPower, "a negative number raised to a non-integer power yields a complex result")
	}
	if whole && y.weight <= 2 {
		e := y.bigInt(0)
		if e.IsInt64() && e.Int64() >= math.MinInt32 && e.Int64() <= math.MaxInt32 {
			if err := r.powInt(&x, int(e.Int64())); err != nil {
				return Null, err
			}
			return r.datum()
		}
	}
	if x.signum() == 0 {
		r.dscale = minSigDigits
		return r.datum()
	}
	if numSign(a.B) == signPos && compareNumeric(a.B, one.B) == 0 {
		r.setUint(1, false)
		r.dscale = dispScale(minSigDigits, x.dscale, y.dscale)
		return r.datum()
	}
	neg := x.sign == signNeg
	x.sign = signPos
	lw := lnWeight(&x)
	// A rough logarithm, to about eight digits, chooses the scale.
	var rough, est num
	local := max(8-lw, 0)
	rough.setBig(lnFixed(&x, local+8), local+8)
	rough.round(local)
	rough.strip()
	est.product(&rough, &y)
	est.round(local)
	est.strip()
	val := est.float()
	if math.Abs(val) > maxResultScale*3.01 {
		if val > 0 {
			return Null, errNumericOverflow()
		}
		r.dscale = maxDispScale
		return r.datum()
	}
	rscale := dispScale(minSigDigits-int(val*log10e), x.dscale, y.dscale)
	prec := rscale + guard + max(int(math.Abs(val)*log10e), 0) + max((y.weight+1)*decDigits, 0)
	var l, p num
	l.setBig(lnFixed(&x, prec), prec)
	p.product(&l, &y)
	if err := r.expNum(&p, rscale); err != nil {
		return Null, err
	}
	if neg && odd {
		r.negate()
	}
	return r.datum()
}

// powerSpecial is a ^ b when one of them is NaN or infinite.
func powerSpecial(x, y *num, a, b Datum) (Datum, error) {
	one := NumericFromInt64(1)
	switch {
	case x.isNaN():
		if y.zero() {
			return one, nil
		}
		return numericNaN, nil
	case y.isNaN():
		if compareNumeric(a.B, one.B) == 0 {
			return one, nil
		}
		return numericNaN, nil
	case y.zero():
		return one, nil
	case compareNumeric(a.B, one.B) == 0:
		return one, nil
	case x.zero() && y.signum() < 0:
		return Null, pgerr.New(codeInvalidPower, "zero raised to a negative power is undefined")
	}
	whole, odd := true, false
	if y.finite() {
		whole, odd = y.integral()
	}
	if x.signum() < 0 && !whole {
		return Null, pgerr.New(codeInvalidPower, "a negative number raised to a non-integer power yields a complex result")
	}
	var zero num
	if !y.finite() {
		mag, _ := NumericAbs(a)
		switch c := compareNumeric(mag.B, one.B); {
		case c == 0:
			return one, nil
		case (c > 0) == (y.signum() > 0):
			return numericInf, nil
		}
		return zero.datum()
	}
	if y.signum() < 0 {
		return zero.datum()
	}
	if x.signum() < 0 && odd {
		return infinity(-1), nil
	}
	return numericInf, nil
}

// powInt sets r = x^e with PostgreSQL's scale for integer powers.
func (r *num) powInt(x *num, e int) error {
	rscale := dispScale(minSigDigits, x.dscale)
	switch {
	case e == 0:
		r.setUint(1, false)
		r.dscale = rscale
		return nil
	case len(x.digits) == 0:
		r.dscale = rscale
		return nil
	}
	// The decimal weight of the result decides what can be held and what matters.
	f := float64(x.digits[0])
	p := float64(x.weight * decDigits)
	for i := 1; i < len(x.digits) && i < 4; i++ {
		f = f*nbase + float64(x.digits[i])
		p -= decDigits
	}
	w := float64(e) * (math.Log10(f) + p)
	if w > 3*math.MaxInt16*decDigits {
		return errNumericOverflow()
	}
	if w+1 < float64(-rscale) || w < -maxResultScale*4 {
		*r = num{dscale: rscale}
		return nil
	}
	// Square and multiply on an integer mantissa cut to the digits that matter.
	sig := rscale + int(math.Max(w, -float64(rscale))) + guard + int(math.Log10(math.Abs(float64(e))+1))*2
	neg := x.sign == signNeg && e&1 != 0
	m := x.bigInt(-x.low() * decDigits)
	m.Abs(m)
	pm, pexp := power10(m, x.low()*decDigits, e, sig)
	if e < 0 {
		// 1/(pm·10^pexp) to rscale+guard places
		places := rscale + guard
		q := new(big.Int).Quo(tenToSigned(places-pexp), pm)
		r.setBig(q, places)
	} else {
		r.setBig(pm, 0)
		shiftDecimal(r, pm, pexp)
	}
	if neg {
		r.negate()
	}
	if len(r.digits) > 0 && r.weight > math.MaxInt16 {
		return errNumericOverflow()
	}
	r.round(rscale)
	return nil
}

// tenToSigned is 10^n, and 0 for a negative n.
func tenToSigned(n int) *big.Int {
	if n < 0 {
		return new(big.Int)
	}
	return tenTo(n)
}

// shiftDecimal sets r = v·10^exp.
func shiftDecimal(r *num, v *big.Int, exp int) {
	if exp >= 0 {
		rem := exp % decDigits
		if rem != 0 {
			v = new(big.Int).Mul(v, tenTo(rem))
		}
		r.setBig(v, 0)
		r.weight += exp / decDigits
		return
	}
	r.setBig(v, -exp)
}

// power10 is (m·10^exp)^|e| as mantissa and exponent, the mantissa cut to sig digits.
func power10(m *big.Int, exp, e, sig int) (*big.Int, int) {
	if e < 0 {
		e = -e
	}
	res, rexp := big.NewInt(1), 0
	base, bexp := new(big.Int).Set(m), exp
	cut := func(v *big.Int, x int) int {
		if d := int(float64(v.BitLen())*0.30102999566) - sig; d > 0 {
			v.Quo(v, tenTo(d))
			return x + d
		}
		return x
	}
	for {
		if e&1 == 1 {
			res.Mul(res, base)
			rexp = cut(res, rexp+bexp)
		}
		e >>= 1
		if e == 0 {
			return res, rexp
		}
		base.Mul(base, base)
		bexp = cut(base, bexp*2)
	}
}
