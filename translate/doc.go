// Package translate turns SQL text into reads and writes of the store: it holds the
// session layer above the parser, the planner and the executor.
//
// A Session is one client connection's state: transaction block, settings, prepared
// statements, portals, cursors, temporary tables. The wire protocol lives elsewhere:
// a Session gets message contents (a Query text, a Parse, a Bind, …) and writes what
// it has to say to an Out. A Session is used by one goroutine at a time.
package translate
