package parse

import (
	"strings"

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

func (p *parser) explain() ast.Stmt {
	s := &ast.Explain{Pos: p.pos()}
	p.expect(lex.KwExplain)
	if p.is(lex.LParen) && !p.parenIsQuery() {
		s.Options = p.optionList()
		for _, o := range s.Options {
			if o.Name == "analyze" {
				s.Analyze = boolOption(o)
			}
		}
	} else {
		if p.kw(lex.KwAnalyze) || p.kw(lex.KwAnalyse) {
			p.advance()
			s.Analyze = true
			s.Options = append(s.Options, ast.Option{Pos: p.prev, Name: "analyze"})
		}
		if p.accept(lex.KwVerbose) {
			s.Options = append(s.Options, ast.Option{Pos: p.prev, Name: "verbose"})
		}
	}
	if p.tok.Kind == lex.Word {
		switch p.tok.Kw {
		case lex.KwCreate:
			s.Stmt = p.create()
			if c, ok := s.Stmt.(*ast.CreateTable); !ok || c.As == nil {
				if _, ok := s.Stmt.(*ast.CreateView); !ok {
					p.syntaxError()
				}
			}
			return s
		case lex.KwDeclare:
			s.Stmt = p.declare()
			return s
		case lex.KwExecute:
			s.Stmt = p.execute()
			return s
		}
	}
	s.Stmt = p.preparable()
	return s
}

// parenIsQuery reports whether the parenthesis at hand opens a query.
func (p *parser) parenIsQuery() bool {
	t := p.peek(1)
	if t.Kind == lex.LParen {
		return true
	}
	return t.Kind == lex.Word && (t.Kw == lex.KwSelect || t.Kw == lex.KwWith || t.Kw == lex.KwTable || t.Kw == lex.KwValues)
}

// boolOption reads the value of a switch; one without a value is on.
func boolOption(o ast.Option) bool {
	if !o.Set {
		return true
	}
	switch strings.ToLower(o.Value) {
	case "false", "off", "0":
		return false
	}
	return true
}

func (p *parser) prepare() ast.Stmt {
	pos := p.pos()
	p.expect(lex.KwPrepare)
	if p.kw(lex.KwTransaction) && p.peek(1).Kind == lex.String {
		p.advance()
		return &ast.Transaction{Pos: pos, Kind: "prepare", Name: p.str()}
	}
	s := &ast.Prepare{Pos: pos, Name: p.colID()}
	if p.acceptTok(lex.LParen) {
		for {
			s.Types = append(s.Types, p.typeName())
			if !p.acceptTok(lex.Comma) {
				break
			}
		}
		p.expectTok(lex.RParen)
	}
	p.expect(lex.KwAs)
	start := p.pos()
	outer := p.params
	p.params = 0
	s.Stmt = p.preparable()
	s.Params = p.params
	p.params = outer
	s.Text = p.lx.Src[start:p.prev]
	return s
}

func (p *parser) execute() ast.Stmt {
	s := &ast.Execute{Pos: p.pos()}
	p.expect(lex.KwExecute)
	s.Name = p.colID()
	if p.acceptTok(lex.LParen) {
		s.Args = p.exprList()
		p.expectTok(lex.RParen)
	}
	return s
}

func (p *parser) deallocate() ast.Stmt {
	p.expect(lex.KwDeallocate)
	if p.kw(lex.KwPrepare) {
		// PREPARE is noise unless it is the name.
		if t := p.peek(1); isColID(t) || (t.Kind == lex.Word && t.Kw == lex.KwAll) {
			p.advance()
		}
	}
	if p.accept(lex.KwAll) {
		return &ast.Deallocate{All: true}
	}
	return &ast.Deallocate{Name: p.colID()}
}

func (p *parser) declare() ast.Stmt {
	s := &ast.Declare{Pos: p.pos()}
	yes, no := true, false
	p.expect(lex.KwDeclare)
	s.Name = p.colID()
	for {
		switch {
		case p.accept(lex.KwBinary):
			s.Binary = true
			continue
		case p.accept(lex.KwInsensitive), p.accept(lex.KwAsensitive):
			continue
		case p.accept2(lex.KwNo, lex.KwScroll):
			s.Scroll = &no
			continue
		case p.accept(lex.KwScroll):
			s.Scroll = &yes
			continue
		}
		break
	}
	p.expect(lex.KwCursor)
	switch {
	case p.accept2(lex.KwWith, lex.KwHold):
		s.Hold = true
	case p.accept2(lex.KwWithout, lex.KwHold):
	}
	p.expect(lex.KwFor)
	s.Query = p.query()
	return s
}

func (p *parser) fetch() ast.Stmt {
	s := &ast.Fetch{Pos: p.pos(), Move: p.kw(lex.KwMove), Direction: "forward", Count: 1}
	p.advance()
	switch {
	case p.acceptDirection(lex.KwNext, s), p.acceptDirection(lex.KwPrior, s),
		p.acceptDirection(lex.KwFirst, s), p.acceptDirection(lex.KwLast, s):
	case p.acceptDirection(lex.KwAbsolute, s), p.acceptDirection(lex.KwRelative, s):
		s.Count = p.signedInteger()
	case p.acceptDirection(lex.KwForward, s), p.acceptDirection(lex.KwBackward, s):
		switch {
		case p.accept(lex.KwAll):
			s.All = true
		case p.is(lex.Integer), p.is(lex.Minus), p.is(lex.Plus):
			s.Count = p.signedInteger()
		}
	case p.accept(lex.KwAll):
		s.All = true
	case p.is(lex.Integer), p.is(lex.Minus), p.is(lex.Plus):
		s.Count = p.signedInteger()
	}
	if !p.accept(lex.KwFrom) {
		p.accept(lex.KwIn)
	}
	s.Cursor = p.colID()
	return s
}

// acceptDirection takes a direction word, unless it is the cursor's name.
func (p *parser) acceptDirection(k lex.Keyword, s *ast.Fetch) bool {
	if !p.kw(k) {
		return false
	}
	if t := p.peek(1); t.Kind == lex.EOF || t.Kind == lex.Semicolon {
		return false
	}
	s.Direction = k.String()
	p.advance()
	return true
}

func (p *parser) closeCursor() ast.Stmt {
	p.expect(lex.KwClose)
	if p.accept(lex.KwAll) {
		return &ast.CloseCursor{All: true}
	}
	return &ast.CloseCursor{Name: p.colID()}
}

func (p *parser) notify() ast.Stmt {
	p.expect(lex.KwNotify)
	s := &ast.Notify{Channel: p.colID()}
	if p.acceptTok(lex.Comma) {
		s.Payload = p.str()
	}
	return s
}

func (p *parser) unlisten() ast.Stmt {
	p.expect(lex.KwUnlisten)
	if p.acceptTok(lex.Star) {
		return &ast.Unlisten{All: true}
	}
	return &ast.Unlisten{Channel: p.colID()}
}

func (p *parser) discard() ast.Stmt {
	p.expect(lex.KwDiscard)
	if p.tok.Kind == lex.Word {
		switch k := p.tok.Kw; k {
		case lex.KwAll, lex.KwPlans, lex.KwSequences, lex.KwTemp, lex.KwTemporary:
			p.advance()
			if k == lex.KwTemporary {
				k = lex.KwTemp
			}
			return &ast.Discard{What: k.String()}
		}
	}
	p.syntaxError()
	return nil
}

// maintenance parses VACUUM, ANALYZE, CHECKPOINT, REINDEX and CLUSTER.
func (p *parser) maintenance() ast.Stmt {
	s := &ast.Maintenance{Pos: p.pos(), Kind: p.tok.Kw.String()}
	kw := p.tok.Kw
	p.advance()
	switch kw {
	case lex.KwCheckpoint:
		return s
	case lex.KwAnalyse:
		s.Kind = "analyze"
	case lex.KwReindex:
		return p.reindex(s)
	}
	if p.is(lex.LParen) {
		s.Options = p.optionList()
	} else {
		if kw == lex.KwVacuum {
			p.accept(lex.KwFull)
			p.accept(lex.KwFreeze)
		}
		p.accept(lex.KwVerbose)
		if kw == lex.KwVacuum && !p.accept(lex.KwAnalyze) {
			p.accept(lex.KwAnalyse)
		}
	}
	if !isColID(&p.tok) {
		return s
	}
	for {
		s.Tables = append(s.Tables, p.qualifiedName())
		if kw == lex.KwCluster {
			if p.accept(lex.KwUsing) || p.accept(lex.KwOn) {
				p.qualifiedName()
			}
			return s
		}
		if p.is(lex.LParen) {
			p.parenNames()
		}
		if !p.acceptTok(lex.Comma) {
			return s
		}
	}
}

func (p *parser) reindex(s *ast.Maintenance) ast.Stmt {
	if p.is(lex.LParen) {
		s.Options = p.optionList()
	}
	switch {
	case p.accept(lex.KwIndex), p.accept(lex.KwTable):
		p.accept(lex.KwConcurrently)
		s.Tables = append(s.Tables, p.qualifiedName())
	case p.accept(lex.KwSchema):
		p.accept(lex.KwConcurrently)
		p.colID()
	case p.accept(lex.KwSystem), p.accept(lex.KwDatabase):
		p.accept(lex.KwConcurrently)
		p.colID()
	default:
		p.syntaxError()
	}
	return s
}

func (p *parser) lock() ast.Stmt {
	s := &ast.Lock{Pos: p.pos(), Mode: "access exclusive"}
	p.expect(lex.KwLock)
	p.accept(lex.KwTable)
	for {
		s.Tables = append(s.Tables, p.relation().Name)
		if !p.acceptTok(lex.Comma) {
			break
		}
	}
	if p.accept(lex.KwIn) {
		s.Mode = p.lockMode()
		p.expect(lex.KwMode)
	}
	s.NoWait = p.accept(lex.KwNowait)
	return s
}

// lockMode parses ROW EXCLUSIVE and the like.
func (p *parser) lockMode() string {
	oneOf := func(prefix string, kws ...lex.Keyword) string {
		for _, k := range kws {
			if p.accept(k) {
				return prefix + k.String()
			}
		}
		p.syntaxError()
		return ""
	}
	switch {
	case p.accept(lex.KwAccess):
		return oneOf("access ", lex.KwShare, lex.KwExclusive)
	case p.accept(lex.KwRow):
		return oneOf("row ", lex.KwShare, lex.KwExclusive)
	case p.accept(lex.KwShare):
		switch {
		case p.committed(lex.KwUpdate, lex.KwExclusive):
			return "share update exclusive"
		case p.committed(lex.KwRow, lex.KwExclusive):
			return "share row exclusive"
		}
		return "share"
	}
	return oneOf("", lex.KwExclusive)
}
