package parse

import (
	"strings"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/lex"
)

// stmt parses one statement up to its end, which the caller checks.
func (p *parser) stmt() ast.Stmt {
	if p.is(lex.LParen) {
		return p.query()
	}
	if p.tok.Kind != lex.Word {
		p.syntaxError()
	}
	switch p.tok.Kw {
	case lex.KwSelect, lex.KwValues, lex.KwTable, lex.KwWith, lex.KwInsert, lex.KwUpdate, lex.KwDelete:
		return p.preparable()
	case lex.KwBegin, lex.KwStart, lex.KwCommit, lex.KwEnd, lex.KwRollback, lex.KwAbort, lex.KwSavepoint, lex.KwRelease:
		return p.transactionStmt()
	case lex.KwCopy:
		return p.copyStmt()
	case lex.KwCreate:
		return p.create()
	case lex.KwDrop:
		return p.drop()
	case lex.KwAlter:
		return p.alter()
	case lex.KwTruncate:
		return p.truncate()
	case lex.KwSet:
		return p.set()
	case lex.KwShow:
		return p.show()
	case lex.KwReset:
		return p.reset()
	case lex.KwDiscard:
		return p.discard()
	case lex.KwExplain:
		return p.explain()
	case lex.KwPrepare:
		return p.prepare()
	case lex.KwExecute:
		return p.execute()
	case lex.KwDeallocate:
		return p.deallocate()
	case lex.KwDeclare:
		return p.declare()
	case lex.KwFetch, lex.KwMove:
		return p.fetch()
	case lex.KwClose:
		return p.closeCursor()
	case lex.KwListen:
		p.advance()
		return &ast.Listen{Channel: p.colID()}
	case lex.KwNotify:
		return p.notify()
	case lex.KwUnlisten:
		return p.unlisten()
	case lex.KwVacuum, lex.KwAnalyze, lex.KwAnalyse, lex.KwCheckpoint, lex.KwReindex, lex.KwCluster:
		return p.maintenance()
	case lex.KwLock:
		return p.lock()
	case lex.KwComment:
		return p.comment()
	case lex.KwCall:
		return p.call()
	case lex.KwMerge:
		return p.unsupportedStmt(1, lex.KwInto)
	case lex.KwDo:
		return p.doBlock()
	case lex.KwGrant:
		return p.grant(lex.KwTo)
	case lex.KwRevoke:
		return p.grant(lex.KwFrom)
	case lex.KwSecurity, lex.KwReassign, lex.KwRefresh, lex.KwLoad, lex.KwImport:
		return p.unsupportedStmt(1)
	}
	p.syntaxError()
	return nil
}

// doBlock parses DO [LANGUAGE l] 'code'.
func (p *parser) doBlock() ast.Stmt {
	pos := p.pos()
	p.expect(lex.KwDo)
	for n := 0; ; n++ {
		switch {
		case p.is(lex.String):
			p.str()
		case p.accept(lex.KwLanguage):
			p.word()
		default:
			if n == 0 {
				p.syntaxError()
			}
			return &ast.Unsupported{Pos: pos, Feature: "DO"}
		}
	}
}

// grant recognises GRANT … TO and REVOKE … FROM.
func (p *parser) grant(to lex.Keyword) ast.Stmt {
	pos, feature := p.pos(), strings.ToUpper(p.text())
	p.advance()
	if p.kw(to) || !isLabel(&p.tok) {
		p.syntaxError()
	}
	for !p.kw(to) {
		if p.is(lex.EOF) || p.is(lex.Semicolon) {
			p.syntaxError()
		}
		p.advance()
	}
	p.advance()
	return p.unsupportedRest(pos, feature)
}

// unsupportedStmt takes a statement that is recognised but not done: words keywords name
// the feature, follow ones must come next, and then anything whose parentheses match.
func (p *parser) unsupportedStmt(words int, follow ...lex.Keyword) ast.Stmt {
	pos := p.pos()
	var names []string
	for range words {
		names = append(names, strings.ToUpper(p.text()))
		p.advance()
	}
	for _, k := range follow {
		p.expect(k)
	}
	return p.unsupportedRest(pos, strings.Join(names, " "))
}

// unsupportedRest skips to the end of the statement; something must follow its name.
func (p *parser) unsupportedRest(pos int, feature string) ast.Stmt {
	if p.is(lex.EOF) || p.is(lex.Semicolon) {
		p.syntaxError()
	}
	routine := strings.HasSuffix(feature, "FUNCTION") || strings.HasSuffix(feature, "PROCEDURE") || strings.HasSuffix(feature, "RULE")
	depth, body := 0, 0
	for {
		switch p.tok.Kind {
		case lex.LParen, lex.LBracket:
			depth++
		case lex.RParen, lex.RBracket:
			depth--
			if depth < 0 {
				p.syntaxError()
			}
		case lex.Word:
			// A routine's body may hold statements: BEGIN ATOMIC …; END.
			switch {
			case routine && p.tok.Kw == lex.KwBegin && p.peekKw(1, lex.KwAtomic):
				body++
			case body > 0 && p.tok.Kw == lex.KwCase:
				body++
			case body > 0 && p.tok.Kw == lex.KwEnd:
				body--
			}
		case lex.Semicolon:
			if depth > 0 && !routine {
				p.syntaxError()
			}
			if depth == 0 && body == 0 {
				return &ast.Unsupported{Pos: pos, Feature: feature}
			}
		case lex.EOF:
			if depth > 0 || body > 0 {
				p.syntaxError()
			}
			return &ast.Unsupported{Pos: pos, Feature: feature}
		}
		p.advance()
	}
}

// --- COMMENT

func (p *parser) comment() ast.Stmt {
	s := &ast.Comment{Pos: p.pos()}
	p.expect(lex.KwComment)
	p.expect(lex.KwOn)
	if p.tok.Kind != lex.Word {
		p.syntaxError()
	}
	switch p.tok.Kw {
	case lex.KwTable, lex.KwView, lex.KwSchema, lex.KwDatabase, lex.KwIndex:
		s.Kind = p.tok.Kw.String()
		p.advance()
		s.Name = p.qualifiedName()
	case lex.KwMaterialized:
		p.advance()
		p.expect(lex.KwView)
		s.Kind = "view"
		s.Name = p.qualifiedName()
	case lex.KwColumn:
		p.advance()
		s.Kind = "column"
		p.columnPath(s)
	default:
		return p.unsupportedRest(s.Pos, "COMMENT ON "+strings.ToUpper(p.text()))
	}
	p.expect(lex.KwIs)
	if p.accept(lex.KwNull) {
		return s
	}
	text := p.str()
	s.Text = &text
	return s
}

// columnPath parses [[catalog.]schema.]table.column.
func (p *parser) columnPath(s *ast.Comment) {
	pos := p.pos()
	parts := []string{p.colID()}
	for p.acceptTok(lex.Dot) {
		parts = append(parts, p.label())
	}
	n := len(parts) - 1
	if n == 0 {
		p.errorf(codeSyntax, pos, "column name must be qualified")
	}
	s.Column = parts[n]
	s.Name = p.nameOf(pos, parts[:n])
}
