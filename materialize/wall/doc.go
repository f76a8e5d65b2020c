// Package wall is about what clocks on a wall show: local times of a zone, without the
// gaps and repetitions that a zone has when its clocks are changed.
//
// A wall time is kept in a time.Time of UTC, whose arithmetic is that of the calendar.
package wall
