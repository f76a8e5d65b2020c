package pebblekv

import "golang.org/x/sys/unix"

// extend makes a file longer by n bytes of zeros, which take their room on the disk.
func extend(fd uintptr, off, n int64) error {
	for {
		if err := unix.Fallocate(int(fd), 0, off, n); err != unix.EINTR {
			return err
		}
	}
}
