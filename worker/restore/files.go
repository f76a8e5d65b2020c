package restore

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/eiderdb/eider/worker/duck"
)

// rowIDField is the field id of the column with row ids in DuckLake's files, rowIDName its
// name.
const (
	rowIDField = 2147483540
	rowIDName  = "_ducklake_internal_row_id"
)

// mostBytes is how large a file gets before the next one is begun; DuckLake's default.
const mostBytes = 512 << 20

// file is a data file that was written.
type file struct {
	full, name          string // whole path, and the part after the table's folder
	rows, bytes, footer int64
	key                 string // base64, "" when it is not encrypted
	stats               []columnStats
	partition           []partitionValue // none when it is not partitioned
}

// columnStats are those of one column of a file, as DuckLake keeps them.
type columnStats struct {
	column                int64
	size, values, nulls   string // numbers, "" for none; values are those that are not NULL
	min, max, nan         string
	hasMin, hasMax, isNaN bool
}

// write writes the rows of a table at a snapshot into new files in its folder, one or more for
// each partition. DuckDB bounds the size only of files without partition. With a key the files
// are encrypted.
func write(ctx context.Context, db *duck.DB, lakeName string, o *Object, n int64, cols []column, keys []partitionKey, to target, key []byte) ([]file, error) {
	if !strings.Contains(to.folder, "://") {
		if err := os.MkdirAll(to.folder, 0o755); err != nil {
			return nil, err
		}
	}
	by := divide(keys, cols, to.hive)
	names := make([]string, 0, len(cols)+1+len(keys))
	for i, c := range by.columns {
		names = append(names, duck.Ident(cols[i].name)+" AS "+duck.Ident(c.name))
	}
	names = append(names, "rowid AS "+rowIDName)
	names = append(names, by.selected...)
	folders := 0
	if to.hive {
		folders = len(keys)
	}
	options := by.options
	if key != nil {
		options += ", ENCRYPTION_CONFIG {footer_key_value: " + blob(key) + "}"
	}
	sql := fmt.Sprintf("COPY (SELECT %s FROM %s.%s.%s AT (VERSION => %d)) TO %s (FORMAT parquet, FIELD_IDS %s, RETURN_STATS, %s, FILENAME_PATTERN 'ducklake-{uuidv7}', APPEND)",
		strings.Join(names, ", "), duck.Ident(lakeName), duck.Ident(o.Schema), duck.Ident(o.Name), n, duck.Literal(strings.TrimSuffix(to.folder, "/")),
		fieldIDs(append(by.columns, column{id: rowIDField, name: rowIDName}), ""), options)
	rows, err := db.Transact(ctx, sql)
	if err != nil {
		return nil, fmt.Errorf("%w: %s at snapshot %d: %w", ErrUnreadable, o.name(), n, err)
	}
	ids := map[string]int64{}
	leaves(by.columns, "", ids)
	var list []file
	for _, row := range rows {
		f := file{
			full: fmt.Sprint(row[0]), rows: number(row[1]), bytes: number(row[2]), footer: number(row[3]), key: base64.StdEncoding.EncodeToString(key),
		}
		f.name = lastParts(f.full, folders)
		if stats, ok := row[4].(duckdb.OrderedMap); ok {
			f.stats = statsOf(stats, ids)
		} else if m, ok := row[4].(duckdb.Map); ok {
			f.stats = statsOfMap(m, ids)
		}
		if f.rows == 0 {
			remove([]file{f})
			continue
		}
		list = append(list, f)
		if len(keys) > 0 {
			if list[len(list)-1].partition, err = partitionValues(keys, row[5]); err != nil {
				return list, err
			}
		}
	}
	return list, nil
}

// blob is a literal of bytes.
func blob(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		fmt.Fprintf(&s, `\x%02X`, c)
	}
	return "'" + s.String() + "'::BLOB"
}

// fieldIDs writes the ids of columns as COPY takes them.
func fieldIDs(cols []column, self string) string {
	var parts []string
	if self != "" {
		parts = append(parts, "__duckdb_field_id: "+self)
	}
	for _, c := range cols {
		id := strconv.FormatInt(c.id, 10)
		if len(c.children) > 0 {
			id = fieldIDs(c.children, id)
		}
		parts = append(parts, duck.Literal(c.name)+": "+id)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// leaves are the ids of columns that have values, by the names that statistics have.
func leaves(cols []column, prefix string, to map[string]int64) {
	for _, c := range cols {
		name := prefix + duck.Ident(c.name)
		if len(c.children) == 0 {
			to[name] = c.id
		}
		leaves(c.children, name+".", to)
	}
}

func statsOf(m duckdb.OrderedMap, ids map[string]int64) (list []columnStats) {
	keys, values := m.Keys(), m.Values()
	for i := range keys {
		if id, ok := ids[fmt.Sprint(keys[i])]; ok {
			list = append(list, oneStats(id, values[i]))
		}
	}
	return list
}

func statsOfMap(m duckdb.Map, ids map[string]int64) (list []columnStats) {
	for k, v := range m {
		if id, ok := ids[fmt.Sprint(k)]; ok {
			list = append(list, oneStats(id, v))
		}
	}
	return list
}

func oneStats(id int64, v any) columnStats {
	s := columnStats{column: id}
	set := func(key, value string) {
		switch key {
		case "column_size_bytes":
			s.size = value
		case "num_values":
			s.values = value
		case "null_count":
			s.nulls = value
		case "min":
			s.min, s.hasMin = value, true
		case "max":
			s.max, s.hasMax = value, true
		case "has_nan":
			s.nan, s.isNaN = value, true
		}
	}
	switch v := v.(type) {
	case duckdb.OrderedMap:
		keys, values := v.Keys(), v.Values()
		for i := range keys {
			set(fmt.Sprint(keys[i]), fmt.Sprint(values[i]))
		}
	case duckdb.Map:
		for k, x := range v {
			set(fmt.Sprint(k), fmt.Sprint(x))
		}
	}
	s.values, s.nulls = valuesOf(s.values, s.nulls)
	return s
}

// valuesOf are the numbers of values and NULLs from those of entries, which NULLs are among,
// and NULLs; "" when they cannot be told.
func valuesOf(entries, nulls string) (values, known string) {
	all, err := strconv.ParseInt(entries, 10, 64)
	none, err2 := strconv.ParseInt(nulls, 10, 64)
	if err != nil || err2 != nil || none > all {
		return "", ""
	}
	return strconv.FormatInt(all-none, 10), nulls
}

func number(v any) int64 {
	n, _ := strconv.ParseInt(fmt.Sprint(v), 10, 64)
	return n
}

// remove takes local files away again. Those on object storage stay as orphans, which
// maintenance removes.
func remove(files []file) {
	for _, f := range files {
		if !strings.Contains(f.full, "://") {
			_ = os.Remove(f.full)
		}
	}
}
