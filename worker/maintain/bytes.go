package maintain

import (
	"fmt"

	"github.com/eiderdb/eider/internal/bytesize"
)

// maxBytes bounds sizes, so that sums of a million files fit.
const maxBytes = 1 << 43

// ParseBytes reads a size as package bytesize does, up to 8 TiB.
func ParseBytes(s string) (int64, error) {
	n, err := bytesize.Parse(s)
	if err != nil || n > maxBytes {
		return 0, fmt.Errorf("%w: %q is not a size such as 64MiB", ErrOption, s)
	}
	return n, nil
}
