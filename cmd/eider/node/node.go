package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/eiderdb/eider/cmd/eider/config"
	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/gc/sqlface"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/server"
	"github.com/eiderdb/eider/server/users"
	"github.com/eiderdb/eider/translate"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/guard"
)

// Node is a running server.
type Node struct {
	opts      config.Options
	log       *slog.Logger
	metrics   *server.Metrics
	srv       *server.Server
	admin     *server.Admin
	addrs     []net.Addr
	adminAddr net.Addr
	store     *store.Store
	ready     bool // Start went well
	stopJobs  func()

	wg     sync.WaitGroup
	failed chan error // a listener that ended by itself
}

// Start opens everything. Clients are answered from the moment the ports are open, with
// 57P03 until the store is.
func Start(ctx context.Context, o *config.Loaded, log *slog.Logger, version string) (_ *Node, err error) {
	n := &Node{opts: o.Options, log: log, metrics: server.NewMetrics(), failed: make(chan error, 1)}
	so := server.Options{
		RequireTLS:       o.RequireTLS,
		MaxConnections:   o.MaxConnections,
		MaxMessage:       int(o.MaxMessage),
		MaxNotifications: o.MaxNotifications,
		StartupTimeout:   o.StartupTimeout,
		DrainTimeout:     o.DrainTimeout,
		Logger:           log,
		LogStatements:    o.LogStatements,
		SlowStatement:    o.LogSlowStatement,
		Metrics:          n.metrics,
	}
	if o.UserFile != "" {
		if so.Users, err = users.Open(o.UserFile); err != nil {
			return nil, err
		}
	}
	if o.TLSCert != "" {
		if so.TLS, err = loadTLS(o.TLSCert, o.TLSKey); err != nil {
			return nil, err
		}
	}
	n.srv = server.New(so)
	defer func() {
		if err != nil {
			n.Stop(ctx)
		}
	}()
	if err := n.listen(o); err != nil {
		return nil, err
	}
	began := time.Now()
	n.store, err = OpenStore(ctx, &o.Options, log, n.metrics)
	if err != nil {
		return nil, err
	}
	rowIDs, err := newHold(&o.Options, os.Getenv, log)
	if err != nil {
		return nil, err
	}
	var shared *translate.Shared
	writing := func() time.Time { return shared.Writing(time.Now()) }
	checks := newGuard(&o.Options, log, n.metrics, rowIDs, writing)
	upkeep := &maintenance{
		o: &o.Options, getenv: os.Getenv, log: log, metrics: n.metrics, store: n.store, guard: checks,
		writing: writing,
	}
	jobs, err := upkeep.manager()
	if err != nil {
		return nil, err
	}
	shared = translate.NewShared(translate.SharedOptions{
		PlanCacheEntries: planCache(o.PlanCache), Migrations: migrations(&o.Options, n.store), Rebase: o.Rebase,
		Funcs: slices.Concat(sqlface.Funcs(jobs), sqlface.QuarantineFuncs(upkeep.cleaner, time.Now), []exec.Func{sqlface.ManifestFunc(upkeep)}),
	})
	n.metrics.WatchPlanCache(func() server.PlanCache {
		s := shared.PlanStats()
		return server.PlanCache{Hits: s.Hits, Misses: s.Misses, Entries: s.Entries}
	})
	deps := translate.Deps{
		Guard: checks,
		Store: n.store, Shared: shared, Logger: log, Version: version, Signal: n.srv.Signal,
		Limits: translate.Limits{StatementMemory: int64(o.StatementMemory)},
	}
	n.srv.SetBackend(server.BackendFunc(func(_ context.Context, so translate.SessionOptions) (server.Session, error) {
		s, err := translate.NewSession(deps, so)
		if err != nil {
			return nil, err
		}
		return s, nil
	}))
	n.stopJobs = maintain(jobs)
	args := []any{"version", version, "listen", n.Addrs(), "opened_in", time.Since(began).Round(time.Microsecond)}
	if n.adminAddr != nil {
		args = append(args, "admin", n.adminAddr.String())
	}
	if o.Engine != "memory" {
		args = append(args, "data", o.Data)
	}
	n.ready = true
	log.Info("ready", args...)
	if o.UserFile != "" && so.TLS == nil && !allLoopback(o.Listen) {
		log.Warn("connections from other machines are not encrypted: set --tls-cert and --tls-key")
	}
	if !o.Fsync {
		log.Warn("fsync is off: a crash of the machine loses acknowledged commits")
	}
	return n, nil
}

// newGuard makes what looks at commits to lakes.
func newGuard(o *config.Options, log *slog.Logger, m *server.Metrics, rowIDs *guard.Hold, writing func() time.Time) *guard.Guard {
	mode, _ := conflict.ParseMode(o.Checks) // one of the choices
	return guard.New(guard.Options{
		Logger: log, Default: mode, Hold: rowIDs, DeletionGrace: (&graces{log: log, defaults: policyDefaults(o)}).of, Writing: writing,
		Found: func(catalog string, code conflict.Code, mode conflict.Mode) {
			m.Finding(catalog, string(code), mode.String())
		},
		Judged: m.Judged,
	})
}

// planCache turns the option's 0, no cache, into the negative number that means it below.
func planCache(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

func allLoopback(addrs []string) bool {
	for _, a := range addrs {
		if local, err := config.IsLoopback(a); err != nil || !local {
			return false
		}
	}
	return true
}

// listen opens the ports and serves them.
func (n *Node) listen(o *config.Loaded) error {
	for _, addr := range o.Listen {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return listenError("listen", addr, err)
		}
		n.serve(l)
	}
	if o.UnixSocket != "" {
		l, err := listenUnix(o.UnixSocket)
		if err != nil {
			return err
		}
		n.serve(l)
	}
	if o.AdminListen == "" {
		return nil
	}
	l, err := net.Listen("tcp", o.AdminListen)
	if err != nil {
		// Nobody asked for this address: a second server on a machine does without.
		if errors.Is(err, syscall.EADDRINUSE) && o.Sources["admin-listen"] == config.FromDefault {
			n.log.Warn("no operators' endpoint, its default address is in use: set --admin-listen", "address", o.AdminListen)
			return nil
		}
		return listenError("admin-listen", o.AdminListen, err)
	}
	n.adminAddr = l.Addr()
	n.admin = server.NewAdmin(n.srv, n.metrics, nil, o.Pprof)
	n.wg.Go(func() {
		if err := n.admin.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			n.fail(fmt.Errorf("operators' endpoint: %w", err))
		}
	})
	return nil
}

// listenError says why an address cannot be listened on, and what to do.
func listenError(flag, addr string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("port of %s is in use: another server runs there; choose another with --%s", addr, flag)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("this machine has no address %s; choose another with --%s", addr, flag)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("this user may not listen on %s; choose another port, above 1023, with --%s", addr, flag)
	}
	return fmt.Errorf("%s: %w", flag, err)
}

func (n *Node) serve(l net.Listener) {
	n.addrs = append(n.addrs, l.Addr())
	n.wg.Go(func() {
		if err := n.srv.Serve(l); !errors.Is(err, server.ErrServerClosed) {
			n.fail(err)
		}
	})
}

func (n *Node) fail(err error) {
	select {
	case n.failed <- err:
	default:
	}
}

// listenUnix opens a unix socket, in the place of one that a dead server left.
func listenUnix(path string) (net.Listener, error) {
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return nil, fmt.Errorf("unix-socket: another server listens on %s", path)
	} else if errors.Is(err, syscall.ECONNREFUSED) {
		os.Remove(path)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("unix-socket: %w; its folder must be there, and this user able to write to it", err)
	}
	return l, nil
}

// Addrs are the addresses where clients are served.
func (n *Node) Addrs() []string {
	out := make([]string, len(n.addrs))
	for i, a := range n.addrs {
		out[i] = a.String()
	}
	return out
}

// AdminAddr is the address of the operators' endpoint, "" when there is none.
func (n *Node) AdminAddr() string {
	if n.adminAddr == nil {
		return ""
	}
	return n.adminAddr.String()
}

// Failed yields an error if a part of the node stops by itself.
func (n *Node) Failed() <-chan error { return n.failed }

// Stop ends the node: clients first, then the store, the operators' endpoint last. When
// ctx ends, running statements are cancelled.
func (n *Node) Stop(ctx context.Context) error {
	began := time.Now()
	err := n.srv.Shutdown(ctx)
	if err != nil {
		n.log.Warn("statements were cancelled because the shutdown took too long", "after", time.Since(began).Round(time.Millisecond))
	}
	if n.stopJobs != nil {
		n.stopJobs()
	}
	var serr error
	if n.store != nil {
		serr = n.store.Close()
	}
	if n.admin != nil {
		actx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		n.admin.Close(actx)
	}
	n.wg.Wait()
	if serr != nil {
		return fmt.Errorf("close the store: %w", serr)
	}
	if n.ready { // otherwise the error of the start says it all
		n.log.Info("stopped", "took", time.Since(began).Round(time.Millisecond))
	}
	return nil
}
