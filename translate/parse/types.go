package parse

import (
	"strconv"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/lex"
	"github.com/eiderdb/eider/translate/pgerr"
)

func sysType(pos int, name string, mods ...int64) ast.TypeName {
	return ast.TypeName{Pos: pos, Schema: "pg_catalog", Name: name, Mods: mods}
}

// typeName parses Typename: a type with array bounds.
func (p *parser) typeName() ast.TypeName {
	setof := p.accept(lex.KwSetof)
	t := p.simpleType()
	t.SetOf = setof
	if p.accept(lex.KwArray) {
		t.Dims = 1
		if p.acceptTok(lex.LBracket) {
			p.integer()
			p.expectTok(lex.RBracket)
		}
		return t
	}
	for p.acceptTok(lex.LBracket) {
		if !p.is(lex.RBracket) {
			p.integer()
		}
		p.expectTok(lex.RBracket)
		t.Dims++
	}
	return t
}

func (p *parser) simpleType() ast.TypeName {
	pos := p.pos()
	if p.tok.Kind == lex.Word && p.tok.Kw != lex.NoKeyword {
		if t, ok := p.keywordType(pos, false); ok {
			if t.Name == "interval" && t.Fields == "" && t.Mods == nil {
				p.intervalFields(&t)
			}
			return t
		}
	}
	if !isTypeFuncName(&p.tok) {
		p.syntaxError()
	}
	parts := []string{p.takeName()}
	for p.acceptTok(lex.Dot) {
		parts = append(parts, p.label())
	}
	n := p.nameOf(pos, parts)
	t := ast.TypeName{Pos: pos, Schema: n.Schema, Name: n.Name}
	if p.acceptTok(lex.LParen) {
		args := p.exprList()
		p.expectTok(lex.RParen)
		t.Mods = p.modsOf(args)
	}
	return t
}

// modsOf takes constants as type modifiers.
func (p *parser) modsOf(args []ast.Expr) []int64 {
	mods := make([]int64, 0, len(args))
	for _, a := range args {
		neg := false
		if u, ok := a.(*ast.Unary); ok && u.Op == "-" {
			neg, a = true, u.Expr
		}
		l, ok := a.(*ast.Literal)
		if !ok || (l.Kind != ast.LitInteger && l.Kind != ast.LitString) {
			p.errorf(codeSyntax, a.Position(), "type modifiers must be simple constants or identifiers")
		}
		n, err := strconv.ParseInt(l.Text, 10, 32)
		if err != nil {
			p.errorf(pgerr.InvalidTextRepresentation, a.Position(), "invalid input syntax for type %s: \"%s\"", "integer", l.Text)
		}
		if neg {
			n = -n
		}
		p.fixed = append(p.fixed, l.Slot)
		mods = append(mods, n)
	}
	return mods
}

// optMods parses (n, ...) if it follows.
func (p *parser) optMods() []int64 {
	if !p.acceptTok(lex.LParen) {
		return nil
	}
	args := p.exprList()
	p.expectTok(lex.RParen)
	return p.modsOf(args)
}

// optLength parses (n) if it follows.
func (p *parser) optLength() []int64 {
	if !p.acceptTok(lex.LParen) {
		return nil
	}
	n := p.integer()
	p.expectTok(lex.RParen)
	return []int64{n}
}

// keywordType parses the types that are keywords, without interval fields. constant is
// set for typed literals, where an omitted length means none.
func (p *parser) keywordType(pos int, constant bool) (ast.TypeName, bool) {
	kw := p.tok.Kw
	name := ""
	switch kw {
	case lex.KwInt, lex.KwInteger:
		name = "int4"
	case lex.KwSmallint:
		name = "int2"
	case lex.KwBigint:
		name = "int8"
	case lex.KwReal:
		name = "float4"
	case lex.KwBoolean:
		name = "bool"
	}
	if name != "" {
		p.advance()
		return sysType(pos, name), true
	}
	switch kw {
	case lex.KwDouble:
		if !p.peekKw(1, lex.KwPrecision) {
			return ast.TypeName{}, false
		}
		p.advance()
		p.advance()
		return sysType(pos, "float8"), true
	case lex.KwFloat:
		p.advance()
		at := p.peekLength()
		m := p.optLength()
		switch {
		case m == nil:
			return sysType(pos, "float8"), true
		case m[0] < 1:
			p.errorf(pgerr.InvalidParameterValue, at, "precision for type float must be at least 1 bit")
		case m[0] > 53:
			p.errorf(pgerr.InvalidParameterValue, at, "precision for type float must be less than 54 bits")
		case m[0] <= 24:
			return sysType(pos, "float4"), true
		}
		return sysType(pos, "float8"), true
	case lex.KwDecimal, lex.KwDec, lex.KwNumeric:
		p.advance()
		return sysType(pos, "numeric", p.optMods()...), true
	case lex.KwBit:
		p.advance()
		if p.accept(lex.KwVarying) {
			return sysType(pos, "varbit", p.optMods()...), true
		}
		m := p.optMods()
		if m == nil && !constant {
			m = []int64{1}
		}
		return sysType(pos, "bit", m...), true
	case lex.KwCharacter, lex.KwChar, lex.KwNational, lex.KwNchar, lex.KwVarchar:
		return p.characterType(pos, constant), true
	case lex.KwTimestamp, lex.KwTime:
		p.advance()
		m := p.optLength()
		n := kw.String()
		switch {
		case p.kw(lex.KwWith) && p.peekKw(1, lex.KwTime):
			p.advance()
			p.advance()
			p.expect(lex.KwZone)
			n += "tz"
		case p.kw(lex.KwWithout) && p.peekKw(1, lex.KwTime):
			p.advance()
			p.advance()
			p.expect(lex.KwZone)
		}
		return sysType(pos, n, m...), true
	case lex.KwInterval:
		p.advance()
		return sysType(pos, "interval", p.optLength()...), true
	}
	return ast.TypeName{}, false
}

func (p *parser) peekLength() int {
	if p.is(lex.LParen) {
		return int(p.peek(1).Start)
	}
	return p.pos()
}

func (p *parser) characterType(pos int, constant bool) ast.TypeName {
	kw := p.tok.Kw
	p.advance()
	name := "bpchar"
	switch kw {
	case lex.KwVarchar:
		name = "varchar"
	case lex.KwNational:
		if !p.accept(lex.KwCharacter) && !p.accept(lex.KwChar) {
			p.syntaxError()
		}
	}
	if kw != lex.KwVarchar && p.accept(lex.KwVarying) {
		name = "varchar"
	}
	m := p.optLength()
	if m == nil && name == "bpchar" && !constant {
		m = []int64{1}
	}
	return sysType(pos, name, m...)
}

// intervalFields parses YEAR, DAY TO SECOND(3) and the like if they follow.
func (p *parser) intervalFields(t *ast.TypeName) {
	if p.tok.Kind != lex.Word {
		return
	}
	from := p.tok.Kw
	switch from {
	case lex.KwYear, lex.KwMonth, lex.KwDay, lex.KwHour, lex.KwMinute, lex.KwSecond:
	default:
		return
	}
	p.fieldsPos = p.pos()
	p.advance()
	t.Fields = from.String()
	last := from
	if p.kw(lex.KwTo) && from != lex.KwMonth && from != lex.KwSecond {
		p.advance()
		ok := false
		last = p.tok.Kw
		switch from {
		case lex.KwYear:
			ok = last == lex.KwMonth
		case lex.KwDay:
			ok = last == lex.KwHour || last == lex.KwMinute || last == lex.KwSecond
		case lex.KwHour:
			ok = last == lex.KwMinute || last == lex.KwSecond
		case lex.KwMinute:
			ok = last == lex.KwSecond
		}
		if !ok || p.tok.Kind != lex.Word {
			p.syntaxError()
		}
		p.advance()
		t.Fields += " to " + last.String()
	}
	if last == lex.KwSecond {
		t.Mods = p.optLength()
	}
}

// typedLiteral parses a literal typed by a keyword, such as interval '1' day or
// timestamp with time zone '...'; nil when there is none.
func (p *parser) typedLiteral(pos int) ast.Expr {
	switch p.tok.Kw {
	case lex.KwInt, lex.KwInteger, lex.KwSmallint, lex.KwBigint, lex.KwReal, lex.KwBoolean, lex.KwFloat,
		lex.KwDecimal, lex.KwDec, lex.KwNumeric, lex.KwBit, lex.KwCharacter, lex.KwChar, lex.KwNational,
		lex.KwNchar, lex.KwVarchar, lex.KwTimestamp, lex.KwTime, lex.KwInterval, lex.KwDouble:
	default:
		return nil
	}
	// As a column name the keyword is followed by none of these.
	switch next := p.peek(1); {
	case next.Kind == lex.String, next.Kind == lex.LParen:
	case next.Kind == lex.Word && (next.Kw == lex.KwPrecision || next.Kw == lex.KwVarying || next.Kw == lex.KwCharacter ||
		next.Kw == lex.KwChar || ((next.Kw == lex.KwWith || next.Kw == lex.KwWithout) && p.peekKw(2, lex.KwTime))):
	default:
		return nil
	}
	if p.kw(lex.KwDouble) && !p.peekKw(1, lex.KwPrecision) {
		return nil
	}
	t, ok := p.keywordType(pos, true)
	if !ok {
		return nil
	}
	if !p.is(lex.String) {
		p.syntaxError()
	}
	e := p.literal()
	if t.Name == "interval" && t.Mods == nil {
		p.intervalFields(&t)
	}
	return &ast.Cast{Pos: ast.Pos(pos), Expr: e, Type: t, OpPos: pos}
}
