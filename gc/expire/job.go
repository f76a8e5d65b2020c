package expire

import (
	"context"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/kv/store"
)

// Job is the expiry of a lake by its policies.
type Job struct {
	// Catalog finds a catalog by its name.
	Catalog func(name string) (*store.Catalog, error)
	Options Options
}

var _ gc.Job = (*Job)(nil)

// Plan implements gc.Job.
func (j *Job) Plan(ctx context.Context, r *gc.Request) (gc.Result, error) {
	cat, err := j.Catalog(r.Catalog)
	if err != nil {
		return gc.Result{}, err
	}
	return Preview(ctx, cat, r.Lake, ByPolicies(r.Policies, r.Now), j.Options)
}

// Run implements gc.Job.
func (j *Job) Run(ctx context.Context, r *gc.Request) (gc.Result, error) {
	cat, err := j.Catalog(r.Catalog)
	if err != nil {
		return gc.Result{}, err
	}
	o := j.Options
	o.Progress = r.Progress
	return Run(ctx, cat, r.Lake, ByPolicies(r.Policies, r.Now), o)
}
