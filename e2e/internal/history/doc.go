// Package history checks what clients of a lake saw against what its concurrency model promises. Clients record their transactions; Check looks at
// the record afterwards and knows nothing of servers.
//
// The promises, each a property of the record:
//
//   - repeatable read: a transaction sees one snapshot, and every read of one thing gives the same until the transaction writes it;
//   - consistent cut: what it reads is exactly what the commits up to its snapshot left behind;
//   - real-time order: a transaction that begins after a commit was acknowledged sees that commit, and one that begins after another has read rows
//     never sees an older snapshot than that. The number of the head alone may be told ahead: a writer learns what it builds on while the commit
//     before it is on its way to the disk;
//   - monotone ids: no two commits have one snapshot id, ids follow the order of acknowledgements that do not overlap, and the time of a snapshot is
//     after that of the snapshot before;
//   - first committer wins: of two transactions that write one row and each of which did not see the other, one at most commits;
//   - no gap between premise and conflict window: whatever was committed between the snapshot that a transaction saw and its own commit is allowed
//     to stand there beside it.
package history
