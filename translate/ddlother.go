package translate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

func (d *ddl) createIndex(st *ast.CreateIndex) error {
	if st.Concurrently {
		if err := d.s.preventInBlock("CREATE INDEX CONCURRENTLY"); err != nil {
			return err
		}
	}
	tbl, err := d.bindTable(st.Table)
	if err != nil {
		if pgerr.CodeOf(err) == pgerr.WrongObjectType {
			return systemRelation(st.Table.Name)
		}
		return err
	}
	if tbl.Kind != rel.KindTable {
		return pgerr.New(pgerr.WrongObjectType, "cannot create index on relation %q", tbl.Name).
			WithDetail("This operation is not supported for views.")
	}
	if m := strings.ToLower(st.Method); m != "" && m != "btree" {
		if !slices.Contains([]string{"hash", "gist", "gin", "spgist", "brin"}, m) {
			return pgerr.New(pgerr.UndefinedObject, "access method %q does not exist", st.Method)
		}
		if m != "hash" {
			return d.at(errFeature("access method %q is not supported", m), st.Pos)
		}
		if st.Unique {
			return errFeature("access method \"hash\" does not support UNIQUE indexes")
		}
	}
	if st.Where != nil {
		return d.at(errFeature("partial indexes are not supported"), st.Where.Position())
	}
	idx := rel.Index{Name: st.Name, Unique: st.Unique}
	names := make([]string, 0, len(st.Columns))
	for i := range st.Columns {
		ref, ok := st.Columns[i].Expr.(*ast.ColumnRef)
		if !ok {
			return d.at(errFeature("indexes on expressions are not supported"), st.Columns[i].Expr.Position())
		}
		name := ref.Parts[len(ref.Parts)-1]
		c := findColumn(tbl, name)
		if c == nil {
			return pgerr.New(pgerr.UndefinedColumn, "column %q does not exist", name)
		}
		if err := indexable(c); err != nil {
			return err
		}
		if !slices.Contains(idx.Columns, c.Num) { // a column given twice adds nothing to the order
			idx.Columns = append(idx.Columns, c.Num)
		}
		names = append(names, name)
	}
	for _, name := range st.Include {
		if findColumn(tbl, name) == nil {
			return pgerr.New(pgerr.UndefinedColumn, "column %q does not exist", name)
		}
	}
	taken := func(name string) bool { return d.taken(tbl.Schema, tbl.Temp, name) }
	if idx.Name == "" {
		idx.Name = chooseName(taken, append(append([]string{tbl.Name}, names...), "idx")...)
	} else if taken(idx.Name) {
		if st.IfNotExists {
			return d.notice(pgerr.DuplicateTable, "relation %q already exists, skipping", idx.Name)
		}
		return relationExists(idx.Name)
	}
	_, err = d.buildIndex(tbl, idx)
	return err
}

// buildIndex adds an index to a table and fills it.
func (d *ddl) buildIndex(tbl *rel.Table, idx rel.Index) (*rel.Table, error) {
	out, err := d.t.CreateIndex(tbl.OID, idx)
	var dup *store.UniqueViolation
	if errors.As(err, &dup) {
		e := pgerr.Wrap(err, pgerr.UniqueViolation, "could not create unique index %q", idx.Name)
		if len(dup.Values) > 0 && len(dup.Names) == len(dup.Values) {
			e = e.WithDetail("Key (%s)=(%s) is duplicated.", strings.Join(dup.Names, ", "), d.s.keyText(dup))
		}
		e.Table, e.Constraint = tbl.Name, idx.Name
		return nil, e
	}
	return out, err
}

func (d *ddl) createView(st *ast.CreateView) error {
	if st.Materialized {
		return d.at(errFeature("materialized views are not supported"), st.Pos)
	}
	sch, temp, err := d.creationSchema(st.Name, st.Temp)
	if err != nil {
		return err
	}
	if intoClause(st.Query) != nil {
		return errFeature("views must not contain SELECT INTO")
	}
	if modifies(st.Query) {
		return errFeature("views must not contain data-modifying statements in WITH")
	}
	sub := d.rq.part(st.Query)
	sub.noParams = true
	node, err := d.s.binder(d.t, sub).BindSelect(st.Query)
	if err != nil {
		return err
	}
	cols := node.Columns()
	if len(st.Columns) > len(cols) {
		return pgerr.New(pgerr.InvalidTableDefinition, "CREATE VIEW specifies more column names than columns")
	}
	v := &rel.Table{Schema: sch.OID, Name: st.Name.Name, Kind: rel.KindView, Temp: temp, View: st.QueryText}
	for i, c := range cols {
		name := c.Name
		if i < len(st.Columns) {
			name = st.Columns[i]
		}
		col, err := d.resultColumn(v, name, c.Type)
		if err != nil {
			return err
		}
		col.Num = int16(i + 1)
		v.Columns = append(v.Columns, col)
	}
	if !d.taken(sch.OID, temp, v.Name) {
		if err := d.reserve(v); err != nil {
			return err
		}
		_, err = d.t.CreateTable(v)
		return err
	}
	old, ok := d.t.TableByName(sch.OID, v.Name)
	if temp {
		old, ok = d.t.TempTableByName(v.Name)
	}
	if !st.Replace {
		return relationExists(v.Name)
	}
	if !ok || old.Kind != rel.KindView {
		return pgerr.New(pgerr.WrongObjectType, "%q is not a view", v.Name)
	}
	if err := sameViewColumns(old, v); err != nil {
		return err
	}
	c := old.Clone()
	c.View, c.Columns = v.View, v.Columns
	_, err = d.t.PutTable(c)
	return err
}

// sameViewColumns checks what CREATE OR REPLACE VIEW may not change.
func sameViewColumns(old, v *rel.Table) error {
	if len(v.Columns) < len(old.Columns) {
		return pgerr.New(pgerr.InvalidTableDefinition, "cannot drop columns from view")
	}
	for i := range old.Columns {
		a, b := &old.Columns[i], &v.Columns[i]
		if a.Name != b.Name {
			return pgerr.New(pgerr.InvalidTableDefinition, "cannot change name of view column %q to %q", a.Name, b.Name).
				WithHint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.")
		}
		if a.Type != b.Type || a.Mod != b.Mod {
			return pgerr.New(pgerr.InvalidTableDefinition, "cannot change data type of view column %q from %s to %s", a.Name,
				types.FormatType(types.T{OID: a.Type, Mod: a.Mod}), types.FormatType(types.T{OID: b.Type, Mod: b.Mod}))
		}
	}
	return nil
}

// comment is COMMENT ON.
func (d *ddl) comment(st *ast.Comment) error {
	text := ""
	if st.Text != nil {
		text = *st.Text
	}
	switch st.Kind {
	case "schema":
		sch, ok := d.t.SchemaByName(st.Name.Name)
		if !ok {
			if d.systemSchema(st.Name.Name) {
				return pgerr.New(pgerr.InsufficientPrivilege, "permission denied for schema %s", st.Name.Name)
			}
			return noSchema(st.Name.Name)
		}
		c := *sch
		c.Comment = text
		return d.t.PutSchema(&c)
	case "table", "view", "column":
		tbl, err := d.bindTable(st.Name)
		if err != nil {
			if pgerr.CodeOf(err) == pgerr.WrongObjectType {
				return systemRelation(st.Name.Name)
			}
			return err
		}
		c := tbl.Clone()
		if st.Kind != "column" {
			if kindWord(tbl) != st.Kind {
				return pgerr.New(pgerr.WrongObjectType, "%q is not a %s", tbl.Name, st.Kind)
			}
			c.Comment = text
		} else {
			col := findColumn(c, st.Column)
			if col == nil {
				return noColumn(st.Column, tbl.Name)
			}
			col.Comment = text
		}
		_, err = d.t.PutTable(c)
		return err
	case "database":
		if st.Name.Name != d.s.db {
			return pgerr.New(pgerr.InvalidCatalogName, "database %q does not exist", st.Name.Name)
		}
		return nil // accepted, and not kept
	case "index":
		if _, idx, _ := d.findIndex(st.Name); idx == nil {
			return noRelation(st.Name)
		}
		return nil // accepted, and not kept
	}
	return errFeature("COMMENT ON %s is not supported", upper(st.Kind))
}

// createDatabase makes a catalog. It is not part of a transaction.
func (s *Session) createDatabase(ctx context.Context, rq *request, st *ast.CreateDatabase) error {
	if err := s.preventInBlock("CREATE DATABASE"); err != nil {
		return err
	}
	if err := s.requireWritable("CREATE DATABASE"); err != nil {
		return err
	}
	for _, o := range st.Options {
		if o.Name != "encoding" {
			continue
		}
		switch normalEncoding(o.Value) {
		case "utf8", "unicode", "default", "":
		default:
			return pgerr.New(pgerr.InvalidParameterValue, "encoding %q is not supported", o.Value).
				WithDetail("Only UTF8 is supported.").At(rq.sql, o.Pos)
		}
	}
	err := s.deps.Store.CreateCatalog(ctx, st.Name)
	if errors.Is(err, store.ErrExists) {
		return pgerr.Wrap(err, pgerr.DuplicateDatabase, "database %q already exists", st.Name)
	}
	return err
}

// dropDatabase drops a catalog that nobody is connected to.
func (s *Session) dropDatabase(ctx context.Context, rq *request, st *ast.DropDatabase) error {
	if err := s.preventInBlock("DROP DATABASE"); err != nil {
		return err
	}
	if err := s.requireWritable("DROP DATABASE"); err != nil {
		return err
	}
	missing := func(err error) error {
		if !errors.Is(err, store.ErrNoCatalog) {
			return err
		}
		if st.IfExists {
			return s.notice(rq.out, notice(pgerr.SuccessfulCompletion, "database %q does not exist, skipping", st.Name))
		}
		return pgerr.Wrap(err, pgerr.InvalidCatalogName, "database %q does not exist", st.Name)
	}
	c, err := s.deps.Store.Catalog(st.Name)
	if err != nil {
		return missing(err)
	}
	if st.Name == s.db {
		return pgerr.New(pgerr.ObjectInUse, "cannot drop the currently open database")
	}
	if st.Force && s.deps.Signal != nil {
		for _, a := range s.shared.Activities() {
			if a.DatabaseOID == c.OID() {
				s.deps.Signal(a.PID, true)
			}
		}
	}
	if !st.Force {
		if err := s.databaseInUse(c); err != nil {
			return err
		}
	}
	// Another session may drop it first.
	if err := s.deps.Store.DropCatalog(ctx, st.Name); err != nil {
		return missing(err)
	}
	s.deps.Guard.Forget(st.Name, c.OID())
	return nil
}

// databaseInUse refuses to change a catalog that others are connected to.
func (s *Session) databaseInUse(c *store.Catalog) error {
	n := s.shared.others(c, s)
	if n == 0 {
		return nil
	}
	sessions, are := "sessions", "are"
	if n == 1 {
		sessions, are = "session", "is"
	}
	return pgerr.New(pgerr.ObjectInUse, "database %q is being accessed by other users", c.Name()).
		WithDetail("There %s %d other %s using the database.", are, n, sessions)
}

func (s *Session) alterDatabase(ctx context.Context, st *ast.AlterDatabase) error {
	c, err := s.deps.Store.Catalog(st.Name)
	if err != nil {
		return pgerr.Wrap(err, pgerr.InvalidCatalogName, "database %q does not exist", st.Name)
	}
	if st.NewName == "" {
		return s.alterDatabaseSettings(ctx, c, st)
	}
	if err := s.preventInBlock("ALTER DATABASE"); err != nil {
		return err
	}
	if st.Name == s.db {
		return errFeature("current database cannot be renamed")
	}
	if err := s.databaseInUse(c); err != nil {
		return err
	}
	err = s.deps.Store.RenameCatalog(ctx, st.Name, st.NewName)
	if errors.Is(err, store.ErrExists) {
		return pgerr.Wrap(err, pgerr.DuplicateDatabase, "database %q already exists", st.NewName)
	}
	return err
}

// preCommit does what has to happen inside a transaction just before it is stored.
func (s *Session) preCommit(ctx context.Context) error {
	if err := s.holdCursors(ctx); err != nil || s.tx.txn == nil {
		return err
	}
	return s.gateFormat(ctx, s.tx.txn)
}

// explainColumns is the result of EXPLAIN.
func explainColumns() []exec.Column { return []exec.Column{textColumn("QUERY PLAN")} }
