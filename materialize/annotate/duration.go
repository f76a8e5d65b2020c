package annotate

import (
	"errors"
	"fmt"
	"time"

	"github.com/eiderdb/eider/internal/duration"
)

// ErrDuration is returned by ParseDuration for what is no duration.
var ErrDuration = errors.New("no duration")

// ParseDuration reads a duration of a header: whole numbers with the units ms, s, m, h, d
// and w, as 30s or 1h 30m. A day is 24 hours.
func ParseDuration(text string) (time.Duration, error) {
	d, err := duration.Parse(text)
	if err != nil {
		return 0, fmt.Errorf("%q is %w: %w", text, ErrDuration, err)
	}
	return d, nil
}
