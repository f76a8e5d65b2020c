package hold

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// column is a pull reader of one 64-bit column in the order of the file.
type column struct {
	groups []parquet.RowGroup
	leaf   int
	pages  parquet.Pages
	page   parquet.Page
	vals   []int64 // not yet taken
	buf    []int64
	ids    bool // they are row ids
}

func (r *reader) column(leaf int, ids bool) *column {
	return &column{groups: r.pq.RowGroups(), leaf: leaf, ids: ids}
}

// badIDs says why the row ids of a file are none.
type badIDs string

func (b badIDs) Error() string { return "hold: the row-id column: " + string(b) }

// Unwrap makes it a kind of damage.
func (badIDs) Unwrap() error { return ErrDamaged }

func (c *column) close() {
	c.release()
	if c.pages != nil {
		_ = c.pages.Close()
		c.pages = nil
	}
}

func (c *column) release() {
	if c.page != nil {
		parquet.Release(c.page)
		c.page = nil
	}
}

// next returns up to n values, at least one; io.EOF at the end. They are good until the
// next call. REQUIRES: it runs within guarded.
func (c *column) next(n int) ([]int64, error) {
	for len(c.vals) == 0 {
		if err := c.fill(); err != nil {
			return nil, err
		}
	}
	n = min(n, len(c.vals))
	out := c.vals[:n]
	c.vals = c.vals[n:]
	return out, nil
}

func (c *column) fill() error {
	c.release()
	for c.pages == nil {
		if len(c.groups) == 0 {
			return io.EOF
		}
		chunks := c.groups[0].ColumnChunks()
		c.groups = c.groups[1:]
		if c.leaf >= len(chunks) {
			return fmt.Errorf("%w: a row group without the column", ErrDamaged)
		}
		c.pages = chunks[c.leaf].Pages()
	}
	page, err := c.pages.ReadPage()
	if errors.Is(err, io.EOF) {
		err = c.pages.Close()
		c.pages = nil
		return err
	}
	if err != nil {
		return damaged(err)
	}
	c.page = page
	if page.NumNulls() > 0 {
		if c.ids {
			return badIDs("it is NULL in some row")
		}
		return fmt.Errorf("%w: a NULL", ErrDamaged)
	}
	if dict := page.Dictionary(); dict != nil {
		index, values := page.Data(), dict.Page().Data()
		keys, words := index.Int32(), values.Int64()
		c.buf = c.buf[:0]
		for _, k := range keys {
			c.buf = append(c.buf, words[k]) // an index that is out of range panics: damaged
		}
		c.vals = c.buf
		return nil
	}
	data := page.Data()
	c.vals = data.Int64()
	return nil
}

// each calls fn with all values.
func (c *column) each(fn func(v []int64) error) error {
	for {
		v, err := c.next(batch)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := fn(v); err != nil {
			return err
		}
	}
}

// batch is how many rows are handled at a time.
const batch = 8192
