// Package kv is Eider's ordered key-value engine interface and its errors. Keys are
// compared as bytes. An engine holds one flat key space; kv/store divides it into
// catalogs, descriptors, rows and index entries.
//
// Lifetime of returned slices: Get on an engine, a snapshot or a batch copies, the
// caller owns the result. Iterator.Key and Iterator.Value alias engine memory and
// are valid until the next positioning call or Close; whoever keeps them copies.
// Slices handed to a batch are copied by it.
package kv
