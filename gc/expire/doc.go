// Package expire removes snapshots and the rows that only they see.
//
// The result is that of DuckLake's own ducklake_expire_snapshots, row for row. Which
// snapshots go is decided by pure code (Choose) from what policies ask for, what is pinned
// and what is tagged; which rows go follows from the snapshots that are left (sweep.Dead). The
// rest is a Runner, which works in transactions of some thousand rows.
//
// Snapshots go first, then the rows: a row that nobody can see harms nobody, a snapshot
// without its rows would. What a run leaves when it is ended between two transactions is
// found by the next one, which looks at the rows again whether or not snapshots go.
package expire
