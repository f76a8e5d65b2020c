package sqlface

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/jobs"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// call is one call of a function.
type call struct{ c *exec.Call }

func (c *call) given(i int) bool { return i < len(c.c.Args) && c.c.Args[i].Valid }

// text is an argument, "" when it is not given.
func (c *call) text(i int) string {
	if !c.given(i) {
		return ""
	}
	return string(c.c.Args[i].B)
}

// num is an argument; ok is false when it is not given.
func (c *call) num(i int) (n int64, ok bool) {
	if !c.given(i) {
		return 0, false
	}
	return c.c.Args[i].I, true
}

func (c *call) catalog() string { return c.c.Session.Database() }
func (c *call) user() string    { return c.c.Session.User() }
func (c *call) session() int32  { return c.c.Session.PID() }

// writes refuses what changes something in a transaction that must not.
func (c *call) writes() error {
	if v, _ := c.c.Session.Setting("transaction_read_only"); v == "on" {
		return pgerr.New(pgerr.ReadOnlySQLTransaction, "cannot execute %s.%s() in a read-only transaction", Schema, c.c.Func.Name)
	}
	return nil
}

// anyLake reads the name of a lake; NULL, "" and "*" are all.
func (c *call) anyLake(i int) string {
	if s := c.text(i); s != "*" {
		return s
	}
	return ""
}

// anyKind reads a kind; NULL, "" and "all" are all, which is "".
func (c *call) anyKind(i int) (gc.Kind, error) {
	switch s := c.text(i); s {
	case "", "all":
		return "", nil
	default:
		return gc.ParseKind(s)
	}
}

// options are the JSON options of a run.
type options struct {
	// wait is how long to wait for the jobs' end: 0 not at all, negative for as long as it takes.
	wait time.Duration
	dry  bool
	// skip skips a named kind that is off or paused, in place of an error.
	skip bool
	over map[string]string
}

// parseOptions reads an object: "wait", "dry-run" and "skip"; every other key is a policy that is
// overridden.
func parseOptions(text string, wait time.Duration) (o options, err error) {
	o.wait = wait
	if text == "" {
		return o, nil
	}
	var values map[string]any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&values); err != nil || dec.More() {
		return o, pgerr.New(pgerr.InvalidParameterValue, `options are a JSON object such as {"wait": true, "retain-age": "7d"}`)
	}
	for name, v := range values {
		switch name {
		case "wait":
			if o.wait, err = waitOf(v); err != nil {
				return o, err
			}
		case "dry-run", "skip":
			b, ok := v.(bool)
			if !ok {
				return o, pgerr.New(pgerr.InvalidParameterValue, "option %s is true or false", name)
			}
			if name == "skip" {
				o.skip = b
			} else {
				o.dry = b
			}
		default:
			if o.over == nil {
				o.over = map[string]string{}
			}
			switch v := v.(type) {
			case string:
				o.over[name] = v
			case json.Number:
				o.over[name] = v.String()
			case bool:
				o.over[name] = map[bool]string{true: "on", false: "off"}[v]
			default:
				return o, pgerr.New(pgerr.InvalidParameterValue, "option %s is a text, a number, true or false", name)
			}
		}
	}
	return o, nil
}

func waitOf(v any) (time.Duration, error) {
	switch v := v.(type) {
	case bool:
		if v {
			return -1, nil
		}
		return 0, nil
	case string:
		if d, err := gc.ParseDuration(v); err == nil {
			return d, nil
		}
	}
	return 0, pgerr.New(pgerr.InvalidParameterValue, `option wait is true, false or a duration such as "30s"`)
}

// toPG gives errors their SQLSTATEs.
func toPG(err error) error {
	if pgerr.As(err) != nil {
		return err
	}
	code := ""
	switch {
	case errors.Is(err, gc.ErrPolicy), errors.Is(err, gc.ErrKind), errors.Is(err, jobs.ErrTag):
		code = pgerr.InvalidParameterValue
	case errors.Is(err, jobs.ErrNoLake), errors.Is(err, jobs.ErrNoObject), errors.Is(err, jobs.ErrNoJob), errors.Is(err, jobs.ErrNoTag), errors.Is(err, jobs.ErrNoCatalog):
		code = pgerr.UndefinedObject
	case errors.Is(err, gc.ErrPaused), errors.Is(err, jobs.ErrOff), errors.Is(err, jobs.ErrNotPaused), errors.Is(err, jobs.ErrProblems), errors.Is(err, jobs.ErrBusy),
		errors.Is(err, jobs.ErrUnavailable), errors.Is(err, meta.ErrShape):
		code = pgerr.ObjectNotInPrerequisite
	case errors.Is(err, jobs.ErrStopped):
		code = pgerr.CannotConnectNow
	default:
		return err
	}
	return pgerr.Wrap(err, code, "%s", err.Error()).Terminal()
}

func dText(s string) types.Datum { return types.Datum{B: []byte(s), Valid: true} }

// dTextOr is NULL for the empty text.
func dTextOr(s string) types.Datum {
	if s == "" {
		return types.Null
	}
	return dText(s)
}

func dInt(n int64) types.Datum { return types.Datum{I: n, Valid: true} }

// dIntOr is NULL for 0.
func dIntOr(n int64) types.Datum {
	if n == 0 {
		return types.Null
	}
	return dInt(n)
}

func dBool(b bool) types.Datum {
	if b {
		return dInt(1)
	}
	return dInt(0)
}

// dTime is NULL for the zero time.
func dTime(t time.Time) types.Datum {
	if t.IsZero() {
		return types.Null
	}
	return dInt(t.UnixMicro() - 946_684_800_000_000)
}

func jsonOf(n int, v any) types.Datum {
	if n == 0 {
		return types.Null
	}
	b, err := json.Marshal(v)
	if err != nil {
		return dText(fmt.Sprint(v))
	}
	return dText(string(b))
}
