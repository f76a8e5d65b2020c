// Package sweep walks over the rows of a lake's tables in as many transactions as it takes:
// the machinery of jobs that remove rows. A walk holds a view for a bounded number of rows,
// goes on behind the last row that it has seen, and gives way to commits of others.
package sweep
