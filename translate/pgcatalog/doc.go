// Package pgcatalog is the virtual system catalog: the relations of pg_catalog and
// information_schema with PostgreSQL 15's columns, computed from the descriptors a
// transaction sees, and the functions that read them (format_type, pg_get_indexdef,
// to_regclass, has_table_privilege, …).
//
// Nothing of it is stored. A Registry is immutable and shared by all sessions; every
// scan reads the transaction and the session in its exec.Ctx. What only a server knows
// (other sessions, advisory locks, databases, roles) is asked of the session through
// the small interfaces in host.go; a session that lacks one gets an empty answer.
//
// Relations that Eider has nothing to say about exist with their columns and no rows,
// so that a client's joins over them work. System relations are not themselves listed
// in pg_class and pg_attribute: DuckDB loads every row of these at attach and has no
// use for them.
//
// The schema eider is not of this kind: it holds tables that the server makes when it first
// needs them, and users may. Its relations here stand in for those that are not stored,
// and answer what only the server knows (eider.sessions, eider.schedule).
package pgcatalog
