package lake

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Reader reads the relations of a Source one row at a time: for what is too large for a
// Model.
type Reader struct {
	src  Source
	rels map[string][]string
}

// NewReader lists the relations of a source. The error is ErrNotALake when there is no
// ducklake_snapshot among them.
func NewReader(ctx context.Context, src Source) (*Reader, error) {
	rels, err := src.Relations(ctx)
	if err != nil {
		return nil, fmt.Errorf("lake: list relations: %w", err)
	}
	if _, ok := rels["ducklake_snapshot"]; !ok {
		return nil, ErrNotALake
	}
	return &Reader{src, rels}, nil
}

// Has says whether there is such a relation, and Column whether it has the column.
func (r *Reader) Has(relation string) bool { _, ok := r.rels[relation]; return ok }

// Column says whether a relation has a column.
func (r *Reader) Column(relation, column string) bool {
	return slices.Contains(r.rels[relation], column)
}

// Relations are the names of all relations, in order.
func (r *Reader) Relations() []string {
	out := make([]string, 0, len(r.rels))
	for name := range r.rels {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Each calls fn for each row of a relation with the columns that are named, separated by
// blanks; those that the relation lacks read as NULL, and a relation that is not there has
// no rows. The first error counts: of fn, of the source, or of a field that is not what it
// was read as.
func (r *Reader) Each(ctx context.Context, relation, columns string, fn func(r *Row) error) error {
	have, ok := r.rels[relation]
	if !ok {
		return nil
	}
	row := &Row{rel: relation, cols: strings.Fields(columns)}
	var ask []string
	at := make([]int, len(row.cols))
	for i, w := range row.cols {
		at[i] = -1
		if slices.Contains(have, w) {
			at[i] = len(ask)
			ask = append(ask, w)
		}
	}
	row.v = make([]*string, len(row.cols))
	err := r.src.Rows(ctx, relation, ask, func(v []*string) error {
		for i, j := range at {
			row.v[i] = nil
			if j >= 0 {
				row.v[i] = v[j]
			}
		}
		if err := fn(row); err != nil {
			return err
		}
		return row.err
	})
	if err != nil {
		return fmt.Errorf("lake: read %s: %w", relation, err)
	}
	return nil
}

// Row is one row while it is read. Fields are known by their place in the list of columns.
type Row struct {
	rel  string
	cols []string
	v    []*string
	err  error // of the first field that is not what it was read as
}

// Text is a field, "" for NULL.
func (r *Row) Text(i int) string {
	if r.v[i] == nil {
		return ""
	}
	return *r.v[i]
}

// Has says that a field is not NULL.
func (r *Row) Has(i int) bool { return r.v[i] != nil }

// Num is a field that holds a number, 0 for NULL.
func (r *Row) Num(i int) int64 {
	if r.v[i] == nil {
		return 0
	}
	n, err := strconv.ParseInt(*r.v[i], 10, 64)
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("lake: %s.%s: %w", r.rel, r.cols[i], err)
	}
	return n
}

// Bool is a field that holds a truth value, false for NULL.
func (r *Row) Bool(i int) bool { return strings.HasPrefix(r.Text(i), "t") }

// Span reads begin_snapshot at i and end_snapshot at i+1.
func (r *Row) Span(i int) Span {
	return Span{Begin: r.Num(i), End: r.Num(i + 1), Ended: r.Has(i + 1)}
}
