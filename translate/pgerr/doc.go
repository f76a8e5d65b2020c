// Package pgerr is the one error type with a SQLSTATE. Inner packages return
// ordinary errors with their own sentinels; translate maps them to *Error once, and
// the server writes it to the wire. The package imports only lake/retry.
//
// Error texts are an interface: DuckLake retries a commit when, and only when, the
// text contains "primary key", "unique", "conflict" or "concurrent" (any case,
// DETAIL and HINT included). Retryable errors must contain one of the words,
// terminal ones none.
package pgerr
