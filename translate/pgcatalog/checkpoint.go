package pgcatalog

import (
	"context"

	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// Checkpointer answers eider_checkpoint: it keeps a copy of the store as it is committed
// now, under a name that has the reason, and returns the copy's path.
type Checkpointer interface {
	Checkpoint(ctx context.Context, reason string) (string, error)
}

// checkpoint is eider_checkpoint(reason). The reason is a word of lower-case letters, which
// the names of copies can be told apart by.
func checkpoint(c *exec.Call) (types.Datum, error) {
	reason := string(c.Args[0].B)
	plain := len(reason) > 0 && len(reason) <= 32
	for i := range len(reason) {
		plain = plain && 'a' <= reason[i] && reason[i] <= 'z'
	}
	if !plain {
		return types.Null, pgerr.New(pgerr.InvalidParameterValue, "the reason of a checkpoint is a word of at most 32 lower-case letters")
	}
	s, ok := c.Session.(Checkpointer)
	if !ok {
		return types.Null, pgerr.New(pgerr.FeatureNotSupported, "checkpoints are not supported here")
	}
	path, err := s.Checkpoint(c.Ctx, reason)
	return dText(path), err
}
