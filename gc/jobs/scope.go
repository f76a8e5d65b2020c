package jobs

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv/store"
)

// exists says with an ErrNoLake or ErrNoObject that there is nothing of a name in a scope: a
// policy for it would count for nothing, and whoever misspelt the name would not know. What has
// ended is there as long as it has a row, by the name that it had last.
func exists(ctx context.Context, txn *store.Txn, sc gc.Scope) error {
	if sc.Lake == "" {
		return nil
	}
	l, err := meta.Open(txn, sc.Lake)
	if err != nil {
		var lakes []string
		for _, l := range meta.Lakes(txn) {
			lakes = append(lakes, l.Name())
		}
		return fmt.Errorf("%w: %q%s", ErrNoLake, sc.Lake, nearby(sc.Lake, lakes))
	}
	if sc.Schema == "" {
		return nil
	}
	schemas, err := lastVersions(ctx, l, "ducklake_schema", "schema_id", "schema_name")
	if err != nil {
		return err
	}
	of := map[int64]bool{} // the schemas of the name
	for id, s := range schemas {
		if s.name == sc.Schema {
			of[id] = true
		}
	}
	if len(of) == 0 {
		return fmt.Errorf("%w in lake %s: schema %q%s", ErrNoObject, sc.Lake, sc.Schema, nearby(sc.Schema, names(schemas)))
	}
	if sc.Table == "" {
		return nil
	}
	tables, err := lastVersions(ctx, l, "ducklake_table", "table_id", "table_name")
	if err != nil {
		return err
	}
	maps.DeleteFunc(tables, func(_ int64, t version) bool { return !of[t.schema] })
	here := names(tables)
	if slices.Contains(here, sc.Table) {
		return nil
	}
	return fmt.Errorf("%w in lake %s: table %s.%s%s", ErrNoObject, sc.Lake, sc.Schema, sc.Table, nearby(sc.Table, here))
}

// version is the last version of a schema or table.
type version struct {
	name          string
	schema, begin int64
}

// lastVersions reads the last versions of the schemas or tables of a lake, by id.
func lastVersions(ctx context.Context, l meta.Lake, table, id, name string) (map[int64]version, error) {
	out := map[int64]version{}
	err := l.Table(table).Scan(ctx, func(r *meta.Row) error {
		o := version{r.Text(name), r.Num("schema_id"), r.Span().Begin}
		if last, ok := out[r.Num(id)]; !ok || o.begin >= last.begin {
			out[r.Num(id)] = o
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", table, err)
	}
	return out, nil
}

func names(m map[int64]version) []string {
	var out []string
	for _, o := range m {
		out = append(out, o.name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// nearby names what there is, the likest first, as the end of a sentence.
func nearby(name string, there []string) string {
	if len(there) == 0 {
		return "; there is none"
	}
	const most = 5
	fold := strings.ToLower(name)
	slices.SortStableFunc(there, func(a, b string) int {
		return cmp.Compare(distance(fold, strings.ToLower(a)), distance(fold, strings.ToLower(b)))
	})
	more := ""
	if len(there) > most {
		more = fmt.Sprintf(" and %d more", len(there)-most)
	}
	return "; there is " + strings.Join(there[:min(most, len(there))], ", ") + more
}

// distance is how many characters must be added, removed or replaced to make b of a.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i := range from {
		before := row[0]
		row[0] = i + 1
		for j := range to {
			replaced := before
			if from[i] != to[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, row[j]+1, before+1)
		}
	}
	return row[len(to)]
}
