package pgcatalog

import (
	"context"
	"slices"
	"strings"

	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// Checkpointer answers eider_checkpoint: it keeps a copy of the store as it is committed
// now, under a name that has the reason, and returns the copy's path.
type Checkpointer interface {
	Checkpoint(ctx context.Context, reason string) (string, error)
}

// checkpointReasons are what clients may give for a reason. The newest copies of each are kept,
// so they must be few.
var checkpointReasons = []string{"fsck", "manual", "restore"}

// checkpoint is eider_checkpoint(reason).
func checkpoint(c *exec.Call) (types.Datum, error) {
	reason := string(c.Args[0].B)
	if !slices.Contains(checkpointReasons, reason) {
		return types.Null, pgerr.New(pgerr.InvalidParameterValue, "the reason of a checkpoint is one of %s", strings.Join(checkpointReasons, ", "))
	}
	s, ok := c.Session.(Checkpointer)
	if !ok {
		return types.Null, pgerr.New(pgerr.FeatureNotSupported, "checkpoints are not supported here")
	}
	path, err := s.Checkpoint(c.Ctx, reason)
	return dText(path), err
}
