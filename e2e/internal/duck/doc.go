// Package duck gives the tests their clients: DuckDB 1.5.5 linked into the process, older and packaged builds of DuckDB in a Python process,
// and plain PostgreSQL connections. All of them render results as lines of text, the same way, so that results of two servers can be compared
// and written into scripts.
package duck
