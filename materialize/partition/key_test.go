package partition_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/eiderdb/eider/materialize/partition"
)

func TestResolveKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ key, payload, want, says string }{
		{"$.tenant_id", `{"tenant_id":"acme"}`, "acme", ""},
		{"tenant_id", `{"tenant_id":"acme"}`, "acme", ""},
		{"$tenant_id", `{"tenant_id":"acme"}`, "acme", ""},
		{"customer id", ` {"customer id":"ACME & Söhne"} `, "ACME & Söhne", ""},
		{"$.a.b", `{"a":{"b":42}}`, "42", ""},
		{"a.b", `{"a":{"b":true}}`, "true", ""},
		{"a", `{"a":false}`, "false", ""},
		{"a", `{"a":12345678901234567890123}`, "12345678901234567890123", ""},
		{"a", `{"a":-0}`, "0", ""},
		{"a", `{"a":-0.0}`, "0", ""},
		{"a", `{"a":1.50}`, "1.5", ""},
		{"a", `{"a":1e3}`, "1000", ""},
		{"a", `{"a":1.0}`, "1", ""},
		{"a", `{"a":1e21}`, "1e+21", ""},
		{"a", `{"a":1e-7}`, "1e-07", ""},
		{"a", `{"a":1e999}`, "", "too large"},
		{"a", `{"a":""}`, "", "empty"},
		{"a", `{"a":"x\u0000y"}`, "", "NUL"},
		{"a", `{"a":null}`, "", "null"},
		{"a", `{"a":{}}`, "", "an object"},
		{"a", `{"a":[1]}`, "", "a list"},
		{"a", `{"b":1}`, "", `the payload has no "a"`},
		{"$.a.b", `{"a":{"c":1}}`, "", `$.a has no "b"`},
		{"$.a.b", `{"a":"text"}`, "", `$.a is a text and has no "b"`},
		{"a", `[1]`, "", "the payload is a list"},
		{"a", ``, "", "no payload"},
		{"a", "  ", "", "no payload"},
		{"a", `null`, "", "the payload is null"},
		{"a", `{"a":`, "", "no JSON"},
		{"a", `{"a":1} {}`, "", "more than one"},
		{"a", `{"a":1} x`, "", "more than one"},
	} {
		s, err := partition.New("dynamic", "", "", "", c.key)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.ResolveKey([]byte(c.payload))
		if c.says == "" && (err != nil || got != c.want) {
			t.Errorf("%s of %s: %q, %v; want %q", c.key, c.payload, got, err, c.want)
		}
		if c.says != "" && (!errors.Is(err, partition.ErrPayload) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s of %s: %q, %v; want an error that says %q", c.key, c.payload, got, err, c.says)
		}
		if _, _, err := s.Resolve(instant(t, "2026-01-01T00:00Z")); !errors.Is(err, partition.ErrDynamic) {
			t.Errorf("an instant: %v", err)
		}
	}
	if _, err := newSpec(t, "daily", "", "", "").ResolveKey([]byte(`{}`)); !errors.Is(err, partition.ErrNotDynamic) {
		t.Errorf("daily: %v", err)
	}
}
