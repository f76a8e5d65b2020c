// Package ast holds the syntax tree of the SQL that Eider accepts: PostgreSQL's
// grammar as far as DuckLake clients, tools and people at a prompt need it.
//
// Nodes are plain data. Identifiers are already folded (unquoted names are lower
// case, quoted ones exact) and string literals unescaped. Pos fields are byte
// offsets into the statement text that was parsed; they become the 1-based
// character position of an error at the protocol edge.
//
// Literals carry a Slot: the ordinal of the literal token within its statement.
// The plan cache binds a statement once and later replaces only slot values, so
// whatever makes a plan depend on a literal's value must say so to the cache.
package ast
