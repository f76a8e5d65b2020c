// Package clean deletes the files of lakes: those whose scheduled time has passed (Cleanup),
// and those that nothing names (Orphans). Nothing else in the server removes a file of a
// lake. What must hold, in every run, however it ends:
//
//  1. No file goes that a row of any lake of the server names, live or kept for older
//     snapshots, in the newest state or in a state that an open transaction still reads. Names
//     are compared by package paths, and on disks by the identity of the file as well.
//  2. No file goes before its name is in the deletion schedule, committed, and due, and
//     nothing of 1 was seen after that: while a name is there, its lake registers it no more. An
//     orphan is put there first (see orphanID). So the schedule is the lock, for one lake.
//     What other lakes, other catalogs and other spellings name is looked at once more right
//     before each chunk goes, as far as it was committed meanwhile (see watch).
//     When a file is due the stored policies say; a request can only ask for longer. The rule by
//     which the commit will be judged that removes the row is asked before the bytes go (Fence.Early).
//  3. No file goes that may be one that somebody is writing: an orphan is older than
//     the minimum age, and than every transaction that is open, or has been until shortly before.
//     An object is listed before the transactions are looked at, and these before the catalogs.
//  4. Nothing goes outside the folders that the operator named, nor in the store's own folder,
//     nor in a folder of another lake. On disks only regular files go, and no link is followed to one.
//  5. What cannot be known is kept: a name that does not resolve keeps every object that may
//     be meant; a name that may be any object keeps all; a table of an unknown shape or a catalog that
//     cannot be read ends the run. A listing that breaks off has only named fewer orphans.
//  6. Bytes go first, then the row of the schedule; a missing file is a success. A run
//     that is killed leaves names in the schedule whose files are gone or still there, and the next
//     run goes on with both. A file that goes into quarantine has its row in eider.quarantine
//     before it moves.
//  7. A dry run takes the same decisions by the same code, and stops before the first write.
//
// What remains: between that last look and the deletion of the chunk (the time of one
// request, or of a thousand unlinks) another lake may still commit the name of a scheduled file. A
// row that names a file of a disk by a link is found by the look at the start of the round,
// not by the last one. A policy that is made longer in that moment makes the commit refuse to remove the
// row of a file that has gone; the row stays, and goes when it is due again.
//
// Where the server may not delete (ErrNoAccess) the name stays in the schedule and the result
// lists it as left to the client, whose own cleanup finds it there.
package clean
