package translate

import (
	"context"
	"slices"
	"strings"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// maxColumns is how many columns a table can have; a tuple holds twice as many fields.
const maxColumns = 16_000

// systemColumns are names that every table has already.
var systemColumns = map[string]bool{"ctid": true, "tableoid": true, "xmin": true, "xmax": true, "cmin": true, "cmax": true}

// newTable is a table under construction.
type newTable struct {
	d     *ddl
	tbl   *rel.Table
	names map[string]bool // constraint and index names in use
	pk    bool
	// checks are bound when all columns are known.
	checks []pendingCheck
}

type pendingCheck struct {
	name string
	con  *ast.Constraint
}

func (d *ddl) createTable(st *ast.CreateTable) error {
	if st.Unsupported != "" {
		return errFeature("%s is not supported", st.Unsupported)
	}
	sch, temp, err := d.creationSchema(st.Name, st.Temp)
	if err != nil {
		return err
	}
	if d.taken(sch.OID, temp, st.Name.Name) {
		if st.IfNotExists {
			return d.notice(pgerr.DuplicateTable, "relation %q already exists, skipping", st.Name.Name)
		}
		return relationExists(st.Name.Name)
	}
	n := &newTable{d: d, names: map[string]bool{}, tbl: &rel.Table{
		Schema: sch.OID, Name: st.Name.Name, Kind: rel.KindTable, Temp: temp,
	}}
	switch st.OnCommit {
	case "delete", "drop":
		if !temp {
			return pgerr.New(pgerr.InvalidTableDefinition, "ON COMMIT can only be used on temporary tables")
		}
		n.tbl.OnCommit = st.OnCommit
	}
	for i := range st.Like {
		if err := n.like(&st.Like[i]); err != nil {
			return err
		}
	}
	for i := range st.Columns {
		if err := n.column(&st.Columns[i]); err != nil {
			return err
		}
	}
	if len(n.tbl.Columns) > maxColumns {
		return pgerr.New(pgerr.TooManyColumns, "tables can have at most %d columns", maxColumns)
	}
	for i := range st.Columns {
		if err := n.columnConstraints(&st.Columns[i]); err != nil {
			return err
		}
	}
	for i := range st.Constraints {
		if err := n.constraint(&st.Constraints[i]); err != nil {
			return err
		}
	}
	if err := n.finishChecks(); err != nil {
		return err
	}
	if err := d.reserve(n.tbl); err != nil {
		return err
	}
	_, err = d.t.CreateTable(n.tbl)
	return err
}

// column adds a column with its type; constraints come later, when all columns are known.
func (n *newTable) column(def *ast.ColumnDef) error {
	c, err := n.d.columnDef(n.tbl, def)
	if err != nil {
		return err
	}
	c.Num = int16(len(n.tbl.Columns) + 1)
	n.tbl.Columns = append(n.tbl.Columns, c)
	return nil
}

// columnDef checks a column's name and type.
func (d *ddl) columnDef(tbl *rel.Table, def *ast.ColumnDef) (rel.Column, error) {
	if systemColumns[def.Name] {
		return rel.Column{}, pgerr.New(pgerr.DuplicateColumn, "column name %q conflicts with a system column name", def.Name)
	}
	if findColumn(tbl, def.Name) != nil {
		return rel.Column{}, pgerr.New(pgerr.DuplicateColumn, "column %q specified more than once", def.Name)
	}
	if def.Type.Serial {
		return rel.Column{}, d.at(errFeature("serial columns are not supported"), def.Type.Pos)
	}
	t, err := d.columnType(def.Name, def.Type)
	if err != nil {
		return rel.Column{}, err
	}
	if def.Collation != "" && !knownCollation(def.Collation) {
		return rel.Column{}, pgerr.New(pgerr.UndefinedObject, "collation %q for encoding \"UTF8\" does not exist", def.Collation)
	}
	return rel.Column{Name: def.Name, Type: t.OID, Mod: t.Mod, NDims: int32(def.Type.Dims)}, nil
}

func knownCollation(name string) bool {
	switch strings.ToLower(name) {
	case "c", "posix", "default", "ucs_basic", "c.utf8", "c.utf-8":
		return true
	}
	return false
}

// columnType resolves a type and refuses those no column can have.
func (d *ddl) columnType(column string, n ast.TypeName) (types.T, error) {
	t, err := d.s.binder(d.t, d.rq).BindType(n)
	if err != nil {
		return t, err
	}
	if info, ok := types.Lookup(t.OID); ok && info.Category == 'P' || t.OID == types.UnknownOID {
		return t, pgerr.New(pgerr.InvalidTableDefinition, "column %q has pseudo-type %s", column, types.FormatType(t))
	}
	return t, nil
}

// columnConstraints applies the constraints written with a column.
func (n *newTable) columnConstraints(def *ast.ColumnDef) error {
	c := findColumn(n.tbl, def.Name)
	sawNull := false
	for i := range def.Constraints {
		con := &def.Constraints[i]
		switch con.Kind {
		case "not null":
			if sawNull {
				return n.d.at(pgerr.New(pgerr.SyntaxError, "conflicting NULL/NOT NULL declarations for column %q of table %q", c.Name, n.tbl.Name), con.Pos)
			}
			c.NotNull = true
		case "null":
			if c.NotNull {
				return n.d.at(pgerr.New(pgerr.SyntaxError, "conflicting NULL/NOT NULL declarations for column %q of table %q", c.Name, n.tbl.Name), con.Pos)
			}
			sawNull = true
		case "default":
			if c.Default != "" {
				return n.d.at(pgerr.New(pgerr.SyntaxError, "multiple default values specified for column %q of table %q", c.Name, n.tbl.Name), con.Pos)
			}
			text, err := n.d.defaultText(c, con.Expr, con.Text)
			if err != nil {
				return err
			}
			c.Default = text
		default:
			cc := *con
			if len(cc.Columns) == 0 {
				cc.Columns = []string{def.Name}
			}
			if err := n.constraint(&cc); err != nil {
				return err
			}
		}
	}
	return nil
}

// defaultText checks a DEFAULT expression and returns the text to keep.
func (d *ddl) defaultText(c *rel.Column, e ast.Expr, text string) (string, error) {
	text = strings.TrimSpace(text)
	if lit, ok := e.(*ast.Literal); ok && lit.Kind == ast.LitNull {
		return "", nil
	}
	if cols := columnsOf(e); len(cols) > 0 {
		return "", d.at(errFeature("cannot use column reference in DEFAULT expression"), e.Position())
	}
	b := d.s.binder(d.t, &request{sql: d.rq.sql, noParams: true, out: d.rq.out})
	if _, from, err := b.BindAssign(nil, e, types.T{OID: c.Type, Mod: c.Mod}, c.Name); err != nil {
		if pgerr.CodeOf(err) == pgerr.DatatypeMismatch {
			return "", pgerr.New(pgerr.DatatypeMismatch, "column %q is of type %s but default expression is of type %s", c.Name,
				types.TypeName(c.Type), types.TypeName(from.OID)).
				WithHint("You will need to rewrite or cast the expression.")
		}
		return "", err
	}
	return text, nil
}

// constraint applies a table constraint.
func (n *newTable) constraint(con *ast.Constraint) error {
	switch con.Kind {
	case "primary key", "unique":
		idx, err := n.d.keyConstraint(n.tbl, con, n.taken)
		if err != nil {
			return err
		}
		if idx.Primary {
			if n.pk {
				return n.d.at(pgerr.New(pgerr.InvalidTableDefinition, "multiple primary keys for table %q are not allowed", n.tbl.Name), con.Pos)
			}
			n.pk = true
			for _, num := range idx.Columns {
				n.tbl.Columns[num-1].NotNull = true
			}
		}
		for i := range n.tbl.Indexes {
			if n.tbl.Indexes[i].Name == idx.Name {
				return relationExists(idx.Name)
			}
		}
		n.names[idx.Name] = true
		n.tbl.Indexes = append(n.tbl.Indexes, idx)
		return nil
	case "check":
		n.checks = append(n.checks, pendingCheck{name: con.Name, con: con})
		return nil
	}
	return n.d.unsupportedConstraint(con)
}

func (d *ddl) unsupportedConstraint(con *ast.Constraint) error {
	what := map[string]string{
		"references": "FOREIGN KEY constraints are", "generated": "generated columns are", "identity": "identity columns are",
		"exclude": "EXCLUDE constraints are",
	}[con.Kind]
	if what == "" {
		what = con.Kind + " constraints are"
	}
	return d.at(errFeature("%s not supported", what), con.Pos)
}

func (n *newTable) taken(name string) bool {
	return n.names[name] || name == n.tbl.Name || n.d.taken(n.tbl.Schema, n.tbl.Temp, name)
}

// keyConstraint makes the index of a PRIMARY KEY or UNIQUE constraint.
func (d *ddl) keyConstraint(tbl *rel.Table, con *ast.Constraint, taken func(string) bool) (rel.Index, error) {
	if con.NullsNotDistinct {
		return rel.Index{}, d.at(errFeature("NULLS NOT DISTINCT is not supported"), con.Pos)
	}
	idx := rel.Index{Name: con.Name, Unique: true, Primary: con.Kind == "primary key", Constraint: true}
	for _, name := range con.Columns {
		c := findColumn(tbl, name)
		if c == nil {
			return idx, d.at(pgerr.New(pgerr.UndefinedColumn, "column %q named in key does not exist", name), con.Pos)
		}
		if slices.Contains(idx.Columns, c.Num) {
			what := "key"
			if idx.Primary {
				what = "primary key"
			}
			return idx, d.at(pgerr.New(pgerr.DuplicateColumn, "column %q appears twice in %s constraint", name, what), con.Pos)
		}
		if err := indexable(c); err != nil {
			return idx, err
		}
		idx.Columns = append(idx.Columns, c.Num)
	}
	if len(idx.Columns) > 32 {
		return idx, pgerr.New("54011", "cannot use more than 32 columns in an index")
	}
	if idx.Name == "" {
		if idx.Primary {
			idx.Name = chooseName(taken, tbl.Name, "pkey")
		} else {
			idx.Name = chooseName(taken, tbl.Name, strings.Join(con.Columns, "_"), "key")
		}
	} else if d.taken(tbl.Schema, tbl.Temp, idx.Name) {
		return idx, relationExists(idx.Name)
	}
	return idx, nil
}

// indexable refuses key columns of types without an order.
func indexable(c *rel.Column) error {
	switch c.Type {
	case types.JSONOID:
		return pgerr.New(pgerr.UndefinedObject, "data type %s has no default operator class for access method \"btree\"",
			types.TypeName(c.Type)).
			WithHint("You must specify an operator class for the index or define a default operator class for the data type.")
	}
	return nil
}

// chooseName joins the parts with underscores and adds a number when the name is taken.
func chooseName(taken func(string) bool, parts ...string) string {
	base := strings.Join(parts, "_")
	name := base
	for i := 1; taken(name); i++ {
		name = base + itoa(i)
	}
	return name
}

// finishChecks binds the CHECK constraints, names them and keeps their texts.
func (n *newTable) finishChecks() error {
	for _, p := range n.checks {
		ck, err := n.d.checkConstraint(n.tbl, p.con)
		if err != nil {
			return err
		}
		n.tbl.Checks = append(n.tbl.Checks, ck)
	}
	return nil
}

// checkConstraint binds a CHECK and names it.
func (d *ddl) checkConstraint(tbl *rel.Table, con *ast.Constraint) (rel.Check, error) {
	b := d.s.binder(d.t, &request{sql: d.rq.sql, noParams: true, out: d.rq.out})
	e, err := b.BindExpr(b.TableScope(tbl, tbl.Name), con.Expr)
	if err != nil {
		return rel.Check{}, err
	}
	if oid := e.Type().OID; oid != types.BoolOID && oid != types.UnknownOID {
		return rel.Check{}, d.at(pgerr.New(pgerr.DatatypeMismatch, "argument of CHECK must be type boolean, not type %s",
			types.FormatType(e.Type())), con.Expr.Position())
	}
	taken := func(name string) bool {
		return slices.ContainsFunc(tbl.Checks, func(c rel.Check) bool { return c.Name == name }) ||
			slices.ContainsFunc(tbl.Indexes, func(i rel.Index) bool { return i.Constraint && i.Name == name })
	}
	name := con.Name
	if name == "" {
		if cols := columnsOf(con.Expr); len(cols) == 1 {
			name = chooseName(taken, tbl.Name, cols[0], "check")
		} else {
			name = chooseName(taken, tbl.Name, "check")
		}
	} else if taken(name) {
		return rel.Check{}, pgerr.New(pgerr.DuplicateObject, "check constraint %q already exists", name)
	}
	return rel.Check{Name: name, Expr: strings.TrimSpace(con.Text)}, nil
}

// like adds the columns of another table.
func (n *newTable) like(l *ast.LikeClause) error {
	src, err := n.d.s.binder(n.d.t, n.d.rq).BindTable(l.Table)
	if err != nil {
		return err
	}
	var defaults, constraints, indexes, comments bool
	for _, o := range l.Options {
		o = strings.ToLower(o)
		on := !strings.HasPrefix(o, "excluding")
		_, what, found := strings.Cut(o, " ")
		if !found {
			what = o
		}
		switch what {
		case "all":
			defaults, constraints, indexes, comments = on, on, on, on
		case "defaults":
			defaults = on
		case "constraints":
			constraints = on
		case "indexes":
			indexes = on
		case "comments":
			comments = on
		}
	}
	renum := map[int16]int16{}
	for i := range src.Columns {
		c := src.Columns[i]
		if c.Dropped {
			continue
		}
		if findColumn(n.tbl, c.Name) != nil {
			return pgerr.New(pgerr.DuplicateColumn, "column %q specified more than once", c.Name)
		}
		num := int16(len(n.tbl.Columns) + 1)
		renum[c.Num] = num
		c.Num, c.HasMissing, c.Missing = num, false, nil
		if !defaults {
			c.Default = ""
		}
		if !comments {
			c.Comment = ""
		}
		n.tbl.Columns = append(n.tbl.Columns, c)
	}
	if constraints {
		n.tbl.Checks = append(n.tbl.Checks, src.Checks...)
	}
	if indexes {
		for i := range src.Indexes {
			idx := src.Indexes[i]
			if idx.Hidden {
				continue
			}
			nums := make([]int16, len(idx.Columns))
			cols := make([]string, len(idx.Columns))
			for k, num := range idx.Columns {
				nums[k] = renum[num]
				cols[k] = n.tbl.Columns[renum[num]-1].Name
			}
			suffix := "idx"
			switch {
			case idx.Primary:
				cols, suffix = nil, "pkey"
				n.pk = true
			case idx.Constraint:
				suffix = "key"
			}
			idx.OID, idx.ID, idx.Columns = 0, 0, nums
			idx.Name = chooseName(n.taken, append(append([]string{n.tbl.Name}, cols...), suffix)...)
			n.names[idx.Name] = true
			n.tbl.Indexes = append(n.tbl.Indexes, idx)
		}
	}
	return nil
}

// createTableAs is CREATE TABLE … AS query.
func (d *ddl) createTableAs(st *ast.CreateTable) (*running, error) {
	sch, temp, err := d.creationSchema(st.Name, st.Temp)
	if err != nil {
		return nil, err
	}
	if d.taken(sch.OID, temp, st.Name.Name) {
		if st.IfNotExists {
			return done("CREATE TABLE AS"), d.notice(pgerr.DuplicateTable, "relation %q already exists, skipping", st.Name.Name)
		}
		return nil, relationExists(st.Name.Name)
	}
	sub := d.rq.part(st.As)
	node, slots, err := d.s.planQuery(d.t, sub)
	if err != nil {
		return nil, err
	}
	cols := node.Columns()
	if len(st.AsColumns) > len(cols) {
		return nil, pgerr.New(pgerr.SyntaxError, "too many column names were specified")
	}
	tbl := &rel.Table{Schema: sch.OID, Name: st.Name.Name, Kind: rel.KindTable, Temp: temp}
	if temp && (st.OnCommit == "delete" || st.OnCommit == "drop") {
		tbl.OnCommit = st.OnCommit
	}
	for i, c := range cols {
		name := c.Name
		if i < len(st.AsColumns) {
			name = st.AsColumns[i]
		}
		col, err := d.resultColumn(tbl, name, c.Type)
		if err != nil {
			return nil, err
		}
		col.Num = int16(i + 1)
		tbl.Columns = append(tbl.Columns, col)
	}
	ectx := d.s.execCtx(d.ctx, d.t, sub)
	ectx.Slots = slots
	iter, err := node.Open(ectx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = iter.Close() }()
	if err := d.reserve(tbl); err != nil {
		return nil, err
	}
	made, err := d.t.CreateTable(tbl)
	if err != nil {
		return nil, err
	}
	if st.WithNoData {
		return done("CREATE TABLE AS"), nil
	}
	w := &rowWriter{table: made, ectx: ectx, row: make(exec.Row, len(made.Columns))}
	n := 0
	for {
		row, err := iter.Next()
		if err == exec.EOF {
			return done("SELECT " + itoa(n)), nil
		}
		if err != nil {
			return nil, err
		}
		copy(w.row, row)
		if err := w.insert(); err != nil {
			return nil, err
		}
		n++
	}
}

// resultColumn makes a column from a query's result column.
func (d *ddl) resultColumn(tbl *rel.Table, name string, t types.T) (rel.Column, error) {
	if t.OID == types.UnknownOID {
		t = types.T{OID: types.TextOID, Mod: -1}
	}
	if info, ok := types.Lookup(t.OID); ok && info.Category == 'P' {
		return rel.Column{}, pgerr.New(pgerr.InvalidTableDefinition, "column %q has pseudo-type %s", name, types.FormatType(t))
	}
	if findColumn(tbl, name) != nil {
		return rel.Column{}, pgerr.New(pgerr.DuplicateColumn, "column %q specified more than once", name)
	}
	c := rel.Column{Name: name, Type: t.OID, Mod: t.Mod}
	if types.IsArray(t.OID) {
		c.NDims = 1
	}
	return c, nil
}

// selectInto is SELECT … INTO.
func (s *Session) selectInto(ctx context.Context, rq *request, st *ast.Select, into *ast.Name) (*running, error) {
	if err := s.requireWritable("SELECT INTO"); err != nil {
		return nil, err
	}
	t, err := s.newStatement()
	if err != nil {
		return nil, err
	}
	d := &ddl{s: s, ctx: ctx, rq: rq, t: t}
	return d.createTableAs(&ast.CreateTable{Pos: st.Pos, Name: *into, As: withoutInto(st)})
}

// withoutInto copies a query without its INTO clause.
func withoutInto(q *ast.Select) *ast.Select {
	c := *q
	switch {
	case c.Core != nil:
		core := *c.Core
		core.Into = nil
		c.Core = &core
	case c.SetOp != nil:
		op := *c.SetOp
		op.Left = withoutInto(op.Left)
		c.SetOp = &op
	}
	return &c
}
