package jobs

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/eiderdb/eider/gc"
)

// Metric documents one metric.
type Metric struct {
	Name   string
	Type   string // "counter", "gauge", "histogram"
	Labels []string
	Help   string
}

// What jobs do.
var (
	metricJobs     = Metric{"eider_gc_jobs_total", "counter", []string{"catalog", "kind", "state"}, "Maintenance jobs that have ended, by state: done, failed, stopped, cancelled, interrupted. Dry runs are not counted."}
	metricSeconds  = Metric{"eider_gc_job_seconds", "histogram", []string{"kind"}, "Time that maintenance jobs took."}
	metricRunning  = Metric{"eider_gc_jobs_running", "gauge", []string{"catalog", "kind"}, "Maintenance jobs at work: one in a catalog at most."}
	metricLast     = Metric{"eider_gc_last_done_timestamp_seconds", "gauge", []string{"catalog", "lake", "kind"}, "When a job of the kind was last done. Dry runs count where the policies ask for them. Alert when it is too long ago."}
	metricItems    = Metric{"eider_gc_items_total", "counter", []string{"catalog", "kind", "what"}, "What jobs have removed, or found, by what it was."}
	metricBytes    = Metric{"eider_gc_bytes_total", "counter", []string{"catalog", "kind"}, "Bytes of the files that jobs have removed, or released for cleanup."}
	metricDeferred = Metric{"eider_gc_deferred", "gauge", []string{"catalog", "lake", "kind"}, "What the last job left for the next because somebody still holds it."}
	metricPaused   = Metric{"eider_gc_paused", "gauge", []string{"catalog", "kind"}, "1 while maintenance is paused; kind is empty for all."}
	metricProblems = Metric{"eider_gc_policy_problems", "gauge", []string{"catalog"}, "Rows of eider.policies that cannot be read. Nothing runs on the lakes that they cover."}
)

// What lakes hold, by names that other tools for DuckLake use as well.
var (
	byLake = []string{"catalog", "lake"}

	metricMeasured  = Metric{"eider_lake_measured_timestamp_seconds", "gauge", byLake, "When the lake was measured last. The metrics ducklake_* are as of then."}
	metricComplete  = Metric{"eider_lake_measure_complete", "gauge", byLake, "0 when a table has more rows than a measurement reads: counts are lower bounds then, and orphans are not counted."}
	metricSnaps     = Metric{"ducklake_snapshots_count", "gauge", byLake, "Snapshots."}
	metricOldestID  = Metric{"ducklake_snapshots_oldest_id", "gauge", byLake, "Id of the oldest snapshot."}
	metricNewestID  = Metric{"ducklake_snapshots_newest_id", "gauge", byLake, "Id of the newest snapshot."}
	metricOldestAge = Metric{"ducklake_snapshots_oldest_seconds_ago", "gauge", byLake, "Age of the oldest snapshot, when the lake was measured."}
	metricNewestAge = Metric{"ducklake_snapshots_newest_seconds_ago", "gauge", byLake, "Age of the newest snapshot, when the lake was measured."}
	metricPending   = Metric{"ducklake_pending_deletes_total", "gauge", byLake, "Files scheduled for deletion."}
	metricPaths     = Metric{"ducklake_pending_deletes_unique_paths", "gauge", byLake, "Different paths among them."}
	metricDups      = Metric{"ducklake_pending_deletes_dup_rows", "gauge", byLake, "Rows among them whose path another row has as well."}
	metricTables    = Metric{"ducklake_tables_count", "gauge", []string{"catalog", "lake", "state"}, "Tables by state: current, or ended (there for old snapshots)."}
	metricFiles     = Metric{"ducklake_data_files_files", "gauge", byLake, "Current data files."}
	metricFileBytes = Metric{"ducklake_data_files_bytes", "gauge", byLake, "Bytes in them."}
	metricFileRows  = Metric{"ducklake_data_files_rows", "gauge", byLake, "Rows in them."}
	metricEnded     = Metric{"ducklake_ended_data_files_files", "gauge", byLake, "Data files that are there for old snapshots only."}
	metricEndedB    = Metric{"ducklake_ended_data_files_bytes", "gauge", byLake, "Bytes in them."}
	metricDeletes   = Metric{"ducklake_delete_files_files", "gauge", byLake, "Current delete files."}
	metricDeletesB  = Metric{"ducklake_delete_files_bytes", "gauge", byLake, "Bytes in them."}
	metricDeletesR  = Metric{"ducklake_delete_files_rows", "gauge", byLake, "Rows that they delete."}
	metricInlined   = Metric{"ducklake_inlined_data_tables_total", "gauge", byLake, "Relations of inlined rows."}
	metricLeaked    = Metric{"ducklake_unreachable_inline_tables_total", "gauge", byLake, "Those of tables that are gone."}
	metricStats     = Metric{"ducklake_stats_rows_total", "gauge", []string{"catalog", "lake", "stats_table"}, "Rows of a table of statistics."}
	metricOrphaned  = Metric{"ducklake_stats_rows_orphaned", "gauge", []string{"catalog", "lake", "stats_table"}, "Those of files or tables that are gone."}
	metricVersion   = Metric{"ducklake_catalog_format_version", "gauge", []string{"catalog", "lake", "version"}, "1, with the version of the lake's format."}
)

// MetricList is every metric of the package, in the order of the reference.
func MetricList() []Metric {
	return []Metric{
		metricJobs, metricSeconds, metricRunning, metricLast, metricItems, metricBytes, metricDeferred, metricPaused, metricProblems,
		metricMeasured, metricComplete, metricSnaps, metricOldestID, metricNewestID, metricOldestAge, metricNewestAge,
		metricPending, metricPaths, metricDups, metricTables, metricFiles, metricFileBytes, metricFileRows, metricEnded, metricEndedB,
		metricDeletes, metricDeletesB, metricDeletesR, metricInlined, metricLeaked, metricStats, metricOrphaned, metricVersion,
	}
}

// Metrics counts what jobs do and shows what lakes hold. A nil Metrics counts nothing.
type Metrics struct {
	jobs    *prometheus.CounterVec
	seconds *prometheus.HistogramVec
	items   *prometheus.CounterVec
	bytes   *prometheus.CounterVec
	gauges  map[string]*prometheus.GaugeVec
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{gauges: map[string]*prometheus.GaugeVec{}}
	counter := func(d Metric) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.Name, Help: d.Help}, d.Labels)
	}
	m.jobs, m.items, m.bytes = counter(metricJobs), counter(metricItems), counter(metricBytes)
	m.seconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: metricSeconds.Name, Help: metricSeconds.Help, Buckets: prometheus.ExponentialBuckets(0.01, 4, 12),
	}, metricSeconds.Labels)
	reg.MustRegister(m.jobs, m.items, m.bytes, m.seconds)
	for _, d := range MetricList() {
		if d.Type == "gauge" {
			m.gauges[d.Name] = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: d.Name, Help: d.Help}, d.Labels)
			reg.MustRegister(m.gauges[d.Name])
		}
	}
	return m
}

func (m *Metrics) set(d Metric, v float64, labels ...string) {
	m.gauges[d.Name].WithLabelValues(labels...).Set(v)
}

func (m *Metrics) begin(catalog string, e *Entry) {
	if m != nil {
		m.set(metricRunning, 1, catalog, string(e.Kind))
	}
}

func (m *Metrics) over(catalog string, e *Entry) {
	if m != nil {
		m.set(metricRunning, 0, catalog, string(e.Kind))
	}
}

func (m *Metrics) ended(catalog string, e *Entry) {
	if m == nil {
		return
	}
	if e.State == Done && (!e.DryRun || e.AskedBy == gc.Scheduler) {
		m.last(catalog, lakeKind{e.Lake, e.Kind}, e.Ended)
	}
	if e.DryRun {
		return
	}
	m.jobs.WithLabelValues(catalog, string(e.Kind), string(e.State)).Inc()
	for what, n := range e.Result.Counts {
		m.items.WithLabelValues(catalog, string(e.Kind), what).Add(float64(max(n, 0)))
	}
	m.bytes.WithLabelValues(catalog, string(e.Kind)).Add(float64(max(e.Result.Bytes, 0)))
	if !e.Started.IsZero() {
		m.seconds.WithLabelValues(string(e.Kind)).Observe(e.Ended.Sub(e.Started).Seconds())
	}
	m.set(metricDeferred, float64(e.Result.Deferred), catalog, e.Lake, string(e.Kind))
}

// last tells when a kind of job was done; the zero time is never.
func (m *Metrics) last(catalog string, k lakeKind, at time.Time) {
	if m != nil && !at.IsZero() {
		m.set(metricLast, unix(at), catalog, k.lake, string(k.kind))
	}
}

func unix(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

func (m *Metrics) pauses(catalog string, list []Pause) {
	if m == nil {
		return
	}
	for _, k := range append([]gc.Kind{""}, gc.Kinds()...) {
		v := 0.0
		for _, p := range list {
			if p.Kind == k {
				v = 1
			}
		}
		m.set(metricPaused, v, catalog, string(k))
	}
}

func (m *Metrics) problems(catalog string, n int) {
	if m != nil {
		m.set(metricProblems, float64(n), catalog)
	}
}

func (m *Metrics) measured(catalog, lake string, x *Measure) {
	if m == nil {
		return
	}
	complete := 0.0
	if x.Complete {
		complete = 1
	}
	ago := func(t time.Time) float64 {
		if t.IsZero() {
			return 0
		}
		return max(x.At.Sub(t).Seconds(), 0)
	}
	for _, g := range []struct {
		d Metric
		v float64
	}{
		{metricMeasured, unix(x.At)},
		{metricComplete, complete},
		{metricSnaps, float64(x.Snapshots)},
		{metricOldestID, float64(x.OldestID)},
		{metricNewestID, float64(x.NewestID)},
		{metricOldestAge, ago(x.Oldest)},
		{metricNewestAge, ago(x.Newest)},
		{metricPending, float64(x.Scheduled)},
		{metricPaths, float64(x.ScheduledPaths)},
		{metricDups, float64(x.Scheduled - x.ScheduledPaths)},
		{metricFiles, float64(x.Files)},
		{metricFileBytes, float64(x.FileBytes)},
		{metricFileRows, float64(x.FileRows)},
		{metricEnded, float64(x.EndedFiles)},
		{metricEndedB, float64(x.EndedBytes)},
		{metricDeletes, float64(x.DeleteFiles)},
		{metricDeletesB, float64(x.DeleteBytes)},
		{metricDeletesR, float64(x.DeletedRows)},
		{metricInlined, float64(x.InlinedTables)},
		{metricLeaked, float64(x.UnreachableInlined)},
	} {
		m.set(g.d, g.v, catalog, lake)
	}
	m.set(metricTables, float64(x.Tables), catalog, lake, "current")
	m.set(metricTables, float64(x.EndedTables), catalog, lake, "ended")
	for _, s := range []struct {
		table         string
		all, orphaned int64
	}{
		{"ducklake_file_column_stats", x.FileStats, x.FileStatsOrphaned},
		{"ducklake_table_column_stats", x.TableStats, x.TableStatsOrphaned},
		{"ducklake_file_partition_value", x.PartitionValues, x.PartitionValuesOrphan},
	} {
		m.set(metricStats, float64(s.all), catalog, lake, s.table)
		m.set(metricOrphaned, float64(s.orphaned), catalog, lake, s.table)
	}
	m.gauges[metricVersion.Name].DeletePartialMatch(prometheus.Labels{"catalog": catalog, "lake": lake})
	m.set(metricVersion, 1, catalog, lake, x.Version)
}

// forget drops what is shown of a catalog that is gone.
func (m *Metrics) forget(catalog string) { m.drop(prometheus.Labels{"catalog": catalog}) }

// forgetLake drops what is shown of a lake that is gone.
func (m *Metrics) forgetLake(catalog, lake string) {
	m.drop(prometheus.Labels{"catalog": catalog, "lake": lake})
}

func (m *Metrics) drop(l prometheus.Labels) {
	if m == nil {
		return
	}
	for _, g := range m.gauges {
		g.DeletePartialMatch(l)
	}
}
