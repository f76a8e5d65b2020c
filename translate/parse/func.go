package parse

import (
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/lex"
)

func sysName(pos int, name string) ast.Name {
	return ast.Name{Pos: pos, Schema: "pg_catalog", Name: name}
}

// funcCall parses the arguments after a function's name and the clauses that may follow
// them. name(args) 'text' is a literal of a type with modifiers.
func (p *parser) funcCall(name ast.Name) ast.Expr {
	f := &ast.FuncCall{Pos: ast.Pos(name.Pos), Name: name}
	all, windowless := false, p.windowless
	p.windowless = false
	p.expectTok(lex.LParen)
	switch {
	case p.is(lex.Star):
		p.advance()
		f.Star = true
	case p.is(lex.RParen):
	default:
		switch {
		case p.accept(lex.KwDistinct):
			f.Distinct = true
		case p.accept(lex.KwAll):
			all = true
		}
		p.funcArgs(f, f.Distinct || all)
		if p.kw(lex.KwOrder) {
			f.OrderBy = p.orderBy()
		}
	}
	p.expectTok(lex.RParen)
	if p.is(lex.String) && !f.Star && !f.Distinct && !all && len(f.OrderBy) == 0 && len(f.Args) > 0 && f.ArgNames == nil && !f.Variadic {
		return p.genericLiteral(name, p.modsOf(f.Args))
	}
	if !windowless {
		p.funcTail(f)
	}
	return f
}

// funcArgs parses a non-empty argument list. noVariadic is set after DISTINCT and ALL.
func (p *parser) funcArgs(f *ast.FuncCall, noVariadic bool) {
	base := len(p.stack)
	for {
		if p.kw(lex.KwVariadic) && !noVariadic {
			p.advance()
			f.Variadic = true
		}
		name := ""
		if isTypeFuncName(&p.tok) {
			if k := p.peek(1).Kind; k == lex.ColonEquals || k == lex.Arrow {
				name = p.takeName()
				p.advance()
			}
		}
		if name != "" && f.ArgNames == nil {
			f.ArgNames = make([]string, len(p.stack)-base)
		}
		if f.ArgNames != nil {
			f.ArgNames = append(f.ArgNames, name)
		}
		e := p.listItem()
		p.stack = append(p.stack, e)
		if f.Variadic || !p.acceptTok(lex.Comma) {
			break
		}
	}
	f.Args = p.popList(base)
}

// funcTail parses WITHIN GROUP, FILTER and OVER.
func (p *parser) funcTail(f *ast.FuncCall) {
	if p.kw(lex.KwWithin) {
		pos := p.pos()
		p.advance()
		p.expect(lex.KwGroup)
		p.expectTok(lex.LParen)
		switch {
		case len(f.OrderBy) > 0:
			p.errorf(codeSyntax, pos, "cannot use multiple ORDER BY clauses with WITHIN GROUP")
		case f.Distinct:
			p.errorf(codeSyntax, pos, "cannot use DISTINCT with WITHIN GROUP")
		case f.Variadic:
			p.errorf(codeSyntax, pos, "cannot use VARIADIC with WITHIN GROUP")
		}
		f.WithinGroup = p.orderBy()
		p.expectTok(lex.RParen)
	}
	if p.kw(lex.KwFilter) {
		p.advance()
		p.expectTok(lex.LParen)
		p.expect(lex.KwWhere)
		f.Filter = p.expr()
		p.expectTok(lex.RParen)
	}
	if p.kw(lex.KwOver) {
		p.advance()
		if p.is(lex.LParen) {
			w := p.windowSpec()
			f.Over = &w
		} else {
			f.Over = &ast.Window{Pos: p.pos(), Ref: true}
			f.Over.Name = p.colID()
		}
	}
}

// special makes a call written by keyword syntax.
func special(pos int, name string, args ...ast.Expr) ast.Expr {
	return &ast.FuncCall{Pos: ast.Pos(pos), Name: ast.Name{Pos: pos, Name: name}, Args: args, Special: true}
}

// system is a call of a pg_catalog function written by keyword syntax.
func system(pos int, name string, args ...ast.Expr) ast.Expr {
	return &ast.FuncCall{Pos: ast.Pos(pos), Name: sysName(pos, name), Args: args, Special: true}
}

// specialFunc parses the functions that have a syntax of their own; nil when the current
// keyword starts none.
func (p *parser) specialFunc(pos int) ast.Expr {
	kw := p.tok.Kw
	switch kw {
	case lex.KwCurrentDate, lex.KwCurrentRole, lex.KwCurrentUser, lex.KwSessionUser, lex.KwUser, lex.KwCurrentCatalog:
		p.advance()
		return special(pos, kw.String())
	case lex.KwCurrentSchema:
		if t := p.peek(1).Kind; t == lex.LParen || t == lex.String || t == lex.Dot {
			return nil
		}
		p.advance()
		return special(pos, kw.String())
	case lex.KwCurrentTime, lex.KwCurrentTimestamp, lex.KwLocaltime, lex.KwLocaltimestamp:
		p.advance()
		if !p.acceptTok(lex.LParen) {
			return special(pos, kw.String())
		}
		at, text := p.pos(), p.text()
		p.integer()
		p.expectTok(lex.RParen)
		return special(pos, kw.String(), &ast.Literal{Pos: ast.Pos(at), Kind: ast.LitInteger, Text: text, Slot: -1})
	case lex.KwCollation:
		if !p.peekKw(1, lex.KwFor) {
			return nil
		}
		p.advance()
		p.advance()
		p.expectTok(lex.LParen)
		e := p.expr()
		p.expectTok(lex.RParen)
		return system(pos, "pg_collation_for", e)
	}
	if p.peek(1).Kind != lex.LParen {
		return nil
	}
	switch kw {
	case lex.KwCoalesce, lex.KwGreatest, lex.KwLeast, lex.KwGrouping:
		p.advance()
		p.advance()
		args := p.exprList()
		p.expectTok(lex.RParen)
		return special(pos, kw.String(), args...)
	case lex.KwNullif:
		p.advance()
		p.advance()
		a := p.expr()
		p.expectTok(lex.Comma)
		b := p.expr()
		p.expectTok(lex.RParen)
		return special(pos, "nullif", a, b)
	case lex.KwExtract:
		return p.extract(pos)
	case lex.KwNormalize:
		return p.normalize(pos)
	case lex.KwOverlay:
		return p.overlay(pos)
	case lex.KwPosition:
		return p.position(pos)
	case lex.KwSubstring:
		return p.substring(pos)
	case lex.KwTrim:
		return p.trim(pos)
	case lex.KwTreat, lex.KwXmlconcat, lex.KwXmlelement, lex.KwXmlexists, lex.KwXmlforest, lex.KwXmlparse,
		lex.KwXmlpi, lex.KwXmlroot, lex.KwXmlserialize:
		p.unsupported(pos, p.text())
	}
	return nil
}

func (p *parser) extract(pos int) ast.Expr {
	p.advance()
	p.advance()
	var field ast.Expr
	switch {
	case p.is(lex.String):
		field = p.literal()
	case p.is(lex.Quoted), p.is(lex.Word):
		if p.is(lex.Word) {
			switch p.tok.Kw {
			case lex.NoKeyword, lex.KwYear, lex.KwMonth, lex.KwDay, lex.KwHour, lex.KwMinute, lex.KwSecond:
			default:
				p.syntaxError()
			}
		}
		field = p.wordLiteral(p.value())
		p.advance()
	default:
		p.syntaxError()
	}
	p.expect(lex.KwFrom)
	e := p.expr()
	p.expectTok(lex.RParen)
	return system(pos, "extract", field, e)
}

func (p *parser) normalize(pos int) ast.Expr {
	p.advance()
	p.advance()
	args := []ast.Expr{p.expr()}
	if p.acceptTok(lex.Comma) {
		switch p.tok.Kw {
		case lex.KwNfc, lex.KwNfd, lex.KwNfkc, lex.KwNfkd:
			args = append(args, p.wordLiteral(p.tok.Kw.String()))
			p.advance()
		default:
			p.syntaxError()
		}
	}
	p.expectTok(lex.RParen)
	return system(pos, "normalize", args...)
}

// plainCall finishes a special function written with an ordinary argument list, of which
// the first expression was parsed already (nil for an empty list).
func (p *parser) plainCall(pos int, name string, first ast.Expr) ast.Expr {
	f := &ast.FuncCall{Pos: ast.Pos(pos), Name: ast.Name{Pos: pos, Name: name}}
	if first != nil {
		args := []ast.Expr{first}
		for p.acceptTok(lex.Comma) {
			args = append(args, p.expr())
		}
		f.Args = args
	}
	p.expectTok(lex.RParen)
	return f
}

// namedArgs reports whether an ordinary argument list with names follows.
func (p *parser) namedArgs() bool {
	if p.kw(lex.KwVariadic) {
		return true
	}
	if !isTypeFuncName(&p.tok) {
		return false
	}
	k := p.peek(1).Kind
	return k == lex.ColonEquals || k == lex.Arrow
}

// namedCall parses an ordinary argument list with names.
func (p *parser) namedCall(pos int, name string) ast.Expr {
	f := &ast.FuncCall{Pos: ast.Pos(pos), Name: ast.Name{Pos: pos, Name: name}}
	p.funcArgs(f, false)
	p.expectTok(lex.RParen)
	return f
}

func (p *parser) overlay(pos int) ast.Expr {
	p.advance()
	p.advance()
	if p.is(lex.RParen) {
		return p.plainCall(pos, "overlay", nil)
	}
	if p.namedArgs() {
		return p.namedCall(pos, "overlay")
	}
	a := p.expr()
	if !p.accept(lex.KwPlacing) {
		return p.plainCall(pos, "overlay", a)
	}
	args := []ast.Expr{a, p.expr()}
	p.expect(lex.KwFrom)
	args = append(args, p.expr())
	if p.accept(lex.KwFor) {
		args = append(args, p.expr())
	}
	p.expectTok(lex.RParen)
	return system(pos, "overlay", args...)
}

func (p *parser) position(pos int) ast.Expr {
	p.advance()
	p.advance()
	needle := p.bExpr()
	p.expect(lex.KwIn)
	hay := p.bExpr()
	p.expectTok(lex.RParen)
	return system(pos, "position", hay, needle)
}

func (p *parser) substring(pos int) ast.Expr {
	p.advance()
	p.advance()
	if p.is(lex.RParen) {
		return p.plainCall(pos, "substring", nil)
	}
	if p.namedArgs() {
		return p.namedCall(pos, "substring")
	}
	outer := p.inSubstring
	p.inSubstring = p.depth + 1
	s := p.expr()
	p.inSubstring = outer
	if p.accept(lex.KwSimilar) {
		pattern := p.expr()
		p.expect(lex.KwEscape)
		e := system(pos, "substring", s, pattern, p.expr())
		p.expectTok(lex.RParen)
		return e
	}
	switch {
	case p.accept(lex.KwFrom):
		from := p.expr()
		if p.accept(lex.KwFor) {
			s := system(pos, "substring", s, from, p.expr())
			p.expectTok(lex.RParen)
			return s
		}
		p.expectTok(lex.RParen)
		return system(pos, "substring", s, from)
	case p.accept(lex.KwFor):
		length := p.expr()
		if p.accept(lex.KwFrom) {
			e := system(pos, "substring", s, p.expr(), length)
			p.expectTok(lex.RParen)
			return e
		}
		p.expectTok(lex.RParen)
		one := &ast.Literal{Pos: ast.Pos(pos), Kind: ast.LitInteger, Text: "1", Slot: -1}
		return system(pos, "substring", s, one,
			&ast.Cast{Pos: ast.Pos(length.Position()), OpPos: length.Position(), Expr: length, Type: sysType(length.Position(), "int4")})
	}
	return p.plainCall(pos, "substring", s)
}

func (p *parser) trim(pos int) ast.Expr {
	p.advance()
	p.advance()
	name := "btrim"
	switch {
	case p.accept(lex.KwBoth):
	case p.accept(lex.KwLeading):
		name = "ltrim"
	case p.accept(lex.KwTrailing):
		name = "rtrim"
	}
	var args []ast.Expr
	if p.accept(lex.KwFrom) {
		args = p.exprList()
	} else {
		a := p.expr()
		switch {
		case p.accept(lex.KwFrom):
			args = append(append([]ast.Expr{}, p.exprList()...), a)
		default:
			args = append(args, a)
			for p.acceptTok(lex.Comma) {
				args = append(args, p.expr())
			}
		}
	}
	p.expectTok(lex.RParen)
	return system(pos, name, args...)
}
