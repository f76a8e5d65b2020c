package server

import (
	"context"

	"github.com/eiderdb/eider/translate"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/types"
)

// Backend makes the sessions behind connections.
type Backend interface {
	// NewSession opens a session of an authenticated user. Its errors end the connection
	// (3D000 for a catalog that is not there).
	NewSession(ctx context.Context, o translate.SessionOptions) (Session, error)
}

// BackendFunc makes a function a Backend.
type BackendFunc func(ctx context.Context, o translate.SessionOptions) (Session, error)

// NewSession calls f.
func (f BackendFunc) NewSession(ctx context.Context, o translate.SessionOptions) (Session, error) {
	return f(ctx, o)
}

// Session is what a connection drives: the contents of messages in, answers to an Out.
// All methods are called by the connection's goroutine.
type Session interface {
	// Simple runs the text of a Query message and returns the error that ended it.
	Simple(ctx context.Context, sql string, out translate.Out) error
	Parse(ctx context.Context, name, sql string, paramOIDs []uint32) error
	// DescribeStatement returns the parameter types and the result columns, nil for none.
	DescribeStatement(ctx context.Context, name string) (params []uint32, cols []exec.Column, err error)
	// Bind may keep params.
	Bind(ctx context.Context, portal, stmt string, paramFormats []int16, params [][]byte, resultFormats []int16) error
	DescribePortal(name string) (cols []exec.Column, formats []int16, err error)
	// Execute runs a portal for at most maxRows rows, 0 for all.
	Execute(ctx context.Context, portal string, maxRows int, out translate.Out) error
	CloseStatement(name string) error
	ClosePortal(name string) error
	// Sync ends an implicit transaction.
	Sync(ctx context.Context) error
	// TxStatus is ReadyForQuery's status byte.
	TxStatus() byte
	// Fail marks the transaction failed after an error that the session did not raise.
	Fail()
	// Env is what values are encoded with, as the session's settings are now.
	Env() *types.Env
	// Params are the settings reported at startup.
	Params() []translate.Param
	Close()
}
