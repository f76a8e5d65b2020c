package translate

import (
	"context"

	"github.com/eiderdb/eider/translate/pgcatalog"
	"github.com/eiderdb/eider/translate/pgerr"
)

var _ pgcatalog.Checkpointer = sessionFuncs{}

// Checkpoint is eider_checkpoint(reason).
func (f sessionFuncs) Checkpoint(ctx context.Context, reason string) (string, error) {
	take := f.s.shared.migrate.Checkpoint
	if take == nil {
		return "", pgerr.New(pgerr.FeatureNotSupported, "this server keeps no checkpoints").
			WithHint("It runs in memory, or --migration-checkpoints is 0.")
	}
	path, err := take(ctx, f.s.db, reason)
	if err != nil {
		f.s.log.Error("no checkpoint", "catalog", f.s.db, "reason", reason, "error", err)
		return "", pgerr.New(pgerr.IOError, "the checkpoint could not be written")
	}
	f.s.log.Info("a client took a checkpoint", "catalog", f.s.db, "reason", reason, "checkpoint", path, "user", f.s.opts.User)
	return path, nil
}
