package hold

import (
	"context"
	"errors"
	"time"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/lake/files"
)

// footerTimeout bounds the look at a new file: its writer waits, and can do without.
const footerTimeout = 10 * time.Second

// Embedding returns the data files that a commit adds with a row-id start although their
// rows' ids are inside. Stored with NULL instead, as DuckLake itself does for files that it
// rewrites, they are what they are: DuckLake's planner then never takes such a file for
// one whose ids its neighbour's continue, and merges write the ids out.
//
// A dense file without a start cannot be read, so this has to be certain: the file's own
// footer says so, or, for files that cannot be read, the commit is a flush and nothing
// else. unsure are those of which it is not certain either way.
func (v *Verifier) Embedding(ctx context.Context, b *conflict.Batch, set *conflict.ChangeSet, st State) (embedded, unsure []lake.DataFile, err error) {
	if len(b.DataFiles.Added) == 0 {
		return nil, nil, nil
	}
	if _, ok := b.Snapshot(); !ok {
		return nil, nil, nil
	}
	own := ownDeletes(b)
	for i := range b.DataFiles.Added {
		f := &b.DataFiles.Added[i]
		if !f.HasRowIDStart {
			continue
		}
		shape := byShape(f, set.Changes, own[f.TableID])
		if shape == Dense {
			continue
		}
		path, err := st.Path(f.TableID, f.Path, f.Relative)
		if err != nil {
			return nil, nil, err
		}
		rctx, cancel := context.WithTimeout(ctx, min(v.opts.Timeout, footerTimeout))
		l, err := v.Layout(rctx, dataFile(f, path))
		cancel()
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil:
			if !errors.Is(err, files.ErrOutOfReach) {
				v.opts.Logger.Warn("a new data file cannot be read", "table", f.TableID, "file", path, "error", err)
			}
			l = shape
		}
		switch l {
		case Embedded:
			embedded = append(embedded, *f)
		case Unknown:
			unsure = append(unsure, *f)
		}
	}
	return embedded, unsure, nil
}
