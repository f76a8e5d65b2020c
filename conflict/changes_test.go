package conflict_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/eiderdb/eider/conflict"
)

func TestParseChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want conflict.Changes
	}{
		{"", nil},
		{"inlined_insert:2,inlined_delete:2", conflict.Changes{{Kind: conflict.InlinedInsert, ID: 2}, {Kind: conflict.InlinedDelete, ID: 2}}},
		{`created_schema:"main"`, conflict.Changes{{Kind: conflict.CreatedSchema, Schema: "main"}}},
		{`created_table:"a""b,c"."d.e:""",dropped_view:7`, conflict.Changes{
			{Kind: conflict.CreatedTable, Schema: `a"b,c`, Name: `d.e:"`},
			{Kind: conflict.DroppedView, ID: 7},
		}},
		{"MERGE_adjacent:1", conflict.Changes{{Kind: conflict.MergeAdjacent, ID: 1}}},
		{"compacted_table:1,flushed_inlined:3", conflict.Changes{{Kind: conflict.CompactedTable, ID: 1}, {Kind: conflict.FlushedInlined, ID: 3}}},
		{"created_table:\"\x00\".\"\"\"\"", conflict.Changes{{Kind: conflict.CreatedTable, Schema: "\x00", Name: `"`}}},
		{"altered_table:9223372036854775807", conflict.Changes{{Kind: conflict.AlteredTable, ID: 9223372036854775807}}},
	} {
		got, err := conflict.ParseChanges(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%q: %s", c.text, d)
		}
	}
}

func TestParseChangesRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"my_own_kind:1", "inserted_into_table", "inserted_into_table:", "inserted_into_table:-1", "inserted_into_table: 1",
		"inserted_into_table:1,", ",inserted_into_table:1", "inserted_into_table:1,,altered_table:1", "inserted_into_table:1 ",
		"inserted_into_table:9223372036854775808", "inserted_into_table:1x", `inserted_into_table:"a"`,
		"created_table:1", `created_table:"a"`, `created_table:"a".b`, `created_table:"a"."b`, `created_table:"a"b"."c"`,
		`created_schema:main`, `created_schema:"a"."b"`, "unknown:1", ":1", " inserted_into_table:1", "\x00",
		"in\u017ferted_into_table:1",
	} {
		if got, err := conflict.ParseChanges(text); !errors.Is(err, conflict.ErrChanges) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// Every keyword of the grammar, so that one that is left out is noticed.
func TestChangeKinds(t *testing.T) {
	t.Parallel()
	var words []string
	for _, k := range conflict.ChangeKinds() {
		words = append(words, k.String())
	}
	want := strings.Fields(`dropped_schema dropped_table dropped_view created_schema created_table created_view
		created_scalar_macro created_table_macro dropped_scalar_macro dropped_table_macro inserted_into_table deleted_from_table
		altered_table altered_view inlined_insert inlined_delete inline_flush merge_adjacent rewrite_delete compacted_table flushed_inlined`)
	if d := cmp.Diff(want, words); d != "" {
		t.Error(d)
	}
	if got := conflict.ChangeKind(200).String(); got != "unknown" {
		t.Error(got)
	}
}

func drawName() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune(`",.:; ab'`+"\x00"))), rapid.SampledFrom([]string{"", "main", `"`, `""`, "unique_x"}))
}

func drawChange() *rapid.Generator[conflict.Change] {
	return rapid.Custom(func(t *rapid.T) conflict.Change {
		k := rapid.SampledFrom(conflict.ChangeKinds()).Draw(t, "kind")
		c := conflict.Change{Kind: k}
		switch k {
		case conflict.CreatedSchema:
			c.Schema = drawName().Draw(t, "schema")
		case conflict.CreatedTable, conflict.CreatedView, conflict.CreatedScalarMacro, conflict.CreatedTableMacro:
			c.Schema, c.Name = drawName().Draw(t, "schema"), drawName().Draw(t, "name")
		default:
			c.ID = rapid.Int64Min(0).Draw(t, "id")
		}
		return c
	})
}

func TestChangesRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := conflict.Changes(rapid.SliceOfN(drawChange(), 0, 12).Draw(t, "changes"))
		out, err := conflict.ParseChanges(in.String())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(in, out) {
			t.Fatalf("%q\n%v\n%v", in.String(), in, out)
		}
	})
}

// What is read prints to a text that reads the same, and printing is at rest after one turn.
func FuzzParseChanges(f *testing.F) {
	f.Add(`created_table:"a""b,c"."d",inlined_insert:2`)
	f.Add("dropped_schema:0,rewrite_delete:18446744073709551615")
	f.Add(`created_schema:"`)
	for _, k := range conflict.ChangeKinds() {
		f.Add(fmt.Sprintf(`%s:1,%s:"x"."y"`, k, strings.ToUpper(k.String())))
	}
	f.Fuzz(func(t *testing.T, s string) {
		cs, err := conflict.ParseChanges(s)
		if err != nil {
			if !errors.Is(err, conflict.ErrChanges) || cs != nil {
				t.Fatal(cs, err)
			}
			return
		}
		text := cs.String()
		again, err := conflict.ParseChanges(text)
		if err != nil || !slices.Equal(cs, again) || again.String() != text {
			t.Fatalf("%q: %v, %v, %v", s, cs, again, err)
		}
	})
}

func BenchmarkParseChanges(b *testing.B) {
	for b.Loop() {
		if _, err := conflict.ParseChanges(`created_table:"main"."t",inserted_into_table:12,inlined_delete:12`); err != nil {
			b.Fatal(err)
		}
	}
}
