// Package duck opens the DuckDB that is linked into the worker, loads the extensions that a
// lake needs and attaches the lake, as any other client of its catalog does.
//
// The worker's part of a lake is one connection of one instance: DuckDB's settings are the
// instance's, so a setting made here is seen by nobody else and ends with the process.
package duck
