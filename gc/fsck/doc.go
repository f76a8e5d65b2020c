// Package fsck tests the invariants of a healthy lake, and repairs what can be repaired
// without guessing.
//
// Check reads a lake.Source one row at a time and keeps little of each: see Bounds in
// docs/fsck.md for what a large lake costs. With a Files it looks at the lake's files too.
// What it finds has a stable code, a severity and, where there is one, a Repair: typed
// changes to rows that are made in one transaction. Run checks, hands repairs to a Writer,
// and checks again, until nothing is left that it can repair.
//
// The package knows no protocol: the server runs it on its own store, the command over
// connections.
package fsck
