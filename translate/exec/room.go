package exec

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/eiderdb/eider/translate/types"
)

const (
	// maxValue bounds one value that an expression makes, as PostgreSQL bounds it.
	maxValue = 1<<30 - 1
	// bigValue is the size from which a single value is accounted for while an expression
	// holds it. Smaller ones are bounded by the length of the statement.
	bigValue = 64 << 10
	// elemSize is what an element of a list costs beside its bytes.
	elemSize = 96
	// jsonItemSize is the same for an item of a parsed JSON value.
	jsonItemSize = 200
)

// room says whether a value of n bytes may be made: 54000 where none may be that long,
// 53200 where the statement has no memory for it. Whoever makes more bytes than a small
// multiple of its arguments asks before it does.
func (c *Ctx) room(n int64) error {
	if n < bigValue {
		return nil
	}
	if n > maxValue {
		return tooLong()
	}
	err := c.Mem.Grow(n)
	c.Mem.Shrink(n)
	return err
}

// held is the sum of the large values that an expression holds while it evaluates more.
// The zero held holds nothing.
type held int64

// add accounts for one more value.
func (h *held) add(c *Ctx, d *types.Datum) error {
	n := datumBytes(d)
	if n < bigValue {
		return nil
	}
	*h += held(n)
	return c.Mem.Grow(n)
}

// release gives back everything.
func (h *held) release(c *Ctx) {
	if *h != 0 {
		c.Mem.Shrink(int64(*h))
		*h = 0
	}
}

// datumBytes is the size of a value's variable part.
func datumBytes(d *types.Datum) int64 {
	n := int64(len(d.B))
	if d.R != nil && d.Valid {
		n += int64(len(d.R)) * elemSize
		for i := range d.R {
			n += datumBytes(&d.R[i])
		}
	}
	return n
}

// roomForMatches asks for the list of all matches of a regular expression.
func (c *Ctx) roomForMatches(re *regexp.Regexp, s string) error {
	per := int64(elemSize + 64*re.NumSubexp())
	if int64(len(s))*per < bigValue {
		return nil
	}
	if err := c.room(min(maxValue, int64(len(s))*per)); err == nil {
		return nil
	}
	// The worst case does not fit; count what there is.
	n := int64(0)
	re.ReplaceAllStringFunc(s, func(string) string {
		n++
		return ""
	})
	return c.room(n * per)
}

// roomForJSON asks for the tree of a JSON value: an item costs a multiple of its text. A
// value of another type needs none.
func (c *Ctx) roomForJSON(oid types.OID, b []byte) error {
	if len(b) < bigValue || oid != types.JSONOID && oid != types.JSONBOID {
		return nil
	}
	return c.room(min(maxValue, int64(bytes.Count(b, comma))*jsonItemSize))
}

var comma = []byte(",")

// roomForSplit asks for the parts of s between separators.
func (c *Ctx) roomForSplit(s, sep string) error {
	return c.room(int64(strings.Count(s, sep)) * elemSize)
}
