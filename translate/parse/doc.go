// Package parse turns SQL text into the trees of package ast.
//
// It is a recursive-descent parser with precedence climbing for expressions, written
// from PostgreSQL 15's grammar: the same keyword classes, precedences and error texts.
// Syntax errors leave the inner functions by panic with a private type and are turned
// into *pgerr.Error at the package's entry points; nothing else panics.
//
// Recursion is bounded by Limits.Depth. Chains of operators that lean left (a AND b AND
// …, a || b || …, UNION, JOIN) are parsed by loops, and long AND and OR chains become
// balanced trees, so that later passes may recurse too.
package parse
