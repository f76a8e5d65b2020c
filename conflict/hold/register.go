package hold

import (
	"context"
	"errors"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/lake/files"
)

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
	var look []*newFile
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
		look = append(look, &newFile{row: f, path: path, layout: shape})
	}
	v.lookAt(ctx, look)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	for _, n := range look {
		switch n.layout {
		case Embedded:
			embedded = append(embedded, *n.row)
		case Unknown:
			unsure = append(unsure, *n.row)
		}
	}
	return embedded, unsure, nil
}

// newFile is a data file that a commit adds, with what is known of it.
type newFile struct {
	row    *lake.DataFile
	path   string
	layout Layout
}

// lookAt reads files for their layout, some at a time, within one limit for all: their
// writer waits, and can do without.
func (v *Verifier) lookAt(ctx context.Context, list []*newFile) {
	if len(list) == 0 {
		return
	}
	rctx, cancel := context.WithTimeout(ctx, min(v.opts.Timeout, v.opts.NewTimeout))
	defer cancel()
	_ = each(list, func(n **newFile) error {
		f := *n
		if rctx.Err() != nil {
			return nil
		}
		l, err := v.Layout(rctx, dataFile(f.row, f.path))
		switch {
		case err == nil:
			f.layout = l
		case !errors.Is(err, files.ErrOutOfReach) && ctx.Err() == nil:
			v.opts.Logger.Warn("a new data file cannot be read", "table", f.row.TableID, "file", f.path, "error", err)
		}
		return nil
	})
}
