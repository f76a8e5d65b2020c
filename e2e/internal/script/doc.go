// Package script implements the language of the end-to-end tests: it parses *.lake files, runs them on a server and compares what two servers did.
// The language is described in DESIGN.md of the module.
package script
