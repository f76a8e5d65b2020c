package conflict

import (
	"slices"
	"strings"

	"github.com/eiderdb/eider/lake"
)

// textSorts: a flush numbers deleted rows by the order in which it writes the rows. It
// sorts them in the server for the positions and in DuckDB for the file. The two orders
// differ for a column whose inlined values are kept as text, where '10' comes before '9'.
func (k *checker) textSorts() error {
	for i := range k.DeleteFiles.Added {
		d := &k.DeleteFiles.Added[i]
		if !k.addedFile(d.DataFileID) || !k.flushesRows(d.TableID) {
			continue
		}
		column, err := k.textSort(d.TableID)
		if err != nil {
			return err
		}
		if column != "" {
			k.add(TextSortFlush(k.ref(d.TableID), column))
			return nil
		}
	}
	return nil
}

func (k *checker) flushesRows(table int64) bool {
	if k.Set.Unread {
		t := k.Set.Table(table)
		return t != nil && t.Ops.Has(OpFlushRows)
	}
	return k.Set.Says(table, InlineFlush, FlushedInlined)
}

// textSort returns a column in the sort order of a table that sorts otherwise as text.
func (k *checker) textSort(table int64) (string, error) {
	sorts, err := k.Is.Sorts(table)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(sorts, func(s lake.Sort) bool { return !s.Ended })
	if i < 0 {
		return "", nil
	}
	keys, err := k.Is.SortKeys(table)
	if err != nil {
		return "", err
	}
	columns, err := k.Is.Columns(table)
	if err != nil {
		return "", err
	}
	for _, c := range columns {
		if c.Ended || c.HasParent || !sortsAsText(c.Type) {
			continue
		}
		for _, key := range keys {
			if key.SortID == sorts[i].ID && mentions(key.Expression, c.Name) {
				return c.Name, nil
			}
		}
	}
	return "", nil
}

// sortsAsText says whether inlined values of a DuckLake type are kept as text that does
// not sort like the type. Dates and times are kept as text too, but in ISO form.
func sortsAsText(typ string) bool {
	switch strings.ToLower(typ) {
	case "uint64", "int128", "uint128", "struct", "map", "list":
		return true
	}
	return false
}

// mentions says whether an SQL expression names a column, quoted or not.
func mentions(expr, column string) bool {
	low, want := strings.ToLower(expr), strings.ToLower(column)
	word := func(b byte) bool {
		return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 0x80
	}
	for from := 0; ; {
		i := strings.Index(low[from:], want)
		if i < 0 || want == "" {
			return false
		}
		i += from
		end := i + len(want)
		if (i == 0 || !word(low[i-1])) && (end == len(low) || !word(low[end])) {
			return true
		}
		from = i + 1
	}
}
