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
	for text, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "5m": 5 * time.Minute, "2h": 2 * time.Hour, "1d": 24 * time.Hour, "1w": 168 * time.Hour, "250ms": 250 * time.Millisecond,
		"1h30m": 90 * time.Minute, "1.5 hours": 90 * time.Minute, " 2 Hours 5 min ": 125 * time.Minute, "1 day": 24 * time.Hour, "0s": 0, "10secs": 10 * time.Second,
	} {
		if got, err := ParseDuration(text); got != want || err != nil {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", " ", "5", "s", "soon", "-1s", "1x", "1s2", "1.2.3s", "ss", "1ss", "1 mss", "1e3s", "99999999999999999w", "1d!"} {
		if got, err := ParseDuration(text); !errors.Is(err, ErrDuration) {
			t.Errorf("%q is %v, %v", text, got, err)
		}
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

func TestEditDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"materialise", "materialize", 1}, {"appnd", "append", 1}, {"data-test", "data_test", 1}, {"hsitory", "history", 1}, {"ab", "xy", 2}, {"größe", "große", 1}} {
		if got := editDistance(c.a, c.b); got != c.want || editDistance(c.b, c.a) != c.want {
			t.Errorf("%q and %q: %d", c.a, c.b, got)
		}
	}
}
