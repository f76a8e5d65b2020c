// Command tasks runs the repository's checks as one: unit tests, a short run of every
// fuzz target, the worker's module and the end-to-end module, and prints how many tests passed, failed and
// were skipped. The Makefile calls it.
package main
