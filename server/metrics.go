package server

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/store"
)

// Metrics counts what the server does, on a registry of its own. It is a store.Observer.
type Metrics struct {
	reg *prometheus.Registry

	accepted     prometheus.Counter
	authFailures prometheus.Counter
	panics       prometheus.Counter
	droppedNotes prometheus.Counter
	received     prometheus.Counter
	sent         prometheus.Counter
	copyRows     *prometheus.CounterVec
	statements   *prometheus.CounterVec
	durations    *prometheus.HistogramVec
	errors       *prometheus.CounterVec
	commits      *prometheus.CounterVec
	refused      *prometheus.CounterVec
	conflicts    *prometheus.CounterVec
	groups       *prometheus.CounterVec
	groupSize    prometheus.Histogram
	commitBytes  prometheus.Counter
	applies      *prometheus.HistogramVec
	attempts     *prometheus.CounterVec
	turnWaits    *prometheus.HistogramVec
	turnOverruns *prometheus.CounterVec
	headsTold    *prometheus.CounterVec
	turnHolders  *prometheus.GaugeVec
	judged       *prometheus.CounterVec
	findings     *prometheus.CounterVec

	kinds map[string]*kindMetrics // every kind; the children are made when they are needed
	live  *liveCollector
}

// kindMetrics are the children of one statement kind, looked up once.
type kindMetrics struct {
	once       sync.Once
	ok, failed prometheus.Counter
	seconds    prometheus.Observer
}

var (
	_ store.Observer     = (*Metrics)(nil)
	_ store.TurnObserver = (*Metrics)(nil)
)

// statementKinds are the values of the label kind: the first word of a command tag. What
// is not here is counted as OTHER, so that clients cannot make up label values.
var statementKinds = []string{
	"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "COPY", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT",
	"RELEASE", "SET", "RESET", "SHOW", "DISCARD", "CREATE", "ALTER", "DROP", "TRUNCATE", "EXPLAIN",
	"PREPARE", "EXECUTE", "DEALLOCATE", "DECLARE", "FETCH", "CLOSE", "LISTEN", "UNLISTEN", "NOTIFY",
	"CHECKPOINT", "COMMENT", "LOCK", "ANALYZE", "VACUUM", "GRANT", "REVOKE", "OTHER",
}

// NewMetrics makes the metrics and their registry.
func NewMetrics() *Metrics {
	m := &Metrics{reg: prometheus.NewRegistry()}
	counter := func(d Metric) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: d.Name, Help: d.Help})
		m.reg.MustRegister(c)
		return c
	}
	counterVec := func(d Metric) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.Name, Help: d.Help}, d.Labels)
		m.reg.MustRegister(c)
		return c
	}
	histogramVec := func(d Metric, buckets []float64) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: d.Name, Help: d.Help, Buckets: buckets}, d.Labels)
		m.reg.MustRegister(h)
		return h
	}
	seconds := prometheus.ExponentialBuckets(50e-6, 2.5, 14)
	m.accepted = counter(metricAccepted)
	m.authFailures = counter(metricAuthFailures)
	m.panics = counter(metricPanics)
	m.droppedNotes = counter(metricDroppedNotes)
	m.received = counter(metricReceived)
	m.sent = counter(metricSent)
	m.copyRows = counterVec(metricCopyRows)
	m.statements = counterVec(metricStatements)
	m.durations = histogramVec(metricDurations, seconds)
	m.errors = counterVec(metricErrors)
	m.commits = counterVec(metricCommits)
	m.refused = counterVec(metricRefused)
	m.conflicts = counterVec(metricConflicts)
	m.groups = counterVec(metricGroups)
	m.groupSize = histogramVec(metricGroupSize, prometheus.ExponentialBuckets(1, 2, 9)).WithLabelValues().(prometheus.Histogram)
	m.commitBytes = counter(metricCommitBytes)
	m.applies = histogramVec(metricApplies, seconds)
	m.attempts = counterVec(metricAttempts)
	m.turnWaits = histogramVec(metricTurnWaits, seconds)
	m.turnOverruns = counterVec(metricTurnOverruns)
	m.headsTold = counterVec(metricHeadsTold)
	m.judged = counterVec(metricJudged)
	m.findings = counterVec(metricFindings)
	m.turnHolders = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: metricTurnHolders.Name, Help: metricTurnHolders.Help}, metricTurnHolders.Labels)
	m.reg.MustRegister(m.turnHolders)
	m.kinds = make(map[string]*kindMetrics, len(statementKinds))
	for _, k := range statementKinds {
		m.kinds[k] = &kindMetrics{}
	}
	m.live = newLiveCollector()
	m.reg.MustRegister(m.live, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Registry is what /metrics shows. Others may register more.
func (m *Metrics) Registry() *prometheus.Registry { return m.reg }

// Finding counts a commit that violated a check.
func (m *Metrics) Finding(catalog, check, mode string) {
	m.findings.WithLabelValues(catalog, check, mode).Inc()
}

// Judged counts a verdict of the row-id hold.
func (m *Metrics) Judged(catalog string, tier int, outcome string) {
	m.judged.WithLabelValues(catalog, strconv.Itoa(tier), outcome).Inc()
}

// statement counts a statement that ended well.
func (m *Metrics) statement(tag string, took time.Duration) {
	word, rest, _ := strings.Cut(tag, " ")
	k := m.kind(word)
	k.ok.Inc()
	k.seconds.Observe(took.Seconds())
	if word == "COPY" {
		if n, err := strconv.ParseUint(rest, 10, 64); err == nil && n > 0 {
			m.copyRows.WithLabelValues().Add(float64(n))
		}
	}
}

// statementFailed counts one that ended with an error, by the first word of its text.
func (m *Metrics) statementFailed(text string, took time.Duration) {
	text = strings.TrimLeft(text, " \t\r\n(;")
	end := strings.IndexFunc(text, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') })
	if end < 0 {
		end = len(text)
	}
	word := ""
	if end <= 16 {
		word = strings.ToUpper(text[:end])
	}
	k := m.kind(word)
	k.failed.Inc()
	k.seconds.Observe(took.Seconds())
}

func (m *Metrics) kind(word string) *kindMetrics {
	k, ok := m.kinds[word]
	if !ok {
		word = "OTHER"
		k = m.kinds[word]
	}
	k.once.Do(func() {
		k.ok = m.statements.WithLabelValues(word, "ok")
		k.failed = m.statements.WithLabelValues(word, "error")
		k.seconds = m.durations.WithLabelValues(word)
	})
	return k
}

// failed counts an ErrorResponse.
func (m *Metrics) failed(code string) { m.errors.WithLabelValues(code).Inc() }

// CommitGroup counts a group commit.
func (m *Metrics) CommitGroup(catalog string, committed, refused, bytes int, synced bool, apply time.Duration) {
	sync := strconv.FormatBool(synced)
	m.commits.WithLabelValues(catalog).Add(float64(committed))
	m.refused.WithLabelValues(catalog).Add(float64(refused))
	m.groups.WithLabelValues(sync).Inc()
	m.groupSize.Observe(float64(committed))
	m.commitBytes.Add(float64(bytes))
	m.applies.WithLabelValues(sync).Observe(apply.Seconds())
}

// Conflict counts a transaction that lost against another.
func (m *Metrics) Conflict(catalog, kind string) { m.conflicts.WithLabelValues(catalog, kind).Inc() }

// CommitAttempt counts an attempt to commit a snapshot.
func (m *Metrics) CommitAttempt(catalog, outcome string) {
	m.attempts.WithLabelValues(catalog, outcome).Inc()
}

// TurnWait counts a wait for a turn.
func (m *Metrics) TurnWait(_ string, kind store.TurnKind, waited time.Duration) {
	m.turnWaits.WithLabelValues(string(kind)).Observe(waited.Seconds())
}

// TurnHeld counts the holders of turns.
func (m *Metrics) TurnHeld(_ string, kind store.TurnKind, change int) {
	m.turnHolders.WithLabelValues(string(kind)).Add(float64(change))
}

// HeadTold counts a head that was told before its commit.
func (m *Metrics) HeadTold(_, outcome string) { m.headsTold.WithLabelValues(outcome).Inc() }

// TurnOverrun counts a turn that was taken away.
func (m *Metrics) TurnOverrun(_ string, kind store.TurnKind) {
	m.turnOverruns.WithLabelValues(string(kind)).Inc()
}

// watch shows a server's sessions.
func (m *Metrics) watch(s *Server) {
	m.live.mu.Lock()
	defer m.live.mu.Unlock()
	m.live.servers = append(m.live.servers, s)
}

// WatchEngine shows a storage engine's counters.
func (m *Metrics) WatchEngine(read func() kv.Metrics) {
	m.live.mu.Lock()
	defer m.live.mu.Unlock()
	m.live.engine = read
}

// PlanCache is what a plan cache counts.
type PlanCache struct {
	Hits, Misses uint64
	Entries      int
}

// WatchPlanCache shows the plan cache's counters.
func (m *Metrics) WatchPlanCache(read func() PlanCache) {
	m.live.mu.Lock()
	defer m.live.mu.Unlock()
	m.live.plans = read
}

// liveCollector reads what is counted elsewhere when somebody asks.
type liveCollector struct {
	descs map[string]*prometheus.Desc

	mu      sync.Mutex
	servers []*Server
	engine  func() kv.Metrics
	plans   func() PlanCache
}

func newLiveCollector() *liveCollector {
	l := &liveCollector{descs: map[string]*prometheus.Desc{}}
	for _, d := range liveMetrics {
		l.descs[d.Name] = prometheus.NewDesc(d.Name, d.Help, d.Labels, nil)
	}
	return l
}

// Describe implements prometheus.Collector.
func (l *liveCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range l.descs {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (l *liveCollector) Collect(ch chan<- prometheus.Metric) {
	l.mu.Lock()
	servers, engine, plans := l.servers, l.engine, l.plans
	l.mu.Unlock()
	send := func(d Metric, v float64, labels ...string) {
		t := prometheus.GaugeValue
		if d.Type == "counter" {
			t = prometheus.CounterValue
		}
		ch <- prometheus.MustNewConstMetric(l.descs[d.Name], t, v, labels...)
	}
	var states [numStates]int
	for _, s := range servers {
		s.mu.Lock()
		for c := range s.mu.conns {
			states[c.state.Load()]++
		}
		s.mu.Unlock()
	}
	for i, name := range stateNames {
		send(metricSessions, float64(states[i]), name)
	}
	if plans != nil {
		p := plans()
		send(metricPlanHits, float64(p.Hits))
		send(metricPlanMisses, float64(p.Misses))
		send(metricPlanEntries, float64(p.Entries))
	}
	if engine != nil {
		e := engine()
		for _, v := range []struct {
			d Metric
			v float64
		}{
			{metricDisk, float64(e.DiskBytes)},
			{metricWAL, float64(e.WALBytes)},
			{metricFree, float64(e.FreeBytes)},
			{metricDiskFull, boolean(e.DiskFull)},
			{metricCacheBytes, float64(e.CacheBytes)},
			{metricCacheHits, float64(e.CacheHits)},
			{metricCacheMisses, float64(e.CacheMisses)},
			{metricMemtable, float64(e.MemtableBytes)},
			{metricCompactions, float64(e.Compactions)},
			{metricDebt, float64(e.CompactionDebt)},
			{metricFlushes, float64(e.Flushes)},
			{metricSnapshots, float64(e.Snapshots)},
			{metricReadAmp, float64(e.ReadAmplification)},
			{metricStalls, float64(e.WriteStalls)},
			{metricBackground, float64(e.BackgroundErrors)},
			{metricDiskFullRefusals, float64(e.DiskFullRefusals)},
			{metricRestarts, float64(e.Restarts)},
		} {
			send(v.d, v.v)
		}
	}
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
