package exec

import (
	"github.com/eiderdb/eider/translate/types"
)

// Hypothetical is the hypothetical-set aggregate of a name, nil if there is none. Its arguments
// are those of the imagined row and then as many that the rows are ordered by.
func Hypothetical(name string) *AggDef {
	d := AggDef{Name: name, Ret: types.Float8OID, Ordered: true}
	switch name {
	case "rank", "dense_rank":
		d.Ret = types.Int8OID
	case "percent_rank", "cume_dist":
	default:
		return nil
	}
	d.Impl = &AggImpl{NullArgs: true, New: func(s *AggSpec) AggState { return newHypothetical(s) }}
	return &d
}

// hypothetical says where the imagined row would stand. Rows come in order.
type hypothetical struct {
	name string
	keys []SortKey
	rows int64
	// before and upTo count the rows that stand before the imagined one, and those with its equals.
	before, upTo int64
	// distinct counts the different ones of those before it; last is the latest of them.
	distinct int64
	last     Row
	store    *rowStore
}

func newHypothetical(s *AggSpec) *hypothetical {
	h := &hypothetical{name: s.Name, keys: make([]SortKey, len(s.Order))}
	for i, o := range s.Order {
		h.keys[i] = o.Key
		h.keys[i].Idx = i
	}
	return h
}

func (h *hypothetical) use(st *rowStore) { h.store = st }

func (h *hypothetical) Add(_ *Ctx, a []types.Datum) error {
	h.rows++
	n := len(h.keys)
	imagined, row := a[:n], a[n:]
	order := compareKeys(h.keys, row, imagined)
	if order <= 0 {
		h.upTo++
	}
	if order >= 0 {
		return nil
	}
	h.before++
	if h.last != nil && compareKeys(h.keys, row, h.last) == 0 {
		return nil
	}
	h.distinct++
	var err error
	h.last, err = h.store.keep(row)
	return err
}

func (h *hypothetical) Result(*Ctx) (types.Datum, error) {
	switch h.name {
	case "rank":
		return Int(h.before + 1), nil
	case "dense_rank":
		return Int(h.distinct + 1), nil
	case "percent_rank":
		if h.rows == 0 {
			return types.Float8(0), nil
		}
		return types.Float8(float64(h.before) / float64(h.rows)), nil
	}
	return types.Float8(float64(h.upTo+1) / float64(h.rows+1)), nil
}
