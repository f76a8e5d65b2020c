package pgcatalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/translate/exec"
)

// Oids of things that no descriptor numbers. Both ranges lie above every oid that a
// catalog gives out (they start at 16384 and ascend).
const (
	checkOIDBase   = 3 << 30 // CHECK constraints: table oid and position
	defaultOIDBase = 2 << 30 // column defaults: table oid and attnum
	checksPerTable = 16
	attrsPerTable  = 1 << 11
)

// checkOID is the oid of a table's i-th CHECK constraint. It stays the same as long as
// the table's checks do.
func checkOID(table uint32, i int) uint32 {
	return checkOIDBase | (table*checksPerTable+uint32(i)%checksPerTable)&(1<<30-1)
}

func defaultOID(table uint32, attnum int16) uint32 {
	return defaultOIDBase | (table*attrsPerTable+uint32(attnum))&(1<<30-1)
}

// systemSchemas are the namespaces that every catalog has and no descriptor describes.
var systemSchemas = []*rel.Schema{
	{OID: CatalogOID, Name: catalogName, Comment: "system catalog schema"},
	{OID: ToastOID, Name: "pg_toast", Comment: "reserved schema for TOAST tables"},
	{OID: InfoOID, Name: infoName},
}

// tempSchema is the session's temporary namespace once it holds something, or nil: an
// empty one is not there for anybody.
func tempSchema(c *exec.Ctx) *rel.Schema {
	if c.Txn == nil {
		return nil
	}
	s := c.Txn.TempSchema()
	if s == nil {
		return nil
	}
	for range c.Txn.TempTables() {
		return s
	}
	return nil
}

// schemas returns the namespaces in oid order: the system's, the user's and the
// session's temporary one.
func schemas(c *exec.Ctx) []*rel.Schema {
	out := slices.Clone(systemSchemas)
	if c.Txn == nil {
		return out
	}
	out = append(out, userSchemas(c)...)
	slices.SortFunc(out, func(a, b *rel.Schema) int { return int(int64(a.OID) - int64(b.OID)) })
	return out
}

// userSchemas returns the namespaces that hold relations of users, in oid order.
func userSchemas(c *exec.Ctx) []*rel.Schema {
	if c.Txn == nil {
		return nil
	}
	var out []*rel.Schema
	for s := range c.Txn.Schemas() {
		out = append(out, s)
	}
	if t := tempSchema(c); t != nil {
		i, _ := slices.BinarySearchFunc(out, t.OID, func(s *rel.Schema, o uint32) int { return int(int64(s.OID) - int64(o)) })
		if i == len(out) || out[i].OID != t.OID {
			out = slices.Insert(out, i, t)
		}
	}
	return out
}

func schemaByName(c *exec.Ctx, name string) (*rel.Schema, bool) {
	for _, s := range systemSchemas {
		if s.Name == name {
			return s, true
		}
	}
	if c.Txn == nil {
		return nil, false
	}
	if t := c.Txn.TempSchema(); t != nil && (name == t.Name || name == "pg_temp") {
		t = tempSchema(c)
		return t, t != nil
	}
	return c.Txn.SchemaByName(name)
}

func schemaByOID(c *exec.Ctx, oid uint32) (*rel.Schema, bool) {
	for _, s := range systemSchemas {
		if s.OID == oid {
			return s, true
		}
	}
	if c.Txn == nil {
		return nil, false
	}
	return c.Txn.SchemaByOID(oid)
}

// tablesOf calls f for the relations of a namespace in name order.
func tablesOf(c *exec.Ctx, s *rel.Schema, f func(*rel.Table) error) error {
	for t := range c.Txn.Tables(s.OID) {
		if err := f(t); err != nil {
			return err
		}
	}
	return nil
}

// tableFilter is what a scan's constraints say about the relations it is about.
type tableFilter struct {
	oid    uint32 // 0: any
	name   string
	schema uint32 // 0: any
	named  bool
}

// each calls f for the relations that pass, in (namespace oid, name) order. It may call f
// for others too: constraints are hints.
func (w tableFilter) each(c *exec.Ctx, f func(s *rel.Schema, t *rel.Table) error) error {
	if c.Txn == nil {
		return nil
	}
	if w.oid != 0 {
		t, ok := c.Txn.TableByOID(w.oid)
		if !ok {
			return nil
		}
		s, ok := schemaByOID(c, t.Schema)
		if !ok {
			return nil
		}
		return f(s, t)
	}
	for _, s := range userSchemas(c) {
		if w.schema != 0 && s.OID != w.schema {
			continue
		}
		if w.named {
			if t, ok := c.Txn.TableByName(s.OID, w.name); ok {
				if err := f(s, t); err != nil {
					return err
				}
			}
			continue
		}
		if err := tablesOf(c, s, func(t *rel.Table) error { return f(s, t) }); err != nil {
			return err
		}
	}
	return nil
}

// indexByOID finds an index and its table by the index's oid. It walks the tables: no
// introspection load needs it.
func indexByOID(c *exec.Ctx, oid uint32) (*rel.Schema, *rel.Table, *rel.Index, bool) {
	return findIndex(c, tableFilter{}, func(ix *rel.Index) bool { return ix.OID == oid })
}

func findIndex(c *exec.Ctx, w tableFilter, is func(*rel.Index) bool) (fs *rel.Schema, ft *rel.Table, fi *rel.Index, ok bool) {
	_ = w.each(c, func(s *rel.Schema, t *rel.Table) error {
		for i := range t.Indexes {
			if is(&t.Indexes[i]) {
				fs, ft, fi, ok = s, t, &t.Indexes[i], true
				return errStop
			}
		}
		return nil
	})
	return fs, ft, fi, ok
}

// columnByNum finds a live column by attnum.
func columnByNum(t *rel.Table, num int16) (*rel.Column, bool) {
	if num >= 1 && int(num) <= len(t.Columns) && t.Columns[num-1].Num == num {
		return &t.Columns[num-1], !t.Columns[num-1].Dropped
	}
	for i := range t.Columns {
		if t.Columns[i].Num == num {
			return &t.Columns[i], !t.Columns[i].Dropped
		}
	}
	return nil, false
}

// droppedName is what pg_attribute calls a dropped column.
func droppedName(num int16) string { return fmt.Sprintf("........pg.dropped.%d........", num) }

// ownerOID is the role that owns everything: PostgreSQL's bootstrap superuser.
const ownerOID = 10

// roles returns the roles of the server; the first one owns everything.
func roles(c *exec.Ctx) []Role {
	if l, ok := c.Session.(RoleLister); ok {
		if rs := l.Roles(); len(rs) > 0 {
			return rs
		}
	}
	return []Role{{OID: ownerOID, Name: c.Session.SessionUser(), Superuser: true, Login: true}}
}

func roleName(c *exec.Ctx, oid uint32) (string, bool) {
	for _, r := range roles(c) {
		if r.OID == oid {
			return r.Name, true
		}
	}
	return "", false
}

// databases returns the server's catalogs in oid order.
func databases(c *exec.Ctx) []Database {
	if l, ok := c.Session.(DatabaseLister); ok {
		ds := slices.Clone(l.Databases())
		slices.SortFunc(ds, func(a, b Database) int { return int(int64(a.OID) - int64(b.OID)) })
		return ds
	}
	return []Database{{OID: c.Session.DatabaseOID(), Name: c.Session.Database()}}
}

// quoteIdent quotes an identifier when it must be quoted to be read back.
func quoteIdent(s string) string {
	plain := s != "" && (s[0] == '_' || s[0] >= 'a' && s[0] <= 'z')
	for i := 1; plain && i < len(s); i++ {
		b := s[i]
		plain = b == '_' || b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '$'
	}
	if plain && !reserved[s] {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}
