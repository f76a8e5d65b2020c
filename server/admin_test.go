package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/store"
)

// testValue is a metric's value, summed over its labels.
func testValue(t testing.TB, m *Metrics, name string) float64 {
	t.Helper()
	families, err := m.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, x := range f.GetMetric() {
			sum += x.GetCounter().GetValue() + x.GetGauge().GetValue() + float64(x.GetHistogram().GetSampleCount())
		}
	}
	return sum
}

func TestAdmin(t *testing.T) {
	t.Parallel()
	m := NewMetrics()
	s := start(t, Options{Metrics: m})
	sick := errors.New("sick")
	var health error
	a := NewAdmin(s.Server, m, func() error { return health }, true)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- a.Serve(l) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	get := func(path string) (int, string) {
		t.Helper()
		r, err := client.Get("http://" + l.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(b)
	}
	if code, _ := get("/healthz"); code != http.StatusOK {
		t.Errorf("healthz %d", code)
	}
	health = sick
	if code, text := get("/healthz"); code != http.StatusServiceUnavailable || !strings.Contains(text, "sick") {
		t.Errorf("healthz %d %s", code, text)
	}
	if code, _ := get("/readyz"); code != http.StatusOK {
		t.Errorf("readyz %d", code)
	}
	if code, _ := get("/debug/pprof/"); code != http.StatusOK {
		t.Errorf("pprof %d", code)
	}

	c := s.connect(t)
	c.query("BEGIN; SELECT 1; COPYOUT 3; FAIL")
	c.expect("C:BEGIN T D:1 C:SELECT_1 H d:20000 d:20000 d:20000 c C:COPY_3 E:42P01 Z:E")
	m.CommitGroup("lake", 3, 1, 100, true, time.Millisecond)
	m.Conflict("lake", "row")
	m.CommitAttempt("lake", "committed")
	m.TurnWait("lake", store.TurnRetry, time.Millisecond)
	m.TurnHeld("lake", store.TurnRetry, 1)
	m.TurnOverrun("lake", store.TurnRetry)
	m.HeadTold("lake", "kept")
	m.Finding("lake", "negative", "warn")
	m.Judged("lake", 2, "right")
	m.WatchEngine(func() kv.Metrics { return kv.Metrics{DiskBytes: 77, DiskFull: true} })
	m.WatchPlanCache(func() PlanCache { return PlanCache{Hits: 5} })
	_, text := get("/metrics")
	for _, want := range []string{
		`eider_statements_total{kind="BEGIN",result="ok"} 1`,
		`eider_statements_total{kind="BEGIN",result="error"} 1`,
		`eider_errors_total{sqlstate="42P01"} 1`,
		`eider_copy_rows_total 3`,
		`eider_sessions{state="idle in transaction (aborted)"} 1`,
		`eider_commits_total{catalog="lake"} 3`,
		`eider_conflicts_total{catalog="lake",kind="row"} 1`,
		`eider_commit_group_size_count 1`,
		`eider_storage_disk_bytes 77`,
		`eider_storage_disk_full 1`,
		`eider_plan_cache_hits_total 5`,
		`go_goroutines`,
		`process_open_fds`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("/metrics has no %s", want)
		}
	}
	// The client may have its answer before the server has counted it.
	for end := time.Now().Add(10 * time.Second); testValue(t, m, "eider_sent_bytes_total") < 60_000 && time.Now().Before(end); {
		runtime.Gosched()
	}
	if testValue(t, m, "eider_sent_bytes_total") < 60_000 || testValue(t, m, "eider_received_bytes_total") < 40 {
		t.Error("traffic is not counted")
	}
	families, err := m.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	if problems, err := promlint.NewWithMetricFamilies(families).Lint(); err != nil || len(problems) != 0 {
		t.Errorf("lint: %v, %v", problems, err)
	}
	s.Close()
	if code, _ := get("/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("readyz %d", code)
	}
	if err := a.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// The list of metrics that is documented is what is registered.
func TestMetricList(t *testing.T) {
	t.Parallel()
	m := NewMetrics()
	m.WatchEngine(func() kv.Metrics { return kv.Metrics{} })
	m.WatchPlanCache(func() PlanCache { return PlanCache{} })
	m.CommitGroup("c", 1, 1, 1, true, 0)
	m.Conflict("c", "row")
	m.CommitAttempt("lake", "committed")
	m.TurnWait("lake", store.TurnRetry, time.Millisecond)
	m.TurnHeld("lake", store.TurnRetry, 1)
	m.TurnOverrun("lake", store.TurnRetry)
	m.HeadTold("lake", "kept")
	m.Finding("lake", "negative", "warn")
	m.Judged("lake", 2, "right")
	m.failed("XX000")
	m.statement("COPY 1", 0)
	New(Options{Metrics: m})
	families, err := m.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "eider_") {
			got = append(got, f.GetName()+" "+strings.ToLower(f.GetType().String()))
		}
	}
	for _, d := range MetricList() {
		want = append(want, d.Name+" "+d.Type)
		if !strings.HasSuffix(d.Help, ".") {
			t.Errorf("%s: help %q", d.Name, d.Help)
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("registered %v\ndocumented %v", got, want)
	}
}
