package script

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const sample = `# a comment

session p pg

attach @b lake READ_ONLY

exec
CREATE TABLE t (i INTEGER);
INSERT INTO t
  VALUES (1);

query @p sort
SELECT * FROM t
----
1
2

error @b read.only
DROP TABLE t

differs PostgreSQL cuts it
exec @p
CREATE TABLE u (i int)
---- pg
error: ^no$
---- eider
CREATE TABLE

repeat n 1 3
let x @p
SELECT $n

end

async w @p
SELECT 1

await w error duplicate

tables-differ because
unhealthy path-twice of a reason
restart kill
`

func TestParse(t *testing.T) {
	s, err := Parse("sample", sample)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, st := range s.Steps {
		got = append(got, strings.Join([]string{string(st.Verb), st.Session, st.Args, st.Var}, "|"))
	}
	want := []string{
		"session|a|p pg|", "attach|b|lake READ_ONLY|", "exec|a||", "query|p|sort|", "error|b|read.only|", "exec|p||",
		"repeat|a|n 1 3|n", "async|p||w", "await||error duplicate|w", "restart|a|kill|",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := len(statements(s.Steps[2].Body)); n != 2 {
		t.Errorf("%d statements in the exec block", n)
	}
	if d := cmp.Diff([]string{"1", "2"}, s.Steps[3].Expect[""].Rows); d != "" || !s.Steps[3].Sort {
		t.Error(d)
	}
	pinned := s.Steps[5]
	if pinned.Differs != "PostgreSQL cuts it" || pinned.Expect["pg"].Error != "^no$" || pinned.Expect["eider"].Rows[0] != "CREATE TABLE" {
		t.Errorf("%+v", pinned)
	}
	if loop := s.Steps[6]; len(loop.Steps) != 1 || loop.Steps[0].Var != "x" || len(loop.Values) != 3 {
		t.Errorf("%+v", loop)
	}
	if s.Unhealthy["path-twice"] != "of a reason" {
		t.Errorf("unhealthy: %v", s.Unhealthy)
	}
	if s.TablesDiffer != "because" || !s.Private {
		t.Errorf("tables differ %q, private %v", s.TablesDiffer, s.Private)
	}
	if n := Count(s.Steps); n != 8 {
		t.Errorf("%d statements counted", n)
	}
}

// A limit of time is for the next block only.
func TestParseWithin(t *testing.T) {
	s, err := Parse("s", "within 1m30s\nexec\nSELECT 1\n\nquery\nSELECT 2\n")
	if err != nil {
		t.Fatal(err)
	}
	if a, b := s.Steps[0].Within, s.Steps[1].Within; a != 90*time.Second || b != 0 {
		t.Errorf("%v, %v", a, b)
	}
}

func TestParseErrors(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"nonsense\nSELECT 1\n", "unknown verb"},
		{"exec\n\n", "without a statement"},
		{"query wrong\nSELECT 1\n", "takes only sort"},
		{"error\nSELECT 1\n", "needs a regular expression"},
		{"error (\nSELECT 1\n", "missing closing"},
		{"repeat n 1\nexec\nSELECT 1\n\nend\n", "needs NAME FROM TO"},
		{"each x in a b\nexec\nSELECT 1\n", "without an end"},
		{"end\n", "without a loop"},
		{"only pg\nexec\nSELECT 1\n", "needs a reason"},
		{"differs\nexec\nSELECT 1\n", "needs a reason"},
		{"within soon\nexec\nSELECT 1\n", "needs a duration"},
		{"within -1s\nexec\nSELECT 1\n", "needs a duration"},
		{"within 1s\nattach\n", "has no limit of time"},
		{"query\nSELECT 1\n---- other\n1\n", "unknown target"},
	} {
		_, err := Parse("bad", tc.text)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: got %v, want %s", tc.text, err, tc.want)
		}
	}
}
