package server

import (
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/eiderdb/eider/server/users"
)

// Options says how a Server talks to its clients. The zero value serves everybody
// without a password; who lets others than this machine in sets Users.
type Options struct {
	// Backend makes sessions. A server without one answers 57P03, "starting up", until
	// SetBackend is called.
	Backend Backend
	// Users are who may connect, by SCRAM-SHA-256. Nil: anybody, under any name.
	Users *users.File
	// TLS has the server's certificate. Nil: encryption is refused.
	TLS *tls.Config
	// RequireTLS refuses unencrypted TCP connections (28000).
	RequireTLS bool
	// MaxConnections bounds the open connections (53300 beyond). Default 5000.
	MaxConnections int
	// MaxMessage bounds a message's body in bytes (54000 beyond). Default 1 GiB.
	MaxMessage int
	// MaxNotifications bounds the notifications that wait for a client that does not read
	// them; see noteQueue for which ones are dropped. Default 1000.
	MaxNotifications int
	// StartupTimeout is how long a client may take until it is authenticated. Default 60 s.
	StartupTimeout time.Duration
	// DrainTimeout is how long a stopping server goes on reading a client's COPY data
	// after it has given the statement up: closing earlier destroys DuckDB clients.
	// Default 30 s.
	DrainTimeout time.Duration
	// Logger gets what an operator wants to know. Default: nothing is logged.
	Logger *slog.Logger
	// LogStatements logs every statement.
	LogStatements bool
	// SlowStatement logs messages that take at least this long; 0: none.
	SlowStatement time.Duration
	// Metrics counts what happens. Default: counted and never shown.
	Metrics *Metrics
	// Rand is the source of cancel keys and SCRAM nonces. Default crypto/rand.
	Rand io.Reader
}

// The defaults of Options.
const (
	DefaultMaxConnections   = 5000
	DefaultMaxMessage       = 1 << 30
	DefaultMaxNotifications = 1000
	DefaultStartupTimeout   = 60 * time.Second
	DefaultDrainTimeout     = 30 * time.Second
)

// ErrServerClosed is returned by Serve after Shutdown or Close.
var ErrServerClosed = errors.New("server: closed")
