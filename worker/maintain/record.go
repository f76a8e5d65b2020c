package maintain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/worker/duck"
)

// Record is a run in the history of the catalog's jobs (eider.jobs). It is held by the catalog's
// connection: when that ends before the run, the history has the run as interrupted.
type Record struct {
	c  *Catalog
	id int64 // 0: the catalog does not take records
}

var _ Log = (*Record)(nil)

// notRecorded says of an error whether it is the server's answer, so that the connection is
// still good: a history that cannot be written keeps no maintenance from being done.
func notRecorded(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Severity != "FATAL"
}

// Record begins to record a run. options are what was asked for. Where there is no history, as
// on PostgreSQL, nothing is recorded; refused says why one that is there does not take the run.
func (c *Catalog) Record(ctx context.Context, dry bool, options map[string]string) (r *Record, refused, err error) {
	r = &Record{c: c}
	if !c.eider {
		return r, nil, nil
	}
	text, err := json.Marshal(options)
	if err != nil {
		return nil, nil, err
	}
	err = c.conn.QueryRow(ctx, fmt.Sprintf("SELECT job FROM eider.worker_begin(%s, %t, %s)", duck.Literal(c.lake), dry, duck.Literal(string(text)))).Scan(&r.id)
	if notRecorded(err) {
		return r, err, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("record the run: %w", err)
	}
	return r, nil, nil
}

// Job is the run's id in the history; 0 when it is not recorded.
func (r *Record) Job() int64 { return r.id }

// reportOf is a step as the history has it.
func reportOf(o *Outcome) (r gc.Result) {
	r.Items = []gc.Item{{What: o.Step.Name(), Reason: o.text()}}
	switch {
	case o.Status == Failed:
		r.Count("steps that failed", 1)
		r.Note("%s: %s", o.Step.Name(), errText(o.Err))
	case o.Status == Skipped:
		r.Count("steps left out", 1)
	case o.Status == Off:
	case o.Step.Phase == Flush:
		r.Count("rows flushed", o.Rows)
	case o.Step.Phase == Merge:
		r.Count("files merged", o.Read)
		r.Count("files written", o.Written)
	case o.Step.Phase == Rewrite:
		r.Count("files rewritten", o.Read)
		r.Count("files written", o.Written)
	case o.Step.Phase == Expire:
		r.Count("snapshots", o.Rows)
	default:
		r.Count("files", o.Rows)
	}
	return r
}

// Step implements Log.
func (r *Record) Step(ctx context.Context, o *Outcome) (stop string, err error) {
	if r.id == 0 {
		return "", nil
	}
	err = r.c.conn.QueryRow(ctx, fmt.Sprintf("SELECT coalesce(stop, '') FROM eider.worker_report(%d, %s)", r.id, literal(reportOf(o)))).Scan(&stop)
	if err != nil && !notRecorded(err) {
		return "", fmt.Errorf("%w: %w", ErrLost, err)
	}
	return stop, nil
}

// End records the end of the run, whose error is given. It may be called when the context has
// ended.
func (r *Record) End(ctx context.Context, sum *Summary, failure error) error {
	if r.id == 0 {
		return nil
	}
	state, why := "done", ""
	switch {
	case errors.Is(failure, context.Canceled):
		state, why = "stopped", "ended at once by a signal"
	case failure != nil:
		state, why = "failed", Text(failure)
	case sum.Stopped != "":
		state, why = "stopped", sum.Stopped
	}
	_, err := r.c.conn.Exec(context.WithoutCancel(ctx), fmt.Sprintf("SELECT * FROM eider.worker_end(%d, %s, NULL, %s)", r.id, duck.Literal(state), orNull(why)))
	if notRecorded(err) {
		return nil
	}
	return err
}

func orNull(s string) string {
	if s == "" {
		return "NULL"
	}
	return duck.Literal(s)
}

// literal is what was done as SQL has it.
func literal(r gc.Result) string {
	text, err := json.Marshal(gc.Report{Counts: r.Counts, Notes: r.Notes, Items: r.Items})
	if err != nil {
		return "'{}'" // no part can fail
	}
	return duck.Literal(string(text))
}
