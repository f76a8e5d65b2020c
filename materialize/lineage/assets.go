package lineage

import (
	"cmp"
	"slices"
)

// AssetColumn is a column of an asset with the columns of assets that it is made of.
type AssetColumn struct {
	Name string
	From []AssetRef
	// Exact says that From is all.
	Exact bool
	// Annotated says that the script's header says so, and not the SELECT.
	Annotated bool
}

// AssetRef is a column of an asset; Any for some columns of it.
type AssetRef struct {
	Asset  string
	Column string
}

// Assets gives inferred columns in terms of assets; asset names the asset that a table is.
// A table that is none ("") makes the column inexact.
func Assets(cols []Column, asset func(TableRef) string) []AssetColumn {
	out := make([]AssetColumn, len(cols))
	for i, c := range cols {
		n := AssetColumn{Name: c.Name, Exact: c.Exact}
		for _, f := range c.From {
			if name := asset(f.Table); name != "" {
				n.From = append(n.From, AssetRef{name, f.Column})
			} else {
				n.Exact = false
			}
		}
		slices.SortFunc(n.From, func(a, b AssetRef) int { return cmp.Or(cmp.Compare(a.Asset, b.Asset), cmp.Compare(a.Column, b.Column)) })
		n.From = slices.Compact(n.From)
		out[i] = n
	}
	return out
}

// Merge puts what the header says in the place of what was inferred, column by column.
// Several annotations of one column count together. Those of columns that are not in the
// inferred ones come after them, in their order: the SELECT's columns may not be known.
func Merge(inferred, annotated []AssetColumn) []AssetColumn {
	out := slices.Clone(inferred)
	for i, c := range annotated {
		at := slices.IndexFunc(out, func(o AssetColumn) bool { return o.Name != "" && fold(o.Name) == fold(c.Name) })
		first := !slices.ContainsFunc(annotated[:i], func(o AssetColumn) bool { return fold(o.Name) == fold(c.Name) })
		switch {
		case at < 0:
			out = append(out, AssetColumn{Name: c.Name, From: slices.Clone(c.From), Exact: true, Annotated: true})
		case first:
			out[at] = AssetColumn{Name: out[at].Name, From: slices.Clone(c.From), Exact: true, Annotated: true}
		default:
			for _, f := range c.From {
				if !slices.Contains(out[at].From, f) {
					out[at].From = append(out[at].From, f)
				}
			}
		}
	}
	return out
}
