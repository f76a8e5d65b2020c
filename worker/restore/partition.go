package restore

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/jackc/pgx/v5"

	"github.com/eiderdb/eider/worker/duck"
)

// A data file of a partitioned table has one value of each partition key, which the catalog
// says. The names of its folders say it too, and have to be those that DuckLake gives: a merge
// of files from folders with other names is an internal error of DuckLake 1.0, after which
// its DuckDB has to be started again.

// partitionKey is a key by which a table is partitioned.
type partitionKey struct {
	index     int64 // its place in the catalog
	column    string
	transform string // DuckLake's name of it, such as "year" or "bucket(8)"
}

// partitionValue is the value of a key in a file.
type partitionValue struct {
	index int64
	value string
	null  bool
}

// partitionKeys reads the keys of a table at a snapshot. There are none when it is not
// partitioned, and none when the keys are of a kind that is not known here, or cannot be told
// apart in paths: a file without partition is right in any table.
func (r *reader) partitionKeys(ctx context.Context, table, n int64, cols []column) ([]partitionKey, error) {
	names := map[int64]string{}
	for _, c := range cols {
		names[c.id] = c.name
	}
	var keys []partitionKey
	var k partitionKey
	var id int64
	known := true
	err := r.each(ctx, fmt.Sprintf("SELECT partition_key_index, x.column_id, transform FROM %s x JOIN %s i ON i.partition_id = x.partition_id AND i.table_id = x.table_id WHERE i.table_id = %d AND %s ORDER BY partition_key_index",
		r.rel("ducklake_partition_column"), r.rel("ducklake_partition_info"), table, at("i.", n)), []any{&k.index, &id, &k.transform}, func() {
		k.column = names[id]
		_, ok := transformOf(k.transform, "x")
		known = known && ok && k.column != ""
		keys = append(keys, k)
	})
	if err != nil || !known {
		return nil, err
	}
	if _, ok := folderNames(keys); !ok {
		return nil, nil
	}
	return keys, nil
}

// transformOf is the SQL of a transform of a column, as DuckLake computes it. ok is false for
// one that is not known.
func transformOf(transform, column string) (sql string, ok bool) {
	switch t := strings.ToLower(transform); t {
	case "identity":
		return column, true
	case "year", "month", "day", "hour":
		return t + "(" + column + ")", true
	default:
		count, isBucket := strings.CutPrefix(t, "bucket(")
		count, closed := strings.CutSuffix(count, ")")
		n, err := strconv.ParseInt(count, 10, 32)
		if !isBucket || !closed || err != nil || n <= 0 {
			return "", false
		}
		return fmt.Sprintf("(murmur3_32(%s) & 2147483647) %% %d", column, n), true
	}
}

// folderNames are the names of keys in paths, as DuckLake has them. ok is false when two are
// the same.
func folderNames(keys []partitionKey) (names []string, ok bool) {
	used := map[string]bool{}
	for _, k := range keys {
		name, _, _ := strings.Cut(strings.ToLower(k.transform), "(")
		if name == "identity" {
			name = k.column
		}
		if used[strings.ToLower(name)] {
			name += "_" + k.column
		}
		if used[strings.ToLower(name)] {
			return nil, false
		}
		used[strings.ToLower(name)] = true
		names = append(names, name)
	}
	return names, true
}

// division is how COPY divides the rows of a table into files.
type division struct {
	// columns are the table's, by the names that they get in the files.
	columns []column
	// selected are further columns, which do not get into the files.
	selected []string
	options  string
}

// divide is what COPY needs for a table with these keys. A column that has the name of a
// folder gets another one in the files, where columns are found by their ids.
func divide(keys []partitionKey, cols []column, hive bool) division {
	d := division{columns: cols, options: fmt.Sprintf("FILE_SIZE_BYTES %d", mostBytes)}
	if len(keys) == 0 {
		return d
	}
	folders, _ := folderNames(keys)
	plain := !slices.ContainsFunc(keys, func(k partitionKey) bool { return !strings.EqualFold(k.transform, "identity") })
	if !plain {
		used := map[string]bool{rowIDName: true}
		for i, k := range keys {
			used[strings.ToLower(folders[i])] = true
			sql, _ := transformOf(k.transform, duck.Ident(k.column))
			d.selected = append(d.selected, sql+" AS "+duck.Ident(folders[i]))
		}
		d.columns = renamed(cols, used)
	}
	for i := range folders {
		folders[i] = duck.Ident(folders[i])
	}
	d.options = fmt.Sprintf("PARTITION_BY (%s), WRITE_PARTITION_COLUMNS %t, HIVE_FILE_PATTERN %t", strings.Join(folders, ", "), plain, hive)
	return d
}

// renamed are columns with names that are not used, in lower case, by something else.
func renamed(cols []column, used map[string]bool) []column {
	list := slices.Clone(cols)
	own := map[string]bool{}
	for _, c := range cols {
		own[strings.ToLower(c.name)] = true
	}
	for i, c := range cols {
		if !used[strings.ToLower(c.name)] {
			continue
		}
		name := c.name + "_"
		for used[strings.ToLower(name)] || own[strings.ToLower(name)] {
			name += "_"
		}
		own[strings.ToLower(name)] = true
		list[i].name = name
	}
	return list
}

// partitionValues are the values of keys in a file, from what COPY returns, in their order.
func partitionValues(keys []partitionKey, returned any) ([]partitionValue, error) {
	m, ok := returned.(duckdb.OrderedMap)
	if !ok || len(m.Values()) != len(keys) {
		return nil, fmt.Errorf("COPY returned %v for %d partition keys", returned, len(keys))
	}
	list := make([]partitionValue, 0, len(keys))
	for i, v := range m.Values() {
		p := partitionValue{index: keys[i].index, null: v == nil}
		if v != nil {
			p.value = fmt.Sprint(v)
		}
		list = append(list, p)
	}
	return list, nil
}

// lastParts is the name of a file with that of so many folders. Values are escaped in paths,
// so that each has one folder.
func lastParts(full string, folders int) string {
	name := path.Base(full)
	for range folders {
		full = path.Dir(full)
		name = path.Base(full) + "/" + name
	}
	return name
}

// partitionID is the id of a table's partitioning, 0 when it has none.
func (r *reader) partitionID(ctx context.Context, table int64) (id int64, err error) {
	err = r.tx.QueryRow(ctx, fmt.Sprintf("SELECT partition_id FROM %s WHERE table_id = %d AND end_snapshot IS NULL", r.rel("ducklake_partition_info"), table)).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return id, err
}

// option is a value of an option, and what it is for.
type option struct {
	value, scope string // "table", "schema", or "" for the lake
	id           int64
}

// hive says whether the files of a table are to have their partition values in their paths.
// Ids are -1 where there is none yet.
func (r *reader) hive(ctx context.Context, schema, table int64) (bool, error) {
	var all []option
	var o option
	err := r.each(ctx, "SELECT value, coalesce(scope, ''), coalesce(scope_id, -1) FROM "+r.rel("ducklake_metadata")+" WHERE key = 'hive_file_pattern'",
		[]any{&o.value, &o.scope, &o.id}, func() { all = append(all, o) })
	return !strings.EqualFold(choose(all, schema, table), "false"), err
}

// choose finds the value that holds for a table: its own, else that of its schema, else that
// of the lake, else "".
func choose(all []option, schema, table int64) string {
	for _, want := range []option{{scope: "table", id: table}, {scope: "schema", id: schema}, {}} {
		for _, o := range all {
			if o.scope == want.scope && (o.scope == "" || o.id == want.id) {
				return o.value
			}
		}
	}
	return ""
}
