package server

// Metric documents one metric. docs/reference/metrics.md is generated from these.
type Metric struct {
	Name   string
	Type   string // "counter", "gauge", "histogram"
	Labels []string
	Help   string
}

// stateNames are the values of the label state, by a connection's state.
var stateNames = [numStates]string{"starting", "active", "idle", "idle in transaction", "idle in transaction (aborted)"}

// What the server counts as it happens.
var (
	metricAccepted     = Metric{"eider_connections_total", "counter", nil, "Connections accepted, cancel requests and refused ones included."}
	metricAuthFailures = Metric{"eider_authentication_failures_total", "counter", nil, "Logins with a wrong password or an unknown user."}
	metricPanics       = Metric{"eider_panics_total", "counter", nil, "Connections closed because of a defect in the server. Anything but 0 deserves a report."}
	metricDroppedNotes = Metric{"eider_notifications_dropped_total", "counter", nil, "Notifications dropped because a client that listens did not read them."}
	metricReceived     = Metric{"eider_received_bytes_total", "counter", nil, "Bytes received from clients, after decryption."}
	metricSent         = Metric{"eider_sent_bytes_total", "counter", nil, "Bytes sent to clients, before encryption."}
	metricCopyRows     = Metric{"eider_copy_rows_total", "counter", nil, "Rows read and written by COPY."}
	metricStatements   = Metric{"eider_statements_total", "counter", []string{"kind", "result"}, "Statements by kind (the first word of the command tag) and result: ok or error."}
	metricDurations    = Metric{"eider_statement_seconds", "histogram", []string{"kind"}, "Time from a statement's beginning to its end, its rows sent."}
	metricErrors       = Metric{"eider_errors_total", "counter", []string{"sqlstate"}, "Errors sent to clients, by SQLSTATE."}
	metricCommits      = Metric{"eider_commits_total", "counter", []string{"catalog"}, "Transactions with writes that were committed."}
	metricRefused      = Metric{"eider_commits_refused_total", "counter", []string{"catalog"}, "Transactions with writes that were refused at COMMIT."}
	metricConflicts    = Metric{"eider_conflicts_total", "counter", []string{"catalog", "kind"}, "Transactions that lost against another one: on a row, a key (unique) or a table's definition (schema)."}
	metricGroups       = Metric{"eider_commit_groups_total", "counter", []string{"synced"}, "Group commits, by whether they waited for stable storage."}
	metricGroupSize    = Metric{"eider_commit_group_size", "histogram", nil, "Transactions written by one group commit."}
	metricCommitBytes  = Metric{"eider_commit_bytes_total", "counter", nil, "Bytes of committed write batches."}
	metricAttempts     = Metric{"eider_commit_attempts_total", "counter", []string{"catalog", "outcome"}, "Attempts to commit a DuckLake snapshot, by outcome: committed, or what the attempt lost a race for: snapshot (the next snapshot's id), row, schema."}
	metricTurnWaits    = Metric{"eider_commit_turn_wait_seconds", "histogram", []string{"kind"}, "Time that transactions waited for their turn: retry (a transaction that lost before), lease (a first attempt while losses are frequent), commit (a commit that lets a retry go first). Who did not wait is not counted."}
	metricHeadsTold    = Metric{"eider_commit_heads_told_total", "counter", []string{"outcome"}, "Heads told to a connection before they were committed, by what became of them: kept by a commit, filled by the server with a snapshot that changes nothing, dropped by the connection."}
	metricTurnOverruns = Metric{"eider_commit_turn_overruns_total", "counter", []string{"kind"}, "Turns taken away from their holder because somebody waited and the bound had passed."}
	metricTurnHolders  = Metric{"eider_commit_turn_holders", "gauge", []string{"kind"}, "Transactions that hold the turn of their catalog."}
	metricJudged       = Metric{"eider_hold_compactions_total", "counter", []string{"catalog", "tier", "outcome"}, "Compactions that the row-id hold has judged at COMMIT, by the tier that it came to and the outcome: right, wrong, or unread (files out of reach, as far as could be seen right). A commit that is tried again is judged again."}
	metricFindings     = Metric{"eider_findings_total", "counter", []string{"catalog", "check", "mode"}, "Commits to lakes that violated a check: refused (enforce) or let pass and recorded (warn)."}
	metricApplies      = Metric{"eider_commit_apply_seconds", "histogram", []string{"synced"}, "Time to write one group, fsync included where synced is true."}
)

// What is read from elsewhere when the metrics are asked for.
var (
	metricSessions    = Metric{"eider_sessions", "gauge", []string{"state"}, "Open connections by what they are doing."}
	metricPlanHits    = Metric{"eider_plan_cache_hits_total", "counter", nil, "Statements that found their plan."}
	metricPlanMisses  = Metric{"eider_plan_cache_misses_total", "counter", nil, "Statements that had to be planned."}
	metricPlanEntries = Metric{"eider_plan_cache_entries", "gauge", nil, "Plans kept."}

	metricDisk             = Metric{"eider_storage_disk_bytes", "gauge", nil, "Size of the data folder's files."}
	metricWAL              = Metric{"eider_storage_wal_bytes", "gauge", nil, "Size of the write-ahead log."}
	metricFree             = Metric{"eider_storage_free_bytes", "gauge", nil, "Free space on the data folder's device."}
	metricDiskFull         = Metric{"eider_storage_disk_full", "gauge", nil, "1 while writes are refused for lack of space (53100)."}
	metricCacheBytes       = Metric{"eider_storage_cache_bytes", "gauge", nil, "Bytes in the block cache."}
	metricCacheHits        = Metric{"eider_storage_cache_hits_total", "counter", nil, "Blocks found in the cache."}
	metricCacheMisses      = Metric{"eider_storage_cache_misses_total", "counter", nil, "Blocks read from files."}
	metricMemtable         = Metric{"eider_storage_memtable_bytes", "gauge", nil, "Writes that are not in table files yet."}
	metricCompactions      = Metric{"eider_storage_compactions_total", "counter", nil, "Compactions finished."}
	metricDebt             = Metric{"eider_storage_compaction_debt_bytes", "gauge", nil, "Bytes that wait to be compacted."}
	metricFlushes          = Metric{"eider_storage_flushes_total", "counter", nil, "Memtables written to files."}
	metricSnapshots        = Metric{"eider_storage_snapshots", "gauge", nil, "Open read views."}
	metricReadAmp          = Metric{"eider_storage_read_amplification", "gauge", nil, "Files and levels that a read may have to look at."}
	metricStalls           = Metric{"eider_storage_write_stalls_total", "counter", nil, "Times that writes waited for flushes or compactions."}
	metricBackground       = Metric{"eider_storage_background_errors_total", "counter", nil, "Failures of flushes and compactions."}
	metricDiskFullRefusals = Metric{"eider_storage_disk_full_refusals_total", "counter", nil, "Commits refused for lack of space."}
	metricRestarts         = Metric{"eider_storage_restarts_total", "counter", nil, "Reopenings of the files after a failed write."}
)

var countedMetrics = []Metric{
	metricAccepted, metricAuthFailures, metricPanics, metricDroppedNotes, metricReceived, metricSent, metricCopyRows,
	metricStatements, metricDurations, metricErrors, metricCommits, metricRefused, metricConflicts,
	metricGroups, metricGroupSize, metricCommitBytes, metricApplies,
	metricAttempts, metricTurnWaits, metricTurnOverruns, metricHeadsTold, metricTurnHolders, metricJudged, metricFindings,
}

var liveMetrics = []Metric{
	metricSessions, metricPlanHits, metricPlanMisses, metricPlanEntries, metricDisk, metricWAL, metricFree,
	metricDiskFull, metricCacheBytes, metricCacheHits, metricCacheMisses, metricMemtable, metricCompactions,
	metricDebt, metricFlushes, metricSnapshots, metricReadAmp, metricStalls, metricBackground,
	metricDiskFullRefusals, metricRestarts,
}

// MetricList is every metric of Eider's own, in the order of the reference.
func MetricList() []Metric {
	return append(append([]Metric{}, countedMetrics...), liveMetrics...)
}
