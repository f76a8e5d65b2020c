// Command gendocs writes the pages that follow from the code: docs/conflicts.md from the
// matrix of package conflict,
// docs/reference/flags.md from the options of "eider serve", docs/reference/metrics.md
// from the metrics of the server. "go generate" runs it; a test checks that the pages are
// current.
package main

//go:generate go run . ../..
