// Package maintain does the part of a lake's maintenance that only DuckDB can do: it flushes
// inlined data into files, merges small files by tiers of their sizes, and rewrites files of
// which much is deleted. On request it also asks for the rest (expiry, cleanup, orphans) at
// its place in the order that DuckLake recommends.
//
// Plan is pure: from what the catalog says of each table (State) and the options it makes
// the steps of a phase. Run reads the state before every phase, does the steps one after the
// other, each in a transaction of its own, and reports each. Between two steps a run may end
// at any time: each leaves the lake as healthy as it was, and nothing of the run is kept
// anywhere, so that the next one goes on from what it finds.
//
// The size of merged files is set for DuckDB's own process (ducklake_target_file_size, which
// goes before the lake's options), never in the catalog. A run that is killed has nothing to
// restore.
package maintain
