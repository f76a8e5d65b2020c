package translate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/pgerr"
)

// What a client may do to the format of a catalog's lakes.
const (
	migrateAllow  = "allow"  // to formats that this server knows
	migrateAny    = "any"    // to any
	migrateRefuse = "refuse" // nothing
)

// Migrations is the rule for changes of a lake's format: a client with
// AUTOMATIC_MIGRATION alters the metadata tables and raises ducklake_metadata's version
// in one transaction, after which older clients cannot attach the lake.
type Migrations struct {
	// Policy is allow (the default), any or refuse; the setting eider.migrate of a catalog
	// goes before it.
	Policy string
	// Checkpoint keeps a copy of the store before a migration is committed and returns its
	// name. Nil: no copies. When it fails the migration is refused.
	Checkpoint func(ctx context.Context, catalog, version string) (string, error)
}

// knownFormats are the versions of a lake that this server's checks know.
var knownFormats = map[string]bool{"0.1": true, "0.2": true, "0.3": true, "0.4": true, "1.0": true}

// formatKnown also takes development versions of a known format, such as 0.4-dev1.
func formatKnown(v string) bool {
	v, _, _ = strings.Cut(v, "-dev")
	return knownFormats[v]
}

const optionsTable = "ducklake_metadata"

// gateFormat lets a change of a lake's format pass, or refuses it. It runs as one of the
// last things before a commit; all other commits pay one look at a short list.
func (s *Session) gateFormat(ctx context.Context, txn *store.Txn) error {
	for _, oid := range txn.Touched(optionsTable) {
		tbl, ok := txn.TableByOID(oid)
		if !ok || tbl.Temp {
			continue
		}
		from, to, err := formatChange(txn, tbl)
		if err != nil {
			return fmt.Errorf("format of the lake: %w", err)
		}
		if from == "" || from == to { // a new lake, or another option
			continue
		}
		if err := s.migrate(ctx, txn, from, to); err != nil {
			return err
		}
	}
	return nil
}

// formatChange returns the lake's version before the transaction and after it; from is ""
// when there was none.
func formatChange(txn *store.Txn, tbl *rel.Table) (from, to string, err error) {
	base, err := txn.Base()
	if err != nil {
		return "", "", err
	}
	defer func() { _ = base.Rollback() }()
	if old, ok := base.TableByName(tbl.Schema, tbl.Name); ok {
		if from, err = formatOf(base, old); err != nil {
			return "", "", err
		}
	}
	to, err = formatOf(txn, tbl)
	return from, to, err
}

// formatOf reads the row of the version. The oldest lakes have no scopes.
func formatOf(txn *store.Txn, tbl *rel.Table) (version string, err error) {
	key, ok1 := tbl.Column("key")
	value, ok2 := tbl.Column("value")
	if !ok1 || !ok2 {
		return "", nil
	}
	scope, scoped := tbl.Column("scope")
	text := func(t row.Tuple, c *rel.Column) string {
		v, _, _ := t.Field(int(c.Num) - 1)
		return string(v)
	}
	it, err := txn.Scan(tbl, store.Access{})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for it.Next() {
		if t := it.Tuple(); text(t, key) == "version" && (!scoped || text(t, scope) == "") {
			version = text(t, value)
		}
	}
	return version, it.Err()
}

func (s *Session) migrate(ctx context.Context, txn *store.Txn, from, to string) error {
	m := s.shared.migrate
	policy, ok, err := catalogSetting(txn, settingMigrate)
	if err != nil {
		return err
	}
	if !ok {
		policy = m.Policy
	}
	catalog := s.catalog.Name()
	switch {
	case policy == migrateRefuse:
		return violationError(conflict.FormatRefused(catalog, from, to, settingMigrate))
	case policy != migrateAny && !formatKnown(to):
		return violationError(conflict.FormatTooNew(catalog, to, settingMigrate))
	}
	copied := "none"
	if m.Checkpoint != nil {
		if copied, err = m.Checkpoint(ctx, catalog, from); err != nil {
			s.log.Error("no checkpoint before a migration", "catalog", catalog, "from", from, "to", to, "error", err)
			return violationError(conflict.FormatUnsaved(catalog, from, to))
		}
	}
	s.log.Info("a client migrates a lake", "catalog", catalog, "from", from, "to", to, "checkpoint", copied, "user", s.opts.User)
	return nil
}

// violationError makes the error that a client gets.
func violationError(v conflict.Violation) error {
	e := pgerr.New(v.SQLState, "%s", v.Text)
	e.Detail, e.Hint = v.Detail, v.Hint
	return e
}
