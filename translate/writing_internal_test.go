package translate

import (
	"testing"
	"time"
)

// A client that comes again after a lost race may bring files from before its transaction.
func TestWriting(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_000_000, 0)
	s := &Session{}
	h := &Shared{sessions: map[*Session]struct{}{s: {}, {}: {}}}
	at := func(d time.Duration) time.Time { return start.Add(d) }
	check := func(what string, now, want time.Duration) {
		t.Helper()
		got := h.Writing(at(now))
		if want < 0 && !got.IsZero() || want >= 0 && !got.Equal(at(want)) {
			t.Errorf("%s: %v", what, got.Sub(start))
		}
	}
	const h1, none = time.Hour, -1
	check("before any", 0, none)
	s.attempts.begin(at(0))
	check("open", 9*h1, 0)
	s.attempts.end(at(10*h1), true, false, false)
	check("failed", 10*h1+comeAgain, 0)
	check("failed long ago", 10*h1+comeAgain+1, none)
	s.attempts.begin(at(10*h1 + 1)) // SELECT 1
	s.attempts.end(at(10*h1+2), false, true, false)
	check("between", 10*h1+3, 0)
	s.attempts.begin(at(10*h1 + 3)) // a look at the lake
	s.attempts.end(at(10*h1+4), true, true, false)
	check("after a look", 10*h1+5, 0)
	s.attempts.begin(at(10*h1 + 5))
	check("again", 11*h1, 0)
	s.attempts.end(at(11*h1), true, true, true)
	check("committed", 11*h1, none)
	s.attempts.begin(at(12 * h1))
	check("another", 12*h1, 12*h1)
	s.attempts.end(at(13*h1), true, false, false)
	s.attempts.begin(at(14 * h1))
	check("another after a failure that was given up", 14*h1, 14*h1)
}
