package restore

import (
	"strings"
	"testing"

	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/google/go-cmp/cmp"
)

func TestTransformOf(t *testing.T) {
	t.Parallel()
	for transform, want := range map[string]string{
		"identity":              "c",
		"year":                  "year(c)",
		"HOUR":                  "hour(c)",
		"bucket(8)":             "(murmur3_32(c) & 2147483647) % 8",
		"bucket(0)":             "",
		"bucket(-1)":            "",
		"bucket(8":              "",
		"bucket":                "",
		"bucket(4294967296)":    "",
		"bucket(1); SELECT (1)": "",
		"truncate(3)":           "",
		"":                      "",
	} {
		if got, ok := transformOf(transform, "c"); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", transform, got, ok)
		}
	}
}

// TestDivide has names that the table, or another key, has already.
func TestDivide(t *testing.T) {
	t.Parallel()
	cols := []column{{id: 1, name: "i"}, {id: 2, name: "a b"}, {id: 3, name: "Year"}, {id: 4, name: "ts"}, {id: 5, name: "year_"}}
	key := func(column, transform string) partitionKey { return partitionKey{column: column, transform: transform} }
	for _, c := range []struct {
		keys                       []partitionKey
		columns, selected, options string
	}{
		{nil, "i a b Year ts year_", "", "FILE_SIZE_BYTES 536870912"},
		{
			[]partitionKey{key("i", "identity"), key("a b", "identity")},
			"i a b Year ts year_",
			"",
			`PARTITION_BY ("i", "a b"), WRITE_PARTITION_COLUMNS true, HIVE_FILE_PATTERN true`,
		},
		{
			[]partitionKey{key("ts", "month"), key("ts", "bucket(4)")},
			"i a b Year ts year_",
			`month("ts") AS "month"; (murmur3_32("ts") & 2147483647) % 4 AS "bucket"`,
			`PARTITION_BY ("month", "bucket"), WRITE_PARTITION_COLUMNS false, HIVE_FILE_PATTERN true`,
		},
		{
			[]partitionKey{key("i", "identity"), key("ts", "year"), key("i", "bucket(2)"), key("ts", "bucket(3)")},
			"i_ a b Year__ ts year_",
			`"i" AS "i"; year("ts") AS "year"; (murmur3_32("i") & 2147483647) % 2 AS "bucket"; (murmur3_32("ts") & 2147483647) % 3 AS "bucket_ts"`,
			`PARTITION_BY ("i", "year", "bucket", "bucket_ts"), WRITE_PARTITION_COLUMNS false, HIVE_FILE_PATTERN true`,
		},
		{
			[]partitionKey{key("Year", "identity"), key("ts", "year")},
			"i a b Year__ ts year_",
			`"Year" AS "Year"; year("ts") AS "year_ts"`,
			`PARTITION_BY ("Year", "year_ts"), WRITE_PARTITION_COLUMNS false, HIVE_FILE_PATTERN true`,
		},
	} {
		d := divide(c.keys, cols, true)
		var names []string
		for i, w := range d.columns {
			names = append(names, w.name)
			if w.id != cols[i].id {
				t.Errorf("%+v: column %d is %d", c.keys, cols[i].id, w.id)
			}
		}
		if diff := cmp.Diff([]string{c.columns, c.selected, c.options}, []string{strings.Join(names, " "), strings.Join(d.selected, "; "), d.options}); diff != "" {
			t.Errorf("%+v:\n%s", c.keys, diff)
		}
	}
	if d := divide([]partitionKey{key("i", "identity")}, cols, false); !strings.Contains(d.options, "HIVE_FILE_PATTERN false") {
		t.Errorf("paths without values: %s", d.options)
	}
	if names, ok := folderNames([]partitionKey{key("i", "bucket(2)"), key("i", "bucket(3)"), key("i", "bucket(4)")}); ok {
		t.Errorf("folders of one name: %q", names)
	}
}

func TestValuesOf(t *testing.T) {
	t.Parallel()
	for _, c := range [][4]string{{"10", "3", "7", "3"}, {"10", "10", "0", "10"}, {"2", "3", "", ""}, {"5", "", "", ""}, {"", "1", "", ""}} {
		if values, nulls := valuesOf(c[0], c[1]); values != c[2] || nulls != c[3] {
			t.Errorf("%q: %q, %q", c, values, nulls)
		}
	}
}

func TestPartitionValues(t *testing.T) {
	t.Parallel()
	keys := []partitionKey{{index: 0}, {index: 1}}
	for _, returned := range []any{nil, duckdb.OrderedMap{}} {
		if got, err := partitionValues(keys, returned); err == nil {
			t.Errorf("%v: %v", returned, got)
		}
	}
	if got, err := partitionValues(nil, duckdb.OrderedMap{}); err != nil || len(got) != 0 {
		t.Errorf("no keys: %v, %v", got, err)
	}
}

func TestLastParts(t *testing.T) {
	t.Parallel()
	const full = "s3://b/main/t/p=%2F/q=/f.parquet"
	for folders, want := range []string{"f.parquet", "q=/f.parquet", "p=%2F/q=/f.parquet"} {
		if got := lastParts(full, folders); got != want {
			t.Errorf("%d: %q", folders, got)
		}
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	all := []option{{"lake", "", -1}, {"schema", "schema", 1}, {"table", "table", 2}, {"other", "table", 1}}
	for _, c := range []struct {
		schema, table int64
		want          string
	}{{1, 2, "table"}, {1, 3, "schema"}, {2, 3, "lake"}, {-1, -1, "lake"}} {
		if got := choose(all, c.schema, c.table); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	if got := choose(all[1:], 5, 5); got != "" {
		t.Errorf("of something else: %q", got)
	}
}
