//go:build !unix

package clean

import "io/fs"

// linked is not known here.
func linked(fs.FileInfo, fs.FileInfo) bool { return false }
