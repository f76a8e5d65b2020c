// Package tap is a proxy between a client and a server that speak PostgreSQL's protocol. It passes bytes on unchanged and counts what a DuckLake
// client does: commit batches sent, commits acknowledged, errors by SQLSTATE and by the kind of message that they answered.
package tap
