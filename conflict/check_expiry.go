package conflict

import (
	"context"
	"slices"

	"github.com/eiderdb/eider/lake"
)

// Fence says what of the lake open transactions and tags hold when the commit is looked
// at. Nothing that is not held can come to be held later: see gc.Fence.
type Fence interface {
	// Pinned is the oldest snapshot that an open transaction other than the commit's pins;
	// it pins all later ones, too. ok is false when there is none.
	Pinned(ctx context.Context) (snapshot int64, ok bool, err error)
	// Tagged are the snapshots with tags, in ascending order.
	Tagged(ctx context.Context) ([]int64, error)
	// Early says for each file why it may not be deleted yet, "" for those that may.
	Early(ctx context.Context, files []lake.Scheduled) ([]string, error)
	// Holders names the open transactions, for a text; "" when nothing is known of them.
	Holders() string
}

// expiry: snapshots that somebody holds stay, and so do their changes.
func (k *checker) expiry() error {
	if len(k.Snapshots.Removed)+len(k.Snapshots.Changed)+len(k.Logs.Removed) == 0 {
		return nil
	}
	gone, err := k.goneSnapshots()
	if err != nil {
		return err
	}
	if err := k.heldSnapshots(gone); err != nil {
		return err
	}
	for i := range k.Logs.Removed {
		id := k.Logs.Removed[i].SnapshotID
		if _, ok := slices.BinarySearch(gone, id); ok {
			continue
		}
		n, err := k.Is.Snapshots(id, id)
		if err != nil {
			return err
		}
		_, left, err := k.Is.ChangesOf(id)
		if err != nil {
			return err
		}
		if n > 0 && !left {
			k.add(ChangesRemoved(id))
			break
		}
	}
	return nil
}

// goneSnapshots are the snapshots that the commit removes, in ascending order.
func (k *checker) goneSnapshots() ([]int64, error) {
	var ids []int64
	for i := range k.Snapshots.Removed {
		ids = append(ids, k.Snapshots.Removed[i].ID)
	}
	for i := range k.Snapshots.Changed {
		if e := &k.Snapshots.Changed[i]; e.Before.ID != e.After.ID {
			ids = append(ids, e.Before.ID)
		}
	}
	slices.Sort(ids)
	if len(k.Snapshots.Added)+len(k.Snapshots.Changed) == 0 {
		return ids, nil
	}
	var err error
	ids = slices.DeleteFunc(ids, func(id int64) bool { // one that is written again is not gone
		n, nerr := k.Is.Snapshots(id, id)
		if err == nil {
			err = nerr
		}
		return n > 0
	})
	return ids, err
}

func (k *checker) heldSnapshots(gone []int64) error {
	if k.Fence == nil || len(gone) == 0 {
		return nil
	}
	pinned, ok, err := k.Fence.Pinned(k.Ctx)
	if err != nil {
		return err
	}
	if i, _ := slices.BinarySearch(gone, pinned); ok && i < len(gone) {
		k.add(SnapshotsPinned(gone[i:], k.Fence.Holders()))
	}
	tagged, err := k.Fence.Tagged(k.Ctx)
	if err != nil {
		return err
	}
	tagged = slices.DeleteFunc(slices.Clone(tagged), func(id int64) bool {
		_, is := slices.BinarySearch(gone, id)
		return !is
	})
	if len(tagged) > 0 {
		k.add(SnapshotsTagged(tagged))
	}
	return nil
}
