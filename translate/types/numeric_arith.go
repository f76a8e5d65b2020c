package types

import (
	"math/big"

	"github.com/eiderdb/eider/translate/pgerr"
)

func errDivZero() error { return pgerr.New(pgerr.DivisionByZero, "division by zero") }

// load2 reads two operands and says whether both are finite.
func load2(x, y *num, a, b Datum) (finite bool) {
	x.load(a.B)
	y.load(b.B)
	return x.finite() && y.finite()
}

// signum is −1, 0 or 1; infinities have their sign.
func (n *num) signum() int {
	switch n.sign {
	case signNeg, signNegInf:
		return -1
	case signPosInf:
		return 1
	}
	if len(n.digits) == 0 {
		return 0
	}
	return 1
}

func infinity(sign int) Datum {
	if sign < 0 {
		return specialNumeric(signNegInf)
	}
	return specialNumeric(signPosInf)
}

var (
	numericNaN = specialNumeric(signNaN)
	numericInf = specialNumeric(signPosInf)
)

// cmpAbs compares magnitudes of canonical finite values.
func cmpAbs(a, b *num) int {
	switch {
	case len(a.digits) == 0 && len(b.digits) == 0:
		return 0
	case len(a.digits) == 0:
		return -1
	case len(b.digits) == 0:
		return 1
	case a.weight != b.weight:
		if a.weight > b.weight {
			return 1
		}
		return -1
	}
	for i := 0; i < len(a.digits) && i < len(b.digits); i++ {
		if a.digits[i] != b.digits[i] {
			if a.digits[i] > b.digits[i] {
				return 1
			}
			return -1
		}
	}
	switch {
	case len(a.digits) > len(b.digits):
		return 1
	case len(a.digits) < len(b.digits):
		return -1
	}
	return 0
}

func (n *num) at(weight int) int32 {
	i := n.weight - weight
	if i < 0 || i >= len(n.digits) {
		return 0
	}
	return int32(n.digits[i])
}

// low is the weight of the last digit.
func (n *num) low() int { return n.weight - len(n.digits) + 1 }

// addAbs makes r = |a| + |b|.
func addAbs(r, a, b *num) {
	hi, lo := max(a.weight, b.weight)+1, min(a.low(), b.low())
	r.digits = r.space(hi - lo + 1)
	carry := int32(0)
	for w := lo; w <= hi; w++ {
		v := a.at(w) + b.at(w) + carry
		carry = 0
		if v >= nbase {
			v -= nbase
			carry = 1
		}
		r.digits[hi-w] = int16(v)
	}
	r.weight = hi
}

// subAbs makes r = |a| − |b| with |a| ≥ |b|.
func subAbs(r, a, b *num) {
	hi, lo := max(a.weight, b.weight), min(a.low(), b.low())
	r.digits = r.space(hi - lo + 1)
	borrow := int32(0)
	for w := lo; w <= hi; w++ {
		v := a.at(w) - b.at(w) - borrow
		borrow = 0
		if v < 0 {
			v += nbase
			borrow = 1
		}
		r.digits[hi-w] = int16(v)
	}
	r.weight = hi
}

func (n *num) space(count int) []int16 {
	if count <= cap(n.digits) {
		return n.digits[:count]
	}
	return make([]int16, count)
}

// sum makes r = a + b; r must not be a or b.
func (r *num) sum(a, b *num) {
	r.dscale = max(a.dscale, b.dscale)
	switch {
	case len(a.digits) == 0:
		r.copyOf(b)
	case len(b.digits) == 0:
		r.copyOf(a)
	case a.sign == b.sign:
		addAbs(r, a, b)
		r.sign = a.sign
	case cmpAbs(a, b) >= 0:
		subAbs(r, a, b)
		r.sign = a.sign
	default:
		subAbs(r, b, a)
		r.sign = b.sign
	}
	r.strip()
}

func (r *num) copyOf(a *num) {
	r.digits = append(r.digits[:0], a.digits...)
	r.weight, r.sign = a.weight, a.sign
}

func (n *num) negate() {
	switch n.sign {
	case signPos:
		if len(n.digits) > 0 {
			n.sign = signNeg
		}
	case signNeg:
		n.sign = signPos
	case signPosInf:
		n.sign = signNegInf
	case signNegInf:
		n.sign = signPosInf
	}
}

// NumericAdd is a + b.
func NumericAdd(a, b Datum) (Datum, error) {
	if d, ok := addSmall(a.B, b.B, false); ok {
		return d, nil
	}
	var x, y num
	finite := load2(&x, &y, a, b)
	if !finite {
		return addSpecial(&x, &y), nil
	}
	var r num
	r.sum(&x, &y)
	return r.datum()
}

// NumericSub is a − b.
func NumericSub(a, b Datum) (Datum, error) {
	if d, ok := addSmall(a.B, b.B, true); ok {
		return d, nil
	}
	var x, y num
	finite := load2(&x, &y, a, b)
	y.negate()
	if !finite {
		return addSpecial(&x, &y), nil
	}
	var r num
	r.sum(&x, &y)
	return r.datum()
}

func addSpecial(x, y *num) Datum {
	switch {
	case x.isNaN() || y.isNaN():
		return numericNaN
	case x.finite():
		return infinity(y.signum())
	case y.finite() || x.sign == y.sign:
		return infinity(x.signum())
	}
	return numericNaN
}

// NumericMul is a · b.
func NumericMul(a, b Datum) (Datum, error) {
	if d, ok := mulSmall(a.B, b.B); ok {
		return d, nil
	}
	var x, y num
	finite := load2(&x, &y, a, b)
	if !finite {
		s := x.signum() * y.signum()
		if x.isNaN() || y.isNaN() || s == 0 {
			return numericNaN, nil
		}
		return infinity(s), nil
	}
	var r num
	r.product(&x, &y)
	if r.dscale > dscaleMax {
		r.round(dscaleMax)
	}
	return r.datum()
}

// product makes r = a · b; r must not be a or b. Long operands go through math/big.
func (r *num) product(a, b *num) {
	r.dscale = a.dscale + b.dscale
	r.sign = signPos
	if a.sign != b.sign {
		r.sign = signNeg
	}
	if len(a.digits) == 0 || len(b.digits) == 0 {
		r.digits, r.weight, r.sign = nil, 0, signPos
		return
	}
	r.weight = a.weight + b.weight + 1
	if len(a.digits) > 64 && len(b.digits) > 64 {
		sa, sb := -a.low()*decDigits, -b.low()*decDigits
		sign, ds := r.sign, r.dscale
		v := new(big.Int).Mul(a.bigInt(sa), b.bigInt(sb))
		r.setBig(v.Abs(v), sa+sb)
		r.sign, r.dscale = sign, ds
		return
	}
	count := len(a.digits) + len(b.digits)
	var small [20]int64
	acc := small[:]
	if count > len(small) {
		acc = make([]int64, count)
	}
	acc = acc[:count]
	for i, d := range a.digits {
		for j, e := range b.digits {
			acc[i+j+1] += int64(d) * int64(e)
		}
	}
	r.digits = r.space(count)
	carry := int64(0)
	for i := count - 1; i >= 0; i-- {
		v := acc[i] + carry
		carry = v / nbase
		r.digits[i] = int16(v % nbase)
	}
	r.strip()
}

// divScale is the display scale of a quotient: at least 16 significant digits.
func divScale(a, b *num) int {
	w1, f1, w2, f2 := 0, int16(0), 0, int16(0)
	if len(a.digits) > 0 {
		w1, f1 = a.weight, a.digits[0]
	}
	if len(b.digits) > 0 {
		w2, f2 = b.weight, b.digits[0]
	}
	q := w1 - w2
	if f1 <= f2 {
		q--
	}
	return min(max(minSigDigits-q*decDigits, a.dscale, b.dscale, 0), maxDispScale)
}

// quotient makes r = a / b to rscale places, rounded half away from zero or cut.
func (r *num) quotient(a, b *num, rscale int, round bool) {
	// Scale so that the integer quotient has one place more than asked.
	places := rscale + 1
	sb := max(-b.low()*decDigits, 0)
	sa := max(-a.low()*decDigits, 0)
	n := a.bigInt(sa)
	d := b.bigInt(sb)
	n.Abs(n)
	d.Abs(d)
	// a/b = (n/10^sa)/(d/10^sb); times 10^places.
	if k := places - sa + sb; k >= 0 {
		n.Mul(n, tenTo(k))
	} else {
		d.Mul(d, tenTo(-k))
	}
	n.Quo(n, d)
	r.setBig(n, places)
	if a.sign != b.sign && len(r.digits) > 0 {
		r.sign = signNeg
	}
	if round {
		r.round(rscale)
	} else {
		r.trunc(rscale)
	}
}

// NumericDiv is a / b with PostgreSQL's choice of scale; 22012 for a zero divisor.
func NumericDiv(a, b Datum) (Datum, error) { return divide(a, b, false) }

// NumericDivTrunc is div(a, b): the quotient cut towards zero to an integer.
func NumericDivTrunc(a, b Datum) (Datum, error) { return divide(a, b, true) }

func divide(a, b Datum, integral bool) (Datum, error) {
	var x, y num
	finite := load2(&x, &y, a, b)
	if !finite {
		switch {
		case x.isNaN() || y.isNaN():
			return numericNaN, nil
		case !x.finite() && !y.finite():
			return numericNaN, nil
		case !x.finite():
			s := y.signum()
			if s == 0 {
				return Null, errDivZero()
			}
			return infinity(x.signum() * s), nil
		}
		var z num // finite / infinite is zero
		return z.datum()
	}
	if y.zero() {
		return Null, errDivZero()
	}
	var r num
	if integral {
		r.quotient(&x, &y, 0, false)
	} else {
		r.quotient(&x, &y, divScale(&x, &y), true)
	}
	return r.datum()
}

// NumericMod is a % b: the remainder has a's sign.
func NumericMod(a, b Datum) (Datum, error) {
	var x, y num
	finite := load2(&x, &y, a, b)
	if !finite {
		switch {
		case x.isNaN() || y.isNaN():
			return numericNaN, nil
		case !x.finite():
			if y.zero() {
				return Null, errDivZero()
			}
			return numericNaN, nil
		}
		return a, nil // finite % infinite
	}
	if y.zero() {
		return Null, errDivZero()
	}
	var q, p, r num
	q.quotient(&x, &y, 0, false)
	p.product(&y, &q)
	p.dscale = y.dscale
	p.negate()
	r.sum(&x, &p)
	return r.datum()
}

// NumericNeg is −a.
func NumericNeg(a Datum) (Datum, error) {
	var n num
	n.load(a.B)
	n.negate()
	return n.datum()
}

// NumericAbs is the magnitude of a.
func NumericAbs(a Datum) (Datum, error) {
	if NumericSign(a) >= 0 {
		return a, nil
	}
	return NumericNeg(a)
}

// NumericSign is −1, 0 or 1; 0 for NaN.
func NumericSign(a Datum) int {
	switch numSign(a.B) {
	case signNeg, signNegInf:
		return -1
	case signNaN:
		return 0
	case signPosInf:
		return 1
	}
	if len(a.B) == 8 {
		return 0
	}
	return 1
}

// NumericIsNaN says whether a is NaN.
func NumericIsNaN(a Datum) bool { return numSign(a.B) == signNaN }

// NumericIsFinite says whether a is neither NaN nor infinite.
func NumericIsFinite(a Datum) bool { s := numSign(a.B); return s == signPos || s == signNeg }

// NumericScale is scale(a): the display scale.
func NumericScale(a Datum) int { return numDscale(a.B) }

// NumericMinScale is min_scale(a): the places needed to show a exactly.
func NumericMinScale(a Datum) int {
	var n num
	n.load(a.B)
	if len(n.digits) == 0 {
		return 0
	}
	s := -n.low() * decDigits
	if s <= 0 {
		return 0
	}
	for last := n.digits[len(n.digits)-1]; last%10 == 0; last /= 10 {
		s--
	}
	return max(s, 0)
}

// NumericTrimScale is trim_scale(a).
func NumericTrimScale(a Datum) (Datum, error) {
	if !NumericIsFinite(a) {
		return a, nil
	}
	var n num
	n.load(a.B)
	n.dscale = NumericMinScale(a)
	return n.datum()
}

func clampScale(s int) int { return min(max(s, -maxResultScale), maxResultScale) }

// NumericRound is round(a, scale); a negative scale rounds to tens, hundreds, ….
func NumericRound(a Datum, scale int) (Datum, error) {
	var n num
	n.load(a.B)
	if !n.finite() {
		return a, nil
	}
	n.round(clampScale(scale))
	n.dscale = max(n.dscale, 0)
	return n.datum()
}

// NumericTrunc is trunc(a, scale).
func NumericTrunc(a Datum, scale int) (Datum, error) {
	var n num
	n.load(a.B)
	if !n.finite() {
		return a, nil
	}
	n.trunc(clampScale(scale))
	n.dscale = max(n.dscale, 0)
	return n.datum()
}

// NumericCeil is the least integer not below a.
func NumericCeil(a Datum) (Datum, error) { return toward(a, signPos) }

// NumericFloor is the greatest integer not above a.
func NumericFloor(a Datum) (Datum, error) { return toward(a, signNeg) }

func toward(a Datum, sign uint16) (Datum, error) {
	var n, orig num
	orig.load(a.B)
	if !orig.finite() {
		return a, nil
	}
	n.load(a.B)
	n.trunc(0)
	n.strip()
	if orig.sign == sign && cmpAbs(&n, &orig) != 0 {
		var one, r num
		one.setUint(1, sign == signNeg)
		r.sum(&n, &one)
		return r.datum()
	}
	return n.datum()
}

// NumericGCD is gcd(a, b), never negative.
func NumericGCD(a, b Datum) (Datum, error) {
	var x, y num
	finite := load2(&x, &y, a, b)
	if !finite {
		return numericNaN, nil
	}
	s := max(x.dscale, y.dscale)
	v := new(big.Int).GCD(nil, nil, new(big.Int).Abs(x.bigInt(s)), new(big.Int).Abs(y.bigInt(s)))
	return NumericFromBig(v, s)
}

// NumericLCM is lcm(a, b), never negative.
func NumericLCM(a, b Datum) (Datum, error) {
	var x, y num
	finite := load2(&x, &y, a, b)
	if !finite {
		return numericNaN, nil
	}
	s := max(x.dscale, y.dscale)
	p, q := x.bigInt(s), y.bigInt(s)
	if p.Sign() == 0 || q.Sign() == 0 {
		return NumericFromBig(new(big.Int), s)
	}
	p.Abs(p)
	q.Abs(q)
	g := new(big.Int).GCD(nil, nil, p, q)
	return NumericFromBig(p.Mul(p.Quo(p, g), q), s)
}

// NumericFactorial is factorial(n).
func NumericFactorial(n int64) (Datum, error) {
	if n < 0 {
		return Null, pgerr.New(pgerr.NumericValueOutOfRange, "factorial of a negative number is undefined")
	}
	if n > 32177 {
		return Null, errNumericOverflow()
	}
	return NumericFromBig(new(big.Int).MulRange(1, max(n, 1)), 0)
}

// NumericSum adds up many values without an allocation per value as long as they are
// 64-bit integers.
type NumericSum struct {
	hi, lo int64 // Σ of the added int64s is hi·2^32 + lo with lo kept small
	rest   Datum // Σ of the added numerics
	any    bool
}

// AddInt64 adds an integer.
func (s *NumericSum) AddInt64(v int64) {
	s.lo += v & 0xffffffff
	s.hi += v >> 32
	if s.lo >= 1<<62 {
		s.hi += s.lo >> 32
		s.lo &= 0xffffffff
	}
	s.any = true
}

// Add adds a numeric.
func (s *NumericSum) Add(d Datum) error {
	s.any = true
	if !s.rest.Valid {
		s.rest = d.Clone()
		return nil
	}
	r, err := NumericAdd(s.rest, d)
	s.rest = r
	return err
}

// Result is the sum, NULL when nothing was added.
func (s *NumericSum) Result() (Datum, error) {
	if !s.any {
		return Null, nil
	}
	v := new(big.Int).Lsh(big.NewInt(s.hi), 32)
	v.Add(v, big.NewInt(s.lo))
	d, err := NumericFromBig(v, 0)
	if err != nil || !s.rest.Valid {
		return d, err
	}
	return NumericAdd(s.rest, d)
}
