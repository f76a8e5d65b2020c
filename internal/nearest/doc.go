// Package nearest finds the known name that somebody may have meant.
package nearest
