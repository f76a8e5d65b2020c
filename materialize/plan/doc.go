// Package plan makes the statements of a run: what DuckDB is to be told, in which order, and
// what each statement is for.
//
// A plan is data. It is made from the header, the script and the value of the partition, and,
// where they are known, from the columns of the script's SELECT and of the table (a [Probe]).
// Lakes are attached by their names, as 'ducklake://NAME'; [Attach] reads such a statement, so
// that whoever executes the plan says what it becomes. So a plan holds no address and no
// password.
//
// The target is always _wm_target, a catalog that the plan attaches, so that no USE of a
// script leads a write elsewhere, and so that the SELECT, which reads its lakes under other
// names, sees the table as it was before the run. The partition is the column _wm_partition.
package plan
