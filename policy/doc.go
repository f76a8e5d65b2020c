// Package policy is the model of policies that say which stream is written to which table and
// how, and the resolver that decides it for one stream. It does no I/O, but for the look-up of
// a table catalog.
package policy
