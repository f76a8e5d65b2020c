// Package guard looks at commits that write to a lake, as the last thing before the
// commit sequencer. It reads what the transaction does as a conflict.Batch, amends what
// package conflict says must be amended, refuses what conflict refuses, in the mode that
// the catalog has set, and records what was let pass.
//
// What a commit pays depends on what it writes, never on the size of the lake: rows
// beside the batch are found by key. The exception are names, which are looked for among
// all tables and views when one is made or renamed, and inlined deletes, whose relation
// is read when delete files or compactions come; DuckLake's client reads both, too.
//
// The look is at the newest committed state. A commit that makes a snapshot cannot be
// overtaken by another one unseen, since both insert the same snapshot id. For all else
// the tables that the verdict rests on are watched: when the sequencer finds that one has
// changed meanwhile, the look is repeated on the newer state.
package guard
