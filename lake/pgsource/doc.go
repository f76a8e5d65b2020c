// Package pgsource reads lakes over the PostgreSQL protocol: those of an Eider server, and
// those that a plain PostgreSQL keeps.
package pgsource
