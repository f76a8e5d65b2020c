package lineage

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// from gives what a FROM clause holds: the relations that columns can be qualified with,
// and the columns as * gives them.
func (a *analysis) from(t object, e env) ([]relation, []col) {
	if !a.enter() {
		return nil, nil
	}
	defer a.leave()
	a.visit(t["sample"], &scope{parent: e.outer, ctes: e.ctes})
	switch t.text("type") {
	case "EMPTY", "":
		return nil, nil
	case "BASE_TABLE":
		return a.baseTable(t, e)
	case "SUBQUERY":
		cols := a.query(t.object("subquery").object("node"), e)
		return one("", "", t.text("alias"), rename(cols, t.texts("column_name_alias")))
	case "JOIN":
		return a.join(t, e)
	case "TABLE_FUNCTION":
		return a.tableFunction(t, e)
	case "EXPRESSION_LIST":
		return one("", "", t.text("alias"), a.values(t, e))
	case "PIVOT":
		cols := a.pivot(t, e)
		return one("", "", t.text("alias"), rename(cols, t.texts("column_name_alias")))
	}
	// DESCRIBE, SUMMARIZE and what another version may have.
	a.visit(map[string]any(t)["query"], &scope{parent: e.outer, ctes: e.ctes})
	return one("", "", t.text("alias"), []col{unknownStar()})
}

func one(catalog, schema, alias string, cols []col) ([]relation, []col) {
	cols = ofRelation(cols, alias)
	return []relation{{fold(catalog), fold(schema), fold(alias), cols}}, cols
}

func (a *analysis) baseTable(t object, e env) ([]relation, []col) {
	catalog, schema, name := t.text("catalog_name"), t.text("schema_name"), t.text("table_name")
	alias := t.text("alias")
	if alias == "" {
		alias = name
	}
	finish := func(cols []col) ([]relation, []col) {
		a.spend(len(cols))
		return one(catalog, schema, alias, rename(cols, t.texts("column_name_alias")))
	}
	a.visit(t["at_clause"], &scope{parent: e.outer, ctes: e.ctes})
	if catalog == "" && (schema == "" || schema == "recurring") {
		if cols, ok := e.ctes.lookup(name); ok {
			return finish(cols)
		}
	}
	if cols, ok := a.asNamed(KindTable, catalog, schema, name); ok {
		return finish(cols)
	}
	if catalog == "" && schema == "" && isPath(name) {
		a.files = append(a.files, FileRead{Paths: []string{name}, Literal: true})
		if t.text("alias") == "" {
			alias = fileAlias(name)
		}
		return finish(a.tableColumns(TableRef{Name: name, File: true}))
	}
	ref := TableRef{Catalog: catalog, Schema: schema, Name: name}
	if a.opt.Resolve != nil {
		ref = a.opt.Resolve(ref)
	}
	ref.AtVersion = t["at_clause"] != nil
	a.tables[ref] = true
	return finish(a.tableColumns(ref))
}

// tableColumns gives the columns of a table, or a star where they are not known.
func (a *analysis) tableColumns(ref TableRef) []col {
	if a.opt.Columns != nil {
		if names, ok := a.opt.Columns(ref.Catalog, ref.Schema, ref.Name); ok {
			cols := make([]col, len(names))
			for i, n := range names {
				cols[i] = col{name: n, val: value{[]ColumnRef{{ref, n}}, true}}
			}
			return cols
		}
	}
	return []col{{val: constant, star: &star{parts: []starPart{{ref, true}}}}}
}

// isPath tells a file in place of a table from a table's name, as DuckDB does that finds
// no table of that name.
func isPath(name string) bool {
	if strings.Contains(name, "://") {
		return true
	}
	base := fold(name)
	for _, packed := range []string{".gz", ".zst"} {
		base = strings.TrimSuffix(base, packed)
	}
	switch path.Ext(base) {
	case ".parquet", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".xlsx", ".avro":
		return true
	}
	return false
}

// fileAlias is the name that a file has in a query: its own, up to the first dot.
func fileAlias(name string) string {
	base, _, _ := strings.Cut(path.Base(name), ".")
	return base
}

func (a *analysis) tableFunction(t object, e env) ([]relation, []col) {
	fn := t.object("function")
	name, alias := fold(fn.text("function_name")), t.text("alias")
	if alias == "" {
		alias = name
	}
	a.functions[name] = true
	sc := &scope{parent: e.outer, ctes: e.ctes}
	args := constant
	for _, arg := range fn.list("children") {
		o := asObject(arg)
		if names := o.object("left").texts("column_names"); o.text("type") == "COMPARE_EQUAL" && len(names) == 1 {
			arg = o["right"] // an argument with its name
		}
		args = args.and(a.expr(arg, sc))
	}
	cols := a.functionColumns(name, fn, args)
	if named, ok := a.asNamed(KindTableFunction, fn.text("catalog"), fn.text("schema"), fn.text("function_name")); ok {
		cols = slices.Clone(named)
		for i := range cols {
			cols[i].val = cols[i].val.and(args)
		}
	}
	if t.text("with_ordinality") == "WITH_ORDINALITY" {
		cols = append(cols[:len(cols):len(cols)], col{name: "ordinality", val: constant})
	}
	return one("", "", alias, rename(cols, t.texts("column_name_alias")))
}

// functionColumns gives the columns of a table function's result.
func (a *analysis) functionColumns(name string, fn object, args value) []col {
	switch {
	case name == "unnest" && len(fn.list("children")) == 1:
		return []col{{name: name, val: args}}
	case name == "range" || name == "generate_series":
		return []col{{name: name, val: args}}
	case !fileFunctions[name]:
		return []col{unknownStar()}
	}
	read := FileRead{Function: name, Literal: true}
	if children := fn.list("children"); len(children) > 0 {
		read.Literal = paths(asObject(children[0]), &read.Paths)
	}
	a.files = append(a.files, read)
	if len(read.Paths) == 1 && read.Literal {
		return a.tableColumns(TableRef{Name: read.Paths[0], File: true})
	}
	c := unknownStar()
	for _, p := range read.Paths {
		c.star.parts = append(c.star.parts, starPart{TableRef{Name: p, File: true}, read.Literal})
	}
	return []col{c}
}

// paths adds the texts of an argument that is one, or a list of some, and tells whether
// that is all of it.
func paths(arg object, to *[]string) bool {
	if arg.text("class") == "CONSTANT" {
		s, ok := arg.object("value")["value"].(string)
		if ok {
			*to = append(*to, s)
		}
		return ok
	}
	if !(arg.text("class") == "FUNCTION" && fold(arg.text("function_name")) == "list_value") && arg.text("type") != "ARRAY_CONSTRUCTOR" {
		return false
	}
	all := true
	for _, e := range arg.list("children") {
		o := asObject(e)
		all = o.text("class") == "CONSTANT" && paths(o, to) && all
	}
	return all
}

func (a *analysis) values(t object, e env) []col {
	var cols []col
	names := t.texts("expected_names")
	for r, row := range t.list("values") {
		list, _ := row.([]any)
		for i, x := range list {
			v := a.expr(x, &scope{parent: e.outer, ctes: e.ctes})
			switch {
			case r == 0 && i < len(names):
				cols = append(cols, col{name: names[i], val: v})
			case r == 0:
				cols = append(cols, col{name: "col" + strconv.Itoa(i), val: v})
			case i < len(cols):
				cols[i].val = cols[i].val.and(v)
			}
		}
	}
	return cols
}
