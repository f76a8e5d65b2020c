package sqlface

import (
	"context"
	"strings"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/jobs"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// Schema is where the functions are.
const Schema = "eider"

// Manager is what the functions need of a jobs.Manager.
type Manager interface {
	Submit(ctx context.Context, a jobs.Ask) ([]int64, error)
	Wait(ctx context.Context, catalog string, id int64) (jobs.Entry, error)
	Job(ctx context.Context, catalog string, id int64) (jobs.Entry, error)
	Cancel(ctx context.Context, catalog string, id int64, by string) error
	Status(ctx context.Context, catalog, lake string) ([]jobs.Status, error)
	Pause(ctx context.Context, catalog string, p jobs.Pause) error
	Resume(ctx context.Context, catalog string, k gc.Kind, by string) error
	SetPolicy(ctx context.Context, catalog string, s gc.Setting) error
	ResetPolicy(ctx context.Context, catalog string, s gc.Setting) (bool, error)
	InForce(ctx context.Context, catalog string, sc gc.Scope) ([]gc.InForce, error)
	SetTag(ctx context.Context, catalog string, tag jobs.Tag, move bool) (jobs.Tag, error)
	RemoveTag(ctx context.Context, catalog, lake, name string) (jobs.Tag, error)
	Begin(ctx context.Context, catalog string, w jobs.Work) (int64, error)
	Report(ctx context.Context, catalog string, id int64, session int32, did gc.Result) (stop, err error)
	Finish(ctx context.Context, catalog string, id int64, session int32, s jobs.State, did gc.Result, failure string) (jobs.Entry, error)
	Lost(ctx context.Context, catalog string, id int64, session int32)
}

var _ Manager = (*jobs.Manager)(nil)

// col is a column of a function's rows.
func col(name string, oid types.OID) exec.Column {
	return exec.Column{Name: name, Type: types.T{OID: oid, Mod: -1}}
}

// jobCols are the columns of eider.jobs.
var jobCols = []exec.Column{
	col("id", types.Int8OID), col("lake", types.TextOID), col("kind", types.TextOID), col("state", types.TextOID),
	col("dry_run", types.BoolOID), col("asked", types.TimestamptzOID), col("started", types.TimestamptzOID),
	col("ended", types.TimestamptzOID), col("asked_by", types.TextOID), col("options", types.TextOID), col("counts", types.TextOID),
	col("bytes", types.Int8OID), col("deferred", types.Int8OID), col("notes", types.TextOID), col("error", types.TextOID),
	col("plan", types.TextOID),
}

var (
	statusCols = []exec.Column{
		col("lake", types.TextOID), col("kind", types.TextOID), col("mode", types.TextOID), col("state", types.TextOID),
		col("job", types.Int8OID), col("last_done", types.TimestamptzOID), col("next_due", types.TimestamptzOID),
		col("why", types.TextOID), col("problem", types.TextOID), col("counts", types.TextOID), col("bytes", types.Int8OID),
		col("deferred", types.Int8OID),
	}
	policyCols = []exec.Column{
		col("lake", types.TextOID), col("schema_name", types.TextOID), col("table_name", types.TextOID), col("name", types.TextOID),
		col("value", types.TextOID),
	}
	forceCols  = []exec.Column{col("name", types.TextOID), col("value", types.TextOID), col("set_for", types.TextOID)}
	beginCols  = []exec.Column{col("job", types.Int8OID)}
	reportCols = []exec.Column{col("job", types.Int8OID), col("stop", types.TextOID)}
	pauseCols  = []exec.Column{col("kind", types.TextOID), col("paused", types.BoolOID)}
	tagCols    = []exec.Column{
		col("lake", types.TextOID), col("tag", types.TextOID), col("snapshot_id", types.Int8OID),
		col("created_at", types.TimestamptzOID), col("note", types.TextOID),
	}
)

// Funcs returns the functions.
func Funcs(m Manager) []exec.Func {
	f := face{m}
	return []exec.Func{
		fn("gc_run", jobCols, f.run, "lake text", "kind text!", "options text?"),
		fn("gc_plan", jobCols, f.plan, "lake text", "kind text!", "options text?"),
		fn("gc_job", jobCols, f.job, "id bigint!"),
		fn("gc_cancel", jobCols, f.cancel, "id bigint!"),
		fn("gc_status", statusCols, f.status, "lake text?"),
		fn("gc_pause", pauseCols, f.pause, "kind text?", "note text?"),
		fn("gc_resume", pauseCols, f.resume, "kind text?"),
		fn("gc_policies", forceCols, f.inForce, "lake text!", "schema text?", "table text?"),
		fn("gc_policy_set", policyCols, f.setPolicy, "name text!", "value text!", "lake text?", "schema text?", "table text?"),
		fn("gc_policy_reset", policyCols, f.resetPolicy, "name text!", "lake text?", "schema text?", "table text?"),
		fn("worker_begin", beginCols, f.workerBegin, "lake text!", "dry_run boolean!", "options text?"),
		fn("worker_report", reportCols, f.workerReport, "job bigint!", "report text!"),
		fn("worker_end", jobCols, f.workerEnd, "job bigint!", "state text!", "report text?", "error text?"),
		fn("snapshot_tag", tagCols, f.tag, "lake text!", "tag text!", "snapshot bigint?", "note text?", "move boolean?"),
		fn("snapshot_untag", tagCols, f.untag, "lake text!", "tag text!"),
	}
}

// fn makes a function that returns rows. An argument is its name and type, with ! when it
// must not be NULL and ? when it may be left out, which is NULL then.
func fn(name string, cols []exec.Column, rows func(*call) ([]exec.Row, error), args ...string) exec.Func {
	f := exec.Func{Schema: Schema, Name: name, Ret: types.RecordOID, Set: true, Cols: cols, NullCall: true, Vol: exec.Volatile}
	needed := make([]bool, len(args))
	for i, a := range args {
		arg, typ, _ := strings.Cut(a, " ")
		needed[i] = strings.HasSuffix(typ, "!")
		if strings.HasSuffix(typ, "?") {
			f.Defaults++
		}
		oid, ok := types.ByName(strings.TrimRight(typ, "!?"))
		if !ok {
			panic("sqlface: type of " + a) // a defect of Funcs, which every test calls
		}
		f.Args, f.ArgNames = append(f.Args, oid), append(f.ArgNames, arg)
	}
	f.Rows = func(c *exec.Call) (exec.Iter, error) {
		x := &call{c: c}
		for i, need := range needed {
			if need && !x.given(i) {
				return nil, pgerr.New(pgerr.NullValueNotAllowed, "%s.%s: the argument %q must not be NULL", Schema, name, f.ArgNames[i])
			}
		}
		out, err := rows(x)
		if err != nil {
			return nil, toPG(err)
		}
		return &exec.SliceIter{Items: out}, nil
	}
	return f
}
