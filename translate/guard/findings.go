package guard

import (
	"errors"
	"fmt"
	"slices"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
)

// Type oids of the columns of the tables that the guard makes.
const (
	oidInt8        = 20
	oidInt2        = 21
	oidInt4        = 23
	oidText        = 25
	oidVarchar     = 1043
	oidTimestamptz = 1184
)

// columnsOf are the columns of the guard's own tables.
func columnsOf(table string) []rel.Column {
	type col struct {
		name string
		oid  uint32
	}
	cols := []col{{"lake", oidText}, {"table_id", oidInt8}, {"check", oidText}, {"mode", oidText}}
	if table == findingsTable {
		cols = []col{
			{"found_at", oidTimestamptz},
			{"lake", oidText},
			{"snapshot_id", oidInt8},
			{"table_id", oidInt8},
			{"check", oidText},
			{"text", oidText},
			{"detail", oidText},
			{"user_name", oidText},
			{"application", oidText},
		}
	}
	out := make([]rel.Column, len(cols))
	for i, c := range cols {
		out[i] = rel.Column{Num: int16(i + 1), Name: c.name, Type: c.oid, Mod: -1}
	}
	return out
}

// ownTable returns one of the guard's tables, and makes it where it is missing.
func ownTable(txn *store.Txn, name string) (*rel.Table, error) {
	s, ok := txn.SchemaByName(schemaName)
	if !ok {
		var err error
		if s, err = txn.CreateSchema(schemaName); err != nil {
			return nil, err
		}
	}
	if t, ok := txn.TableByName(s.OID, name); ok {
		return t, nil
	}
	return txn.CreateTable(&rel.Table{Schema: s.OID, Name: name, Kind: rel.KindTable, Columns: columnsOf(name)})
}

// unfit says why a table of the name cannot take findings, "" when it can. Somebody may have
// made it, or altered it: it may have more columns, which stay NULL, but not fewer.
func unfit(t *rel.Table) string {
	if t.Kind != rel.KindTable {
		return "it is not a table"
	}
	if len(t.Checks) > 0 {
		return "it has check constraints"
	}
	ours := columnsOf(findingsTable)
	for i := range ours {
		c, ok := t.Column(ours[i].Name)
		switch {
		case !ok:
			return fmt.Sprintf("it has no column %q", ours[i].Name)
		case (c.Type != ours[i].Type && (c.Type != oidVarchar || ours[i].Type != oidText)) || c.Mod != -1:
			return fmt.Sprintf("its column %q is of another type", c.Name)
		}
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		always := slices.Contains([]string{"found_at", "lake", "check", "text", "user_name", "application"}, c.Name)
		if c.NotNull && !c.Dropped && !always {
			return fmt.Sprintf("its column %q takes no NULL", c.Name)
		}
	}
	return ""
}

// recordTries bounds how often findings are written again after a race for their table.
const recordTries = 5

// record notes what a commit that has landed was let pass: in the log, the metrics and
// the table of findings. It is a transaction of its own, so that findings neither hold up
// the commit nor make it lose a race.
func (r *run) record(cat *store.Catalog) {
	if len(r.findings) == 0 {
		return
	}
	for _, f := range r.findings {
		r.g.note(r.catalog, r.in, f.v, conflict.Warn)
	}
	now := r.g.o.Clock().UnixMicro()
	r.findings = slices.DeleteFunc(r.findings, func(f finding) bool {
		return f.v.Code == conflict.CodeUnread && r.g.often(deferredKey{r.catalog, f.lake, f.v.Code, f.v.Table}, now)
	})
	r.store(cat)
}

// store writes the findings.
func (r *run) store(cat *store.Catalog) {
	if len(r.findings) == 0 {
		return
	}
	var err error
	for range recordTries {
		if err = r.write(cat); !errors.Is(err, store.ErrSerialization) && !errors.Is(err, store.ErrUnique) && !errors.Is(err, store.ErrExists) {
			break
		}
	}
	if err != nil {
		r.g.o.Logger.Error("findings were not recorded", "catalog", r.catalog, "findings", len(r.findings), "error", err)
	}
}

func (r *run) write(cat *store.Catalog) error {
	txn := cat.Begin(store.TxnOptions{Isolation: store.RepeatableRead})
	if err := r.insert(txn); err != nil {
		return errors.Join(err, txn.Rollback())
	}
	return txn.Commit(r.ctx)
}

func (r *run) insert(txn *store.Txn) error {
	if err := txn.EnsureSnapshot(); err != nil {
		return err
	}
	t, err := ownTable(txn, findingsTable)
	if err != nil {
		return err
	}
	why := unfit(t)
	r.g.odd(r.catalog, findingsTable, why, "findings are not written")
	if why != "" {
		return nil
	}
	now := r.g.o.Clock().UnixMicro() - pgEpochMicros
	for _, f := range r.findings {
		values := map[string][]byte{
			"found_at": bigint(now), "lake": []byte(f.lake), "check": []byte(f.v.Code), "text": []byte(f.v.Text),
			"user_name": []byte(r.in.User), "application": []byte(r.in.Application),
		}
		if f.makes {
			values["snapshot_id"] = bigint(f.snapshot)
		}
		if f.v.Table != 0 {
			values["table_id"] = bigint(f.v.Table)
		}
		if f.v.Detail != "" {
			values["detail"] = []byte(f.v.Detail)
		}
		if err := (relation{txn, t}).insert(values); err != nil {
			return err
		}
	}
	return nil
}
