package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/expire"
	"github.com/eiderdb/eider/gc/fsck"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/sweep"
	"github.com/eiderdb/eider/gc/trim"
	"github.com/eiderdb/eider/kv/pebblekv"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/guard"
)

// Report is what the command prints.
type Report struct {
	Tables   map[string][]string `json:",omitempty"` // rows of a dump, sorted
	Findings []string            `json:",omitempty"` // of a dump
	Plan     gc.Result
	Result   gc.Result
	Steps    int           // transactions
	Stopped  bool          // ended by -stop
	Took     time.Duration // of the step alone
	Peak     int64         // of the process's memory, in bytes; 0 where the system does not say
}

type options struct {
	step, data, db, lake, only string
	before                     int64
	rows, stop                 int
	check                      bool
	plan                       bool
	prof                       string
	growth                     growth
}

func main() {
	var o options
	flag.StringVar(&o.data, "data", "", "data folder")
	flag.StringVar(&o.db, "db", "lake", "catalog")
	flag.StringVar(&o.lake, "lake", "public", "metadata schema")
	flag.Int64Var(&o.before, "before", 0, "expire snapshots before this time, in µs since 1970")
	flag.StringVar(&o.only, "only", "", "expire these snapshots: 3,5-9")
	flag.IntVar(&o.rows, "rows", 0, "rows of one transaction; 0: the default")
	flag.Int64Var(&o.growth.snapshots, "snapshots", 0, "grow by so many snapshots")
	flag.Int64Var(&o.growth.every, "every", 0, "grow by a data file that has ended for each so many snapshots")
	flag.Int64Var(&o.growth.columns, "columns", 0, "rows of statistics for each of these files")
	flag.Int64Var(&o.growth.orphans, "orphans", 0, "grow by so many rows of statistics of no file")
	flag.StringVar(&o.prof, "cpuprofile", "", "write a CPU profile of the step")
	flag.IntVar(&o.stop, "stop", 0, "end after so many transactions")
	flag.BoolVar(&o.check, "check", false, "check the lake after each transaction: Findings has what was not there before")
	flag.BoolVar(&o.plan, "plan", false, "plan first")
	flag.Parse()
	o.step = flag.Arg(0)
	rep, err := run(context.Background(), &o)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(rep)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gcstep:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o *options) (*Report, error) {
	e, err := pebblekv.Open(o.data, pebblekv.Options{})
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, e, store.Options{})
	if err != nil {
		return nil, err
	}
	cat, err := s.Catalog(o.db)
	if err != nil {
		return nil, err
	}
	if o.prof != "" {
		f, err := os.Create(o.prof)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, err
		}
		defer pprof.StopCPUProfile()
	}
	rep := &Report{}
	switch o.step {
	case "dump":
		err = rep.dump(ctx, cat, o.lake)
	case "expire":
		err = rep.expire(ctx, cat, o)
	case "trim":
		err = rep.trim(ctx, cat, o)
	case "grow":
		err = grow(ctx, cat, o.lake, o.growth)
	default:
		err = fmt.Errorf("no step %q", o.step)
	}
	if err != nil {
		return nil, err
	}
	rep.Peak = peak()
	return rep, s.Close()
}

// committer commits with all checks.
type committer struct{ guard *guard.Guard }

func (c committer) Commit(ctx context.Context, txn *store.Txn) error {
	return c.guard.Commit(ctx, txn, guard.Info{User: "eider gc"})
}

func newCommitter() committer { return committer{guard.New(guard.Options{Default: conflict.Enforce})} }

// errStop ends a step after some transactions.
var errStop = errors.New("stopped")

// progress counts transactions, looks at the lake after each and ends the step.
func (r *Report) progress(ctx context.Context, cat *store.Catalog, o *options, stop context.CancelCauseFunc) (func(gc.Result), error) {
	var before []string
	check := func() (found []string, err error) {
		err = meta.Read(ctx, cat, func(txn *store.Txn) error {
			l, err := meta.Open(txn, o.lake)
			if err != nil {
				return err
			}
			found, err = problems(ctx, l)
			return err
		})
		return found, err
	}
	if o.check {
		var err error
		if before, err = check(); err != nil {
			return nil, err
		}
	}
	return func(gc.Result) {
		r.Steps++
		if o.check {
			found, err := check()
			if err != nil {
				stop(err)
			}
			for _, f := range found {
				if !slices.Contains(before, f) && !slices.Contains(r.Findings, f) {
					r.Findings = append(r.Findings, f)
				}
			}
		}
		if r.Steps == o.stop {
			stop(errStop)
		}
	}, nil
}

func (r *Report) expire(ctx context.Context, cat *store.Catalog, o *options) (err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	progress, err := r.progress(context.WithoutCancel(ctx), cat, o, stop)
	if err != nil {
		return err
	}
	sel := expire.Selection{Before: o.before, HasBefore: o.before != 0}
	if sel.Only, err = ranges(o.only); err != nil {
		return err
	}
	eo := expire.Options{
		Committer: newCommitter(), Pace: meta.PaceOptions{Rows: o.rows}, Progress: progress,
	}
	if o.plan {
		if r.Plan, err = expire.Preview(ctx, cat, o.lake, sel, eo); err != nil {
			return err
		}
	}
	began := time.Now()
	r.Result, err = expire.Run(ctx, cat, o.lake, sel, eo)
	r.Took = time.Since(began)
	if r.Stopped = errors.Is(err, errStop); r.Stopped {
		return nil
	}
	return err
}

func (r *Report) trim(ctx context.Context, cat *store.Catalog, o *options) (err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	progress, err := r.progress(context.WithoutCancel(ctx), cat, o, stop)
	if err != nil {
		return err
	}
	if o.plan {
		if r.Plan, err = trim.Preview(ctx, cat, o.lake); err != nil {
			return err
		}
	}
	began := time.Now()
	r.Result, err = trim.Run(ctx, cat, o.lake, expire.Options{Committer: newCommitter(), Pace: meta.PaceOptions{Rows: o.rows}, Progress: progress})
	r.Took = time.Since(began)
	if r.Stopped = errors.Is(err, errStop); r.Stopped {
		return nil
	}
	return err
}

// ranges reads "3,5-9".
func ranges(s string) (out []sweep.Range, err error) {
	if s == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		first, last, both := strings.Cut(part, "-")
		if !both {
			last = first
		}
		var r sweep.Range
		if r.First, err = strconv.ParseInt(first, 10, 64); err != nil {
			return nil, err
		}
		if r.Last, err = strconv.ParseInt(last, 10, 64); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// dump reads all rows of a lake's tables, but for the times of the schedule.
func (r *Report) dump(ctx context.Context, cat *store.Catalog, name string) error {
	r.Tables = map[string][]string{}
	return meta.Read(ctx, cat, func(txn *store.Txn) error {
		l, err := meta.Open(txn, name)
		if err != nil {
			return err
		}
		for t := range l.Tables(meta.Prefix) {
			rows := []string{}
			err := t.Scan(ctx, func(x *meta.Row) error {
				rows = append(rows, line(t, x))
				return nil
			})
			if err != nil {
				return err
			}
			slices.Sort(rows)
			r.Tables[t.Name()] = rows
		}
		r.Findings, err = problems(ctx, l)
		return err
	})
}

// problems are the invariants that the lake breaks.
func problems(ctx context.Context, l meta.Lake) (list []string, err error) {
	rep, err := fsck.Check(ctx, l.Source(), fsck.Options{})
	if err != nil {
		return nil, err
	}
	for _, f := range rep.Findings {
		if f.Severity == fsck.Error {
			list = append(list, f.String())
		}
	}
	return list, nil
}

func line(t meta.Table, x *meta.Row) string {
	var b strings.Builder
	for i := range t.Descriptor().Columns {
		c := &t.Descriptor().Columns[i]
		if c.Dropped || c.Name == "schedule_start" {
			continue
		}
		b.WriteString(c.Name + "=")
		v := x.Value(c.Name)
		n, isInt := x.Int(c.Name)
		switch {
		case v == nil:
			b.WriteString("NULL ")
		case isInt:
			fmt.Fprintf(&b, "%d ", n)
		case c.Type == meta.Text || c.Type == meta.Varchar:
			fmt.Fprintf(&b, "%q ", v)
		default:
			b.WriteString(hex.EncodeToString(v) + " ")
		}
	}
	return b.String()
}

// peak is the most memory that the process has had, by Linux's account.
func peak() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscanf(rest, "%d kB", &kib); err != nil {
		return 0
	}
	return kib << 10
}
