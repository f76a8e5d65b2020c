package pgerr

import (
	"strings"
	"testing"
)

func TestTerminal(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`invalid input syntax for type integer: "Unique"`: `invalid input syntax for type integer: "Uniq_ue"`,
		`relation "my_PRIMARY KEY" does not exist`:        `relation "my_PRIMARY_KEY" does not exist`,
		"CONFLICTconflict": "CONFL_ICTconfl_ict",
		"Äconcurrently":    "Äconcurr_ently",
		"nothing here":     "nothing here",
	} {
		e := New(SyntaxError, "%s", in).WithDetail("%s", in).WithHint("%s", in).Terminal()
		if e.Message != want || e.Detail != want || e.Hint != want {
			t.Errorf("%q: %q", in, e.Message)
		}
		if IsRetryable(e.Message) {
			t.Errorf("%q is still retryable", e.Message)
		}
	}
	e := New(SyntaxError, "plain")
	if e.Terminal() != e {
		t.Error("a harmless error was copied")
	}
}

func FuzzTerminal(f *testing.F) {
	f.Add("unique primary key CONFLICT")
	f.Add("uniqueunique\xff\x00concurrent")
	f.Add("İunique")
	f.Fuzz(func(t *testing.T, s string) {
		e := (&Error{Message: s}).Terminal()
		if IsRetryable(e.Message) {
			t.Fatalf("%q", e.Message)
		}
		if got, want := strings.ReplaceAll(e.Message, "_", ""), strings.ReplaceAll(s, "_", ""); len(got) > len(want) || len(e.Message) < len(s) {
			t.Fatalf("%q became %q", s, e.Message)
		}
	})
}
