package storm

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestModelReplays(t *testing.T) {
	var m Model
	m.Add(Commit{"b", 7, []Change{{Kind: Put, Table: "t", Key: 2, Val: 20}, {Kind: Put, Table: "t", Key: 1, Val: 11}}})
	m.Add(Commit{"a", 3, []Change{{Kind: Create, Table: "t"}, {Kind: Put, Table: "t", Key: 1, Val: 10}}})
	m.Add(Commit{"c", 9, []Change{{Kind: Delete, Table: "t", Key: 1}, {Kind: Rename, Table: "t", To: "u"}}})
	m.Add(Commit{"d", 10, []Change{{Kind: Drop, Table: "u"}}})
	var got []string
	err := m.Walk([]int64{2, 3, 8, 9, 10}, func(snap int64, s State) error {
		names := []string{}
		for n, rows := range s {
			names = append(names, n+":"+sumText(SumOf(rows)))
		}
		got = append(got, strings.Join(names, " "))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"", "t:1,1,10", "t:2,3,31", "u:1,2,20", ""}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestModelRefusesImpossibleHistories(t *testing.T) {
	create := Commit{"a", 1, []Change{{Kind: Create, Table: "t"}, {Kind: Put, Table: "t", Key: 1, Val: 1}}}
	for name, bad := range map[string]Commit{
		"one snapshot for two commits":   {"b", 1, nil},
		"a key is deleted twice":         {"b", 2, []Change{{Kind: Delete, Table: "t", Key: 1}, {Kind: Delete, Table: "t", Key: 1}}},
		"a write into a missing table":   {"b", 2, []Change{{Kind: Put, Table: "u", Key: 1}}},
		"a rename over an existing name": {"b", 2, []Change{{Kind: Create, Table: "u"}, {Kind: Rename, Table: "t", To: "u"}}},
	} {
		var m Model
		m.Add(create)
		m.Add(bad)
		if err := m.Walk([]int64{5}, func(int64, State) error { return nil }); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestCompareSeesEverything(t *testing.T) {
	want := map[int64]int64{1: 10, 2: 20, 3: 30}
	for _, c := range []struct {
		got  []Row
		part string
	}{
		{[]Row{{1, 10}, {2, 20}, {3, 30}}, ""},
		{[]Row{{1, 10}, {2, 20}}, "1 keys missing, first [3]"},
		{[]Row{{1, 10}, {2, 20}, {3, 30}, {4, 40}}, "1 keys should not be there, first [4]"},
		{[]Row{{1, 10}, {2, 20}, {3, 30}, {3, 30}}, "1 keys there more than once, first [3]"},
		{[]Row{{1, 10}, {2, 21}, {3, 30}}, "1 keys have another value, first [2]"},
		{[]Row{{1, 10}, {2, 20}, {2, 21}}, "1 keys missing, first [3]\n1 keys there more than once, first [2]"},
	} {
		if got := strings.Join(Compare(want, c.got), "\n"); got != c.part {
			t.Errorf("%v: got %q, want %q", c.got, got, c.part)
		}
	}
}

func sumText(s Sum) string {
	return fmt.Sprintf("%d,%d,%d", s.Rows, s.Keys, s.Vals)
}
