package clean

import (
	"fmt"
	"strings"
	"time"

	"github.com/eiderdb/eider/lake/paths"
)

// Verdict is what becomes of a file.
type Verdict uint8

// The verdicts.
const (
	// Keep: it stays, and nothing is to be said about it.
	Keep Verdict = iota
	// Defer: it stays for now, because somebody holds it or it is not due.
	Defer
	// Remove: it goes.
	Remove
)

// OrphanRules judge the objects of a listing. They are pure; who fills them answers for the
// order in which it does (invariant 3).
type OrphanRules struct {
	// Live has every name of a file in any lake of the server, scheduled ones too.
	Live *paths.Set
	// Folder is the lake's data path. What is not below it by its bytes is kept.
	Folder paths.Place
	// Real is the same folder without links, on disks; else as Folder.
	Real paths.Place
	// Spared are folders of which nothing is removed: the store's own, quarantine, other lakes'.
	Spared []paths.Place
	// Before: only what was last written before is old enough.
	Before time.Time
	// Writing is when the oldest transaction began that may have written files; zero: none is open.
	Writing time.Time
}

// written are the endings of the files that DuckLake writes. Others in a lake's folders are
// somebody else's; DuckLake's own removal of orphans does not look at them either.
var written = []string{".parquet", ".puffin"}

// Judge decides on one object, and says why in words.
func (r *OrphanRules) Judge(o Object) (Verdict, string) {
	rel, ok := r.relative(o.Place)
	if !ok || rel == "" {
		return Keep, "it is not below the data path"
	}
	if !hasEnding(rel) {
		return Keep, "it is not a file that DuckLake writes"
	}
	if _, err := paths.Locate(r.Folder.String() + rel); err != nil {
		return Keep, "its name does not say where it is"
	}
	if inQuarantine(o.Name) {
		return Keep, "it is in quarantine"
	}
	for _, s := range r.Spared {
		if within(s, o.Place) {
			return Keep, "it is in a folder that is spared: " + s.String()
		}
	}
	if r.named(o.Place, rel) {
		return Keep, "a row names it"
	}
	switch {
	case o.Modified.IsZero():
		return Keep, "its age is not known"
	case !o.Modified.Before(r.Before):
		return Defer, "it is too young"
	case !r.Writing.IsZero() && !o.Modified.Before(r.Writing):
		return Defer, "a transaction is open that may have written it"
	}
	return Remove, "nothing names it; last written " + o.Modified.UTC().Format("2006-01-02 15:04:05") + " UTC"
}

func hasEnding(name string) bool {
	for _, e := range written {
		if strings.HasSuffix(name, e) {
			return true
		}
	}
	return false
}

// relative is what follows the folder in an object's name, byte for byte.
func (r *OrphanRules) relative(at paths.Place) (string, bool) {
	for _, f := range []paths.Place{r.Folder, r.Real} {
		if at.Kind == f.Kind && at.Account == f.Account && at.Bucket == f.Bucket {
			if rel, ok := strings.CutPrefix(at.Name, f.Name); ok {
				return rel, true
			}
		}
	}
	return "", false
}

// named looks for the object by the name that the storage gave it and by the one that it has
// from the data path.
func (r *OrphanRules) named(at paths.Place, rel string) bool {
	return r.Live.Has(at.String()) || r.Live.Has(r.Folder.String()+rel)
}

// within says whether a place is in a folder, by any spelling of either.
func within(folder, at paths.Place) bool {
	if folder.Kind != at.Kind {
		return false
	}
	for _, a := range paths.Keys(at.String()) {
		for _, f := range paths.Keys(folder.String()) {
			if f = strings.TrimSuffix(f, "/"); a == f || strings.HasPrefix(a, f+"/") {
				return true
			}
		}
	}
	return false
}

// Entry is a row of the deletion schedule, as a judge needs it.
type Entry struct {
	ID int64
	// Name is the absolute path or URL.
	Name string
	// Start is schedule_start; zero when it is NULL.
	Start time.Time
}

// CleanupRules judge the entries of the schedule.
type CleanupRules struct {
	// Live has every name of a file that a row of a table names, in any lake.
	Live *paths.Set
	// Early has the names of entries that are not due; another entry for the same file waits with them.
	Early *paths.Set
	// Now and Grace: an entry is due when Grace has passed since its start.
	Now   time.Time
	Grace time.Duration
}

// Due says whether an entry's time has passed. One without a time is not due.
func (r *CleanupRules) Due(e Entry) bool {
	return !e.Start.IsZero() && !e.Start.Add(r.Grace).After(r.Now)
}

// Judge decides on one entry, and says why in words.
func (r *CleanupRules) Judge(e Entry) (Verdict, string) {
	switch {
	case !r.Due(e):
		return Keep, "it is not due"
	case r.Live.Has(e.Name):
		if _, err := paths.Locate(e.Name); err != nil {
			return Defer, fmt.Sprintf("it cannot be told which file it is: %v", err)
		}
		return Defer, "a row of a lake names it"
	case r.Early.Has(e.Name):
		return Defer, "it is scheduled twice, the other time for later"
	}
	if _, err := paths.Locate(e.Name); err != nil {
		return Defer, fmt.Sprintf("it cannot be told which file it is: %v", err)
	}
	return Remove, "scheduled " + e.Start.UTC().Format("2006-01-02 15:04:05") + " UTC"
}
