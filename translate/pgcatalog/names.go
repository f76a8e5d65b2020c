package pgcatalog

import (
	"strconv"
	"strings"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// Names reads and prints object names in one execution's catalog and search path: what
// regclass and its relatives, to_regclass and pg_table_is_visible need.
type Names struct{ c *exec.Ctx }

// NewNames makes the name lookups of an execution.
func NewNames(c *exec.Ctx) *Names { return &Names{c: c} }

// SplitName splits a possibly qualified and quoted name as it stands in SQL text;
// unquoted parts are folded to lower case. ok is false when it is no name.
func SplitName(s string) (parts []string, ok bool) {
	s = strings.TrimSpace(s)
	for {
		var b strings.Builder
		i := 0
		if strings.HasPrefix(s, `"`) {
			i = 1
			for {
				j := strings.IndexByte(s[i:], '"')
				if j < 0 {
					return nil, false
				}
				b.WriteString(s[i : i+j])
				i += j + 1
				if i < len(s) && s[i] == '"' {
					b.WriteByte('"')
					i++
					continue
				}
				break
			}
		} else {
			for i < len(s) && s[i] != '.' && s[i] != ' ' && s[i] != '"' {
				i++
			}
			b.WriteString(strings.ToLower(s[:i]))
		}
		if b.Len() == 0 {
			return nil, false
		}
		parts = append(parts, b.String())
		s = strings.TrimLeft(s[i:], " ")
		if s == "" {
			return parts, true
		}
		if s[0] != '.' {
			return nil, false
		}
		s = strings.TrimLeft(s[1:], " ")
	}
}

// Class finds a relation by name as written: 42602 for what is no name, 42P01 and
// 3F000 for what is not there.
func (n *Names) Class(name string) (uint32, error) {
	parts, ok := SplitName(name)
	if !ok || len(parts) > 3 {
		return 0, pgerr.New(pgerr.InvalidName, "invalid name syntax")
	}
	if len(parts) == 3 {
		if parts[0] != n.c.Session.Database() {
			return 0, pgerr.New(pgerr.FeatureNotSupported, "cross-database references are not implemented: %q", name)
		}
		parts = parts[1:]
	}
	if len(parts) == 2 {
		s, ok := schemaByName(n.c, parts[0])
		if !ok {
			return 0, pgerr.New(pgerr.InvalidSchemaName, "schema %q does not exist", parts[0])
		}
		if oid, ok := n.classIn(s, parts[1]); ok {
			return oid, nil
		}
		return 0, pgerr.New(pgerr.UndefinedTable, "relation %q does not exist", parts[0]+"."+parts[1])
	}
	if oid, _, ok := n.visible(parts[0]); ok {
		return oid, nil
	}
	return 0, pgerr.New(pgerr.UndefinedTable, "relation %q does not exist", parts[0])
}

// classIn finds a relation, table or index, in one namespace.
func (n *Names) classIn(s *rel.Schema, name string) (uint32, bool) {
	switch s.OID {
	case CatalogOID, InfoOID:
		r, ok := shared().byName[s.Name][name]
		if !ok {
			return 0, false
		}
		return r.oid, true
	}
	if n.c.Txn == nil {
		return 0, false
	}
	if t, ok := n.c.Txn.TableByName(s.OID, name); ok {
		return t.OID, true
	}
	if _, ix, ok := n.c.Txn.IndexByName(s.OID, name); ok {
		return ix.OID, true
	}
	return 0, false
}

// path is the order in which an unqualified name is looked up.
func (n *Names) path() []*rel.Schema {
	var out []*rel.Schema
	explicit := false
	for _, name := range n.c.Session.SearchPath() {
		if s, ok := schemaByName(n.c, name); ok {
			out = append(out, s)
			explicit = explicit || s.OID == CatalogOID
		}
	}
	if !explicit {
		out = append([]*rel.Schema{{OID: CatalogOID, Name: catalogName}}, out...)
	}
	if t := tempSchema(n.c); t != nil {
		out = append([]*rel.Schema{t}, out...)
	}
	return out
}

// visible finds the relation that an unqualified name means.
func (n *Names) visible(name string) (oid, schema uint32, ok bool) {
	for _, s := range n.path() {
		if oid, ok := n.classIn(s, name); ok {
			return oid, s.OID, true
		}
	}
	return 0, 0, false
}

// lookup finds a relation's own name and namespace by its oid.
func (n *Names) lookup(oid uint32) (schema *rel.Schema, name string, ok bool) {
	if r, ok := shared().byOID[oid]; ok {
		return &rel.Schema{Name: r.schema, OID: schemaOIDOf(r)}, r.name, true
	}
	if n.c.Txn == nil || oid == 0 {
		return nil, "", false
	}
	if t, ok := n.c.Txn.TableByOID(oid); ok {
		s, ok := schemaByOID(n.c, t.Schema)
		return s, t.Name, ok
	}
	if s, _, ix, ok := indexByOID(n.c, oid); ok {
		return s, ix.Name, true
	}
	return nil, "", false
}

func schemaOIDOf(r *relation) uint32 {
	if r.schema == infoName {
		return InfoOID
	}
	return CatalogOID
}

// ClassName is how regclass prints a relation: qualified unless the name alone finds it.
func (n *Names) ClassName(oid uint32) (string, bool) {
	s, name, ok := n.lookup(oid)
	if !ok {
		return "", false
	}
	if found, _, ok := n.visible(name); ok && found == oid {
		return quoteIdent(name), true
	}
	return quoteIdent(s.Name) + "." + quoteIdent(name), true
}

// RegLookup reads a reg type's text when it is a name; numbers and "-" are the type's own.
func (n *Names) RegLookup(t types.OID, name string) (uint32, error) {
	if v, err := strconv.ParseUint(name, 10, 32); err == nil {
		return uint32(v), nil
	}
	if name == "-" {
		return 0, nil
	}
	switch t {
	case types.RegclassOID:
		return n.Class(name)
	case types.RegnamespaceOID:
		parts, ok := SplitName(name)
		if !ok || len(parts) != 1 {
			return 0, pgerr.New(pgerr.InvalidName, "invalid name syntax")
		}
		if s, ok := schemaByName(n.c, parts[0]); ok {
			return s.OID, nil
		}
		return 0, pgerr.New(pgerr.InvalidSchemaName, "schema %q does not exist", parts[0])
	case types.RegroleOID:
		parts, ok := SplitName(name)
		if !ok || len(parts) != 1 {
			return 0, pgerr.New(pgerr.InvalidName, "invalid name syntax")
		}
		for _, r := range roles(n.c) {
			if r.Name == parts[0] {
				return r.OID, nil
			}
		}
		return 0, pgerr.New(pgerr.UndefinedObject, "role %q does not exist", parts[0])
	case types.RegtypeOID:
		d, err := types.Input(n.c.Env, types.T{OID: t, Mod: -1}, []byte(name))
		return uint32(d.I), err
	case types.RegprocOID, types.RegprocedureOID:
		base, _, _ := strings.Cut(strings.TrimPrefix(name, catalogName+"."), "(")
		if oid, ok := procByName()[strings.ToLower(strings.TrimSpace(base))]; ok {
			return oid, nil
		}
		return 0, pgerr.New(pgerr.UndefinedFunction, "function %q does not exist", name)
	case types.RegcollationOID:
		switch strings.Trim(strings.TrimPrefix(name, catalogName+"."), `"`) {
		case "default":
			return 100, nil
		case "C":
			return 950, nil
		case "POSIX":
			return 951, nil
		}
		return 0, pgerr.New(pgerr.UndefinedObject, `collation %q for encoding "UTF8" does not exist`, name)
	}
	return 0, pgerr.New(pgerr.UndefinedObject, "%s %q does not exist", types.FormatType(types.T{OID: t, Mod: -1}), name)
}

// RegName prints a value of a reg type as a name; ok is false when it must be printed as
// a number.
func (n *Names) RegName(t types.OID, v uint32) (string, bool) {
	if v == 0 {
		return "", false
	}
	switch t {
	case types.RegclassOID:
		return n.ClassName(v)
	case types.RegnamespaceOID:
		if s, ok := schemaByOID(n.c, v); ok {
			return quoteIdent(s.Name), true
		}
	case types.RegroleOID:
		if name, ok := roleName(n.c, v); ok {
			return quoteIdent(name), true
		}
	case types.RegprocOID:
		if name, ok := procNames()[v]; ok {
			return name, true
		}
	case types.RegcollationOID:
		switch v {
		case 100:
			return `"default"`, true
		case 950:
			return `"C"`, true
		case 951:
			return `"POSIX"`, true
		}
	}
	return "", false
}
