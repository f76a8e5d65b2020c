package parse

import (
	"strings"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/lex"
	"github.com/eiderdb/eider/translate/pgerr"
)

// transactionModes parses the modes of BEGIN and SET TRANSACTION, which commas may
// separate. need is set where at least one must follow.
func (p *parser) transactionModes(s *ast.Transaction, need bool) {
	for n := 0; ; n++ {
		comma := n > 0 && p.acceptTok(lex.Comma)
		yes, no := true, false
		switch {
		case p.accept(lex.KwIsolation):
			p.expect(lex.KwLevel)
			s.Isolation = p.isolationLevel()
		case p.accept(lex.KwRead):
			s.ReadOnly = &yes
			if !p.accept(lex.KwOnly) {
				p.expect(lex.KwWrite)
				s.ReadOnly = &no
			}
		case p.accept(lex.KwDeferrable):
			s.Deferrable = &yes
		case p.committed(lex.KwNot, lex.KwDeferrable):
			s.Deferrable = &no
		default:
			if comma || (need && n == 0) {
				p.syntaxError()
			}
			return
		}
	}
}

func (p *parser) isolationLevel() string {
	switch {
	case p.accept(lex.KwSerializable):
		return "serializable"
	case p.accept2(lex.KwRepeatable, lex.KwRead):
		return "repeatable read"
	case p.accept2(lex.KwRead, lex.KwCommitted):
		return "read committed"
	case p.accept2(lex.KwRead, lex.KwUncommitted):
		return "read uncommitted"
	}
	switch p.tok.Kw {
	case lex.KwRead, lex.KwRepeatable:
		p.advance()
	}
	p.syntaxError()
	return ""
}

func (p *parser) transactionStmt() ast.Stmt {
	s := &ast.Transaction{Pos: p.pos()}
	kw := p.tok.Kw
	p.advance()
	switch kw {
	case lex.KwBegin:
		s.Kind = "begin"
		p.workOrTransaction()
		p.transactionModes(s, false)
	case lex.KwStart:
		s.Kind = "start"
		p.expect(lex.KwTransaction)
		p.transactionModes(s, false)
	case lex.KwCommit, lex.KwEnd:
		s.Kind, s.ViaEnd = "commit", kw == lex.KwEnd
		if kw == lex.KwCommit && p.accept(lex.KwPrepared) {
			s.Kind, s.Name = "commit prepared", p.str()
			return s
		}
		p.workOrTransaction()
		s.Chain = p.chainClause()
	case lex.KwRollback, lex.KwAbort:
		s.Kind = "rollback"
		if kw == lex.KwRollback && p.accept(lex.KwPrepared) {
			s.Kind, s.Name = "rollback prepared", p.str()
			return s
		}
		p.workOrTransaction()
		if kw == lex.KwRollback && p.accept(lex.KwTo) {
			s.Kind = "rollback to"
			p.acceptSavepoint()
			s.Name = p.colID()
			return s
		}
		s.Chain = p.chainClause()
	case lex.KwSavepoint:
		s.Kind, s.Name = "savepoint", p.colID()
	case lex.KwRelease:
		s.Kind = "release"
		p.acceptSavepoint()
		s.Name = p.colID()
	}
	return s
}

// acceptSavepoint skips the noise word SAVEPOINT before a name.
func (p *parser) acceptSavepoint() {
	if p.kw(lex.KwSavepoint) && isColID(p.peek(1)) {
		p.advance()
	}
}

func (p *parser) workOrTransaction() {
	if !p.accept(lex.KwWork) {
		p.accept(lex.KwTransaction)
	}
}

func (p *parser) chainClause() bool {
	if !p.accept(lex.KwAnd) {
		return false
	}
	no := p.accept(lex.KwNo)
	p.expect(lex.KwChain)
	return !no
}

// set parses SET in all its spellings.
func (p *parser) set() ast.Stmt {
	pos := p.pos()
	p.expect(lex.KwSet)
	if p.accept(lex.KwConstraints) {
		return p.setConstraints(pos)
	}
	s := &ast.Set{Pos: pos}
	switch {
	case p.kw(lex.KwLocal) && p.settingFollows():
		s.Local = true
		p.advance()
	case p.kw(lex.KwSession) && p.settingFollows():
		p.advance()
		if p.kw(lex.KwCharacteristics) {
			p.advance()
			p.expect(lex.KwAs)
			p.expect(lex.KwTransaction)
			t := &ast.Transaction{Pos: pos, Kind: "set session"}
			p.transactionModes(t, true)
			return t
		}
		if p.kw(lex.KwAuthorization) {
			p.setSessionAuthorization(s)
			return s
		}
	}
	switch {
	case p.kw(lex.KwTransaction) && p.specialValue():
		p.advance()
		t := &ast.Transaction{Pos: pos, Kind: "set"}
		if p.accept(lex.KwSnapshot) {
			t.Snapshot = p.str()
			return t
		}
		p.transactionModes(t, true)
		return t
	case s.Local && p.kw(lex.KwSession) && p.peekKw(1, lex.KwAuthorization):
		p.advance()
		p.setSessionAuthorization(s)
	case p.accept2(lex.KwTime, lex.KwZone):
		p.setTimeZone(s)
	case p.kw(lex.KwNames) && p.specialValue():
		p.advance()
		s.Special, s.Name = "names", "client_encoding"
		s.Default = p.is(lex.EOF) || p.is(lex.Semicolon) || p.accept(lex.KwDefault)
		if !s.Default {
			s.Values = []string{p.str()}
		}
	case p.kw(lex.KwSchema) && p.peek(1).Kind == lex.String:
		p.advance()
		s.Name, s.Values = "search_path", []string{p.str()}
	case p.kw(lex.KwCatalog) && p.peek(1).Kind == lex.String:
		p.advance()
		p.errorf(pgerr.FeatureNotSupported, p.pos(), "current database cannot be changed")
	case p.kw(lex.KwRole) && p.specialValue():
		p.advance()
		s.Special, s.Name = "role", "role"
		s.Values = []string{p.wordOrString()}
	case p.kw(lex.KwXml) && p.peekKw(1, lex.KwOption):
		p.advance()
		p.advance()
		s.Name = "xmloption"
		if !p.kw(lex.KwDocument) && !p.kw(lex.KwContent) {
			p.syntaxError()
		}
		s.Values = []string{p.takeName()}
	default:
		s.Name = p.varName()
		p.setValue(s)
	}
	return s
}

// settingFollows reports whether LOCAL or SESSION is the modifier and not a setting.
func (p *parser) settingFollows() bool {
	t := p.peek(1)
	return t.Kind != lex.Equal && t.Kind != lex.Dot && (t.Kind != lex.Word || t.Kw != lex.KwTo)
}

// specialValue reports whether the keyword at hand has a syntax of its own here instead
// of being a setting's name.
func (p *parser) specialValue() bool {
	t := p.peek(1)
	return t.Kind != lex.Equal && t.Kind != lex.Dot && (t.Kind != lex.Word || t.Kw != lex.KwTo)
}

func (p *parser) varName() string {
	n := p.colID()
	for p.acceptTok(lex.Dot) {
		n += "." + p.colID()
	}
	return strings.ToLower(n)
}

// setValue parses = value, ... or TO DEFAULT or FROM CURRENT.
func (p *parser) setValue(s *ast.Set) {
	if p.kw(lex.KwFrom) {
		pos := p.pos()
		p.advance()
		p.expect(lex.KwCurrent)
		p.unsupported(pos, "SET FROM CURRENT")
	}
	if !p.acceptTok(lex.Equal) {
		p.expect(lex.KwTo)
	}
	if p.accept(lex.KwDefault) {
		s.Default = true
		return
	}
	for {
		s.Values = append(s.Values, p.varValue())
		if !p.acceptTok(lex.Comma) {
			return
		}
	}
}

// varValue parses one value of a setting.
func (p *parser) varValue() string {
	switch p.tok.Kind {
	case lex.Integer, lex.Numeric, lex.Minus, lex.Plus:
		return p.settingValue()
	case lex.Word:
		switch p.tok.Kw {
		case lex.KwTrue, lex.KwFalse, lex.KwOn:
			return p.takeName()
		}
	}
	return p.wordOrString()
}

func (p *parser) wordOrString() string {
	if p.is(lex.String) {
		return p.str()
	}
	return p.nonReservedWord()
}

func (p *parser) setTimeZone(s *ast.Set) {
	s.Special, s.Name = "time zone", "timezone"
	switch {
	case p.accept(lex.KwDefault), p.accept(lex.KwLocal):
		s.Default = true
	case p.kw(lex.KwInterval):
		e, ok := p.typedLiteral(p.pos()).(*ast.Cast)
		if !ok {
			p.advance()
			p.syntaxError()
		}
		l := e.Expr.(*ast.Literal)
		p.fixed = append(p.fixed, l.Slot)
		if f := e.Type.Fields; f != "" && f != "hour" && f != "hour to minute" {
			p.errorf(codeSyntax, p.fieldsPos, "time zone interval must be HOUR or HOUR TO MINUTE")
		}
		s.Values = []string{"interval", l.Text}
	case p.is(lex.Integer), p.is(lex.Numeric), p.is(lex.Minus), p.is(lex.Plus):
		s.Values = []string{p.settingValue()}
	default:
		s.Values = []string{p.wordOrString()}
	}
}

func (p *parser) setSessionAuthorization(s *ast.Set) {
	p.expect(lex.KwAuthorization)
	s.Special, s.Name = "session authorization", "session_authorization"
	if p.accept(lex.KwDefault) {
		s.Default = true
		return
	}
	s.Values = []string{p.wordOrString()}
}

func (p *parser) setConstraints(pos int) ast.Stmt {
	s := &ast.Set{Pos: pos, Special: "constraints", Name: "constraints"}
	if !p.accept(lex.KwAll) {
		for _, n := range p.qualifiedNames() {
			s.Values = append(s.Values, n.Name)
		}
	}
	if !p.accept(lex.KwDeferred) {
		p.expect(lex.KwImmediate)
	}
	return s
}

// settingName parses the name in SHOW and RESET, with its special spellings.
func (p *parser) settingName() string {
	switch {
	case p.accept2(lex.KwTime, lex.KwZone):
		return "timezone"
	case p.kw(lex.KwTransaction) && p.peekKw(1, lex.KwIsolation):
		p.advance()
		p.advance()
		p.expect(lex.KwLevel)
		return "transaction_isolation"
	case p.kw(lex.KwSession) && p.peekKw(1, lex.KwAuthorization):
		p.advance()
		p.advance()
		return "session_authorization"
	}
	return p.varName()
}

func (p *parser) show() ast.Stmt {
	s := &ast.Show{Pos: p.pos()}
	p.expect(lex.KwShow)
	if p.accept(lex.KwAll) {
		s.All = true
		return s
	}
	s.Name = p.settingName()
	return s
}

func (p *parser) reset() ast.Stmt {
	p.expect(lex.KwReset)
	if p.accept(lex.KwAll) {
		return &ast.Reset{All: true}
	}
	return &ast.Reset{Name: p.settingName()}
}
