// Package e2e holds the end-to-end tests of Eider: real DuckDB clients, PostgreSQL 15 as the oracle, the built binary. It is a module of its own,
// so that DuckDB and the oracles stay out of the server's dependencies. DESIGN.md describes the parts and how to run them.
package e2e
