package sqlface

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/clean"
	"github.com/eiderdb/eider/gc/jobs"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// Quarantine is what the functions need of a clean.Cleaner.
type Quarantine interface {
	Quarantined(ctx context.Context, catalog, lake string) ([]clean.Kept, error)
	Restore(ctx context.Context, u clean.Undo, now time.Time) (gc.Result, error)
}

var _ Quarantine = (*clean.Cleaner)(nil)

var (
	// keptCols are the columns of eider.quarantine.
	keptCols = []exec.Column{
		col("lake", types.TextOID), col("job", types.Int8OID), col("path", types.TextOID), col("place", types.TextOID),
		col("bytes", types.Int8OID), col("moved_at", types.TimestamptzOID), col("reason", types.TextOID),
	}
	backCols = []exec.Column{
		col("restored", types.Int8OID), col("failed", types.Int8OID), col("bytes", types.Int8OID), col("notes", types.TextOID),
	}
)

// QuarantineFuncs returns the functions that show the quarantine, and bring files back from
// it. The clock gives the files their new time.
func QuarantineFuncs(q Quarantine, clock func() time.Time) []exec.Func {
	f := quarantine{q, clock}
	return []exec.Func{
		fn("quarantine_list", keptCols, f.list, "lake text?", "path text?"),
		fn("quarantine_restore", backCols, f.restore, "lake text!", "job bigint?", "path text?"),
	}
}

type quarantine struct {
	q     Quarantine
	clock func() time.Time
}

// list is quarantine_list: the files whose old path is the given one or below it.
func (f quarantine) list(c *call) ([]exec.Row, error) {
	all, err := f.q.Quarantined(c.c.Context, c.catalog(), c.anyLake(0))
	if err != nil {
		return nil, err
	}
	path := c.text(1)
	var out []exec.Row
	for i := range all {
		k := &all[i]
		if path != "" && k.Path != path && !strings.HasPrefix(k.Path, strings.TrimSuffix(path, "/")+"/") {
			continue
		}
		out = append(out, exec.Row{
			dText(k.Lake), dInt(k.Job), dText(k.Path), dText(k.Place), dInt(k.Bytes), dTime(k.MovedAt), dTextOr(k.Reason),
		})
	}
	return out, nil
}

// restore is quarantine_restore. It returns when the files are back.
func (f quarantine) restore(c *call) ([]exec.Row, error) {
	if err := c.writes(); err != nil {
		return nil, err
	}
	u := clean.Undo{Catalog: c.catalog(), Lake: c.anyLake(0), Path: c.text(2)}
	if n, ok := c.num(1); ok {
		if n <= 0 {
			return nil, pgerr.New(pgerr.InvalidParameterValue, "the id of a job is a number above 0")
		}
		u.Job = n
	}
	r, err := f.q.Restore(c.c.Context, u, f.clock())
	if errors.Is(err, meta.ErrNoLake) {
		err = fmt.Errorf("%w: %q", jobs.ErrNoLake, u.Lake)
	}
	if err != nil {
		return nil, err
	}
	return []exec.Row{{
		dInt(r.Counts[clean.CountBack]), dInt(r.Counts[clean.CountNotBack]), dInt(r.Bytes), jsonOf(len(r.Notes), r.Notes),
	}}, nil
}
