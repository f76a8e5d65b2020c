package translate_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/eiderdb/eider/kv/memkv"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate"
	"github.com/eiderdb/eider/translate/pgerr"
)

// DROP DATABASE IF EXISTS of a database that another session drops at the same moment is
// a notice, and no error names a database that nobody spoke of.
func TestDropDatabaseRace(t *testing.T) {
	ctx := context.Background()
	st, err := store.Open(ctx, memkv.New(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.CreateCatalog(ctx, "lake"); err != nil {
		t.Fatal(err)
	}
	deps := translate.Deps{Store: st, Version: "0", Shared: translate.NewShared(translate.SharedOptions{})}
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for n := range errs {
		s, err := translate.NewSession(deps, translate.SessionOptions{User: "eider", Database: "lake", PID: int32(n + 1)})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		wg.Go(func() {
			for range 300 {
				err := s.Simple(ctx, "create database other", &transcript{sess: s})
				if err != nil && pgerr.CodeOf(err) != pgerr.DuplicateDatabase {
					errs[n] = err
				}
				if err := s.Simple(ctx, "drop database if exists other", &transcript{sess: s}); err != nil {
					errs[n] = err
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
