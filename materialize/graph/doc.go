// Package graph makes of scripts, and what they read, write and wait for, a graph: what
// feeds what, the order of runs, what is up and down the stream of a script, and pictures of
// it as text, DOT, JSON, SVG and one HTML page.
//
// It reads and asks nothing. The same scripts give the same graph and the same bytes, in
// whatever order they come. Names, comments and messages are the user's text: each form
// escapes them for itself.
package graph
