// Package lint holds the rules of the repository as tests: who may import whom, what
// the server's binary may contain, formatting, static checks, tidy modules, generated
// files that are up to date, links that lead somewhere. "make lint" runs it, and so does
// every run of all tests.
package lint
