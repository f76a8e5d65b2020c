package types_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/translate/types"
)

func berlin(t testing.TB) *types.Env {
	t.Helper()
	loc, ok := types.LoadZone("Europe/Berlin")
	if !ok {
		t.Fatal("no zone")
	}
	env := types.DefaultEnv()
	env.Location = loc
	env.Now = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	return env
}

func numericGen() *rapid.Generator[types.Datum] {
	return rapid.Custom(func(t *rapid.T) types.Datum {
		if rapid.IntRange(0, 19).Draw(t, "special") == 0 {
			s := rapid.SampledFrom([]string{"NaN", "Infinity", "-Infinity"}).Draw(t, "s")
			return mustNumeric(s)
		}
		s := rapid.StringMatching(`-?[0-9]{1,40}(\.[0-9]{1,40})?`).Draw(t, "n")
		return mustNumeric(s)
	})
}

func mustNumeric(s string) types.Datum {
	d, err := types.Input(nil, types.T{OID: types.NumericOID, Mod: -1}, []byte(s))
	if err != nil {
		panic(err)
	}
	return d
}

// datumGen makes values of a scalar type.
func datumGen(oid types.OID) *rapid.Generator[types.Datum] {
	i := func(lo, hi int64) *rapid.Generator[types.Datum] {
		return rapid.Map(rapid.Int64Range(lo, hi), types.Int)
	}
	switch oid {
	case types.BoolOID:
		return i(0, 1)
	case types.Int2OID:
		return i(math.MinInt16, math.MaxInt16)
	case types.Int4OID:
		return i(math.MinInt32, math.MaxInt32)
	case types.Int8OID, types.Xid8OID, types.PgLSNOID:
		return i(math.MinInt64, math.MaxInt64)
	case types.OidOID, types.XidOID, types.RegclassOID:
		return i(0, math.MaxUint32)
	case types.TidOID:
		return i(0, 1<<48-1)
	case types.Float8OID:
		return rapid.Map(rapid.Float64(), types.Float8)
	case types.Float4OID:
		return rapid.Map(rapid.Float32(), func(f float32) types.Datum { return types.Float8(float64(f)) })
	case types.NumericOID:
		return numericGen()
	case types.TextOID:
		return rapid.Map(rapid.StringN(0, 20, -1), types.String)
	case types.ByteaOID:
		return rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), types.Text)
	case types.UUIDOID:
		return rapid.Map(rapid.SliceOfN(rapid.Byte(), 16, 16), types.Text)
	case types.DateOID:
		return rapid.OneOf(i(-2451545, 2145031948), rapid.Just(types.Int(math.MaxInt32)), rapid.Just(types.Int(math.MinInt32)))
	case types.TimeOID:
		return i(0, 86400000000)
	case types.TimetzOID:
		return rapid.Custom(func(t *rapid.T) types.Datum {
			return types.Datum{I: rapid.Int64Range(0, 86400000000).Draw(t, "t"), J: rapid.Int32Range(-57599, 57599).Draw(t, "z"), Valid: true}
		})
	case types.TimestampOID:
		return i(-211813488000000000, 9223371331199999999)
	case types.TimestamptzOID:
		// Away from the ends, where the local time leaves the range.
		return i(-211813488000000000+86400000000, 9223371331199999999-86400000000)
	case types.IntervalOID:
		return rapid.Custom(func(t *rapid.T) types.Datum {
			return types.Interval(rapid.Int64().Draw(t, "us"), rapid.Int32().Draw(t, "d"), rapid.Int32().Draw(t, "m"))
		})
	}
	panic(oid)
}

var scalarOIDs = []types.OID{
	types.BoolOID, types.Int2OID, types.Int4OID, types.Int8OID, types.Xid8OID, types.PgLSNOID, types.OidOID, types.XidOID,
	types.TidOID, types.Float8OID, types.Float4OID, types.NumericOID, types.TextOID, types.ByteaOID, types.UUIDOID, types.DateOID,
	types.TimeOID, types.TimetzOID, types.TimestampOID, types.TimestamptzOID, types.IntervalOID,
}

// A value survives its text and its binary form, alone and in an array.
func TestRoundTrips(t *testing.T) {
	base := berlin(t)
	for _, oid := range scalarOIDs {
		t.Run(types.TypeName(oid), func(t *testing.T) {
			gen := datumGen(oid)
			rapid.Check(t, func(t *rapid.T) {
				env := *base
				env.IntervalStyle = rapid.SampledFrom([]types.IntervalStyle{types.IntervalPostgres, types.IntervalPostgresVerbose, types.IntervalISO8601}).Draw(t, "style")
				env.ByteaEscape = rapid.Bool().Draw(t, "escape")
				d := gen.Draw(t, "d")
				checkRoundTrip(t, &env, oid, d)
				var elems []types.Datum
				for range rapid.IntRange(0, 3).Draw(t, "n") {
					if rapid.Bool().Draw(t, "null") {
						elems = append(elems, types.Null)
					} else {
						elems = append(elems, gen.Draw(t, "e"))
					}
				}
				checkRoundTrip(t, &env, types.ArrayOf(oid), types.MakeArray(oid, elems))
			})
		})
	}
}

func checkRoundTrip(t *rapid.T, env *types.Env, oid types.OID, d types.Datum) {
	typ := types.T{OID: oid, Mod: -1}
	if oid == types.IntervalOID && (d.K == math.MinInt32 || d.J == math.MinInt32 || d.I == math.MinInt64) {
		return // the text form of these is not readable in every style
	}
	if oid == types.IntervalArrayOID {
		for _, e := range types.ArrayOpen(d).Elems() {
			if e.K == math.MinInt32 || e.J == math.MinInt32 || e.I == math.MinInt64 {
				return
			}
		}
	}
	text := types.AppendText(env, nil, typ, d)
	if bytes.IndexByte(text, 0) >= 0 && oid != types.TextOID && oid != types.TextArrayOID {
		t.Fatalf("NUL in %q", text)
	}
	back, err := types.Input(env, typ, text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if types.Compare(oid, d, back) != 0 {
		t.Fatalf("%q reads as %q", text, types.AppendText(env, nil, typ, back))
	}
	bin := types.AppendBinary(nil, oid, d)
	back, err = types.DecodeBinary(oid, bin)
	if err != nil {
		t.Fatalf("%x: %v", bin, err)
	}
	if got := types.AppendBinary(nil, oid, back); !bytes.Equal(got, bin) {
		t.Fatalf("%x becomes %x", bin, got)
	}
}

// Compare is an order, and hash keys are equal exactly for equal values.
func TestOrder(t *testing.T) {
	for _, oid := range scalarOIDs {
		t.Run(types.TypeName(oid), func(t *testing.T) {
			gen := datumGen(oid)
			rapid.Check(t, func(t *rapid.T) {
				a, b, c := gen.Draw(t, "a"), gen.Draw(t, "b"), gen.Draw(t, "c")
				ab, ba := types.Compare(oid, a, b), types.Compare(oid, b, a)
				if ab != -ba {
					t.Fatalf("compare %d and %d", ab, ba)
				}
				if bc := types.Compare(oid, b, c); ab <= 0 && bc <= 0 && types.Compare(oid, a, c) > 0 {
					t.Fatal("not transitive")
				}
				same := bytes.Equal(types.AppendHashKey(nil, oid, a), types.AppendHashKey(nil, oid, b))
				if same != (ab == 0) {
					t.Fatalf("hash keys same: %v, compare %d", same, ab)
				}
			})
		})
	}
}

func rat(t *rapid.T, d types.Datum) *big.Rat {
	u, s, ok := types.NumericToBig(d)
	if !ok {
		t.Fatal("not finite")
	}
	return new(big.Rat).SetFrac(u, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(s)), nil))
}

func finiteGen() *rapid.Generator[types.Datum] {
	return numericGen().Filter(types.NumericIsFinite)
}

// Numeric arithmetic against math/big.
func TestNumericArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := finiteGen().Draw(t, "a"), finiteGen().Draw(t, "b")
		checkArithmetic(t, a, b)
	})
}

func checkArithmetic(t *rapid.T, a, b types.Datum) {
	ra, rb := rat(t, a), rat(t, b)
	must := func(d types.Datum, err error) types.Datum {
		if err != nil {
			t.Fatal(err)
		}
		canonical(t, d)
		return d
	}
	exact := func(what string, d types.Datum, want *big.Rat) {
		if rat(t, d).Cmp(want) != 0 {
			t.Fatalf("%s: got %s, want %s", what, types.AppendText(nil, nil, types.T{OID: types.NumericOID, Mod: -1}, d), want.FloatString(60))
		}
	}
	exact("add", must(types.NumericAdd(a, b)), new(big.Rat).Add(ra, rb))
	exact("sub", must(types.NumericSub(a, b)), new(big.Rat).Sub(ra, rb))
	exact("mul", must(types.NumericMul(a, b)), new(big.Rat).Mul(ra, rb))
	if c := types.Compare(types.NumericOID, a, b); c != ra.Cmp(rb) {
		t.Fatalf("compare %d", c)
	}
	scale := rapid.IntRange(-10, 20).Draw(t, "scale")
	exact("round", must(types.NumericRound(a, scale)), roundRat(ra, scale))
	if rb.Sign() != 0 {
		q := must(types.NumericDiv(a, b))
		want := roundRat(new(big.Rat).Quo(ra, rb), types.NumericScale(q))
		exact("div", q, want)
		m := must(types.NumericMod(a, b))
		tr := new(big.Rat).Quo(ra, rb)
		whole := new(big.Int).Quo(tr.Num(), tr.Denom())
		exact("mod", m, new(big.Rat).Sub(ra, new(big.Rat).Mul(rb, new(big.Rat).SetInt(whole))))
	}
}

// roundRat rounds half away from zero.
func roundRat(r *big.Rat, scale int) *big.Rat {
	p := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil)
	f := new(big.Rat).SetInt(p)
	if scale < 0 {
		f.Inv(f)
	}
	x := new(big.Rat).Mul(r, f)
	half := big.NewRat(1, 2)
	if x.Sign() < 0 {
		half.Neg(half)
	}
	x.Add(x, half)
	return new(big.Rat).Quo(new(big.Rat).SetInt(new(big.Int).Quo(x.Num(), x.Denom())), f)
}

// canonical checks that a numeric's bytes are in the one form that compares by bytes.
func canonical(t interface{ Fatalf(string, ...any) }, d types.Datum) {
	back, err := types.DecodeBinary(types.NumericOID, d.B)
	if err != nil || !bytes.Equal(back.B, d.B) {
		t.Fatalf("not canonical: %x (%v)", d.B, err)
	}
}

// A sum through the accumulator is the sum by addition.
func TestNumericSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s types.NumericSum
		want := new(big.Int)
		for range rapid.IntRange(1, 20).Draw(t, "n") {
			v := rapid.Int64().Draw(t, "v")
			s.AddInt64(v)
			want.Add(want, big.NewInt(v))
		}
		d, err := s.Result()
		if err != nil {
			t.Fatal(err)
		}
		if got := string(types.AppendText(nil, nil, types.T{OID: types.NumericOID, Mod: -1}, d)); got != want.String() {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}

// jsonb's normal form is stable, and means the same as the text it came from.
func TestJSONBNormalForm(t *testing.T) {
	typ := types.T{OID: types.JSONBOID, Mod: -1}
	var gen func(depth int) *rapid.Generator[string]
	gen = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			top := 5
			if depth > 3 {
				top = 3
			}
			switch rapid.IntRange(0, top).Draw(t, "kind") {
			case 0:
				return rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "word")
			case 1:
				return rapid.StringMatching(`-?(0|[1-9][0-9]{0,8})(\.[0-9]{1,4})?([eE][+-]?[0-9])?`).Draw(t, "num")
			case 2, 3:
				return string(types.AppendJSONString(nil, []byte(rapid.StringN(0, 6, -1).Filter(noNUL).Draw(t, "str"))))
			case 4:
				return "[" + strings.Join(rapid.SliceOfN(gen(depth+1), 0, 3).Draw(t, "arr"), " ,") + "]"
			}
			var m []string
			for range rapid.IntRange(0, 3).Draw(t, "n") {
				m = append(m, fmt.Sprintf("%s :%s", types.AppendJSONString(nil, []byte(rapid.StringN(0, 2, -1).Filter(noNUL).Draw(t, "key"))), gen(depth+1).Draw(t, "val")))
			}
			return "{" + strings.Join(m, ",") + "}"
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		s := gen(0).Draw(t, "json")
		d, err := types.Input(nil, typ, []byte(s))
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		e, err := types.Input(nil, typ, d.B)
		if err != nil || !bytes.Equal(d.B, e.B) {
			t.Fatalf("%q → %q → %q (%v)", s, d.B, e.B, err)
		}
	})
}

func noNUL(s string) bool { return !strings.Contains(s, "\x00") }
