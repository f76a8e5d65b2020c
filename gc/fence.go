package gc

import (
	"context"

	"github.com/eiderdb/eider/lake"
)

// Fence says what of one lake is still held: by open transactions, and by tags. A job gets
// one for the store transaction in which it decides (the server makes them, see
// guard.Guard.Fence), and it answers for that transaction's view against all views that are
// held at the moment of the call. Views only go and what is newer than the asking
// transaction's view does not name what that view no longer has, so an answer "not held"
// stays true; "held" may be outdated at once.
//
// A commit through the Committer is looked at again under the same rules. A job that
// asks first has a commit that passes.
type Fence interface {
	// Pinned returns the oldest snapshot that an open transaction pins. It and every later
	// one must stay: the transaction's commit reads what others changed since. ok is false
	// when no transaction other than the job's own pins any; the newest snapshot stays
	// all the same.
	Pinned(ctx context.Context) (snapshot int64, ok bool, err error)

	// Tagged returns the snapshots that tags name (eider.tags), in ascending order, each
	// once. They stay whatever else goes.
	Tagged(ctx context.Context) ([]int64, error)

	// Held returns, for each file, what keeps it from being removed, in words ("an open
	// transaction can still read it"), or "" when nothing does. A file
	// is held while its row is in a view that is held, or its path is live or kept in the
	// asking transaction's own view.
	Held(ctx context.Context, files []FileRef) ([]string, error)
}

// FileRef names a file as a row of ducklake_files_scheduled_for_deletion does. Its ID is
// that of a data file or a delete file, whose ids come from one counter and are never
// given out again; 0 or less when none is known, as of an orphan. Path "" asks by id alone.
type FileRef = lake.Scheduled
