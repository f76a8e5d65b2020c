package parse

import (
	"strconv"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/lex"
	"github.com/eiderdb/eider/translate/pgerr"
)

const codeSyntax = pgerr.SyntaxError

// maxParam is the highest parameter number the protocol can carry.
const maxParam = 65535

// literal parses a constant token.
func (p *parser) literal() ast.Expr {
	n := p.lits.one()
	n.Pos, n.Slot, n.Kind = ast.Pos(p.tok.Start), p.slot, LiteralKind(&p.tok, p.lx.Src)
	n.Text = p.value()
	p.advance()
	return n
}

// LiteralKind is the kind of a literal token.
func LiteralKind(t *lex.Token, src string) ast.LiteralKind {
	switch t.Kind {
	case lex.Integer:
		if n := t.End - t.Start; n > 18 {
			if _, err := strconv.ParseInt(src[t.Start:t.End], 10, 64); err != nil {
				return ast.LitNumeric
			}
		}
		return ast.LitInteger
	case lex.Numeric:
		return ast.LitNumeric
	case lex.String:
		return ast.LitString
	}
	return ast.LitBit
}

func (p *parser) keywordLiteral(k ast.LiteralKind) ast.Expr {
	n := p.lits.one()
	*n = ast.Literal{Pos: ast.Pos(p.tok.Start), Kind: k, Slot: -1}
	p.advance()
	return n
}

// primary parses c_expr.
func (p *parser) primary() ast.Expr {
	pos := p.pos()
	switch p.tok.Kind {
	case lex.Integer, lex.Numeric, lex.String, lex.Bit, lex.Hex:
		return p.literal()
	case lex.Param:
		return p.indirection(p.param())
	case lex.LParen:
		items, q := p.parenItems()
		return p.parenValue(pos, items, q)
	case lex.Quoted:
		return p.nameExpr()
	case lex.Word:
		if p.tok.Kw == lex.NoKeyword {
			return p.nameExpr()
		}
		return p.keywordExpr(pos)
	}
	p.syntaxError()
	return nil
}

func (p *parser) param() ast.Expr {
	n, err := strconv.ParseInt(p.value(), 10, 32)
	if err != nil || n > maxParam {
		p.errorf(pgerr.UndefinedParameter, p.pos(), "there is no parameter %s", p.text())
	}
	p.params = max(p.params, int(n))
	e := &ast.Param{Pos: ast.Pos(p.pos()), Index: int(n)}
	p.advance()
	return e
}

// keywordExpr parses an expression that starts with a keyword.
func (p *parser) keywordExpr(pos int) ast.Expr {
	kw := p.tok.Kw
	switch kw {
	case lex.KwNull:
		return p.keywordLiteral(ast.LitNull)
	case lex.KwTrue:
		return p.keywordLiteral(ast.LitTrue)
	case lex.KwFalse:
		return p.keywordLiteral(ast.LitFalse)
	case lex.KwCase:
		return p.caseExpr()
	case lex.KwCast:
		return p.castExpr()
	case lex.KwArray:
		p.advance()
		if p.is(lex.LParen) {
			return &ast.Subquery{Pos: ast.Pos(pos), Query: p.parenQuery(), Array: true}
		}
		return p.arrayExpr(pos)
	case lex.KwExists:
		if p.peek(1).Kind == lex.LParen {
			p.advance()
			return &ast.Exists{Pos: ast.Pos(pos), Query: p.parenQuery()}
		}
	case lex.KwRow:
		if p.peek(1).Kind == lex.LParen {
			return p.rowExpr(pos)
		}
	case lex.KwNot, lex.KwDefault:
		// Allowed where a_expr is, which prefix has handled.
		p.syntaxError()
	}
	if e := p.specialFunc(pos); e != nil {
		return e
	}
	if e := p.typedLiteral(pos); e != nil {
		return e
	}
	if kw.Class() == lex.Reserved {
		p.syntaxError()
	}
	return p.nameExpr()
}

// nameExpr parses what starts with a name: a column, a call or a typed literal.
func (p *parser) nameExpr() ast.Expr {
	pos := p.pos()
	colOK, funcOK := isColID(&p.tok), isTypeFuncName(&p.tok)
	if !colOK && !funcOK {
		p.syntaxError()
	}
	if !colOK || (p.tok.Kind == lex.Word && p.tok.Kw != lex.NoKeyword && !funcOK) {
		// A keyword that is only a function name, or only a column name.
		if next := p.peek(1).Kind; next != lex.Dot {
			if !colOK && next != lex.LParen && next != lex.String {
				p.advance()
				p.syntaxError()
			}
			if !funcOK && (next == lex.LParen || next == lex.String) {
				p.advance()
				p.syntaxError()
			}
		} else if !colOK {
			p.advance()
			p.syntaxError()
		}
	}
	first := p.takeName()
	if !p.is(lex.Dot) {
		switch p.tok.Kind {
		case lex.LParen:
			return p.funcCall(ast.Name{Pos: pos, Name: first})
		case lex.String:
			return p.genericLiteral(ast.Name{Pos: pos, Name: first}, nil)
		}
		ref := p.refs.one()
		ref.Pos = ast.Pos(pos)
		parts := p.names.list([]string{first})
		ref.Parts = parts
		if p.is(lex.LBracket) {
			return p.indirection(ref)
		}
		return ref
	}
	var buf [4]string
	parts := append(buf[:0], first)
	for p.is(lex.Dot) {
		p.advance()
		if p.is(lex.Star) {
			p.advance()
			return &ast.Star{Pos: ast.Pos(pos), Table: p.names.list(parts)}
		}
		parts = append(parts, p.label())
	}
	switch p.tok.Kind {
	case lex.LParen, lex.String:
		n := p.nameOf(pos, parts)
		if p.is(lex.LParen) {
			return p.funcCall(n)
		}
		return p.genericLiteral(n, nil)
	}
	ref := p.refs.one()
	*ref = ast.ColumnRef{Pos: ast.Pos(pos), Parts: p.names.list(parts)}
	if p.is(lex.LBracket) {
		return p.indirection(ref)
	}
	return ref
}

// nameOf makes a qualified name of dotted parts.
func (p *parser) nameOf(pos int, parts []string) ast.Name {
	n := ast.Name{Pos: pos}
	switch len(parts) {
	case 1:
		n.Name = parts[0]
	case 2:
		n.Schema, n.Name = parts[0], parts[1]
	case 3:
		n.Catalog, n.Schema, n.Name = parts[0], parts[1], parts[2]
	default:
		p.tooManyNames(pos, parts)
	}
	return n
}

// genericLiteral parses the string of a literal typed by a name.
func (p *parser) genericLiteral(n ast.Name, mods []int64) ast.Expr {
	return &ast.Cast{
		Pos:   ast.Pos(n.Pos),
		Expr:  p.literal(),
		OpPos: n.Pos,
		Type:  ast.TypeName{Pos: n.Pos, Schema: n.Schema, Name: n.Name, Mods: mods},
	}
}

// indirection parses subscripts and fields after an expression that may have them.
func (p *parser) indirection(e ast.Expr) ast.Expr {
	for n := 0; ; n++ {
		switch p.tok.Kind {
		case lex.Dot:
			p.advance()
			if p.acceptTok(lex.Star) {
				return &ast.FieldSelect{Pos: ast.Pos(e.Position()), Expr: e, Field: "*"}
			}
			e = &ast.FieldSelect{Pos: ast.Pos(e.Position()), Expr: e, Field: p.label()}
		case lex.LBracket:
			e = p.subscript(e)
		default:
			return e
		}
		p.link(n)
	}
}

func (p *parser) subscript(e ast.Expr) ast.Expr {
	n := &ast.Index{Pos: ast.Pos(e.Position()), Expr: e}
	p.expectTok(lex.LBracket)
	if !p.is(lex.Colon) {
		n.Lo = p.expr()
	}
	if p.acceptTok(lex.Colon) {
		n.Slice = true
		if !p.is(lex.RBracket) {
			n.Hi = p.expr()
		}
	}
	p.expectTok(lex.RBracket)
	return n
}

func (p *parser) caseExpr() ast.Expr {
	c := &ast.Case{Pos: ast.Pos(p.pos())}
	p.expect(lex.KwCase)
	if !p.kw(lex.KwWhen) {
		c.Operand = p.expr()
	}
	for p.kw(lex.KwWhen) {
		p.advance()
		w := ast.When{Cond: p.expr()}
		p.expect(lex.KwThen)
		w.Then = p.expr()
		c.Whens = append(c.Whens, w)
	}
	if len(c.Whens) == 0 {
		p.syntaxError()
	}
	if p.accept(lex.KwElse) {
		c.Else = p.expr()
	}
	p.expect(lex.KwEnd)
	return c
}

func (p *parser) castExpr() ast.Expr {
	pos := p.pos()
	p.expect(lex.KwCast)
	p.expectTok(lex.LParen)
	e := p.expr()
	p.expect(lex.KwAs)
	t := p.typeName()
	p.expectTok(lex.RParen)
	return p.cast(pos, pos, e, t)
}

// arrayExpr parses [a, b] after ARRAY, or a nested list.
func (p *parser) arrayExpr(pos int) ast.Expr {
	p.enter()
	defer p.leave()
	a := &ast.ArrayExpr{Pos: ast.Pos(pos)}
	p.expectTok(lex.LBracket)
	if p.acceptTok(lex.RBracket) {
		return a
	}
	base := len(p.stack)
	nested := p.is(lex.LBracket)
	for {
		var e ast.Expr
		if nested {
			e = p.arrayExpr(p.pos())
		} else {
			e = p.expr()
		}
		p.stack = append(p.stack, e)
		if !p.acceptTok(lex.Comma) {
			break
		}
	}
	a.Items = p.popList(base)
	p.expectTok(lex.RBracket)
	return a
}

func (p *parser) rowExpr(pos int) ast.Expr {
	r := &ast.RowExpr{Pos: ast.Pos(pos), Explicit: true}
	p.expect(lex.KwRow)
	p.expectTok(lex.LParen)
	if !p.is(lex.RParen) {
		r.Items = p.exprList()
	}
	p.expectTok(lex.RParen)
	return r
}

// parenQuery parses a query in parentheses.
func (p *parser) parenQuery() *ast.Select {
	p.enter()
	defer p.leave()
	p.expectTok(lex.LParen)
	q := p.query()
	p.expectTok(lex.RParen)
	return q
}

// SlotKind is the literal kind of a fingerprint's slot.
func SlotKind(k lex.SlotKind) ast.LiteralKind {
	switch k {
	case lex.SlotInt4, lex.SlotInt8:
		return ast.LitInteger
	case lex.SlotNumeric:
		return ast.LitNumeric
	case lex.SlotString:
		return ast.LitString
	}
	return ast.LitBit
}
