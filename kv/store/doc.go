// Package store keeps catalogs in a kv.Engine: descriptors of schemas and tables, rows,
// indexes, transactions over snapshots, and the commit sequencer that makes them
// durable in an order.
//
// A Txn buffers its writes in a copy-on-write overlay over an engine snapshot. Commit
// hands it to its catalog's sequencer, which checks what the transaction assumed
// against the newest state and writes a group of transactions with one sync.
//
// A Txn is used by one goroutine at a time. Descriptors (*rel.Table, *rel.Schema) are
// immutable. Tuples from a RowIter are valid until its next Next or Close; tuples
// from Get belong to the caller. Tuples given to Insert, Update and Delete are copied.
package store
