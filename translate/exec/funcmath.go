package exec

import (
	"math"

	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// f1 is a function of one float.
func f1(name string, f func(x float64) float64) Func {
	return fn(name, tF8, func(c *Call) (types.Datum, error) {
		x := Float(c.Args[0])
		v := f(x)
		if math.IsInf(v, 0) && !math.IsInf(x, 0) {
			return types.Null, pgerr.New(pgerr.NumericValueOutOfRange, "value out of range: overflow")
		}
		return types.Float8(v), nil
	}, tF8)
}

// domain is f1 for functions that are not defined everywhere.
func domain(name string, ok func(x float64) bool, f func(x float64) float64) Func {
	return fn(name, tF8, func(c *Call) (types.Datum, error) {
		x := Float(c.Args[0])
		if !ok(x) && !math.IsNaN(x) {
			return types.Null, pgerr.New(pgerr.NumericValueOutOfRange, "input is out of range")
		}
		return types.Float8(f(x)), nil
	}, tF8)
}

func logFloat(name string, f func(x float64) float64) Func {
	return fn(name, tF8, func(c *Call) (types.Datum, error) {
		x := Float(c.Args[0])
		if x == 0 {
			return types.Null, pgerr.New("2201E", "cannot take logarithm of zero")
		}
		if x < 0 {
			return types.Null, pgerr.New("2201E", "cannot take logarithm of a negative number")
		}
		return types.Float8(f(x)), nil
	}, tF8)
}

// n1 is a function of one numeric.
func n1(name string, f func(a types.Datum) (types.Datum, error)) Func {
	return fn(name, tNum, func(c *Call) (types.Datum, error) { return f(c.Args[0]) }, tNum)
}

func n2(name string, f func(a, b types.Datum) (types.Datum, error)) Func {
	return fn(name, tNum, func(c *Call) (types.Datum, error) { return f(c.Args[0], c.Args[1]) }, tNum, tNum)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	if a < 0 {
		return -a
	}
	return a
}

func mathFuncs() []Func {
	abs := func(oid types.OID) Func {
		return fn("abs", oid, func(c *Call) (types.Datum, error) {
			v := c.Args[0].I
			if v >= 0 {
				return c.Args[0], nil
			}
			if v == math.MinInt64 {
				return types.Null, outOfRange("bigint")
			}
			return fit(oid, -v)
		}, oid)
	}
	mod := func(oid types.OID) Func {
		op := intArith('%', oid)
		return fn("mod", oid, func(c *Call) (types.Datum, error) { return op(c.Ctx, c.Args[0], c.Args[1]) }, oid, oid)
	}
	ints := func(name string, f func(a, b int64) (int64, bool)) []Func {
		var out []Func
		for _, oid := range []types.OID{tInt4, tInt8} {
			out = append(out, fn(name, oid, func(c *Call) (types.Datum, error) {
				v, ok := f(c.Args[0].I, c.Args[1].I)
				if !ok {
					return types.Null, outOfRange(intName(oid))
				}
				return fit(oid, v)
			}, oid, oid))
		}
		return out
	}
	sign := func(v float64) float64 {
		switch {
		case v > 0:
			return 1
		case v < 0:
			return -1
		}
		return v
	}
	scaled := func(name string, f func(types.Datum, int) (types.Datum, error)) []Func {
		return []Func{
			n1(name, func(a types.Datum) (types.Datum, error) { return f(a, 0) }),
			fn(name, tNum, func(c *Call) (types.Datum, error) {
				n := min(max(c.Args[1].I, -2000), 2000)
				return f(c.Args[0], int(n))
			}, tNum, tInt4),
		}
	}
	bucket := func(c *Call) (types.Datum, error) {
		v, lo, hi, n := Float(c.Args[0]), Float(c.Args[1]), Float(c.Args[2]), c.Args[3].I
		if n <= 0 {
			return types.Null, pgerr.New("2201G", "count must be greater than zero")
		}
		if lo == hi {
			return types.Null, pgerr.New("2201G", "lower bound cannot equal upper bound")
		}
		if lo < hi {
			switch {
			case v < lo:
				return Int(0), nil
			case v >= hi:
				return Int(n + 1), nil
			}
			return Int(int64(float64(n)*(v-lo)/(hi-lo)) + 1), nil
		}
		switch {
		case v > lo:
			return Int(0), nil
		case v <= hi:
			return Int(n + 1), nil
		}
		return Int(int64(float64(n)*(lo-v)/(lo-hi)) + 1), nil
	}
	unit := func(x float64) bool { return x >= -1 && x <= 1 }
	finite := func(x float64) bool { return !math.IsInf(x, 0) }
	deg := func(f func(float64) float64) func(float64) float64 {
		return func(x float64) float64 { return f(x * math.Pi / 180) }
	}
	out := []Func{
		abs(tInt2), abs(tInt4), abs(tInt8), n1("abs", types.NumericAbs), f1("abs", math.Abs),
		fn("abs", tF4, func(c *Call) (types.Datum, error) { return types.Float8(math.Abs(Float(c.Args[0]))), nil }, tF4),
		mod(tInt2), mod(tInt4), mod(tInt8), n2("mod", types.NumericMod), n2("div", types.NumericDivTrunc),
		n1("ceil", types.NumericCeil), n1("ceiling", types.NumericCeil), n1("floor", types.NumericFloor),
		f1("ceil", math.Ceil), f1("ceiling", math.Ceil), f1("floor", math.Floor), f1("trunc", math.Trunc), f1("round", math.RoundToEven),
		n1("sign", func(a types.Datum) (types.Datum, error) {
			if types.NumericIsNaN(a) {
				return a, nil
			}
			return types.NumericFromInt64(int64(types.NumericSign(a))), nil
		}), f1("sign", sign),
		n1("sqrt", types.NumericSqrt),
		fn("sqrt", tF8, func(c *Call) (types.Datum, error) { return floatSqrt(Float(c.Args[0])) }, tF8),
		f1("cbrt", math.Cbrt), n1("exp", types.NumericExp), f1("exp", math.Exp),
		n1("ln", types.NumericLn), logFloat("ln", math.Log), n1("log", types.NumericLog10), n1("log10", types.NumericLog10),
		logFloat("log", math.Log10), logFloat("log10", math.Log10), n2("log", types.NumericLog),
		n2("power", types.NumericPower), n2("pow", types.NumericPower),
		fn("power", tF8, func(c *Call) (types.Datum, error) { return floatPower(Float(c.Args[0]), Float(c.Args[1])) }, tF8, tF8),
		fn("pow", tF8, func(c *Call) (types.Datum, error) { return floatPower(Float(c.Args[0]), Float(c.Args[1])) }, tF8, tF8),
		fn("pi", tF8, func(*Call) (types.Datum, error) { return types.Float8(math.Pi), nil }),
		f1("degrees", func(x float64) float64 { return x * 180 / math.Pi }), f1("radians", func(x float64) float64 { return x * math.Pi / 180 }),
		domain("sin", finite, math.Sin), domain("cos", finite, math.Cos), domain("tan", finite, math.Tan),
		domain("cot", finite, func(x float64) float64 { return 1 / math.Tan(x) }),
		domain("asin", unit, math.Asin), domain("acos", unit, math.Acos), f1("atan", math.Atan),
		domain("sind", finite, deg(math.Sin)), domain("cosd", finite, deg(math.Cos)), domain("tand", finite, deg(math.Tan)),
		f1("sinh", math.Sinh), f1("cosh", math.Cosh), f1("tanh", math.Tanh), f1("asinh", math.Asinh),
		domain("acosh", func(x float64) bool { return x >= 1 }, math.Acosh), domain("atanh", unit, math.Atanh),
		fn("atan2", tF8, func(c *Call) (types.Datum, error) {
			return types.Float8(math.Atan2(Float(c.Args[0]), Float(c.Args[1]))), nil
		}, tF8, tF8),
		n2("gcd", types.NumericGCD), n2("lcm", types.NumericLCM),
		fn("factorial", tNum, func(c *Call) (types.Datum, error) { return types.NumericFactorial(c.Args[0].I) }, tInt8),
		fn("scale", tInt4, func(c *Call) (types.Datum, error) {
			if !types.NumericIsFinite(c.Args[0]) {
				return types.Null, nil
			}
			return Int(int64(types.NumericScale(c.Args[0]))), nil
		}, tNum),
		fn("min_scale", tInt4, func(c *Call) (types.Datum, error) {
			if !types.NumericIsFinite(c.Args[0]) {
				return types.Null, nil
			}
			return Int(int64(types.NumericMinScale(c.Args[0]))), nil
		}, tNum),
		n1("trim_scale", types.NumericTrimScale),
		fn("width_bucket", tInt4, bucket, tF8, tF8, tF8, tInt4),
		fn("isnan", tBool, func(c *Call) (types.Datum, error) { return Bool(math.IsNaN(Float(c.Args[0]))), nil }, tF8),
	}
	out = append(out, scaled("round", types.NumericRound)...)
	out = append(out, scaled("trunc", types.NumericTrunc)...)
	out = append(out, ints("gcd", func(a, b int64) (int64, bool) { g := gcd(a, b); return g, g >= 0 })...)
	return append(out, ints("lcm", func(a, b int64) (int64, bool) {
		if a == 0 || b == 0 {
			return 0, true
		}
		q := a / gcd(a, b)
		v := q * b
		if v/b != q {
			return 0, false
		}
		if v < 0 {
			v = -v
		}
		return v, v >= 0
	})...)
}
