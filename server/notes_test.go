package server

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/translate"
)

// TestNoteQueue: a queue keeps its bound, the order, and the newest notification of each
// lake; what it does not keep it counts.
func TestNoteQueue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(1, 8).Draw(rt, "limit")
		lakes := rapid.IntRange(1, limit).Draw(rt, "lakes")
		var q noteQueue
		last := map[string]string{} // by lake
		added, dropped := 0, 0
		at := map[string]int{} // when each was added, by payload
		for _, kind := range rapid.SliceOfN(rapid.IntRange(-2, lakes-1), 0, 60).Draw(rt, "kinds") {
			n := translate.Notification{Channel: "c", Payload: fmt.Sprint(added)}
			if kind >= 0 {
				n.Channel, n.Newest = translate.CommitChannel, fmt.Sprint("lake", kind)
				last[n.Newest] = n.Payload
			}
			at[n.Payload] = added
			added++
			dropped += q.add(n, limit)
			if len(q.list) > limit {
				rt.Fatalf("%d are kept, the bound is %d", len(q.list), limit)
			}
			if added <= limit && dropped > 0 {
				rt.Fatalf("%d of %d were dropped", dropped, added)
			}
		}
		got := q.take()
		if len(q.list) > 0 || len(q.dropped) > 0 {
			rt.Fatal("the queue is not empty")
		}
		if dropped > 0 {
			end := got[len(got)-1]
			want := fmt.Sprintf(`{"dropped":%d,`, dropped)
			if end.Channel != translate.DroppedChannel || len(end.Payload) < len(want) || end.Payload[:len(want)] != want {
				rt.Fatalf("%d were dropped, told %v", dropped, end)
			}
			got = got[:len(got)-1]
		}
		if len(got)+dropped != added {
			rt.Fatalf("%d kept and %d dropped of %d", len(got), dropped, added)
		}
		if !slices.IsSortedFunc(got, func(a, b translate.Notification) int { return at[a.Payload] - at[b.Payload] }) {
			rt.Fatalf("out of order: %v", got)
		}
		for lake, payload := range last {
			if !slices.ContainsFunc(got, func(n translate.Notification) bool { return n.Payload == payload }) {
				rt.Fatalf("the newest of %s is not there: %v", lake, got)
			}
		}
	})
}

// TestDroppedPayload: however many channels there are, the payload stays below the limit.
func TestDroppedPayload(t *testing.T) {
	t.Parallel()
	by := map[string]int{}
	for i := range 5000 {
		by[fmt.Sprintf("\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01%d", i)] = 1
	}
	if got := droppedPayload(by); len(got) >= 8000 {
		t.Errorf("%d bytes", len(got))
	}
	if got, want := droppedPayload(map[string]int{"a": 2, "b": 3}), `{"dropped":5,"channels":{"a":2,"b":3}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestNotificationsDropped: a client that does not take its notifications holds nobody up,
// gets the first ones, and hears that others are missing.
func TestNotificationsDropped(t *testing.T) {
	t.Parallel()
	s := start(t, Options{MaxNotifications: 2})
	c := s.connect(t)
	listener := s.fakes.last()
	c.query("BEGIN")
	c.expect("C:BEGIN Z:T")
	for _, text := range []string{"one", "two", "three", "four"} {
		listener.opts.Notify(notification(1, text))
	}
	c.query("COMMIT")
	c.expect(`C:COMMIT A:one A:two A:{"dropped":2,"channels":{"c":2}} Z:I`)
	listener.opts.Notify(notification(1, "five"))
	c.expect("A:five")
}
