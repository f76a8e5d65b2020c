package due

import "time"

// change is what a source has that somebody has not seen.
type change struct {
	first, last time.Time // of its oldest and newest commit
	ready       time.Time // when it counts
	any         bool
}

// change is the commits of a source after a snapshot: to one slice, or to all if part is
// nil.
func (d *decider) change(src Source, part *string, after int64) change {
	var c change
	for _, commit := range d.st.Commits[src.Asset] {
		if commit.Snapshot <= after || part != nil && commit.Partition != *part {
			continue
		}
		if !c.any || commit.Time.Before(c.first) {
			c.first = commit.Time
		}
		if !c.any || commit.Time.After(c.last) {
			c.last = commit.Time
		}
		c.any = true
	}
	quiet, longest := d.debounce(src)
	c.ready = c.last.Add(quiet)
	if latest := c.first.Add(longest); latest.Before(c.ready) {
		c.ready = latest
	}
	return c
}

// seen is the snapshot of an asset that any slice's last success has read, and tried that of
// any slice's last run: what the script as a whole has seen.
func (d *decider) seen(asset string) (seen, tried int64) {
	for _, slice := range d.st.Slices {
		seen = max(seen, slice.Seen[asset])
		tried = max(tried, slice.Seen[asset], slice.Tried[asset])
	}
	return seen, tried
}

// seenBy is the same of one slice.
func (d *decider) seenBy(part, asset string) (seen, tried int64) {
	slice := d.st.Slices[part]
	return slice.Seen[asset], max(slice.Seen[asset], slice.Tried[asset])
}

// partsOf are the slices that the partitioned sources have brought.
func (d *decider) partsOf() map[string]bool {
	parts := map[string]bool{}
	for _, src := range d.Sources {
		if !src.Partitioned {
			continue
		}
		for _, c := range d.st.Commits[src.Asset] {
			if c.Partition != "" {
				parts[c.Partition] = true
			}
		}
	}
	return parts
}

// commits are those of sources that call for a run.
func (d *decider) commits() error {
	switch {
	case d.Join == JoinAny:
		return d.anyOf()
	case d.Partition != nil && len(d.partsOf()) > 0:
		for part := range d.partsOf() {
			d.allOfSlice(part)
		}
		return nil
	}
	return d.allOf()
}

// changed makes a slice due because of some sources.
func (d *decider) changed(part string, at time.Time, sources ...Source) {
	if d.Partition != nil && d.Partition.Skips(part) {
		return
	}
	r := d.add(part, ByCommit, at)
	for _, src := range sources {
		if r != nil {
			r.Assets = append(r.Assets, src.Asset)
		}
	}
}

// anyOf runs the slice of each partitioned source that changed, and after other sources the
// slice in which their newest commit was made.
func (d *decider) anyOf() error {
	for _, src := range d.Sources {
		if src.Partitioned && d.Partition != nil {
			for part := range d.partsOf() {
				_, tried := d.seenBy(part, src.Asset)
				if c := d.change(src, &part, tried); c.any {
					d.changed(part, c.ready, src)
				}
			}
			continue
		}
		_, tried := d.seen(src.Asset)
		if c := d.change(src, nil, tried); c.any {
			part, skip, err := d.slice(c.last)
			if err != nil {
				return err
			}
			if !skip {
				d.changed(part, c.ready, src)
			}
		}
	}
	return nil
}

// allOfSlice runs a slice once all sources have changed since its last success, the
// partitioned ones in that slice.
func (d *decider) allOfSlice(part string) {
	var ready time.Time
	news := false
	for _, src := range d.Sources {
		only := &part
		if !src.Partitioned {
			only = nil
		}
		seen, tried := d.seenBy(part, src.Asset)
		c := d.change(src, only, seen)
		if !c.any {
			return
		}
		news = news || d.change(src, only, tried).any
		ready = later(ready, c.ready)
	}
	if news {
		d.changed(part, ready, d.Sources...)
	}
}

// allOf runs a script whose sources have no slices, or that has none itself, once all have
// changed since the last success.
func (d *decider) allOf() error {
	var ready, last time.Time
	news := false
	for _, src := range d.Sources {
		if src.Partitioned {
			continue
		}
		seen, tried := d.seen(src.Asset)
		c := d.change(src, nil, seen)
		if !c.any {
			return nil
		}
		news = news || d.change(src, nil, tried).any
		ready, last = later(ready, c.ready), later(last, c.last)
	}
	joined, newest, ok := d.joinSlices(news)
	if !ok {
		return nil
	}
	part, skip, err := d.slice(later(last, newest))
	if err != nil || skip {
		return err
	}
	d.changed(part, later(ready, joined), d.Sources...)
	return nil
}

// joinSlices joins partitioned sources for a script that has no slices itself: there must be
// one that all of them have brought at some time, and one of them since the last success.
// What the last success has seen of it counts, since it may have run for another slice. news
// tells whether there is something else that no run has tried; otherwise it must be in the
// slice. The time is when the first such slice counts, newest that of its newest commit.
func (d *decider) joinSlices(news bool) (ready, newest time.Time, ok bool) {
	partitioned := 0
	for _, src := range d.Sources {
		if src.Partitioned {
			partitioned++
		}
	}
	if partitioned == 0 {
		return time.Time{}, time.Time{}, news
	}
	if d.Partition != nil { // nothing has been brought
		return time.Time{}, time.Time{}, false
	}
	for part := range d.partsOf() {
		var counts, last time.Time
		brought, fresh, untried := 0, false, news
		for _, src := range d.Sources {
			if !src.Partitioned || !d.change(src, &part, 0).any {
				continue
			}
			brought++
			seen, tried := d.seen(src.Asset)
			if c := d.change(src, &part, seen); c.any {
				fresh = true
				counts, last = later(counts, c.ready), later(last, c.last)
			}
			untried = untried || d.change(src, &part, tried).any
		}
		if brought == partitioned && fresh && untried && (!ok || counts.Before(ready)) {
			ready, newest, ok = counts, last, true
		}
	}
	return ready, newest, ok
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
