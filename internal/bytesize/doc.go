// Package bytesize reads and writes sizes in bytes as people do: a number and a unit, kB, MB,
// GB or TB (powers of 1000), KiB, MiB, GiB or TiB (powers of 1024), B or none.
package bytesize
