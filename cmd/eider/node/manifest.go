package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/clean"
	"github.com/eiderdb/eider/gc/jobs"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/sqlface"
	"github.com/eiderdb/eider/kv/store"
)

var _ sqlface.Manifests = (*maintenance)(nil)

// Manifest implements sqlface.Manifests.
func (m *maintenance) Manifest(ctx context.Context, catalog, lake string, k gc.Kind, over map[string]string, sink clean.Sink) error {
	cat, err := m.store.Catalog(catalog)
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w: %q", jobs.ErrNoCatalog, catalog)
	}
	if err != nil {
		return err
	}
	var policies *gc.Policies
	err = meta.Read(ctx, cat, func(txn *store.Txn) error {
		if _, err := meta.Open(txn, lake); err != nil {
			return fmt.Errorf("%w: %q", jobs.ErrNoLake, lake)
		}
		set, err := jobs.LoadPolicies(ctx, txn, policyDefaults(m.o))
		if err != nil {
			return err
		}
		p := set.For(lake)
		if list := p.Problems(); len(list) > 0 {
			return fmt.Errorf("%w: %w", jobs.ErrProblems, list[0].Err)
		}
		policies, err = p.With(over)
		return err
	})
	if err != nil {
		return err
	}
	job := m.cleaner.Cleanup(sink)
	if k == gc.Orphans {
		job = m.cleaner.Orphans(sink)
	}
	_, err = job.Plan(ctx, &gc.Request{Catalog: catalog, Lake: lake, Policies: policies, Now: time.Now()})
	return err
}
