// Package due decides when a script has to run: by its schedule, because tables that it
// reads have changed, because its result is older than it may be, or because a run failed
// and may be tried again.
//
// It is pure: [Script.Decide] is given what is asked for, what has happened and the time,
// and reads no clock and no catalog. Who runs scripts records what came of each [Run] and
// asks again.
//
// # What makes a run due
//
//   - A tick of the schedule that no run has answered. Ticks that passed while nobody
//     watched are answered by one run, for the newest of them; of a partitioned script each
//     of the slices of these ticks is run, but no more than its kind's window, the newest
//     ones. A tick belongs to the slice that its own time is in.
//   - A commit to a source after what the last attempt saw. With JoinAll each source must
//     have one since the last success. Sources whose reference has {partition} are joined
//     by the slice: it is due when all of them have brought it.
//   - Age: the last success of a script without partitions is Freshness ago.
//   - A retry: the last run failed, Retry.Delay ago, and fewer than Retry.Count retries
//     were made of it.
//
// Causes that coincide are one run. A new tick and a new commit begin anew: they need not
// wait for a retry, and the retries after them count from the first. While a run is under
// way nothing is due.
//
// # Debounce
//
// A source counts once it has been quiet for its debounce time: that long after its newest
// commit, but at the latest [DebounceCap] times that long after its oldest one that no run
// has seen, so that a source that is never quiet is not starved.
//
// # Clocks that are changed
//
// Schedules are those of cron. One with fixed hours fires once for each local time: in an
// hour that is repeated, the first time; for an hour that is skipped, at the moment that
// the clocks are put forward. One for every hour follows time as it passes: it fires in
// both of the repeated hours and has nothing to make up for the skipped one.
package due
