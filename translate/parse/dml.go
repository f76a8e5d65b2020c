package parse

import (
	"strings"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/lex"
)

// values parses VALUES (..), (..). From the second row on it reserves room for as many
// rows as the rest of the statement could hold, so that a long list costs few
// allocations.
func (p *parser) values() [][]ast.Expr {
	p.expect(lex.KwValues)
	rows := make([][]ast.Expr, 0, 1)
	start := p.pos()
	for {
		p.expectTok(lex.LParen)
		base := len(p.stack)
		for {
			e := p.listItem()
			p.stack = append(p.stack, e)
			if !p.acceptTok(lex.Comma) {
				break
			}
		}
		p.expectTok(lex.RParen)
		row := p.popList(base)
		if len(rows) == cap(rows) {
			rows = p.reserveRows(rows, row, start)
		}
		rows = append(rows, row)
		if !p.acceptTok(lex.Comma) {
			return rows
		}
	}
}

// maxReserve bounds what is reserved on the guess that all rows look like the first.
const maxReserve = 1 << 20

// reserveRows makes room for the rows that the text up to the next semicolon may hold,
// judged by the size of those so far; row is the last of them. A semicolon within a
// string only makes the guess too small.
func (p *parser) reserveRows(rows [][]ast.Expr, row []ast.Expr, start int) [][]ast.Expr {
	rest := p.lx.Src[p.prev:]
	if i := strings.IndexByte(rest, ';'); i >= 0 {
		rest = rest[:i]
	}
	size := max((p.prev-start)/(len(rows)+1), 3)
	guess := len(rest) / size
	guess = min(guess+guess/16+1, maxReserve/len(row)+1)
	if guess >= firstChunk {
		literals := 0
		for _, e := range row {
			if _, ok := e.(*ast.Literal); ok {
				literals++
			}
		}
		p.lits.reserve(guess * literals)
		p.exprs.reserve(guess * len(row))
	}
	return append(make([][]ast.Expr, 0, max(len(rows)+guess+1, 2*len(rows))), rows...)
}

func (p *parser) insert() *ast.Insert {
	s := &ast.Insert{Pos: p.pos()}
	p.expect(lex.KwInsert)
	p.expect(lex.KwInto)
	s.Table = p.qualifiedName()
	if p.accept(lex.KwAs) {
		s.Alias = p.colID()
	}
	if p.is(lex.LParen) && p.atColumnList() {
		p.advance()
		for {
			s.ColumnPos = append(s.ColumnPos, p.pos())
			s.Columns = append(s.Columns, p.targetColumn())
			if !p.acceptTok(lex.Comma) {
				break
			}
		}
		p.expectTok(lex.RParen)
	}
	if p.accept(lex.KwOverriding) {
		switch {
		case p.accept(lex.KwUser):
			s.Overriding = "user"
		case p.accept(lex.KwSystem):
			s.Overriding = "system"
		default:
			p.syntaxError()
		}
		p.expect(lex.KwValue)
	}
	if p.kw(lex.KwDefault) && s.Columns == nil && s.Overriding == "" {
		p.advance()
		p.expect(lex.KwValues)
	} else {
		s.Query = p.query()
	}
	if p.kw(lex.KwOn) {
		s.OnConflict = p.onConflict()
	}
	s.Returning = p.returning()
	return s
}

// atColumnList reports whether the parenthesis at hand opens a column list, not a query.
func (p *parser) atColumnList() bool {
	t := p.peek(1)
	if t.Kind == lex.LParen {
		return false
	}
	if t.Kind == lex.Word {
		switch t.Kw {
		case lex.KwSelect, lex.KwWith, lex.KwTable:
			return false
		case lex.KwValues:
			return p.peek(2).Kind != lex.LParen
		}
	}
	return true
}

// targetColumn parses the column of an INSERT list or assignment.
func (p *parser) targetColumn() string {
	c := p.colID()
	if p.is(lex.Dot) || p.is(lex.LBracket) {
		p.unsupported(p.pos(), "assignment to a field or array element")
	}
	return c
}

func (p *parser) onConflict() *ast.OnConflict {
	c := &ast.OnConflict{}
	p.expect(lex.KwOn)
	p.expect(lex.KwConflict)
	switch {
	case p.is(lex.LParen):
		c.Pos = p.pos()
		p.advance()
		for _, col := range p.indexColumns() {
			c.Columns = append(c.Columns, col.Expr)
		}
		p.expectTok(lex.RParen)
		if p.accept(lex.KwWhere) {
			c.Where = p.expr()
		}
	case p.kw(lex.KwOn):
		p.advance()
		p.expect(lex.KwConstraint)
		c.Constraint = p.colID()
	}
	p.expect(lex.KwDo)
	if p.accept(lex.KwNothing) {
		return c
	}
	p.expect(lex.KwUpdate)
	p.expect(lex.KwSet)
	c.DoUpdate = p.assignments()
	if p.accept(lex.KwWhere) {
		c.UpdateWhere = p.expr()
	}
	return c
}

func (p *parser) returning() []ast.Target {
	if p.accept(lex.KwReturning) {
		return p.targets()
	}
	return nil
}

// assignments parses the SET list of UPDATE.
func (p *parser) assignments() []ast.Assignment {
	list := make([]ast.Assignment, 0, 2)
	for {
		a := ast.Assignment{Pos: p.pos()}
		if p.acceptTok(lex.LParen) {
			a.Multi = true
			for {
				a.Columns = append(a.Columns, p.targetColumn())
				if !p.acceptTok(lex.Comma) {
					break
				}
			}
			p.expectTok(lex.RParen)
		} else {
			a.Columns = p.names.list([]string{p.targetColumn()})
		}
		p.expectTok(lex.Equal)
		a.Expr = p.expr()
		list = append(list, a)
		if !p.acceptTok(lex.Comma) {
			return list
		}
	}
}

// dmlTarget parses the table of UPDATE and DELETE.
func (p *parser) dmlTarget() (name ast.Name, only bool, alias string) {
	t := p.relation()
	switch {
	case p.accept(lex.KwAs):
		alias = p.colID()
	case isColID(&p.tok) && !p.kw(lex.KwSet):
		alias = p.takeName()
	}
	return t.Name, t.Only, alias
}

func (p *parser) update() *ast.Update {
	s := &ast.Update{Pos: p.pos()}
	p.expect(lex.KwUpdate)
	s.Table, s.Only, s.Alias = p.dmlTarget()
	p.expect(lex.KwSet)
	s.Set = p.assignments()
	if p.accept(lex.KwFrom) {
		s.From = p.fromList()
	}
	s.Where = p.whereOrCurrent()
	s.Returning = p.returning()
	return s
}

func (p *parser) delete() *ast.Delete {
	s := &ast.Delete{Pos: p.pos()}
	p.expect(lex.KwDelete)
	p.expect(lex.KwFrom)
	s.Table, s.Only, s.Alias = p.dmlTarget()
	if p.accept(lex.KwUsing) {
		s.Using = p.fromList()
	}
	s.Where = p.whereOrCurrent()
	s.Returning = p.returning()
	return s
}

func (p *parser) whereOrCurrent() ast.Expr {
	if !p.accept(lex.KwWhere) {
		return nil
	}
	if p.kw(lex.KwCurrent) && p.peekKw(1, lex.KwOf) {
		p.unsupported(p.pos(), "WHERE CURRENT OF")
	}
	return p.expr()
}

func (p *parser) truncate() ast.Stmt {
	s := &ast.Truncate{}
	p.expect(lex.KwTruncate)
	p.accept(lex.KwTable)
	for {
		s.Tables = append(s.Tables, p.relation().Name)
		if !p.acceptTok(lex.Comma) {
			break
		}
	}
	switch {
	case p.committed(lex.KwRestart, lex.KwIdentity):
		s.RestartIdentity = true
	case p.committed(lex.KwContinue, lex.KwIdentity):
	}
	s.Cascade = p.dropBehavior()
	return s
}

// dropBehavior parses CASCADE or RESTRICT if it follows.
func (p *parser) dropBehavior() bool {
	if p.accept(lex.KwCascade) {
		return true
	}
	p.accept(lex.KwRestrict)
	return false
}

func (p *parser) call() ast.Stmt {
	s := &ast.Call{Pos: p.pos()}
	p.expect(lex.KwCall)
	if !p.atFuncTable() {
		p.qualifiedName()
		p.syntaxError()
	}
	pos := p.pos()
	p.windowless = true
	f, ok := p.primary().(*ast.FuncCall)
	if !ok || f.Special {
		p.errorf(codeSyntax, pos, "syntax error at or near \"%s\"", p.lx.Src[pos:p.prev])
	}
	p.windowless = false
	s.Func = f
	return s
}
