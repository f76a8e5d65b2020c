package translate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// Settings of a catalog are rows of the table eider.options in it, so that SQL reads
// them, a copy of the catalog has them, and a transaction that changes one counts like
// any other. ALTER DATABASE ... SET makes the table.
const (
	settingsSchema = "eider"
	settingsTable  = "options"
)

// settingMigrate says what a client may do to the format of the catalog's lakes.
const settingMigrate = "eider.migrate"

// settingRebase says whether the server gives commits other ids that have lost the race
// for theirs and nothing else.
const settingRebase = "eider.rebase"

// catalogSettings are the settings that a catalog may have, with their values.
var catalogSettings = map[string][]string{
	settingMigrate:    {migrateAllow, migrateAny, migrateRefuse},
	settingRebase:     {"off", "on"},
	settingOrphanScan: {"allow", "refuse"},
}

// alterDatabaseSettings is ALTER DATABASE ... SET and RESET. Eider's settings are kept;
// PostgreSQL's are accepted, and not kept.
func (s *Session) alterDatabaseSettings(ctx context.Context, c *store.Catalog, st *ast.AlterDatabase) error {
	name, value := "", ""
	switch {
	case st.Reset != nil && st.Reset.All:
		name = ""
	case st.Reset != nil:
		name = st.Reset.Name
	case st.Set != nil:
		name = st.Set.Name
		if !st.Set.Default {
			value = strings.Join(st.Set.Values, ", ")
		}
	default:
		return nil
	}
	all := st.Reset != nil && st.Reset.All
	if !all && !strings.HasPrefix(name, settingsSchema+".") {
		return nil
	}
	if !all {
		if err := checkSetting(name, value); err != nil {
			return err
		}
	}
	if err := s.requireWritable("ALTER DATABASE"); err != nil {
		return err
	}
	if c.OID() == s.catalog.OID() {
		txn, err := s.newStatement()
		if err != nil {
			return err
		}
		return changeSetting(txn, name, value)
	}
	if err := s.preventInBlock("ALTER DATABASE of another database"); err != nil {
		return err
	}
	return commitSetting(ctx, c, name, value)
}

// ChangeSetting gives a catalog's setting, such as eider.migrate, a value; "" takes it back.
func ChangeSetting(ctx context.Context, c *store.Catalog, name, value string) error {
	if err := checkSetting(name, value); err != nil {
		return err
	}
	return commitSetting(ctx, c, name, value)
}

func checkSetting(name, value string) error {
	allowed, ok := catalogSettings[name]
	if !ok {
		return pgerr.New(pgerr.UndefinedObject, "unrecognized configuration parameter %q", name)
	}
	if value != "" && !slices.Contains(allowed, value) {
		return pgerr.New(pgerr.InvalidParameterValue, "invalid value for parameter %q: %q", name, value).
			WithHint("Available values: %s.", strings.Join(allowed, ", "))
	}
	return nil
}

// commitSetting changes a setting in a transaction of its own.
func commitSetting(ctx context.Context, c *store.Catalog, name, value string) error {
	txn := c.Begin(store.TxnOptions{Isolation: store.RepeatableRead, Sync: true})
	if err := changeSetting(txn, name, value); err != nil {
		return errors.Join(err, txn.Rollback())
	}
	return txn.Commit(context.WithoutCancel(ctx))
}

// changeSetting gives a catalog's setting a value, or none; name "" takes all away.
func changeSetting(txn *store.Txn, name, value string) (err error) {
	if err := txn.EnsureSnapshot(); err != nil {
		return err
	}
	tbl, ok := settingsOf(txn)
	if !ok {
		if value == "" {
			return nil
		}
		if tbl, err = makeSettings(txn); err != nil {
			return fmt.Errorf("make %s.%s: %w", settingsSchema, settingsTable, err)
		}
	}
	type old struct {
		id  uint64
		tup row.Tuple
	}
	var olds []old
	err = eachSetting(txn, tbl, func(id uint64, t row.Tuple, n, _ string) {
		if n == name || name == "" {
			olds = append(olds, old{id, slices.Clone(t)})
		}
	})
	if err != nil {
		return err
	}
	for _, o := range olds {
		if err := txn.Delete(tbl, o.id, o.tup); err != nil {
			return err
		}
	}
	if value == "" {
		return nil
	}
	var b row.Builder
	b.Reset()
	b.String(name)
	b.String(value)
	t, err := b.Tuple()
	if err != nil {
		return err
	}
	_, err = txn.Insert(tbl, t)
	return err
}

func settingsOf(txn *store.Txn) (*rel.Table, bool) {
	ns, ok := txn.SchemaByName(settingsSchema)
	if !ok {
		return nil, false
	}
	t, ok := txn.TableByName(ns.OID, settingsTable)
	if !ok || t.Kind != rel.KindTable || len(t.Columns) < 2 || t.Columns[0].Name != "name" || t.Columns[1].Name != "value" {
		return nil, false
	}
	return t, true
}

func makeSettings(txn *store.Txn) (*rel.Table, error) {
	ns, ok := txn.SchemaByName(settingsSchema)
	if !ok {
		var err error
		if ns, err = txn.CreateSchema(settingsSchema); err != nil {
			return nil, err
		}
	}
	column := func(name string) rel.Column {
		return rel.Column{Name: name, Type: uint32(types.TextOID), Mod: -1, NotNull: true}
	}
	return txn.CreateTable(&rel.Table{
		Schema: ns.OID, Name: settingsTable, Columns: []rel.Column{column("name"), column("value")},
		Indexes: []rel.Index{{Name: settingsTable + "_pkey", Columns: []int16{1}, Unique: true, Primary: true, Constraint: true}},
	})
}

func eachSetting(txn *store.Txn, tbl *rel.Table, fn func(id uint64, t row.Tuple, name, value string)) (err error) {
	it, err := txn.Scan(tbl, store.Access{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for it.Next() {
		t := it.Tuple()
		name, _, _ := t.Field(0)
		value, _, _ := t.Field(1)
		fn(it.RowID(), t, string(name), string(value))
	}
	return it.Err()
}

// catalogSetting returns a setting of the transaction's catalog; ok is false where it has
// none of the values that it may have.
func catalogSetting(txn *store.Txn, name string) (value string, ok bool, err error) {
	tbl, is := settingsOf(txn)
	if !is {
		return "", false, nil
	}
	err = eachSetting(txn, tbl, func(_ uint64, _ row.Tuple, n, v string) {
		if n == name && slices.Contains(catalogSettings[name], v) {
			value, ok = v, true
		}
	})
	return value, ok, err
}
