package row_test

import (
	"testing"

	"github.com/eiderdb/eider/kv/row"
)

func TestInteger(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"\xff\xfe": -2, "\x01\x02": 0x0102,
		"\xff\xff\xff\xfe": -2, "\x01\x02\x03\x04": 0x01020304,
		"\xff\xff\xff\xff\xff\xff\xff\xfe": -2, "\x01\x02\x03\x04\x05\x06\x07\x08": 0x0102030405060708,
	} {
		if n, ok := row.Integer([]byte(text)); !ok || n != want {
			t.Errorf("%q: %d, %v; want %d", text, n, ok, want)
		}
	}
	for _, text := range []string{"", "\x01", "\x01\x02\x03", "\x01\x02\x03\x04\x05\x06\x07\x08\x09"} {
		if n, ok := row.Integer([]byte(text)); ok {
			t.Errorf("%q: %d", text, n)
		}
	}
}
