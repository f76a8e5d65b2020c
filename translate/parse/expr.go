package parse

import (
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/lex"
	"github.com/eiderdb/eider/translate/pgerr"
)

// Precedences, from PostgreSQL's grammar; a higher one binds tighter.
const (
	precOr = iota + 1
	precAnd
	precNot
	precIs
	precCompare // does not chain
	precIn      // BETWEEN, IN, LIKE, ILIKE, SIMILAR and their NOT; does not chain
	precOp
	precAdd
	precMul
	precPower
	precAt
	precCollate
	precUnary
	precCast
)

// expr parses a_expr.
func (p *parser) expr() ast.Expr { return p.exprPrec(0, false) }

// bExpr parses b_expr: no AND, OR, NOT, IN, LIKE, BETWEEN, IS tests but DISTINCT.
func (p *parser) bExpr() ast.Expr { return p.exprPrec(0, true) }

func (p *parser) exprPrec(minPrec int, b bool) ast.Expr {
	p.enter()
	e := p.infix(p.prefix(b), minPrec, b)
	p.leave()
	return e
}

// prefix parses prefix operators and the operand.
func (p *parser) prefix(b bool) ast.Expr {
	pos := p.pos()
	switch p.tok.Kind {
	case lex.Plus, lex.Minus:
		op := p.text()
		p.advance()
		return p.unary(pos, op, p.exprPrec(precUnary, b))
	case lex.Op:
		op := p.text()
		p.advance()
		return p.unary(pos, op, p.exprPrec(precOp+1, b))
	case lex.Word:
		switch {
		case p.tok.Kw == lex.KwNot && !b:
			p.advance()
			return p.unary(pos, "not", p.exprPrec(precNot, false))
		case p.tok.Kw == lex.KwOperator && p.peek(1).Kind == lex.LParen:
			op := p.qualifiedOperator()
			return p.unary(pos, op, p.exprPrec(precOp+1, b))
		case p.tok.Kw == lex.KwDefault && !b:
			p.advance()
			return &ast.Default{Pos: ast.Pos(pos)}
		case p.tok.Kw == lex.KwUnique && !b:
			p.errorf(pgerr.FeatureNotSupported, pos, "UNIQUE predicate is not yet implemented")
		}
	}
	return p.primary()
}

func (p *parser) unary(pos int, op string, e ast.Expr) ast.Expr {
	n := p.unaries.one()
	*n = ast.Unary{Pos: ast.Pos(pos), Op: op, Expr: e}
	return n
}

func (p *parser) cast(pos, opPos int, e ast.Expr, t ast.TypeName) ast.Expr {
	n := p.casts.one()
	*n = ast.Cast{Pos: ast.Pos(pos), OpPos: opPos, Expr: e, Type: t}
	return n
}

// infix parses the operators after left that bind at least as tight as minPrec.
func (p *parser) infix(left ast.Expr, minPrec int, b bool) ast.Expr {
	noChain := 0 // precedence of the last operator if it does not chain
	for n := 0; ; n++ {
		op, prec := "", 0
		pos := p.pos()
		switch p.tok.Kind {
		case lex.Plus:
			op, prec = "+", precAdd
		case lex.Minus:
			op, prec = "-", precAdd
		case lex.Star:
			op, prec = "*", precMul
		case lex.Slash:
			op, prec = "/", precMul
		case lex.Percent:
			op, prec = "%", precMul
		case lex.Caret:
			op, prec = "^", precPower
		case lex.Less:
			op, prec = "<", precCompare
		case lex.Greater:
			op, prec = ">", precCompare
		case lex.Equal:
			op, prec = "=", precCompare
		case lex.LessEqual:
			op, prec = "<=", precCompare
		case lex.GreaterEqual:
			op, prec = ">=", precCompare
		case lex.NotEqual:
			op, prec = "<>", precCompare
		case lex.Op:
			op, prec = p.text(), precOp
		case lex.TypeCast:
			if precCast < minPrec {
				return left
			}
			p.link(n)
			p.advance()
			left = p.cast(left.Position(), pos, left, p.typeName())
			noChain = 0
			continue
		case lex.Word:
			if p.tok.Kw == lex.KwOperator {
				if p.peek(1).Kind != lex.LParen || precOp < minPrec {
					return left
				}
				op, prec = p.qualifiedOperator(), precOp
				left = p.binary(left, op, pos, prec, b)
				p.link(n)
				noChain = 0
				continue
			}
			kp, assoc := p.wordPrec(left, b)
			if kp == 0 || kp < minPrec {
				return left
			}
			if kp == noChain {
				p.syntaxError()
			}
			if p.depth == p.targetDepth && p.atLabel() {
				return left
			}
			if kp == precAnd || kp == precOr {
				left = p.chain(left, kp)
				noChain = 0
				continue
			}
			p.link(n)
			left = p.wordInfix(left, b)
			noChain = 0
			if assoc {
				continue
			}
			if endsInOperand(left) {
				noChain = kp
			}
			continue
		default:
			return left
		}
		if prec < minPrec {
			return left
		}
		if prec == noChain {
			p.syntaxError()
		}
		p.link(n)
		p.advance()
		noChain = 0
		if prec == precCompare {
			noChain = precCompare
		}
		left = p.binary(left, op, pos, prec, b)
		if _, ok := left.(*ast.Quantified); ok {
			noChain = 0
		}
	}
}

// binary parses the right side of an operator: an operand, or ANY and ALL.
func (p *parser) binary(left ast.Expr, op string, pos, prec int, b bool) ast.Expr {
	if op == "!=" {
		op = "<>"
	}
	if p.tok.Kind == lex.Word && !b && (p.tok.Kw == lex.KwAny || p.tok.Kw == lex.KwSome || p.tok.Kw == lex.KwAll) {
		return p.quantified(left, op, pos)
	}
	right := p.exprPrec(prec+1, b)
	n := p.bins.one()
	*n = ast.Binary{Pos: ast.Pos(left.Position()), Op: op, OpPos: pos, Left: left, Right: right}
	return n
}

// quantified parses ANY|SOME|ALL (array or query).
func (p *parser) quantified(left ast.Expr, op string, pos int) ast.Expr {
	q := &ast.Quantified{Pos: ast.Pos(left.Position()), Left: left, Op: op, OpPos: pos, All: p.kw(lex.KwAll)}
	p.advance()
	if !p.is(lex.LParen) {
		p.syntaxError()
	}
	items, query := p.parenItems()
	if query != nil {
		q.Query = query
		return q
	}
	if len(items) != 1 {
		p.syntaxError()
	}
	q.Array = items[0]
	return q
}

// chain parses left AND x AND y … (or OR). Long chains become balanced trees: both
// operators are associative, and evaluation stays left to right.
func (p *parser) chain(left ast.Expr, prec int) ast.Expr {
	kw, op := lex.KwAnd, "and"
	if prec == precOr {
		kw, op = lex.KwOr, "or"
	}
	base, opBase := len(p.stack), len(p.ops)
	p.stack = append(p.stack, left)
	for p.kw(kw) {
		p.ops = append(p.ops, p.pos())
		p.advance()
		e := p.exprPrec(prec+1, false)
		p.stack = append(p.stack, e)
	}
	e := p.join(op, p.stack[base:], p.ops[opBase:])
	p.stack, p.ops = p.stack[:base], p.ops[:opBase]
	return e
}

// longChain is the number of operands from which a chain is balanced.
const longChain = 64

func (p *parser) join(op string, items []ast.Expr, ops []int) ast.Expr {
	if len(items) <= longChain {
		e := items[0]
		for i, r := range items[1:] {
			e = p.newBinary(op, e, r, ops[i])
		}
		return e
	}
	mid := len(items) / 2
	l := p.join(op, items[:mid], ops[:mid-1])
	r := p.join(op, items[mid:], ops[mid:])
	return p.newBinary(op, l, r, ops[mid-1])
}

func (p *parser) newBinary(op string, l, r ast.Expr, pos int) ast.Expr {
	n := p.bins.one()
	*n = ast.Binary{Pos: ast.Pos(l.Position()), Op: op, OpPos: pos, Left: l, Right: r}
	return n
}

// wordPrec returns the precedence of the operator that the current keyword starts, or 0
// if it starts none. assoc is set for those that chain.
func (p *parser) wordPrec(left ast.Expr, b bool) (prec int, assoc bool) {
	kw := p.tok.Kw
	if b {
		if kw == lex.KwIs {
			return precIs, false
		}
		return 0, false
	}
	switch kw {
	case lex.KwAnd:
		return precAnd, true
	case lex.KwOr:
		return precOr, true
	case lex.KwIs:
		return precIs, false
	case lex.KwIsnull, lex.KwNotnull:
		return precIs, true
	case lex.KwBetween, lex.KwIn, lex.KwLike, lex.KwIlike:
		return precIn, false
	case lex.KwSimilar:
		// SUBSTRING(a SIMILAR b ESCAPE c) has no TO.
		if p.inSubstring == p.depth && !p.peekKw(1, lex.KwTo) {
			return 0, false
		}
		return precIn, false
	case lex.KwNot:
		t := p.peek(1)
		if t.Kind == lex.Word {
			switch t.Kw {
			case lex.KwBetween, lex.KwIn, lex.KwLike, lex.KwIlike, lex.KwSimilar:
				return precIn, false
			}
		}
	case lex.KwAt:
		if p.peekKw(1, lex.KwTime) {
			return precAt, true
		}
	case lex.KwCollate:
		return precCollate, true
	case lex.KwOverlaps:
		if _, ok := left.(*ast.RowExpr); ok {
			return precOp, true
		}
	}
	return 0, false
}

// atLabel reports whether the operator keyword at hand, behind an expression of a select
// list, is a column label: then the expression ends behind it.
func (p *parser) atLabel() bool {
	if !p.tok.Kw.BareLabel() || p.tok.Kw == lex.KwNot {
		return false
	}
	t := p.peek(1)
	return t.Kind == lex.Comma || endsTargets(t)
}

// endsInOperand reports whether the text of an IS, IN, LIKE or BETWEEN test ends in an
// operand, after which an operator of the same precedence cannot follow.
func endsInOperand(e ast.Expr) bool {
	switch e.(type) {
	case *ast.In, *ast.IsTest, *ast.Quantified, *ast.FuncCall:
		return false
	}
	return true
}

// wordInfix parses an operator that is a keyword.
func (p *parser) wordInfix(left ast.Expr, b bool) ast.Expr {
	start := ast.Pos(left.Position())
	pos := p.pos()
	not := false
	if p.kw(lex.KwNot) {
		not = true
		p.advance()
	}
	kw := p.tok.Kw
	p.advance()
	switch kw {
	case lex.KwIs:
		return p.isTest(left, pos, b)
	case lex.KwIsnull:
		return &ast.IsTest{Pos: start, Expr: left, Test: "null"}
	case lex.KwNotnull:
		return &ast.IsTest{Pos: start, Expr: left, Test: "null", Not: true}
	case lex.KwBetween:
		n := &ast.Between{Pos: start, Expr: left, OpPos: pos, Not: not}
		n.Symmetric = p.accept(lex.KwSymmetric)
		if !n.Symmetric {
			p.accept(lex.KwAsymmetric)
		}
		n.Lo = p.bExpr()
		p.expect(lex.KwAnd)
		n.Hi = p.exprPrec(precIn+1, false)
		return n
	case lex.KwIn:
		n := &ast.In{Pos: start, Expr: left, OpPos: pos, Not: not}
		if !p.is(lex.LParen) {
			p.syntaxError()
		}
		n.List, n.Query = p.parenItems()
		return n
	case lex.KwLike, lex.KwIlike:
		if p.tok.Kind == lex.Word && (p.tok.Kw == lex.KwAny || p.tok.Kw == lex.KwSome || p.tok.Kw == lex.KwAll) {
			return p.quantified(left, likeOperator(kw, not), pos)
		}
		n := &ast.Like{Pos: start, Kind: kw.String(), OpPos: pos, Not: not, Expr: left}
		p.pattern(n)
		return n
	case lex.KwSimilar:
		p.expect(lex.KwTo)
		n := &ast.Like{Pos: start, Kind: "similar", OpPos: pos, Not: not, Expr: left}
		p.pattern(n)
		return n
	case lex.KwAt:
		p.expect(lex.KwTime)
		p.expect(lex.KwZone)
		return &ast.AtTimeZone{Pos: start, Expr: left, OpPos: pos, Zone: p.exprPrec(precAt+1, false)}
	case lex.KwCollate:
		return &ast.Collate{Pos: start, Expr: left, OpPos: pos, Collation: p.qualifiedName()}
	case lex.KwOverlaps:
		return p.overlaps(left.(*ast.RowExpr), pos)
	}
	p.syntaxError()
	return nil
}

func likeOperator(kw lex.Keyword, not bool) string {
	op := "~~"
	if kw == lex.KwIlike {
		op = "~~*"
	}
	if not {
		return "!" + op
	}
	return op
}

func (p *parser) pattern(n *ast.Like) {
	n.Pattern = p.exprPrec(precIn+1, false)
	if p.accept(lex.KwEscape) {
		n.Escape = p.exprPrec(precIn+1, false)
	}
}

// isTest parses what follows IS.
func (p *parser) isTest(left ast.Expr, pos int, b bool) ast.Expr {
	start := ast.Pos(left.Position())
	not := p.accept(lex.KwNot)
	if p.tok.Kind != lex.Word {
		p.syntaxError()
	}
	kw := p.tok.Kw
	switch kw {
	case lex.KwNull, lex.KwTrue, lex.KwFalse, lex.KwUnknown:
		if b {
			p.syntaxError()
		}
		p.advance()
		return &ast.IsTest{Pos: start, Expr: left, Test: kw.String(), Not: not}
	case lex.KwDistinct:
		p.advance()
		p.expect(lex.KwFrom)
		op := "is distinct from"
		if not {
			op = "is not distinct from"
		}
		return p.newBinary(op, left, p.exprPrec(precIs+1, b), pos)
	case lex.KwDocument:
		p.unsupported(pos, "IS DOCUMENT")
	case lex.KwNormalized, lex.KwNfc, lex.KwNfd, lex.KwNfkc, lex.KwNfkd:
		if b {
			p.syntaxError()
		}
		args := []ast.Expr{left}
		if kw != lex.KwNormalized {
			args = append(args, p.wordLiteral(kw.String()))
			p.advance()
		}
		p.expect(lex.KwNormalized)
		var e ast.Expr = &ast.FuncCall{Pos: start, Name: sysName(pos, "is_normalized"), Args: args, Special: true}
		if not {
			e = &ast.Unary{Pos: start, Op: "not", Expr: e}
		}
		return e
	}
	p.syntaxError()
	return nil
}

// wordLiteral is a string literal made of a keyword at the current position.
func (p *parser) wordLiteral(s string) ast.Expr {
	return &ast.Literal{Pos: ast.Pos(p.pos()), Kind: ast.LitString, Text: s, Slot: -1}
}

func (p *parser) overlaps(left *ast.RowExpr, pos int) ast.Expr {
	if !p.is(lex.LParen) && !p.kw(lex.KwRow) {
		p.syntaxError()
	}
	right, ok := p.primary().(*ast.RowExpr)
	if !ok {
		p.syntaxError()
	}
	if len(left.Items) != 2 {
		p.errorf(codeSyntax, int(left.Pos), "wrong number of parameters on left side of OVERLAPS expression")
	}
	if len(right.Items) != 2 {
		p.errorf(codeSyntax, int(right.Pos), "wrong number of parameters on right side of OVERLAPS expression")
	}
	args := append(append([]ast.Expr{}, left.Items...), right.Items...)
	return &ast.FuncCall{Pos: left.Pos, Name: sysName(pos, "overlaps"), Args: args, Special: true}
}

// qualifiedOperator parses OPERATOR(schema.op) and returns the symbol.
func (p *parser) qualifiedOperator() string {
	p.expect(lex.KwOperator)
	p.expectTok(lex.LParen)
	for isColID(&p.tok) {
		p.advance()
		p.expectTok(lex.Dot)
	}
	op := p.operatorSymbol()
	p.expectTok(lex.RParen)
	return op
}

// operatorSymbol parses any operator token.
func (p *parser) operatorSymbol() string {
	switch p.tok.Kind {
	case lex.Op, lex.Plus, lex.Minus, lex.Star, lex.Slash, lex.Percent, lex.Caret, lex.Less, lex.Greater,
		lex.Equal, lex.LessEqual, lex.GreaterEqual, lex.NotEqual:
	default:
		p.syntaxError()
	}
	op := p.text()
	p.advance()
	if op == "!=" {
		op = "<>"
	}
	return op
}

// exprList parses expr [, ...].
func (p *parser) exprList() []ast.Expr {
	base := len(p.stack)
	for {
		e := p.expr()
		p.stack = append(p.stack, e)
		if !p.acceptTok(lex.Comma) {
			return p.popList(base)
		}
	}
}

// popList takes the items above base off the stack into a list of their own.
func (p *parser) popList(base int) []ast.Expr {
	l := p.exprs.list(p.stack[base:])
	p.stack = p.stack[:base]
	return l
}

// atQuery reports whether a query starts at the current token, not counting parentheses.
func (p *parser) atQuery() bool {
	if p.tok.Kind != lex.Word {
		return false
	}
	switch p.tok.Kw {
	case lex.KwSelect, lex.KwWith, lex.KwTable:
		return true
	case lex.KwValues:
		return p.peek(1).Kind == lex.LParen
	}
	return false
}

// atQueryTail reports whether a query in parentheses goes on after them.
func (p *parser) atQueryTail() bool {
	if p.tok.Kind != lex.Word {
		return false
	}
	switch p.tok.Kw {
	case lex.KwUnion, lex.KwIntersect, lex.KwExcept, lex.KwOrder, lex.KwLimit, lex.KwOffset, lex.KwFetch, lex.KwFor:
		return true
	}
	return false
}

// parenItems parses what stands in parentheses: a query, or a list of expressions. What
// a second opening parenthesis means is only known after its closing one.
func (p *parser) parenItems() ([]ast.Expr, *ast.Select) {
	p.enter()
	defer p.leave()
	p.expectTok(lex.LParen)
	if p.atQuery() {
		q := p.query()
		p.expectTok(lex.RParen)
		return nil, q
	}
	var first ast.Expr
	if p.is(lex.LParen) {
		pos := p.pos()
		items, q := p.parenItems()
		switch {
		case q != nil && p.atQueryTail():
			q = p.queryFrom(q)
			p.expectTok(lex.RParen)
			return nil, q
		case q != nil && p.is(lex.RParen):
			p.advance()
			return nil, q
		}
		first = p.infix(p.parenValue(pos, items, q), 0, false)
	} else {
		first = p.expr()
	}
	base := len(p.stack)
	p.stack = append(p.stack, first)
	for p.acceptTok(lex.Comma) {
		e := p.listItem()
		p.stack = append(p.stack, e)
	}
	p.expectTok(lex.RParen)
	return p.popList(base), nil
}

// listItem parses one expression of a list, most of which are plain constants.
func (p *parser) listItem() ast.Expr {
	if p.isLiteral() {
		lit := p.literal()
		if p.is(lex.Comma) || p.is(lex.RParen) {
			return lit
		}
		p.enter()
		e := p.infix(lit, 0, false)
		p.leave()
		return e
	}
	return p.expr()
}

// parenValue makes an expression of the contents of parentheses.
func (p *parser) parenValue(pos int, items []ast.Expr, q *ast.Select) ast.Expr {
	switch {
	case q != nil:
		return p.indirection(&ast.Subquery{Pos: ast.Pos(pos), Query: q})
	case len(items) == 1:
		return p.indirection(items[0])
	}
	return &ast.RowExpr{Pos: ast.Pos(pos), Items: items}
}
