// Package retry is the rule by which a DuckLake client decides to run a commit again: the
// error's text contains "primary key", "unique", "conflict" or "concurrent", in any case
// of ASCII, message, detail and hint included. The SQLSTATE does not count.
//
// So the text of an error is an interface. An error that a retry cures must contain one of
// the words. Any other must contain none, whatever names and values it quotes: the client
// would run the commit ten times and fail all the same. Respell takes care of the latter.
package retry
