package pgcatalog

import (
	"strconv"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/translate/types"
)

// Class oids, for classoid columns and pg_catalog's own name lookups.
const (
	classPgClass     = 1259
	classPgNamespace = 2615
)

// generators maps a relation to what makes its rows. Relations that are not here have none.
func generators() map[string][]generator {
	all := map[string][]generator{}
	for _, part := range []map[string][]generator{
		classGenerators(), indexGenerators(), viewGenerators(), serverGenerators(), infoGenerators(), staticGenerators(), ownGenerators(),
	} {
		for name, g := range part {
			all[name] = append(all[name], g...)
		}
	}
	return all
}

func classGenerators() map[string][]generator {
	return map[string][]generator{
		"pg_catalog.pg_namespace": {{fill: "oid nspname nspowner xmin", emit: emitNamespaces}},
		"pg_catalog.pg_class": {{
			fill: "oid relname relnamespace relowner=10 relam relfilenode reltuples relhasindex relpersistence relkind " +
				"relnatts relchecks relhasrules relispopulated=t relreplident xmin",
			emit: emitClasses,
		}},
		"pg_catalog.pg_attribute": {{
			fill: "attrelid attname atttypid attstattarget attlen attnum attndims attcacheoff=-1 atttypmod attbyval attalign " +
				"attstorage attcompression= attnotnull atthasdef attidentity= attgenerated= attisdropped attislocal=t attcollation",
			emit: emitAttributes,
		}},
		"pg_catalog.pg_attrdef":     {{fill: "oid adrelid adnum adbin", emit: emitDefaults}},
		"pg_catalog.pg_description": {{fill: "objoid classoid objsubid description", emit: emitDescriptions}},
	}
}

func emitNamespaces(q *query) error {
	if name, ok := q.text("nspname"); ok {
		if s, ok := schemaByName(q.c, name); ok && s.Name == name {
			return q.emit(dOID(s.OID), dText(s.Name), dOID(ownerOID), dOID(uint32(s.Version)))
		}
		return nil
	}
	if oid, ok := q.oid("oid"); ok {
		if s, ok := schemaByOID(q.c, oid); ok {
			return q.emit(dOID(s.OID), dText(s.Name), dOID(ownerOID), dOID(uint32(s.Version)))
		}
		return nil
	}
	for _, s := range schemas(q.c) {
		if err := q.emit(dOID(s.OID), dText(s.Name), dOID(ownerOID), dOID(uint32(s.Version))); err != nil {
			return err
		}
	}
	return nil
}

// emitClasses lists tables and views, then indexes. A constraint on oid or relname leads
// straight to the relation; only when it names no table are the indexes walked.
func emitClasses(q *query) error {
	w := tableFilter{}
	w.oid, _ = q.oid("oid")
	w.name, w.named = q.text("relname")
	w.schema, _ = q.oid("relnamespace")
	if _, ok := q.eq[q.rel.index["oid"]]; ok && w.oid == 0 {
		return nil
	}
	kind, hasKind := q.text("relkind")
	found := false
	if !hasKind || kind == "r" || kind == "v" {
		err := w.each(q.c, func(s *rel.Schema, t *rel.Table) error {
			found = true
			return emitTableClass(q, s, t)
		})
		if err != nil {
			return err
		}
	}
	if !found && w.named && (!hasKind || kind == "r") {
		if err := emitGhost(q, w); err != nil {
			return err
		}
	}
	if hasKind && kind != "i" || found && (w.oid != 0 || w.named && w.schema != 0) {
		return nil
	}
	if w.named {
		return emitIndexNamed(q, w)
	}
	all := tableFilter{schema: w.schema}
	return all.each(q.c, func(s *rel.Schema, t *rel.Table) error {
		for i := range t.Indexes {
			ix := &t.Indexes[i]
			if w.oid != 0 && ix.OID != w.oid {
				continue
			}
			if err := emitIndexClass(q, s, t, ix); err != nil {
				return err
			}
		}
		return nil
	})
}

// emitGhost lists a dropped table of inlined data for whoever asks for it by its name: a
// client that has read the registry looks up each table of it, and takes back its own
// commit when one is gone by then. Lists of tables do not have it, and it has no rows.
func emitGhost(q *query, w tableFilter) error {
	if q.c.Txn == nil {
		return nil
	}
	for _, s := range userSchemas(q.c) {
		if w.schema != 0 && s.OID != w.schema {
			continue
		}
		if t, ok := q.c.Txn.GhostTable(s.OID, w.name); ok {
			if err := emitTableClass(q, s, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// emitIndexNamed lists the indexes of a name in the namespaces that a scan is about.
func emitIndexNamed(q *query, w tableFilter) error {
	for _, s := range userSchemas(q.c) {
		if w.schema != 0 && s.OID != w.schema {
			continue
		}
		if t, ix, ok := q.c.Txn.IndexByName(s.OID, w.name); ok {
			if err := emitIndexClass(q, s, t, ix); err != nil {
				return err
			}
		}
	}
	return nil
}

func emitTableClass(q *query, s *rel.Schema, t *rel.Table) error {
	am, file, replica := uint32(2), t.OID, byte('d')
	if t.Kind == rel.KindView {
		am, file, replica = 0, 0, 'n'
	}
	return q.emit(dOID(t.OID), dText(t.Name), dOID(s.OID), dOID(am), dOID(file), dFloat(-1),
		dBool(len(t.Indexes) > 0), dChar(persistence(t)), dChar(byte(t.Kind)),
		dInt(int64(len(t.Columns))), dInt(int64(len(t.Checks))), dBool(t.Kind == rel.KindView),
		dChar(replica), dOID(uint32(t.Version)))
}

func emitIndexClass(q *query, s *rel.Schema, t *rel.Table, ix *rel.Index) error {
	return q.emit(dOID(ix.OID), dText(ix.Name), dOID(s.OID), dOID(403), dOID(ix.OID), dFloat(0),
		dBool(false), dChar(persistence(t)), dChar('i'),
		dInt(int64(len(ix.Columns))), dInt(0), dBool(false), dChar('n'), dOID(uint32(t.Version)))
}

func persistence(t *rel.Table) byte {
	if t.Temp {
		return 't'
	}
	return 'p'
}

func emitAttributes(q *query) error {
	w := tableFilter{}
	if oid, ok := q.oid("attrelid"); ok {
		if oid == 0 {
			return nil
		}
		if _, ok := q.c.Txn.TableByOID(oid); !ok {
			if t, ok := q.c.Txn.GhostByOID(oid); ok {
				return emitColumns(q, t)
			}
			s, t, ix, ok := indexByOID(q.c, oid)
			if !ok {
				return nil
			}
			return emitIndexAttributes(q, s, t, ix)
		}
		w.oid = oid
	}
	err := w.each(q.c, func(_ *rel.Schema, t *rel.Table) error { return emitColumns(q, t) })
	if err != nil || w.oid != 0 {
		return err
	}
	return w.each(q.c, func(s *rel.Schema, t *rel.Table) error {
		for i := range t.Indexes {
			if err := emitIndexAttributes(q, s, t, &t.Indexes[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func emitColumns(q *query, t *rel.Table) error {
	for i := range t.Columns {
		if err := emitAttribute(q, t, &t.Columns[i]); err != nil {
			return err
		}
	}
	return nil
}

// emitAttribute writes a column as PostgreSQL keeps it: a dropped one stays with its
// number, a made-up name and no type, so that a join with pg_type loses it.
func emitAttribute(q *query, t *rel.Table, c *rel.Column) error {
	p := physical(c.Type)
	if c.Dropped {
		return q.emit(dOID(t.OID), dText(droppedName(c.Num)), dOID(0), dInt(0), dInt(int64(p.length)), dInt(int64(c.Num)),
			dInt(int64(c.NDims)), dInt(int64(c.Mod)), dBool(p.byVal), dChar(p.align), dChar(p.storage),
			dBool(false), dBool(false), dBool(true), dOID(p.collation))
	}
	return q.emit(dOID(t.OID), dText(c.Name), dOID(c.Type), dInt(-1), dInt(int64(p.length)), dInt(int64(c.Num)),
		dInt(int64(c.NDims)), dInt(int64(c.Mod)), dBool(p.byVal), dChar(p.align), dChar(p.storage),
		dBool(c.NotNull), dBool(c.Default != ""), dBool(false), dOID(p.collation))
}

func emitIndexAttributes(q *query, _ *rel.Schema, t *rel.Table, ix *rel.Index) error {
	for i, num := range ix.Columns {
		c, ok := columnByNum(t, num)
		if !ok {
			continue
		}
		p := physical(c.Type)
		if err := q.emit(dOID(ix.OID), dText(c.Name), dOID(c.Type), dInt(-1), dInt(int64(p.length)), dInt(int64(i+1)),
			dInt(int64(c.NDims)), dInt(int64(c.Mod)), dBool(p.byVal), dChar(p.align), dChar(p.storage),
			dBool(false), dBool(false), dBool(false), dOID(p.collation)); err != nil {
			return err
		}
	}
	return nil
}

// physicalType is what pg_attribute repeats of pg_type.
type physicalType struct {
	length    int16
	byVal     bool
	align     byte
	storage   byte
	collation uint32
}

func physical(oid types.OID) physicalType {
	in, ok := types.Lookup(oid)
	if !ok {
		return physicalType{length: -1, align: 'i', storage: 'x'}
	}
	return physicalType{length: in.Len, byVal: in.ByVal, align: in.Align, storage: in.Storage, collation: collationOf(oid)}
}

// collationOf is typcollation: the database's default for character types, "C" for name.
func collationOf(oid types.OID) uint32 {
	switch oid {
	case types.TextOID, types.VarcharOID, types.BpcharOID, types.TextArrayOID, types.VarcharArrayOID, types.BpcharArrayOID:
		return 100
	case types.NameOID, types.NameArrayOID:
		return 950
	}
	return 0
}

func emitDefaults(q *query) error {
	w := tableFilter{}
	w.oid, _ = q.oid("adrelid")
	return w.each(q.c, func(_ *rel.Schema, t *rel.Table) error {
		for i := range t.Columns {
			c := &t.Columns[i]
			if c.Default == "" || c.Dropped {
				continue
			}
			if err := q.emit(dOID(defaultOID(t.OID, c.Num)), dOID(t.OID), dInt(int64(c.Num)), dText(defaultText(c))); err != nil {
				return err
			}
		}
		return nil
	})
}

// defaultText is a DEFAULT as pg_get_expr prints it: a bare string literal gets its type.
func defaultText(c *rel.Column) string {
	if len(c.Default) >= 2 && c.Default[0] == '\'' && c.Default[len(c.Default)-1] == '\'' {
		return c.Default + "::" + types.FormatType(types.T{OID: c.Type, Mod: -1})
	}
	return c.Default
}

// emitDescriptions lists comments. R2 of DuckDB's load joins by objoid alone, which is
// safe because oids are unique within a catalog.
func emitDescriptions(q *query) error {
	w := tableFilter{}
	var only bool
	w.oid, only = q.oid("objoid")
	if only && w.oid == 0 {
		return nil
	}
	if only {
		if s, ok := schemaByOID(q.c, w.oid); ok {
			if s.Comment == "" {
				return nil
			}
			return q.emit(dOID(s.OID), dOID(classPgNamespace), dInt(0), dText(s.Comment))
		}
	} else {
		for _, s := range schemas(q.c) {
			if s.Comment == "" {
				continue
			}
			if err := q.emit(dOID(s.OID), dOID(classPgNamespace), dInt(0), dText(s.Comment)); err != nil {
				return err
			}
		}
	}
	return w.each(q.c, func(_ *rel.Schema, t *rel.Table) error {
		if t.Comment != "" {
			if err := q.emit(dOID(t.OID), dOID(classPgClass), dInt(0), dText(t.Comment)); err != nil {
				return err
			}
		}
		for i := range t.Columns {
			if c := &t.Columns[i]; c.Comment != "" && !c.Dropped {
				if err := q.emit(dOID(t.OID), dOID(classPgClass), dInt(int64(c.Num)), dText(c.Comment)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// notNullName is what information_schema calls the constraint behind NOT NULL.
func notNullName(schema, table uint32, num int16) string {
	return strconv.Itoa(int(schema)) + "_" + strconv.Itoa(int(table)) + "_" + strconv.Itoa(int(num)) + "_not_null"
}
