package plan_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/kv/store/storetest"
	"github.com/eiderdb/eider/translate"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// recorder writes down what came of a batch: column types, rows, tags that are not
// SELECT's, and errors with their SQLSTATE.
type recorder struct {
	translate.Out // what the tests do not use
	b             strings.Builder
	done          int // where the last statement that ended ends
}

func (r *recorder) RowDescription(cols []exec.Column, _ []int16) error {
	for i, c := range cols {
		if i > 0 {
			r.b.WriteByte(' ')
		}
		fmt.Fprintf(&r.b, "%s:%d", c.Name, c.Type.OID)
	}
	r.b.WriteByte('\n')
	return nil
}

func (r *recorder) DataRow(row exec.Row, cols []exec.Column, _ []int16) error {
	for i, d := range row {
		if i > 0 {
			r.b.WriteByte('|')
		}
		if !d.Valid {
			r.b.WriteString("NULL")
			continue
		}
		r.b.Write(types.AppendText(types.DefaultEnv(), nil, cols[i].Type, d))
	}
	r.b.WriteByte('\n')
	return nil
}

func (r *recorder) CommandComplete(tag string) error {
	if !strings.HasPrefix(tag, "SELECT") {
		r.b.WriteString(tag + "\n")
	}
	r.done = r.b.Len()
	return nil
}
func (r *recorder) EmptyQuery() error                        { return nil }
func (r *recorder) Notice(*pgerr.Error) error                { return nil }
func (r *recorder) ParameterStatus(name, value string) error { return nil }

// fail drops what the failing statement sent before: PostgreSQL may find an error before
// it describes the rows or after.
func (r *recorder) fail(code, msg, detail string, pos int) {
	kept := r.b.String()[:r.done]
	r.b.Reset()
	r.b.WriteString(kept)
	fmt.Fprintf(&r.b, "ERROR %s: %s", code, msg)
	if pos > 0 {
		fmt.Fprintf(&r.b, " @%d", pos)
	}
	r.b.WriteByte('\n')
	if detail != "" {
		r.b.WriteString("DETAIL " + detail + "\n")
	}
}

type eider struct{ s *translate.Session }

func newEider(t testing.TB) *eider {
	st := storetest.Open(t)
	s, err := translate.NewSession(translate.Deps{Store: st, Version: "0"}, translate.SessionOptions{User: "eider", Database: "lake", PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &eider{s: s}
}

func (e *eider) run(sql string) string {
	var r recorder
	err := e.s.Simple(context.Background(), sql, &r)
	if pe := pgerr.As(err); pe != nil {
		r.fail(pe.Code, pe.Message, pe.Detail, pe.Position)
	} else if err != nil {
		fmt.Fprintf(&r.b, "FAIL %v\n", err)
	}
	return r.b.String()
}

// postgres is the oracle: with EIDER_ORACLE set to a connection string, -rewrite records
// what PostgreSQL answers.
type postgres struct{ c *pgconn.PgConn }

func newPostgres(t testing.TB, dsn string) *postgres {
	c, err := pgconn.Connect(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	p := &postgres{c: c}
	p.run("drop schema public cascade; create schema public")
	return p
}

func (p *postgres) run(sql string) string {
	var r recorder
	m := p.c.Exec(context.Background(), sql)
	for m.NextResult() {
		rr := m.ResultReader()
		fs := rr.FieldDescriptions()
		if len(fs) > 0 {
			for i, f := range fs {
				if i > 0 {
					r.b.WriteByte(' ')
				}
				fmt.Fprintf(&r.b, "%s:%d", f.Name, f.DataTypeOID)
			}
			r.b.WriteByte('\n')
		}
		for rr.NextRow() {
			for i, v := range rr.Values() {
				if i > 0 {
					r.b.WriteByte('|')
				}
				if v == nil {
					r.b.WriteString("NULL")
				} else {
					r.b.Write(v)
				}
			}
			r.b.WriteByte('\n')
		}
		tag, err := rr.Close()
		if err == nil {
			_ = r.CommandComplete(tag.String())
		}
	}
	err := m.Close()
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		r.fail(pe.Code, pe.Message, pe.Detail, int(pe.Position))
	} else if err != nil {
		fmt.Fprintf(&r.b, "FAIL %v\n", err)
	}
	return r.b.String()
}

// TestSQL runs testdata/sql: every directive is a batch, the expected output is what
// PostgreSQL 15 answers. A directive "ours" pins a difference.
func TestSQL(t *testing.T) {
	oracle := os.Getenv("EIDER_ORACLE")
	files, err := filepath.Glob("testdata/sql/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no test files", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			ours := newEider(t)
			var theirs *postgres
			if oracle != "" {
				theirs = newPostgres(t, oracle)
			}
			datadriven.RunTest(t, f, func(t *testing.T, d *datadriven.TestData) string {
				got := ours.run(d.Input)
				if theirs == nil {
					return got
				}
				want := theirs.run(d.Input)
				if d.Cmd == "ours" {
					return got
				}
				return want
			})
		})
	}
}
