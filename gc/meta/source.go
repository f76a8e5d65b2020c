package meta

import (
	"context"
	"fmt"

	"github.com/eiderdb/eider/lake"
)

// Source gives the lake's rows as text, for lake.Load. Its transaction must not be used by
// another goroutine meanwhile, and must be one that reads a single view.
func (l Lake) Source() lake.Source { return source{l} }

type source struct{ l Lake }

func (s source) Relations(ctx context.Context) (map[string][]string, error) {
	out := map[string][]string{}
	for t := range s.l.Tables("") {
		names := make([]string, 0, len(t.tbl.Columns))
		for i := range t.tbl.Columns {
			if c := &t.tbl.Columns[i]; !c.Dropped {
				names = append(names, c.Name)
			}
		}
		out[t.name] = names
	}
	return out, ctx.Err()
}

func (s source) Rows(ctx context.Context, relation string, columns []string, fn func(v []*string) error) error {
	t := s.l.Table(relation)
	if !t.Exists() {
		return fmt.Errorf("%w: %q", ErrNoTable, relation)
	}
	cols := make([]Column, len(columns))
	for i, name := range columns {
		if cols[i] = t.Column(name); !cols[i].Exists() {
			return fmt.Errorf("%w: %s.%s", ErrNoColumn, relation, name)
		}
	}
	texts, out := make([]string, len(columns)), make([]*string, len(columns))
	var buf []byte
	return t.Scan(ctx, func(r *Row) error {
		for i, c := range cols {
			v := c.Value(r)
			if v == nil {
				out[i] = nil
				continue
			}
			var err error
			if buf, err = appendText(buf[:0], c.c, v); err != nil {
				return err
			}
			texts[i] = string(buf)
			out[i] = &texts[i]
		}
		return fn(out)
	})
}
