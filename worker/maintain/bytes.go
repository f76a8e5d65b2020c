package maintain

import (
	"fmt"
	"strconv"
	"strings"
)

// units of sizes, the longest first.
var units = []struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40},
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"TB", 1e12},
	{"GB", 1e9},
	{"MB", 1e6},
	{"KB", 1e3},
	{"B", 1},
}

// maxBytes bounds sizes, so that sums of a million files fit.
const maxBytes = 1 << 43

// ParseBytes reads a size: a whole or decimal number and a unit, B, KB, MB, GB, TB (powers of
// 1000) or KiB, MiB, GiB, TiB (powers of 1024). A number without a unit is in bytes.
func ParseBytes(s string) (int64, error) {
	text, unit := strings.TrimSpace(s), int64(1)
	for _, u := range units {
		if n := len(text) - len(u.name); n > 0 && strings.EqualFold(text[n:], u.name) {
			text, unit = strings.TrimSpace(text[:n]), u.bytes
			break
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= 0) || f*float64(unit) > maxBytes {
		return 0, fmt.Errorf("%w: %q is not a size such as 64MiB", ErrOption, s)
	}
	return int64(f * float64(unit)), nil
}

// FormatBytes writes a size for people, in the largest unit of 1024 that it has whole, else
// with one decimal.
func FormatBytes(n int64) string {
	for _, u := range units[:4] {
		switch {
		case n < u.bytes:
		case n%u.bytes == 0:
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		default:
			return strconv.FormatFloat(float64(n)/float64(u.bytes), 'f', 1, 64) + u.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}
