package node

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/eiderdb/eider/cmd/eider/config"
	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/clean"
	"github.com/eiderdb/eider/gc/expire"
	"github.com/eiderdb/eider/gc/fsck"
	"github.com/eiderdb/eider/gc/jobs"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/trim"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake/files"
	"github.com/eiderdb/eider/server"
	"github.com/eiderdb/eider/translate/guard"
)

// maintenance is what runs maintenance jobs in the catalogs of the store.
type maintenance struct {
	o       *config.Options
	getenv  func(string) string
	log     *slog.Logger
	metrics *server.Metrics
	store   *store.Store
	guard   *guard.Guard
	// writing is when the oldest transaction began that may have written files, see clean.Options.
	writing func() time.Time
	// cleaner deletes files; bodies makes it.
	cleaner *clean.Cleaner
}

// manager makes the manager of the jobs.
func (m *maintenance) manager() (*jobs.Manager, error) {
	bodies, err := m.bodies()
	if err != nil {
		return nil, err
	}
	every := m.o.MeasureEvery
	if every == 0 {
		every = -1
	}
	return jobs.New(jobs.Options{
		Store: m.store, Jobs: bodies, Defaults: policyDefaults(m.o), Committer: committer{m.guard, "jobs"}, Logger: m.log, Metrics: jobs.NewMetrics(m.metrics.Registry()),
		Manual: !m.o.Maintenance, Tick: m.o.MaintenanceTick, History: m.o.MaintenanceHistory,
		Measure: every, MeasureRows: m.o.MeasureRows,
	}), nil
}

// bodies are the jobs that this server can do.
func (m *maintenance) bodies() (map[gc.Kind]gc.Job, error) {
	access, err := m.access()
	if err != nil {
		return nil, err
	}
	m.cleaner = clean.New(clean.Options{
		Store: m.store, Access: access, Fence: m.cleanFence, Grace: m.readableGrace, Keep: m.quarantineKeep, Commit: committer{m.guard, string(gc.Cleanup)}, Writing: m.writing, Spare: m.spare(),
	})
	sweeps := func(k gc.Kind) expire.Options {
		return expire.Options{Committer: committer{m.guard, string(k)}, Fence: m.mustFence}
	}
	return map[gc.Kind]gc.Job{
		gc.Expire:  &expire.Job{Catalog: m.store.Catalog, Options: sweeps(gc.Expire)},
		gc.Trim:    &trim.Job{Catalog: m.store.Catalog, Options: sweeps(gc.Trim)},
		gc.Cleanup: m.cleaner.Cleanup(nil),
		gc.Orphans: m.cleaner.Orphans(nil),
		gc.Fsck:    checks{m.store},
	}, nil
}

func (m *maintenance) fence(txn *store.Txn, lake string) (gc.Fence, error) {
	return m.guard.Fence(txn, lake, nil)
}

// cleanFence is fence for what deletes files.
func (m *maintenance) cleanFence(txn *store.Txn, lake string) (clean.Fence, error) {
	return m.guard.Fence(txn, lake, nil)
}

// mustFence is fence for a transaction that has its view already, for which it cannot fail.
func (m *maintenance) mustFence(txn *store.Txn, lake string) gc.Fence {
	f, err := m.fence(txn, lake)
	if err != nil {
		return brokenFence{err}
	}
	return f
}

// brokenFence answers with the error that kept it from being made.
type brokenFence struct{ err error }

func (f brokenFence) Pinned(context.Context) (int64, bool, error) { return 0, false, f.err }

func (f brokenFence) Tagged(context.Context) ([]int64, error) { return nil, f.err }

func (f brokenFence) Held(context.Context, []gc.FileRef) ([]string, error) { return nil, f.err }

// spare are the folders in which nothing is ever deleted.
func (m *maintenance) spare() []string {
	if m.o.Engine == "memory" {
		return nil
	}
	return []string{m.o.Data}
}

// access is where files may be deleted, and how.
func (m *maintenance) access() (clean.Access, error) {
	if len(m.o.DeletePaths) == 0 {
		return clean.None{}, nil
	}
	s3, err := s3Access(m.o, m.getenv)
	if err != nil {
		return nil, err
	}
	o := clean.AccessOptions{
		Folders: m.o.DeletePaths, Spare: m.spare(), S3: s3,
		GCS: files.S3{AccessKey: m.o.GCSAccessKey}, Azure: clean.Azure{Account: m.o.AzureAccount},
	}
	if m.o.GCSEndpoint != "" {
		o.GCS.Endpoint, o.GCS.Insecure = endpoint(m.o.GCSEndpoint)
		o.GCS.PathStyle = true // a bucket has no host's name there
	}
	for _, f := range []struct {
		name, path string
		secret     *string
	}{
		{"gcs-secret-file", m.o.GCSSecretFile, &o.GCS.SecretKey},
		{"azure-key-file", m.o.AzureKeyFile, &o.Azure.Key},
	} {
		if f.path == "" {
			continue
		}
		b, err := os.ReadFile(f.path)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", config.ErrConfig, f.name, err)
		}
		*f.secret = strings.TrimSpace(string(b))
	}
	set, err := clean.NewAccess(o)
	if err != nil {
		return nil, fmt.Errorf("%w: delete-paths: %w", config.ErrConfig, err)
	}
	return set, nil
}

// checks is fsck as a job: it looks, and repairs nothing.
type checks struct{ store *store.Store }

// Plan is Run: nothing is changed either way.
func (c checks) Plan(ctx context.Context, r *gc.Request) (gc.Result, error) { return c.Run(ctx, r) }

// Run checks the lake's metadata. What it finds is counted, and told in the notes.
func (c checks) Run(ctx context.Context, r *gc.Request) (res gc.Result, err error) {
	cat, err := c.store.Catalog(r.Catalog)
	if err != nil {
		return res, err
	}
	var rep *fsck.Report
	err = meta.Read(ctx, cat, func(txn *store.Txn) error {
		l, err := meta.Open(txn, r.Lake)
		if err != nil {
			return err
		}
		rep, err = fsck.Check(ctx, l.Source(), fsck.Options{Lake: r.Lake, Now: r.Now})
		return err
	})
	if err != nil {
		return res, err
	}
	res.Count("errors", rep.Errors)
	res.Count("warnings", rep.Warnings)
	res.Count("infos", rep.Infos)
	for i := range rep.Findings {
		f := &rep.Findings[i]
		res.Add(gc.Item{What: string(f.Code), Reason: f.Object + ": " + f.Message})
	}
	if rep.Errors+rep.Warnings > 0 {
		res.Note(`the lake is not healthy: "eider fsck" tells more, and may repair it`)
	}
	return res, nil
}

// policyDefaults are the defaults of policies that the server is configured with.
func policyDefaults(o *config.Options) gc.Defaults {
	return gc.Defaults{gc.NameDeletionGrace: gc.FormatDuration(o.DeletionGrace)}
}

// deletionGrace is the policy as a transaction finds it set. While one of the lake's
// policies cannot be read, nothing may be deleted: it may have been meant to keep more.
func deletionGrace(txn *store.Txn, lake string, defaults gc.Defaults) (time.Duration, error) {
	set, err := jobs.LoadPolicies(context.Background(), txn, defaults)
	if err != nil {
		return 0, err
	}
	p := set.For(lake)
	if len(p.Problems()) > 0 {
		return unreadableGrace, nil
	}
	return p.DeletionGrace(), nil
}

// readableGrace is deletionGrace for jobs, which end where a policy cannot be read.
func (m *maintenance) readableGrace(txn *store.Txn, lake string) (time.Duration, error) {
	g, err := deletionGrace(txn, lake, policyDefaults(m.o))
	if err == nil && g == unreadableGrace {
		err = fmt.Errorf("%w: one of lake %s cannot be read, so nothing is deleted", gc.ErrPolicy, lake)
	}
	return g, err
}

// quarantineKeep is the policy quarantine-keep as a transaction finds it set. While one of the
// lake's policies cannot be read, nothing is purged.
func (m *maintenance) quarantineKeep(txn *store.Txn, lake string) (time.Duration, error) {
	set, err := jobs.LoadPolicies(context.Background(), txn, policyDefaults(m.o))
	if err != nil {
		return 0, err
	}
	p := set.For(lake)
	if len(p.Problems()) > 0 {
		return 0, fmt.Errorf("%w: one of lake %s cannot be read, so nothing is deleted", gc.ErrPolicy, lake)
	}
	keep, _ := p.Quarantine()
	return keep, nil
}

// unreadableGrace is longer than anybody waits.
const unreadableGrace = 100 * 365 * 24 * time.Hour

// maintain runs the manager until stop is called, which waits for its end. Requests are taken
// when it returns.
func maintain(m *jobs.Manager) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.Run(ctx)
	}()
	<-m.Begun()
	return func() {
		cancel()
		<-done
	}
}
