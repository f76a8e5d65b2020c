package exec

import (
	"errors"
	"testing"

	"github.com/eiderdb/eider/translate/types"
)

// broken fails after its rows.
type broken struct{ SliceIter }

func (b *broken) Next() (Row, error) {
	r, err := b.SliceIter.Next()
	if err == EOF {
		err = errors.New("broken")
	}
	return r, err
}

// TestKeep: rows come as they were, and are kept only when all of them were read and fit.
func TestKeep(t *testing.T) {
	t.Parallel()
	cols := []Column{{Name: "a", Type: types.T{OID: types.Int8OID}}, {Name: "b", Type: types.T{OID: types.TextOID}}}
	rows := []Row{
		{{I: -1, Valid: true}, {B: []byte("x"), Valid: true}},
		{types.Null, {B: []byte{}, Valid: true}},
		{{Valid: true}, types.Null},
	}
	read := func(it Iter, most int) (n int) {
		for range most {
			r, err := it.Next()
			if err != nil {
				return n
			}
			if len(r) != 2 || r[0].Valid != rows[n][0].Valid || r[0].I != rows[n][0].I || r[1].Valid != rows[n][1].Valid || string(r[1].B) != string(rows[n][1].B) {
				t.Errorf("row %d is %v", n, r)
			}
			n++
		}
		return n
	}
	for _, c := range []struct {
		name  string
		it    Iter
		cols  []Column
		limit int
		most  int
		kept  bool
	}{
		{"all", &SliceIter{Items: rows}, cols, 1000, 9, true},
		{"not to the end", &SliceIter{Items: rows}, cols, 1000, 3, false},
		{"too much", &SliceIter{Items: rows}, cols, 20, 9, false},
		{"an error", &broken{SliceIter{Items: rows}}, cols, 1000, 9, false},
		{"a type that is not stored", &SliceIter{Items: rows}, []Column{cols[0], {Type: types.T{OID: types.RecordOID}}}, 1000, 9, false},
	} {
		var kept *Kept
		it := Keep(c.it, c.cols, c.limit, func(k *Kept) { kept = k })
		if n := read(it, c.most); n != len(rows) {
			t.Errorf("%s: %d rows", c.name, n)
		}
		if err := it.Close(); err != nil {
			t.Error(err)
		}
		if (kept != nil) != c.kept {
			t.Errorf("%s: kept is %v", c.name, kept != nil)
		}
		if kept == nil {
			continue
		}
		if kept.Rows() != len(rows) || kept.Bytes() == 0 {
			t.Errorf("%s: %d rows, %d bytes", c.name, kept.Rows(), kept.Bytes())
		}
		for range 2 { // as often as one likes
			if n := read(kept.Open(&Ctx{}), 9); n != len(rows) {
				t.Errorf("%s: %d rows the second time", c.name, n)
			}
		}
	}
}
