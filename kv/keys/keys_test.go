package keys_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/kv/keys"
)

// Golden bytes: stored keys have these forms for ever, or the store format changes.
func TestGolden(t *testing.T) {
	num := func(weight int16, sign uint16, digits ...uint16) []byte {
		b := binary.BigEndian.AppendUint16(nil, uint16(len(digits)))
		b = binary.BigEndian.AppendUint16(b, uint16(weight))
		b = binary.BigEndian.AppendUint16(b, sign)
		b = binary.BigEndian.AppendUint16(b, 0)
		for _, d := range digits {
			b = binary.BigEndian.AppendUint16(b, d)
		}
		return b
	}
	numeric := func(b []byte) []byte {
		k, err := keys.AppendNumeric(nil, b)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	for _, c := range []struct {
		name string
		got  []byte
		want string
	}{
		{"uvarint 0", keys.AppendUvarint(nil, 0), "00"},
		{"uvarint 247", keys.AppendUvarint(nil, 247), "f7"},
		{"uvarint 248", keys.AppendUvarint(nil, 248), "f8f8"},
		{"uvarint 256", keys.AppendUvarint(nil, 256), "f90100"},
		{"uvarint max", keys.AppendUvarint(nil, math.MaxUint64), "ffffffffffffffffff"},
		{"bool", keys.AppendBool(keys.AppendBool(nil, false), true), "0001"},
		{"int64 0", keys.AppendInt64(nil, 0), "8000000000000000"},
		{"int64 -1", keys.AppendInt64(nil, -1), "7fffffffffffffff"},
		{"int64 max", keys.AppendInt64(nil, math.MaxInt64), "ffffffffffffffff"},
		{"int128", keys.AppendInt128(nil, -1, 2), "7fffffffffffffff0000000000000002"},
		{"float 0", keys.AppendFloat64(nil, 0), "8000000000000000"},
		{"float -0", keys.AppendFloat64(nil, math.Copysign(0, -1)), "8000000000000000"},
		{"float 1", keys.AppendFloat64(nil, 1), "bff0000000000000"},
		{"float -1", keys.AppendFloat64(nil, -1), "400fffffffffffff"},
		{"float inf", keys.AppendFloat64(nil, math.Inf(1)), "fff0000000000000"},
		{"float nan", keys.AppendFloat64(nil, math.NaN()), "fff8000000000000"},
		{"bytes", keys.AppendBytes(nil, []byte("ab")), "61620001"},
		{"bytes empty", keys.AppendBytes(nil, nil), "0001"},
		{"bytes zero", keys.AppendBytes(nil, []byte{0, 0xFF}), "00ffff0001"},
		{"uuid", keys.AppendUUID(nil, [16]byte{1, 15: 2}), "01000000000000000000000000000002"},
		{"numeric 0", numeric(num(0, 0)), "02"},
		{"numeric 1", numeric(num(0, 0, 1)), "03800000020000"},
		{"numeric 1.0", numeric(num(0, 0, 1, 0)), "03800000020000"},
		{"numeric -1", numeric(num(0, 0x4000, 1)), "017ffffffdffff"},
		{"numeric 0.5", numeric(num(-1, 0, 5000)), "037fff13890000"},
		{"numeric NaN", numeric(num(0, 0xC000)), "05"},
		{"numeric inf", numeric(num(0, 0xD000)), "04"},
		{"numeric -inf", numeric(num(0, 0xF000)), "00"},
		{"markers", []byte{keys.NotNull, keys.Null}, "0102"},
	} {
		if got := hex.EncodeToString(c.got); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// property: the order of encodings is the order of values, and decoding gives the value.
func check[T any](t *testing.T, gen *rapid.Generator[T], enc func([]byte, T) []byte, dec func([]byte) (T, []byte, error), order func(a, b T) int) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		ka, kb := enc(nil, a), enc(nil, b)
		if got, want := bytes.Compare(ka, kb), order(a, b); got != want {
			t.Fatalf("order of %x and %x is %d, of %v and %v %d", ka, kb, got, a, b, want)
		}
		// Self-delimiting: what follows is left over.
		v, rest, err := dec(append(bytes.Clone(ka), "rest"...))
		if err != nil || string(rest) != "rest" || order(v, a) != 0 {
			t.Fatalf("decode %x: %v, %q, %v; want %v", ka, v, rest, err, a)
		}
		for n := range ka {
			if _, _, err := dec(ka[:n]); err == nil {
				t.Fatalf("decoded %x cut to %d bytes", ka, n)
			}
		}
	})
}

func TestOrder(t *testing.T) {
	t.Run("uvarint", func(t *testing.T) {
		check(t, rapid.Uint64(), keys.AppendUvarint, keys.Uvarint, cmp.Compare[uint64])
	})
	t.Run("int64", func(t *testing.T) {
		check(t, rapid.Int64(), keys.AppendInt64, keys.Int64, cmp.Compare[int64])
	})
	t.Run("bool", func(t *testing.T) {
		check(t, rapid.Bool(), keys.AppendBool, keys.Bool, func(a, b bool) int {
			return bytes.Compare(keys.AppendBool(nil, a), keys.AppendBool(nil, b))
		})
	})
	t.Run("float64", func(t *testing.T) {
		gen := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.SmallestNonzeroFloat64}))
		check(t, gen, keys.AppendFloat64, keys.Float64, func(a, b float64) int {
			switch aNaN, bNaN := math.IsNaN(a), math.IsNaN(b); {
			case aNaN && bNaN:
				return 0
			case aNaN:
				return 1
			case bNaN:
				return -1
			case a < b:
				return -1
			case a > b:
				return 1
			}
			return 0
		})
	})
	t.Run("bytes", func(t *testing.T) {
		gen := rapid.SliceOf(rapid.SampledFrom([]byte{0, 1, 2, 'a', 0xFE, 0xFF}))
		check(t, gen, keys.AppendBytes, func(b []byte) ([]byte, []byte, error) { return keys.Bytes(nil, b) }, bytes.Compare)
	})
	t.Run("uuid", func(t *testing.T) {
		gen := rapid.Custom(func(t *rapid.T) (u [16]byte) {
			copy(u[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "u"))
			return u
		})
		check(t, gen, keys.AppendUUID, keys.UUID, func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
	})
}

// Numerics against math/big: value = sign · Σ digit[i] · 10000^(weight-i).
func TestNumericOrder(t *testing.T) {
	type n struct {
		bin []byte
		val *big.Rat
	}
	gen := rapid.Custom(func(t *rapid.T) n {
		digits := rapid.SliceOfN(rapid.SampledFrom([]uint16{0, 0, 1, 9, 5000, 9999}), 0, 4).Draw(t, "digits")
		weight := rapid.IntRange(-3, 3).Draw(t, "weight")
		neg := rapid.Bool().Draw(t, "negative")
		val := new(big.Rat)
		base := big.NewRat(10000, 1)
		for i, d := range digits {
			p := big.NewRat(int64(d), 1)
			for range max(weight-i, 0) {
				p.Mul(p, base)
			}
			for range max(i-weight, 0) {
				p.Quo(p, base)
			}
			val.Add(val, p)
		}
		sign := uint16(0)
		if neg {
			sign = 0x4000
			val.Neg(val)
		}
		b := binary.BigEndian.AppendUint16(nil, uint16(len(digits)))
		b = binary.BigEndian.AppendUint16(b, uint16(int16(weight)))
		b = binary.BigEndian.AppendUint16(b, sign)
		b = binary.BigEndian.AppendUint16(b, uint16(rapid.IntRange(0, 9).Draw(t, "scale")))
		for _, d := range digits {
			b = binary.BigEndian.AppendUint16(b, d)
		}
		return n{b, val}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		ka, err := keys.AppendNumeric(nil, a.bin)
		if err != nil {
			t.Fatal(err)
		}
		kb, err := keys.AppendNumeric(nil, b.bin)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := bytes.Compare(ka, kb), a.val.Cmp(b.val); got != want {
			t.Fatalf("order of %x and %x is %d, of %v and %v %d", ka, kb, got, a.val, b.val, want)
		}
		rest, err := keys.SkipNumeric(append(bytes.Clone(ka), "rest"...))
		if err != nil || string(rest) != "rest" {
			t.Fatalf("skip %x: %q, %v", ka, rest, err)
		}
	})
}

// Whatever decodes, encodes to the same bytes: no two encodings of a value exist.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{0xF8, 0xF8})
	f.Add([]byte{0xF9, 0, 1})
	f.Add(keys.AppendFloat64(nil, math.NaN()))
	f.Add(keys.AppendBytes(nil, []byte("a\x00b")))
	f.Add([]byte{3, 0x80, 0, 0, 2, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		same := func(what string, enc, rest []byte, err error) {
			if err == nil && !bytes.Equal(append(enc, rest...), b) {
				t.Fatalf("%s: %x decodes and encodes to %x", what, b, enc)
			}
		}
		u, rest, err := keys.Uvarint(b)
		same("uvarint", keys.AppendUvarint(nil, u), rest, err)
		i, rest, err := keys.Int64(b)
		same("int64", keys.AppendInt64(nil, i), rest, err)
		hi, lo, rest, err := keys.Int128(b)
		same("int128", keys.AppendInt128(nil, hi, lo), rest, err)
		x, rest, err := keys.Float64(b)
		same("float64", keys.AppendFloat64(nil, x), rest, err)
		y, rest, err := keys.Bool(b)
		same("bool", keys.AppendBool(nil, y), rest, err)
		v, rest, err := keys.Bytes(nil, b)
		same("bytes", keys.AppendBytes(nil, v), rest, err)
		_, _ = keys.SkipNumeric(b)
		_, _ = keys.AppendNumeric(nil, b)
	})
}
