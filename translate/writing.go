package translate

import (
	"sync/atomic"
	"time"
)

// comeAgain is how long after a transaction that failed its client may come again with the
// files that it has written already: DuckLake repeats a commit that lost a race up to ten
// times, in a new transaction each, with pauses that add up to some 11 s.
const comeAgain = time.Minute

// attempts knows since when a session may have been writing files of a lake: since the
// begin of the transaction that is open, or of the first of several that failed one after
// the other.
type attempts struct {
	since  atomic.Int64 // ns since 1970; 0: there was no transaction yet
	ended  atomic.Int64 // the same; 0: one is open; -1: what was written is committed
	failed int64        // the last end that nothing was committed at, or 0; of the session's goroutine
}

func (a *attempts) begin(now time.Time) {
	if n := now.UnixNano(); a.failed == 0 || n-a.failed > int64(comeAgain) {
		a.failed = 0
		a.since.Store(n)
	}
	a.ended.Store(0)
}

// end notes the end of a transaction; lake says that it was about one, and wrote that it has
// written to it. Others, which clients send in between, change nothing: what was written for a
// commit that failed is still there, and not catalogued, after one that has only read.
func (a *attempts) end(now time.Time, lake, committed, wrote bool) {
	switch {
	case !lake:
	case !committed:
		a.failed = now.UnixNano()
	case wrote:
		a.failed = 0
	}
	if a.failed == 0 {
		a.ended.Store(-1)
	} else {
		a.ended.Store(a.failed)
	}
}

// Writing is when the oldest transaction began, in any catalog, whose client may have written
// files that are not catalogued: one that is open, or that has failed shortly before and may be
// repeated with the same files. Zero: there is none.
func (h *Shared) Writing(now time.Time) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	var oldest int64
	for s := range h.sessions {
		since, ended := s.attempts.since.Load(), s.attempts.ended.Load()
		if since == 0 || ended < 0 || ended > 0 && now.UnixNano()-ended > int64(comeAgain) {
			continue
		}
		if oldest == 0 || since < oldest {
			oldest = since
		}
	}
	if oldest == 0 {
		return time.Time{}
	}
	return time.Unix(0, oldest)
}
