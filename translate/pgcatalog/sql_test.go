package pgcatalog_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/eiderdb/eider/kv/store/storetest"
	"github.com/eiderdb/eider/translate"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// printer is a translate.Out that writes results as text.
type printer struct {
	b    strings.Builder
	env  func() *types.Env
	rows int
	mute bool // count rows, print nothing
}

func (p *printer) RowDescription(cols []exec.Column, _ []int16) error {
	if p.mute {
		return nil
	}
	for i, c := range cols {
		if i > 0 {
			p.b.WriteByte('|')
		}
		in, _ := types.Lookup(c.Type.OID)
		fmt.Fprintf(&p.b, "%s:%s", c.Name, in.Name)
	}
	p.b.WriteByte('\n')
	return nil
}

func (p *printer) DataRow(row exec.Row, cols []exec.Column, _ []int16) error {
	p.rows++
	if p.mute {
		return nil
	}
	for i, d := range row {
		if i > 0 {
			p.b.WriteByte('|')
		}
		if d.Valid {
			p.b.Write(types.AppendText(p.env(), nil, cols[i].Type, d))
		} else {
			p.b.WriteString("∅")
		}
	}
	p.b.WriteByte('\n')
	return nil
}

func (p *printer) CommandComplete(tag string) error {
	if !p.mute {
		fmt.Fprintf(&p.b, "%s\n", tag)
	}
	return nil
}
func (p *printer) EmptyQuery() error                    { return nil }
func (p *printer) ParameterStatus(string, string) error { return nil }
func (p *printer) CopyOut(bool, int) error              { return nil }
func (p *printer) CopyData([]byte) error                { return nil }
func (p *printer) CopyDone() error                      { return nil }
func (p *printer) Suspended() error                     { return nil }
func (p *printer) Notice(e *pgerr.Error) error          { return nil }
func (p *printer) CopyIn(bool, int) (translate.CopyReader, error) {
	return nil, errors.New("no client sends data here")
}

func newSession(t testing.TB) *translate.Session {
	t.Helper()
	st := storetest.Open(t)
	s, err := translate.NewSession(translate.Deps{Store: st, Version: "0.1"}, translate.SessionOptions{User: "eider", Database: "lake", PID: 7})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestSQL runs what clients send (testdata/sql: DuckDB's introspection in all its shapes,
// psql's \d commands, drivers' look-ups) through a session, one message per case.
func TestSQL(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata/sql", func(t *testing.T, path string) {
		s := newSession(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p := &printer{env: s.Env}
			if err := s.Simple(context.Background(), d.Input, p); err != nil {
				e := pgerr.As(err)
				if e == nil {
					d.Fatalf(t, "%v", err)
				}
				fmt.Fprintf(&p.b, "ERROR %s: %s\n", e.Code, e.Message)
				if e.Position > 0 {
					fmt.Fprintf(&p.b, "at %.40q\n", string([]rune(d.Input)[e.Position-1:]))
				}
			}
			return p.b.String()
		})
	})
}

// The load at attach, over a catalog as large as lakes get, and the look-up of one table.
func BenchmarkIntrospection(b *testing.B) {
	for _, n := range []int{100, 20000} {
		s := newSession(b)
		var sb strings.Builder
		for i := range n {
			fmt.Fprintf(&sb, "CREATE TABLE t%d (a bigint PRIMARY KEY, b text, c timestamptz);\n", i)
			if sb.Len() > 1<<20 || i == n-1 {
				if err := s.Simple(context.Background(), sb.String(), &printer{env: s.Env}); err != nil {
					b.Fatal(err)
				}
				sb.Reset()
			}
		}
		for _, q := range []struct{ name, sql string }{
			{"bulk", duckTables("")},
			{"one", duckTables("AND pg_namespace.nspname IN ('public')AND relname='t7'")},
			{"none", duckTables("AND pg_namespace.nspname IN ('public')AND relname='nope'")},
		} {
			b.Run(fmt.Sprintf("%s/%d", q.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					p := &printer{env: s.Env, mute: true}
					if err := s.Simple(context.Background(), q.sql, p); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// duckTables is the second statement of DuckDB 1.5.5's load, with its filter.
func duckTables(filter string) string {
	return strings.ReplaceAll(duckTablesText, "${FILTER}", filter)
}

const duckTablesText = `
SELECT pg_namespace.oid AS namespace_id, relname, relpages, attname,
    pg_type.typname type_name, atttypmod type_modifier, pg_attribute.attndims ndim,
    attnum, pg_attribute.attnotnull AS notnull, NULL constraint_id,
    NULL constraint_type, NULL constraint_key, type_ns.nspname AS type_schema,
    col_desc.description AS column_comment,
    tbl_desc.description AS table_comment
FROM pg_class
JOIN pg_namespace ON relnamespace = pg_namespace.oid
JOIN pg_attribute ON pg_class.oid=pg_attribute.attrelid
JOIN pg_type ON atttypid=pg_type.oid
JOIN pg_namespace type_ns ON pg_type.typnamespace = type_ns.oid
LEFT JOIN pg_description col_desc ON col_desc.objoid=pg_class.oid AND col_desc.objsubid=pg_attribute.attnum
LEFT JOIN pg_description tbl_desc ON tbl_desc.objoid=pg_class.oid AND tbl_desc.objsubid=0
WHERE attnum > 0 AND relkind IN ('r', 'v', 'm', 'f', 'p') ${FILTER}
UNION ALL
SELECT pg_namespace.oid AS namespace_id, relname, NULL relpages, NULL attname, NULL type_name,
    NULL type_modifier, NULL ndim, NULL attnum, NULL AS notnull,
    pg_constraint.oid AS constraint_id, contype AS constraint_type,
    conkey AS constraint_key, NULL AS type_schema,
    NULL AS column_comment, NULL AS table_comment
FROM pg_class
JOIN pg_namespace ON relnamespace = pg_namespace.oid
JOIN pg_constraint ON (pg_class.oid=pg_constraint.conrelid)
WHERE relkind IN ('r', 'v', 'm', 'f', 'p') AND contype IN ('p', 'u') ${FILTER}
ORDER BY namespace_id, relname, attnum, constraint_id;
`
