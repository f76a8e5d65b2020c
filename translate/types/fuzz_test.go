package types_test

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// fuzzTypes lists the supported types, by index.
func fuzzTypes() []types.OID {
	var out []types.OID
	for _, i := range types.All() {
		if i.Supported && i.Kind == 'b' {
			out = append(out, i.OID)
		}
	}
	return append(out, types.RecordOID)
}

// FuzzInput reads arbitrary text as every type: no panic, every error has a SQLSTATE,
// and what is read prints as text and binary that read back equal.
func FuzzInput(f *testing.F) {
	for i := range fuzzTypes() {
		f.Add(uint8(i), int32(-1), []byte("1"))
	}
	for _, s := range []string{"2024-01-02 03:04:05.6+02", "1 year 2 mons -3 days", "P1Y2M3DT4H", "{1,NULL,\"a\"}", "[0:1]={1,2}", `{"a":[1,"\u00e4"]}`, "1e10", "(0,6)", "\\xde", "America/New_York", "Jan 8 99 BC"} {
		for i := range fuzzTypes() {
			f.Add(uint8(i), int32(-1), []byte(s))
		}
	}
	f.Add(uint8(20), int32(6), []byte("abc"))
	env := berlin(f)
	list := fuzzTypes()
	f.Fuzz(func(t *testing.T, which uint8, mod int32, text []byte) {
		oid := list[int(which)%len(list)]
		typ := types.T{OID: oid, Mod: mod}
		d, err := types.Input(env, typ, text)
		if err != nil {
			if pgerr.As(err) == nil {
				t.Fatalf("%q as %s: %v has no SQLSTATE", text, types.FormatType(typ), err)
			}
			return
		}
		if !d.Valid {
			t.Fatalf("%q as %s reads as NULL", text, types.FormatType(typ))
		}
		bin := types.AppendBinary(nil, oid, d)
		back, err := types.DecodeBinary(oid, bin)
		if err != nil {
			t.Fatalf("%q as %s: binary %x: %v", text, types.FormatType(typ), bin, err)
		}
		if !bytes.Equal(types.AppendBinary(nil, oid, back), bin) {
			t.Fatalf("%q as %s: binary differs", text, types.FormatType(typ))
		}
		if len(bin) > 1<<16 {
			return
		}
		out := types.AppendText(env, nil, types.T{OID: oid, Mod: -1}, d)
		again, err := types.Input(env, types.T{OID: oid, Mod: -1}, out)
		if err != nil {
			switch oid {
			case types.IntervalOID, types.IntervalArrayOID, types.TimestamptzOID, types.TimestamptzArrayOID:
				return // the ends of the range
			}
			t.Fatalf("%q as %s prints %q: %v", text, types.FormatType(typ), out, err)
		}
		switch oid {
		case types.CharOID, types.CharArrayOID, types.NameArrayOID: // not read back in full
		default:
			if types.Compare(oid, d, again) != 0 {
				t.Fatalf("%q as %s prints %q, which reads differently", text, types.FormatType(typ), out)
			}
		}
	})
}

// FuzzDecodeBinary reads arbitrary bytes as every type.
func FuzzDecodeBinary(f *testing.F) {
	list := fuzzTypes()
	for i, oid := range list {
		f.Add(uint8(i), []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7})
		if oid == types.NumericOID {
			f.Add(uint8(i), []byte{0, 1, 0, 0, 0, 0, 0, 2, 0, 5})
			f.Add(uint8(i), []byte{0, 2, 0, 0, 0x40, 0, 0, 2, 0, 0, 0, 5})
		}
	}
	env := berlin(f)
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		oid := list[int(which)%len(list)]
		d, err := types.DecodeBinary(oid, b)
		if err != nil {
			if pgerr.As(err) == nil && !errors.Is(err, types.ErrLeftOver) {
				t.Fatalf("%x as %s: %v has no SQLSTATE", b, types.TypeName(oid), err)
			}
			return
		}
		bin := types.AppendBinary(nil, oid, d)
		back, err := types.DecodeBinary(oid, bin)
		if err != nil {
			t.Fatalf("%x as %s becomes %x: %v", b, types.TypeName(oid), bin, err)
		}
		if types.Compare(oid, d, back) != 0 || types.Compare(oid, d, d) != 0 {
			t.Fatalf("%x as %s is not equal to itself", b, types.TypeName(oid))
		}
		if !bytes.Equal(types.AppendHashKey(nil, oid, d), types.AppendHashKey(nil, oid, back)) {
			t.Fatalf("%x as %s: hash differs", b, types.TypeName(oid))
		}
		_ = types.AppendText(env, nil, types.T{OID: oid, Mod: -1}, d)
	})
}

// FuzzNumeric checks arithmetic against math/big.
func FuzzNumeric(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		checkArithmetic(t, finiteGen().Draw(t, "a"), finiteGen().Draw(t, "b"))
	}))
}
