package pgcatalog

import (
	"fmt"
	"strings"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/translate/types"
)

func indexGenerators() map[string][]generator {
	return map[string][]generator{
		"pg_catalog.pg_constraint": {{
			fill: "oid conname connamespace contype convalidated=t conrelid conindid confupdtype= confdeltype= confmatchtype= " +
				"conislocal=t connoinherit conkey conbin",
			emit: emitConstraints,
		}},
		"pg_catalog.pg_index": {{
			fill: "indexrelid indrelid indnatts indnkeyatts indisunique indisprimary indimmediate=t indisvalid=t indisready=t " +
				"indislive=t indkey indcollation indclass indoption",
			emit: emitIndexes,
		}},
		"pg_catalog.pg_indexes": {{fill: "schemaname tablename indexname indexdef", emit: emitIndexDefs}},
	}
}

// constraints calls f for every constraint of a table: keys first, then checks.
func constraints(t *rel.Table, f func(*constraint) error) error {
	for i := range t.Indexes {
		ix := &t.Indexes[i]
		if !ix.Constraint {
			continue
		}
		k := constraint{oid: ix.OID, name: ix.Name, kind: 'u', index: ix}
		if ix.Primary {
			k.kind = 'p'
		}
		if err := f(&k); err != nil {
			return err
		}
	}
	for i := range t.Checks {
		ck := &t.Checks[i]
		if err := f(&constraint{oid: checkOID(t.OID, i), name: ck.Name, kind: 'c', check: ck}); err != nil {
			return err
		}
	}
	return nil
}

// constraint is one row of pg_constraint.
type constraint struct {
	oid   uint32
	name  string
	kind  byte // p, u, c
	index *rel.Index
	check *rel.Check
}

func emitConstraints(q *query) error {
	w := tableFilter{}
	var only bool
	if w.oid, only = q.oid("conrelid"); only && w.oid == 0 {
		return nil
	}
	w.schema, _ = q.oid("connamespace")
	return w.each(q.c, func(s *rel.Schema, t *rel.Table) error {
		return constraints(t, func(k *constraint) error {
			key, bin, ind := types.Null, types.Null, uint32(0)
			if k.index != nil {
				key, ind = dInt2Array(k.index.Columns), k.index.OID
			} else {
				bin = dText(k.check.Expr)
			}
			return q.emit(dOID(k.oid), dText(k.name), dOID(s.OID), dChar(k.kind), dOID(t.OID), dOID(ind),
				dBool(k.index != nil), key, bin)
		})
	})
}

func emitIndexes(q *query) error {
	w := tableFilter{}
	var only bool
	if w.oid, only = q.oid("indrelid"); only && w.oid == 0 {
		return nil
	}
	if oid, ok := q.oid("indexrelid"); ok && !only {
		_, t, ix, ok := indexByOID(q.c, oid)
		if !ok {
			return nil
		}
		return emitIndex(q, t, ix)
	}
	return w.each(q.c, func(_ *rel.Schema, t *rel.Table) error {
		for i := range t.Indexes {
			if err := emitIndex(q, t, &t.Indexes[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func emitIndex(q *query, t *rel.Table, ix *rel.Index) error {
	n := int64(len(ix.Columns))
	coll, class, option := make([]uint32, n), make([]uint32, n), make([]int16, n)
	for i, num := range ix.Columns {
		if c, ok := columnByNum(t, num); ok {
			coll[i], class[i] = collationOf(c.Type), btreeClass(c.Type)
		}
	}
	return q.emit(dOID(ix.OID), dOID(t.OID), dInt(n), dInt(n), dBool(ix.Unique), dBool(ix.Primary),
		dInt2Vector(ix.Columns), dOIDVector(coll), dOIDVector(class), dInt2Vector(option))
}

// btreeClass is the default btree operator class of a type, 0 when pg_opclass does not
// list one. varchar has none of its own and uses text's.
func btreeClass(oid types.OID) uint32 {
	if oid == types.VarcharOID {
		oid = types.TextOID
	}
	return opclassOf()[oid]
}

func emitIndexDefs(q *query) error {
	w := tableFilter{}
	w.name, w.named = q.text("tablename")
	if name, ok := q.text("schemaname"); ok {
		s, ok := schemaByName(q.c, name)
		if !ok {
			return nil
		}
		w.schema = s.OID
	}
	return w.each(q.c, func(s *rel.Schema, t *rel.Table) error {
		for i := range t.Indexes {
			ix := &t.Indexes[i]
			if err := q.emit(dText(s.Name), dText(t.Name), dText(ix.Name), dText(indexDef(s, t, ix))); err != nil {
				return err
			}
		}
		return nil
	})
}

// indexDef is the CREATE INDEX statement that makes an index, with the table's name in full.
func indexDef(s *rel.Schema, t *rel.Table, ix *rel.Index) string {
	return indexDefOn(quoteIdent(s.Name)+"."+quoteIdent(t.Name), t, ix)
}

func indexDefOn(name string, t *rel.Table, ix *rel.Index) string {
	unique := ""
	if ix.Unique {
		unique = "UNIQUE "
	}
	return fmt.Sprintf("CREATE %sINDEX %s ON %s USING btree (%s)", unique, quoteIdent(ix.Name), name, columnList(t, ix.Columns))
}

func columnList(t *rel.Table, nums []int16) string {
	names := make([]string, 0, len(nums))
	for _, num := range nums {
		if c, ok := columnByNum(t, num); ok {
			names = append(names, quoteIdent(c.Name))
		}
	}
	return strings.Join(names, ", ")
}

// constraintDef is the constraint's clause of CREATE TABLE. Pretty ones have one pair of
// parentheses around a CHECK's expression, others two.
func constraintDef(t *rel.Table, k *constraint, pretty bool) string {
	switch k.kind {
	case 'p':
		return "PRIMARY KEY (" + columnList(t, k.index.Columns) + ")"
	case 'u':
		return "UNIQUE (" + columnList(t, k.index.Columns) + ")"
	}
	if pretty {
		return "CHECK (" + k.check.Expr + ")"
	}
	return "CHECK ((" + k.check.Expr + "))"
}
