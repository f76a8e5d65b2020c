// Package gc holds what the parts of maintenance share: the policies that say what may go
// and when, the kinds of jobs with what goes in and what comes out, and the errors that
// callers act on.
//
// It is pure: it reads no clock, no store and no files. The packages below it do the work
// (expire, trim, clean, fsck), gc/jobs runs it. See DESIGN.md.
package gc
