// Command cleanstep runs a job that deletes files on a data folder that no server uses, for tests
// of the end-to-end module: as if so much time had passed, with access to folders and a
// storage. It prints JSON.
package main
