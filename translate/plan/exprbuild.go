package plan

import (
	"strconv"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

func (b *Binder) row(sc *scope, x *ast.RowExpr) (exec.Expr, error) {
	r := &exec.RowX{}
	for i, it := range x.Items {
		if st, ok := it.(*ast.Star); ok {
			es, ns, err := b.star(sc, st)
			if err != nil {
				return nil, err
			}
			r.Items = append(r.Items, es...)
			r.Names = append(r.Names, ns...)
			continue
		}
		e, err := b.expr(sc, it)
		if err != nil {
			return nil, err
		}
		r.Items = append(r.Items, b.resolveUnknown(e))
		r.Names = append(r.Names, "f"+strconv.Itoa(i+1))
	}
	return r, nil
}

func (b *Binder) array(sc *scope, x *ast.ArrayExpr) (exec.Expr, error) {
	if len(x.Items) == 0 {
		return nil, b.err(int(x.Pos), pgerr.IndeterminateDatatype, "cannot determine type of empty array").
			WithHint("Explicitly cast to the desired type, for example ARRAY[]::integer[].")
	}
	return b.arrayOf(sc, x, types.T{})
}

// arrayOf binds ARRAY[…], to a wanted array type when one is given.
func (b *Binder) arrayOf(sc *scope, x *ast.ArrayExpr, want types.T) (exec.Expr, error) {
	elem := types.ElemOf(want.OID)
	var items []exec.Expr
	nested := false
	for _, it := range x.Items {
		var e exec.Expr
		var err error
		if sub, ok := it.(*ast.ArrayExpr); ok {
			nested = true
			if want.OID == 0 && len(sub.Items) == 0 {
				return nil, b.err(int(x.Pos), pgerr.IndeterminateDatatype, "cannot determine type of empty array")
			}
			e, err = b.arrayOf(sc, sub, want)
		} else {
			e, err = b.expr(sc, it)
		}
		if err != nil {
			return nil, err
		}
		items = append(items, e)
	}
	if nested {
		t := want
		if t.OID == 0 {
			var err error
			if items, t, err = b.unify(items, "ARRAY", positions(x.Items)); err != nil {
				return nil, err
			}
		}
		return &exec.ArrayX{Items: items, Nested: true, Elem: types.ElemOf(t.OID), T: t}, nil
	}
	if elem != 0 {
		for i, e := range items {
			c, err := b.mustCoerce(e, types.T{OID: elem, Mod: want.Mod}, types.Explicit, x.Items[i].Position())
			if err != nil {
				return nil, err
			}
			items[i] = c
		}
		return &exec.ArrayX{Items: items, Elem: elem, T: want}, nil
	}
	items, t, err := b.unify(items, "ARRAY", positions(x.Items))
	if err != nil {
		return nil, err
	}
	if types.IsArray(t.OID) {
		return &exec.ArrayX{Items: items, Nested: true, Elem: types.ElemOf(t.OID), T: t}, nil
	}
	arr := types.ArrayOf(t.OID)
	if arr == 0 {
		return nil, b.err(int(x.Pos), pgerr.UndefinedObject, "could not find array type for data type %s", types.TypeName(t.OID))
	}
	return &exec.ArrayX{Items: items, Elem: t.OID, T: typ(arr)}, nil
}

func (b *Binder) index(sc *scope, x *ast.Index) (exec.Expr, error) {
	// Subscripts of one array are gathered: a[1][2] is one access.
	var subs []*ast.Index
	var base ast.Expr = x
	for {
		i, ok := base.(*ast.Index)
		if !ok {
			break
		}
		subs = append([]*ast.Index{i}, subs...)
		base = i.Expr
	}
	a, err := b.expr(sc, base)
	if err != nil {
		return nil, err
	}
	if a.Type().OID == types.JSONBOID {
		for _, s := range subs {
			k, err := b.expr(sc, s.Lo)
			if err != nil {
				return nil, err
			}
			if a, err = b.operator("->", a, k, int(s.Pos)); err != nil {
				return nil, err
			}
		}
		return a, nil
	}
	elem := types.ElemOf(a.Type().OID)
	if elem == 0 {
		return nil, b.err(int(x.Pos), pgerr.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting", types.TypeName(a.Type().OID))
	}
	out := &exec.IndexX{Arg: a, T: typ(elem)}
	for _, s := range subs {
		if s.Slice {
			out.Slice = true
			out.T = a.Type()
		}
		var lo, hi exec.Expr
		for _, p := range []struct {
			from ast.Expr
			to   *exec.Expr
		}{{s.Lo, &lo}, {s.Hi, &hi}} {
			if p.from == nil {
				continue
			}
			e, err := b.expr(sc, p.from)
			if err != nil {
				return nil, err
			}
			c, err := b.coerce(e, typ(types.Int4OID), types.Assignment, p.from.Position())
			if err != nil {
				return nil, err
			}
			if c == nil {
				return nil, b.err(p.from.Position(), pgerr.DatatypeMismatch, "array subscript must have type integer")
			}
			*p.to = c
		}
		out.Lo = append(out.Lo, lo)
		out.Hi = append(out.Hi, hi)
		out.IsSlice = append(out.IsSlice, s.Slice)
	}
	return out, nil
}

func (b *Binder) field(sc *scope, x *ast.FieldSelect) (exec.Expr, error) {
	// (t).c of a table alias reads as t.c.
	if ref, ok := x.Expr.(*ast.ColumnRef); ok && len(ref.Parts) == 1 {
		if it, _ := b.findItem(sc, "", ref.Parts[0]); it != nil {
			return b.column(sc, &ast.ColumnRef{Pos: x.Pos, Parts: []string{ref.Parts[0], x.Field}})
		}
	}
	a, err := b.expr(sc, x.Expr)
	if err != nil {
		return nil, err
	}
	if r, ok := a.(*exec.RowX); ok {
		for i, n := range r.Names {
			if n == x.Field {
				return r.Items[i], nil
			}
		}
		return nil, b.err(int(x.Pos), pgerr.UndefinedColumn, "could not identify column %q in record data type", x.Field)
	}
	if fields := b.funcs().Fields(a.Type()); fields != nil {
		for i, c := range fields {
			if c.Name == x.Field {
				return &exec.FieldX{Arg: a, N: i, T: c.Type}, nil
			}
		}
		return nil, b.err(int(x.Pos), pgerr.UndefinedColumn, "could not identify column %q in record data type", x.Field)
	}
	return nil, b.err(int(x.Pos), pgerr.WrongObjectType, "column notation .%s applied to type %s, which is not a composite type", x.Field, types.TypeName(a.Type().OID))
}
