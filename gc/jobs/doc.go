// Package jobs runs the maintenance of a server's catalogs: it decides by the policies what
// is due, runs one job at a time in each catalog, and keeps the history.
//
// A Manager has one owner, who calls Run; every goroutine of the package lives in that
// call. What it must not forget is in the catalog, in tables of the schema eider: policies,
// jobs, pauses and tags. A job that a crash has ended is found there as running; it is marked
// as interrupted and started again when it is due. The jobs themselves keep no state, see
// gc.Job.
//
// Nothing runs by itself before the policy maintenance is on.
package jobs
