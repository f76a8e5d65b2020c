package exec

import (
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// arrayElems decodes an array's elements in storage order, with its dimensions.
func arrayElems(d types.Datum) ([]types.Datum, []types.ArrayDim, error) {
	if len(d.B) < 12 {
		return nil, nil, pgerr.New(pgerr.DataCorrupted, "array value is damaged")
	}
	a := types.ArrayOpen(d)
	return a.Elems(), a.Dims, nil
}

// MakeArray builds a one-dimensional array.
func MakeArray(elem types.OID, elems []types.Datum) types.Datum { return types.MakeArray(elem, elems) }

// accumulate is nestArrays for arrays that come as rows.
func accumulate(elem types.OID, arrays []types.Datum) (types.Datum, error) {
	for i, a := range arrays {
		if !a.Valid {
			break // refused below
		}
		_, dims, err := arrayElems(a)
		if err != nil {
			return types.Null, err
		}
		if len(dims) == 0 {
			return types.Null, pgerr.New(pgerr.ArraySubscriptError, "cannot accumulate empty arrays")
		}
		if i > 0 {
			if _, first, _ := arrayElems(arrays[0]); !sameDims(first, dims) {
				return types.Null, pgerr.New(pgerr.ArraySubscriptError, "cannot accumulate arrays of different dimensionality")
			}
		}
	}
	return nestArrays(elem, arrays)
}

// nestArrays builds an array whose first dimension runs over arrays of equal dimensions.
func nestArrays(elem types.OID, arrays []types.Datum) (types.Datum, error) {
	var all []types.Datum
	var dims []types.ArrayDim
	for i, a := range arrays {
		if !a.Valid {
			return types.Null, pgerr.New(pgerr.NullValueNotAllowed, "cannot accumulate null arrays")
		}
		es, ds, err := arrayElems(a)
		if err != nil {
			return types.Null, err
		}
		if i == 0 {
			dims = ds
		} else if !sameDims(dims, ds) {
			return types.Null, pgerr.New(pgerr.ArraySubscriptError, "multidimensional arrays must have array expressions with matching dimensions")
		}
		all = append(all, es...)
	}
	if len(dims) == 0 {
		return types.MakeArray(elem, nil), nil
	}
	out := append([]types.ArrayDim{{Len: int32(len(arrays)), Lower: 1}}, dims...)
	return types.MakeArrayDims(elem, out, all)
}

func sameDims(a, b []types.ArrayDim) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Len != b[i].Len {
			return false
		}
	}
	return true
}

// ArrayX is ARRAY[…]; Nested items are arrays themselves.
type ArrayX struct {
	Items  []Expr
	Nested bool
	Elem   types.OID
	T      types.T
}

// Type is the array type.
func (e *ArrayX) Type() types.T { return e.T }

// Eval builds the array.
func (e *ArrayX) Eval(c *Ctx, row Row) (types.Datum, error) {
	elems := make([]types.Datum, len(e.Items))
	var h held
	defer h.release(c)
	for i, it := range e.Items {
		d, err := it.Eval(c, row)
		if err != nil {
			return types.Null, err
		}
		if err := h.add(c, &d); err != nil {
			return types.Null, err
		}
		elems[i] = d
	}
	if e.Nested {
		return nestArrays(e.Elem, elems)
	}
	return types.MakeArray(e.Elem, elems), nil
}

// MapParts maps the items.
func (e *ArrayX) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	l, ch, err := mapList(e.Items, f)
	if err != nil || !ch {
		return e, err
	}
	n := *e
	n.Items = l
	return &n, nil
}

// IndexX is a[i][j] or a[lo:hi]; with any slice all subscripts are slices.
type IndexX struct {
	Arg     Expr
	Lo, Hi  []Expr
	IsSlice []bool
	Slice   bool
	T       types.T
}

// Type is the element type, or the array's for slices.
func (e *IndexX) Type() types.T { return e.T }

// Eval reads the element; outside of the array it is NULL.
func (e *IndexX) Eval(c *Ctx, row Row) (types.Datum, error) {
	a, err := e.Arg.Eval(c, row)
	if err != nil || !a.Valid {
		return types.Null, err
	}
	elems, dims, err := arrayElems(a)
	if err != nil {
		return types.Null, err
	}
	n := len(e.Lo)
	lo, hi := make([]int, n), make([]int, n)
	for i := range n {
		for _, side := range []struct {
			e  Expr
			to *int
			lo bool
		}{{e.Lo[i], &lo[i], true}, {e.Hi[i], &hi[i], false}} {
			if side.e == nil {
				if i < len(dims) {
					*side.to = int(dims[i].Lower)
					if !side.lo {
						*side.to += int(dims[i].Len) - 1
					}
				}
				continue
			}
			d, err := side.e.Eval(c, row)
			if err != nil || !d.Valid {
				return types.Null, err
			}
			*side.to = int(d.I)
		}
	}
	if e.Slice {
		return e.slice(elems, dims, lo, hi)
	}
	if n != len(dims) {
		return types.Null, nil
	}
	at := 0
	for i, d := range dims {
		k := lo[i] - int(d.Lower)
		if k < 0 || k >= int(d.Len) {
			return types.Null, nil
		}
		at = at*int(d.Len) + k
	}
	return elems[at], nil
}

func (e *IndexX) slice(elems []types.Datum, dims []types.ArrayDim, lo, hi []int) (types.Datum, error) {
	elem := types.ElemOf(e.T.OID)
	if len(lo) > len(dims) {
		return types.MakeArray(elem, nil), nil
	}
	from, to := make([]int, len(dims)), make([]int, len(dims))
	out := make([]types.ArrayDim, len(dims))
	for i, d := range dims {
		from[i], to[i] = 0, int(d.Len)-1
		if i < len(lo) {
			l, h := lo[i], hi[i]
			if !e.IsSlice[i] { // a plain subscript among slices means 1:n
				l, h = 1, lo[i]
			}
			from[i], to[i] = max(0, l-int(d.Lower)), min(int(d.Len)-1, h-int(d.Lower))
		}
		if from[i] > to[i] {
			return types.MakeArray(elem, nil), nil
		}
		out[i] = types.ArrayDim{Len: int32(to[i] - from[i] + 1), Lower: 1}
	}
	var pick []types.Datum
	idx := append([]int(nil), from...)
	for {
		at := 0
		for i, d := range dims {
			at = at*int(d.Len) + idx[i]
		}
		pick = append(pick, elems[at])
		k := len(idx) - 1
		for k >= 0 {
			idx[k]++
			if idx[k] <= to[k] {
				break
			}
			idx[k] = from[k]
			k--
		}
		if k < 0 {
			break
		}
	}
	return types.MakeArrayDims(elem, out, pick)
}

// MapParts maps the array and the subscripts.
func (e *IndexX) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	n := *e
	var err error
	if n.Arg, err = f(e.Arg); err != nil {
		return nil, err
	}
	if n.Lo, _, err = mapList(e.Lo, f); err != nil {
		return nil, err
	}
	if n.Hi, _, err = mapList(e.Hi, f); err != nil {
		return nil, err
	}
	return &n, nil
}

// arrayCat is array || array: equal dimensions are joined, one less is an element.
func arrayCat(elem types.OID) func(*Ctx, types.Datum, types.Datum) (types.Datum, error) {
	return func(_ *Ctx, a, b types.Datum) (types.Datum, error) {
		if !a.Valid {
			return b, nil
		}
		if !b.Valid {
			return a, nil
		}
		ae, ad, err := arrayElems(a)
		if err != nil {
			return types.Null, err
		}
		be, bd, err := arrayElems(b)
		if err != nil {
			return types.Null, err
		}
		if len(ad) == 0 {
			return b, nil
		}
		if len(bd) == 0 {
			return a, nil
		}
		all := append(append([]types.Datum(nil), ae...), be...)
		bad := func() (types.Datum, error) {
			return types.Null, pgerr.New(pgerr.ArraySubscriptError, "cannot concatenate incompatible arrays")
		}
		switch len(ad) - len(bd) {
		case 0:
			if !sameDims(ad[1:], bd[1:]) {
				return bad()
			}
			dims := append([]types.ArrayDim(nil), ad...)
			dims[0].Len += bd[0].Len
			return types.MakeArrayDims(elem, dims, all)
		case 1:
			if !sameDims(ad[1:], bd) {
				return bad()
			}
			dims := append([]types.ArrayDim(nil), ad...)
			dims[0].Len++
			return types.MakeArrayDims(elem, dims, all)
		case -1:
			if !sameDims(bd[1:], ad) {
				return bad()
			}
			dims := append([]types.ArrayDim(nil), bd...)
			dims[0].Len++
			return types.MakeArrayDims(elem, dims, all)
		}
		return bad()
	}
}

// arrayPush adds an element at an end of an array.
func arrayPush(elem types.OID, arr, val types.Datum, front bool) (types.Datum, error) {
	var es []types.Datum
	lower := int32(1)
	if arr.Valid {
		var ds []types.ArrayDim
		var err error
		if es, ds, err = arrayElems(arr); err != nil {
			return types.Null, err
		}
		if len(ds) > 1 {
			return types.Null, pgerr.New(pgerr.DataException, "argument must be empty or one-dimensional array")
		}
		if len(ds) == 1 {
			lower = ds[0].Lower
		}
	}
	if front {
		es = append([]types.Datum{val}, es...)
	} else {
		es = append(es, val)
	}
	return types.MakeArrayDims(elem, []types.ArrayDim{{Len: int32(len(es)), Lower: lower}}, es)
}

// arrayContains says whether every element of b is in a; NULLs never are.
func arrayContains(oid types.OID, a, b types.Datum) (bool, error) {
	ae, _, err := arrayElems(a)
	if err != nil {
		return false, err
	}
	be, _, err := arrayElems(b)
	if err != nil {
		return false, err
	}
next:
	for i := range be {
		if !be[i].Valid {
			return false, nil
		}
		for k := range ae {
			if ae[k].Valid && CompareDatum(oid, &ae[k], &be[i]) == 0 {
				continue next
			}
		}
		return false, nil
	}
	return true, nil
}

func arrayOverlap(oid types.OID, a, b types.Datum) (bool, error) {
	ae, _, err := arrayElems(a)
	if err != nil {
		return false, err
	}
	be, _, err := arrayElems(b)
	if err != nil {
		return false, err
	}
	for i := range be {
		for k := range ae {
			if be[i].Valid && ae[k].Valid && CompareDatum(oid, &ae[k], &be[i]) == 0 {
				return true, nil
			}
		}
	}
	return false, nil
}
