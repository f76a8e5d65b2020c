package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/clean"
	"github.com/eiderdb/eider/kv/pebblekv"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake/files"
	"github.com/eiderdb/eider/translate/guard"
)

// report is what the command prints.
type report struct {
	Result   gc.Result
	Manifest []json.RawMessage
}

type options struct {
	data, db, lake, folders, set string
	after                        time.Duration
	plan                         bool
	s3                           files.S3
	google                       bool
}

func main() {
	var o options
	flag.StringVar(&o.data, "data", "", "data folder")
	flag.StringVar(&o.db, "db", "lake", "catalog")
	flag.StringVar(&o.lake, "lake", "public", "metadata schema")
	flag.StringVar(&o.folders, "folders", "", "folders in which files may be deleted, separated by commas")
	flag.StringVar(&o.set, "set", "", "policies, as name=value, separated by commas")
	flag.DurationVar(&o.after, "after", 0, "act as if so much time had passed")
	flag.BoolVar(&o.plan, "plan", false, "a dry run")
	flag.StringVar(&o.s3.Endpoint, "s3-endpoint", "", "host:port without TLS")
	flag.StringVar(&o.s3.AccessKey, "s3-key", "", "access key")
	flag.StringVar(&o.s3.SecretKey, "s3-secret", "", "secret key")
	flag.BoolVar(&o.google, "google", false, "the storage and the keys are for gs://, not for s3://")
	flag.Parse()
	o.s3.Insecure, o.s3.PathStyle, o.s3.Region = true, true, "us-east-1"
	rep, err := run(context.Background(), &o, flag.Arg(0))
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(rep)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cleanstep:", err)
		os.Exit(1)
	}
}

// committer commits as the server's jobs do.
type committer struct{ g *guard.Guard }

func (c committer) Commit(ctx context.Context, txn *store.Txn) error {
	return c.g.Commit(ctx, txn, guard.Info{User: "cleanstep"})
}

func run(ctx context.Context, o *options, step string) (*report, error) {
	e, err := pebblekv.Open(o.data, pebblekv.Options{})
	if err != nil {
		return nil, err
	}
	st, err := store.Open(ctx, e, store.Options{})
	if err != nil {
		return nil, err
	}
	to := clean.AccessOptions{Folders: strings.Split(o.folders, ","), Spare: []string{o.data}}
	if o.google {
		to.GCS = o.s3
	} else {
		to.S3 = o.s3
	}
	access, err := clean.NewAccess(to)
	if err != nil {
		return nil, err
	}
	now := time.Now().Add(o.after)
	g := guard.New(guard.Options{Clock: func() time.Time { return now }})
	c := clean.New(clean.Options{
		Store: st, Access: access, Commit: committer{g}, Spare: []string{o.data},
		Fence: func(txn *store.Txn, lake string) (clean.Fence, error) { return g.Fence(txn, lake, nil) },
	})
	over := map[string]string{}
	for kv := range strings.SplitSeq(o.set, ",") {
		if name, value, ok := strings.Cut(kv, "="); ok {
			over[name] = value
		}
	}
	p, err := gc.NewSet(nil).For(o.lake).With(over)
	if err != nil {
		return nil, err
	}
	req := &gc.Request{Catalog: o.db, Lake: o.lake, Policies: p, Now: now, AskedBy: "cleanstep", Job: 1}
	var manifest bytes.Buffer
	rep := &report{}
	switch step {
	case "cleanup", "orphans":
		job := c.Cleanup(clean.JSONLines(&manifest))
		if step == "orphans" {
			job = c.Orphans(clean.JSONLines(&manifest))
		}
		do := job.Run
		if o.plan {
			do = job.Plan
		}
		rep.Result, err = do(ctx, req)
	case "restore":
		rep.Result, err = c.Restore(ctx, clean.Undo{Catalog: o.db, Lake: o.lake}, now)
	default:
		err = fmt.Errorf("no step %q", step)
	}
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(&manifest); d.More(); {
		var line json.RawMessage
		if err := d.Decode(&line); err != nil {
			return nil, err
		}
		rep.Manifest = append(rep.Manifest, line)
	}
	return rep, st.Close()
}
