package project

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/eiderdb/eider/materialize/annotate"
)

func load(t *testing.T, files map[string]string) *Project {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	p, err := Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func names(p *Project) string {
	var list []string
	for _, s := range p.Scripts {
		n := s.Name
		if s.Bad {
			n += "!"
		}
		list = append(list, n)
	}
	return strings.Join(list, " ")
}

// problems are the errors, a line each, without their remedies.
func problems(p *Project) string {
	var list []string
	for _, q := range p.Problems {
		if q.Severity == annotate.SeverityError {
			q.Remedy = ""
			list = append(list, q.String())
		}
	}
	return strings.Join(list, "\n")
}

const target = "-- materialize ducklake://lake/"

func TestLoad(t *testing.T) {
	t.Parallel()
	p := load(t, map[string]string{
		"a/orders.sql":       target + "orders key=id\n-- use lib/money\n-- data_test tests/positive\n-- data_test ./near\nSELECT 1 AS id",
		"a/near.sql":         "FROM _wm_target.orders WHERE false",
		"lib/money.sql":      "-- macros\n-- use lib/base\ncreate macro cents(x) AS base(x) * 100;\nCREATE OR REPLACE TEMPORARY FUNCTION eur(x) AS x",
		"lib/base.sql":       "-- macros\nCREATE MACRO IF NOT EXISTS base(x) AS x;",
		"tests/positive.sql": "SELECT * FROM _wm_target.orders WHERE id < 0",
		"b.sql":              "\uFEFF-- materialize manual s3://bucket/x\r\nCOPY (SELECT 1) TO 's3://bucket/x';\r\nSELECT 2",
		"plain.sql":          "SELECT 1",
		".hidden/x.sql":      target + "hidden\nSELECT 1",
		"notes.txt":          "-- materialize ducklake://lake/no",
		ConfigFile:           "lakes:\n  lake: {dsn: 'dbname=x', data_path: /data}\ndefaults: {retry: '2 5s', tag: nightly}\nauthor: me\n",
	})
	if got := problems(p); got != "" {
		t.Errorf("problems:\n%s", got)
	}
	if got := names(p); got != "a/orders b" {
		t.Fatalf("scripts: %s", got)
	}
	orders, manual := p.Scripts[0], p.Scripts[1]
	var macros []string
	for _, m := range orders.Macros {
		for _, s := range m.Statements {
			macros = append(macros, m.Script+": "+s.Text)
		}
	}
	want := "lib/base: CREATE OR REPLACE TEMP MACRO base(x) AS x\nlib/money: CREATE OR REPLACE TEMP MACRO cents(x) AS base(x) * 100\nlib/money: CREATE OR REPLACE TEMP MACRO eur(x) AS x"
	if got := strings.Join(macros, "\n"); got != want {
		t.Errorf("macros:\n%s\nwant:\n%s", got, want)
	}
	if len(orders.Custom) != 2 || orders.Custom["./near"] == "" {
		t.Errorf("tests: %v", orders.Custom)
	}
	if orders.Header.Retry == nil || orders.Header.Retry.Count != 2 || orders.Header.Tag != "nightly" {
		t.Errorf("the defaults are not in %+v", orders.Header)
	}
	if len(manual.Statements) != 2 {
		t.Errorf("the manual script has %d statements", len(manual.Statements))
	}
	if lake, ok := p.Lake("lake"); !ok || lake.DataPath != "/data" {
		t.Errorf("the lake is %+v", lake)
	}
	if got := p.Suggest("lkae"); got != "materialize.yaml has a lake lake" {
		t.Errorf("for a mistyped lake: %q", got)
	}
	for _, name := range []string{"a/orders", "./a/orders.sql", "ducklake://lake/main.Orders", "ducklake://lake/orders"} {
		if s, ok := p.Find(name); !ok || s != orders {
			t.Errorf("%s is not found", name)
		}
	}
	if _, ok := p.Find("a/near"); ok {
		t.Error("a test is taken for a script")
	}
}

// TestProblems has each mistake with its file, its line and what it says.
func TestProblems(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"settings": {
			map[string]string{ConfigFile: "lakes: {}\nsever: x\nlakes: {}\n", "a.sql": target + "a\nSELECT 1"},
			"materialize.yaml:2: unknown key sever, did you mean server?\nmaterialize.yaml:3: lakes is there twice",
		},
		"two for one table": {
			map[string]string{"a.sql": target + "t\nSELECT 1", "b.sql": "\n" + target + "main.T\nSELECT 1"},
			"b.sql:2: ducklake://lake/main.T is already made by a.sql",
		},
		"a history's view": {
			map[string]string{"a.sql": target + "d key=id history\nSELECT 1 AS id", "b.sql": target + "d_current\nSELECT 1"},
			"b.sql:1: ducklake://lake/d_current is already made by a.sql",
		},
		"two statements": {
			map[string]string{"a.sql": target + "t\nSELECT 1;\nINSERT INTO x VALUES (1)"},
			"a.sql:3: the script goes on after its SELECT: INSERT INTO x VALUES (1)",
		},
		"a zone": {
			map[string]string{"a.sql": target + "t\n-- partitioned daily tz=Not/AZone\nSELECT 1"},
			"a.sql:2: ",
		},
		"no macros": {
			map[string]string{"a.sql": target + "t\n-- use lib/x\n-- use lib/y\nSELECT 1", "lib/x.sql": "SELECT 1"},
			"a.sql:2: lib/x.sql has no macros line in its header\na.sql:3: there is no script lib/y to use",
		},
		"macros with more": {
			map[string]string{
				"a.sql": target + "t\n-- use lib/x\nSELECT 1", "b.sql": target + "u\n-- use lib/x\nSELECT 1",
				"lib/x.sql": "-- macros\nCREATE MACRO m() AS 1;\nDROP TABLE t",
			},
			"lib/x.sql:3: a script of macros has only CREATE MACRO in it",
		},
		"no such test": {
			map[string]string{"a.sql": target + "t\n-- data_test tests/none\nSELECT 1"},
			"a.sql:2: there is no script tests/none",
		},
		"tests without a table": {
			map[string]string{"a.sql": "\n-- data_test unique a\nSELECT 1"},
			"a.sql:2: data_test: there is no table to test: the header has no materialize line",
		},
		"not UTF-8": {
			map[string]string{"a.sql": target + "t\nSELECT '\xff'"},
			"a.sql: the file is not UTF-8",
		},
		"a table that cannot be read": {
			map[string]string{"a.sql": "-- materialize lake.t\nSELECT 1", "b.sql": target + "t\nSELECT 1", "c.sql": "-- materialize what is asked for\nSELECT 1"},
			`a.sql:1: materialize: "lake.t" is no asset`,
		},
		"a time that never comes": {
			map[string]string{"a.sql": target + "t\n-- tag x\n-- on schedule cron=\"30 25 * * *\"\nSELECT 1"},
			"a.sql:3: schedule \"30 25 * * *\": ",
		},
		"defaults": {
			map[string]string{ConfigFile: "defaults: {retry: lots, freshness: 1 day, tag: two words, debounce: as soon as it is there}", "a.sql": target + "t\nSELECT 1"},
			"materialize.yaml: defaults.retry: \"lots\" is no count from 1 on\nmaterialize.yaml: defaults.tag: \"two words\" is more than one word\n" +
				"materialize.yaml: defaults.freshness: \"1 day\" is no duration\nmaterialize.yaml: defaults.debounce: \"as soon as it is there\" cannot be read",
		},
		"an empty manual script": {
			map[string]string{"a.sql": "-- materialize manual ducklake://lake/t\n"},
			"a.sql: the script has no statement",
		},
	} {
		got := problems(load(t, test.files))
		if test.want == "" || !strings.HasPrefix(got, test.want) || !strings.HasSuffix(test.want, " ") && got != test.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, test.want)
		}
	}
}

// TestPlaceholders has statements that ask for a partition which their script has not.
func TestPlaceholders(t *testing.T) {
	t.Parallel()
	const header = target + "t\n"
	for text, want := range map[string]string{
		header + "SELECT 1\nWHERE {partition} = 'x'": "a.sql:2: the statement has {partition}, which stands for nothing: the header has no line with partitioned; add -- partitioned daily, or another kind",
		header + "SET VARIABLE v = '{partition}';\nSELECT WM_Partition (now())": "a.sql:2: the statement has {partition}, which stands for nothing: the header has no line with partitioned; add -- partitioned daily, or another kind\n" +
			"a.sql:3: the statement has wm_partition, which stands for nothing: the header has no line with partitioned; add -- partitioned daily, or another kind",
		"-- materialize manual ducklake://lake/t\nCREATE TABLE t AS SELECT {partition}":   "a.sql:2: the statement has {partition}, which stands for nothing: the header has no line with partitioned; add -- partitioned daily, or another kind",
		header + "-- partitioned daily\nSELECT 1 WHERE wm_partition(now()) = {partition}": "",
		header + "SELECT 1 -- {partition}":                                                "",
	} {
		p := load(t, map[string]string{"a.sql": text})
		var list []string
		for _, q := range p.Problems {
			list = append(list, q.String())
		}
		if got := strings.Join(list, "\n"); got != want || p.Scripts[0].Bad {
			t.Errorf("%q:\n%s\nwant:\n%s", text, got, want)
		}
	}
}

// TestHash is another one when anything that makes the table is.
func TestHash(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a.sql": target + "t\n-- use lib/x\n-- data_test tests/y\nSELECT 1", "lib/x.sql": "-- macros\nCREATE MACRO m() AS 1", "tests/y.sql": "FROM _wm_target.t", "other.sql": "SELECT 1",
	}
	first := load(t, files).Scripts[0].Hash
	for _, change := range []struct {
		file    string
		changes bool
	}{{"a.sql", true}, {"lib/x.sql", true}, {"tests/y.sql", true}, {"other.sql", false}} {
		old := files[change.file]
		files[change.file] += " "
		if change.file == "lib/x.sql" {
			files[change.file] += "+ 1"
		}
		if got := load(t, files).Scripts[0].Hash != first; got != change.changes {
			t.Errorf("another %s: the hash changed: %v", change.file, got)
		}
		files[change.file] = old
	}
}
