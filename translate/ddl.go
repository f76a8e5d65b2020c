package translate

import (
	"context"
	"reflect"
	"strings"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/parse"
	"github.com/eiderdb/eider/translate/pgerr"
)

// ddl is one statement that changes definitions.
type ddl struct {
	s   *Session
	ctx context.Context
	rq  *request
	t   *store.Txn
}

// startDDL runs a definition statement.
func (s *Session) startDDL(ctx context.Context, rq *request) (*running, error) {
	switch st := rq.stmt.(type) {
	case *ast.CreateDatabase:
		return done("CREATE DATABASE"), s.createDatabase(ctx, rq, st)
	case *ast.DropDatabase:
		return done("DROP DATABASE"), s.dropDatabase(ctx, rq, st)
	case *ast.AlterDatabase:
		return done("ALTER DATABASE"), s.alterDatabase(ctx, st)
	}
	tag, what := ddlTags(rq.stmt)
	if tag == "" {
		return nil, errFeature("this statement is not supported")
	}
	if err := s.requireWritable(what); err != nil {
		return nil, err
	}
	t, err := s.newStatement()
	if err != nil {
		return nil, err
	}
	d := &ddl{s: s, ctx: ctx, rq: rq, t: t}
	switch st := rq.stmt.(type) {
	case *ast.CreateTable:
		if st.As != nil {
			return d.createTableAs(st)
		}
		err = d.createTable(st)
	case *ast.CreateIndex:
		err = d.createIndex(st)
	case *ast.CreateView:
		err = d.createView(st)
	case *ast.CreateSchema:
		err = d.createSchema(st)
	case *ast.Drop:
		err = d.drop(st)
	case *ast.AlterTable:
		err = d.alterTable(st)
	case *ast.AlterSchema:
		err = d.alterSchema(st)
	case *ast.Truncate:
		err = d.truncate(st)
	case *ast.Comment:
		err = d.comment(st)
	}
	if err != nil {
		return nil, err
	}
	return done(tag), nil
}

// ddlTags returns a statement's command tag and its name in error messages.
func ddlTags(st ast.Stmt) (tag, what string) {
	switch st := st.(type) {
	case *ast.CreateTable:
		if st.As != nil {
			return "CREATE TABLE AS", "CREATE TABLE AS"
		}
		tag = "CREATE TABLE"
	case *ast.CreateIndex:
		tag = "CREATE INDEX"
	case *ast.CreateView:
		tag = "CREATE VIEW"
	case *ast.CreateSchema:
		tag = "CREATE SCHEMA"
	case *ast.Drop:
		tag = "DROP " + upper(st.Kind)
	case *ast.AlterTable:
		tag = "ALTER " + upper(st.Kind)
	case *ast.AlterSchema:
		tag = "ALTER SCHEMA"
	case *ast.Truncate:
		return "TRUNCATE TABLE", "TRUNCATE TABLE"
	case *ast.Comment:
		tag = "COMMENT"
	}
	return tag, tag
}

func (d *ddl) notice(code, format string, args ...any) error {
	return d.s.notice(d.rq.out, notice(code, format, args...))
}

// bindTable resolves a table that a utility statement names; such errors have no position.
func (d *ddl) bindTable(n ast.Name) (*rel.Table, error) { return d.s.bindTable(d.t, d.rq, n) }

func (s *Session) bindTable(t *store.Txn, rq *request, n ast.Name) (*rel.Table, error) {
	tbl, err := s.binder(t, rq).BindTable(n)
	if e := pgerr.As(err); e != nil {
		e2 := *e
		e2.Position = 0
		return nil, &e2
	}
	return tbl, err
}

// at sets the position of an error.
func (d *ddl) at(e *pgerr.Error, pos int) error { return e.At(d.rq.sql, pos) }

// systemSchema says whether a schema belongs to the system.
func (d *ddl) systemSchema(name string) bool {
	return strings.HasPrefix(name, "pg_") && name != "pg_temp" || d.s.shared.virtual.HasSchema(name)
}

// checkCatalog refuses names of other databases.
func (d *ddl) checkCatalog(n ast.Name) error {
	if n.Catalog != "" && n.Catalog != d.s.db {
		return d.at(errFeature("cross-database references are not implemented: \"%s.%s.%s\"", n.Catalog, n.Schema, n.Name), n.Pos)
	}
	return nil
}

// creationSchema finds the schema that a new relation goes to.
func (d *ddl) creationSchema(n ast.Name, temp bool) (sch *rel.Schema, isTemp bool, err error) {
	if err := d.checkCatalog(n); err != nil {
		return nil, false, err
	}
	ts := d.t.TempSchema()
	isTempName := n.Schema == "pg_temp" || ts != nil && n.Schema == ts.Name
	if temp || isTempName {
		if n.Schema != "" && !isTempName {
			return nil, false, d.at(pgerr.New(pgerr.InvalidTableDefinition, "cannot create temporary relation in non-temporary schema"), n.Pos)
		}
		d.s.tempUsed = true
		return ts, true, nil
	}
	if n.Schema != "" {
		if d.systemSchema(n.Schema) {
			return nil, false, pgerr.New(pgerr.InsufficientPrivilege, "permission denied to create \"%s.%s\"", n.Schema, n.Name).
				WithDetail("System catalog modifications are currently disallowed.")
		}
		sch, ok := d.t.SchemaByName(n.Schema)
		if !ok {
			return nil, false, d.at(noSchema(n.Schema), n.Pos)
		}
		return sch, false, nil
	}
	for _, name := range d.s.searchPath() {
		if sch, ok := d.t.SchemaByName(name); ok {
			return sch, false, nil
		}
	}
	return nil, false, d.at(pgerr.New(pgerr.InvalidSchemaName, "no schema has been selected to create in"), n.Pos)
}

func noSchema(name string) *pgerr.Error {
	return pgerr.New(pgerr.InvalidSchemaName, "schema %q does not exist", name)
}

// find looks a stored relation up by name, without errors for absent ones. schemaOK is
// false when a schema was named that does not exist.
func (d *ddl) find(n ast.Name) (tbl *rel.Table, schemaOK bool, err error) {
	if err := d.checkCatalog(n); err != nil {
		return nil, false, err
	}
	ts := d.t.TempSchema()
	if n.Schema == "pg_temp" || ts != nil && n.Schema == ts.Name {
		tbl, _ := d.t.TempTableByName(n.Name)
		return tbl, true, nil
	}
	if n.Schema != "" {
		sch, ok := d.t.SchemaByName(n.Schema)
		if !ok {
			return nil, d.systemSchema(n.Schema), nil
		}
		tbl, _ := d.t.TableByName(sch.OID, n.Name)
		return tbl, true, nil
	}
	if tbl, ok := d.t.TempTableByName(n.Name); ok {
		return tbl, true, nil
	}
	for _, name := range d.s.searchPath() {
		if sch, ok := d.t.SchemaByName(name); ok {
			if tbl, ok := d.t.TableByName(sch.OID, n.Name); ok {
				return tbl, true, nil
			}
		}
	}
	return nil, true, nil
}

// isSystemRelation says whether a name that find did not find is a virtual relation.
func (d *ddl) isSystemRelation(n ast.Name) bool {
	schema := n.Schema
	if schema == "" {
		schema = "pg_catalog"
	}
	_, ok := d.s.shared.virtual.Table(schema, n.Name)
	return ok
}

// findIndex looks an index up by name.
func (d *ddl) findIndex(n ast.Name) (tbl *rel.Table, idx *rel.Index, schemaOK bool) {
	if n.Schema != "" {
		sch, ok := d.t.SchemaByName(n.Schema)
		if !ok {
			return nil, nil, d.systemSchema(n.Schema)
		}
		tbl, idx, _ := d.t.IndexByName(sch.OID, n.Name)
		return tbl, idx, true
	}
	for tbl := range d.t.TempTables() {
		for i := range tbl.Indexes {
			if tbl.Indexes[i].Name == n.Name {
				return tbl, &tbl.Indexes[i], true
			}
		}
	}
	for _, name := range d.s.searchPath() {
		if sch, ok := d.t.SchemaByName(name); ok {
			if tbl, idx, ok := d.t.IndexByName(sch.OID, n.Name); ok {
				return tbl, idx, true
			}
		}
	}
	return nil, nil, true
}

// taken says whether a relation or index of the schema has the name.
func (d *ddl) taken(schema uint32, temp bool, name string) bool {
	if temp {
		if _, ok := d.t.TempTableByName(name); ok {
			return true
		}
		for tbl := range d.t.TempTables() {
			for i := range tbl.Indexes {
				if tbl.Indexes[i].Name == name {
					return true
				}
			}
		}
		return false
	}
	if _, ok := d.t.TableByName(schema, name); ok {
		return true
	}
	_, _, ok := d.t.IndexByName(schema, name)
	return ok
}

func relationExists(name string) *pgerr.Error {
	return pgerr.New(pgerr.DuplicateTable, "relation %q already exists", name)
}

func noRelation(n ast.Name) *pgerr.Error {
	return pgerr.New(pgerr.UndefinedTable, "relation %q does not exist", displayName(n))
}

func displayName(n ast.Name) string {
	if n.Schema != "" {
		return n.Schema + "." + n.Name
	}
	return n.Name
}

// qualified is a relation's name as dependency messages show it: with its schema when the
// search path does not find it.
func (d *ddl) qualified(tbl *rel.Table) string {
	if tbl.Temp {
		return quoteIdent(tbl.Name)
	}
	for _, name := range d.s.searchPath() {
		if sch, ok := d.t.SchemaByName(name); ok {
			if found, ok := d.t.TableByName(sch.OID, tbl.Name); ok {
				if found.OID == tbl.OID {
					return quoteIdent(tbl.Name)
				}
				break
			}
		}
	}
	if sch, ok := d.t.SchemaByOID(tbl.Schema); ok {
		return quoteIdent(sch.Name) + "." + quoteIdent(tbl.Name)
	}
	return quoteIdent(tbl.Name)
}

func kindWord(tbl *rel.Table) string {
	if tbl.Kind == rel.KindView {
		return "view"
	}
	return "table"
}

// execCtx makes a context to evaluate expressions of the statement in.
func (d *ddl) execCtx() *exec.Ctx { return d.s.execCtx(d.ctx, d.t, d.rq) }

// walkTree calls f for every pointer to a struct in a syntax tree, parents first.
func walkTree(tree any, f func(node any)) { walkValue(reflect.ValueOf(tree), f) }

func walkValue(v reflect.Value, f func(node any)) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v.Elem().Kind() == reflect.Struct {
			f(v.Interface())
		}
		walkValue(v.Elem(), f)
	case reflect.Interface:
		if !v.IsNil() {
			walkValue(v.Elem(), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				walkValue(v.Field(i), f)
			}
		}
	case reflect.Slice:
		switch v.Type().Elem().Kind() {
		case reflect.Pointer, reflect.Interface, reflect.Struct, reflect.Slice:
			for i := range v.Len() {
				walkValue(v.Index(i), f)
			}
		}
	}
}

// columnsOf lists the column names that an expression refers to, each once.
func columnsOf(e ast.Expr) []string {
	var out []string
	walkTree(e, func(n any) {
		if c, ok := n.(*ast.ColumnRef); ok && len(c.Parts) > 0 {
			name := c.Parts[len(c.Parts)-1]
			for _, have := range out {
				if have == name {
					return
				}
			}
			out = append(out, name)
		}
	})
	return out
}

// volatileExpr says whether an expression must be evaluated for every row.
func (d *ddl) volatileExpr(e ast.Expr) bool {
	volatile := false
	walkTree(e, func(n any) {
		if f, ok := n.(*ast.FuncCall); ok {
			for _, fn := range d.s.shared.funcs.Lookup(f.Name.Name) {
				if fn.Vol == exec.Volatile {
					volatile = true
				}
			}
		}
	})
	return volatile
}

// dependentViews lists the views whose text refers to one of the relations.
func (d *ddl) dependentViews(of map[uint32]bool) []*rel.Table {
	var out []*rel.Table
	visit := func(v *rel.Table) {
		if v.Kind != rel.KindView || of[v.OID] {
			return
		}
		list, err := parse.Parse(v.View, d.s.parseLimits())
		if err != nil {
			return
		}
		uses := false
		for i := range list {
			walkTree(list[i].Stmt, func(n any) {
				if ref, ok := n.(*ast.TableRef); ok && !uses {
					if tbl, _, err := d.find(ref.Name); err == nil && tbl != nil && of[tbl.OID] {
						uses = true
					}
				}
			})
		}
		if uses {
			out = append(out, v)
		}
	}
	for v := range d.t.AllTables() {
		visit(v)
	}
	for v := range d.t.TempTables() {
		visit(v)
	}
	return out
}

// allDependents is dependentViews, and the views of those views.
func (d *ddl) allDependents(of map[uint32]bool) []*rel.Table {
	seen := make(map[uint32]bool, len(of))
	for k := range of {
		seen[k] = true
	}
	var all []*rel.Table
	for {
		more := d.dependentViews(seen)
		if len(more) == 0 {
			return all
		}
		for _, v := range more {
			seen[v.OID] = true
		}
		all = append(all, more...)
	}
}
