package node

import (
	"cmp"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/cmd/eider/config"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/kv/store/storetest"
)

// A table of the policies that can be read counts, however it was made; one that cannot is
// left alone, and named once.
func TestGrace(t *testing.T) {
	t.Parallel()
	const text, integer = meta.Text, meta.Int8
	for _, tc := range []struct {
		name    string
		columns []rel.Column
		want    time.Duration
		logged  bool
	}{
		{"ours", policyColumns(text, -1, false), time.Hour, false},
		{"not null, with a length", policyColumns(meta.Varchar, 104, true), time.Hour, false},
		{"foreign", []rel.Column{{Num: 1, Name: "policy", Type: integer, Mod: -1}}, 0, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cat, err := storetest.Open(t).Catalog("lake")
			if err != nil {
				t.Fatal(err)
			}
			g := &graces{log: slog.New(slog.DiscardHandler), defaults: policyDefaults(&config.Options{DeletionGrace: 2 * time.Hour})}
			grace := func() time.Duration {
				txn := cat.Begin(store.TxnOptions{Isolation: store.RepeatableRead})
				defer func() { _ = txn.Rollback() }()
				got, err := g.of(txn, "public")
				if err != nil {
					t.Error(err)
				}
				return got
			}
			if got := grace(); got != 2*time.Hour {
				t.Errorf("%v without policies, want the server's default", got)
			}
			makePolicies(t, cat, tc.columns)
			if got := grace(); got != cmp.Or(tc.want, 2*time.Hour) {
				t.Errorf("%v beside the server's default", got)
			}
			var log strings.Builder
			g = &graces{log: slog.New(slog.NewTextHandler(&log, nil))}
			for range 3 {
				txn := cat.Begin(store.TxnOptions{Isolation: store.RepeatableRead})
				got, err := g.of(txn, "public")
				if err != nil || got != tc.want {
					t.Errorf("%v %v, want %v", got, err, tc.want)
				}
				_ = txn.Rollback()
			}
			if n := strings.Count(log.String(), "eider.policies is not the server's"); (n == 1) != tc.logged || n > 1 {
				t.Errorf("logged: %s", &log)
			}
		})
	}
}

func policyColumns(typ uint32, mod int32, notNull bool) []rel.Column {
	var out []rel.Column
	for i, name := range []string{"lake", "schema_name", "table_name", "name", "value"} {
		out = append(out, rel.Column{Num: int16(i + 1), Name: name, Type: typ, Mod: mod, NotNull: notNull})
	}
	return out
}

// makePolicies makes the table, with a grace of an hour for all lakes where it has the columns.
func makePolicies(t *testing.T, cat *store.Catalog, columns []rel.Column) {
	t.Helper()
	txn := cat.Begin(store.TxnOptions{Isolation: store.RepeatableRead, Sync: true})
	s, err := txn.CreateSchema(meta.OwnSchema)
	if err != nil {
		t.Fatal(err)
	}
	tbl, err := txn.CreateTable(&rel.Table{Schema: s.OID, Name: "policies", Kind: rel.KindTable, Columns: columns})
	if err != nil {
		t.Fatal(err)
	}
	if len(columns) == 5 {
		var b row.Builder
		b.Reset()
		for _, v := range []string{"", "", "", "deletion-grace", "1h"} {
			b.Bytes([]byte(v))
		}
		tup, err := b.Tuple()
		if err == nil {
			_, err = txn.Insert(tbl, tup)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := txn.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}
