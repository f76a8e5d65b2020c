package bytesize_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/internal/bytesize"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "4096": 4096, "7B": 7, "64MiB": 64 << 20, "1.5 GiB": 3 << 29, "1gb": 1e9, "2 KiB": 2048, " 1KB ": 1000, "1kB": 1000, "3TB": 3e12,
		"8388607TiB": 8388607 << 40,
	} {
		if got, err := bytesize.Parse(text); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]error{
		"": bytesize.ErrForm, "MiB": bytesize.ErrForm, "5 bytes": bytesize.ErrForm, "1 MiB B": bytesize.ErrForm,
		"-1": bytesize.ErrRange, "NaN": bytesize.ErrRange, "inf": bytesize.ErrRange, "1e300": bytesize.ErrRange, "8388608TiB": bytesize.ErrRange,
	} {
		if got, err := bytesize.Parse(text); !errors.Is(err, want) {
			t.Errorf("%q: %d, %v; want %v", text, got, err, want)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bytesize.Unit{"5 mib": {Name: "MiB", Bytes: 1 << 20}, "5": {Bytes: 1}, " 5b": {Name: "B", Bytes: 1}} {
		if number, u := bytesize.Cut(text); number != "5" || u != want {
			t.Errorf("%q: %q and %v, want 5 and %v", text, number, u, want)
		}
	}
}

// Sizes that an int64 and a float64 hold come back from Exact, and from Short but for a tenth
// of the unit.
func TestWrite(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 1<<53).Draw(t, "n")
		if got, err := bytesize.Parse(bytesize.Exact(n)); err != nil || got != n {
			t.Fatalf("%d is written %q and read %d, %v", n, bytesize.Exact(n), got, err)
		}
		if got, err := bytesize.Parse(bytesize.Short(n)); err != nil || math.Abs(float64(got-n)) > float64(n)/15+1 {
			t.Fatalf("%d is written %q and read %d, %v", n, bytesize.Short(n), got, err)
		}
	})
	for n, want := range map[int64][2]string{
		0: {"0", "0B"}, 1023: {"1023", "1023B"}, 1024: {"1KiB", "1KiB"}, 1536: {"1536", "1.5KiB"}, 64 << 20: {"64MiB", "64MiB"}, 3 << 29: {"1536MiB", "1.5GiB"},
	} {
		if got := [2]string{bytesize.Exact(n), bytesize.Short(n)}; got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
