// Package lineage reads DuckDB's own parse tree of a SELECT, the JSON that
// json_serialize_sql gives (version 1.5.5), and says what the SELECT reads: tables, files,
// functions, and which columns each of its output columns is made of.
//
// It parses no SQL and asks no database. What it is not told it does not guess: a column
// whose origin cannot be known from the tree and from the columns that Options.Columns
// gives is not Exact, and holds only what certainly feeds it.
//
// A column is made of what the expression that gives it names: the columns of a CASE's
// conditions, of a window's partition and order and of an aggregate's filter are among them.
// What only chooses rows is not: WHERE, HAVING, the conditions of joins, the right side of
// EXCEPT and INTERSECT. A scalar subquery stands for its column, EXISTS for the columns that
// its WHERE names.
//
// The SELECT is taken to be one that DuckDB accepts. A name that one table is known to have
// is therefore that table's, though another's columns are not known: if both had it, DuckDB
// would call it ambiguous.
package lineage
