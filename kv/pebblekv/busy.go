package pebblekv

import (
	"errors"
	"syscall"
)

// isBusy reports whether a lock failed because somebody holds it: POSIX lets fcntl say
// EACCES or EAGAIN for that.
func isBusy(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES)
}
