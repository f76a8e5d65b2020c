// Package files opens the data files of a lake by their path: in folders of this machine
// and in buckets of S3 and what speaks its protocol. It reads ranges and nothing else; it
// never lists, writes or removes.
//
// Which files the server may read is the operator's to say (Config). A path that nobody
// spoke of is out of reach, which is no error of the lake: users of a lake need not give
// its catalog server access to the data.
package files
