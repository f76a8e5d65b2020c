// Package users keeps who may connect: a text file with one SCRAM-SHA-256 verifier per
// line, in the form in which PostgreSQL's pg_authid holds it.
//
//	# comment
//	name:SCRAM-SHA-256$4096:<salt>$<stored key>:<server key>
//
// salt and keys are base64. A verifier proves a password without telling it, but who has
// the file can pretend to be the server and can try passwords: the file is written with
// mode 0600.
package users
