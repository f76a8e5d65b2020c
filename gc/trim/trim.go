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
	t := &trimmer{}
	var steps []sweep.Walk
	var relations []string
	err = meta.Read(ctx, cat, func(txn *store.Txn) error {
		l, err := meta.Open(txn, name)
		if err != nil {
			return err
		}
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
		err = fmt.Errorf("trim: %w", err)
	}
	return r.Result, err
}

// Preview says what Run would remove at this moment, and changes nothing. What an expiry has
// left is not in it, nor what only the removal of other rows makes superfluous.
func Preview(ctx context.Context, cat *store.Catalog, name string) (res gc.Result, err error) {
	err = meta.Read(ctx, cat, func(txn *store.Txn) error {
		l, err := meta.Open(txn, name)
		if err != nil {
			return err
		}
		t := &trimmer{dry: true}
		if t.known, err = know(ctx, l); err != nil {
			return err
		}
		for _, s := range t.steps(ctx, l) {
			if err := s.Preview(ctx, l, &res); err != nil {
				return err
			}
		}
		for _, relation := range t.relations(l) {
			if _, err := t.leaked(ctx, l, relation, &res); err != nil {
				return err
			}
		}
		return nil
	})
	return res, err
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
