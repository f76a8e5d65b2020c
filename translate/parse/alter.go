package parse

import (
	"strings"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/lex"
)

func (p *parser) drop() ast.Stmt {
	pos := p.pos()
	p.expect(lex.KwDrop)
	if p.tok.Kind != lex.Word {
		p.syntaxError()
	}
	s := &ast.Drop{Pos: pos, Kind: p.tok.Kw.String()}
	kw := p.tok.Kw
	switch kw {
	case lex.KwTable, lex.KwView, lex.KwSequence, lex.KwSchema, lex.KwType:
		p.advance()
	case lex.KwDomain:
		p.advance()
		s.Kind = "type"
	case lex.KwIndex:
		p.advance()
		s.Concurrently = p.accept(lex.KwConcurrently)
	case lex.KwMaterialized:
		p.advance()
		p.expect(lex.KwView)
		s.Kind = "materialized view"
	case lex.KwDatabase:
		p.advance()
		return p.dropDatabase(pos)
	case lex.KwRole, lex.KwUser, lex.KwGroup, lex.KwFunction, lex.KwProcedure, lex.KwRoutine, lex.KwAggregate,
		lex.KwTrigger, lex.KwRule, lex.KwExtension, lex.KwCast, lex.KwCollation, lex.KwConversion, lex.KwOperator,
		lex.KwPolicy, lex.KwPublication, lex.KwSubscription, lex.KwServer, lex.KwStatistics, lex.KwTablespace,
		lex.KwText, lex.KwAccess, lex.KwForeign, lex.KwEvent, lex.KwOwned, lex.KwLanguage, lex.KwProcedural, lex.KwTransform:
		name := "DROP " + strings.ToUpper(p.text())
		p.advance()
		return p.unsupportedRest(pos, name)
	default:
		p.syntaxError()
	}
	s.IfExists = p.ifExists()
	for {
		if kw == lex.KwSchema {
			s.Names = append(s.Names, ast.Name{Pos: p.pos(), Name: p.colID()})
		} else {
			s.Names = append(s.Names, p.qualifiedName())
		}
		if !p.acceptTok(lex.Comma) {
			break
		}
	}
	s.Cascade = p.dropBehavior()
	return s
}

func (p *parser) dropDatabase(pos int) ast.Stmt {
	s := &ast.DropDatabase{Pos: pos, IfExists: p.ifExists(), Name: p.colID()}
	with := p.accept(lex.KwWith)
	if p.acceptTok(lex.LParen) {
		for {
			p.expect(lex.KwForce)
			s.Force = true
			if !p.acceptTok(lex.Comma) {
				break
			}
		}
		p.expectTok(lex.RParen)
	} else if with {
		p.syntaxError()
	}
	return s
}

func (p *parser) alter() ast.Stmt {
	pos := p.pos()
	p.expect(lex.KwAlter)
	if p.tok.Kind != lex.Word {
		p.syntaxError()
	}
	name := "ALTER " + strings.ToUpper(p.text())
	kw := p.tok.Kw
	switch kw {
	case lex.KwTable, lex.KwView, lex.KwIndex:
		p.advance()
		return p.alterTable(pos, kw.String())
	case lex.KwMaterialized:
		p.advance()
		p.expect(lex.KwView)
		return p.alterTable(pos, "view")
	case lex.KwSchema:
		p.advance()
		s := &ast.AlterSchema{Pos: pos, Name: p.colID()}
		if p.accept(lex.KwOwner) {
			p.expect(lex.KwTo)
			s.Owner = p.nonReservedOrRole()
			return s
		}
		p.expect(lex.KwRename)
		p.expect(lex.KwTo)
		s.NewName = p.colID()
		return s
	case lex.KwDatabase:
		p.advance()
		return p.alterDatabase(pos)
	case lex.KwRole, lex.KwUser, lex.KwGroup, lex.KwFunction, lex.KwProcedure, lex.KwRoutine, lex.KwAggregate,
		lex.KwTrigger, lex.KwRule, lex.KwExtension, lex.KwCollation, lex.KwConversion, lex.KwOperator, lex.KwPolicy,
		lex.KwPublication, lex.KwSubscription, lex.KwServer, lex.KwStatistics, lex.KwTablespace, lex.KwText,
		lex.KwForeign, lex.KwEvent, lex.KwLanguage, lex.KwProcedural, lex.KwSystem, lex.KwDefault, lex.KwLarge,
		lex.KwType, lex.KwDomain, lex.KwSequence:
		p.advance()
		return p.unsupportedRest(pos, name)
	}
	p.syntaxError()
	return nil
}

func (p *parser) alterDatabase(pos int) ast.Stmt {
	s := &ast.AlterDatabase{Pos: pos, Name: p.colID()}
	if p.accept2(lex.KwRename, lex.KwTo) {
		s.NewName = p.colID()
		return s
	}
	switch {
	case p.kw(lex.KwSet) && !p.peekKw(1, lex.KwTablespace):
		set, ok := p.set().(*ast.Set)
		if !ok || set.Local {
			p.syntaxError()
		}
		s.Set = set
		return s
	case p.kw(lex.KwReset):
		s.Reset = p.reset().(*ast.Reset)
		return s
	}
	return p.unsupportedRest(pos, "ALTER DATABASE")
}

func (p *parser) alterTable(pos int, kind string) ast.Stmt {
	s := &ast.AlterTable{Pos: pos, Kind: kind}
	if p.kw(lex.KwAll) && p.peekKw(1, lex.KwIn) {
		return p.unsupportedRest(pos, "ALTER ALL IN TABLESPACE")
	}
	s.IfExists = p.ifExists()
	t := p.relation()
	s.Name, s.Only = t.Name, t.Only
	switch {
	case kind == "index" && p.kw(lex.KwRename):
		a := ast.AlterAction{Pos: p.pos(), Kind: "rename to"}
		p.advance()
		p.expect(lex.KwTo)
		a.NewName = p.colID()
		s.Actions = []ast.AlterAction{a}
		return s
	case p.kw(lex.KwRename):
		s.Actions = []ast.AlterAction{p.renameAction()}
		return s
	case p.kw(lex.KwSet) && p.peekKw(1, lex.KwSchema):
		a := ast.AlterAction{Pos: p.pos(), Kind: "set schema"}
		p.advance()
		p.advance()
		a.NewName = p.colID()
		s.Actions = []ast.AlterAction{a}
		return s
	}
	for {
		a, feature := p.alterAction()
		if feature != "" {
			return p.unsupportedAction(pos, feature)
		}
		s.Actions = append(s.Actions, a)
		if !p.acceptTok(lex.Comma) {
			return s
		}
	}
}

// unsupportedAction skips the rest of an ALTER TABLE with an action that is not done.
func (p *parser) unsupportedAction(pos int, feature string) ast.Stmt {
	return p.unsupportedRest(pos, "ALTER TABLE ... "+feature)
}

func (p *parser) renameAction() ast.AlterAction {
	a := ast.AlterAction{Pos: p.pos()}
	p.expect(lex.KwRename)
	switch {
	case p.accept(lex.KwTo):
		a.Kind, a.NewName = "rename to", p.colID()
		return a
	case p.accept(lex.KwConstraint):
		a.Kind = "rename constraint"
	default:
		a.Kind = "rename column"
		p.accept(lex.KwColumn)
	}
	a.Column = p.colID()
	p.expect(lex.KwTo)
	a.NewName = p.colID()
	return a
}

// alterAction parses one action; feature names one that is recognised but not done, of
// which only the first word was read.
func (p *parser) alterAction() (a ast.AlterAction, feature string) {
	a.Pos = p.pos()
	if p.tok.Kind != lex.Word {
		p.syntaxError()
	}
	switch p.tok.Kw {
	case lex.KwAdd:
		p.advance()
		p.addAction(&a)
	case lex.KwDrop:
		p.advance()
		p.dropAction(&a)
	case lex.KwAlter:
		p.advance()
		return a, p.alterColumn(&a)
	case lex.KwOwner:
		p.advance()
		p.expect(lex.KwTo)
		a.Kind, a.NewName = "owner to", p.nonReservedOrRole()
	case lex.KwValidate, lex.KwSet, lex.KwReset, lex.KwEnable, lex.KwDisable, lex.KwForce, lex.KwNo, lex.KwCluster,
		lex.KwInherit, lex.KwOf, lex.KwNot, lex.KwReplica, lex.KwAttach, lex.KwDetach, lex.KwOptions, lex.KwDepends:
		feature = strings.ToUpper(p.text())
		p.advance()
		if p.tok.Kind == lex.Word && p.tok.Kw != lex.NoKeyword {
			feature += " " + strings.ToUpper(p.text())
		}
	default:
		p.syntaxError()
	}
	return a, feature
}

func (p *parser) addAction(a *ast.AlterAction) {
	if p.atTableConstraint() {
		c := p.tableConstraint()
		a.Kind, a.Constraint = "add constraint", &c
		return
	}
	a.Kind = "add column"
	p.accept(lex.KwColumn)
	a.IfNotExists = p.ifNotExists()
	def := p.columnDef()
	a.Def, a.Column = &def, def.Name
}

func (p *parser) dropAction(a *ast.AlterAction) {
	a.Kind = "drop column"
	if p.accept(lex.KwConstraint) {
		a.Kind = "drop constraint"
	} else {
		p.accept(lex.KwColumn)
	}
	a.IfExists = p.ifExists()
	a.Column = p.colID()
	a.Cascade = p.dropBehavior()
}

// alterColumn parses what follows ALTER; it returns a feature that is not done.
func (p *parser) alterColumn(a *ast.AlterAction) string {
	if p.kw(lex.KwConstraint) {
		return "ALTER CONSTRAINT"
	}
	p.accept(lex.KwColumn)
	if p.is(lex.Integer) {
		return "ALTER COLUMN SET STATISTICS"
	}
	a.Column = p.colID()
	switch {
	case p.kw(lex.KwSet) && p.peekKw(1, lex.KwDefault):
		p.advance()
		p.advance()
		a.Kind = "set default"
		start := p.pos()
		a.Expr = p.expr()
		a.Text = p.lx.Src[start:p.prev]
	case p.accept2(lex.KwDrop, lex.KwDefault):
		a.Kind = "drop default"
	case p.kw(lex.KwSet) && p.peekKw(1, lex.KwNot):
		p.advance()
		p.advance()
		p.expect(lex.KwNull)
		a.Kind = "set not null"
	case p.kw(lex.KwDrop) && p.peekKw(1, lex.KwNot):
		p.advance()
		p.advance()
		p.expect(lex.KwNull)
		a.Kind = "drop not null"
	case p.kw(lex.KwType), p.kw(lex.KwSet) && p.peekKw(1, lex.KwData):
		if p.accept(lex.KwSet) {
			p.expect(lex.KwData)
		}
		p.expect(lex.KwType)
		a.Kind = "set type"
		t := p.typeName()
		a.Type = &t
		if p.accept(lex.KwCollate) {
			a.Collation = p.qualifiedName().Name
		}
		if p.accept(lex.KwUsing) {
			a.Using = p.expr()
		}
	case p.kw(lex.KwSet), p.kw(lex.KwReset), p.kw(lex.KwAdd), p.kw(lex.KwDrop), p.kw(lex.KwRestart):
		f := "ALTER COLUMN " + strings.ToUpper(p.text())
		p.advance()
		if p.tok.Kind == lex.Word {
			f += " " + strings.ToUpper(p.text())
		}
		return f
	default:
		p.syntaxError()
	}
	return ""
}
