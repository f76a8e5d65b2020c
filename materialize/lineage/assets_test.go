package lineage

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAssets(t *testing.T) {
	t.Parallel()
	tab := func(name string) TableRef { return TableRef{Name: name} }
	got := Assets([]Column{
		{Name: "x", From: []ColumnRef{{tab("b"), "q"}, {tab("a"), "p"}, {tab("A"), "p"}}, Exact: true},
		{Name: "y", From: []ColumnRef{{tab("temp"), "q"}}, Exact: true},
	}, func(r TableRef) string {
		if r.Name == "temp" {
			return ""
		}
		return "ducklake://lake/" + strings.ToLower(r.Name)
	})
	want := []AssetColumn{
		{Name: "x", From: []AssetRef{{"ducklake://lake/a", "p"}, {"ducklake://lake/b", "q"}}, Exact: true},
		{Name: "y"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	a, b := AssetRef{"ducklake://l/a", "x"}, AssetRef{"ducklake://l/b", "y"}
	inferred := []AssetColumn{{Name: "One", From: []AssetRef{a}}, {Name: "two", From: []AssetRef{a}, Exact: true}, {Name: ""}}
	got := Merge(inferred, []AssetColumn{{Name: "one", From: []AssetRef{b}}, {Name: "ONE", From: []AssetRef{a, b}}, {Name: "new", From: []AssetRef{a}}})
	want := []AssetColumn{
		{Name: "One", From: []AssetRef{b, a}, Exact: true, Annotated: true},
		{Name: "two", From: []AssetRef{a}, Exact: true},
		{Name: ""},
		{Name: "new", From: []AssetRef{a}, Exact: true, Annotated: true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if inferred[0].Annotated {
		t.Error("Merge changed what it was given")
	}
}

// Columns without an annotation stay, those with one have exactly the annotated origins.
func TestMergeProperties(t *testing.T) {
	t.Parallel()
	column := rapid.Custom(func(t *rapid.T) AssetColumn {
		return AssetColumn{
			Name:  rapid.SampledFrom([]string{"", "a", "A", "b", "c"}).Draw(t, "name"),
			From:  []AssetRef{{rapid.SampledFrom([]string{"p", "q", "r"}).Draw(t, "asset"), "x"}},
			Exact: rapid.Bool().Draw(t, "exact"),
		}
	})
	named := column.Filter(func(c AssetColumn) bool { return c.Name != "" })
	rapid.Check(t, func(t *rapid.T) {
		inferred := rapid.SliceOfNDistinct(column, 0, 4, func(c AssetColumn) string { return fold(c.Name) }).Draw(t, "inferred")
		annotated := rapid.SliceOfN(named, 0, 5).Draw(t, "annotated")
		got := Merge(inferred, annotated)
		for i, c := range got {
			var says []AssetRef
			for _, x := range annotated {
				if fold(x.Name) == fold(c.Name) {
					says = append(says, x.From...)
				}
			}
			if len(says) == 0 {
				if !cmp.Equal(c, inferred[i]) {
					t.Fatalf("%d: %v was %v", i, c, inferred[i])
				}
				continue
			}
			for _, r := range says {
				if !slices.Contains(c.From, r) {
					t.Fatalf("%s lacks %v", c.Name, r)
				}
			}
			for _, r := range c.From {
				if !slices.Contains(says, r) {
					t.Fatalf("%s has %v, which no annotation says", c.Name, r)
				}
			}
			if !c.Exact || !c.Annotated {
				t.Fatalf("%v does not say that it is annotated", c)
			}
		}
	})
}
