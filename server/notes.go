package server

import (
	"encoding/json"
	"slices"

	"github.com/eiderdb/eider/translate"
)

// noteQueue holds the notifications that a connection has not been sent yet, a bounded
// number of them: who does not read costs nobody else anything but that.
type noteQueue struct {
	list []translate.Notification
	// spare says that list may have notifications that a newer one makes superfluous.
	spare   bool
	dropped map[string]int // by channel, since the client was last told
}

// add appends a notification and returns how many, of it and those before it, were dropped
// so that at most limit are kept: those that a newer one replaces first, then the one that
// is to be added, if that has no successor that would say the same.
func (q *noteQueue) add(n translate.Notification, limit int) (dropped int) {
	if len(q.list) >= limit && (q.spare || n.Newest != "") {
		dropped = q.thin(n)
	}
	if len(q.list) >= limit {
		gone := n
		if n.Newest != "" {
			i := len(q.list) - 1
			for i > 0 && q.list[i].Newest != "" {
				i--
			}
			gone = q.list[i]
			q.list = append(slices.Delete(q.list, i, i+1), n)
		}
		q.drop(gone.Channel)
		return dropped + 1
	}
	q.list = append(q.list, n)
	q.spare = q.spare || n.Newest != ""
	return dropped
}

// thin drops what a newer notification, or n, makes superfluous.
func (q *noteQueue) thin(n translate.Notification) (dropped int) {
	type topic struct{ channel, newest string }
	newer := map[topic]bool{}
	if n.Newest != "" {
		newer[topic{n.Channel, n.Newest}] = true
	}
	keep := len(q.list)
	for i := len(q.list) - 1; i >= 0; i-- {
		o := q.list[i]
		t := topic{o.Channel, o.Newest}
		if o.Newest != "" && newer[t] {
			q.drop(o.Channel)
			dropped++
			continue
		}
		newer[t] = true
		keep--
		q.list[keep] = o
	}
	q.list = slices.Delete(q.list, 0, keep)
	q.spare = false
	return dropped
}

func (q *noteQueue) drop(channel string) {
	if q.dropped == nil {
		q.dropped = make(map[string]int)
	}
	q.dropped[channel]++
}

// take empties the queue. Where some were dropped, the last one says so.
func (q *noteQueue) take() []translate.Notification {
	list := q.list
	if len(q.dropped) > 0 {
		list = append(list, translate.Notification{Channel: translate.DroppedChannel, Payload: droppedPayload(q.dropped)})
	}
	*q = noteQueue{}
	return list
}

// maxChannels is how many channels are named when notifications were dropped: a payload
// has to stay below 8,000 bytes.
const (
	maxChannels    = 20
	maxChannelName = 63
)

// droppedPayload says how many notifications were dropped, in all and by channel, as far as
// there is room for names.
func droppedPayload(by map[string]int) string {
	p := struct {
		Dropped  int            `json:"dropped"`
		Channels map[string]int `json:"channels"`
	}{Channels: make(map[string]int)}
	for channel, n := range by {
		p.Dropped += n
		if len(channel) <= maxChannelName && len(p.Channels) < maxChannels {
			p.Channels[channel] = n
		}
	}
	b, err := json.Marshal(p)
	if err != nil { // numbers and strings: it cannot fail
		return "{}"
	}
	return string(b)
}

// notify queues a notification, from any goroutine. It does not block.
func (c *conn) notify(n translate.Notification) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if dropped := c.mu.notes.add(n, c.srv.opts.MaxNotifications); dropped > 0 {
		c.srv.metrics.droppedNotes.Add(float64(dropped))
	}
	c.noted.Store(true)
	c.attention.Store(true)
	if c.mu.waiting && !c.mu.copying {
		c.raw.SetReadDeadline(past)
	}
}

// deliver sends the queued notifications.
func (c *conn) deliver() error {
	c.mu.Lock()
	notes := c.mu.notes.take()
	c.noted.Store(false)
	c.mu.Unlock()
	for _, n := range notes {
		if c.w.notification(n) != nil {
			return errGone
		}
	}
	return nil
}
