// Package run executes plans: one run of a script, a project in the order of what its scripts
// read, a backfill of partitions, a watch that runs what is due.
//
// DuckDB is an [Engine], which eider-worker provides; what is remembered is in package state, in
// the database of the lake that is written. A run holds its asset's lock from before its record
// says "running" until after it says how it ended.
package run
