package types_test

import (
	"testing"

	"github.com/eiderdb/eider/translate/types"
)

// The paths that every row takes must not allocate.
func TestHotPathsDoNotAllocate(t *testing.T) {
	env := berlin(t)
	cases := []struct {
		oid   types.OID
		text  string
		input float64 // allocations of Input
	}{
		{types.Int8OID, "-1234567890123", 0},
		{types.Int4OID, "42", 0},
		{types.BoolOID, "true", 0},
		{types.TextOID, "some text that is not short äöü", 0},
		{types.VarcharOID, "some text that is not short äöü", 0},
		{types.UUIDOID, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", 1}, // its 16 bytes
		{types.TimestamptzOID, "2024-07-02 03:04:05.678901+02", 0},
		{types.TimestamptzOID, "2024-07-02 03:04:05", 0},
		{types.Float8OID, "1234.5678", 0},
		{types.NumericOID, "12345.678", 1},
		{types.DateOID, "2024-07-02", 0},
	}
	buf := make([]byte, 0, 256)
	bin := make([]byte, 0, 256)
	for _, c := range cases {
		typ := types.T{OID: c.oid, Mod: -1}
		in := []byte(c.text)
		d, err := types.Input(env, typ, in)
		if err != nil {
			t.Fatal(err)
		}
		bin = types.AppendBinary(bin[:0], c.oid, d)
		check := func(what string, want float64, f func()) {
			t.Helper()
			if got := testing.AllocsPerRun(100, f); got > want {
				t.Errorf("%s %s: %v allocations, want %v", types.TypeName(c.oid), what, got, want)
			}
		}
		check("Input", c.input, func() { _, _ = types.Input(env, typ, in) })
		check("AppendText", 0, func() { buf = types.AppendText(env, buf[:0], typ, d) })
		check("DecodeBinary", 0, func() { _, _ = types.DecodeBinary(c.oid, bin) })
		check("AppendBinary", 0, func() { buf = types.AppendBinary(buf[:0], c.oid, d) })
		check("Compare", 0, func() { _ = types.Compare(c.oid, d, d) })
		check("AppendHashKey", 0, func() { buf = types.AppendHashKey(buf[:0], c.oid, d) })
	}
}

func BenchmarkTimestamptzText(b *testing.B) {
	env := berlin(b)
	d, _ := types.Input(env, types.T{OID: types.TimestamptzOID, Mod: -1}, []byte("2024-07-02 03:04:05.678901+02"))
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = types.AppendText(env, buf[:0], types.T{OID: types.TimestamptzOID, Mod: -1}, d)
	}
}

func BenchmarkNumericAdd(b *testing.B) {
	x, y := mustNumeric("123456.789"), mustNumeric("-98765.4321")
	b.ReportAllocs()
	for b.Loop() {
		_, _ = types.NumericAdd(x, y)
	}
}
