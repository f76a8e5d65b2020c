package trim

import (
	"context"
	"fmt"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/expire"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/sweep"
	"github.com/eiderdb/eider/kv/store"
)

// Run trims one lake. When ctx ends it returns what was done until then with the cause;
// called again it goes on. The options are those of an expiry: rows of files that no
// snapshot sees are removed as by one, and their files scheduled for deletion.
func Run(ctx context.Context, cat *store.Catalog, name string, o expire.Options) (gc.Result, error) {
	res, err := expire.Rows(ctx, cat, name, o)
	if err != nil {
		return res, err
	}
	r := &sweep.Runner{Pace: meta.NewPacer(cat, o.Committer, o.Pace), Lake: name, Result: res, Progress: o.Progress}
	err = trim(ctx, cat, r)
	return r.Result, err
}

// Preview says what Run would remove at this moment, and changes nothing: it rehearses it in
// one view.
func Preview(ctx context.Context, cat *store.Catalog, name string) (res gc.Result, err error) {
	err = meta.Read(ctx, cat, func(txn *store.Txn) error {
		l, err := meta.Open(txn, name)
		if err != nil {
			return err
		}
		l = l.Rehearse()
		if res, err = expire.RehearseRows(ctx, l, expire.Options{}); err != nil {
			return err
		}
		r := &sweep.Runner{Lake: name, Result: res, Rehearsal: &l}
		err = trim(ctx, cat, r)
		res = r.Result
		return err
	})
	return res, err
}

// trim removes what no expiry does.
func trim(ctx context.Context, cat *store.Catalog, r *sweep.Runner) error {
	t := &trimmer{}
	var steps []sweep.Walk
	var relations []string
	err := r.Read(ctx, cat, func(l meta.Lake) (err error) {
		if t.known, err = know(ctx, l); err != nil {
			return err
		}
		steps, relations = t.steps(ctx, l), t.relations(l)
		return nil
	})
	for i := range steps {
		if err == nil {
			err = r.Do(ctx, steps[i])
		}
	}
	if err == nil {
		err = t.drop(ctx, r, relations)
	}
	if err != nil {
		return fmt.Errorf("trim: %w", err)
	}
	return nil
}

// Job is the trimming of a lake.
type Job struct {
	// Catalog finds a catalog by its name.
	Catalog func(name string) (*store.Catalog, error)
	Options expire.Options
}

var _ gc.Job = (*Job)(nil)

// Plan implements gc.Job.
func (j *Job) Plan(ctx context.Context, r *gc.Request) (gc.Result, error) {
	cat, err := j.Catalog(r.Catalog)
	if err != nil {
		return gc.Result{}, err
	}
	return Preview(ctx, cat, r.Lake)
}

// Run implements gc.Job.
func (j *Job) Run(ctx context.Context, r *gc.Request) (gc.Result, error) {
	cat, err := j.Catalog(r.Catalog)
	if err != nil {
		return gc.Result{}, err
	}
	o := j.Options
	o.Progress = r.Progress
	return Run(ctx, cat, r.Lake, o)
}
