//go:build unix

package main

import (
	"os"
	"syscall"
)

// become makes the process the program: there is no process between it and who sends signals
// or waits.
func become(path string, args []string) error { return syscall.Exec(path, args, os.Environ()) }
