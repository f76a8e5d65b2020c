package parse

import (
	"strings"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/lex"
	"github.com/eiderdb/eider/translate/pgerr"
)

// create parses CREATE.
func (p *parser) create() ast.Stmt {
	pos := p.pos()
	p.expect(lex.KwCreate)
	replace := p.committed(lex.KwOr, lex.KwReplace)
	temp, unlogged := p.tempWords()
	if p.tok.Kind != lex.Word {
		p.syntaxError()
	}
	kw := p.tok.Kw
	switch {
	case (kw == lex.KwLocal || kw == lex.KwGlobal) && !temp && !unlogged:
		p.advance()
		p.syntaxError()
	case kw == lex.KwView, kw == lex.KwRecursive && p.peekKw(1, lex.KwView):
		if unlogged {
			p.syntaxError()
		}
		if kw == lex.KwRecursive {
			p.unsupported(p.pos(), "CREATE RECURSIVE VIEW")
		}
		p.advance()
		return p.createView(pos, replace, temp)
	case kw == lex.KwSequence && !unlogged && !replace:
		p.advance()
		return p.unsupportedRest(pos, "CREATE SEQUENCE")
	case replace:
		return p.createOther(pos, true)
	case kw == lex.KwTable:
		p.advance()
		return p.createTable(pos, temp, unlogged)
	case temp || unlogged:
		p.syntaxError()
	case kw == lex.KwMaterialized:
		p.advance()
		p.expect(lex.KwView)
		return p.createMatView(pos)
	case kw == lex.KwSchema:
		p.advance()
		return p.createSchema(pos)
	case kw == lex.KwDatabase:
		p.advance()
		s := &ast.CreateDatabase{Pos: pos, Name: p.colID()}
		p.accept(lex.KwWith)
		s.Options = p.databaseOptions()
		return s
	case kw == lex.KwIndex, kw == lex.KwUnique:
		return p.createIndex(pos)
	}
	return p.createOther(pos, false)
}

// createOther recognises the objects that Eider does not have.
func (p *parser) createOther(pos int, replace bool) ast.Stmt {
	kw := p.tok.Kw
	name := "CREATE " + strings.ToUpper(p.text())
	switch kw {
	case lex.KwFunction, lex.KwProcedure, lex.KwAggregate, lex.KwLanguage, lex.KwTrigger, lex.KwRule, lex.KwTransform:
	case lex.KwTrusted, lex.KwProcedural, lex.KwConstraint:
		p.advance()
		if kw == lex.KwTrusted {
			p.accept(lex.KwProcedural)
		}
		if !p.kw(lex.KwLanguage) && !p.kw(lex.KwTrigger) {
			p.syntaxError()
		}
		name = "CREATE " + strings.ToUpper(p.text())
	case lex.KwRole, lex.KwUser, lex.KwGroup, lex.KwType, lex.KwDomain, lex.KwExtension, lex.KwCast, lex.KwCollation,
		lex.KwConversion, lex.KwOperator, lex.KwPolicy, lex.KwPublication, lex.KwSubscription, lex.KwServer,
		lex.KwStatistics, lex.KwTablespace, lex.KwText, lex.KwAccess, lex.KwForeign, lex.KwEvent, lex.KwDefault, lex.KwAssertion:
		if replace {
			p.syntaxError()
		}
	default:
		p.syntaxError()
	}
	p.advance()
	return p.unsupportedRest(pos, name)
}

func (p *parser) ifNotExists() bool {
	if !p.kw(lex.KwIf) || !p.peekKw(1, lex.KwNot) {
		return false
	}
	p.advance()
	p.advance()
	p.expect(lex.KwExists)
	return true
}

func (p *parser) ifExists() bool { return p.accept2(lex.KwIf, lex.KwExists) }

func (p *parser) createSchema(pos int) ast.Stmt {
	s := &ast.CreateSchema{Pos: pos, IfNotExists: p.ifNotExists()}
	if !p.kw(lex.KwAuthorization) {
		s.Name = p.colID()
	}
	if p.accept(lex.KwAuthorization) {
		s.Authorization = p.nonReservedOrRole()
		if s.Name == "" {
			s.Name = s.Authorization
		}
	}
	if p.kw(lex.KwCreate) || p.kw(lex.KwGrant) {
		p.unsupported(p.pos(), "CREATE SCHEMA with schema elements")
	}
	return s
}

// nonReservedOrRole parses a role's name or CURRENT_USER and the like.
func (p *parser) nonReservedOrRole() string {
	if p.tok.Kind == lex.Word {
		switch p.tok.Kw {
		case lex.KwCurrentUser, lex.KwCurrentRole, lex.KwSessionUser:
			return p.takeName()
		}
	}
	return p.nonReservedWord()
}

// databaseOptions parses name [=] value pairs without separators.
func (p *parser) databaseOptions() []ast.Option {
	var list []ast.Option
	for isLabel(&p.tok) {
		o := ast.Option{Pos: p.pos(), Set: true}
		switch {
		case p.accept(lex.KwConnection):
			p.expect(lex.KwLimit)
			o.Name = "connection_limit"
		case p.is(lex.Quoted), p.tok.Kw == lex.NoKeyword, p.kw(lex.KwEncoding), p.kw(lex.KwLocation), p.kw(lex.KwOwner),
			p.kw(lex.KwTablespace), p.kw(lex.KwTemplate):
			o.Name = p.takeName()
		default:
			p.syntaxError()
		}
		p.acceptTok(lex.Equal)
		o.Value = p.settingValue()
		list = append(list, o)
	}
	return list
}

func (p *parser) createView(pos int, replace, temp bool) ast.Stmt {
	s := &ast.CreateView{Pos: pos, Replace: replace, Temp: temp, Name: p.qualifiedName()}
	if p.is(lex.LParen) {
		s.Columns = p.parenNames()
	}
	if p.accept(lex.KwWith) {
		p.relOptions()
	}
	p.expect(lex.KwAs)
	p.viewQuery(s)
	if p.kw(lex.KwWith) {
		p.advance()
		if !p.accept(lex.KwCascaded) {
			p.accept(lex.KwLocal)
		}
		p.expect(lex.KwCheck)
		p.expect(lex.KwOption)
	}
	return s
}

func (p *parser) viewQuery(s *ast.CreateView) {
	start := p.pos()
	s.Query = p.query()
	s.QueryText = p.lx.Src[start:p.prev]
}

func (p *parser) createMatView(pos int) ast.Stmt {
	s := &ast.CreateView{Pos: pos, Materialized: true, IfNotExists: p.ifNotExists()}
	s.Name = p.qualifiedName()
	if p.is(lex.LParen) {
		s.Columns = p.parenNames()
	}
	var t ast.CreateTable
	p.tableTail(&t)
	p.expect(lex.KwAs)
	p.viewQuery(s)
	p.withData()
	return s
}

// withData parses WITH [NO] DATA and reports whether NO was said.
func (p *parser) withData() bool {
	if !p.accept(lex.KwWith) {
		return false
	}
	no := p.accept(lex.KwNo)
	p.expect(lex.KwData)
	return no
}

func (p *parser) createTable(pos int, temp, unlogged bool) ast.Stmt {
	s := &ast.CreateTable{Pos: pos, Temp: temp, Unlogged: unlogged}
	s.IfNotExists = p.ifNotExists()
	s.Name = p.qualifiedName()
	switch {
	case p.kw(lex.KwOf):
		p.unsupported(p.pos(), "CREATE TABLE OF")
	case p.kw(lex.KwPartition):
		p.unsupported(p.pos(), "PARTITION OF")
	case p.is(lex.LParen):
		if p.atAsColumns() {
			s.AsColumns = p.parenNames()
			p.tableTail(s)
			p.createTableAs(s)
			return s
		}
		p.tableElements(s)
	case p.kw(lex.KwAs), p.kw(lex.KwUsing), p.kw(lex.KwWith), p.kw(lex.KwWithout), p.kw(lex.KwOn), p.kw(lex.KwTablespace):
		p.tableTail(s)
		p.createTableAs(s)
		return s
	default:
		p.syntaxError()
	}
	p.tableTail(s)
	return s
}

// atAsColumns reports whether the list at hand names the columns of CREATE TABLE AS: a
// name followed by a comma or parenthesis has no type.
func (p *parser) atAsColumns() bool {
	k := p.peek(2).Kind
	return isColID(p.peek(1)) && (k == lex.Comma || k == lex.RParen)
}

func (p *parser) createTableAs(s *ast.CreateTable) {
	p.expect(lex.KwAs)
	if p.kw(lex.KwExecute) {
		p.unsupported(p.pos(), "CREATE TABLE AS EXECUTE")
	}
	s.As = p.query()
	s.WithNoData = p.withData()
}

// tableTail parses what may follow the columns: INHERITS, PARTITION BY, USING, WITH,
// ON COMMIT, TABLESPACE.
func (p *parser) tableTail(s *ast.CreateTable) {
	if p.accept(lex.KwInherits) {
		s.Unsupported = "INHERITS"
		p.expectTok(lex.LParen)
		p.qualifiedNames()
		p.expectTok(lex.RParen)
	}
	if p.accept(lex.KwPartition) {
		s.Unsupported = "PARTITION BY"
		p.expect(lex.KwBy)
		p.colID()
		p.expectTok(lex.LParen)
		p.indexColumns()
		p.expectTok(lex.RParen)
	}
	if p.accept(lex.KwUsing) {
		p.colID()
	}
	if p.kw(lex.KwWith) && p.peek(1).Kind == lex.LParen {
		p.advance()
		s.Options = p.relOptions()
	} else if p.accept(lex.KwWithout) {
		p.expect(lex.KwOids)
	}
	if p.accept(lex.KwOn) {
		p.expect(lex.KwCommit)
		switch {
		case p.accept(lex.KwDrop):
			s.OnCommit = "drop"
		case p.committed(lex.KwDelete, lex.KwRows):
			s.OnCommit = "delete"
		case p.committed(lex.KwPreserve, lex.KwRows):
			s.OnCommit = "preserve"
		default:
			p.syntaxError()
		}
	}
	if p.accept(lex.KwTablespace) {
		p.colID()
	}
}

func (p *parser) tableElements(s *ast.CreateTable) {
	p.expectTok(lex.LParen)
	if p.acceptTok(lex.RParen) {
		return
	}
	for {
		switch {
		case p.kw(lex.KwLike):
			s.Like = append(s.Like, p.likeClause())
		case p.atTableConstraint():
			s.Constraints = append(s.Constraints, p.tableConstraint())
		default:
			s.Columns = append(s.Columns, p.columnDef())
		}
		if !p.acceptTok(lex.Comma) {
			break
		}
	}
	p.expectTok(lex.RParen)
}

func (p *parser) likeClause() ast.LikeClause {
	p.expect(lex.KwLike)
	l := ast.LikeClause{Table: p.qualifiedName()}
	for p.kw(lex.KwIncluding) || p.kw(lex.KwExcluding) {
		o := p.takeName() + " "
		if p.tok.Kind != lex.Word {
			p.syntaxError()
		}
		switch p.tok.Kw {
		case lex.KwAll, lex.KwComments, lex.KwCompression, lex.KwConstraints, lex.KwDefaults, lex.KwGenerated,
			lex.KwIdentity, lex.KwIndexes, lex.KwStatistics, lex.KwStorage:
			l.Options = append(l.Options, o+p.takeName())
		default:
			p.syntaxError()
		}
	}
	return l
}

var serialTypes = map[string]string{
	"serial": "int4", "serial4": "int4",
	"bigserial": "int8", "serial8": "int8",
	"smallserial": "int2", "serial2": "int2",
}

func (p *parser) createIndex(pos int) ast.Stmt {
	s := &ast.CreateIndex{Pos: pos, Unique: p.accept(lex.KwUnique)}
	p.expect(lex.KwIndex)
	s.Concurrently = p.accept(lex.KwConcurrently)
	s.IfNotExists = p.ifNotExists()
	if !p.kw(lex.KwOn) || s.IfNotExists {
		s.Name = p.colID()
	}
	p.expect(lex.KwOn)
	s.Table = p.relation().Name
	if p.accept(lex.KwUsing) {
		s.Method = p.colID()
	}
	p.expectTok(lex.LParen)
	s.Columns = p.indexColumns()
	p.expectTok(lex.RParen)
	if p.accept(lex.KwInclude) {
		p.expectTok(lex.LParen)
		for _, c := range p.indexColumns() {
			r, ok := c.Expr.(*ast.ColumnRef)
			if !ok {
				p.errorf(pgerr.FeatureNotSupported, c.Expr.Position(), "expressions are not supported in included columns")
			}
			s.Include = append(s.Include, r.Parts[0])
		}
		p.expectTok(lex.RParen)
	}
	if p.kw(lex.KwNulls) {
		p.advance()
		s.NullsNotDistinct = p.accept(lex.KwNot)
		p.expect(lex.KwDistinct)
	}
	if p.kw(lex.KwWith) {
		p.advance()
		p.relOptions()
	}
	if p.accept(lex.KwTablespace) {
		p.colID()
	}
	if p.accept(lex.KwWhere) {
		s.Where = p.expr()
	}
	return s
}

// indexColumns parses column or expression [COLLATE c] [opclass] [ASC|DESC] [NULLS ..].
func (p *parser) indexColumns() []ast.IndexColumn {
	var list []ast.IndexColumn
	for {
		list = append(list, p.indexColumn())
		if !p.acceptTok(lex.Comma) {
			return list
		}
	}
}

func (p *parser) indexColumn() ast.IndexColumn {
	var c ast.IndexColumn
	pos := p.pos()
	next := p.peek(1).Kind
	switch {
	case p.is(lex.LParen):
		p.advance()
		c.Expr = p.expr()
		p.expectTok(lex.RParen)
	case isColID(&p.tok) && next != lex.LParen && next != lex.Dot:
		c.Expr = &ast.ColumnRef{Pos: ast.Pos(pos), Parts: []string{p.takeName()}}
	default:
		e := p.primary()
		if _, ok := e.(*ast.FuncCall); !ok {
			if _, ok := e.(*ast.Cast); !ok {
				p.syntaxError()
			}
		}
		c.Expr = e
	}
	if p.accept(lex.KwCollate) {
		c.Collation = p.qualifiedName().Name
	}
	if isColID(&p.tok) && !p.kw(lex.KwNulls) && !p.kw(lex.KwInclude) {
		c.OpClass = p.qualifiedName().Name
		if p.is(lex.LParen) {
			p.relOptions()
		}
	}
	if !p.accept(lex.KwAsc) {
		c.Desc = p.accept(lex.KwDesc)
	}
	c.NullsFirst = p.nullsOrder()
	return c
}
