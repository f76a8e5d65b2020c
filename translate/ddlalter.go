package translate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/parse"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// alterTable runs ALTER TABLE, VIEW and INDEX.
func (d *ddl) alterTable(st *ast.AlterTable) error {
	if st.Kind == "index" {
		return d.alterIndex(st)
	}
	tbl, schemaOK, err := d.find(st.Name)
	if err != nil {
		return err
	}
	if tbl == nil {
		if schemaOK && d.isSystemRelation(st.Name) {
			return systemRelation(st.Name.Name)
		}
		if st.IfExists {
			return d.notice(pgerr.SuccessfulCompletion, "relation %q does not exist, skipping", displayName(st.Name))
		}
		if !schemaOK {
			return noSchema(st.Name.Schema)
		}
		return noRelation(st.Name)
	}
	if st.Kind == "view" && tbl.Kind != rel.KindView {
		return pgerr.New(pgerr.WrongObjectType, "%q is not a view", tbl.Name)
	}
	for i := range st.Actions {
		// Every action starts from what the one before it left.
		if tbl, err = d.alter(tbl, &st.Actions[i]); err != nil {
			return err
		}
	}
	return nil
}

// alter applies one action and returns the new descriptor.
func (d *ddl) alter(tbl *rel.Table, a *ast.AlterAction) (*rel.Table, error) {
	switch a.Kind {
	case "rename to":
		return d.renameTable(tbl, a.NewName)
	case "set schema":
		return d.setSchema(tbl, a.NewName)
	case "owner to":
		return tbl, nil
	case "rename column":
		return d.renameColumn(tbl, a)
	}
	if tbl.Kind == rel.KindView {
		return nil, pgerr.New(pgerr.WrongObjectType, "ALTER action %s cannot be performed on relation %q", upper(a.Kind), tbl.Name).
			WithDetail("This operation is not supported for views.")
	}
	switch a.Kind {
	case "add column":
		return d.addColumn(tbl, a)
	case "drop column":
		return d.dropColumn(tbl, a)
	case "set default", "drop default":
		return d.setDefault(tbl, a)
	case "set not null":
		return d.setNotNull(tbl, a)
	case "drop not null":
		return d.dropNotNull(tbl, a)
	case "set type":
		return d.setType(tbl, a)
	case "add constraint":
		return d.addConstraint(tbl, a.Constraint)
	case "drop constraint":
		return d.dropConstraint(tbl, a)
	case "rename constraint":
		return d.renameConstraint(tbl, a)
	}
	return nil, d.at(errFeature("ALTER TABLE ... %s is not supported", upper(a.Kind)), a.Pos)
}

// column finds the column an action names and its index.
func (d *ddl) column(tbl *rel.Table, a *ast.AlterAction) (int, error) {
	if systemColumns[a.Column] {
		return 0, pgerr.New(pgerr.FeatureNotSupported, "cannot alter system column %q", a.Column)
	}
	i := slices.IndexFunc(tbl.Columns, func(c rel.Column) bool { return !c.Dropped && c.Name == a.Column })
	if i < 0 {
		return 0, noColumn(a.Column, tbl.Name)
	}
	return i, nil
}

func (d *ddl) renameTable(tbl *rel.Table, name string) (*rel.Table, error) {
	if d.taken(tbl.Schema, tbl.Temp, name) {
		return nil, relationExists(name)
	}
	if err := d.refuseDependents(tbl, "rename"); err != nil {
		return nil, err
	}
	c := tbl.Clone()
	c.Name = name
	return d.t.PutTable(c)
}

func (d *ddl) setSchema(tbl *rel.Table, name string) (*rel.Table, error) {
	if tbl.Temp {
		return nil, errFeature("cannot move objects into or out of temporary schemas")
	}
	if d.systemSchema(name) {
		return nil, pgerr.New(pgerr.InsufficientPrivilege, "permission denied for schema %s", name)
	}
	sch, ok := d.t.SchemaByName(name)
	if !ok {
		return nil, noSchema(name)
	}
	if sch.OID == tbl.Schema {
		return tbl, nil
	}
	if d.taken(sch.OID, false, tbl.Name) {
		return nil, pgerr.New(pgerr.DuplicateTable, "relation %q already exists in schema %q", tbl.Name, name)
	}
	if err := d.refuseDependents(tbl, "move"); err != nil {
		return nil, err
	}
	c := tbl.Clone()
	c.Schema = sch.OID
	return d.t.PutTable(c)
}

// refuseDependents refuses a change that would break views, which keep their text.
func (d *ddl) refuseDependents(tbl *rel.Table, verb string) error {
	views := d.dependentViews(map[uint32]bool{tbl.OID: true})
	if len(views) == 0 {
		return nil
	}
	return pgerr.New(pgerr.DependentObjectsStillExist, "cannot %s %s %s because other objects depend on it", verb, kindWord(tbl), d.qualified(tbl)).
		WithDetail("view %s depends on %s %s", d.qualified(views[0]), kindWord(tbl), d.qualified(tbl)).
		WithHint("Drop the view first and create it again afterwards.")
}

func (d *ddl) renameColumn(tbl *rel.Table, a *ast.AlterAction) (*rel.Table, error) {
	i, err := d.column(tbl, a)
	if err != nil {
		if pgerr.CodeOf(err) == pgerr.UndefinedColumn {
			return nil, pgerr.New(pgerr.UndefinedColumn, "column %q does not exist", a.Column)
		}
		return nil, err
	}
	if findColumn(tbl, a.NewName) != nil || systemColumns[a.NewName] {
		return nil, pgerr.New(pgerr.DuplicateColumn, "column %q of relation %q already exists", a.NewName, tbl.Name)
	}
	if err := d.refuseDependents(tbl, "rename a column of"); err != nil {
		return nil, err
	}
	c := tbl.Clone()
	for k := range c.Checks {
		if c.Checks[k].Expr, err = renameInText(c.Checks[k].Expr, a.Column, a.NewName); err != nil {
			return nil, err
		}
	}
	c.Columns[i].Name = a.NewName
	return d.t.PutTable(c)
}

// renameInText replaces a column's name in a stored expression.
func renameInText(text, from, to string) (string, error) {
	tree, err := parse.ParseExpr(text)
	if err != nil {
		return "", err
	}
	var at []int
	walkTree(tree, func(n any) {
		if c, ok := n.(*ast.ColumnRef); ok && c.Parts[len(c.Parts)-1] == from {
			pos := c.Position()
			for range len(c.Parts) - 1 {
				pos += identLen(text[pos:])
				pos += strings.IndexByte(text[pos:], '.') + 1
			}
			at = append(at, pos)
		}
	})
	slices.Sort(at)
	for _, pos := range slices.Backward(at) {
		text = text[:pos] + quoteIdent(to) + text[pos+identLen(text[pos:]):]
	}
	return text, nil
}

// identLen is the length of the identifier that text starts with.
func identLen(text string) int {
	if strings.HasPrefix(text, `"`) {
		for i := 1; i < len(text); i++ {
			if text[i] == '"' {
				if i+1 < len(text) && text[i+1] == '"' {
					i++
					continue
				}
				return i + 1
			}
		}
		return len(text)
	}
	i := 0
	for i < len(text) && (text[i] == '_' || text[i] == '$' || text[i] >= 0x80 || text[i] >= '0' && text[i] <= '9' ||
		text[i] >= 'a' && text[i] <= 'z' || text[i] >= 'A' && text[i] <= 'Z') {
		i++
	}
	return i
}

func (d *ddl) addColumn(tbl *rel.Table, a *ast.AlterAction) (*rel.Table, error) {
	def := a.Def
	if findColumn(tbl, def.Name) != nil {
		if a.IfNotExists {
			return tbl, d.notice(pgerr.DuplicateColumn, "column %q of relation %q already exists, skipping", def.Name, tbl.Name)
		}
		return nil, pgerr.New(pgerr.DuplicateColumn, "column %q of relation %q already exists", def.Name, tbl.Name)
	}
	if len(tbl.Columns) >= maxColumns {
		return nil, pgerr.New(pgerr.TooManyColumns, "tables can have at most %d columns", maxColumns)
	}
	col, err := d.columnDef(tbl, def)
	if err != nil {
		return nil, err
	}
	n := &newTable{d: d, tbl: tbl.Clone(), names: map[string]bool{}}
	n.pk = slices.ContainsFunc(tbl.Indexes, func(i rel.Index) bool { return i.Primary })
	indexes := len(n.tbl.Indexes)
	col.Num = 1
	for i := range tbl.Columns {
		col.Num = max(col.Num, tbl.Columns[i].Num+1)
	}
	n.tbl.Columns = append(n.tbl.Columns, col)
	at := len(n.tbl.Columns) - 1
	var dflt ast.Expr
	for i := range def.Constraints {
		if def.Constraints[i].Kind == "default" {
			dflt = def.Constraints[i].Expr
		}
	}
	if err := n.columnConstraints(def); err != nil {
		return nil, err
	}
	if err := n.finishChecks(); err != nil {
		return nil, err
	}
	added := append([]rel.Index(nil), n.tbl.Indexes[indexes:]...)
	n.tbl.Indexes = n.tbl.Indexes[:indexes]
	c := &n.tbl.Columns[at]
	var perRow exec.Expr
	if dflt != nil && c.Default != "" {
		e, err := d.s.bindDefault(d.t, d.rq, c)
		if err != nil {
			return nil, err
		}
		if d.volatileExpr(dflt) {
			perRow = e
		} else if err := d.setMissing(c, e); err != nil {
			return nil, err
		}
	}
	if c.NotNull && perRow == nil && (!c.HasMissing || c.Missing == nil) {
		if any, err := d.hasRows(tbl); err != nil || any {
			if err == nil {
				err = containsNulls(c.Name, tbl.Name)
			}
			return nil, err
		}
	}
	out, err := d.t.PutTable(n.tbl)
	if err != nil {
		return nil, err
	}
	if perRow != nil {
		if out, err = d.rewrite(out, out, func(ectx *exec.Ctx, r exec.Row) error {
			v, err := perRow.Eval(ectx, nil)
			r[at] = v
			return err
		}); err != nil {
			return nil, err
		}
	} else if len(n.checks) > 0 {
		if err := d.verifyChecks(out, out.Checks[len(out.Checks)-len(n.checks):]); err != nil {
			return nil, err
		}
	}
	for _, idx := range added {
		if out, err = d.buildIndex(out, idx); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// setMissing evaluates a constant default once: rows that are there already read it.
func (d *ddl) setMissing(c *rel.Column, e exec.Expr) error {
	v, err := e.Eval(d.execCtx(), nil)
	if err != nil || !v.Valid {
		return err
	}
	c.HasMissing = true
	c.Missing = types.AppendBinary([]byte{}, c.Type, v)
	return nil
}

func containsNulls(column, table string) *pgerr.Error {
	e := pgerr.New(pgerr.NotNullViolation, "column %q of relation %q contains null values", column, table)
	e.Table, e.Column = table, column
	return e
}

// scanAll reads every row of a table for a statement whose outcome must hold for rows that
// others commit meanwhile, too: then its own commit fails.
func (d *ddl) scanAll(tbl *rel.Table) (*store.RowIter, error) {
	if err := d.t.HoldRows(tbl); err != nil {
		return nil, err
	}
	return d.t.Scan(tbl, store.Access{})
}

func (d *ddl) hasRows(tbl *rel.Table) (bool, error) {
	it, err := d.scanAll(tbl)
	if err != nil {
		return false, err
	}
	defer func() { _ = it.Close() }()
	return it.Next(), it.Err()
}

func (d *ddl) dropColumn(tbl *rel.Table, a *ast.AlterAction) (*rel.Table, error) {
	i, err := d.column(tbl, a)
	if err != nil {
		if a.IfExists && pgerr.CodeOf(err) == pgerr.UndefinedColumn {
			return tbl, d.notice(pgerr.SuccessfulCompletion, "column %q of relation %q does not exist, skipping", a.Column, tbl.Name)
		}
		return nil, err
	}
	if views := d.viewsUsing(tbl, a.Column); len(views) > 0 {
		if !a.Cascade {
			what := fmt.Sprintf("column %s of table %s", a.Column, d.qualified(tbl))
			lines := make([]string, len(views))
			for k, v := range views {
				lines[k] = fmt.Sprintf("view %s depends on %s", d.qualified(v), what)
			}
			return nil, pgerr.New(pgerr.DependentObjectsStillExist, "cannot drop %s because other objects depend on it", what).
				WithDetail("%s", strings.Join(lines, "\n")).
				WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
		}
		if err := d.dropCascade(views); err != nil {
			return nil, err
		}
	}
	num := tbl.Columns[i].Num
	for k := 0; k < len(tbl.Indexes); {
		if !tbl.Indexes[k].Hidden && slices.Contains(tbl.Indexes[k].Columns, num) {
			if tbl, err = d.t.DropIndex(tbl.OID, tbl.Indexes[k].OID); err != nil {
				return nil, err
			}
			continue
		}
		k++
	}
	c := tbl.Clone()
	c.Checks = slices.DeleteFunc(c.Checks, func(ck rel.Check) bool {
		tree, err := parse.ParseExpr(ck.Expr)
		return err == nil && slices.Contains(columnsOf(tree), a.Column)
	})
	col := &c.Columns[i]
	col.Dropped, col.NotNull, col.Default, col.Comment = true, false, "", ""
	col.Name = fmt.Sprintf("........pg.dropped.%d........", col.Num)
	return d.t.PutTable(c)
}

// viewsUsing lists the views over a table that may use a column: those that name it or
// take all columns.
func (d *ddl) viewsUsing(tbl *rel.Table, column string) []*rel.Table {
	var out []*rel.Table
	for _, v := range d.dependentViews(map[uint32]bool{tbl.OID: true}) {
		list, err := parse.Parse(v.View, d.s.parseLimits())
		if err != nil {
			continue
		}
		uses := false
		for i := range list {
			walkTree(list[i].Stmt, func(n any) {
				switch n := n.(type) {
				case *ast.ColumnRef:
					uses = uses || n.Parts[len(n.Parts)-1] == column
				case *ast.Star:
					uses = true
				}
			})
		}
		if uses {
			out = append(out, v)
		}
	}
	return out
}

func (d *ddl) addConstraint(tbl *rel.Table, con *ast.Constraint) (*rel.Table, error) {
	switch con.Kind {
	case "primary key", "unique":
		idx, err := d.keyConstraint(tbl, con, func(name string) bool { return d.taken(tbl.Schema, tbl.Temp, name) })
		if err != nil {
			return nil, err
		}
		if idx.Primary {
			if slices.ContainsFunc(tbl.Indexes, func(i rel.Index) bool { return i.Primary }) {
				return nil, pgerr.New(pgerr.InvalidTableDefinition, "multiple primary keys for table %q are not allowed", tbl.Name)
			}
			c := tbl.Clone()
			changed := false
			for _, num := range idx.Columns {
				i := slices.IndexFunc(c.Columns, func(x rel.Column) bool { return x.Num == num })
				if c.Columns[i].NotNull {
					continue
				}
				if err := d.verifyNotNull(tbl, i); err != nil {
					return nil, err
				}
				c.Columns[i].NotNull, changed = true, true
			}
			if changed {
				if tbl, err = d.t.PutTable(c); err != nil {
					return nil, err
				}
			}
		}
		return d.buildIndex(tbl, idx)
	case "check":
		ck, err := d.checkConstraint(tbl, con)
		if err != nil {
			return nil, err
		}
		if err := d.verifyChecks(tbl, []rel.Check{ck}); err != nil {
			return nil, err
		}
		c := tbl.Clone()
		c.Checks = append(c.Checks, ck)
		return d.t.PutTable(c)
	}
	return nil, d.unsupportedConstraint(con)
}

// verifyChecks applies conditions to the rows that are there.
func (d *ddl) verifyChecks(tbl *rel.Table, checks []rel.Check) error {
	probe := tbl.Clone()
	probe.Checks = checks
	bound, err := d.s.bindChecks(d.t, d.rq, probe)
	if err != nil {
		return err
	}
	it, err := d.scanAll(tbl)
	if err != nil {
		return err
	}
	defer func() { _ = it.Close() }()
	ectx := d.execCtx()
	r := make(exec.Row, len(tbl.Columns))
	for it.Next() {
		if err := decodeTuple(tbl, it.Tuple(), r); err != nil {
			return err
		}
		for _, ck := range bound {
			v, err := ck.Cond.Eval(ectx, r)
			if err != nil {
				return err
			}
			if v.Valid && v.I == 0 {
				e := pgerr.New(pgerr.CheckViolation, "check constraint %q of relation %q is violated by some row", ck.Name, tbl.Name)
				e.Table, e.Constraint = tbl.Name, ck.Name
				return e
			}
		}
	}
	return it.Err()
}

func (d *ddl) dropConstraint(tbl *rel.Table, a *ast.AlterAction) (*rel.Table, error) {
	name := a.Column
	if name == "" {
		name = a.NewName
	}
	c := tbl.Clone()
	c.Checks = slices.DeleteFunc(c.Checks, func(ck rel.Check) bool { return ck.Name == name })
	if len(c.Checks) < len(tbl.Checks) {
		return d.t.PutTable(c)
	}
	for i := range tbl.Indexes {
		if idx := &tbl.Indexes[i]; idx.Constraint && idx.Name == name {
			return d.t.DropIndex(tbl.OID, idx.OID)
		}
	}
	if a.IfExists {
		return tbl, d.notice(pgerr.SuccessfulCompletion, "constraint %q of relation %q does not exist, skipping", name, tbl.Name)
	}
	return nil, pgerr.New(pgerr.UndefinedObject, "constraint %q of relation %q does not exist", name, tbl.Name)
}

func (d *ddl) renameConstraint(tbl *rel.Table, a *ast.AlterAction) (*rel.Table, error) {
	c := tbl.Clone()
	for i := range c.Checks {
		if c.Checks[i].Name == a.NewName {
			return nil, pgerr.New(pgerr.DuplicateObject, "constraint %q for relation %q already exists", a.NewName, tbl.Name)
		}
	}
	for i := range c.Checks {
		if c.Checks[i].Name == a.Column {
			c.Checks[i].Name = a.NewName
			return d.t.PutTable(c)
		}
	}
	for i := range c.Indexes {
		if c.Indexes[i].Constraint && c.Indexes[i].Name == a.Column {
			if d.taken(tbl.Schema, tbl.Temp, a.NewName) {
				return nil, relationExists(a.NewName)
			}
			c.Indexes[i].Name = a.NewName
			return d.t.PutTable(c)
		}
	}
	return nil, pgerr.New(pgerr.UndefinedObject, "constraint %q for table %q does not exist", a.Column, tbl.Name)
}

// alterIndex is ALTER INDEX … RENAME TO.
func (d *ddl) alterIndex(st *ast.AlterTable) error {
	tbl, idx, _ := d.findIndex(st.Name)
	if idx == nil {
		if st.IfExists {
			return d.notice(pgerr.SuccessfulCompletion, "relation %q does not exist, skipping", displayName(st.Name))
		}
		return noRelation(st.Name)
	}
	for i := range st.Actions {
		a := &st.Actions[i]
		if a.Kind != "rename to" {
			return errFeature("ALTER INDEX ... %s is not supported", upper(a.Kind))
		}
		if d.taken(tbl.Schema, tbl.Temp, a.NewName) {
			return relationExists(a.NewName)
		}
		c := tbl.Clone()
		for k := range c.Indexes {
			if c.Indexes[k].OID == idx.OID {
				c.Indexes[k].Name = a.NewName
			}
		}
		if _, err := d.t.PutTable(c); err != nil {
			return err
		}
	}
	return nil
}
