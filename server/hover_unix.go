//go:build unix

package server

import "golang.org/x/sys/unix"

const canLook = true

// readable reports whether a read would not block.
func readable(fd uintptr) bool {
	p := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(p[:], 0)
	return n > 0 && err == nil
}
