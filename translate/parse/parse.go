package parse

import (
	"strconv"
	"strings"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/lex"
	"github.com/eiderdb/eider/translate/pgerr"
)

// Limits bounds what Parse accepts. Zero fields mean the defaults.
type Limits struct {
	// Bytes is the longest text of a batch; 0: no limit but the lexer's own.
	Bytes int
	// Depth is how deep expressions, queries and joins may nest; 0: DefaultDepth.
	Depth int
}

// DefaultDepth is the nesting allowed when Limits.Depth is 0.
const DefaultDepth = 4000

// maxLinks bounds the operators of a statement that lean left beyond the first few of
// each chain, because later passes descend through them.
const maxLinks = 50_000

// Parse parses a batch: any number of statements separated by semicolons. The error is
// a *pgerr.Error with its position.
func Parse(sql string, lim Limits) ([]ast.Parsed, error) {
	var p parser
	if err := p.init(sql, lim); err != nil {
		return nil, err
	}
	return p.batch()
}

// Next parses the statement at or after the byte offset start, and returns the offset
// behind its semicolon. ok is false when there is none left. The text must have passed
// lex.Check.
func Next(sql string, start int, lim Limits) (st ast.Parsed, next int, ok bool, err error) {
	var p parser
	p.limits(lim)
	p.lx.Src, p.lx.Pos = sql, start
	return p.one()
}

// ParseExpr parses one expression, as stored for DEFAULT and CHECK.
func ParseExpr(sql string) (ast.Expr, error) {
	var p parser
	if err := p.init(sql, Limits{}); err != nil {
		return nil, err
	}
	return p.wholeExpr()
}

// ParseType parses a type name, as in a cast or to_regtype.
func ParseType(sql string) (ast.TypeName, error) {
	var p parser
	if err := p.init(sql, Limits{}); err != nil {
		return ast.TypeName{}, err
	}
	return p.wholeType()
}

// ParseQuery parses one query, as stored for a view.
func ParseQuery(sql string) (*ast.Select, error) {
	list, err := Parse(sql, Limits{})
	if err != nil {
		return nil, err
	}
	if len(list) == 1 {
		if q, ok := list[0].Stmt.(*ast.Select); ok {
			return q, nil
		}
	}
	return nil, pgerr.New(pgerr.SyntaxError, "a query is expected")
}

// bailout carries a syntax error out of the parser.
type bailout struct{ err *pgerr.Error }

// catch turns a bailout into *err.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case bailout:
		*err = r.err
	default:
		panic(r)
	}
}

type parser struct {
	lx    lex.Lexer
	tok   lex.Token
	ahead [5]lex.Token // tokens after tok that were already scanned
	nextN int
	prev  int // end of the token before tok

	maxDepth int
	depth    int
	links    int
	// targetDepth is the depth of the select-list expression being parsed, inSubstring
	// that of SUBSTRING's first argument; 0: none.
	targetDepth int
	inSubstring int
	fieldsPos   int  // of the last interval fields
	windowless  bool // the next call may have no OVER, FILTER or WITHIN GROUP

	slot   int // literal tokens before tok
	params int
	fixed  []int

	stack []ast.Expr // items of the lists being parsed
	ops   []int      // positions of the operators of the chains being parsed

	lits  slab[ast.Literal]
	exprs slab[ast.Expr]
	refs  slab[ast.ColumnRef]
	names slab[string]
	bins  slab[ast.Binary]

	unaries slab[ast.Unary]
	casts   slab[ast.Cast]
}

func (p *parser) limits(lim Limits) {
	p.maxDepth = lim.Depth
	if p.maxDepth <= 0 {
		p.maxDepth = DefaultDepth
	}
}

func (p *parser) init(sql string, lim Limits) error {
	p.limits(lim)
	if lim.Bytes > 0 && len(sql) > lim.Bytes {
		return pgerr.New(pgerr.ProgramLimitExceeded, "statement of %d bytes is longer than the allowed %d", len(sql), lim.Bytes)
	}
	if err := lex.Check(sql); err != nil {
		return err
	}
	p.lx.Src = sql
	return nil
}

func (p *parser) batch() (list []ast.Parsed, err error) {
	defer catch(&err)
	p.advance()
	for {
		for p.tok.Kind == lex.Semicolon {
			p.advance()
		}
		if p.tok.Kind == lex.EOF {
			return list, nil
		}
		list = append(list, p.statement())
	}
}

func (p *parser) one() (st ast.Parsed, next int, ok bool, err error) {
	defer catch(&err)
	p.advance()
	for p.tok.Kind == lex.Semicolon {
		p.advance()
	}
	if p.tok.Kind == lex.EOF {
		return st, len(p.lx.Src), false, nil
	}
	st = p.statement()
	next = int(p.tok.End)
	return st, next, true, nil
}

func (p *parser) wholeExpr() (e ast.Expr, err error) {
	defer catch(&err)
	p.advance()
	e = p.expr()
	p.expectEnd()
	return e, nil
}

func (p *parser) wholeType() (t ast.TypeName, err error) {
	defer catch(&err)
	p.advance()
	t = p.typeName()
	p.expectEnd()
	return t, nil
}

func (p *parser) expectEnd() {
	if p.tok.Kind != lex.EOF {
		p.syntaxError()
	}
}

// statement parses one statement and the end of it.
func (p *parser) statement() ast.Parsed {
	p.slot, p.params, p.fixed, p.links, p.depth = 0, 0, nil, 0, 0
	if p.isLiteral() {
		p.slot = 0
	}
	st := ast.Parsed{Start: int(p.tok.Start)}
	st.Stmt = p.stmt()
	if p.tok.Kind != lex.Semicolon && p.tok.Kind != lex.EOF {
		p.syntaxError()
	}
	st.End, st.Params, st.Slots, st.Fixed = p.prev, p.params, p.slot, p.fixed
	return st
}

// --- tokens

func (p *parser) isLiteral() bool {
	switch p.tok.Kind {
	case lex.Integer, lex.Numeric, lex.String, lex.Bit, lex.Hex:
		return true
	}
	return false
}

func (p *parser) advance() {
	p.prev = int(p.tok.End)
	if p.isLiteral() {
		p.slot++
	}
	if p.nextN > 0 {
		p.tok = p.ahead[0]
		copy(p.ahead[:], p.ahead[1:])
		p.nextN--
	} else {
		p.lx.Next(&p.tok)
	}
	if p.tok.Kind == lex.Invalid {
		p.fail(p.lx.Err)
	}
	if p.tok.Kind == lex.String && (p.tok.Form == lex.Escape || p.tok.Form == lex.Unicode) {
		p.value() // reports a wrong escape before what the grammar says of the token
	}
}

// peek returns the n-th token after the current one, from 1.
func (p *parser) peek(n int) *lex.Token {
	for p.nextN < n {
		t := &p.ahead[p.nextN]
		p.lx.Next(t)
		if t.Kind == lex.Invalid {
			p.fail(p.lx.Err)
		}
		p.nextN++
	}
	return &p.ahead[n-1]
}

// kw reports whether the current token is the keyword k.
func (p *parser) kw(k lex.Keyword) bool { return p.tok.Kind == lex.Word && p.tok.Kw == k }

func (p *parser) peekKw(n int, k lex.Keyword) bool {
	t := p.peek(n)
	return t.Kind == lex.Word && t.Kw == k
}

// accept skips the keyword k if it is next.
func (p *parser) accept(k lex.Keyword) bool {
	if p.kw(k) {
		p.advance()
		return true
	}
	return false
}

// accept2 skips two keywords if both are next.
func (p *parser) accept2(a, b lex.Keyword) bool {
	if p.kw(a) && p.peekKw(1, b) {
		p.advance()
		p.advance()
		return true
	}
	return false
}

// committed skips the keyword a if it is next, and then b, which must follow it.
func (p *parser) committed(a, b lex.Keyword) bool {
	if !p.accept(a) {
		return false
	}
	p.expect(b)
	return true
}

func (p *parser) expect(k lex.Keyword) {
	if !p.accept(k) {
		p.syntaxError()
	}
}

func (p *parser) is(k lex.Kind) bool { return p.tok.Kind == k }

func (p *parser) acceptTok(k lex.Kind) bool {
	if p.tok.Kind == k {
		p.advance()
		return true
	}
	return false
}

func (p *parser) expectTok(k lex.Kind) {
	if p.tok.Kind != k {
		p.syntaxError()
	}
	p.advance()
}

func (p *parser) pos() int { return int(p.tok.Start) }

func (p *parser) text() string { return p.lx.Src[p.tok.Start:p.tok.End] }

// value returns the current token's value.
func (p *parser) value() string {
	v := p.lx.Value(&p.tok)
	if p.lx.Err != nil {
		p.fail(p.lx.Err)
	}
	return v
}

// --- errors

func (p *parser) fail(err *pgerr.Error) { panic(bailout{err}) }

// syntaxError reports the current token.
func (p *parser) syntaxError() {
	p.fail(lex.Near(p.lx.Src, int(p.tok.Start), int(p.tok.End), "syntax error"))
}

// errorf fails with a message at a byte offset.
func (p *parser) errorf(code string, pos int, format string, args ...any) {
	p.fail(pgerr.New(code, format, args...).At(p.lx.Src, pos))
}

// unsupported fails for valid SQL that has no tree.
func (p *parser) unsupported(pos int, feature string) {
	p.errorf(pgerr.FeatureNotSupported, pos, "%s is not supported", feature)
}

// enter counts one level of nesting; leave ends it.
func (p *parser) enter() {
	p.depth++
	if p.depth > p.maxDepth {
		p.tooDeep()
	}
}

func (p *parser) leave() { p.depth-- }

func (p *parser) tooDeep() {
	p.fail(pgerr.New(pgerr.StatementTooComplex, "stack depth limit exceeded").
		WithHint("The statement nests deeper than the %d levels that are allowed.", p.maxDepth))
}

// link counts the n-th operator of a chain that leans left.
func (p *parser) link(n int) {
	if n > 64 {
		p.links++
		if p.links > maxLinks {
			p.tooDeep()
		}
	}
}

// --- names

// colID reports whether the current token can name a column or table.
func isColID(t *lex.Token) bool {
	return t.Kind == lex.Quoted || (t.Kind == lex.Word && (t.Kw == lex.NoKeyword || t.Kw.Class() <= lex.ColName))
}

// isTypeFuncName reports whether t can name a type or function.
func isTypeFuncName(t *lex.Token) bool {
	if t.Kind == lex.Quoted {
		return true
	}
	if t.Kind != lex.Word {
		return false
	}
	return t.Kw == lex.NoKeyword || t.Kw.Class() == lex.Unreserved || t.Kw.Class() == lex.TypeFunc
}

func isLabel(t *lex.Token) bool { return t.Kind == lex.Word || t.Kind == lex.Quoted }

func isBareLabel(t *lex.Token) bool {
	return t.Kind == lex.Quoted || (t.Kind == lex.Word && (t.Kw == lex.NoKeyword || t.Kw.BareLabel()))
}

// colID parses a column or table name.
func (p *parser) colID() string {
	if !isColID(&p.tok) {
		p.syntaxError()
	}
	return p.takeName()
}

// label parses any word, as after AS or a dot.
func (p *parser) label() string {
	if !isLabel(&p.tok) {
		p.syntaxError()
	}
	return p.takeName()
}

func (p *parser) takeName() string {
	v := p.value()
	p.advance()
	return v
}

// nonReservedWord parses an identifier that may be any keyword but a reserved one.
func (p *parser) nonReservedWord() string {
	if p.tok.Kind != lex.Quoted && (p.tok.Kind != lex.Word || (p.tok.Kw != lex.NoKeyword && p.tok.Kw.Class() == lex.Reserved)) {
		p.syntaxError()
	}
	return p.takeName()
}

// qualifiedName parses [[catalog.]schema.]name.
func (p *parser) qualifiedName() ast.Name {
	n := ast.Name{Pos: p.pos(), Name: p.colID()}
	p.restOfName(&n)
	return n
}

// anyName is a qualified name whose first part may not be told from a column's.
func (p *parser) restOfName(n *ast.Name) {
	start := n.Pos
	for parts := 1; p.is(lex.Dot); parts++ {
		p.advance()
		l := p.label()
		switch parts {
		case 1, 2:
			n.Catalog, n.Schema, n.Name = n.Schema, n.Name, l
		default:
			names := []string{n.Catalog, n.Schema, n.Name, l}
			for p.acceptTok(lex.Dot) {
				names = append(names, p.label())
			}
			p.tooManyNames(start, names)
		}
	}
}

func (p *parser) tooManyNames(pos int, names []string) {
	p.errorf(codeSyntax, pos, "improper qualified name (too many dotted names): %s", strings.Join(names, "."))
}

// nameList parses name [, ...] of column names.
func (p *parser) nameList() []string {
	list := []string{p.colID()}
	for p.acceptTok(lex.Comma) {
		list = append(list, p.colID())
	}
	return list
}

// parenNames parses (name, ...).
func (p *parser) parenNames() []string {
	p.expectTok(lex.LParen)
	l := p.nameList()
	p.expectTok(lex.RParen)
	return l
}

func (p *parser) qualifiedNames() []ast.Name {
	list := []ast.Name{p.qualifiedName()}
	for p.acceptTok(lex.Comma) {
		list = append(list, p.qualifiedName())
	}
	return list
}

// --- constants that are not expressions

// str parses a string constant whose value becomes part of the statement's structure.
func (p *parser) str() string {
	if p.tok.Kind != lex.String {
		p.syntaxError()
	}
	p.fix()
	return p.takeName()
}

// integer parses an int4 constant that becomes part of the statement's structure.
func (p *parser) integer() int64 {
	n, ok := p.int4()
	if !ok {
		p.syntaxError()
	}
	p.fix()
	p.advance()
	return n
}

// int4 reads the current token as an int4 constant.
func (p *parser) int4() (int64, bool) {
	if p.tok.Kind != lex.Integer {
		return 0, false
	}
	n, err := strconv.ParseInt(p.text(), 10, 32)
	return n, err == nil
}

// signedInteger parses an int4 constant with an optional sign.
func (p *parser) signedInteger() int64 {
	if p.acceptTok(lex.Minus) {
		return -p.integer()
	}
	p.acceptTok(lex.Plus)
	return p.integer()
}

// fix notes that the current literal is part of the structure of the statement.
func (p *parser) fix() { p.fixed = append(p.fixed, p.slot) }

// failHint fails with a syntax error that carries a hint.
func (p *parser) failHint(pos int, msg, hint string) {
	p.fail(pgerr.New(codeSyntax, "%s", msg).WithHint("%s", hint).At(p.lx.Src, pos))
}
