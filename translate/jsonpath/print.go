package jsonpath

import (
	"strconv"
	"strings"
)

// Print writes a path in PostgreSQL's normal form: quote writes a JSON string, number the normal
// form of a number.
func (p *Path) Print(quote func(dst []byte, s string) []byte, number func(string) string) string {
	w := &printer{quote: quote, number: number}
	if !p.Lax {
		w.WriteString("strict ")
	}
	w.node(p.Expr, false, !isPath(p.Expr))
	return w.Builder.String()
}

func isPath(n *Node) bool { return n.Op <= Method }

type printer struct {
	strings.Builder
	quote  func(dst []byte, s string) []byte
	number func(string) string
}

// priority ranks operators: a looser one inside of a tighter one is put in parentheses.
func priority(op Op) int {
	switch op {
	case Or:
		return 0
	case And:
		return 1
	case Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, StartsWith:
		return 2
	case Add, Sub:
		return 3
	case Mul, Div, Mod:
		return 4
	case Plus, Minus:
		return 5
	}
	return 6
}

var symbols = map[Op]string{
	And: "&&", Or: "||", Equal: "==", NotEqual: "!=", Less: "<", LessEqual: "<=", Greater: ">", GreaterEqual: ">=",
	Add: "+", Sub: "-", Mul: "*", Div: "/", Mod: "%", StartsWith: "starts with",
}

// node writes a step and those after it; key says that a dot stands before it.
func (w *printer) node(n *Node, key, brackets bool) {
	str := func(s string) { w.Write(w.quote(nil, s)) }
	switch n.Op {
	case Null:
		w.WriteString("null")
	case True:
		w.WriteString("true")
	case False:
		w.WriteString("false")
	case String:
		str(n.Text)
	case Number:
		if n.Next != nil {
			w.WriteByte('(')
		}
		w.WriteString(w.number(n.Text))
		if n.Next != nil {
			w.WriteByte(')')
		}
	case Variable:
		w.WriteByte('$')
		str(n.Text)
	case Root:
		w.WriteByte('$')
	case Current:
		w.WriteByte('@')
	case Last:
		w.WriteString("last")
	case Key:
		if key {
			w.WriteByte('.')
		}
		str(n.Text)
	case AnyKey:
		w.WriteString(".*")
	case AnyArray:
		w.WriteString("[*]")
	case Index:
		w.WriteByte('[')
		for i, r := range n.Args {
			if i > 0 {
				w.WriteByte(',')
			}
			w.node(r.From, false, false)
			if r.To != nil {
				w.WriteString(" to ")
				w.node(r.To, false, false)
			}
		}
		w.WriteByte(']')
	case Any:
		w.any(n, key)
	case Filter:
		w.WriteString("?(")
		w.node(n.Left, false, false)
		w.WriteByte(')')
	case Method:
		w.WriteString("." + n.Text + "(")
		if n.Left != nil {
			w.node(n.Left, false, false)
		}
		w.WriteByte(')')
	case Plus, Minus:
		w.open(brackets)
		w.WriteString(map[Op]string{Plus: "+", Minus: "-"}[n.Op])
		w.node(n.Left, false, priority(n.Left.Op) <= priority(n.Op))
		w.close(brackets)
	case Not:
		w.WriteString("!(")
		w.node(n.Left, false, false)
		w.WriteByte(')')
	case IsUnknown:
		w.WriteByte('(')
		w.node(n.Left, false, false)
		w.WriteString(") is unknown")
	case Exists:
		w.WriteString("exists (")
		w.node(n.Left, false, false)
		w.WriteByte(')')
	case LikeRegex:
		w.open(brackets)
		w.node(n.Left, false, priority(n.Left.Op) <= priority(n.Op))
		w.WriteString(" like_regex ")
		str(n.Pattern)
		flags := ""
		for _, f := range "ismxq" {
			if strings.ContainsRune(n.Text, f) {
				flags += string(f)
			}
		}
		if flags != "" {
			w.WriteString(` flag "` + flags + `"`)
		}
		w.close(brackets)
	default:
		w.open(brackets)
		w.node(n.Left, false, priority(n.Left.Op) <= priority(n.Op))
		w.WriteString(" " + symbols[n.Op] + " ")
		w.node(n.Right, false, priority(n.Right.Op) <= priority(n.Op))
		w.close(brackets)
	}
	if n.Next != nil {
		w.node(n.Next, true, true)
	}
}

func (w *printer) open(brackets bool) {
	if brackets {
		w.WriteByte('(')
	}
}

func (w *printer) close(brackets bool) {
	if brackets {
		w.WriteByte(')')
	}
}

func (w *printer) any(n *Node, key bool) {
	if key {
		w.WriteByte('.')
	}
	level := func(v uint32) string {
		if v == Unbounded {
			return "last"
		}
		return strconv.FormatUint(uint64(v), 10)
	}
	switch {
	case n.First == 0 && n.Last == Unbounded:
		w.WriteString("**")
	case n.First == n.Last:
		w.WriteString("**{" + level(n.First) + "}")
	default:
		w.WriteString("**{" + level(n.First) + " to " + level(n.Last) + "}")
	}
}
