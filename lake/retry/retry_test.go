package retry_test

import (
	"strings"
	"testing"

	"github.com/eiderdb/eider/lake/retry"
)

func TestRespell(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`syntax for type integer: "Unique"`: `syntax for type integer: "Uniq_ue"`,
		`relation "my_PRIMARY KEY"`:         `relation "my_PRIMARY_KEY"`,
		"CONFLICTconflict":                  "CONFL_ICTconfl_ict",
		"Äconcurrently":                     "Äconcurr_ently",
		"nothing here":                      "nothing here",
		"primary  key":                      "primary  key",
		"":                                  "",
	} {
		if got := retry.Respell(in); got != want || retry.Is(got) {
			t.Errorf("%q: %q", in, got)
		}
		if in != want && !retry.Is(in) {
			t.Errorf("%q is retryable", in)
		}
	}
	for _, w := range retry.Words() {
		if !retry.Is("a " + strings.ToUpper(w) + "b") {
			t.Error(w)
		}
	}
}

func FuzzRespell(f *testing.F) {
	f.Add("unique primary key CONFLICT")
	f.Add("uniqueunique\xff\x00concurrent")
	f.Add("İunique")
	f.Add("primary keyconflict")
	f.Fuzz(func(t *testing.T, s string) {
		got := retry.Respell(s)
		if retry.Is(got) {
			t.Fatalf("%q", got)
		}
		if !retry.Is(s) && got != s {
			t.Fatalf("%q became %q", s, got)
		}
		if retry.Respell(got) != got || len(got) < len(s) {
			t.Fatalf("%q became %q", s, got)
		}
	})
}
