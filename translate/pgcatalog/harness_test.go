package pgcatalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/kv/store/storetest"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// fakeSession is a session of user "eider" in the catalog "lake".
type fakeSession struct {
	path    []string
	notices []string
	set     map[string]string
}

func (f *fakeSession) User() string        { return "eider" }
func (f *fakeSession) SessionUser() string { return "eider" }
func (f *fakeSession) Database() string    { return "lake" }
func (f *fakeSession) DatabaseOID() uint32 { return 16384 }
func (f *fakeSession) PID() int32          { return 4711 }
func (f *fakeSession) SearchPath() []string {
	if f.path == nil {
		return []string{"public"}
	}
	return f.path
}

func (f *fakeSession) Setting(name string) (string, bool) {
	v, ok := f.set[name]
	return v, ok
}

func (f *fakeSession) SetSetting(name, value string, _ bool) error {
	if f.set == nil {
		f.set = map[string]string{}
	}
	f.set[name] = value
	return nil
}
func (f *fakeSession) StatementTime() time.Time { return time.Unix(1_700_000_000, 0) }
func (f *fakeSession) Notice(e *pgerr.Error)    { f.notices = append(f.notices, e.Message) }

func (f *fakeSession) ProductVersion() string { return "0.1" }
func (f *fakeSession) StartTime() time.Time   { return time.Unix(1_700_000_000, 0) }

func (f *fakeSession) Settings() []Setting {
	return []Setting{{Name: "TimeZone", Value: "UTC", Boot: "GMT", Reset: "UTC", VarType: "string"}, {Name: "work_mem", Value: "4096", Unit: "kB", VarType: "integer"}}
}

func (f *fakeSession) Activities() []Activity {
	return []Activity{{
		PID: 4711, User: "eider", Database: "lake", DatabaseOID: 16384, AppName: "psql", Addr: "127.0.0.1:5000", Query: "SELECT 1",
		State: "active", Connected: time.Unix(1_700_000_000, 0), QueryStart: time.Unix(1_700_000_001, 0), Changed: time.Unix(1_700_000_001, 0),
	}}
}

func (f *fakeSession) Databases() []Database {
	return []Database{{OID: 16385, Name: "postgres"}, {OID: 16384, Name: "lake"}}
}

// column makes a column of a test table.
func column(num int16, name string, oid types.OID, mod int32) rel.Column {
	return rel.Column{Num: num, Name: name, Type: oid, Mod: mod}
}

// fixture is a transaction over a catalog with a few tables:
//
//	public.birds      a primary key, a unique key, an index, a check, a default, comments, a dropped column
//	public.view_birds a view
//	s2."Odd name"     a name that needs quotes
//	public.empty      no columns
func fixture(t testing.TB) *exec.Ctx {
	t.Helper()
	ctx := context.Background()
	s := storetest.Open(t)
	cat, err := s.Catalog("lake")
	if err != nil {
		t.Fatal(err)
	}
	txn := cat.Begin(store.TxnOptions{})
	t.Cleanup(func() { _ = txn.Rollback() })
	if err := txn.EnsureSnapshot(); err != nil {
		t.Fatal(err)
	}
	must := func(tbl *rel.Table, err error) *rel.Table {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return tbl
	}
	birds := &rel.Table{Schema: PublicOID, Name: "birds", Kind: rel.KindTable, Comment: "all of them", Columns: []rel.Column{
		column(1, "id", types.Int8OID, -1),
		column(2, "gone", types.TextOID, -1),
		column(3, "name", types.VarcharOID, 24),
		column(4, "weight", types.NumericOID, (10<<16|2)+4),
		column(5, "seen", types.TimestamptzOID, -1),
		column(6, "tags", types.TextArrayOID, -1),
	}, Indexes: []rel.Index{
		{Name: "birds_pkey", Columns: []int16{1}, Unique: true, Primary: true, Constraint: true},
		{Name: "birds_name_key", Columns: []int16{3, 4}, Unique: true, Constraint: true},
		{Name: "birds_seen", Columns: []int16{5}},
	}, Checks: []rel.Check{{Name: "birds_weight_check", Expr: "weight > 0"}}}
	birds.Columns[0].NotNull = true
	birds.Columns[2].Default, birds.Columns[2].Comment = "'x'", "as spoken"
	birds.Columns[5].NDims = 1
	made := must(txn.CreateTable(birds))
	changed := *made
	changed.Columns = append([]rel.Column(nil), made.Columns...)
	changed.Columns[1].Dropped = true
	must(txn.PutTable(&changed))
	must(txn.CreateTable(&rel.Table{
		Schema: PublicOID, Name: "view_birds", Kind: rel.KindView, View: "SELECT id FROM birds",
		Columns: []rel.Column{column(1, "id", types.Int8OID, -1)},
	}))
	s2, err := txn.CreateSchema("s2")
	if err != nil {
		t.Fatal(err)
	}
	must(txn.CreateTable(&rel.Table{
		Schema: s2.OID, Name: "Odd name", Kind: rel.KindTable,
		Columns: []rel.Column{column(1, "Col", types.BoolOID, -1), column(2, "select", types.UUIDOID, -1)},
	}))
	must(txn.CreateTable(&rel.Table{Schema: PublicOID, Name: "empty", Kind: rel.KindTable}))
	return &exec.Ctx{Context: ctx, Env: types.DefaultEnv(), Session: &fakeSession{}, Txn: txn}
}

// readAll returns a relation's rows as text: the columns asked for, "|" between them.
func readAll(c *exec.Ctx, name string, eq map[string]string, cols []string) ([]string, error) {
	schema, table, ok := strings.Cut(name, ".")
	if !ok {
		schema, table = catalogName, name
	}
	vt, ok := New().Table(schema, table)
	if !ok {
		return nil, fmt.Errorf("no relation %s", name)
	}
	r := vt.(*relation)
	if len(cols) == 0 {
		for _, col := range r.cols {
			cols = append(cols, col.Name)
		}
	}
	m := map[int]types.Datum{}
	for k, v := range eq {
		i, ok := r.index[k]
		if !ok {
			return nil, fmt.Errorf("%s has no column %s", name, k)
		}
		d, err := types.Input(c.Env, r.cols[i].Type, []byte(v))
		if err != nil {
			return nil, err
		}
		m[i] = d
	}
	it, err := vt.Rows(c, m)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	var out []string
	for {
		row, err := it.Next()
		if errors.Is(err, exec.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if len(row) != len(r.cols) && !(r.xmin && len(row) == len(r.cols)+1) {
			return nil, fmt.Errorf("%s: row of %d values", name, len(row))
		}
		fields := make([]string, len(cols))
		for k, col := range cols {
			i, ok := r.index[col]
			if !ok {
				return nil, fmt.Errorf("%s has no column %s", name, col)
			}
			if row[i].Valid {
				fields[k] = string(types.AppendText(c.Env, nil, r.cols[i].Type, row[i]))
			} else {
				fields[k] = "∅"
			}
		}
		out = append(out, strings.Join(fields, "|"))
	}
}
