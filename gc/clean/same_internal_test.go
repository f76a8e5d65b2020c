package clean

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// Two objects are the same if all their bytes are, however the reads come.
func TestSameBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		big := strings.Repeat("x", rapid.SampledFrom([]int{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 200_000}).Draw(t, "size"))
		a, b := big+rapid.StringN(0, 3, 3).Draw(t, "a"), big+rapid.StringN(0, 3, 3).Draw(t, "b")
		got, err := sameBytes(iotest.HalfReader(strings.NewReader(a)), strings.NewReader(b))
		if err != nil || got != (a == b) {
			t.Fatalf("%v %v", got, err)
		}
	})
	broken := errors.New("broken")
	if _, err := sameBytes(io.MultiReader(strings.NewReader("a"), iotest.ErrReader(broken)), strings.NewReader("a")); !errors.Is(err, broken) {
		t.Errorf("an object that cannot be read: %v", err)
	}
}
