package parse

import (
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/lex"
)

// fromList parses table_ref [, ...].
func (p *parser) fromList() []ast.TableExpr {
	list := []ast.TableExpr{p.tableRef()}
	for p.acceptTok(lex.Comma) {
		list = append(list, p.tableRef())
	}
	return list
}

// tableRef parses one FROM item with its joins.
func (p *parser) tableRef() ast.TableExpr {
	p.enter()
	t := p.joins(p.tablePrimary())
	p.leave()
	return t
}

func (p *parser) atJoin() bool {
	if p.tok.Kind != lex.Word {
		return false
	}
	switch p.tok.Kw {
	case lex.KwJoin, lex.KwCross, lex.KwLeft, lex.KwRight, lex.KwFull, lex.KwInner, lex.KwNatural:
		return true
	}
	return false
}

// joins parses the joins after left.
func (p *parser) joins(left ast.TableExpr) ast.TableExpr {
	for n := 0; p.atJoin(); n++ {
		p.link(n)
		left = p.oneJoin(left)
	}
	return left
}

func (p *parser) oneJoin(left ast.TableExpr) ast.TableExpr {
	j := &ast.Join{Pos: p.pos(), Kind: "inner", Left: left}
	if p.accept(lex.KwCross) {
		p.expect(lex.KwJoin)
		j.Kind = "cross"
		j.Right = p.tablePrimary()
		return j
	}
	j.Natural = p.accept(lex.KwNatural)
	switch {
	case p.accept(lex.KwInner):
	case p.kw(lex.KwLeft), p.kw(lex.KwRight), p.kw(lex.KwFull):
		j.Kind = p.tok.Kw.String()
		p.advance()
		p.accept(lex.KwOuter)
	}
	p.expect(lex.KwJoin)
	j.Right = p.tablePrimary()
	if j.Natural {
		return j
	}
	// a JOIN b JOIN c ON x ON y: the condition nearest to a join belongs to it.
	for n := 0; p.atJoin(); n++ {
		p.enter()
		j.Right = p.oneJoin(j.Right)
		p.leave()
		p.link(n)
	}
	switch {
	case p.accept(lex.KwOn):
		j.On = p.expr()
	case p.accept(lex.KwUsing):
		j.Using = p.parenNames()
		if p.accept(lex.KwAs) {
			j.UsingAlias = p.colID()
		}
	default:
		p.syntaxError()
	}
	return j
}

// tablePrimary parses a FROM item without joins.
func (p *parser) tablePrimary() ast.TableExpr {
	pos := p.pos()
	lateral := p.accept(lex.KwLateral)
	switch {
	case p.is(lex.LParen):
		if lateral {
			return p.subqueryRef(pos, p.parenQuery(), true)
		}
		t, q := p.parenTable()
		if q != nil {
			return p.subqueryRef(pos, q, false)
		}
		if a, ok := p.optAlias(); ok {
			j, isJoin := t.(*ast.Join)
			if isJoin && j.Alias.Name == "" {
				j.Alias = a
			}
		}
		return t
	case p.kw(lex.KwOnly):
		if lateral {
			p.syntaxError()
		}
		return p.tableRefTail(p.relation())
	case p.kw(lex.KwRows) && p.peekKw(1, lex.KwFrom):
		return p.rowsFrom(lateral)
	case p.kw(lex.KwXmltable) && p.peek(1).Kind == lex.LParen:
		p.unsupported(pos, "XMLTABLE")
	}
	if f := p.funcTable(lateral); f != nil {
		return f
	}
	if lateral && isColID(&p.tok) {
		p.advance()
		p.syntaxError()
	}
	if !isColID(&p.tok) && isTypeFuncName(&p.tok) {
		// The name of a function, but no arguments follow.
		p.advance()
		p.syntaxError()
	}
	return p.tableRefTail(p.relation())
}

// relation parses [ONLY] name [*] without an alias.
func (p *parser) relation() *ast.TableRef {
	t := &ast.TableRef{}
	if p.accept(lex.KwOnly) {
		t.Only = true
		if p.acceptTok(lex.LParen) {
			t.Name = p.qualifiedName()
			p.expectTok(lex.RParen)
			return t
		}
		t.Name = p.qualifiedName()
		return t
	}
	t.Name = p.qualifiedName()
	p.acceptTok(lex.Star)
	return t
}

func (p *parser) tableRefTail(t *ast.TableRef) ast.TableExpr {
	t.Alias, _ = p.optAlias()
	if p.kw(lex.KwTablesample) {
		p.advance()
		if !isTypeFuncName(&p.tok) {
			p.syntaxError()
		}
		t.Sample = p.takeName()
		for p.acceptTok(lex.Dot) {
			t.Sample = p.label()
		}
		p.expectTok(lex.LParen)
		t.SampleArgs = p.exprList()
		p.expectTok(lex.RParen)
		if p.accept(lex.KwRepeatable) {
			p.expectTok(lex.LParen)
			p.expr()
			p.expectTok(lex.RParen)
		}
	}
	return t
}

// optAlias parses [AS] name [(columns)].
func (p *parser) optAlias() (ast.Alias, bool) {
	var a ast.Alias
	switch {
	case p.accept(lex.KwAs):
		a.Name = p.colID()
	case isColID(&p.tok):
		a.Name = p.takeName()
	default:
		return a, false
	}
	if p.is(lex.LParen) {
		a.Columns = p.parenNames()
	}
	return a, true
}

func (p *parser) subqueryRef(pos int, q *ast.Select, lateral bool) ast.TableExpr {
	s := &ast.SubqueryRef{Pos: pos, Lateral: lateral, Query: q}
	var ok bool
	if s.Alias, ok = p.optAlias(); !ok {
		kind, example := "subquery in FROM", "FROM (SELECT ...) [AS] foo."
		if q.Values != nil {
			kind, example = "VALUES in FROM", "FROM (VALUES ...) [AS] foo."
		}
		p.failHint(pos, kind+" must have an alias", "For example, "+example)
	}
	return s
}

// parenTable parses what stands in parentheses in FROM: a query, or a join.
func (p *parser) parenTable() (ast.TableExpr, *ast.Select) {
	p.enter()
	defer p.leave()
	p.expectTok(lex.LParen)
	if p.atQuery() {
		q := p.query()
		p.expectTok(lex.RParen)
		return nil, q
	}
	var t ast.TableExpr
	if p.is(lex.LParen) {
		pos := p.pos()
		var q *ast.Select
		t, q = p.parenTable()
		switch {
		case q != nil && p.atQueryTail():
			q = p.queryFrom(q)
			p.expectTok(lex.RParen)
			return nil, q
		case q != nil && p.is(lex.RParen):
			p.advance()
			return nil, q
		case q != nil:
			t = p.subqueryRef(pos, q, false)
		default:
			if a, ok := p.optAlias(); ok {
				if j, isJoin := t.(*ast.Join); isJoin && j.Alias.Name == "" {
					j.Alias = a
				}
			} else if p.is(lex.RParen) {
				p.advance()
				return t, nil
			}
		}
		if !p.atJoin() {
			p.syntaxError()
		}
		t = p.joins(t)
	} else {
		t = p.tablePrimary()
		if !p.atJoin() {
			p.syntaxError()
		}
		t = p.joins(t)
	}
	p.expectTok(lex.RParen)
	return t, nil
}

// funcTable parses a function in FROM; nil when the tokens name a table.
func (p *parser) funcTable(lateral bool) ast.TableExpr {
	if !p.atFuncTable() {
		return nil
	}
	f := &ast.FuncRef{Pos: p.pos(), Lateral: lateral}
	f.Func = p.tableFunc()
	return p.funcTableTail(f)
}

// rowsFrom parses ROWS FROM (f(args) [AS (columns)], …).
func (p *parser) rowsFrom(lateral bool) ast.TableExpr {
	f := &ast.FuncRef{Pos: p.pos(), Lateral: lateral}
	p.advance()
	p.advance()
	p.expectTok(lex.LParen)
	for {
		if !p.atFuncTable() {
			if isTypeFuncName(&p.tok) {
				p.advance()
			}
			p.syntaxError()
		}
		r := ast.RowsFunc{Func: p.tableFunc()}
		if p.accept(lex.KwAs) {
			r.ColDefs = p.columnDefList()
		}
		f.Rows = append(f.Rows, r)
		if !p.acceptTok(lex.Comma) {
			break
		}
	}
	p.expectTok(lex.RParen)
	return p.funcTableTail(f)
}

// tableFunc parses the call of a function in FROM.
func (p *parser) tableFunc() ast.Expr {
	p.windowless = true
	e := p.primary()
	p.windowless = false
	switch e.(type) {
	case *ast.FuncCall, *ast.Cast:
	default:
		p.syntaxError()
	}
	return e
}

func (p *parser) funcTableTail(f *ast.FuncRef) ast.TableExpr {
	if p.kw(lex.KwWith) && p.peekKw(1, lex.KwOrdinality) {
		p.advance()
		p.advance()
		f.Ordinality = true
	}
	p.funcAlias(&f.Alias)
	return f
}

// atFuncTable reports whether a function call follows: a possibly qualified name and an
// opening parenthesis, or a function with a syntax of its own.
func (p *parser) atFuncTable() bool {
	if p.tok.Kind == lex.Word {
		switch p.tok.Kw {
		case lex.KwCurrentDate, lex.KwCurrentTime, lex.KwCurrentTimestamp, lex.KwLocaltime, lex.KwLocaltimestamp,
			lex.KwCurrentRole, lex.KwCurrentUser, lex.KwSessionUser, lex.KwUser, lex.KwCurrentCatalog, lex.KwCurrentSchema:
			return true
		case lex.KwCollation:
			return p.peekKw(1, lex.KwFor)
		case lex.KwCast, lex.KwCoalesce, lex.KwGreatest, lex.KwLeast, lex.KwNullif, lex.KwExtract, lex.KwNormalize,
			lex.KwOverlay, lex.KwPosition, lex.KwSubstring, lex.KwTrim:
			return p.peek(1).Kind == lex.LParen
		}
	}
	if !isLabel(&p.tok) {
		return false
	}
	switch p.peek(1).Kind {
	case lex.LParen:
		return isTypeFuncName(&p.tok)
	case lex.Dot:
		if !isColID(&p.tok) {
			return false
		}
		switch p.peek(3).Kind {
		case lex.LParen:
			return true
		case lex.Dot:
			return p.peek(5).Kind == lex.LParen
		}
	}
	return false
}

// funcAlias parses the alias of a function in FROM, which may define columns.
func (p *parser) funcAlias(a *ast.Alias) {
	if p.accept(lex.KwAs) {
		if p.is(lex.LParen) {
			a.ColDefs = p.columnDefList()
			return
		}
		a.Name = p.colID()
	} else if isColID(&p.tok) {
		a.Name = p.takeName()
	} else {
		return
	}
	if !p.is(lex.LParen) {
		return
	}
	// (a, b) renames columns, (a int, b text) defines them.
	if k := p.peek(2).Kind; k == lex.Comma || k == lex.RParen {
		a.Columns = p.parenNames()
		return
	}
	a.ColDefs = p.columnDefList()
}

// columnDefList parses (name type [COLLATE c], ...).
func (p *parser) columnDefList() []ast.ColumnDef {
	p.expectTok(lex.LParen)
	var list []ast.ColumnDef
	for {
		c := ast.ColumnDef{Pos: p.pos(), Name: p.colID()}
		c.Type = p.typeName()
		if p.accept(lex.KwCollate) {
			c.Collation = p.qualifiedName().Name
		}
		list = append(list, c)
		if !p.acceptTok(lex.Comma) {
			break
		}
	}
	p.expectTok(lex.RParen)
	return list
}
