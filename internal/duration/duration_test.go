package duration_test

import (
	"testing"
	"time"

	"github.com/eiderdb/eider/internal/duration"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "5m": 5 * time.Minute, "2h": 2 * time.Hour, "1d": 24 * time.Hour, "1w": 168 * time.Hour,
		" 1w 12h ": 180 * time.Hour, "250ms": 250 * time.Millisecond, "0s": 0,
		"": -1, "5": -1, "m": -1, "-5m": -1, "1.5h": -1, "1y": -1, "5 m": -1, "99999999999w": -1, "100000d99999999999999999s": -1,
	} {
		got, err := duration.Parse(s)
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%q: %s, %v; want %s", s, got, err, want)
		}
	}
	if got := duration.Format(8*24*time.Hour + 90*time.Second); got != "8d1m30s" {
		t.Error(got)
	}
}
