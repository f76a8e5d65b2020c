// Package duration reads and writes lengths of time as people write them in policies,
// headers and schedules: 30s, 5m, 2h, 1d, 1w.
package duration
