package conflict

import (
	"slices"

	"github.com/eiderdb/eider/lake"
)

// Amendment is a change to a commit's own rows that makes it right. It is made only where
// the rows themselves say what the right ones are; everything else is refused.
type Amendment struct {
	// Time: snapshot Snapshot gets the time Micros, so that times are finite and grow with
	// the ids.
	Snapshot, Micros int64
	// Covered: the inlined deletes of data file File of table Table that begin at or before
	// Upto go, since the delete file of a flush has them.
	Table, File, Upto int64
	Covered           bool
	// Keep: the delete file that the commit removes stays, and ends with End; Instead, the
	// one that takes its place, begins there, and the file is not scheduled for deletion.
	// With Back the removed one stays as it was, and Instead and all that a flush did for it
	// is undone.
	Keep *lake.DeleteFile
	Back bool
	// Begin: delete file Instead of table Table begins with Begin.
	Instead, Begin, End int64
	// Stats: the table's statistics do not get narrower.
	Stats bool
	// Unschedule: of the rows that the commit adds to the list of files to delete, those for
	// this path go, since another row still names the file. With Twice they go because
	// the path is there already: one of them stays if it is only there in these.
	Unschedule *lake.Scheduled
	Twice      bool
	// Option: of the rows that set this option, only the last that the commit adds stays.
	Option *lake.Option
}

// Amend returns what has to be changed in a commit before it is checked. now is the
// present time in µs since 1970.
func Amend(c Commit, now int64) ([]Amendment, error) {
	if c.Bootstrap {
		return nil, nil
	}
	k := newChecker(c)
	if err := k.start(); err != nil || !k.hasHead {
		return nil, err
	}
	var out []Amendment
	prev := k.head
	for _, s := range k.newSnapshots() {
		if s.ID != prev.ID+1 {
			return nil, nil // it lost a race
		}
		if !follows(prev.Micros, s.Micros) {
			s.Micros = now
			if finite(prev.Micros + 1) {
				s.Micros = max(now, prev.Micros+1)
			}
			out = append(out, Amendment{Snapshot: s.ID, Micros: s.Micros})
		}
		prev = s
	}
	again, err := k.unschedule()
	if err != nil {
		return nil, err
	}
	out = append(out, again...)
	set, err := k.optionsOnce()
	if err != nil {
		return nil, err
	}
	out = append(out, set...)
	if !k.makes {
		return out, nil
	}
	for i := range k.DeleteFiles.Added {
		a, err := k.covered(&k.DeleteFiles.Added[i])
		if err != nil {
			return nil, err
		}
		out = append(out, a...)
	}
	for i := range k.DeleteFiles.Removed {
		a, err := k.kept(&k.DeleteFiles.Removed[i])
		if err != nil {
			return nil, err
		}
		out = append(out, a...)
	}
	for i := range k.Set.Tables {
		if t := &k.Set.Tables[i]; k.Set.Says(t.ID, RewriteDelete) {
			out = append(out, Amendment{Table: t.ID, Stats: true})
		}
	}
	return out, nil
}

// flushed says whether a new delete file is of a flush: then it holds what its data
// file's delete file and its inlined deletes up to partial_max hold, and nothing else. An
// ordinary delete that takes over an older delete file has a partial_max too, which is the
// snapshot that its client meant to make.
func (k *checker) flushed(d *lake.DeleteFile) (bool, error) {
	if !d.HasPartialMax || k.addedFile(d.DataFileID) {
		return false, nil
	}
	if k.HasBase {
		return d.PartialMax <= k.Base, nil
	}
	if d.PartialMax > k.head.ID {
		return false, nil
	}
	was, err := k.Was.DeletesOf(d.DataFileID)
	if err != nil {
		return false, err
	}
	inlined, err := k.inlinedBefore(d.TableID, d.DataFileID)
	if err != nil {
		return false, err
	}
	old, _ := liveDelete(was)
	count, last := old.Count, max(old.Begin, old.PartialMax)
	for _, i := range inlined {
		if i.Begin <= d.PartialMax {
			count++
			last = max(last, i.Begin)
		}
	}
	return count == d.Count && last == d.PartialMax, nil
}

// covered: a flush removes the inlined deletes that its delete file holds before its
// commit begins. A client that commits again after a lost race does not remove them again.
func (k *checker) covered(d *lake.DeleteFile) ([]Amendment, error) {
	flush, err := k.flushed(d)
	if err != nil || !flush {
		return nil, err
	}
	left, err := k.inlinedOf(d.TableID, d.DataFileID)
	if err != nil {
		return nil, err
	}
	for _, i := range left {
		if i.Begin <= d.PartialMax {
			return []Amendment{{Table: d.TableID, File: d.DataFileID, Upto: d.PartialMax, Covered: true}}, nil
		}
	}
	return nil, nil
}

// kept: the delete file that takes another's place has to say for every older snapshot
// what the other said. It does not when it begins later (deletion vectors have no room for
// snapshots), and when its rows are dated with a snapshot that was lost to another commit.
// The older one has what is right for them.
func (k *checker) kept(old *lake.DeleteFile) ([]Amendment, error) {
	if old.Ended || old.Begin >= k.at {
		return nil, nil
	}
	if _, ok, err := k.Is.DataFile(old.DataFileID); err != nil || !ok {
		return nil, err // merged away with its deletes
	}
	now, err := k.Is.DeletesOf(old.DataFileID)
	if err != nil {
		return nil, err
	}
	d, ok := liveDelete(now)
	if !ok || !k.ownDeleteFile(d.ID) || d.Begin > k.at {
		return nil, nil
	}
	flush, err := k.flushed(&d)
	if err != nil {
		return nil, err
	}
	if d.Begin > old.Begin || d.HasPartialMax && d.PartialMax != k.at && !flush {
		return []Amendment{{Keep: old, End: k.at, Instead: d.ID}}, nil
	}
	// The client dates it back to the first of its rows, which may be before the removed one
	// began. If others that were kept say what was deleted then, it begins where that one did.
	if !slices.ContainsFunc(now, func(o lake.DeleteFile) bool { return o.ID != d.ID && o.Overlaps(d.Span) }) {
		return nil, nil
	}
	if flush {
		inlined, err := k.inlinedBefore(d.TableID, d.DataFileID)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(inlined, func(i lake.InlinedDelete) bool { return i.Begin < old.Begin }) {
			// It is also the only one that says what was deleted inline then.
			return []Amendment{{Keep: old, Back: true, Instead: d.ID}}, nil
		}
	}
	return []Amendment{{Table: d.TableID, Instead: d.ID, Begin: old.Begin}}, nil
}

// optionsOnce: a client that sets an option looks whether there is a row for it, and then adds
// one or changes it. Two that do so at once both add one, and the order of the rows would decide
// for ever which value counts. The later one counts, as if it had seen the other.
func (k *checker) optionsOnce() (out []Amendment, err error) {
	if len(k.Options.Added) == 0 {
		return nil, nil
	}
	now, err := k.Is.Options()
	if err != nil {
		return nil, err
	}
	type option struct {
		key, scope string
		id         int64
	}
	count := make(map[option]int, len(now))
	for _, o := range now {
		count[option{o.Key, o.Scope, o.ScopeID}]++
	}
	for i := range k.Options.Added {
		o := &k.Options.Added[i]
		at := option{o.Key, o.Scope, o.ScopeID}
		if count[at] > 1 {
			out = append(out, Amendment{Option: o})
		}
		delete(count, at)
	}
	return out, nil
}
