package node

import (
	"context"
	"log/slog"

	"github.com/eiderdb/eider/cmd/eider/config"
	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/jobs"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/server"
	"github.com/eiderdb/eider/translate/guard"
)

// newMaintenance makes what runs maintenance jobs in the catalogs of the store.
func newMaintenance(o *config.Options, log *slog.Logger, m *server.Metrics, st *store.Store, g *guard.Guard) *jobs.Manager {
	every := o.MeasureEvery
	if every == 0 {
		every = -1
	}
	return jobs.New(jobs.Options{
		Store: st, Jobs: bodies(o, log, st, g), Committer: committer{g, "jobs"}, Logger: log, Metrics: jobs.NewMetrics(m.Registry()),
		Manual: !o.Maintenance, Tick: o.MaintenanceTick, History: o.MaintenanceHistory,
		Measure: every, MeasureRows: o.MeasureRows,
	})
}

// bodies are the jobs that this server can do.
func bodies(_ *config.Options, _ *slog.Logger, _ *store.Store, _ *guard.Guard) map[gc.Kind]gc.Job {
	return map[gc.Kind]gc.Job{}
}

// maintain runs the manager until stop is called, which waits for its end.
func maintain(m *jobs.Manager) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.Run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}
