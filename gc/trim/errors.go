package trim

import "errors"

// ErrShape is returned for a lake whose snapshots cannot be read. Other errors are those of
// gc/meta and package store, which pass through.
var ErrShape = errors.New("trim: the table of snapshots has an unknown shape")
