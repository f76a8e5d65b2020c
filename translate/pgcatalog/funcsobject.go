package pgcatalog

import (
	"strings"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

func objectFuncs() []exec.Func {
	toReg := func(t types.OID) evalFunc {
		return func(c *exec.Call) (types.Datum, error) {
			oid, err := NewNames(c.Ctx).RegLookup(t, str(c.Args[0]))
			if err != nil {
				if pgerr.CodeOf(err) == pgerr.InvalidName {
					return types.Null, err
				}
				return types.Null, nil
			}
			return dOID(oid), nil
		}
	}
	expr := func(c *exec.Call) (types.Datum, error) { return c.Args[0], nil }
	viewByOID := func(c *exec.Call) (types.Datum, error) {
		if t, ok := tableOf(c.Ctx, uint32(c.Args[0].I)); ok && t.Kind == rel.KindView {
			return dText(viewDef(t)), nil
		}
		return types.Null, nil
	}
	viewByName := func(c *exec.Call) (types.Datum, error) {
		oid, err := NewNames(c.Ctx).Class(str(c.Args[0]))
		if err != nil {
			return types.Null, err
		}
		if t, ok := tableOf(c.Ctx, oid); ok && t.Kind == rel.KindView {
			return dText(viewDef(t)), nil
		}
		return types.Null, nil
	}
	none := constant(types.Null)
	fns := []exec.Func{
		stable("to_regclass", types.RegclassOID, toReg(types.RegclassOID), tText),
		stable("to_regtype", types.RegtypeOID, toReg(types.RegtypeOID), tText),
		stable("to_regnamespace", types.RegnamespaceOID, toReg(types.RegnamespaceOID), tText),
		stable("to_regrole", types.RegroleOID, toReg(types.RegroleOID), tText),
		stable("to_regproc", types.RegprocOID, toReg(types.RegprocOID), tText),
		stable("to_regprocedure", types.RegprocedureOID, toReg(types.RegprocedureOID), tText),
		stable("to_regcollation", types.RegcollationOID, toReg(types.RegcollationOID), tText),
		nullable(stable("format_type", tText, formatType, tOID, tInt4)),
		stable("pg_get_expr", tText, expr, types.PgNodeTreeOID, tOID),
		stable("pg_get_expr", tText, expr, types.PgNodeTreeOID, tOID, tBool),
		stable("pg_get_constraintdef", tText, getConstraintDef, tOID),
		stable("pg_get_constraintdef", tText, getConstraintDef, tOID, tBool),
		stable("pg_get_indexdef", tText, getIndexDef, tOID),
		stable("pg_get_indexdef", tText, getIndexDef, tOID, tInt4, tBool),
		stable("pg_get_viewdef", tText, viewByOID, tOID),
		stable("pg_get_viewdef", tText, viewByOID, tOID, tBool),
		stable("pg_get_viewdef", tText, viewByOID, tOID, tInt4),
		stable("pg_get_viewdef", tText, viewByName, tText),
		stable("pg_get_viewdef", tText, viewByName, tText, tBool),
		stable("pg_get_userbyid", tName, func(c *exec.Call) (types.Datum, error) {
			oid := uint32(c.Args[0].I)
			if name, ok := roleName(c.Ctx, oid); ok {
				return dText(name), nil
			}
			if oid == ownerOID {
				return dText(ownerName(c.Ctx)), nil
			}
			return dText("unknown (OID=" + itoa(int64(oid)) + ")"), nil
		}, tOID),
		stable("obj_description", tText, objDescription, tOID),
		stable("obj_description", tText, objDescription, tOID, tName),
		stable("shobj_description", tText, none, tOID, tName),
		stable("col_description", tText, colDescription, tOID, tInt4),
		stable("pg_get_serial_sequence", tText, none, tText, tText),
		stable("pg_get_function_result", tText, none, tOID),
		stable("pg_get_function_arguments", tText, none, tOID),
		stable("pg_get_function_identity_arguments", tText, none, tOID),
		stable("pg_get_functiondef", tText, none, tOID),
		stable("pg_get_ruledef", tText, none, tOID),
		stable("pg_get_ruledef", tText, none, tOID, tBool),
		stable("pg_get_triggerdef", tText, none, tOID),
		stable("pg_get_triggerdef", tText, none, tOID, tBool),
		stable("pg_get_partkeydef", tText, none, tOID),
		stable("pg_get_partition_constraintdef", tText, none, tOID),
		stable("pg_get_statisticsobjdef", tText, none, tOID),
		stable("pg_get_statisticsobjdef_columns", tText, none, tOID),
		stable("pg_relation_is_publishable", tBool, constant(dBool(false)), types.RegclassOID),
		stable("pg_relation_filenode", tOID, func(c *exec.Call) (types.Datum, error) { return c.Args[0], nil }, types.RegclassOID),
		stable("pg_relation_is_updatable", tInt4, func(c *exec.Call) (types.Datum, error) {
			if t, ok := tableOf(c.Ctx, uint32(c.Args[0].I)); ok && t.Kind == rel.KindTable {
				return dInt(28), nil // INSERT, UPDATE and DELETE
			}
			return dInt(0), nil
		}, types.RegclassOID, tBool),
		stable("pg_column_is_updatable", tBool, func(c *exec.Call) (types.Datum, error) {
			t, ok := tableOf(c.Ctx, uint32(c.Args[0].I))
			return dBool(ok && t.Kind == rel.KindTable), nil
		}, types.RegclassOID, tInt2, tBool),
		stable("pg_tablespace_location", tText, constant(dText("")), tOID),
		stable("pg_index_column_has_property", tBool, none, types.RegclassOID, tInt4, tText),
	}
	return append(fns, regFuncs()...)
}

// regFuncs are the casts between names and the reg types: a function called like the type
// reads a name, text(reg type) prints one.
func regFuncs() []exec.Func {
	var fns []exec.Func
	for _, t := range []types.OID{
		types.RegclassOID, types.RegtypeOID, types.RegnamespaceOID, types.RegroleOID, types.RegprocOID, types.RegprocedureOID,
		types.RegcollationOID, types.RegoperOID, types.RegoperatorOID, types.RegconfigOID, types.RegdictionaryOID,
	} {
		read := func(c *exec.Call) (types.Datum, error) {
			oid, err := NewNames(c.Ctx).RegLookup(t, str(c.Args[0]))
			if err != nil {
				return types.Null, err
			}
			return dOID(oid), nil
		}
		write := func(c *exec.Call) (types.Datum, error) {
			if name, ok := NewNames(c.Ctx).RegName(t, uint32(c.Args[0].I)); ok {
				return dText(name), nil
			}
			return types.Datum{B: types.AppendText(c.Env, nil, types.T{OID: t, Mod: -1}, c.Args[0]), Valid: true}, nil
		}
		in, _ := types.Lookup(t)
		fns = append(fns, stable(in.Name, t, read, tText), stable("text", tText, write, t))
	}
	return fns
}

func tableOf(c *exec.Ctx, oid uint32) (*rel.Table, bool) {
	if c.Txn == nil || oid == 0 {
		return nil, false
	}
	return c.Txn.TableByOID(oid)
}

// formatType is format_type(oid, typmod): a NULL type is NULL, a NULL modifier none, and an
// unknown type "???".
func formatType(c *exec.Call) (types.Datum, error) {
	if !c.Args[0].Valid {
		return types.Null, nil
	}
	t := types.T{OID: types.OID(c.Args[0].I), Mod: -1}
	if c.Args[1].Valid {
		t.Mod = int32(c.Args[1].I)
	}
	if t.OID == 0 {
		return dText("-"), nil
	}
	if _, ok := types.Lookup(t.OID); !ok {
		return dText("???"), nil
	}
	return dText(types.FormatType(t)), nil
}

func getConstraintDef(c *exec.Call) (types.Datum, error) {
	want, out := uint32(c.Args[0].I), types.Null
	err := tableFilter{}.each(c.Ctx, func(_ *rel.Schema, t *rel.Table) error {
		if len(t.Indexes) == 0 && len(t.Checks) == 0 {
			return nil
		}
		return constraints(t, func(k *constraint) error {
			if k.oid == want {
				out = dText(constraintDef(t, k, len(c.Args) > 1 && c.Args[1].I != 0))
				return errStop
			}
			return nil
		})
	})
	if err == errStop { //nolint:errorlint // never wrapped: it ends our own walk
		err = nil
	}
	return out, err
}

// getIndexDef is pg_get_indexdef: the whole statement, or one column's name.
func getIndexDef(c *exec.Call) (types.Datum, error) {
	s, t, ix, ok := indexByOID(c.Ctx, uint32(c.Args[0].I))
	if !ok {
		return types.Null, nil
	}
	if len(c.Args) == 3 && c.Args[1].I != 0 {
		i := c.Args[1].I
		if i < 1 || i > int64(len(ix.Columns)) {
			return dText(""), nil
		}
		return dText(columnList(t, ix.Columns[i-1:i])), nil
	}
	if len(c.Args) == 3 && c.Args[2].I != 0 {
		name, _ := NewNames(c.Ctx).ClassName(t.OID)
		return dText(indexDefOn(name, t, ix)), nil
	}
	return dText(indexDef(s, t, ix)), nil
}

func objDescription(c *exec.Call) (types.Datum, error) {
	oid, class := uint32(c.Args[0].I), ""
	if len(c.Args) > 1 {
		class = str(c.Args[1])
	}
	if class == "" || class == "pg_class" {
		if t, ok := tableOf(c.Ctx, oid); ok {
			return dTextOr(t.Comment), nil
		}
	}
	if class == "" || class == "pg_namespace" {
		if s, ok := schemaByOID(c.Ctx, oid); ok {
			return dTextOr(s.Comment), nil
		}
	}
	return types.Null, nil
}

func colDescription(c *exec.Call) (types.Datum, error) {
	t, ok := tableOf(c.Ctx, uint32(c.Args[0].I))
	if !ok {
		return types.Null, nil
	}
	if col, ok := columnByNum(t, int16(c.Args[1].I)); ok {
		return dTextOr(col.Comment), nil
	}
	return types.Null, nil
}

// visibilityFuncs answer whether a name alone finds the object.
func visibilityFuncs() []exec.Func {
	fns := []exec.Func{
		stable("pg_table_is_visible", tBool, func(c *exec.Call) (types.Datum, error) {
			n, oid := NewNames(c.Ctx), uint32(c.Args[0].I)
			_, name, ok := n.lookup(oid)
			if !ok {
				return types.Null, nil
			}
			found, _, ok := n.visible(name)
			return dBool(ok && found == oid), nil
		}, tOID),
	}
	for _, name := range []string{
		"pg_type_is_visible", "pg_function_is_visible", "pg_operator_is_visible", "pg_collation_is_visible",
		"pg_opclass_is_visible", "pg_opfamily_is_visible", "pg_conversion_is_visible", "pg_statistics_obj_is_visible",
		"pg_ts_config_is_visible", "pg_ts_dict_is_visible", "pg_ts_parser_is_visible", "pg_ts_template_is_visible",
	} {
		fns = append(fns, stable(name, tBool, constant(dBool(true)), tOID))
	}
	return fns
}

// privilegeFuncs are has_…_privilege. There are no grants: whoever is let in may do
// everything, so they answer true for what exists. An object named by text must exist.
func privilegeFuncs() []exec.Func {
	yes := constant(dBool(true))
	var fns []exec.Func
	for _, name := range []string{
		"has_table_privilege", "has_schema_privilege", "has_database_privilege", "has_sequence_privilege", "has_function_privilege",
		"has_language_privilege", "has_tablespace_privilege", "has_type_privilege", "has_any_column_privilege", "has_foreign_data_wrapper_privilege",
		"has_server_privilege", "pg_has_role",
	} {
		eval := yes
		if name == "has_table_privilege" || name == "has_any_column_privilege" {
			eval = tablePrivilege
		}
		for _, obj := range []types.OID{tText, tOID} {
			fns = append(fns, stable(name, tBool, eval, obj, tText))
			for _, who := range []types.OID{tName, tOID} {
				fns = append(fns, stable(name, tBool, eval, who, obj, tText))
			}
		}
	}
	for _, obj := range []types.OID{tText, tOID} {
		for _, col := range []types.OID{tText, tInt2} {
			fns = append(fns, stable("has_column_privilege", tBool, yes, obj, col, tText))
			fns = append(fns, stable("has_column_privilege", tBool, yes, tName, obj, col, tText))
		}
	}
	return append(fns, stable("row_security_active", tBool, constant(dBool(false)), tOID))
}

func tablePrivilege(c *exec.Call) (types.Datum, error) {
	obj := c.Args[len(c.Args)-2]
	if c.Types[len(c.Args)-2].OID == tText {
		if _, err := NewNames(c.Ctx).Class(str(obj)); err != nil {
			return types.Null, err
		}
	}
	for p := range strings.SplitSeq(str(c.Args[len(c.Args)-1]), ",") {
		p = strings.ToUpper(strings.TrimSpace(p))
		switch strings.TrimSuffix(p, " WITH GRANT OPTION") {
		case "SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER":
		default:
			return types.Null, pgerr.New(pgerr.InvalidParameterValue, "unrecognized privilege type: %q", p)
		}
	}
	return dBool(true), nil
}
