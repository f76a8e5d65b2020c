package lineage

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Errors of this package.
var (
	// ErrTree is returned for text that is not what json_serialize_sql gives for one
	// statement.
	ErrTree = errors.New("not the parse tree of one SELECT")
	// ErrNotSelect is returned when DuckDB has said, in place of a tree, that it has none: for
	// a statement with an error, and for a PIVOT that finds its columns itself. The message is
	// DuckDB's.
	ErrNotSelect = errors.New("DuckDB gives no parse tree")
	// ErrTooLarge is returned for a tree that is nested too deeply, or whose columns multiply
	// beyond what is worth following.
	ErrTooLarge = errors.New("the SELECT is too large to follow")
)

// Bounds of one Read. They are far beyond what people write: a tree of DuckDB has at most
// 1000 levels of expressions.
const (
	maxDepth = 3000
	maxSteps = 2_000_000
)

// Any is the Column of a ColumnRef, and the Name of a Column, when it is not known which
// column, or which columns, of the table it is.
const Any = "*"

// TableRef names a table as the SELECT does, or as Options.Resolve made of it.
type TableRef struct {
	Catalog string
	Schema  string
	Name    string
	// File says that Name is the path of a file, or a pattern of paths, and no table.
	File bool
	// AtVersion says that it is read as of a snapshot or time (AT), not as it is now.
	AtVersion bool
}

// String gives the name with dots, unquoted, for people.
func (t TableRef) String() string {
	var parts []string
	for _, p := range []string{t.Catalog, t.Schema, t.Name} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, ".")
}

func compareTables(a, b TableRef) int {
	return cmp.Or(cmp.Compare(a.Catalog, b.Catalog), cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name),
		compareBools(a.File, b.File), compareBools(a.AtVersion, b.AtVersion))
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// ColumnRef is a column of a table that is read; Any for some columns of it.
type ColumnRef struct {
	Table  TableRef
	Column string
}

func compareRefs(a, b ColumnRef) int {
	return cmp.Or(compareTables(a.Table, b.Table), cmp.Compare(a.Column, b.Column))
}

// Column is one column of the SELECT's output.
type Column struct {
	// Name is "" when DuckDB makes the name of the expression's text, which is not followed
	// here, and Any for a number of columns that are not known one by one.
	Name string
	// From is in order and without repetitions. It is empty for a constant.
	From []ColumnRef
	// Exact says that From is all. Otherwise there may be more.
	Exact bool
}

// FileRead is a table function that reads files, or a path in place of a table.
type FileRead struct {
	// Function is the function's name in lower case; "" for a path in place of a table.
	Function string
	// Paths are those that the SELECT gives as text.
	Paths []string
	// Literal says that Paths is all; otherwise a path is computed.
	Literal bool
}

// Read is what a SELECT reads.
type Read struct {
	// Tables are in order and without repetitions; common table expressions and what
	// Options.Named gave are not among them, the tables that those read are.
	Tables []TableRef
	// Files are in the order of their appearance.
	Files []FileRead
	// Functions are the names, in lower case, of scalar, aggregate, window and table functions
	// and macros, in order; operators are left out. See Unstable.
	Functions []string
	// Columns are the output's, in their order.
	Columns []Column
	// Complete says that Columns are the output's columns one by one. Otherwise some has Any
	// for its name and stands for none, one or more.
	Complete bool
}

// NameColumns gives the columns the names that the output has, which who ran the SELECT
// knows. It does nothing and returns false unless the columns are known one by one and
// are as many.
func (r *Read) NameColumns(names []string) bool {
	if !r.Complete || len(names) != len(r.Columns) {
		return false
	}
	for i := range r.Columns {
		r.Columns[i].Name = names[i]
	}
	return true
}

// Kind is what Options.Named is asked for.
type Kind int

// Kinds of names.
const (
	// KindTable is a name where a table can stand: a temporary view or table.
	KindTable Kind = iota
	// KindTableFunction is a call where a table can stand: a table macro.
	KindTableFunction
	// KindFunction is a call in an expression: a macro.
	KindFunction
)

// NamedSelect is the SELECT that a name stands for.
type NamedSelect struct {
	// Tree is its parse tree. That of a macro that is an expression is the tree of SELECT and
	// the expression.
	Tree json.RawMessage
	// Params are the parameters of a macro.
	Params []string
}

// Options say what is known besides the tree. The zero value is nothing.
type Options struct {
	// Columns gives the columns of a table in their order, and false when they are not known.
	// It is asked for what Resolve gave, and with ("", "", path) for a file. May be nil.
	Columns func(catalog, schema, table string) ([]string, bool)
	// Named gives the SELECT that a temporary view, temporary table or macro of the script
	// stands for, to be read in its place, and false for other names. May be nil.
	Named func(kind Kind, catalog, schema, name string) (NamedSelect, bool)
	// Resolve makes of a table as it is written the table that is meant: DuckDB takes a.b for
	// the table b of the catalog a, if there is one, and what USE has set for a name alone. May
	// be nil. It is not asked about files.
	Resolve func(TableRef) TableRef
}

// OfSelect reads the parse tree of one SELECT.
func OfSelect(tree json.RawMessage, o Options) (Read, error) {
	a := &analysis{
		opt:    o,
		tables: map[TableRef]bool{}, functions: map[string]bool{}, named: map[namedKey]*namedSelect{},
	}
	node, err := selectNode(tree)
	if err != nil {
		return Read{}, err
	}
	cols := a.query(node, env{})
	if a.err != nil {
		return Read{}, a.err
	}
	r := Read{Files: a.files, Complete: true}
	for t := range a.tables {
		r.Tables = append(r.Tables, t)
	}
	slices.SortFunc(r.Tables, compareTables)
	for f := range a.functions {
		r.Functions = append(r.Functions, f)
	}
	slices.Sort(r.Functions)
	for _, c := range cols {
		r.Complete = r.Complete && c.star == nil
		v := c.whole()
		name := c.name
		if c.star != nil {
			name = Any
		}
		r.Columns = append(r.Columns, Column{Name: name, From: v.from, Exact: v.exact && c.star == nil})
	}
	return r, nil
}

// selectNode finds the query in what json_serialize_sql gave.
func selectNode(tree json.RawMessage) (object, error) {
	var top struct {
		Error      bool   `json:"error"`
		Message    string `json:"error_message"`
		Statements []struct {
			Node object `json:"node"`
		} `json:"statements"`
	}
	if err := json.Unmarshal(tree, &top); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTree, err)
	}
	if top.Error {
		return nil, fmt.Errorf("%w: %s", ErrNotSelect, top.Message)
	}
	if len(top.Statements) != 1 || top.Statements[0].Node == nil {
		return nil, fmt.Errorf("%w: %d statements", ErrTree, len(top.Statements))
	}
	return top.Statements[0].Node, nil
}

// object is a node of the tree.
type object map[string]any

func (o object) text(key string) string { s, _ := o[key].(string); return s }

func (o object) flag(key string) bool { b, _ := o[key].(bool); return b }

func (o object) list(key string) []any { l, _ := o[key].([]any); return l }

func (o object) object(key string) object { return asObject(o[key]) }

// texts gives the strings of a list.
func (o object) texts(key string) []string {
	var s []string
	for _, v := range o.list(key) {
		if t, ok := v.(string); ok {
			s = append(s, t)
		}
	}
	return s
}

func asObject(v any) object { m, _ := v.(map[string]any); return m }

// fold makes names equal that DuckDB takes for equal: it ignores the case of ASCII letters.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
