package plan

import (
	"slices"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// maxNesting bounds expressions, subqueries and views inside of each other.
const maxNesting = 1000

// state is a Binder's work in progress.
type state struct {
	text     *string // Text, where bound expressions can keep it
	memo     int
	cells    int
	depth    int
	views    int
	fixed    map[int]FixedSlot
	classes  map[int]FixedSlot
	minDepth int // shallowest enclosing level referred to since a subquery began
	noCache  bool
	ctes     []*cteEntry      // visible CTEs, innermost last
	agg      *aggScope        // where aggregates of the expression being bound go
	clause   string           // for messages: "WHERE", "JOIN conditions", …
	params   []*exec.ParamRef // every reference to a parameter
	paramErr error            // of a parameter that was needed as two types
	writes   bool
	beside   []*scope // levels in whose FROM the subquery being bound stands
	nested   int      // queries and writes around the WITH being bound
	noSlots  bool     // stored text is being bound: its literals are no slots of the statement
	allowSet int      // > 0: set-returning functions may be called
	inFrom   bool     // the call being bound is a FROM item
}

func (b *Binder) err(pos int, code, format string, args ...any) *pgerr.Error {
	e := pgerr.New(code, format, args...)
	if pos >= 0 {
		e = e.At(b.Text, pos)
	}
	return e
}

func (b *Binder) at(err error, pos int) error {
	if e := pgerr.As(err); e != nil && pos >= 0 {
		return e.At(b.Text, pos)
	}
	return err
}

func (b *Binder) enter(pos int) error {
	b.depth++
	if b.depth > maxNesting {
		b.depth--
		return b.err(-1, pgerr.StatementTooComplex, "stack depth limit exceeded")
	}
	return nil
}

func (b *Binder) leave() { b.depth-- }

func (b *Binder) newMemo() int {
	b.memo++
	return b.memo - 1
}

func (b *Binder) newCell() *exec.Cell {
	b.cells++
	return &exec.Cell{N: b.cells - 1}
}

func (b *Binder) funcs() *exec.FuncSet {
	if b.Funcs == nil {
		b.Funcs = exec.NewFuncSet()
	}
	return b.Funcs
}

// fix records that a literal's text shaped the plan.
func (b *Binder) fix(e ast.Expr) {
	switch x := e.(type) {
	case *ast.Literal:
		b.fixSlot(x.Slot, x.Kind, x.Text)
	case *ast.Unary:
		b.fix(x.Expr)
	case *ast.Cast:
		b.fix(x.Expr)
	case *ast.Collate:
		b.fix(x.Expr)
	}
}

func (b *Binder) fixSlot(slot int, kind ast.LiteralKind, text string) {
	if slot < 0 || b.noSlots {
		return
	}
	if b.fixed == nil {
		b.fixed = make(map[int]FixedSlot)
	}
	b.fixed[slot] = FixedSlot{Slot: slot, Text: text, Kind: uint8(kind)}
}

// fixExpr fixes every literal in a bound expression.
func (b *Binder) fixExpr(e exec.Expr) {
	exec.WalkExpr(e, func(p exec.Expr) bool {
		if l, ok := p.(*exec.Lit); ok {
			b.fixSlot(l.Slot, ast.LiteralKind(l.Kind), l.Text)
		}
		return true
	})
}

func (b *Binder) bound() Bound {
	var out Bound
	out.NoCache = b.noCache
	for s, f := range b.classes {
		if _, ok := b.fixed[s]; !ok {
			out.Fixed = append(out.Fixed, f)
		}
	}
	for _, f := range b.fixed {
		out.Fixed = append(out.Fixed, f)
	}
	slices.SortFunc(out.Fixed, func(a, b FixedSlot) int { return a.Slot - b.Slot })
	return out
}

// Fits says whether a plan may run with other literal values: those that shaped it are
// as they were.
func (bd *Bound) Fits(slots []exec.Slot) bool {
	if bd.NoCache {
		return false
	}
	for i := range bd.Fixed {
		f := &bd.Fixed[i]
		if f.Slot >= len(slots) {
			return false
		}
		s := &slots[f.Slot]
		if s.Kind != f.Kind {
			return false
		}
		if f.ClassOnly {
			if intClass(s.Text, false) != intClass(f.Text, false) {
				return false
			}
		} else if s.Text != f.Text {
			return false
		}
	}
	return true
}

// bindStmt binds the outermost statement.
func (b *Binder) bindStmt(st ast.Stmt) (exec.Node, error) {
	var n exec.Node
	var err error
	switch x := st.(type) {
	case *ast.Select:
		n, err = b.bindQuery(x, nil)
		if err == nil {
			n, err = b.settleUnknown(n)
		}
	case *ast.Insert, *ast.Update, *ast.Delete:
		n, err = b.bindDML(st, nil)
	default:
		return nil, b.err(-1, pgerr.FeatureNotSupported, "statement cannot be used here")
	}
	if err != nil {
		return nil, err
	}
	if b.paramErr != nil {
		return nil, b.paramErr
	}
	for _, p := range b.params {
		if p.T.OID == types.UnknownOID && b.Params[p.N] != 0 {
			return nil, b.err(p.Pos, pgerr.AmbiguousParameter, "could not determine data type of parameter $%d", p.N+1)
		}
	}
	for i, oid := range b.Params {
		if oid == 0 {
			return nil, b.err(-1, pgerr.IndeterminateDatatype, "could not determine data type of parameter $%d", i+1)
		}
	}
	return n, nil
}

func (b *Binder) bindExprIn(sc *Scope, e ast.Expr) (exec.Expr, error) {
	var s *scope
	if sc != nil {
		s = sc.s
	} else {
		s = &scope{}
	}
	x, err := b.expr(s, e)
	if err != nil {
		return nil, err
	}
	s.layout()
	return b.resolveUnknown(x), nil
}

// tableScope has the table's live and dropped columns at their index in Columns.
func (b *Binder) tableScope(t *rel.Table, alias string) *Scope {
	if alias == "" {
		alias = t.Name
	}
	s := &scope{fixedLayout: true}
	r := b.tableRel(t, alias)
	for i := range t.Columns {
		if !t.Columns[i].Dropped {
			r.col(int(t.Columns[i].Num)).Idx = i
		}
	}
	s.addRel(r)
	return &Scope{s: s}
}

func (b *Binder) bindType(n ast.TypeName) (types.T, error) {
	if n.Schema != "" && n.Schema != "pg_catalog" && n.Schema != "information_schema" {
		return types.T{}, b.err(n.Pos, pgerr.UndefinedObject, "type %q does not exist", n.Schema+"."+n.Name)
	}
	t, err := types.Resolve(n.Name, n.Mods, n.Fields, n.Dims)
	if err != nil {
		return t, b.at(err, n.Pos)
	}
	return t, nil
}
