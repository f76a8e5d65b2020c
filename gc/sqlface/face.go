package sqlface

import (
	"context"
	"errors"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/jobs"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
)

// face has the functions.
type face struct{ m Manager }

// run is gc_run: it returns the jobs' rows at once, or when they have ended.
func (f face) run(c *call) ([]exec.Row, error) {
	o, err := parseOptions(c.text(2), 0)
	if err != nil {
		return nil, err
	}
	return f.submit(c, o)
}

// plan is gc_plan: a dry run, whose end it waits for.
func (f face) plan(c *call) ([]exec.Row, error) {
	o, err := parseOptions(c.text(2), -1)
	if err != nil {
		return nil, err
	}
	o.dry = true
	return f.submit(c, o)
}

func (f face) submit(c *call, o options) ([]exec.Row, error) {
	if !o.dry {
		if err := c.writes(); err != nil {
			return nil, err
		}
	}
	k, err := c.anyKind(1)
	if err != nil {
		return nil, err
	}
	var kinds []gc.Kind
	if k != "" {
		kinds = []gc.Kind{k}
	}
	ctx := c.c.Context
	ids, err := f.m.Submit(ctx, jobs.Ask{
		Catalog: c.catalog(), Lake: c.anyLake(0), Kinds: kinds, DryRun: o.dry, By: c.user(), Overrides: o.over, Skip: o.skip,
	})
	if err != nil {
		return nil, err
	}
	wctx := ctx
	if o.wait > 0 {
		var cancel context.CancelFunc
		wctx, cancel = context.WithTimeout(ctx, o.wait)
		defer cancel()
	}
	var out []exec.Row
	for _, id := range ids {
		var e jobs.Entry
		err = errors.New("not waited for")
		if o.wait != 0 {
			e, err = f.m.Wait(wctx, c.catalog(), id)
		}
		if err != nil {
			if err := c.c.CheckNow(); err != nil {
				return nil, err // the statement was cancelled; the jobs go on
			}
			if e, err = f.m.Job(ctx, c.catalog(), id); err != nil {
				return nil, err
			}
		}
		out = append(out, jobRow(&e))
	}
	return out, nil
}

func jobRow(e *jobs.Entry) exec.Row {
	return exec.Row{
		dInt(e.ID), dText(e.Lake), dText(string(e.Kind)), dText(string(e.State)), dBool(e.DryRun), dTime(e.Asked), dTime(e.Started),
		dTime(e.Ended), dText(e.AskedBy), jsonOf(len(e.Overrides), e.Overrides), dTextOr(jobs.Counts(&e.Result)), dInt(e.Result.Bytes),
		dInt(e.Result.Deferred), jsonOf(len(e.Result.Notes), e.Result.Notes), dTextOr(e.Error), dTextOr(jobs.Plan(&e.Result)),
	}
}

func (f face) job(c *call) ([]exec.Row, error) {
	id, _ := c.num(0)
	e, err := f.m.Job(c.c.Context, c.catalog(), id)
	if err != nil {
		return nil, err
	}
	return []exec.Row{jobRow(&e)}, nil
}

func (f face) cancel(c *call) ([]exec.Row, error) {
	if err := c.writes(); err != nil {
		return nil, err
	}
	id, _ := c.num(0)
	if err := f.m.Cancel(c.c.Context, c.catalog(), id, c.user()); err != nil {
		return nil, err
	}
	return f.job(c)
}

func (f face) status(c *call) ([]exec.Row, error) {
	list, err := f.m.Status(c.c.Context, c.catalog(), c.anyLake(0))
	if err != nil {
		return nil, err
	}
	out := make([]exec.Row, len(list))
	for i := range list {
		s := &list[i]
		out[i] = exec.Row{
			dText(s.Lake), dText(string(s.Kind)), dTextOr(string(s.Mode)), dText(s.State), dIntOr(s.Job), dTime(s.Last), dTime(s.Next),
			dTextOr(s.Why), dTextOr(s.Problem), dTextOr(jobs.Counts(&s.Result)), dInt(s.Result.Bytes), dInt(s.Result.Deferred),
		}
	}
	return out, nil
}

func (f face) pause(c *call) ([]exec.Row, error) {
	if err := c.writes(); err != nil {
		return nil, err
	}
	k, err := c.anyKind(0)
	if err != nil {
		return nil, err
	}
	err = f.m.Pause(c.c.Context, c.catalog(), jobs.Pause{Kind: k, By: c.user(), Note: c.text(1)})
	if err != nil {
		return nil, err
	}
	return []exec.Row{{dTextOr(string(k)), dBool(true)}}, nil
}

func (f face) resume(c *call) ([]exec.Row, error) {
	if err := c.writes(); err != nil {
		return nil, err
	}
	k, err := c.anyKind(0)
	if err != nil {
		return nil, err
	}
	if err := f.m.Resume(c.c.Context, c.catalog(), k, c.user()); err != nil {
		return nil, err
	}
	return []exec.Row{{dTextOr(string(k)), dBool(false)}}, nil
}

func (f face) inForce(c *call) ([]exec.Row, error) {
	list, err := f.m.InForce(c.c.Context, c.catalog(), gc.Scope{Lake: c.text(0), Schema: c.text(1), Table: c.text(2)})
	if err != nil {
		return nil, err
	}
	out := make([]exec.Row, len(list))
	for i, x := range list {
		from := "default"
		if x.Set {
			from = x.From.String()
		}
		out[i] = exec.Row{dText(x.Name), dText(x.Value), dText(from)}
	}
	return out, nil
}

func (f face) setPolicy(c *call) ([]exec.Row, error) {
	if err := c.writes(); err != nil {
		return nil, err
	}
	s := gc.Setting{Scope: gc.Scope{Lake: c.text(2), Schema: c.text(3), Table: c.text(4)}, Name: c.text(0), Value: c.text(1)}
	if err := f.m.SetPolicy(c.c.Context, c.catalog(), s); err != nil {
		return nil, err
	}
	return []exec.Row{policyRow(&s)}, nil
}

// resetPolicy returns no row when nothing was set.
func (f face) resetPolicy(c *call) ([]exec.Row, error) {
	if err := c.writes(); err != nil {
		return nil, err
	}
	s := gc.Setting{Scope: gc.Scope{Lake: c.text(1), Schema: c.text(2), Table: c.text(3)}, Name: c.text(0)}
	was, err := f.m.ResetPolicy(c.c.Context, c.catalog(), s)
	if err != nil || !was {
		return nil, err
	}
	return []exec.Row{policyRow(&s)}, nil
}

func policyRow(s *gc.Setting) exec.Row {
	return exec.Row{dTextOr(s.Lake), dTextOr(s.Schema), dTextOr(s.Table), dText(s.Name), dTextOr(s.Value)}
}

// tag is snapshot_tag; without a snapshot it names the newest.
func (f face) tag(c *call) ([]exec.Row, error) {
	if err := c.writes(); err != nil {
		return nil, err
	}
	t := jobs.Tag{Lake: c.text(0), Name: c.text(1), Snapshot: -1, Note: c.text(3)}
	if n, ok := c.num(2); ok {
		if n < 0 {
			return nil, pgerr.New(pgerr.InvalidParameterValue, "a snapshot's id is not negative")
		}
		t.Snapshot = n
	}
	move, _ := c.num(4)
	t, err := f.m.SetTag(c.c.Context, c.catalog(), t, move != 0)
	if err != nil {
		return nil, err
	}
	return []exec.Row{tagRow(&t)}, nil
}

func (f face) untag(c *call) ([]exec.Row, error) {
	if err := c.writes(); err != nil {
		return nil, err
	}
	t, err := f.m.RemoveTag(c.c.Context, c.catalog(), c.text(0), c.text(1))
	if err != nil {
		return nil, err
	}
	return []exec.Row{tagRow(&t)}, nil
}

func tagRow(t *jobs.Tag) exec.Row {
	return exec.Row{dText(t.Lake), dText(t.Name), dInt(t.Snapshot), dTime(t.Created), dTextOr(t.Note)}
}
