package jsonpath

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/eiderdb/eider/translate/pgerr"
)

// Op is what a Node does.
type Op uint8

// The operations of a path.
const (
	Null Op = iota
	True
	False
	String
	Number
	Variable
	Root
	Current
	Last
	Key
	AnyKey
	AnyArray
	Index
	Any // .**
	Filter
	Method
	Add
	Sub
	Mul
	Div
	Mod
	Plus
	Minus
	And
	Or
	Not
	IsUnknown
	Exists
	StartsWith
	LikeRegex
	Equal
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
)

// Node is one step of a path; Next is the accessor applied to its result.
type Node struct {
	Op          Op
	Text        string // string, number, name of key, variable or method; flags of LikeRegex
	Left, Right *Node
	Args        []Range // of Index
	First, Last uint32  // of Any
	Regex       *regexp.Regexp
	Pattern     string
	Next        *Node
}

// Range is one subscript; To is nil for a single one.
type Range struct{ From, To *Node }

// Path is a parsed path.
type Path struct {
	Lax  bool
	Expr *Node
}

// Unbounded stands for "last" in .**{…}.
const Unbounded = math.MaxUint32

const maxDepth = 1000

type parser struct {
	lex     lexer
	tok     token
	ahead   []token
	depth   int
	filter  int // > 0 within a filter: @ is allowed
	indexes int // > 0 within a subscript: last is allowed
}

// Parse reads a path.
func Parse(s string) (p *Path, err error) {
	ps := &parser{lex: lexer{s: s}}
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			p, err = nil, f.err
		}
	}()
	ps.advance()
	if ps.tok.kind == tokEnd {
		return nil, pgerr.New(pgerr.InvalidTextRepresentation, "invalid input syntax for type %s: \"%s\"", "jsonpath", s)
	}
	p = &Path{Lax: true}
	if ps.word("strict") && !ps.endsExpr() {
		p.Lax = false
		ps.advance()
	} else if ps.word("lax") && !ps.endsExpr() {
		ps.advance()
	}
	p.Expr, _ = ps.or()
	if ps.tok.kind != tokEnd {
		ps.fail()
	}
	return p, nil
}

// failure carries an error out of the recursion.
type failure struct{ err error }

func (p *parser) fail() {
	raw := p.tok.raw
	if p.tok.kind == tokIdent && len(p.ahead) == 0 && p.lex.i >= len(p.lex.s) {
		raw = "" // PostgreSQL learns that a word has ended from what follows it
	}
	panic(failure{syntax(raw)})
}

func (p *parser) error(e *pgerr.Error) { panic(failure{e}) }

// endsExpr says that nothing follows the current token.
func (p *parser) endsExpr() bool { return p.peek(0).kind == tokEnd }

func (p *parser) read() token {
	t, err := p.lex.next()
	if err != nil {
		panic(failure{err})
	}
	return t
}

func (p *parser) advance() {
	if len(p.ahead) > 0 {
		p.tok, p.ahead = p.ahead[0], p.ahead[1:]
		return
	}
	p.tok = p.read()
}

func (p *parser) peek(n int) token {
	for len(p.ahead) <= n {
		p.ahead = append(p.ahead, p.read())
	}
	return p.ahead[n]
}

func (p *parser) op(s string) bool { return p.tok.kind == tokOp && p.tok.text == s }

func (p *parser) accept(s string) bool {
	if !p.op(s) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(s string) {
	if !p.accept(s) {
		p.fail()
	}
}

// word says whether the current token is a keyword; true, false and null must be lower case.
func (p *parser) word(s string) bool {
	if p.tok.kind != tokIdent {
		return false
	}
	if s == "true" || s == "false" || s == "null" {
		return p.tok.text == s
	}
	return strings.EqualFold(p.tok.text, s)
}

func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		p.error(pgerr.New(pgerr.StatementTooComplex, "stack depth limit exceeded"))
	}
}

func (p *parser) leave() { p.depth-- }

// or parses the lowest level. Each level says whether what it read is a predicate.
func (p *parser) or() (*Node, bool) {
	p.enter()
	defer p.leave()
	return p.logical("||", Or, func() (*Node, bool) { return p.logical("&&", And, p.not) })
}

func (p *parser) logical(op string, kind Op, next func() (*Node, bool)) (*Node, bool) {
	l, pred := next()
	for p.op(op) {
		if !pred {
			p.fail()
		}
		p.advance()
		r, ok := next()
		if !ok {
			p.fail()
		}
		l = &Node{Op: kind, Left: l, Right: r}
	}
	return l, pred
}

func (p *parser) not() (*Node, bool) {
	if !p.op("!") {
		return p.comparison()
	}
	p.advance()
	// ! takes a predicate in parentheses, or EXISTS.
	var arg *Node
	switch {
	case p.op("("):
		p.advance()
		n, pred := p.or()
		if !pred {
			p.fail()
		}
		p.expect(")")
		arg = n
	case p.word("exists"):
		arg = p.exists()
	default:
		p.fail()
	}
	return &Node{Op: Not, Left: arg}, true
}

func (p *parser) exists() *Node {
	p.advance()
	p.expect("(")
	e, pred := p.or()
	if pred {
		p.fail()
	}
	p.expect(")")
	return &Node{Op: Exists, Left: e}
}

var comparisons = map[string]Op{"==": Equal, "=": Equal, "!=": NotEqual, "<>": NotEqual, "<": Less, "<=": LessEqual, ">": Greater, ">=": GreaterEqual}

func (p *parser) comparison() (*Node, bool) {
	if p.word("exists") && p.peek(0).kind == tokOp && p.peek(0).text == "(" {
		return p.exists(), true
	}
	l, pred := p.sum()
	if pred {
		return l, true
	}
	if p.tok.kind == tokOp {
		if op, ok := comparisons[p.tok.text]; ok {
			p.advance()
			r, pred := p.sum()
			if pred {
				p.fail()
			}
			return &Node{Op: op, Left: l, Right: r}, true
		}
	}
	switch {
	case p.word("starts"):
		p.advance()
		if !p.word("with") {
			p.fail()
		}
		p.advance()
		r := &Node{Op: String, Text: p.tok.text}
		switch p.tok.kind {
		case tokString:
		case tokVar:
			r.Op = Variable
		default:
			p.fail()
		}
		p.advance()
		return &Node{Op: StartsWith, Left: l, Right: r}, true
	case p.word("like_regex"):
		return p.likeRegex(l), true
	}
	return l, false
}

func (p *parser) likeRegex(l *Node) *Node {
	p.advance()
	if p.tok.kind != tokString {
		p.fail()
	}
	n := &Node{Op: LikeRegex, Left: l, Pattern: p.tok.text}
	p.advance()
	if p.word("flag") {
		p.advance()
		if p.tok.kind != tokString {
			p.fail()
		}
		n.Text = p.tok.text
		p.advance()
	}
	opts := ""
	quote := false
	for _, f := range n.Text {
		switch f {
		case 'i', 's', 'm':
			opts += string(f)
		case 'q':
			quote = true
		case 'x':
			p.error(pgerr.New(pgerr.FeatureNotSupported, "XQuery \"x\" flag (expanded regular expressions) is not implemented"))
		default:
			p.error(pgerr.New(pgerr.SyntaxError, "invalid input syntax for type %s", "jsonpath").
				WithDetail("Unrecognized flag character \"%s\" in LIKE_REGEX predicate.", string(f)))
		}
	}
	pattern := n.Pattern
	if quote {
		pattern = regexp.QuoteMeta(pattern)
	}
	if opts != "" {
		pattern = "(?" + opts + ")" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		p.error(pgerr.New(pgerr.InvalidRegularExpression, "invalid regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: ")))
	}
	n.Regex = re
	return n
}

func (p *parser) sum() (*Node, bool) {
	return p.chain(map[string]Op{"+": Add, "-": Sub}, func() (*Node, bool) {
		return p.chain(map[string]Op{"*": Mul, "/": Div, "%": Mod}, p.unary)
	})
}

func (p *parser) chain(ops map[string]Op, next func() (*Node, bool)) (*Node, bool) {
	l, pred := next()
	for n := 0; p.tok.kind == tokOp; n++ {
		op, ok := ops[p.tok.text]
		if !ok {
			break
		}
		if pred || n > maxDepth {
			p.fail()
		}
		p.advance()
		r, rp := next()
		if rp {
			p.fail()
		}
		l = &Node{Op: op, Left: l, Right: r}
	}
	return l, pred
}

func (p *parser) unary() (*Node, bool) {
	for _, u := range [...]struct {
		text string
		op   Op
	}{{"+", Plus}, {"-", Minus}} {
		if !p.op(u.text) {
			continue
		}
		p.enter()
		defer p.leave()
		p.advance()
		e, pred := p.unary()
		if pred {
			p.fail()
		}
		// A sign of a plain number is part of it.
		if e.Op == Number && e.Next == nil {
			if u.op == Minus {
				e.Text = strings.TrimPrefix("-"+e.Text, "--")
			}
			return e, false
		}
		return &Node{Op: u.op, Left: e}, false
	}
	return p.accessors()
}

// accessors parses a primary and what is applied to it.
func (p *parser) accessors() (*Node, bool) {
	n, pred := p.primary()
	if pred {
		// (predicate) is unknown
		if p.word("is") {
			p.advance()
			if !p.word("unknown") {
				p.fail()
			}
			p.advance()
			return &Node{Op: IsUnknown, Left: n}, true
		}
		if !p.op(".") && !p.op("[") && !p.op("?") {
			return n, true
		}
	}
	last := n
	for last.Next != nil {
		last = last.Next
	}
	steps := 0
	for {
		a := p.accessor()
		if a == nil {
			return n, pred && steps == 0
		}
		if steps++; steps > 10*maxDepth {
			p.fail()
		}
		last.Next = a
		last = a
	}
}

func (p *parser) primary() (*Node, bool) {
	t := p.tok
	switch t.kind {
	case tokString, tokNumber, tokVar:
		p.advance()
		return &Node{Op: map[int]Op{tokString: String, tokNumber: Number, tokVar: Variable}[t.kind], Text: t.text}, false
	case tokIdent:
		op := Null
		switch {
		case p.word("null"):
		case p.word("true"):
			op = True
		case p.word("false"):
			op = False
		case p.word("last"):
			if p.indexes == 0 {
				p.error(pgerr.New(pgerr.SyntaxError, "LAST is allowed only in array subscripts"))
			}
			op = Last
		default:
			p.fail()
		}
		p.advance()
		return &Node{Op: op}, false
	case tokOp:
		switch t.text {
		case "$":
			p.advance()
			return &Node{Op: Root}, false
		case "@":
			if p.filter == 0 {
				p.error(pgerr.New(pgerr.SyntaxError, "@ is not allowed in root expressions"))
			}
			p.advance()
			return &Node{Op: Current}, false
		case "(":
			p.advance()
			n, pred := p.or()
			p.expect(")")
			return n, pred
		}
	}
	p.fail()
	return nil, false
}

// accessor parses one accessor; nil when none follows.
func (p *parser) accessor() *Node {
	switch {
	case p.accept("["):
		if p.op("*") {
			p.advance()
			p.expect("]")
			return &Node{Op: AnyArray}
		}
		n := &Node{Op: Index}
		p.indexes++
		for {
			r := Range{From: p.expression()}
			if p.word("to") {
				p.advance()
				r.To = p.expression()
			}
			n.Args = append(n.Args, r)
			if !p.accept(",") {
				break
			}
		}
		p.indexes--
		p.expect("]")
		return n
	case p.accept("?"):
		p.expect("(")
		p.filter++
		e, pred := p.or()
		if !pred {
			p.fail()
		}
		p.filter--
		p.expect(")")
		return &Node{Op: Filter, Left: e}
	case p.accept("."):
		return p.member()
	}
	return nil
}

func (p *parser) expression() *Node {
	e, pred := p.sum()
	if pred {
		p.fail()
	}
	return e
}

func (p *parser) member() *Node {
	t := p.tok
	switch {
	case p.accept("*"):
		return &Node{Op: AnyKey}
	case p.accept("**"):
		n := &Node{Op: Any, Last: Unbounded}
		if p.accept("{") {
			n.First = p.level()
			n.Last = n.First
			if p.word("to") {
				p.advance()
				n.Last = p.level()
			}
			p.expect("}")
		}
		return n
	case t.kind == tokString:
		p.advance()
		return &Node{Op: Key, Text: t.text}
	case t.kind == tokVar && strings.HasPrefix(t.raw, "$"):
		p.fail()
	case t.kind == tokIdent:
		p.advance()
		if !p.op("(") {
			return &Node{Op: Key, Text: t.text}
		}
		name := strings.ToLower(t.text)
		switch name {
		case "abs", "size", "type", "floor", "double", "ceiling", "keyvalue", "datetime":
		default:
			p.fail()
		}
		p.advance()
		n := &Node{Op: Method, Text: name}
		if name == "datetime" && p.tok.kind == tokString {
			n.Left = &Node{Op: String, Text: p.tok.text}
			p.advance()
		}
		p.expect(")")
		return n
	}
	p.fail()
	return nil
}

func (p *parser) level() uint32 {
	if p.word("last") {
		p.advance()
		return Unbounded
	}
	if p.tok.kind != tokNumber {
		p.fail()
	}
	v, err := strconv.ParseUint(p.tok.text, 10, 31)
	if err != nil {
		p.error(pgerr.New(pgerr.InvalidTextRepresentation, "invalid input syntax for type %s: \"%s\"", "integer", p.tok.text))
	}
	p.advance()
	return uint32(v)
}
