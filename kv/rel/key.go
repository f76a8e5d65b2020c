package rel

import (
	"fmt"

	"github.com/eiderdb/eider/kv/keys"
	"github.com/eiderdb/eider/kv/row"
)

// Keys of a relation, after the prefix that the store puts before them (catalog, 't'):
//
//	uvarint storage | 0x00       | layout parts | row id        → stored row
//	uvarint storage | uvarint id | columns      | row id        → empty        (index)
//	uvarint storage | uvarint id | columns                      → row id       (unique index, no NULL in the columns)
//	uvarint storage | 0xFF       | row id                       → layout parts (locator; only with a layout)
//
// A row id is 6 bytes big-endian. Index ids start at 1 and 0xFF leads no uvarint of 32
// bits, so the four kinds cannot meet. Everything of a storage lies in one range.
const (
	primaryID  = 0x00
	locatorTag = 0xFF
	rowIDLen   = 6
)

// AppendStorage appends what leads all keys of a storage.
func AppendStorage(dst []byte, storage uint64) []byte { return keys.AppendUvarint(dst, storage) }

// AppendRowID appends a row id as keys and index values hold it.
func AppendRowID(dst []byte, rowid uint64) []byte {
	return append(dst, byte(rowid>>40), byte(rowid>>32), byte(rowid>>24), byte(rowid>>16), byte(rowid>>8), byte(rowid))
}

// TrailingRowID returns the row id that b ends with.
func TrailingRowID(b []byte) (uint64, error) {
	if len(b) < rowIDLen {
		return 0, fmt.Errorf("%w: no row id in %d bytes", keys.ErrMalformed, len(b))
	}
	b = b[len(b)-rowIDLen:]
	return uint64(b[0])<<40 | uint64(b[1])<<32 | uint64(b[2])<<24 | uint64(b[3])<<16 | uint64(b[4])<<8 | uint64(b[5]), nil
}

// AppendPrimary appends what leads the row keys of t.
func AppendPrimary(dst []byte, t *Table) []byte {
	return append(AppendStorage(dst, t.Storage), primaryID)
}

// AppendLayout appends the layout parts of a tuple: nothing for a table in row-id order.
func AppendLayout(dst []byte, t *Table, tup row.Tuple) ([]byte, error) {
	for _, p := range t.Layout {
		c, ok := t.ColumnByNum(p.Column)
		if !ok {
			return dst, fmt.Errorf("%w: layout column %d of %q", ErrKeyValue, p.Column, t.Name)
		}
		val, null := c.Value(tup)
		if p.IsNull {
			dst = appendIsNull(dst, null)
			continue
		}
		var err error
		if dst, err = AppendKey(dst, c.Type, val, null); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// appendIsNull puts true first: live rows before ended ones.
func appendIsNull(dst []byte, null bool) []byte { return keys.AppendBool(dst, !null) }

// AppendRowKey appends the key of a row.
func AppendRowKey(dst []byte, t *Table, tup row.Tuple, rowid uint64) ([]byte, error) {
	dst, err := AppendLayout(AppendPrimary(dst, t), t, tup)
	if err != nil {
		return dst, err
	}
	return AppendRowID(dst, rowid), nil
}

// AppendRowKeyAt appends the key of a row whose layout parts are known from its locator.
func AppendRowKeyAt(dst []byte, t *Table, layout []byte, rowid uint64) []byte {
	return AppendRowID(append(AppendPrimary(dst, t), layout...), rowid)
}

// AppendLocators appends what leads the locators of t.
func AppendLocators(dst []byte, t *Table) []byte {
	return append(AppendStorage(dst, t.Storage), locatorTag)
}

// AppendLocator appends the key of a row's locator.
func AppendLocator(dst []byte, t *Table, rowid uint64) []byte {
	return AppendRowID(AppendLocators(dst, t), rowid)
}

// AppendIndex appends what leads the keys of an index.
func AppendIndex(dst []byte, t *Table, idx *Index) []byte {
	return keys.AppendUvarint(AppendStorage(dst, t.Storage), uint64(idx.ID))
}

// AppendIndexKey appends the index key of a row. guarded says that the key itself must
// be the only one of its kind: the index is unique and no column is NULL. Then the row
// id is the entry's value; otherwise it ends the key and the value is empty.
func AppendIndexKey(dst []byte, t *Table, idx *Index, tup row.Tuple, rowid uint64) (key []byte, guarded bool, err error) {
	dst = AppendIndex(dst, t, idx)
	guarded = idx.Unique
	for _, num := range idx.Columns {
		c, ok := t.ColumnByNum(num)
		if !ok {
			return dst, false, fmt.Errorf("%w: index column %d of %q", ErrKeyValue, num, t.Name)
		}
		val, null := c.Value(tup)
		guarded = guarded && !null
		if dst, err = AppendKey(dst, c.Type, val, null); err != nil {
			return dst, false, err
		}
	}
	if !guarded {
		dst = AppendRowID(dst, rowid)
	}
	return dst, guarded, nil
}

// IndexRowID returns the row id of an index entry.
func IndexRowID(key, value []byte) (uint64, error) {
	if len(value) > 0 {
		return TrailingRowID(value)
	}
	return TrailingRowID(key)
}

// Part is one part of an access path's key: a column of some type, or its IS NULL.
type Part struct {
	Column *Column
	IsNull bool
}

// Parts returns the key parts of an index, or of the primary storage when idx is nil.
func Parts(t *Table, idx *Index) ([]Part, error) {
	var parts []Part
	if idx == nil {
		for _, p := range t.Layout {
			c, ok := t.ColumnByNum(p.Column)
			if !ok {
				return nil, fmt.Errorf("%w: layout column %d of %q", ErrKeyValue, p.Column, t.Name)
			}
			parts = append(parts, Part{c, p.IsNull})
		}
		return parts, nil
	}
	for _, num := range idx.Columns {
		c, ok := t.ColumnByNum(num)
		if !ok {
			return nil, fmt.Errorf("%w: index column %d of %q", ErrKeyValue, num, t.Name)
		}
		parts = append(parts, Part{Column: c})
	}
	return parts, nil
}

// appendPart appends one part with a value given in the column's binary form; nil is
// NULL. For an IsNull part the value is one byte, 1 for true.
func appendPart(dst []byte, p Part, val []byte) ([]byte, error) {
	if !p.IsNull {
		return AppendKey(dst, p.Column.Type, val, val == nil)
	}
	if len(val) != 1 || val[0] > 1 {
		return dst, fmt.Errorf("%w: IS NULL part takes one byte 0 or 1", ErrKeyValue)
	}
	return appendIsNull(dst, val[0] == 1), nil
}

// Bound is one end of a range on a key part, in the column's binary form.
type Bound struct {
	Value     []byte
	Inclusive bool
}

// Bounds returns the range [lower, upper) of the keys, after prefix, of an access path
// (idx, or the primary storage when it is nil) whose leading parts equal eq and whose
// next part lies between from and to. NULLs lie outside of every bound. upper is nil
// only if nothing bounds the keys above, which a store's prefix prevents.
func Bounds(prefix []byte, t *Table, idx *Index, eq [][]byte, from, to *Bound) (lower, upper []byte, err error) {
	parts, err := Parts(t, idx)
	if err != nil {
		return nil, nil, err
	}
	if len(eq) > len(parts) || (len(eq) == len(parts) && (from != nil || to != nil)) {
		return nil, nil, fmt.Errorf("%w: %d conditions on %d key parts of %q", ErrKeyValue, len(eq), len(parts), t.Name)
	}
	lo := append(make([]byte, 0, len(prefix)+64), prefix...)
	if idx == nil {
		lo = AppendPrimary(lo, t)
	} else {
		lo = AppendIndex(lo, t, idx)
	}
	for i, val := range eq {
		if lo, err = appendPart(lo, parts[i], val); err != nil {
			return nil, nil, err
		}
	}
	base := len(lo)
	hi := append(make([]byte, 0, len(lo)+16), lo...)
	if from == nil && to == nil {
		return lo, prefixEnd(hi), nil
	}
	next := parts[len(eq)]
	switch {
	case to != nil:
		if hi, err = appendPart(hi, next, to.Value); err != nil {
			return nil, nil, err
		}
		if to.Inclusive {
			hi = prefixEnd(hi)
		}
	case next.IsNull:
		hi = prefixEnd(hi)
	default:
		hi = append(hi, keys.Null) // excludes NULLs, which sort last
	}
	if from != nil {
		if lo, err = appendPart(lo[:base], next, from.Value); err != nil {
			return nil, nil, err
		}
		if !from.Inclusive {
			lo = prefixEnd(lo)
		}
	}
	return lo, hi, nil
}

// prefixEnd turns b, in place, into the smallest key above all keys that start with b;
// nil when there is none.
func prefixEnd(b []byte) []byte {
	for len(b) > 0 {
		if b[len(b)-1] != 0xFF {
			b[len(b)-1]++
			return b
		}
		b = b[:len(b)-1]
	}
	return nil
}
