// Command gcstep runs one maintenance step on a data folder that no server uses, for tests and
// benchmarks of the end-to-end module: it expires or trims a lake, prints its rows or says
// what is wrong with it. It prints JSON.
package main
