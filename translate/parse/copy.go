package parse

import (
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/lex"
)

func (p *parser) copyStmt() ast.Stmt {
	s := &ast.Copy{Pos: p.pos()}
	p.expect(lex.KwCopy)
	if p.is(lex.LParen) {
		p.advance()
		s.Query = p.preparable()
		p.expectTok(lex.RParen)
		p.expect(lex.KwTo)
	} else {
		if p.accept(lex.KwBinary) {
			s.Options = append(s.Options, ast.Option{Pos: p.prev, Name: "format", Value: "binary", Set: true})
		}
		n := p.qualifiedName()
		s.Table = &n
		if p.is(lex.LParen) {
			s.Columns = p.parenNames()
		}
		switch {
		case p.accept(lex.KwFrom):
			s.From = true
		case p.accept(lex.KwTo):
		default:
			p.syntaxError()
		}
	}
	s.Program = p.accept(lex.KwProgram)
	switch {
	case p.is(lex.String):
		s.File, s.ServerFile = p.str(), true
	case s.Program && (p.kw(lex.KwStdin) || p.kw(lex.KwStdout)):
		p.errorf(codeSyntax, -1, "STDIN/STDOUT not allowed with PROGRAM")
	case p.accept(lex.KwStdin), p.accept(lex.KwStdout):
	default:
		p.syntaxError()
	}
	if p.kw(lex.KwUsing) || p.kw(lex.KwDelimiters) {
		pos := p.pos()
		p.accept(lex.KwUsing)
		p.expect(lex.KwDelimiters)
		s.Options = append(s.Options, ast.Option{Pos: pos, Name: "delimiter", Value: p.str(), Set: true})
	}
	p.accept(lex.KwWith)
	if p.acceptTok(lex.LParen) {
		s.Options = append(s.Options, p.copyOptions()...)
	} else {
		p.oldCopyOptions(s)
	}
	if p.kw(lex.KwWhere) {
		pos := p.pos()
		p.advance()
		s.Where = p.expr()
		if !s.From {
			p.errorf(codeSyntax, pos, "WHERE clause not allowed with COPY TO")
		}
	}
	return s
}

// copyOptions parses the list of COPY … (FORMAT csv, …) behind its parenthesis.
func (p *parser) copyOptions() []ast.Option {
	var list []ast.Option
	for {
		o := ast.Option{Pos: p.pos(), Name: p.label()}
		p.optionValue(&o)
		list = append(list, o)
		if !p.acceptTok(lex.Comma) {
			break
		}
	}
	p.expectTok(lex.RParen)
	return list
}

// optionValue parses the value of an option if there is one: a word, a string, a number,
// *, or a list in parentheses.
func (p *parser) optionValue(o *ast.Option) {
	switch {
	case p.is(lex.Comma), p.is(lex.RParen):
		return
	case p.is(lex.Star):
		o.List = []string{"*"}
		p.advance()
	case p.acceptTok(lex.LParen):
		for {
			o.List = append(o.List, p.optionWord())
			if !p.acceptTok(lex.Comma) {
				break
			}
		}
		p.expectTok(lex.RParen)
	default:
		o.Value = p.number()
		if o.Value == "" {
			o.Value = p.optionWord()
		}
	}
	o.Set = true
}

// optionWord parses a string, TRUE, FALSE, ON or a word that is not reserved.
func (p *parser) optionWord() string {
	switch {
	case p.is(lex.String):
		return p.str()
	case p.kw(lex.KwTrue), p.kw(lex.KwFalse), p.kw(lex.KwOn):
		return p.takeName()
	}
	return p.nonReservedWord()
}

// word parses a name, any keyword or a string.
func (p *parser) word() string {
	if p.is(lex.String) {
		return p.str()
	}
	return p.label()
}

// settingValue parses a word, a string or a number with an optional sign.
func (p *parser) settingValue() string {
	if n := p.number(); n != "" {
		return n
	}
	return p.word()
}

// number parses a number with an optional sign; "" when none follows.
func (p *parser) number() string {
	sign := ""
	if p.is(lex.Minus) || p.is(lex.Plus) {
		if p.is(lex.Minus) {
			sign = "-"
		}
		p.advance()
		if !p.is(lex.Integer) && !p.is(lex.Numeric) {
			p.syntaxError()
		}
	}
	if !p.is(lex.Integer) && !p.is(lex.Numeric) {
		return ""
	}
	v := sign + p.text()
	p.fix()
	p.advance()
	return v
}

// oldCopyOptions parses the options as written before PostgreSQL 9: BINARY, CSV HEADER…
func (p *parser) oldCopyOptions(s *ast.Copy) {
	for p.tok.Kind == lex.Word {
		o := ast.Option{Pos: p.pos(), Set: true}
		switch p.tok.Kw {
		case lex.KwBinary, lex.KwCsv:
			o.Name, o.Value = "format", p.tok.Kw.String()
			p.advance()
		case lex.KwFreeze, lex.KwHeader:
			o.Name, o.Value = p.tok.Kw.String(), "true"
			p.advance()
		case lex.KwDelimiter, lex.KwNull, lex.KwQuote, lex.KwEscape:
			o.Name = p.tok.Kw.String()
			p.advance()
			p.accept(lex.KwAs)
			o.Value = p.str()
		case lex.KwEncoding:
			o.Name = "encoding"
			p.advance()
			o.Value = p.str()
		case lex.KwForce:
			p.advance()
			switch {
			case p.accept(lex.KwQuote):
				o.Name = "force_quote"
				if p.acceptTok(lex.Star) {
					o.List = []string{"*"}
				} else {
					o.List = p.nameList()
				}
			case p.accept2(lex.KwNot, lex.KwNull):
				o.Name = "force_not_null"
				o.List = p.nameList()
			case p.accept(lex.KwNull):
				o.Name = "force_null"
				o.List = p.nameList()
			default:
				p.syntaxError()
			}
		default:
			return
		}
		s.Options = append(s.Options, o)
	}
}

// optionList parses (name [value], …) as EXPLAIN and VACUUM have it.
func (p *parser) optionList() []ast.Option {
	p.expectTok(lex.LParen)
	var list []ast.Option
	for {
		o := ast.Option{Pos: p.pos()}
		if p.kw(lex.KwAnalyze) || p.kw(lex.KwAnalyse) {
			o.Name = "analyze"
			p.advance()
		} else {
			o.Name = p.nonReservedWord()
		}
		if p.is(lex.Star) || p.is(lex.LParen) {
			p.syntaxError()
		}
		p.optionValue(&o)
		list = append(list, o)
		if !p.acceptTok(lex.Comma) {
			break
		}
	}
	p.expectTok(lex.RParen)
	return list
}

// relOptions parses (name [= value], …) of WITH clauses in DDL.
func (p *parser) relOptions() []ast.Option {
	p.expectTok(lex.LParen)
	var list []ast.Option
	for {
		o := ast.Option{Pos: p.pos(), Name: p.label()}
		if p.acceptTok(lex.Dot) {
			o.Name += "." + p.label()
		}
		if p.acceptTok(lex.Equal) {
			o.Value, o.Set = p.settingValue(), true
		}
		list = append(list, o)
		if !p.acceptTok(lex.Comma) {
			break
		}
	}
	p.expectTok(lex.RParen)
	return list
}
