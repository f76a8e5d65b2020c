package translate_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/memkv"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate"
	"github.com/eiderdb/eider/translate/pgerr"
)

// failingEngine refuses writes with an error while it has one.
type failingEngine struct {
	kv.Engine
	err atomic.Pointer[error]
}

func (e *failingEngine) Apply(b kv.Batch, sync bool) error {
	if err := e.err.Load(); err != nil {
		return fmt.Errorf("pebblekv: write %q: %w", "/srv/unique/data", *err)
	}
	return e.Engine.Apply(b, sync)
}

func (e *failingEngine) ApplyAsync(b kv.Batch, sync bool, epoch uint64) (func() error, error) {
	if err := e.err.Load(); err != nil {
		return nil, fmt.Errorf("pebblekv: write %q: %w", "/srv/unique/data", *err)
	}
	return e.Engine.ApplyAsync(b, sync, epoch)
}

// What storage reports reaches the client under the SQLSTATE of its kind, without the
// folder's path, and the session goes on.
func TestStorageErrors(t *testing.T) {
	ctx := context.Background()
	e := &failingEngine{Engine: memkv.New()}
	st, err := store.Open(ctx, e, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.CreateCatalog(ctx, "lake"); err != nil {
		t.Fatal(err)
	}
	s, err := translate.NewSession(translate.Deps{Store: st, Version: "0"}, translate.SessionOptions{User: "eider", Database: "lake", PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	run := func(sql string) error {
		return s.Simple(ctx, sql, &transcript{sess: s})
	}
	if err := run("create table t(a int)"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		err  error
		code string
	}{
		{kv.ErrDiskFull, pgerr.DiskFull},
		{kv.ErrIO, pgerr.IOError},
		{kv.ErrCorrupt, pgerr.DataCorrupted},
	} {
		for _, sql := range []string{
			"insert into t values (1)",
			"begin; insert into t values (1), (2); commit",
			"create table u(a int)",
			"delete from t",
			"truncate t",
			"create database other",
		} {
			if err := run("insert into t values (7)"); err != nil {
				t.Fatalf("%s: before: %v", sql, err)
			}
			e.err.Store(&c.err)
			err := run(sql)
			e.err.Store(nil)
			if got := pgerr.CodeOf(err); got != c.code {
				t.Errorf("%v: %s: %v", c.err, sql, err)
			} else if text := pgerr.As(err).Message; strings.Contains(text, "srv") {
				t.Errorf("%s shows the folder: %s", sql, text)
			}
			if s.TxStatus() != 'I' {
				t.Errorf("%s: status %c", sql, s.TxStatus())
			}
		}
	}
}
