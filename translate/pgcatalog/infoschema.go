package pgcatalog

import (
	"strconv"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/types"
)

func infoGenerators() map[string][]generator {
	return map[string][]generator{
		"information_schema.information_schema_catalog_name": {{fill: "catalog_name", emit: func(q *query) error {
			return q.emit(dText(q.c.Session.Database()))
		}}},
		"information_schema.schemata": {{fill: "catalog_name schema_name schema_owner", emit: emitSchemata}},
		"information_schema.tables": {{
			fill: "table_catalog table_schema table_name table_type is_insertable_into is_typed=NO commit_action",
			emit: emitInfoTables,
		}},
		"information_schema.columns": {{
			fill: "table_catalog table_schema table_name column_name ordinal_position column_default is_nullable data_type " +
				"character_maximum_length character_octet_length numeric_precision numeric_precision_radix numeric_scale " +
				"datetime_precision interval_precision=null maximum_cardinality=null collation_catalog collation_schema collation_name " +
				"udt_catalog udt_schema=pg_catalog udt_name dtd_identifier is_self_referencing=NO is_identity=NO identity_cycle=NO " +
				"is_generated=NEVER is_updatable",
			emit: emitInfoColumns,
		}},
		"information_schema.views": {{
			fill: "table_catalog table_schema table_name view_definition check_option=NONE is_updatable=NO is_insertable_into=NO " +
				"is_trigger_updatable=NO is_trigger_deletable=NO is_trigger_insertable_into=NO",
			emit: emitInfoViews,
		}},
		"information_schema.table_constraints": {{
			fill: "constraint_catalog constraint_schema constraint_name table_catalog table_schema table_name constraint_type " +
				"is_deferrable=NO initially_deferred=NO enforced=YES nulls_distinct",
			emit: emitTableConstraints,
		}},
		"information_schema.key_column_usage": {{
			fill: "constraint_catalog constraint_schema constraint_name table_catalog table_schema table_name column_name " +
				"ordinal_position position_in_unique_constraint=null",
			emit: emitKeyColumns,
		}},
		"information_schema.constraint_column_usage": {{
			fill: "table_catalog table_schema table_name column_name constraint_catalog constraint_schema constraint_name",
			emit: emitConstraintColumns,
		}},
		"information_schema.constraint_table_usage": {{
			fill: "table_catalog table_schema table_name constraint_catalog constraint_schema constraint_name",
			emit: emitConstraintTables,
		}},
		"information_schema.check_constraints": {{
			fill: "constraint_catalog constraint_schema constraint_name check_clause",
			emit: emitInfoChecks,
		}},
		"information_schema.character_sets": {{
			fill: "character_set_name=UTF8 character_repertoire=UCS form_of_use=UTF8 default_collate_catalog " +
				"default_collate_schema=pg_catalog default_collate_name=C",
			emit: func(q *query) error { return q.emit(dText(q.c.Session.Database())) },
		}},
		"information_schema.collations": {{
			fill: "collation_catalog collation_schema=pg_catalog collation_name pad_attribute",
			emit: func(q *query) error {
				for _, name := range []string{"default", "C", "POSIX"} {
					if err := q.emit(dText(q.c.Session.Database()), dText(name), dText("NO PAD")); err != nil {
						return err
					}
				}
				return nil
			},
		}},
		"information_schema.enabled_roles": {{fill: "role_name", emit: func(q *query) error {
			for _, r := range roles(q.c) {
				if err := q.emit(dText(r.Name)); err != nil {
					return err
				}
			}
			return nil
		}}},
		"information_schema.table_privileges":  {{fill: privilegeFill, emit: emitTablePrivileges}},
		"information_schema.role_table_grants": {{fill: privilegeFill, emit: emitTablePrivileges}},
		"information_schema.column_udt_usage": {{
			fill: "udt_catalog udt_schema=pg_catalog udt_name table_catalog table_schema table_name column_name",
			emit: emitUDTUsage,
		}},
	}
}

const privilegeFill = "grantor grantee table_catalog table_schema table_name privilege_type is_grantable=YES with_hierarchy"

func database(q *query) types.Datum { return dText(q.c.Session.Database()) }

func emitSchemata(q *query) error {
	db, owner := database(q), dText(ownerName(q.c))
	name, named := q.text("schema_name")
	for _, s := range schemas(q.c) {
		if named && s.Name != name {
			continue
		}
		if err := q.emit(db, dText(s.Name), owner); err != nil {
			return err
		}
	}
	return nil
}

func emitInfoTables(q *query) error {
	w, ok := byNames(q, "table_schema", "table_name")
	if !ok {
		return nil
	}
	db := database(q)
	return w.each(q.c, func(s *rel.Schema, t *rel.Table) error {
		kind, commit := "BASE TABLE", types.Null
		switch {
		case t.Kind == rel.KindView:
			kind = "VIEW"
		case t.Temp:
			kind = "LOCAL TEMPORARY"
		}
		return q.emit(db, dText(s.Name), dText(t.Name), dText(kind), yesNo(t.Kind == rel.KindTable), commit)
	})
}

func emitInfoColumns(q *query) error {
	w, ok := byNames(q, "table_schema", "table_name")
	if !ok {
		return nil
	}
	db := database(q)
	return w.each(q.c, func(s *rel.Schema, t *rel.Table) error {
		schema, table := dText(s.Name), dText(t.Name)
		for i := range t.Columns {
			c := &t.Columns[i]
			if c.Dropped {
				continue
			}
			f := factsOf(c.Type, c.Mod)
			def, coll := types.Null, types.Null
			if c.Default != "" {
				def = dText(defaultText(c))
			}
			collCat, collSchema := types.Null, types.Null
			if c.Type == types.NameOID {
				coll, collCat, collSchema = dText("C"), db, dText(catalogName)
			}
			if err := q.emit(db, schema, table, dText(c.Name), dInt(int64(c.Num)), def, yesNo(!c.NotNull), dText(f.dataType),
				f.charLen, f.octetLen, f.precision, f.radix, f.scale, f.datetime, collCat, collSchema, coll,
				db, dText(f.udt), dText(strconv.Itoa(int(c.Num))), yesNo(t.Kind == rel.KindTable)); err != nil {
				return err
			}
		}
		return nil
	})
}

// typeFacts are what information_schema derives from a type and its modifier.
type typeFacts struct {
	dataType  string
	udt       string
	charLen   types.Datum
	octetLen  types.Datum
	precision types.Datum
	radix     types.Datum
	scale     types.Datum
	datetime  types.Datum
}

// maxOctets is character_octet_length of types without a limit.
const maxOctets = 1 << 30

func factsOf(oid types.OID, mod int32) typeFacts {
	f := typeFacts{dataType: types.FormatType(types.T{OID: oid, Mod: -1})}
	if in, ok := types.Lookup(oid); ok {
		f.udt = in.Name
		if in.IsArray() {
			f.dataType = "ARRAY"
			return f
		}
	}
	number := func(prec, radix int64) { f.precision, f.radix = dInt(prec), dInt(radix) }
	switch oid {
	case types.Int2OID:
		number(16, 2)
		f.scale = dInt(0)
	case types.Int4OID:
		number(32, 2)
		f.scale = dInt(0)
	case types.Int8OID:
		number(64, 2)
		f.scale = dInt(0)
	case types.Float4OID:
		number(24, 2)
	case types.Float8OID:
		number(53, 2)
	case types.NumericOID:
		f.radix = dInt(10)
		if mod >= 4 {
			f.precision = dInt(int64((mod - 4) >> 16 & 0xffff))
			f.scale = dInt(int64(((mod-4)&0x7ff ^ 1024) - 1024))
		}
	case types.VarcharOID, types.BpcharOID:
		f.octetLen = dInt(maxOctets)
		if mod >= 4 {
			f.charLen = dInt(int64(mod - 4))
			f.octetLen = dInt(int64(mod-4) * 4)
		}
	case types.TextOID:
		f.octetLen = dInt(maxOctets)
	case types.DateOID:
		f.datetime = dInt(0)
	case types.TimeOID, types.TimetzOID, types.TimestampOID, types.TimestamptzOID:
		f.datetime = dInt(6)
		if mod >= 0 {
			f.datetime = dInt(int64(mod))
		}
	case types.IntervalOID:
		f.datetime = dInt(6)
		if mod >= 0 && mod&0xffff != 0xffff {
			f.datetime = dInt(int64(mod & 0xffff))
		}
	}
	return f
}

func emitInfoViews(q *query) error {
	w, ok := byNames(q, "table_schema", "table_name")
	if !ok {
		return nil
	}
	db := database(q)
	return w.each(q.c, func(s *rel.Schema, t *rel.Table) error {
		if t.Kind != rel.KindView {
			return nil
		}
		return q.emit(db, dText(s.Name), dText(t.Name), dText(viewDef(t)))
	})
}

// infoConstraints calls f for every constraint of the tables that the scan's constraints
// leave, NOT NULL among them as information_schema has it.
func infoConstraints(q *query, f func(s *rel.Schema, t *rel.Table, name, kind string, cols []int16) error) error {
	w, ok := byNames(q, "table_schema", "table_name")
	if !ok {
		return nil
	}
	kinds := map[byte]string{'p': "PRIMARY KEY", 'u': "UNIQUE", 'c': "CHECK"}
	return w.each(q.c, func(s *rel.Schema, t *rel.Table) error {
		err := constraints(t, func(k *constraint) error {
			var cols []int16
			if k.index != nil {
				cols = k.index.Columns
			}
			return f(s, t, k.name, kinds[k.kind], cols)
		})
		if err != nil {
			return err
		}
		for i := range t.Columns {
			if c := &t.Columns[i]; c.NotNull && !c.Dropped {
				if err := f(s, t, notNullName(s.OID, t.OID, c.Num), "CHECK", nil); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func emitTableConstraints(q *query) error {
	db := database(q)
	return infoConstraints(q, func(s *rel.Schema, t *rel.Table, name, kind string, _ []int16) error {
		distinct := types.Null
		if kind == "UNIQUE" {
			distinct = dText("YES")
		}
		return q.emit(db, dText(s.Name), dText(name), db, dText(s.Name), dText(t.Name), dText(kind), distinct)
	})
}

func emitKeyColumns(q *query) error {
	db := database(q)
	return infoConstraints(q, func(s *rel.Schema, t *rel.Table, name, _ string, cols []int16) error {
		for i, num := range cols {
			c, ok := columnByNum(t, num)
			if !ok {
				continue
			}
			if err := q.emit(db, dText(s.Name), dText(name), db, dText(s.Name), dText(t.Name), dText(c.Name), dInt(int64(i+1))); err != nil {
				return err
			}
		}
		return nil
	})
}

func emitConstraintColumns(q *query) error {
	db := database(q)
	return infoConstraints(q, func(s *rel.Schema, t *rel.Table, name, _ string, cols []int16) error {
		for _, num := range cols {
			c, ok := columnByNum(t, num)
			if !ok {
				continue
			}
			if err := q.emit(db, dText(s.Name), dText(t.Name), dText(c.Name), db, dText(s.Name), dText(name)); err != nil {
				return err
			}
		}
		return nil
	})
}

func emitConstraintTables(q *query) error {
	db := database(q)
	return infoConstraints(q, func(s *rel.Schema, t *rel.Table, name, _ string, cols []int16) error {
		if cols == nil {
			return nil
		}
		return q.emit(db, dText(s.Name), dText(t.Name), db, dText(s.Name), dText(name))
	})
}

func emitInfoChecks(q *query) error {
	db := database(q)
	return tableFilter{}.each(q.c, func(s *rel.Schema, t *rel.Table) error {
		for i := range t.Checks {
			ck := &t.Checks[i]
			if err := q.emit(db, dText(s.Name), dText(ck.Name), dText("("+ck.Expr+")")); err != nil {
				return err
			}
		}
		for i := range t.Columns {
			c := &t.Columns[i]
			if !c.NotNull || c.Dropped {
				continue
			}
			if err := q.emit(db, dText(s.Name), dText(notNullName(s.OID, t.OID, c.Num)), dText(quoteIdent(c.Name)+" IS NOT NULL")); err != nil {
				return err
			}
		}
		return nil
	})
}

func emitTablePrivileges(q *query) error {
	w, ok := byNames(q, "table_schema", "table_name")
	if !ok {
		return nil
	}
	db, owner := database(q), dText(ownerName(q.c))
	return w.each(q.c, func(s *rel.Schema, t *rel.Table) error {
		for _, p := range []string{"INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"} {
			if err := q.emit(owner, owner, db, dText(s.Name), dText(t.Name), dText(p), yesNo(p == "SELECT")); err != nil {
				return err
			}
		}
		return nil
	})
}

func emitUDTUsage(q *query) error {
	w, ok := byNames(q, "table_schema", "table_name")
	if !ok {
		return nil
	}
	db := database(q)
	return w.each(q.c, func(s *rel.Schema, t *rel.Table) error {
		for _, c := range liveColumns(t) {
			if err := q.emit(db, dText(factsOf(c.Type, -1).udt), db, dText(s.Name), dText(t.Name), dText(c.Name)); err != nil {
				return err
			}
		}
		return nil
	})
}

// liveColumns are a table's columns without the dropped ones.
func liveColumns(t *rel.Table) []*rel.Column {
	out := make([]*rel.Column, 0, len(t.Columns))
	for i := range t.Columns {
		if !t.Columns[i].Dropped {
			out = append(out, &t.Columns[i])
		}
	}
	return out
}

var _ exec.Iter = (*rowIter)(nil)
