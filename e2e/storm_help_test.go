package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/script"
)

func mustDuck(ctx context.Context, t testing.TB, s duck.Session, sql string) duck.Result {
	t.Helper()
	res, err := s.Query(ctx, sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return res
}

// pgOnly are findings that PostgreSQL leaves behind by its nature: NOW() is the start of the transaction, so a later snapshot may have an earlier time.
var pgOnly = map[string]bool{"snapshot-time-went-back": true}

// healthy checks the invariants of every lake in a database of a server; findings with one of the codes are let pass.
func healthy(ctx context.Context, target script.Target, db string, but ...string) error {
	found, err := script.Findings(ctx, target.DSN(db))
	if err != nil {
		return err
	}
	if target.Name() == "pg" {
		found = slices.DeleteFunc(found, func(f script.Finding) bool { return pgOnly[string(f.Code)] })
	}
	found = slices.DeleteFunc(found, func(f script.Finding) bool { return slices.Contains(but, string(f.Code)) })
	if len(found) == 0 {
		return nil
	}
	var b strings.Builder
	for i, f := range found {
		if i == 10 {
			fmt.Fprintf(&b, "\nand %d more", len(found)-i)
			break
		}
		fmt.Fprintf(&b, "\n%s: %s", f.Schema, f.Finding)
	}
	return errors.New("the lake is not healthy:" + b.String())
}
