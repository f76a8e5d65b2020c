//go:build !linux

package pebblekv

import "errors"

func extend(uintptr, int64, int64) error { return errors.ErrUnsupported }
