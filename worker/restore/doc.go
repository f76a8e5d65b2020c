// Package restore makes a new snapshot of a lake that is equal to an old one, as any client
// could: it reads the old version with DuckDB, writes what differs into new data files that
// have the rows' ids inside, and commits them like an UPDATE of whole tables.
//
// Nothing that exists is made anew under its old name: no path, no data file and no object
// that has ended comes back to life. A file of the old version may be a part of a merged
// one by now, its deletes a part of a later delete file, and both hold what came after; a
// row of the catalog cannot tell them apart, a scan of the old version does. So the old
// version must be readable, files included, and older versions read as before.
//
// A table whose columns, partitioning, sorting or name are as they were keeps its id. Any
// other table, and every view, macro and schema that comes back, gets a new id: ids that
// have ended stay ended, which clients' caches and the checks of commits rely on.
package restore
