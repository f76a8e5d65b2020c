// Command eider is the catalog server for DuckLake and its tools.
//
// Exit codes: 0 well done, 1 failed, 2 wrong use or configuration, 3 the data folder is
// in use or from a newer version.
package main
