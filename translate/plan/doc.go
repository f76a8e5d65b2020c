// Package plan binds syntax trees: it resolves names against the catalog a transaction
// sees, infers types by PostgreSQL's rules, chooses access paths and makes exec nodes.
package plan
