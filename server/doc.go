// Package server is the PostgreSQL wire protocol in front of a translate.Session:
// listeners, startup, TLS, authentication, the simple and the extended protocol, COPY,
// cancel requests, notifications, graceful shutdown, metrics and the HTTP endpoint for
// operators.
//
// One goroutine serves one connection and owns everything of it, its Session included.
// Other goroutines reach a connection in three ways only: they cancel the context of
// the running statement, they queue a notification, or they ask it to end; each is a
// field under conn.mu and a past read deadline that wakes the owner.
//
// Payloads of received messages are valid until the next message is read. What a
// Session may keep (statement texts, bind parameters) is copied or handed over.
package server
