// Package tap has proxies between a client and a server that speak PostgreSQL's protocol. Tap passes bytes on unchanged and counts what a DuckLake
// client does: commit batches sent, commits acknowledged, errors by SQLSTATE and by the kind of message that they answered. Commits loses or replaces
// the answers to COMMITs.
package tap
