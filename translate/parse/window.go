package parse

import (
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/lex"
	"github.com/eiderdb/eider/translate/pgerr"
)

// windowSpec parses a window specification in parentheses.
func (p *parser) windowSpec() ast.Window {
	w := ast.Window{Pos: p.pos()}
	p.expectTok(lex.LParen)
	if isColID(&p.tok) && !p.kw(lex.KwPartition) && !p.kw(lex.KwRange) && !p.kw(lex.KwRows) && !p.kw(lex.KwGroups) {
		w.Name = p.colID()
	}
	if p.accept(lex.KwPartition) {
		p.expect(lex.KwBy)
		w.PartitionBy = p.exprList()
	}
	if p.kw(lex.KwOrder) {
		w.OrderBy = p.orderBy()
	}
	if p.kw(lex.KwRange) || p.kw(lex.KwRows) || p.kw(lex.KwGroups) {
		w.Frame = p.frame()
	}
	p.expectTok(lex.RParen)
	return w
}

func (p *parser) frame() *ast.Frame {
	f := &ast.Frame{Mode: p.tok.Kw.String()}
	p.advance()
	if p.accept(lex.KwBetween) {
		pos := p.pos()
		f.Start = p.frameBound()
		p.expect(lex.KwAnd)
		end := p.pos()
		f.End = p.frameBound()
		switch {
		case f.Start.Kind == "unbounded following":
			p.errorf(pgerr.WindowingError, pos, "frame start cannot be UNBOUNDED FOLLOWING")
		case f.End.Kind == "unbounded preceding":
			p.errorf(pgerr.WindowingError, end, "frame end cannot be UNBOUNDED PRECEDING")
		case f.Start.Kind == "current row" && f.End.Kind == "preceding":
			p.errorf(pgerr.WindowingError, end, "frame starting from current row cannot have preceding rows")
		case f.Start.Kind == "following" && (f.End.Kind == "preceding" || f.End.Kind == "current row"):
			p.errorf(pgerr.WindowingError, end, "frame starting from following row cannot have preceding rows")
		}
	} else {
		pos := p.pos()
		f.Start = p.frameBound()
		f.End = ast.FrameBound{Kind: "current row"}
		switch f.Start.Kind {
		case "unbounded following":
			p.errorf(pgerr.WindowingError, pos, "frame start cannot be UNBOUNDED FOLLOWING")
		case "following":
			p.errorf(pgerr.WindowingError, pos, "frame starting from following row cannot end with current row")
		}
	}
	if p.accept(lex.KwExclude) {
		switch {
		case p.committed(lex.KwCurrent, lex.KwRow):
			f.Exclude = "current row"
		case p.accept(lex.KwGroup):
			f.Exclude = "group"
		case p.accept(lex.KwTies):
			f.Exclude = "ties"
		case p.committed(lex.KwNo, lex.KwOthers):
		default:
			p.syntaxError()
		}
	}
	return f
}

func (p *parser) frameBound() ast.FrameBound {
	if p.kw(lex.KwUnbounded) && (p.peekKw(1, lex.KwPreceding) || p.peekKw(1, lex.KwFollowing)) {
		p.advance()
		k := "unbounded " + p.tok.Kw.String()
		p.advance()
		return ast.FrameBound{Kind: k}
	}
	if p.accept2(lex.KwCurrent, lex.KwRow) {
		return ast.FrameBound{Kind: "current row"}
	}
	b := ast.FrameBound{Expr: p.expr()}
	if !p.kw(lex.KwPreceding) && !p.kw(lex.KwFollowing) {
		p.syntaxError()
	}
	b.Kind = p.tok.Kw.String()
	p.advance()
	return b
}
