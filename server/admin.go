package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Admin is the HTTP endpoint for operators: /metrics, /healthz, /readyz and, where asked
// for, /debug/pprof. It has no authentication and belongs on an address that only
// operators reach.
type Admin struct {
	srv *http.Server
}

// NewAdmin makes the endpoint of a server. healthy, when set, adds a reason why the
// process should be restarted.
func NewAdmin(s *Server, m *Metrics, healthy func() error, withPprof bool) *Admin {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.Registry(), promhttp.HandlerOpts{EnableOpenMetrics: true}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if healthy != nil {
			if err := healthy(); err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
		}
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !s.Ready() {
			http.Error(w, "not serving clients", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	if withPprof {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	return &Admin{srv: &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}}
}

// Serve answers requests on l until Close; it returns http.ErrServerClosed then.
func (a *Admin) Serve(l net.Listener) error { return a.srv.Serve(l) }

// Close stops the endpoint, letting running requests finish until ctx ends.
func (a *Admin) Close(ctx context.Context) error {
	if err := a.srv.Shutdown(ctx); err != nil {
		return a.srv.Close()
	}
	return nil
}
