package annotate

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseAsset(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text        string
		want        Asset
		lake, table string
	}{
		{"ducklake://analytics/orders", Asset{KindLake, "analytics/orders"}, "analytics", "orders"},
		{"ducklake://analytics/sales.orders", Asset{KindLake, "analytics/sales.orders"}, "analytics", "sales.orders"},
		{"ducklake://analytics/a/b", Asset{KindLake, "analytics/a/b"}, "analytics", "a/b"},
		{"ducklake://analytics", Asset{KindLake, "analytics"}, "analytics", ""},
		{"datatable://main/x", Asset{KindDataTable, "main/x"}, "main", "x"},
		{"s3://b/x", Asset{KindS3, "b/x"}, "b", "x"},
		{"s3:///b/x", Asset{KindS3, "b/x"}, "b", "x"},
		{"s3:////k", Asset{KindS3, "k"}, "k", ""},
		{"res://u/me/db", Asset{KindResource, "u/me/db"}, "u", "me/db"},
		{"$res:u/me/db", Asset{KindResource, "u/me/db"}, "u", "me/db"},
		{"volume:///x", Asset{KindVolume, "/x"}, "", "x"},
		{"", Asset{}, "", ""},
		{"s3://", Asset{}, "", ""},
		{"s3:////", Asset{}, "", ""},
		{"ducklake://", Asset{}, "", ""},
		{"ducklake", Asset{}, "", ""},
		{"S3://b/x", Asset{}, "", ""},
		{"dbt://a", Asset{}, "", ""},
		{"s3://a b", Asset{}, "", ""},
		{" s3://a", Asset{}, "", ""},
	} {
		got, ok := ParseAsset(c.text)
		if got != c.want || ok != (c.want != Asset{}) {
			t.Errorf("%q is %+v, %v", c.text, got, ok)
		}
		if got.Lake() != c.lake || got.Table() != c.table {
			t.Errorf("%q is %q in %q", c.text, got.Table(), got.Lake())
		}
	}
	for _, word := range []string{"ducklake", "datatable"} {
		if got, ok := ParseTarget(word); !ok || got != (Asset{Kind(word), "main"}) {
			t.Errorf("%q is %+v, %v", word, got, ok)
		}
	}
}

// H21, H22, and what surrounds them.
func TestParseOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []option
	}{
		{`a="hello world" b=plain c='single quoted'`, []option{{key: "a", value: "hello world"}, {key: "b", value: "plain", bare: true}, {key: "c", value: "single quoted"}}},
		{`garbage a=ok =alone b=fine`, []option{{word: "garbage"}, {key: "a", value: "ok", bare: true}, {word: "=alone"}, {key: "b", value: "fine", bare: true}}},
		{`a="x`, []option{{key: "a", value: "x", open: true}}},
		{`a="x y`, []option{{key: "a", value: "x y", open: true}}},
		{`a="x'y"z b=`, []option{{key: "a", value: "x'y"}, {word: "z"}, {key: "b", bare: true}}},
		{"a=b=c\t d='='", []option{{key: "a", value: "b=c", bare: true}, {key: "d", value: "="}}},
		{`ä="ö"`, []option{{key: "ä", value: "ö"}}},
		{"  ", nil},
	} {
		if d := cmp.Diff(c.want, parseOptions(c.text), cmp.AllowUnexported(option{})); d != "" {
			t.Errorf("%q: %s", c.text, d)
		}
	}
}

func TestParseDuration(t *testing.T) {
	t.Parallel()
	if got, err := ParseDuration("1h 30m"); got != 90*time.Minute || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := ParseDuration("soon"); !errors.Is(err, ErrDuration) || !strings.Contains(err.Error(), `"soon"`) {
		t.Error(err)
	}
}

// The errors of a header are told, and told apart from warnings.
func TestErr(t *testing.T) {
	t.Parallel()
	if err := Parse("-- materialize ducklake://a/b\n-- freshness 1h\n-- freshness 2h").Err(); err != nil {
		t.Errorf("a warning is an error: %v", err)
	}
	err := Parse("-- materialize ducklake://a/b history\n\n-- freshness soon").Err()
	var d Diagnostic
	if !errors.Is(err, ErrHeader) || !errors.As(err, &d) || d.Line != 1 || d.Code != CodeConflict || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("%v, first %+v", err, d)
	}
}

// Validate says the same of a header that was not parsed.
func TestValidate(t *testing.T) {
	t.Parallel()
	history := func() *Header {
		return &Header{Materialize: &Materialize{Asset: Asset{KindLake, "a/b"}, History: true, Key: "id"}}
	}
	for name, c := range map[string]struct {
		change func(h *Header)
		want   Severity // of the only complaint; -1 for none
	}{
		"ok":          {func(*Header) {}, -1},
		"no key":      {func(h *Header) { h.Materialize.Key = "" }, SeverityError},
		"partitioned": {func(h *Header) { h.Partitioned = &Partitioned{Kind: Daily} }, SeverityError},
		"manual":      {func(h *Header) { h.Materialize.Key, h.Materialize.Manual = "", true }, SeverityWarning},
		"nothing":     {func(h *Header) { h.Materialize = nil }, -1},
		"no table":    {func(h *Header) { h.Materialize.Asset.Path = "a" }, SeverityError},
	} {
		h := history()
		c.change(h)
		list := h.Validate()
		if (c.want < 0) != (len(list) == 0) || len(list) > 1 || len(list) == 1 && list[0].Severity != c.want {
			t.Errorf("%s: %v", name, list)
		}
	}
}

func TestKeyColumns(t *testing.T) {
	t.Parallel()
	m := Materialize{Key: "a, b,,c"}
	if got := m.KeyColumns(); !cmp.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("%q", got)
	}
}

func TestMuteHas(t *testing.T) {
	t.Parallel()
	a, b := Asset{KindLake, "a/a"}, Asset{KindLake, "a/b"}
	if m := (Mute{Assets: []Asset{a}}); !m.Has(a) || m.Has(b) {
		t.Error("a single asset")
	}
	if !(Mute{All: true}).Has(b) {
		t.Error("all")
	}
}
