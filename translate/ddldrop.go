package translate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/pgerr"
)

// drop runs DROP of relations, schemas and indexes.
func (d *ddl) drop(st *ast.Drop) error {
	switch st.Kind {
	case "table", "view":
		return d.dropRelations(st)
	case "schema":
		return d.dropSchemas(st)
	case "index":
		return d.dropIndexes(st)
	case "sequence", "materialized view", "foreign table":
		return d.dropUnknown(st, pgerr.UndefinedTable)
	}
	return d.dropUnknown(st, pgerr.UndefinedObject)
}

// dropUnknown drops objects of kinds that cannot exist.
func (d *ddl) dropUnknown(st *ast.Drop, code string) error {
	for _, n := range st.Names {
		if !st.IfExists {
			return pgerr.New(code, "%s %q does not exist", st.Kind, displayName(n))
		}
		if err := d.notice(pgerr.SuccessfulCompletion, "%s %q does not exist, skipping", st.Kind, displayName(n)); err != nil {
			return err
		}
	}
	return nil
}

func (d *ddl) dropRelations(st *ast.Drop) error {
	want := rel.KindTable
	if st.Kind == "view" {
		want = rel.KindView
	}
	var list []*rel.Table
	set := map[uint32]bool{}
	for _, n := range st.Names {
		tbl, schemaOK, err := d.find(n)
		if err != nil {
			return err
		}
		if tbl == nil {
			if err := d.missing(st, n, schemaOK); err != nil {
				return err
			}
			continue
		}
		if tbl.Kind != want {
			return pgerr.New(pgerr.WrongObjectType, "%q is not a %s", tbl.Name, st.Kind).
				WithHint("Use DROP %s to remove a %s.", upper(kindWord(tbl)), kindWord(tbl))
		}
		if !set[tbl.OID] {
			set[tbl.OID] = true
			list = append(list, tbl)
		}
	}
	if len(list) == 0 {
		return nil
	}
	if views := d.allDependents(set); len(views) > 0 {
		if !st.Cascade {
			what := fmt.Sprintf("%s %s", st.Kind, d.qualified(list[0]))
			if len(list) > 1 {
				return pgerr.New(pgerr.DependentObjectsStillExist, "cannot drop desired object(s) because other objects depend on them").
					WithDetail("%s", d.dependsLines(list, set)).
					WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
			}
			return pgerr.New(pgerr.DependentObjectsStillExist, "cannot drop %s because other objects depend on it", what).
				WithDetail("%s", d.dependsLines(list, set)).
				WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
		}
		if err := d.dropCascade(views); err != nil {
			return err
		}
	}
	for _, tbl := range list {
		if err := d.t.DropTable(tbl.OID); err != nil {
			return err
		}
	}
	return nil
}

// missing answers a DROP of a relation that is not there.
func (d *ddl) missing(st *ast.Drop, n ast.Name, schemaOK bool) error {
	if schemaOK && d.isSystemRelation(n) {
		return systemRelation(n.Name)
	}
	if !schemaOK {
		if st.IfExists {
			return d.notice(pgerr.SuccessfulCompletion, "schema %q does not exist, skipping", n.Schema)
		}
		return noSchema(n.Schema)
	}
	if st.IfExists {
		return d.notice(pgerr.SuccessfulCompletion, "%s %q does not exist, skipping", st.Kind, n.Name)
	}
	return pgerr.New(pgerr.UndefinedTable, "%s %q does not exist", st.Kind, displayName(n))
}

// dependsLines says of every view over the relations, and of the views over those, what it
// depends on. set has the relations' oids.
func (d *ddl) dependsLines(list []*rel.Table, set map[uint32]bool) string {
	var lines []string
	seen := maps.Clone(set)
	for queue := slices.Clone(list); len(queue) > 0; queue = queue[1:] {
		on := queue[0]
		for _, v := range d.dependentViews(map[uint32]bool{on.OID: true}) {
			if set[v.OID] {
				continue
			}
			lines = append(lines, fmt.Sprintf("view %s depends on %s %s", d.qualified(v), kindWord(on), d.qualified(on)))
			if !seen[v.OID] {
				seen[v.OID] = true
				queue = append(queue, v)
			}
		}
	}
	return strings.Join(lines, "\n")
}

// dropCascade drops dependent objects and says so.
func (d *ddl) dropCascade(list []*rel.Table) error {
	names := make([]string, len(list))
	for i, tbl := range list {
		names[i] = fmt.Sprintf("drop cascades to %s %s", kindWord(tbl), d.qualified(tbl))
	}
	if err := d.cascadeNotice(names); err != nil {
		return err
	}
	// Views come before what they depend on.
	for _, tbl := range slices.Backward(list) {
		if err := d.t.DropTable(tbl.OID); err != nil {
			return err
		}
	}
	return nil
}

// cascadeNotice reports what a cascade drops, as one notice.
func (d *ddl) cascadeNotice(lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	if len(lines) == 1 {
		return d.notice(pgerr.SuccessfulCompletion, "%s", lines[0])
	}
	n := notice(pgerr.SuccessfulCompletion, "drop cascades to %d other objects", len(lines))
	const most = 100
	if len(lines) > most {
		n = n.WithDetail("%s\nand %d other objects (see server log for list)", strings.Join(lines[:most], "\n"), len(lines)-most)
	} else {
		n = n.WithDetail("%s", strings.Join(lines, "\n"))
	}
	return d.s.notice(d.rq.out, n)
}

// publicOID is the oid that schema public has, also when it is made again.
const publicOID = 2200

func (d *ddl) createSchema(st *ast.CreateSchema) error {
	name := st.Name
	if name == "" {
		name = st.Authorization
	}
	if strings.HasPrefix(name, "pg_") {
		return pgerr.New(pgerr.ReservedName, "unacceptable schema name %q", name).
			WithDetail("The prefix \"pg_\" is reserved for system schemas.")
	}
	if _, ok := d.t.SchemaByName(name); ok || d.systemSchema(name) {
		if st.IfNotExists {
			return d.notice(pgerr.DuplicateSchema, "schema %q already exists, skipping", name)
		}
		return pgerr.New(pgerr.DuplicateSchema, "schema %q already exists", name)
	}
	oid := uint32(0)
	if name == "public" {
		oid = publicOID
	}
	if err := d.s.reserve(d.ctx, d.t, 0, name); err != nil {
		return err
	}
	_, err := d.t.CreateSchemaOID(name, oid)
	return err
}

func (d *ddl) dropSchemas(st *ast.Drop) error {
	for _, n := range st.Names {
		if err := d.dropSchema(st, n.Name); err != nil {
			return err
		}
	}
	return nil
}

func (d *ddl) dropSchema(st *ast.Drop, name string) error {
	if d.systemSchema(name) {
		return pgerr.New(pgerr.DependentObjectsStillExist, "cannot drop schema %s because it is required by the database system", name)
	}
	sch, ok := d.t.SchemaByName(name)
	if !ok {
		if st.IfExists {
			return d.notice(pgerr.SuccessfulCompletion, "schema %q does not exist, skipping", name)
		}
		return noSchema(name)
	}
	var inside []*rel.Table
	set := map[uint32]bool{}
	for tbl := range d.t.Tables(sch.OID) {
		inside = append(inside, tbl)
		set[tbl.OID] = true
	}
	slices.SortFunc(inside, func(a, b *rel.Table) int { return int(int64(a.OID) - int64(b.OID)) })
	views := d.allDependents(set)
	if len(inside) > 0 && !st.Cascade {
		lines := make([]string, 0, len(inside)+len(views))
		for _, tbl := range inside {
			lines = append(lines, fmt.Sprintf("%s %s depends on schema %s", kindWord(tbl), d.qualified(tbl), quoteIdent(name)))
		}
		return pgerr.New(pgerr.DependentObjectsStillExist, "cannot drop schema %s because other objects depend on it", quoteIdent(name)).
			WithDetail("%s", strings.Join(lines, "\n")).
			WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
	}
	lines := make([]string, 0, len(inside)+len(views))
	for _, tbl := range append(append([]*rel.Table(nil), inside...), views...) {
		lines = append(lines, fmt.Sprintf("drop cascades to %s %s", kindWord(tbl), d.qualified(tbl)))
	}
	if err := d.cascadeNotice(lines); err != nil {
		return err
	}
	for _, tbl := range append(views, inside...) {
		if err := d.t.DropTable(tbl.OID); err != nil {
			return err
		}
	}
	return d.t.DropSchema(sch.OID)
}

func (d *ddl) alterSchema(st *ast.AlterSchema) error {
	if d.systemSchema(st.Name) {
		return pgerr.New(pgerr.InsufficientPrivilege, "permission denied for schema %s", st.Name)
	}
	sch, ok := d.t.SchemaByName(st.Name)
	if !ok {
		return noSchema(st.Name)
	}
	if st.NewName == "" {
		return nil // OWNER TO: there is one owner
	}
	if strings.HasPrefix(st.NewName, "pg_") {
		return pgerr.New(pgerr.ReservedName, "unacceptable schema name %q", st.NewName).
			WithDetail("The prefix \"pg_\" is reserved for system schemas.")
	}
	if _, ok := d.t.SchemaByName(st.NewName); ok || d.systemSchema(st.NewName) {
		return pgerr.New(pgerr.DuplicateSchema, "schema %q already exists", st.NewName)
	}
	return d.t.RenameSchema(sch.OID, st.NewName)
}

func (d *ddl) dropIndexes(st *ast.Drop) error {
	if st.Concurrently {
		if err := d.s.preventInBlock("DROP INDEX CONCURRENTLY"); err != nil {
			return err
		}
	}
	for _, n := range st.Names {
		tbl, idx, schemaOK := d.findIndex(n)
		if idx == nil {
			if other, _, err := d.find(n); err == nil && other != nil {
				return pgerr.New(pgerr.WrongObjectType, "%q is not an index", n.Name).
					WithHint("Use DROP %s to remove a %s.", upper(kindWord(other)), kindWord(other))
			}
			switch {
			case !st.IfExists && !schemaOK:
				return noSchema(n.Schema)
			case !st.IfExists:
				return pgerr.New(pgerr.UndefinedObject, "index %q does not exist", displayName(n))
			}
			if err := d.notice(pgerr.SuccessfulCompletion, "index %q does not exist, skipping", n.Name); err != nil {
				return err
			}
			continue
		}
		if idx.Constraint {
			return pgerr.New(pgerr.DependentObjectsStillExist, "cannot drop index %s because constraint %s on table %s requires it",
				idx.Name, idx.Name, d.qualified(tbl)).
				WithHint("You can drop constraint %s on table %s instead.", idx.Name, d.qualified(tbl))
		}
		if _, err := d.t.DropIndex(tbl.OID, idx.OID); err != nil {
			return err
		}
	}
	return nil
}

func (d *ddl) truncate(st *ast.Truncate) error {
	var list []*rel.Table
	for _, n := range st.Tables {
		tbl, err := d.bindTable(n)
		if err != nil {
			if pgerr.CodeOf(err) == pgerr.WrongObjectType {
				return systemRelation(n.Name)
			}
			return err
		}
		if tbl.Kind != rel.KindTable {
			return pgerr.New(pgerr.WrongObjectType, "%q is not a table", tbl.Name)
		}
		list = append(list, tbl)
	}
	done := map[uint32]bool{}
	for _, tbl := range list {
		if done[tbl.OID] {
			continue
		}
		done[tbl.OID] = true
		if _, err := d.t.TruncateTable(tbl.OID); err != nil {
			return err
		}
	}
	return nil
}
