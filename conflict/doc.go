// Package conflict decides about commits: it knows what the rows of a DuckLake catalog
// mean, and from what a commit writes and what is there it says what must not happen.
//
// It is pure: no I/O, plain types of package lake, reads through small functions that the
// caller gives.
package conflict
