package parse

import (
	"strings"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/lex"
)

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
