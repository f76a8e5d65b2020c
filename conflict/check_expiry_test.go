package conflict_test

import (
	"testing"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/lake"
)

// watched notes reads of files in the view whose changes make a commit look again.
type watched struct {
	*state
	reads []string
}

func (w *watched) DataFile(id int64) (lake.DataFile, bool, error) {
	w.reads = append(w.reads, "DataFile")
	return w.state.DataFile(id)
}

func (w *watched) DataFilesAt(path string) ([]lake.DataFile, error) {
	w.reads = append(w.reads, "DataFilesAt")
	return w.state.DataFilesAt(path)
}

func (w *watched) DeleteFilesAt(path string) ([]lake.DeleteFile, error) {
	w.reads = append(w.reads, "DeleteFilesAt")
	return w.state.DeleteFilesAt(path)
}

func (w *watched) Foreign(fn func(int64, string, bool) error) error {
	w.reads = append(w.reads, "Foreign")
	return w.state.Foreign(fn)
}

// TestExpiryBesideInserts: an expiry does not rest on which files there are, or each
// insert meanwhile would make it look again.
func TestExpiryBesideInserts(t *testing.T) {
	t.Parallel()
	s := small()
	b := &conflict.Batch{Schema: "public"}
	b.Snapshots.Removed, b.DataFiles.Removed = s.snapshots[:1], s.files[3:]
	b.Scheduled.Added = []lake.Scheduled{{ID: 5, Path: "main/t/f5", Relative: true}}
	c := commitOf(t, s, b)
	w := &watched{state: c.Is.(*state)}
	c.Is, c.Loose = w, c.Is
	list, err := conflict.Amend(c, 0)
	if err != nil || len(list) > 0 {
		t.Errorf("amended: %v %v", list, err)
	}
	found, err := conflict.Check(c)
	if err != nil || len(found) > 0 {
		t.Errorf("found %v %v", found, err)
	}
	if len(w.reads) > 0 {
		t.Errorf("it rests on %v", w.reads)
	}
}
