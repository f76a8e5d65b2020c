package parse

import (
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/lex"
	"github.com/eiderdb/eider/translate/pgerr"
)

func (p *parser) atTableConstraint() bool {
	if p.tok.Kind != lex.Word {
		return false
	}
	switch p.tok.Kw {
	case lex.KwConstraint, lex.KwPrimary, lex.KwUnique, lex.KwCheck, lex.KwForeign:
		return true
	case lex.KwExclude:
		// EXCLUDE is also a good column name.
		t := p.peek(1)
		return t.Kind == lex.LParen || (t.Kind == lex.Word && t.Kw == lex.KwUsing)
	}
	return false
}

// columnDef parses name type [constraints].
func (p *parser) columnDef() ast.ColumnDef {
	c := ast.ColumnDef{Pos: p.pos(), Name: p.colID()}
	c.Type = p.typeName()
	if base, ok := serialTypes[c.Type.Name]; ok && c.Type.Schema == "" && c.Type.Dims == 0 {
		c.Type.Schema, c.Type.Name, c.Type.Serial = "pg_catalog", base, true
	}
	if p.accept(lex.KwCompression) {
		if !p.accept(lex.KwDefault) {
			p.colID()
		}
	}
	if p.kw(lex.KwOptions) && p.peek(1).Kind == lex.LParen {
		p.unsupported(p.pos(), "column OPTIONS")
	}
	for {
		if p.accept(lex.KwCollate) {
			c.Collation = p.qualifiedName().Name
			continue
		}
		k, ok := p.columnConstraint()
		if !ok {
			return c
		}
		if k.Kind != "" {
			c.Constraints = append(c.Constraints, k)
		}
	}
}

// columnConstraint parses one column constraint; ok is false when none follows. Deferral
// clauses yield an empty one.
func (p *parser) columnConstraint() (c ast.Constraint, ok bool) {
	c.Pos = p.pos()
	if p.accept(lex.KwConstraint) {
		c.Name = p.colID()
	}
	named := c.Name != ""
	if p.tok.Kind != lex.Word {
		if named {
			p.syntaxError()
		}
		return c, false
	}
	switch p.tok.Kw {
	case lex.KwNot:
		p.advance()
		if !named && p.accept(lex.KwDeferrable) {
			return c, true
		}
		p.expect(lex.KwNull)
		c.Kind = "not null"
	case lex.KwNull:
		p.advance()
		c.Kind = "null"
	case lex.KwDefault:
		p.advance()
		c.Kind = "default"
		start := p.pos()
		c.Expr = p.bExpr()
		c.Text = p.lx.Src[start:p.prev]
	case lex.KwUnique, lex.KwPrimary:
		p.keyConstraint(&c)
	case lex.KwCheck:
		p.checkConstraint(&c)
	case lex.KwReferences:
		p.references(&c)
	case lex.KwGenerated:
		p.generated(&c)
	case lex.KwDeferrable, lex.KwInitially:
		if named {
			p.syntaxError()
		}
		p.deferral()
	default:
		if named {
			p.syntaxError()
		}
		return c, false
	}
	return c, true
}

// keyConstraint parses PRIMARY KEY or UNIQUE with what may follow their column list.
func (p *parser) keyConstraint(c *ast.Constraint) {
	if p.accept(lex.KwPrimary) {
		p.expect(lex.KwKey)
		c.Kind = "primary key"
	} else {
		p.expect(lex.KwUnique)
		c.Kind = "unique"
		switch {
		case p.kw(lex.KwNulls):
			p.advance()
			c.NullsNotDistinct = p.accept(lex.KwNot)
			p.expect(lex.KwDistinct)
		}
	}
}

func (p *parser) keyTail(c *ast.Constraint) {
	if p.accept(lex.KwInclude) {
		c.Include = p.parenNames()
	}
	p.indexParams()
}

// indexParams parses WITH (...) and USING INDEX TABLESPACE.
func (p *parser) indexParams() {
	if p.kw(lex.KwWith) && p.peek(1).Kind == lex.LParen {
		p.advance()
		p.relOptions()
	}
	if p.kw(lex.KwUsing) && p.peekKw(1, lex.KwIndex) && p.peekKw(2, lex.KwTablespace) {
		p.advance()
		p.advance()
		p.advance()
		p.colID()
	}
}

func (p *parser) checkConstraint(c *ast.Constraint) {
	p.expect(lex.KwCheck)
	p.expectTok(lex.LParen)
	c.Kind = "check"
	start := p.pos()
	c.Expr = p.expr()
	c.Text = p.lx.Src[start:p.prev]
	p.expectTok(lex.RParen)
	p.accept2(lex.KwNo, lex.KwInherit)
}

// references parses REFERENCES table (columns) with its actions.
func (p *parser) references(c *ast.Constraint) {
	p.expect(lex.KwReferences)
	c.Kind = "references"
	n := p.qualifiedName()
	c.Ref = &n
	if p.is(lex.LParen) {
		c.RefColumns = p.parenNames()
	}
	if p.accept(lex.KwMatch) {
		if !p.accept(lex.KwFull) && !p.accept(lex.KwPartial) {
			p.expect(lex.KwSimple)
		}
	}
	for p.kw(lex.KwOn) && (p.peekKw(1, lex.KwDelete) || p.peekKw(1, lex.KwUpdate)) {
		p.advance()
		p.advance()
		switch {
		case p.accept2(lex.KwNo, lex.KwAction), p.accept(lex.KwRestrict), p.accept(lex.KwCascade):
		case p.accept(lex.KwSet):
			if !p.accept(lex.KwNull) {
				p.expect(lex.KwDefault)
			}
			if p.is(lex.LParen) {
				p.parenNames()
			}
		default:
			p.syntaxError()
		}
	}
}

// generated parses GENERATED ALWAYS AS (expr) STORED or AS IDENTITY.
func (p *parser) generated(c *ast.Constraint) {
	p.expect(lex.KwGenerated)
	pos := p.pos()
	byDefault := false
	switch {
	case p.accept(lex.KwAlways):
		c.Always = true
	case p.accept2(lex.KwBy, lex.KwDefault):
		byDefault = true
	default:
		p.syntaxError()
	}
	p.expect(lex.KwAs)
	if p.accept(lex.KwIdentity) {
		c.Kind = "identity"
		if p.acceptTok(lex.LParen) {
			p.skipParens()
		}
		return
	}
	p.expectTok(lex.LParen)
	c.Kind = "generated"
	start := p.pos()
	c.Expr = p.expr()
	c.Text = p.lx.Src[start:p.prev]
	p.expectTok(lex.RParen)
	p.expect(lex.KwStored)
	if byDefault {
		p.errorf(pgerr.SyntaxError, pos, "for a generated column, GENERATED ALWAYS must be specified")
	}
}

// skipParens skips to behind the closing parenthesis.
func (p *parser) skipParens() {
	depth := 1
	for {
		switch p.tok.Kind {
		case lex.LParen:
			depth++
		case lex.RParen:
			depth--
		case lex.EOF, lex.Semicolon:
			p.syntaxError()
		}
		p.advance()
		if depth == 0 {
			return
		}
	}
}

// deferral parses DEFERRABLE and INITIALLY clauses.
func (p *parser) deferral() {
	for {
		switch {
		case p.accept(lex.KwDeferrable), p.accept2(lex.KwNot, lex.KwDeferrable):
		case p.accept(lex.KwInitially):
			if !p.accept(lex.KwDeferred) {
				p.expect(lex.KwImmediate)
			}
		case p.accept2(lex.KwNot, lex.KwValid), p.accept2(lex.KwNo, lex.KwInherit):
		default:
			return
		}
	}
}

// tableConstraint parses a constraint of a table.
func (p *parser) tableConstraint() ast.Constraint {
	c := ast.Constraint{Pos: p.pos()}
	if p.accept(lex.KwConstraint) {
		c.Name = p.colID()
	}
	if p.tok.Kind != lex.Word {
		p.syntaxError()
	}
	switch p.tok.Kw {
	case lex.KwPrimary, lex.KwUnique:
		p.keyConstraint(&c)
		if p.kw(lex.KwUsing) && p.peekKw(1, lex.KwIndex) {
			p.unsupported(p.pos(), "constraint USING INDEX")
		}
		c.Columns = p.parenNames()
		p.keyTail(&c)
	case lex.KwCheck:
		p.checkConstraint(&c)
	case lex.KwForeign:
		p.advance()
		p.expect(lex.KwKey)
		cols := p.parenNames()
		p.references(&c)
		c.Columns = cols
	case lex.KwExclude:
		p.advance()
		c.Kind = "exclude"
		if p.accept(lex.KwUsing) {
			p.colID()
		}
		p.expectTok(lex.LParen)
		p.skipParens()
		p.keyTail(&c)
		if p.accept(lex.KwWhere) {
			p.expectTok(lex.LParen)
			p.skipParens()
		}
	default:
		p.syntaxError()
	}
	p.deferral()
	return c
}
