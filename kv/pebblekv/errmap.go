package pebblekv

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/cockroachdb/pebble/v2"

	"github.com/eiderdb/eider/kv"
)

// errFenced is what file operations of an abandoned instance return.
var errFenced = errors.New("pebblekv: instance is fenced off")

// mapped gives an error of Pebble or the file system its meaning as an error of kv.
func mapped(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pebble.ErrNotFound):
		return kv.ErrNotFound
	case errors.Is(err, kv.ErrClosed), errors.Is(err, kv.ErrEngineRestarted), errors.Is(err, kv.ErrDiskFull), errors.Is(err, kv.ErrBatchDone):
		return err
	case errors.Is(err, pebble.ErrClosed):
		return kv.ErrClosed
	case isDiskFull(err):
		return fmt.Errorf("pebblekv: %s: %w: %w", op, kv.ErrDiskFull, err)
	case errors.Is(err, errFenced):
		return fmt.Errorf("pebblekv: %s: %w", op, kv.ErrEngineRestarted)
	case pebble.IsCorruptionError(err):
		return fmt.Errorf("pebblekv: %s: %w: %w", op, kv.ErrCorrupt, err)
	}
	return fmt.Errorf("pebblekv: %s: %w: %w", op, kv.ErrIO, err)
}

func isDiskFull(err error) bool {
	return errors.Is(err, kv.ErrDiskFull) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
