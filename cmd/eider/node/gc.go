package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/guard"
	"github.com/eiderdb/eider/translate/pgerr"
)

// jobUser is who maintenance commits as, in findings and logs.
const jobUser = "eider gc"

// committer commits what maintenance jobs write: their commits get the checks of everybody's.
type committer struct {
	guard *guard.Guard
	job   string // the application's name
}

var _ meta.Committer = committer{}

// Commit implements meta.Committer.
func (c committer) Commit(ctx context.Context, txn *store.Txn) error {
	err := c.guard.Commit(ctx, txn, guard.Info{User: jobUser, Application: c.job})
	var refused *pgerr.Error
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.Code {
	// A snapshot that was tagged meanwhile is in use: the job leaves it out when it looks again.
	case pgerr.SerializationFailure, pgerr.UniqueViolation, pgerr.ObjectInUse:
		return fmt.Errorf("%w: %w", meta.ErrLost, err)
	}
	return err
}
