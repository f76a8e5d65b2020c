// Package paths compares the paths and URLs by which a lake's files are known: as the
// catalog has them, as a listing of the storage has them, as somebody has typed them into
// ATTACH. It is pure: it looks at no file system.
//
// A file of a lake is taken for an orphan if no row names it, so a spelling that is not
// recognised costs data. The package errs on one side: two names that may be one object
// compare equal. What follows from that:
//
//   - A name stands for a set of keys (Keys). Two names are the same if they share one.
//   - A key is decoded (%20, also %2520), its slashes are single, "./" and a slash at the
//     end are gone, scheme and host are lower case, s3a and s3n are s3, gcs is gs, and so on.
//   - An https URL also stands for the buckets that it may mean.
//   - ".." is not followed: where it leads, only the storage knows. Such a name, and one that
//     is relative to somebody's working directory, is every name that ends like it.
//   - A container of Azure is the same in every account when one of two names leaves the
//     account out.
//   - Drive letters and \\host\share are left alone: they compare by their bytes.
//   - Unicode is not normalised: object stores and most file systems keep the two forms of
//     é apart, and DuckLake stores what it wrote. File systems that fold them, or the case of
//     letters, or reach a folder by two names (links, mounts) are beyond names; package
//     clean compares files there by identity.
//
// A Place is the opposite of a key: the object itself, byte for byte, to list, move or
// remove it. A name that may mean two things has none.
package paths
