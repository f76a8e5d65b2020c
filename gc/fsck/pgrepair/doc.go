// Package pgrepair makes repairs of package fsck over the PostgreSQL protocol, on an Eider
// server or a plain PostgreSQL.
package pgrepair
