// Package row is the tuple codec. A stored row is one format version byte followed by
// the tuple exactly as PostgreSQL's binary COPY sends it:
//
//	byte   version (1)
//	int16  number of fields, big-endian
//	per field: int32 length (-1 = NULL), then that many bytes
//
// so COPY of all columns copies stored bytes to the wire, and a projection is a walk
// over lengths. Field i is the column with attnum i+1. Field bytes are the types'
// binary forms; but for Integer, this package does not look into them.
//
// Tuples handed out by scans alias engine memory and are valid until the scan moves.
package row
