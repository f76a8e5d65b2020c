// Package classify takes a script apart into its statements and says whether it is one that
// a table can be made of: setup, then exactly one SELECT.
//
// It reads DuckDB's lexical rules, not its grammar: what is a string, a quoted name, a
// comment. So [Split] finds the statements that DuckDB finds, which end-to-end tests
// compare, but a script that Classify takes may still be refused by DuckDB.
//
// # Comments
//
// A comment is removed from the text of its statement and leaves what separates tokens: a
// space, or its line breaks if it has some, so that the n-th line of [Statement.Text] is the
// n-th line of the script from [Statement.Line] on. Block comments nest, as in DuckDB.
//
// A // is a comment where nothing but white space and comments is before it in its line or
// in its statement; DuckDB has no such comments. Elsewhere it is DuckDB's integer division.
// A division that is continued on a line that begins with // is therefore taken for a
// comment: write the // at the end of the line before.
//
// # Partition
//
// [SubstitutePartition] puts the value of a partition in the place of {partition}.
package classify
