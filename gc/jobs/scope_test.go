package jobs

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/meta/metatest"
	"github.com/eiderdb/eider/kv/store"
)

// A policy is set for what exists, by its last name; a name that is not there is refused together with those that are like it.
func TestPolicyOfNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "sales", "stock")
	w.write(func(txn *store.Txn) error {
		l, err := meta.Open(txn, "sales")
		if err != nil {
			return err
		}
		for name, columns := range map[string][]string{
			"ducklake_schema": {"schema_id", "schema_name varchar", "begin_snapshot", "end_snapshot"},
			"ducklake_table":  {"table_id", "schema_id", "table_name varchar", "begin_snapshot", "end_snapshot"},
		} {
			if err := metatest.CreateTable(txn, l.Schema(), name, columns...); err != nil {
				return err
			}
		}
		for i, s := range []string{"main", "archive"} {
			if err := l.Table("ducklake_schema").Insert(meta.Values{"schema_id": meta.Int(int64(i)), "schema_name": meta.Str(s), "begin_snapshot": meta.Int(0)}); err != nil {
				return err
			}
		}
		for _, x := range []struct {
			id, schema int64
			name       string
			begin, end int64
		}{{5, 0, "orders", 1, 0}, {6, 0, "ordres_old", 1, 3}, {6, 0, "returns", 3, 0}, {7, 0, "gone", 1, 2}, {8, 1, "orders_2020", 1, 0}} {
			v := meta.Values{"table_id": meta.Int(x.id), "schema_id": meta.Int(x.schema), "table_name": meta.Str(x.name), "begin_snapshot": meta.Int(x.begin)}
			if x.end > 0 {
				v["end_snapshot"] = meta.Int(x.end)
			}
			if err := l.Table("ducklake_table").Insert(v); err != nil {
				return err
			}
		}
		return nil
	})
	for _, c := range []struct {
		scope gc.Scope
		err   error
		says  string
	}{
		{gc.Scope{}, nil, ""},
		{gc.Scope{Lake: "sales"}, nil, ""},
		{gc.Scope{Lake: "sales", Schema: "archive"}, nil, ""},
		{gc.Scope{Lake: "sales", Schema: "main", Table: "orders"}, nil, ""},
		{gc.Scope{Lake: "sales", Schema: "main", Table: "returns"}, nil, ""},
		{gc.Scope{Lake: "sales", Schema: "main", Table: "gone"}, nil, ""},
		{gc.Scope{Lake: "sale"}, ErrNoLake, `"sale"; there is sales, stock`},
		{gc.Scope{Lake: "SALES"}, ErrNoLake, "there is sales, stock"},
		{gc.Scope{Lake: "stok"}, ErrNoLake, "there is stock, sales"},
		{gc.Scope{Lake: "sales", Schema: "Main"}, ErrNoObject, `schema "Main"; there is main, archive`},
		{gc.Scope{Lake: "sales", Schema: "main", Table: "ordres"}, ErrNoObject, "table main.ordres; there is orders, "},
		{gc.Scope{Lake: "sales", Schema: "main", Table: "ordres_old"}, ErrNoObject, "main.ordres_old"}, // it has another name now
		{gc.Scope{Lake: "sales", Schema: "archive", Table: "orders"}, ErrNoObject, "there is orders_2020"},
		{gc.Scope{Lake: "stock", Schema: "main"}, ErrNoObject, "there is none"},
	} {
		err := w.m.SetPolicy(context.Background(), "lake", gc.Setting{Scope: c.scope, Name: "retain-age", Value: "1d"})
		if !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v with %q", c.scope, err, c.err, c.says)
		}
		list := 0
		w.write(func(txn *store.Txn) error {
			rows, err := settings(context.Background(), txn)
			for _, r := range rows {
				if r.Scope == c.scope {
					list++
				}
			}
			return err
		})
		if (list == 1) != (c.err == nil) {
			t.Errorf("%s: %d rows", c.scope, list)
		}
	}
}
