//go:build !linux

package killat

const supported = false

// Main is never called here.
func Main(string, []string) int { return 2 }
