// Command eider-worker does what needs a DuckDB: the part of a lake's maintenance that reads
// and writes its data. "eider maintain" starts it, so that a person sees one command.
//
// It is a client of the catalog like any other. It speaks only the public protocol and works
// on a PostgreSQL catalog too.
package main
