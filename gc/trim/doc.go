// Package trim removes metadata that nothing needs: statistics and values of files that do
// not exist, rows of tables that do not exist, rows that have ended and that no snapshot sees,
// relations of inlined rows that are empty and superseded or that nobody has registered, and
// schema versions that no file, no inlined row and no snapshot is of.
//
// What a row refers to is looked up once, when a run begins: ids are never given out twice,
// so what is missing then, and is below the counters of that moment, is missing for good. Ids
// at or above the counters are left alone.
package trim
