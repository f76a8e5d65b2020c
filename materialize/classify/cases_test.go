package classify

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

func TestCases(t *testing.T) {
	t.Parallel()
	datadriven.RunTest(t, "testdata/cases", func(t *testing.T, d *datadriven.TestData) string {
		var out strings.Builder
		switch d.Cmd {
		case "classify":
			script, err := Classify(d.Input)
			if err != nil {
				return fmt.Sprintf("error: %v\n", err)
			}
			for _, st := range script.Setup {
				fmt.Fprintf(&out, "setup %d:%d %s\n", st.Line, st.Col, st.Text)
			}
			fmt.Fprintf(&out, "output %d:%d %s\n", script.Output.Line, script.Output.Col, script.Output.Text)
		case "split":
			for _, st := range Split(d.Input) {
				fmt.Fprintf(&out, "%d:%d %s\n", st.Line, st.Col, st.Text)
			}
		case "substitute":
			var value string
			d.ScanArgs(t, "value", &value)
			got := SubstitutePartition(d.Input, value)
			if HasPartition(d.Input) != (got != d.Input) {
				t.Errorf("%s: HasPartition is %v", d.Pos, HasPartition(d.Input))
			}
			return got + "\n"
		default:
			t.Fatalf("%s: %s", d.Pos, d.Cmd)
		}
		return out.String()
	})
}

// The errors are told apart, and say where.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script          string
		err             error
		line, col, many int
		snippet         string
	}{
		{"", ErrEmpty, 0, 0, 0, ""},
		{"SET a = 1", ErrNoSelect, 0, 0, 0, ""},
		{"SELECT 1;\n SELECT 2; FROM t", ErrSeveral, 2, 2, 3, "SELECT 2"},
		{"SELECT 1; SET a = 1", ErrNotLast, 1, 11, 0, "SET a = 1"},
		{"\n\nDROP\tTABLE\n t; SELECT 1", ErrStatement, 3, 1, 0, "DROP TABLE t"},
		{"SELECT\n  'a", ErrUnterminated, 2, 3, 0, "'a"},
		{"COPY '" + strings.Repeat("ä", 50) + "'; SELECT 1", ErrStatement, 1, 1, 0, "COPY '" + strings.Repeat("ä", 34) + "…"},
		{"COPY " + strings.Repeat(" ", 9999) + "a; SELECT 1", ErrStatement, 1, 1, 0, "COPY…"},
	} {
		script, err := Classify(c.script)
		var e *Error
		if script != nil || !errors.Is(err, c.err) || !errors.As(err, &e) {
			t.Errorf("%q: %v", c.script, err)
			continue
		}
		if e.Line != c.line || e.Col != c.col || e.Count != c.many || e.Snippet != c.snippet || e.Remedy == "" {
			t.Errorf("%q: %+v", c.script, *e)
		}
	}
}
