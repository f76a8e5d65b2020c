// Package partition says what the slices of a partitioned table are called and which time
// each of them covers.
//
// A [Spec] is made by [New] from the texts of a header. Time enters as an argument; the
// package reads no clock and no files, but for the database of zones: see [wall.Zone].
//
// # Values and buckets
//
// The value of an instant is its local time in the spec's zone, written in the spec's
// format: [Spec.Resolve]. A bucket is all instants of one hour, day, ISO week or month on
// the clock of the zone. A format whose text changes inside a bucket is refused by New; one
// that does not tell all buckets apart is taken, but has no way back from a value to its
// bucket ([ErrAmbiguous]).
//
// When the clocks go back, the repeated hour is one bucket, twice as long. When they go
// forward, the hour that is skipped does not exist. A bucket begins with the first instant
// whose clock is in it and ends where the next one begins. Where clocks were set back across
// the edge of a bucket (St. John's until 2011 went from 00:01 to 23:01; Troll goes back two
// hours) the minutes that are repeated lie in the interval of the later bucket, though they
// carry the name of the earlier one: Resolve has the last word.
//
// Values are equal to what DuckDB's strftime writes, which end-to-end tests compare;
// [Spec.Macro] is the same function for SQL.
package partition
