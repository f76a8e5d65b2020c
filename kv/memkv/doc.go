// Package memkv is the in-memory kv.Engine: a copy-on-write B-tree. Snapshots are
// copies in O(1). It is what temporary tables and tests use, and it passes the same
// conformance suite as the engine on disk. Nothing survives Close.
package memkv
