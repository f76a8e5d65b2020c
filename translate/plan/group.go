package plan

import (
	"fmt"
	"strings"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// exprKey is equal for expressions that compute the same thing.
func exprKey(e exec.Expr) string {
	var sb strings.Builder
	writeKey(&sb, e)
	return sb.String()
}

func writeKey(sb *strings.Builder, e exec.Expr) {
	switch x := e.(type) {
	case nil:
		sb.WriteString("-")
		return
	case *exec.Lit:
		fmt.Fprintf(sb, "lit(%d,%d,%d,%v,%q)", x.T.OID, x.T.Mod, x.Kind, x.Neg, x.Text)
		return
	case *exec.Const:
		fmt.Fprintf(sb, "const(%d,%v,%d,%q)", x.T.OID, x.D.Valid, x.D.I, x.D.B)
		return
	case *exec.ParamRef:
		fmt.Fprintf(sb, "$%d:%d", x.N, x.T.OID)
		return
	case *exec.OuterCol:
		fmt.Fprintf(sb, "outer(%p,%p)", x.Cell, x.Col)
		return
	case *exec.AggRef:
		fmt.Fprintf(sb, "agg(%d)", x.N)
		return
	case *exec.WinRef:
		fmt.Fprintf(sb, "win(%d)", x.N)
		return
	case *exec.SetRef:
		fmt.Fprintf(sb, "set(%d)", x.N)
		return
	case *exec.CastX:
		fmt.Fprintf(sb, "cast(%d,%d,%v,", x.To.OID, x.To.Mod, x.Explicit)
	case *exec.Op:
		fmt.Fprintf(sb, "op(%s,%d,", x.Name, x.T.OID)
		if x.L == nil {
			sb.WriteString("-,")
		}
	case *exec.Cmp:
		fmt.Fprintf(sb, "cmp(%d,%d,", x.Op, x.OID)
	case *exec.FuncX:
		if x.F.Vol == exec.Volatile {
			fmt.Fprintf(sb, "call(%p)", x)
			return
		}
		fmt.Fprintf(sb, "fn(%p,%d,", x.F, x.T.OID)
	case *exec.IsNull:
		fmt.Fprintf(sb, "isnull(%v,", x.Not)
	case *exec.IsBool:
		fmt.Fprintf(sb, "isbool(%v,%v,", x.Want, x.Not)
	case *exec.Distinct:
		fmt.Fprintf(sb, "distinct(%v,", x.Not)
	case *exec.InList:
		fmt.Fprintf(sb, "in(%v,", x.Not)
	case *exec.CaseX:
		fmt.Fprintf(sb, "case(%v,%d,%p,", x.Operand != nil, len(x.Conds), x.Else)
	case *exec.MinMax:
		fmt.Fprintf(sb, "minmax(%v,", x.Max)
	case *exec.FieldX:
		fmt.Fprintf(sb, "field(%d,", x.N)
	case *exec.And, *exec.Or, *exec.Not, *exec.Coalesce, *exec.NullIf, *exec.RowX, *exec.ArrayX, *exec.IndexX, *exec.RowCmp:
		fmt.Fprintf(sb, "%T(", x)
	default:
		fmt.Fprintf(sb, "%p", e)
		return
	}
	if m, ok := e.(exec.Mapper); ok {
		_, _ = m.MapParts(func(p exec.Expr) (exec.Expr, error) {
			writeKey(sb, p)
			sb.WriteByte(',')
			return p, nil
		})
	}
	sb.WriteByte(')')
}

// buildGroup puts the aggregation above node and moves the targets onto its output.
func (c *coreBinder) buildGroup(in exec.Node) (exec.Node, error) {
	b := c.b
	// Columns of a table whose primary key is grouped by depend on the key.
	nGiven := len(c.groups)
	keyed := c.keyedRels()
	keys := make(map[string]int, len(c.groups))
	for i, g := range c.groups {
		keys[exprKey(g)] = i
	}
	outCol := func(i int, t types.T, like exec.Expr) *exec.Col {
		col := &exec.Col{Idx: i, T: t}
		if g, ok := like.(*exec.Col); ok {
			col.Name, col.Src, col.Att = g.Name, g.Src, g.Att
		}
		return col
	}
	groupCol := func(src *exec.Col) *exec.Col {
		if i, ok := keys[exprKey(src)]; ok {
			return outCol(i, src.T, src)
		}
		r, ok := src.Src.(*relItem)
		if ok && keyed[r] && len(c.sets) == 0 {
			c.groups = append(c.groups, src)
			i := len(c.groups) - 1
			keys[exprKey(src)] = i
			return outCol(i, src.T, src)
		}
		return nil
	}
	ungrouped := func(col *exec.Col) error {
		name := col.Name
		if r, ok := col.Src.(*relItem); ok {
			name = r.alias + "." + name
		}
		pos, ok := c.agg.pos[col]
		if !ok {
			pos = -1
		}
		return b.err(pos, pgerr.GroupingError, "column %q must appear in the GROUP BY clause or be used in an aggregate function", name)
	}
	aggCols := make([]*exec.Col, len(c.agg.aggs))
	for i, a := range c.agg.aggs {
		aggCols[i] = &exec.Col{T: a.T}
	}
	setCol := &exec.Col{T: typ(types.Int8OID)} // the number of the grouping set
	move := func(e exec.Expr) (exec.Expr, error) {
		return exec.MapExpr(e, func(p exec.Expr) (exec.Expr, error) {
			if i, ok := keys[exprKey(p)]; ok {
				if _, isConst := p.(*exec.Const); !isConst {
					b.fixExpr(p)
					return outCol(i, p.Type(), p), nil
				}
			}
			switch x := p.(type) {
			case *exec.AggRef:
				return aggCols[x.N], nil
			case *exec.GroupingX:
				return c.grouping(x, keys, setCol)
			case *exec.Col:
				if _, ours := x.Src.(*relItem); !ours {
					return x, nil
				}
				if g := groupCol(x); g != nil {
					return g, nil
				}
				return nil, ungrouped(x)
			case *exec.ScalarSub:
				return x, c.moveOuter(x.Plan, groupCol, aggCols)
			case *exec.ExistsSub:
				return x, c.moveOuter(x.Plan, groupCol, aggCols)
			case *exec.QuantSub:
				if err := c.moveOuter(x.Plan, groupCol, aggCols); err != nil {
					return nil, err
				}
				return nil, nil
			}
			return nil, nil
		})
	}
	var err error
	for _, a := range c.agg.aggs {
		for _, e := range a.Args[:a.Direct] {
			exec.WalkExpr(e, func(p exec.Expr) bool {
				if _, ok := keys[exprKey(p)]; ok {
					return false
				}
				if col, ok := p.(*exec.Col); ok && err == nil && groupCol(col) == nil {
					if _, ours := col.Src.(*relItem); ours {
						err = pgerr.As(ungrouped(col)).WithDetail("Direct arguments of an ordered-set aggregate must use only grouped columns.")
					}
				}
				return true
			})
		}
	}
	if err != nil {
		return nil, err
	}
	for i := range c.targets {
		if c.targets[i].expr, err = move(c.targets[i].expr); err != nil {
			return nil, err
		}
	}
	if c.having != nil {
		if c.having, err = move(c.having); err != nil {
			return nil, err
		}
	}
	for _, w := range c.agg.wins {
		if err := w.mapAll(move); err != nil {
			return nil, err
		}
	}
	for _, f := range c.agg.sets {
		for i := range f.Args {
			if f.Args[i], err = move(f.Args[i]); err != nil {
				return nil, err
			}
		}
	}
	for i := range aggCols {
		aggCols[i].Idx = len(c.groups) + i
	}
	setCol.Idx = len(c.groups) + len(c.agg.aggs)
	g := &exec.Group{In: in, Aggs: c.agg.aggs, Keys: c.groups, Sets: c.sets}
	for _, k := range c.groups {
		g.OIDs = append(g.OIDs, k.Type().OID)
	}
	g.Given = nGiven
	var node exec.Node = g
	if c.having != nil {
		node = &exec.Filter{In: node, Cond: c.having}
	}
	return node, nil
}

// grouping binds GROUPING(a, b): a bit per argument, by the set the row belongs to.
func (c *coreBinder) grouping(x *exec.GroupingX, keys map[string]int, setCol *exec.Col) (exec.Expr, error) {
	out := &exec.GroupingX{Args: x.Args, SetCol: setCol}
	sets := c.sets
	if sets == nil {
		all := []int{}
		for i := range c.groups {
			all = append(all, i)
		}
		sets = [][]int{all}
	}
	for _, s := range sets {
		var mask int64
		for _, a := range x.Args {
			mask <<= 1
			i, ok := keys[exprKey(a)]
			if !ok {
				return nil, c.b.err(-1, pgerr.GroupingError, "arguments to GROUPING must be grouping expressions of the associated query level")
			}
			in := false
			for _, k := range s {
				in = in || k == i
			}
			if !in {
				mask |= 1
			}
		}
		out.Masks = append(out.Masks, mask)
	}
	return out, nil
}

// moveOuter makes a subquery's references to this level read the grouped row.
func (c *coreBinder) moveOuter(p *exec.SubPlan, group func(*exec.Col) *exec.Col, aggs []*exec.Col) error {
	for _, o := range p.Outer {
		if a, ok := o.Col.Src.(outerAgg); ok {
			o.Col = aggs[a.n]
			continue
		}
		if _, ours := o.Col.Src.(*relItem); !ours {
			continue
		}
		g := group(o.Col)
		if g == nil {
			r, _ := o.Col.Src.(*relItem)
			return c.b.err(o.Pos, pgerr.GroupingError, "subquery uses ungrouped column %q from outer query", r.alias+"."+o.Col.Name)
		}
		o.Col = g
	}
	return nil
}

// keyedRels are the relations whose primary key is part of GROUP BY.
func (c *coreBinder) keyedRels() map[*relItem]bool {
	out := make(map[*relItem]bool)
	for _, r := range c.sc.rels {
		if r.table == nil || r.table.Kind != rel.KindTable {
			continue
		}
		for i := range r.table.Indexes {
			idx := &r.table.Indexes[i]
			if !idx.Primary {
				continue
			}
			all := true
			for _, num := range idx.Columns {
				found := false
				for _, g := range c.groups {
					if col, ok := g.(*exec.Col); ok && col.Src == any(r) && col.Att == int(num) {
						found = true
					}
				}
				all = all && found
			}
			if all {
				out[r] = true
			}
		}
	}
	return out
}

// lastKey recognises SELECT min(c) or max(c) FROM t [WHERE prefix = …] where a key leads to
// the answer; it returns what to put around the scan.
func (c *coreBinder) lastKey(trees []*tree, where []exec.Expr) func(exec.Source, exec.Node) exec.Node {
	if len(trees) != 1 || trees[0].rel == nil || trees[0].rel.table == nil || len(c.core.GroupBy) > 0 || len(c.agg.aggs) != 1 || len(c.agg.wins) > 0 {
		return nil
	}
	r := trees[0].rel
	a := c.agg.aggs[0]
	if a.Name != "min" && a.Name != "max" || len(a.Args) != 1 || a.Filter != nil {
		return nil
	}
	col, ok := a.Args[0].(*exec.Col)
	if !ok || col.Src != any(r) || col.Att < 1 {
		return nil
	}
	ks := gather(r, where, 0)
	try := func(idx *rel.Index, parts []rel.KeyPart) *exec.AccessPath {
		p := &exec.AccessPath{Index: idx, Reverse: a.Name == "max"}
		for _, part := range parts {
			if part.IsNull {
				k := ks[int(part.Column)]
				if k == nil || !k.isNull && !k.notNull {
					return nil
				}
				v := k.isNull
				p.Eq = append(p.Eq, exec.KeyPart{Col: types.BoolOID, IsNull: &v})
				continue
			}
			if int(part.Column) == col.Att {
				if k := ks[col.Att]; k != nil {
					p.Lo, p.Hi, p.Range = k.lo, k.hi, col.T.OID
				}
				return p
			}
			k := ks[int(part.Column)]
			if k == nil || k.eq == nil {
				return nil
			}
			p.Eq = append(p.Eq, exec.KeyPart{Col: columnType(r.table, part.Column), Val: k.eq})
		}
		return nil
	}
	path := try(nil, r.table.Layout)
	for i := range r.table.Indexes {
		if path != nil {
			break
		}
		idx := &r.table.Indexes[i]
		parts := make([]rel.KeyPart, len(idx.Columns))
		for k, num := range idx.Columns {
			parts[k] = rel.KeyPart{Column: num}
		}
		path = try(idx, parts)
	}
	if path == nil {
		return nil
	}
	return func(src exec.Source, n exec.Node) exec.Node {
		ts, ok := src.(*exec.TableScan)
		if !ok {
			return n
		}
		ts.Path = path
		ts.Raw = append(ts.Raw, &exec.RawPred{Att: int16(col.Att), OID: col.T.OID, Null: true, Not: true})
		return &exec.Limit{In: n, Count: &exec.Const{T: int8T, D: exec.Int(1)}}
	}
}
