// Package state is what the layer remembers: ordinary tables in the schema eider_materialize
// of the catalog database of the lake that is written, over the PostgreSQL protocol.
//
// A Store is one connection. It records runs and holds an asset's lock, which is the
// session's: a run whose process is gone has let go of it. A Source is a connection to a lake
// that is read; it says which tables have changed since a snapshot, and waits for commits.
package state
