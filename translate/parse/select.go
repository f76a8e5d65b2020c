package parse

import (
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/lex"
	"github.com/eiderdb/eider/translate/pgerr"
)

// query parses a SELECT statement: WITH, set operations, ORDER BY, LIMIT, locking.
func (p *parser) query() *ast.Select {
	p.enter()
	defer p.leave()
	pos := p.pos()
	var with *ast.With
	if p.kw(lex.KwWith) {
		with = p.with()
	}
	q := p.queryTail(p.setOps(p.queryPrimary(), 1))
	p.attachWith(q, with, pos)
	return q
}

// attachWith puts a WITH clause before a query that may have one from its parentheses.
func (p *parser) attachWith(q *ast.Select, with *ast.With, pos int) {
	if with == nil {
		return
	}
	if q.With != nil {
		p.errorf(codeSyntax, pos, "multiple WITH clauses not allowed")
	}
	q.With, q.Pos = with, pos
}

// queryFrom goes on with a query whose first operand was parsed.
func (p *parser) queryFrom(q *ast.Select) *ast.Select {
	return p.queryTail(p.setOps(q, 1))
}

// setOps parses set operations after left: UNION and EXCEPT have precedence 1, INTERSECT 2.
func (p *parser) setOps(left *ast.Select, minPrec int) *ast.Select {
	for n := 0; p.tok.Kind == lex.Word; n++ {
		prec := 1
		switch p.tok.Kw {
		case lex.KwUnion, lex.KwExcept:
		case lex.KwIntersect:
			prec = 2
		default:
			return left
		}
		if prec < minPrec {
			return left
		}
		p.link(n)
		s := &ast.SetOp{Op: p.tok.Kw.String(), Left: left}
		p.advance()
		if p.accept(lex.KwAll) {
			s.All = true
		} else {
			p.accept(lex.KwDistinct)
		}
		s.Right = p.setOps(p.queryPrimary(), prec+1)
		left = &ast.Select{Pos: left.Pos, SetOp: s}
	}
	return left
}

// queryPrimary parses an operand of set operations.
func (p *parser) queryPrimary() *ast.Select {
	pos := p.pos()
	if p.is(lex.LParen) {
		p.advance()
		q := p.query()
		p.expectTok(lex.RParen)
		return q
	}
	if p.tok.Kind != lex.Word {
		p.syntaxError()
	}
	switch p.tok.Kw {
	case lex.KwSelect:
		return &ast.Select{Pos: pos, Core: p.core()}
	case lex.KwValues:
		return &ast.Select{Pos: pos, Values: p.values()}
	case lex.KwTable:
		p.advance()
		t := p.relation()
		return &ast.Select{Pos: pos, Core: &ast.SelectCore{
			Pos:     pos,
			Targets: []ast.Target{{Expr: &ast.Star{Pos: ast.Pos(pos)}}},
			From:    []ast.TableExpr{t},
		}}
	}
	p.syntaxError()
	return nil
}

// queryTail parses ORDER BY, LIMIT, OFFSET, FETCH and locking clauses. A query in
// parentheses may have some of them already; each may be given once.
func (p *parser) queryTail(q *ast.Select) *ast.Select {
	if p.kw(lex.KwOrder) {
		o := p.orderBy()
		if q.OrderBy != nil {
			p.errorf(codeSyntax, o[0].Expr.Position(), "multiple ORDER BY clauses not allowed")
		}
		q.OrderBy = o
	}
	limits, locks := 0, 0
	for p.tok.Kind == lex.Word {
		switch p.tok.Kw {
		case lex.KwLimit, lex.KwOffset, lex.KwFetch:
			if limits > 0 {
				p.syntaxError()
			}
			limits++
			p.limitClauses(q)
		case lex.KwFor:
			if locks > 0 {
				p.syntaxError()
			}
			locks++
			for p.kw(lex.KwFor) {
				p.locking(q)
			}
		default:
			return p.checkTies(q)
		}
	}
	return p.checkTies(q)
}

// checkTies refuses WITH TIES where it has no meaning.
func (p *parser) checkTies(q *ast.Select) *ast.Select {
	if q.WithTies && q.OrderBy == nil {
		p.errorf(codeSyntax, -1, "WITH TIES cannot be specified without ORDER BY clause")
	}
	if q.WithTies && q.LockWait == "skip locked" {
		p.errorf(codeSyntax, -1, "SKIP LOCKED and WITH TIES options cannot be used together")
	}
	return q
}

// limitClauses parses LIMIT or FETCH and OFFSET, in either order.
func (p *parser) limitClauses(q *ast.Select) {
	limit, offset := false, false
	for p.tok.Kind == lex.Word {
		pos := p.pos()
		switch p.tok.Kw {
		case lex.KwLimit:
			if limit {
				p.syntaxError()
			}
			limit = true
			p.advance()
			again, at := q.HasLimit, p.pos()
			q.HasLimit = true
			if p.accept(lex.KwAll) {
				p.once(again, at, "LIMIT")
				break
			}
			q.Limit = p.expr()
			p.once(again, at, "LIMIT")
			if p.is(lex.Comma) {
				e := pgerr.New(codeSyntax, "LIMIT #,# syntax is not supported").WithHint("Use separate LIMIT and OFFSET clauses.")
				p.fail(e.At(p.lx.Src, pos))
			}
		case lex.KwFetch:
			if limit {
				p.syntaxError()
			}
			limit = true
			p.once(q.HasLimit, pos, "LIMIT")
			q.HasLimit = true
			p.fetchFirst(q)
		case lex.KwOffset:
			if offset {
				p.syntaxError()
			}
			offset = true
			p.advance()
			again, at := q.Offset != nil, p.pos()
			q.Offset = p.expr()
			p.once(again, at, "OFFSET")
			if !p.accept(lex.KwRow) {
				p.accept(lex.KwRows)
			}
		default:
			return
		}
	}
}

func (p *parser) once(again bool, pos int, clause string) {
	if again {
		p.errorf(codeSyntax, pos, "multiple %s clauses not allowed", clause)
	}
}

// fetchFirst parses FETCH FIRST|NEXT [n] ROW|ROWS ONLY|WITH TIES.
func (p *parser) fetchFirst(q *ast.Select) {
	p.advance()
	if !p.accept(lex.KwFirst) {
		p.expect(lex.KwNext)
	}
	pos := p.pos()
	switch {
	case p.kw(lex.KwRow), p.kw(lex.KwRows):
		q.Limit = &ast.Literal{Pos: ast.Pos(pos), Kind: ast.LitInteger, Text: "1", Slot: -1}
	case p.is(lex.Plus), p.is(lex.Minus):
		op := p.text()
		p.advance()
		if !p.is(lex.Integer) && !p.is(lex.Numeric) {
			p.syntaxError()
		}
		q.Limit = &ast.Unary{Pos: ast.Pos(pos), Op: op, Expr: p.literal()}
	default:
		q.Limit = p.primary()
	}
	if !p.accept(lex.KwRow) {
		p.expect(lex.KwRows)
	}
	if p.accept(lex.KwOnly) {
		return
	}
	p.expect(lex.KwWith)
	p.expect(lex.KwTies)
	q.WithTies = true
}

// locking parses one FOR UPDATE|SHARE… clause.
func (p *parser) locking(q *ast.Select) {
	p.expect(lex.KwFor)
	strength := ""
	switch {
	case p.accept(lex.KwUpdate):
		strength = "update"
	case p.accept(lex.KwShare):
		strength = "share"
	case p.accept(lex.KwNo):
		p.expect(lex.KwKey)
		p.expect(lex.KwUpdate)
		strength = "no key update"
	case p.accept(lex.KwKey):
		p.expect(lex.KwShare)
		strength = "key share"
	case p.accept(lex.KwRead):
		p.expect(lex.KwOnly)
		return
	default:
		p.syntaxError()
	}
	if q.Lock == "" {
		q.Lock = strength
	}
	l := ast.LockClause{Strength: strength}
	if p.accept(lex.KwOf) {
		l.Of = p.qualifiedNames()
	}
	q.Locks = append(q.Locks, l)
	if p.accept(lex.KwNowait) {
		q.LockWait = "nowait"
		return
	}
	if p.accept(lex.KwSkip) {
		p.expect(lex.KwLocked)
		q.LockWait = "skip locked"
	}
}

// core parses SELECT … HAVING, WINDOW.
func (p *parser) core() *ast.SelectCore {
	c := &ast.SelectCore{Pos: p.pos()}
	p.expect(lex.KwSelect)
	switch {
	case p.accept(lex.KwAll):
	case p.accept(lex.KwDistinct):
		c.Distinct = true
		if p.accept(lex.KwOn) {
			p.expectTok(lex.LParen)
			c.DistinctOn = p.exprList()
			p.expectTok(lex.RParen)
		}
		if p.atTargetsEnd() {
			p.syntaxError()
		}
	}
	if !p.atTargetsEnd() {
		c.Targets = p.targets()
	}
	if p.accept(lex.KwInto) {
		c.Into = p.intoClause()
	}
	if p.accept(lex.KwFrom) {
		c.From = p.fromList()
	}
	if p.accept(lex.KwWhere) {
		c.Where = p.expr()
	}
	if p.kw(lex.KwGroup) {
		p.advance()
		p.expect(lex.KwBy)
		if !p.accept(lex.KwAll) {
			c.GroupDistinct = p.accept(lex.KwDistinct)
		}
		c.GroupBy = flattenRows(p.groupItems())
	}
	if p.accept(lex.KwHaving) {
		c.Having = p.expr()
	}
	if p.accept(lex.KwWindow) {
		for {
			w := ast.NamedWindow{Name: p.colID()}
			p.expect(lex.KwAs)
			if !p.is(lex.LParen) {
				p.syntaxError()
			}
			w.Window = p.windowSpec()
			c.Windows = append(c.Windows, w)
			if !p.acceptTok(lex.Comma) {
				break
			}
		}
	}
	return c
}

// atTargetsEnd reports whether the select list is empty here.
func (p *parser) atTargetsEnd() bool { return endsTargets(&p.tok) }

// endsTargets reports whether a token ends a select list.
func endsTargets(t *lex.Token) bool {
	switch t.Kind {
	case lex.EOF, lex.Semicolon, lex.RParen:
		return true
	case lex.Word:
		switch t.Kw {
		case lex.KwFrom, lex.KwWhere, lex.KwGroup, lex.KwHaving, lex.KwWindow, lex.KwInto, lex.KwUnion,
			lex.KwIntersect, lex.KwExcept, lex.KwOrder, lex.KwLimit, lex.KwOffset, lex.KwFetch, lex.KwFor, lex.KwOn,
			lex.KwWith, lex.KwReturning:
			return true
		}
	}
	return false
}

// targets parses a select list or RETURNING list.
func (p *parser) targets() []ast.Target {
	var list []ast.Target
	for {
		var t ast.Target
		if p.is(lex.Star) {
			t.Expr = &ast.Star{Pos: ast.Pos(p.pos())}
			p.advance()
		} else {
			outer := p.targetDepth
			p.targetDepth = p.depth + 1
			t.Expr = p.expr()
			p.targetDepth = outer
			if p.accept(lex.KwAs) {
				t.Alias = p.label()
			} else if isBareLabel(&p.tok) {
				t.Alias = p.takeName()
			}
		}
		if list == nil {
			list = make([]ast.Target, 0, 4)
		}
		list = append(list, t)
		if !p.acceptTok(lex.Comma) {
			return list
		}
	}
}

func (p *parser) intoClause() *ast.Name {
	p.tempWords()
	p.accept(lex.KwTable)
	n := p.qualifiedName()
	return &n
}

// tempWords parses [LOCAL|GLOBAL] TEMPORARY|TEMP or UNLOGGED.
func (p *parser) tempWords() (temp, unlogged bool) {
	switch {
	case p.accept(lex.KwTemporary), p.accept(lex.KwTemp),
		p.accept2(lex.KwLocal, lex.KwTemporary), p.accept2(lex.KwLocal, lex.KwTemp),
		p.accept2(lex.KwGlobal, lex.KwTemporary), p.accept2(lex.KwGlobal, lex.KwTemp):
		return true, false
	case p.accept(lex.KwUnlogged):
		return false, true
	}
	return false, false
}

func (p *parser) groupItems() []ast.GroupItem {
	p.enter()
	defer p.leave()
	var list []ast.GroupItem
	for {
		list = append(list, p.groupItem())
		if !p.acceptTok(lex.Comma) {
			return list
		}
	}
}

func (p *parser) groupItem() ast.GroupItem {
	if p.tok.Kind == lex.Word {
		kind := ""
		switch p.tok.Kw {
		case lex.KwRollup, lex.KwCube:
			if p.peek(1).Kind == lex.LParen {
				kind = p.tok.Kw.String()
			}
		case lex.KwGrouping:
			if p.peekKw(1, lex.KwSets) {
				kind = "sets"
				p.advance()
			}
		}
		if kind != "" {
			p.advance()
			p.expectTok(lex.LParen)
			g := ast.GroupItem{Kind: kind}
			if kind == "sets" {
				g.Sets = p.groupItems()
				for i := range g.Sets {
					g.Sets[i] = listMember(g.Sets[i])
				}
			} else {
				for _, e := range p.exprList() {
					g.Sets = append(g.Sets, listMember(ast.GroupItem{Expr: e}))
				}
			}
			p.expectTok(lex.RParen)
			return g
		}
	}
	if p.is(lex.LParen) && p.peek(1).Kind == lex.RParen {
		p.advance()
		p.advance()
		return ast.GroupItem{Kind: "empty"}
	}
	return ast.GroupItem{Expr: p.expr()}
}

// flattenRows makes GROUP BY a, (b, c) of its rows' items, as the standard has it.
func flattenRows(list []ast.GroupItem) []ast.GroupItem {
	var out []ast.GroupItem
	for i, g := range list {
		r, ok := g.Expr.(*ast.RowExpr)
		if !ok || r.Explicit {
			if out != nil {
				out = append(out, g)
			}
			continue
		}
		if out == nil {
			out = append(make([]ast.GroupItem, 0, len(list)+len(r.Items)), list[:i]...)
		}
		out = append(out, rowItems(r)...)
	}
	if out == nil {
		return list
	}
	return out
}

// rowItems are the items of a row and of the rows in it.
func rowItems(r *ast.RowExpr) []ast.GroupItem {
	list := make([]ast.GroupItem, 0, len(r.Items))
	for _, e := range r.Items {
		list = append(list, ast.GroupItem{Expr: e})
	}
	return flattenRows(list)
}

// listMember turns (a, b) within grouping sets into a member that is a list.
func listMember(g ast.GroupItem) ast.GroupItem {
	r, ok := g.Expr.(*ast.RowExpr)
	if !ok || r.Explicit {
		return g
	}
	return ast.GroupItem{Kind: "list", Sets: rowItems(r)}
}

// orderBy parses ORDER BY items.
func (p *parser) orderBy() []ast.OrderItem {
	p.expect(lex.KwOrder)
	p.expect(lex.KwBy)
	list := make([]ast.OrderItem, 0, 2)
	for {
		o := ast.OrderItem{Expr: p.expr()}
		switch {
		case p.accept(lex.KwAsc):
		case p.accept(lex.KwDesc):
			o.Desc = true
		case p.kw(lex.KwUsing):
			p.advance()
			if p.kw(lex.KwOperator) {
				o.Using = p.qualifiedOperator()
			} else {
				o.Using = p.operatorSymbol()
			}
		}
		o.NullsFirst = p.nullsOrder()
		list = append(list, o)
		if !p.acceptTok(lex.Comma) {
			return list
		}
	}
}

// nullsOrder parses NULLS FIRST or NULLS LAST if it follows.
func (p *parser) nullsOrder() *bool {
	first := p.accept2(lex.KwNulls, lex.KwFirst)
	if !first && !p.accept2(lex.KwNulls, lex.KwLast) {
		return nil
	}
	return &first
}

// with parses WITH [RECURSIVE] name AS (...), ...
func (p *parser) with() *ast.With {
	w := &ast.With{}
	p.expect(lex.KwWith)
	if p.kw(lex.KwRecursive) && p.peek(1).Kind != lex.LParen && !p.peekKw(1, lex.KwAs) {
		p.advance()
		w.Recursive = true
	}
	for {
		c := ast.CTE{Pos: p.pos(), Name: p.colID()}
		if p.is(lex.LParen) {
			c.Columns = p.parenNames()
		}
		p.expect(lex.KwAs)
		yes, no := true, false
		switch {
		case p.accept(lex.KwMaterialized):
			c.Materialized = &yes
		case p.accept2(lex.KwNot, lex.KwMaterialized):
			c.Materialized = &no
		}
		p.expectTok(lex.LParen)
		c.Stmt = p.preparable()
		p.expectTok(lex.RParen)
		if p.kw(lex.KwSearch) || p.kw(lex.KwCycle) {
			p.cteExtras()
		}
		w.CTEs = append(w.CTEs, c)
		if !p.acceptTok(lex.Comma) {
			return w
		}
	}
}

// cteExtras rejects SEARCH and CYCLE clauses.
func (p *parser) cteExtras() {
	p.unsupported(p.pos(), p.tok.Kw.String()+" clause")
}

// preparable parses SELECT, VALUES, INSERT, UPDATE or DELETE, as in WITH, PREPARE and
// COPY.
func (p *parser) preparable() ast.Stmt {
	if p.is(lex.LParen) {
		return p.query()
	}
	pos := p.pos()
	var with *ast.With
	if p.kw(lex.KwWith) {
		p.enter()
		defer p.leave()
		with = p.with()
	}
	if p.tok.Kind == lex.Word {
		switch p.tok.Kw {
		case lex.KwInsert:
			s := p.insert()
			s.With = with
			return s
		case lex.KwUpdate:
			s := p.update()
			s.With = with
			return s
		case lex.KwDelete:
			s := p.delete()
			s.With = with
			return s
		case lex.KwMerge:
			p.unsupported(p.pos(), "MERGE")
		}
	}
	p.enter()
	defer p.leave()
	q := p.queryTail(p.setOps(p.queryPrimary(), 1))
	p.attachWith(q, with, pos)
	return q
}
