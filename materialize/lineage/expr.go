package lineage

import (
	"maps"
	"slices"
)

// item gives the output columns that one item of a select list stands for.
func (a *analysis) item(x object, sc *scope) []col {
	switch {
	case x.text("class") == "STAR" && x["expr"] == nil && x.text("alias") == "":
		return a.star(x, sc)
	case hasStar(map[string]any(x), 0):
		// COLUMNS in an expression: an expression for each of a number of columns.
		v := a.expr(map[string]any(x), sc)
		return []col{{val: v, star: &star{}}}
	}
	v := a.expr(map[string]any(x), sc)
	name := x.text("alias")
	if names := x.texts("column_names"); name == "" && len(names) > 0 {
		name = names[len(names)-1]
	}
	if x.text("class") == "FUNCTION" && fold(x.text("function_name")) == "unnest" {
		// Of a struct it makes a column for each field, of a list one.
		return []col{{val: v, star: &star{}}}
	}
	return []col{{name: name, val: v}}
}

// hasStar looks for a star that makes of one expression many. Those in subqueries do not.
func hasStar(v any, depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if hasStar(e, depth+1) {
				return true
			}
		}
	case map[string]any:
		switch object(v).text("class") {
		case "STAR":
			return true
		case "CONSTANT", "COLUMN_REF":
			return false
		}
		for key, e := range v {
			if key != "subquery" && hasStar(e, depth+1) {
				return true
			}
		}
	}
	return false
}

// star gives the columns of * or t.*, with EXCLUDE, REPLACE and RENAME.
func (a *analysis) star(x object, sc *scope) []col {
	cols := sc.cols
	if name := x.text("relation_name"); name != "" {
		var r *relation
		for s := sc; s != nil && r == nil; s = s.parent {
			r = s.relation([]string{name})
		}
		if r == nil { // the fields of a struct
			c := unknownStar()
			c.val.from = a.bare(name, sc, false).from
			return []col{c}
		}
		cols = r.cols
	}
	a.spend(len(cols))
	replaced := map[string]value{}
	for _, e := range x.list("replace_list") {
		o := asObject(e)
		replaced[fold(o.text("key"))] = a.expr(o["value"], sc)
	}
	var changed []qualified
	for _, name := range x.texts("exclude_list") {
		changed = append(changed, qualified{column: fold(name), drop: true})
	}
	for _, e := range x.list("qualified_exclude_list") {
		q := qualifiedOf(asObject(e))
		q.drop = true
		changed = append(changed, q)
	}
	for _, e := range x.list("rename_list") {
		q := qualifiedOf(asObject(e).object("key"))
		q.to = asObject(e).text("value")
		changed = append(changed, q)
	}
	var out []col
	for _, c := range cols {
		if c.star != nil {
			out = append(out, starWith(c, changed, replaced, len(cols) == 1)...)
			continue
		}
		keep := true
		for _, q := range changed {
			if c.name == "" || !q.fits(c) {
				continue
			}
			if keep = !q.drop; q.drop {
				break
			}
			c.name = q.to
			break
		}
		if !keep {
			continue
		}
		if v, ok := replaced[fold(c.name)]; ok && c.name != "" {
			c.val = v
		}
		out = append(out, c)
	}
	return out
}

// starWith takes out of a star what EXCLUDE, RENAME and REPLACE name. If it is the only
// column they speak of it; otherwise it is not known whether they do.
func starWith(c col, changed []qualified, replaced map[string]value, alone bool) []col {
	var out []col
	names := make([]string, 0, len(changed)+len(replaced))
	for _, q := range changed {
		names = append(names, q.column)
		if alone && !q.drop {
			out = append(out, col{name: q.to, val: c.star.column(q.column), rel: c.rel})
		}
	}
	for name, v := range replaced {
		names = append(names, name)
		if alone {
			out = append(out, col{name: name, val: v, rel: c.rel})
		}
	}
	if alone || len(names) == 0 {
		c.star = c.star.without(names...)
	} else {
		c.star = c.star.unnamed()
	}
	return append(out, c)
}

// qualified is a column in EXCLUDE or RENAME; texts are folded, but for to.
type qualified struct {
	table, column string
	drop          bool
	to            string
}

func qualifiedOf(o object) qualified {
	return qualified{table: fold(o.text("table")), column: fold(o.text("column"))}
}

func (q qualified) fits(c col) bool {
	return fold(c.name) == q.column && (q.table == "" || q.table == c.rel)
}

// visit reads something for its tables and functions.
func (a *analysis) visit(v any, sc *scope) { a.expr(v, sc) }

// expr gives what an expression is made of. It also takes lists of them, and parts of
// the tree that hold some.
func (a *analysis) expr(v any, sc *scope) value {
	switch v := v.(type) {
	case []any:
		if !a.enter() {
			return unknown
		}
		defer a.leave()
		out := constant
		for _, e := range v {
			out = out.and(a.expr(e, sc))
		}
		return out
	case map[string]any:
		if !a.enter() {
			return unknown
		}
		defer a.leave()
		return a.node(v, sc)
	}
	return constant
}

func (a *analysis) node(x object, sc *scope) value {
	switch x.text("class") {
	case "":
		return a.plain(x, sc)
	case "COLUMN_REF":
		names := x.texts("column_names")
		if len(names) == 0 {
			return unknown
		}
		return a.reference(names, sc)
	case "CONSTANT", "PARAMETER", "DEFAULT":
		return constant
	case "POSITIONAL_REFERENCE":
		return positional(x, sc)
	case "STAR":
		v := together(a.star(x, sc)).and(a.expr(x["expr"], sc))
		return value{v.from, false}
	case "SUBQUERY":
		return a.subquery(x, sc)
	case "LAMBDA": // outside a function that takes one it is JSON's arrow
		return a.expr(x["lhs"], sc).and(a.expr(x["expr"], sc))
	case "FUNCTION":
		return a.function(x, sc)
	case "WINDOW":
		a.functions[fold(x.text("function_name"))] = true
		return a.parts(x, sc)
	case "CASE", "CAST", "COLLATE", "COMPARISON", "CONJUNCTION", "OPERATOR", "BETWEEN":
		return a.parts(x, sc)
	}
	v := a.parts(x, sc) // a class of another version
	return value{v.from, false}
}

// plain takes what is no expression: a part of one, or a query or a table somewhere in a
// node that is not known here.
func (a *analysis) plain(x object, sc *scope) value {
	switch x.text("type") {
	case "SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE":
		return together(a.query(x, env{sc, sc.ctes}))
	case "BASE_TABLE", "SUBQUERY", "JOIN", "TABLE_FUNCTION", "PIVOT", "EXPRESSION_LIST":
		_, cols := a.from(x, env{sc, sc.ctes})
		return together(cols)
	}
	return a.parts(x, sc)
}

// parts is what the parts of an expression are made of.
func (a *analysis) parts(x object, sc *scope) value {
	out := constant
	for _, key := range slices.Sorted(maps.Keys(x)) { // files are told in an order
		switch key {
		case "class", "type", "alias", "query_location", "cast_type", "function_name":
			continue
		}
		out = out.and(a.expr(x[key], sc))
	}
	return out
}

// positional is #1: a column of FROM.
func positional(x object, sc *scope) value {
	n, _ := x["index"].(float64)
	for i, c := range sc.cols {
		switch {
		case c.star != nil:
			return unknown
		case i+1 == int(n):
			return c.val
		}
	}
	return unknown
}

func (a *analysis) subquery(x object, sc *scope) value {
	q := x.object("subquery").object("node")
	cols := a.query(q, env{sc, sc.ctes})
	switch x.text("subquery_type") {
	case "EXISTS", "NOT_EXISTS":
		return a.conditions(q, sc)
	}
	return together(cols).and(a.expr(x["child"], sc))
}

// conditions is what the WHERE of a query names. Read in the query's own scope.
func (a *analysis) conditions(q object, sc *scope) value {
	if q.text("type") != "SELECT_NODE" || len(q.object("cte_map").list("map")) > 0 {
		return unknown
	}
	files := a.files
	inner := &scope{parent: sc, ctes: sc.ctes}
	inner.rels, inner.cols = a.from(q.object("from_table"), env{sc, sc.ctes})
	a.files = files // they were seen before
	return a.expr(q["where_clause"], inner)
}

// function reads a call of a scalar or aggregate function, or of a macro.
func (a *analysis) function(x object, sc *scope) value {
	name := fold(x.text("function_name"))
	if !x.flag("is_operator") {
		a.functions[name] = true
	}
	out := a.expr(x["filter"], sc).and(a.expr(x["order_bys"], sc))
	for _, arg := range x.list("children") {
		o := asObject(arg)
		if o.text("class") != "LAMBDA" || !lambdaFunctions[name] {
			out = out.and(a.expr(arg, sc))
			continue
		}
		inner := &scope{parent: sc, ctes: sc.ctes, params: map[string]bool{}}
		lhs := o.object("lhs")
		for _, p := range append([]any{map[string]any(lhs)}, lhs.list("children")...) {
			for _, n := range asObject(p).texts("column_names") {
				inner.params[fold(n)] = true
			}
		}
		out = out.and(a.expr(o["expr"], inner))
	}
	if cols, ok := a.asNamed(KindFunction, x.text("catalog"), x.text("schema"), x.text("function_name")); ok {
		out = out.and(together(cols))
	}
	return out
}
