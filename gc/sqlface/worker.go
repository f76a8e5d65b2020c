package sqlface

import (
	"context"
	"encoding/json"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/jobs"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
)

// mostReport bounds the bytes of a report: the history keeps what it says.
const mostReport = 1 << 20

// workerBegin is worker_begin. When the session ends before worker_end is called, the run is
// marked as interrupted.
func (f face) workerBegin(c *call) ([]exec.Row, error) {
	if err := c.writes(); err != nil {
		return nil, err
	}
	w := jobs.Work{Lake: c.text(0), By: c.user(), Session: c.session()}
	dry, _ := c.num(1)
	w.DryRun = dry != 0
	if text := c.text(2); text != "" && json.Unmarshal([]byte(text), &w.Options) != nil {
		return nil, pgerr.New(pgerr.InvalidParameterValue, "options are a JSON object of texts")
	}
	ender, ok := c.c.Session.(exec.Ender)
	if !ok {
		return nil, pgerr.New(pgerr.FeatureNotSupported, "runs of workers are not recorded for this connection")
	}
	catalog := c.catalog()
	id, err := f.m.Begin(c.c.Context, catalog, w)
	if err != nil {
		return nil, err
	}
	ender.OnEnd(func() { f.m.Lost(context.Background(), catalog, id, w.Session) })
	return []exec.Row{{dInt(id)}}, nil
}

// report reads an argument with what a worker has done.
func (c *call) report(i int) (r gc.Result, err error) {
	text := c.text(i)
	if text == "" {
		return r, nil
	}
	var p gc.Report
	if len(text) > mostReport || json.Unmarshal([]byte(text), &p) != nil {
		return r, pgerr.New(pgerr.InvalidParameterValue, "a report is a JSON object of counts, notes and items, of %d bytes at most", mostReport)
	}
	return gc.Result{Counts: p.Counts, Notes: p.Notes, Items: p.Items}, nil
}

// workerReport is worker_report; stop is why the run is to end after its step.
func (f face) workerReport(c *call) ([]exec.Row, error) {
	if err := c.writes(); err != nil {
		return nil, err
	}
	did, err := c.report(1)
	if err != nil {
		return nil, err
	}
	id, _ := c.num(0)
	stop, err := f.m.Report(c.c.Context, c.catalog(), id, c.session(), did)
	if err != nil {
		return nil, err
	}
	why := ""
	if stop != nil {
		why = stop.Error()
	}
	return []exec.Row{{dInt(id), dTextOr(why)}}, nil
}

// workerEnd is worker_end.
func (f face) workerEnd(c *call) ([]exec.Row, error) {
	if err := c.writes(); err != nil {
		return nil, err
	}
	s := jobs.State(c.text(1))
	switch s {
	case jobs.Done, jobs.Failed, jobs.Stopped:
	default:
		return nil, pgerr.New(pgerr.InvalidParameterValue, "a run of a worker ends as done, failed or stopped")
	}
	did, err := c.report(2)
	if err != nil {
		return nil, err
	}
	id, _ := c.num(0)
	e, err := f.m.Finish(c.c.Context, c.catalog(), id, c.session(), s, did, c.text(3))
	if err != nil {
		return nil, err
	}
	return []exec.Row{jobRow(&e)}, nil
}
