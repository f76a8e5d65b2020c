package translate

import (
	"bytes"
	"encoding/json"
	"sync"
	"unicode/utf8"

	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/guard"
)

// Channels of the server's own, on which clients cannot notify.
const (
	// CommitChannel is notified of each commit that adds a snapshot to a lake.
	CommitChannel = "eider_commit"
	// DroppedChannel is what a connection hears, whatever it listens to, when notifications
	// for it have been dropped because it did not read them.
	DroppedChannel = "eider_dropped"
)

// commitFeeds are the catalogs whose commits somebody listens to.
type commitFeeds struct {
	mu sync.Mutex
	m  map[*store.Catalog]*commitFeed // guarded by mu
}

// commitFeed tells the listeners of one catalog of its commits.
type commitFeed struct {
	shared    *Shared
	catOID    uint32
	listeners int    // guarded by commitFeeds.mu
	stop      func() // ends it
}

// Note finds the snapshots that a transaction adds; see store.Follower.
func (f *commitFeed) Note(t *store.Txn) any {
	list := guard.AddedSnapshots(t)
	if len(list) == 0 {
		return nil // and not a nil slice, which would be something
	}
	return list
}

// Landed notifies of snapshots that can be read now.
func (f *commitFeed) Landed(note any) {
	added := note.([]guard.Added)
	list := make([]Notification, len(added))
	for i := range added {
		list[i] = Notification{Channel: CommitChannel, Payload: commitPayload(&added[i]), Newest: added[i].Lake}
	}
	f.shared.publish(f.catOID, list)
}

// followCommits makes the catalog's commits be told from the session's first LISTEN on
// CommitChannel on until its last UNLISTEN.
func (s *Session) followCommits() {
	want := s.listens[CommitChannel] && s.opts.Notify != nil
	if want == s.follows {
		return
	}
	s.follows = want
	h := &s.shared.feeds
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.m[s.catalog]
	if want {
		if f == nil {
			f = &commitFeed{shared: s.shared, catOID: s.catOID}
			f.stop = s.catalog.Follow(f)
			h.m[s.catalog] = f
		}
		f.listeners++
		return
	}
	if f.listeners--; f.listeners == 0 {
		f.stop()
		delete(h.m, s.catalog)
	}
}

// The longest that parts of a payload may be as JSON, in bytes: together with what is around
// them they stay below maxPayload.
const (
	maxLakeJSON    = 1500
	maxAuthorJSON  = 500
	maxMessageJSON = 1500
	// frameJSON is what the names of the fields, the snapshot's id and "cut" take at most.
	frameJSON = 160
)

// commitPayload is what listeners are told of a snapshot.
func commitPayload(a *guard.Added) string {
	p := struct {
		Lake     string `json:"lake"`
		Snapshot int64  `json:"snapshot_id"`
		Changes  string `json:"changes"`
		Author   string `json:"author,omitempty"`
		Message  string `json:"message,omitempty"`
		Cut      bool   `json:"cut,omitempty"`
	}{Snapshot: a.Snapshot}
	left := maxPayload - frameJSON
	fit := func(s string, limit int) string {
		head, size := cutJSON(s, min(limit, left))
		left -= size
		p.Cut = p.Cut || len(head) < len(s)
		return head
	}
	p.Lake, p.Author, p.Message = fit(a.Lake, maxLakeJSON), fit(a.Author, maxAuthorJSON), fit(a.Message, maxMessageJSON)
	p.Changes = fit(a.Changes, left)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil { // strings, a number and a truth value: it cannot fail
		return "{}"
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// cutJSON returns as many of a text's first characters as take limit bytes in JSON, and how
// many bytes they take at most.
func cutJSON(s string, limit int) (head string, size int) {
	for i, r := range s {
		n := utf8.RuneLen(r)
		switch {
		case r == '"' || r == '\\':
			n = 2
		case r < ' ' || r == 0x7F || r == '\u2028' || r == '\u2029' || r == utf8.RuneError:
			n = len(`\u0000`)
		}
		if size+n > limit {
			return s[:i], size
		}
		size += n
	}
	return s, size
}
