// Package lex splits SQL text into PostgreSQL 15's tokens and fingerprints statements.
//
// The lexer works on the text in place: a Token is a kind, a keyword number and two
// offsets, so scanning allocates nothing. Values that differ from the text (folded
// names, unescaped strings) are made on demand by Value.
//
// Fingerprint reduces one statement to its normal form: the token stream with literals
// replaced by their class. Statements of equal normal form differ in literal values only,
// which is what the plan cache is keyed by.
package lex
