// Package wall is about what clocks on a wall show: local times of a zone, without the
// gaps and repetitions that a zone has when its clocks are changed.
//
// A wall time is kept in a time.Time of UTC, whose arithmetic is that of the calendar.
//
// [Zone] finds zones by their names. Their database is compiled in (time/tzdata), so that a
// system without one has the same zones; where the system has one, Go takes the system's.
package wall
