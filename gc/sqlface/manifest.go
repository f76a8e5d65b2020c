package sqlface

import (
	"context"
	"errors"
	"iter"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/clean"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// Manifests plans jobs that delete files, and tells every file.
type Manifests interface {
	// Manifest writes to the sink what a job of the kind would do now with the lake's files,
	// with some policies overridden. An error of the sink ends it, and is returned.
	Manifest(ctx context.Context, catalog, lake string, k gc.Kind, over map[string]string, sink clean.Sink) error
}

var manifestCols = []exec.Column{
	col("path", types.TextOID), col("size", types.Int8OID), col("reason", types.TextOID), col("action", types.TextOID),
}

// ManifestFunc returns gc_manifest: a dry run whose files come as rows, all of them, as they
// are found. It is not recorded as a job, and writes nothing.
func ManifestFunc(m Manifests) exec.Func {
	none := func(*call) ([]exec.Row, error) { return nil, nil }
	f := fn("gc_manifest", manifestCols, none, "lake text!", "kind text!", "options text?")
	check := f.Rows
	f.Rows = func(ec *exec.Call) (exec.Iter, error) {
		if _, err := check(ec); err != nil {
			return nil, err
		}
		c := &call{c: ec}
		k, err := c.anyKind(1)
		if err == nil && k != gc.Cleanup && k != gc.Orphans {
			err = pgerr.New(pgerr.InvalidParameterValue, "there are manifests of the kinds cleanup and orphans")
		}
		var o options
		if err == nil {
			o, err = parseOptions(c.text(2), 0)
		}
		if err != nil {
			return nil, toPG(err)
		}
		r := &manifestRows{call: ec}
		r.next, r.stop = iter.Pull(func(yield func(clean.Line) bool) {
			r.err = m.Manifest(ec.Context, c.catalog(), c.text(0), k, o.over, lineSink(yield))
		})
		return r, nil
	}
	return f
}

// errEnough ends a dry run whose rows nobody reads any more.
var errEnough = errors.New("sqlface: enough")

// lineSink is a sink that hands lines on.
type lineSink func(clean.Line) bool

func (s lineSink) Write(l clean.Line) error {
	if !s(l) {
		return errEnough
	}
	return nil
}

// manifestRows are the rows of a dry run, which goes on as they are read.
type manifestRows struct {
	call *exec.Call
	next func() (clean.Line, bool)
	stop func()
	err  error // of the dry run, once it has ended
}

// Next implements exec.Iter.
func (r *manifestRows) Next() (exec.Row, error) {
	l, ok := r.next()
	switch {
	case ok:
		size := types.Null
		if l.Size >= 0 {
			size = dInt(l.Size)
		}
		return exec.Row{dText(l.Path), size, dTextOr(l.Reason), dText(l.Action)}, nil
	case r.err == nil:
		return nil, exec.EOF
	}
	if err := r.call.CheckNow(); err != nil {
		return nil, err // the statement was cancelled
	}
	return nil, toPG(r.err)
}

// Close implements exec.Iter. The dry run has ended when it returns.
func (r *manifestRows) Close() error {
	r.stop()
	return nil
}
