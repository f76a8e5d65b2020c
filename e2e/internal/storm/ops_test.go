package storm

import (
	"fmt"
	"reflect"
	"testing"
)

// Equal seeds and outcomes give equal operations, and every operation can be replayed in the model.
func TestPlansAreRepeatable(t *testing.T) {
	shared := []string{"a", "b"}
	run := func(seed uint64) ([]Op, *Model) {
		p := NewPlan(seed, 3, shared, DML.Plus(DDL))
		var m Model
		m.Add(Commit{"setup", 0, []Change{{Kind: Create, Table: "a"}, {Kind: Create, Table: "b"}}})
		var ops []Op
		for i := range 2000 {
			op := p.Next()
			ops = append(ops, op)
			if i%7 == 3 {
				continue // refused
			}
			p.Done(op)
			m.Add(Commit{"op", int64(i + 1), op.Changes})
		}
		for _, name := range shared {
			if err := m.Walk([]int64{5000}, func(_ int64, s State) error {
				if !reflect.DeepEqual(s[name], p.Rows(name)) {
					t.Errorf("seed %d: the plan and the model differ on table %s", seed, name)
				}
				return nil
			}); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		return ops, &m
	}
	names := map[string]bool{}
	for seed := range uint64(5) {
		a, _ := run(seed)
		b, _ := run(seed)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("seed %d gave two plans", seed)
		}
		for _, op := range a {
			names[op.Name] = true
		}
	}
	for name := range DML.Plus(DDL) {
		if !names[name] {
			t.Errorf("operation %q never came", name)
		}
	}
}

// No transaction's update of a range, which goes to a file, touches a row of the transaction's own.
func TestRangesSpareOwnRows(t *testing.T) {
	ranges := 0
	for seed := range uint64(20) {
		p := NewPlan(seed, 0, []string{"a"}, Weights{InsertInline: 1, Several: 4})
		for range 300 {
			op := p.Next()
			old := p.Rows("a")
			for _, sql := range op.SQL {
				var d, lo, hi int64
				if n, _ := fmt.Sscanf(sql, "UPDATE lake.a SET v = v + %d WHERE k BETWEEN %d AND %d", &d, &lo, &hi); n != 3 {
					continue
				}
				ranges++
				for _, c := range op.Changes {
					if _, ok := old[c.Key]; !ok && lo <= c.Key && c.Key <= hi {
						t.Fatalf("seed %d: %v updates its own row %d", seed, op.SQL, c.Key)
					}
				}
			}
			p.Done(op)
		}
	}
	if ranges == 0 {
		t.Error("no range was updated")
	}
}
