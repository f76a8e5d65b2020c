package main

import (
	"bytes"
	"strings"
	"testing"
)

// A run with a parent of two subtests, a skip, a crash in the middle of a test, a
// package without tests and a build failure.
const events = `{"Action":"start","Package":"a"}
{"Action":"run","Package":"a","Test":"TestX"}
{"Action":"run","Package":"a","Test":"TestX/one"}
{"Action":"output","Package":"a","Test":"TestX/one","Output":"quiet\n"}
{"Action":"pass","Package":"a","Test":"TestX/one","Elapsed":0}
{"Action":"run","Package":"a","Test":"TestX/two"}
{"Action":"output","Package":"a","Test":"TestX/two","Output":"=== RUN   TestX/two\n"}
{"Action":"output","Package":"a","Test":"TestX/two","Output":"two is wrong\n"}
{"Action":"fail","Package":"a","Test":"TestX/two","Elapsed":0}
{"Action":"fail","Package":"a","Test":"TestX","Elapsed":0}
{"Action":"skip","Package":"a","Test":"TestY","Elapsed":0}
{"Action":"output","Package":"a","Output":"FAIL\n"}
{"Action":"fail","Package":"a","Elapsed":0.1}
{"Action":"output","Package":"b","Output":"?   \tb\t[no test files]\n"}
{"Action":"skip","Package":"b","Elapsed":0}
{"Action":"run","Package":"c","Test":"TestZ"}
{"Action":"output","Package":"c","Test":"TestZ","Output":"panic: boom\n"}
{"Action":"fail","Package":"c","Elapsed":0}
# d
{"Action":"output","Package":"e","Output":"ok  \te\t0.1s\n"}
{"Action":"pass","Package":"e","Elapsed":0.1}
`

func TestCounter(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := newCounter(&out)
	if err := c.read(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	if want := (totals{passed: 1, failed: 2, skipped: 1}); c.t != want {
		t.Errorf("totals %+v, want %+v", c.t, want)
	}
	for _, want := range []string{"two is wrong", "panic: boom", "# d", "ok  \te"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output misses %q:\n%s", want, out.String())
		}
	}
	for _, not := range []string{"quiet", "no test files", "=== "} {
		if strings.Contains(out.String(), not) {
			t.Errorf("output has %q:\n%s", not, out.String())
		}
	}
}

func TestFuzzFunc(t *testing.T) {
	t.Parallel()
	src := "func FuzzParse(f *testing.F) {\n}\nfunc fuzzHelper() {}\nfunc TestFuzz(t *testing.T) {}\nfunc FuzzB2_x(ff *testing.F) {}\n"
	var got []string
	for _, m := range fuzzFunc.FindAllStringSubmatch(src, -1) {
		got = append(got, m[1])
	}
	if strings.Join(got, " ") != "FuzzParse FuzzB2_x" {
		t.Errorf("found %v", got)
	}
}

func TestRanOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want bool
	}{
		{"fuzz: elapsed: 1s, execs: 58248\n--- FAIL: FuzzParse (1.25s)\n    context deadline exceeded\nFAIL\nexit status 1\n", true},
		{"--- FAIL: FuzzParse (0.10s)\n    --- FAIL: FuzzParse (0.00s)\n        x_test.go:1: no\n    \n    Failing input written to testdata/fuzz/FuzzParse/0a\nFAIL\n", false},
		{"--- FAIL: FuzzParse (0.10s)\n    --- FAIL: FuzzParse/0a (0.00s)\n        context deadline exceeded\n    To re-run:\n    go test -run=FuzzParse/0a testdata/fuzz/FuzzParse/0a\n", false},
		{"# pkg\n./x.go:1:1: syntax error\nFAIL\n", false},
	} {
		if got := ranOut([]byte(c.text)); got != c.want {
			t.Errorf("%q: %v", c.text, got)
		}
	}
}
