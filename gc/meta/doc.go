// Package meta reads and writes the metadata of lakes in one transaction of the store, for
// maintenance: which lakes a catalog has, their rows by the names of tables and columns, and
// how a job's transaction is committed.
//
// Catalogs of older formats lack tables and columns: a table that is not there has no rows,
// a column that is not there reads NULL. Nothing here judges what is read.
package meta
