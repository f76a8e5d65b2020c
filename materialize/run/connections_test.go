package run

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestConnectionsOnce: a lake that cannot be reached is tried once, and says the same again.
func TestConnectionsOnce(t *testing.T) {
	t.Parallel()
	tried, nowhere := 0, errors.New("nowhere")
	c := newConnections(func(string) (Lake, error) { tried++; return Lake{}, nowhere })
	defer c.close(t.Context())
	for range 3 {
		if src, err := c.source(t.Context(), "lake"); src != nil || !errors.Is(err, nowhere) {
			t.Errorf("%v, %v", src, err)
		}
	}
	if tried != 1 {
		t.Errorf("tried %d times", tried)
	}
}

// TestPause: a wait comes to its end, or ends with the stop or the context; a stop counts even when both are there.
func TestPause(t *testing.T) {
	t.Parallel()
	open, closed := make(chan struct{}), make(chan struct{})
	close(closed)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	r := &Runner{}
	for range 50 {
		for name, c := range map[string]struct {
			ctx  context.Context
			d    time.Duration
			stop chan struct{}
			want bool
		}{
			"ended":     {t.Context(), 0, open, true},
			"no stop":   {t.Context(), 0, nil, true},
			"stopped":   {t.Context(), time.Hour, closed, false},
			"both":      {t.Context(), 0, closed, false},
			"cancelled": {gone, time.Hour, open, false},
		} {
			if got := r.pause(c.ctx, c.d, c.stop); got != c.want {
				t.Errorf("%s: %v", name, got)
			}
		}
	}
}
