// Package jsonpath reads SQL/JSON paths and writes them as PostgreSQL does. Package exec runs
// them.
package jsonpath
