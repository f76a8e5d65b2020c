// Package storm drives many writers at once against a DuckLake catalog and keeps account of what they did: latencies, attempts, failures, and for
// every acknowledged commit what it must have left behind.
//
// There are two kinds of writers: Raw speaks the wire protocol itself and sends the batch that DuckLake would send, so that the server is measured
// and not the client; Duck is a real DuckDB.
package storm
