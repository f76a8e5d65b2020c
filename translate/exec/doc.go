// Package exec runs bound plans: scans, joins, aggregates, windows, sorts, set
// operations and the expressions in them, with PostgreSQL's semantics and a memory
// cap per statement.
package exec
