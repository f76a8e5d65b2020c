package plan

import (
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// funcRef binds functions in FROM. unnest of several arrays is ROWS FROM of one unnest each.
func (b *Binder) funcRef(sc *scope, x *ast.FuncRef) (*tree, error) {
	list := x.Rows
	if list == nil {
		list = []ast.RowsFunc{{Func: x.Func, ColDefs: x.Alias.ColDefs}}
	}
	var funcs []ast.RowsFunc
	for _, f := range list {
		funcs = append(funcs, unnested(f)...)
	}
	r := &relItem{fn: &funcRel{}}
	for i, f := range funcs {
		call, ok := f.Func.(*ast.FuncCall)
		if !ok {
			return nil, b.err(x.Pos, pgerr.FeatureNotSupported, "function in FROM is not supported")
		}
		name := call.Name.Name
		if i == 0 {
			r.alias = name
			if x.Alias.Name != "" {
				r.alias = x.Alias.Name
			}
		}
		if len(funcs) == 1 {
			name = r.alias
		}
		part, cols, err := b.funcPart(sc, call, f.ColDefs, name)
		if err != nil {
			return nil, err
		}
		r.fn.parts = append(r.fn.parts, part)
		for _, c := range cols {
			r.cols = append(r.cols, relCol{name: c.Name, t: c.Type, att: len(r.cols) + 1})
		}
		if part.Call != nil {
			r.deps |= refsOf(part.Call)
		} else {
			r.deps |= refsOf(part.Scalar)
		}
	}
	r.fn.width = len(r.cols)
	if x.Ordinality {
		r.cols = append(r.cols, relCol{name: "ordinality", t: int8T, att: len(r.cols) + 1})
	}
	return b.addRel(sc, r, x.Alias, x.Pos)
}

// unnested takes unnest(a, b, …) apart.
func unnested(f ast.RowsFunc) []ast.RowsFunc {
	call, ok := f.Func.(*ast.FuncCall)
	if !ok || call.Name.Schema != "" || call.Name.Name != "unnest" || len(call.Args) < 2 || len(f.ColDefs) > 0 ||
		call.ArgNames != nil || call.Variadic || call.Distinct || len(call.OrderBy) > 0 {
		return []ast.RowsFunc{f}
	}
	var out []ast.RowsFunc
	for _, a := range call.Args {
		one := *call
		one.Args = []ast.Expr{a}
		one.Name.Schema = "pg_catalog"
		out = append(out, ast.RowsFunc{Func: &one})
	}
	return out
}

// funcPart binds one function of FROM and says which columns it has; a single one is called name.
func (b *Binder) funcPart(sc *scope, call *ast.FuncCall, defs []ast.ColumnDef, name string) (exec.FuncPart, []exec.Column, error) {
	inFrom := b.inFrom
	b.inFrom = true
	e, err := b.call(sc, call)
	b.inFrom = inFrom
	if err != nil {
		return exec.FuncPart{}, nil, err
	}
	var part exec.FuncPart
	var cols []exec.Column
	f, isFunc := e.(*exec.FuncX)
	if isFunc {
		cols = f.F.Cols
	}
	if isFunc && f.F.Set {
		part.Call = f
	} else {
		part.Scalar = e
	}
	if len(defs) > 0 {
		cols = nil
		for _, d := range defs {
			t, err := b.bindType(d.Type)
			if err != nil {
				return exec.FuncPart{}, nil, err
			}
			cols = append(cols, exec.Column{Name: d.Name, Type: t})
		}
	}
	switch {
	case len(cols) == 0:
		t := e.Type()
		if t.OID == types.UnknownOID {
			t = textT
		}
		cols = []exec.Column{{Name: name, Type: t}}
	case len(cols) == 1 && cols[0].Type.OID == 0:
		cols = []exec.Column{{Name: cols[0].Name, Type: e.Type()}}
	}
	part.Width = len(cols)
	return part, cols, nil
}
