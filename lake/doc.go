// Package lake is a typed read model of a DuckLake catalog: its snapshots, schemas,
// tables, columns, files, deletes and statistics as DuckLake's tables describe them
// (catalog versions 0.3 to 1.0).
//
// A Model is loaded from any Source of rows: a server over the PostgreSQL protocol
// (Eider's or PostgreSQL's own) or a store read in place. It holds all versions,
// live and ended; Live tells them apart at a snapshot.
package lake
