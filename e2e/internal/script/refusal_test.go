package script

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRefusal(t *testing.T) {
	for text, clear := range map[string]bool{
		`Failed to commit DuckLake transaction.\nTransaction conflict - attempting to delete from table 1`:                true,
		`Failed to commit: ERROR:  another transaction changed the deletes of data file 17 since this compaction read it`: true,
		`ERROR:  duplicate key value violates unique constraint "ducklake_snapshot_pkey"`:                                 false,
		`Exceeded the maximum retry count of 10 set by the ducklake_max_retry_count setting`:                              false,
		`INTERNAL Error: Attempted to access index 1`:                                                                     false,
		`Transaction conflict - attempting to insert, Exceeded the maximum retry count of 10`:                             false,
		`FATAL Error: database has been invalidated because of a previous fatal error`:                                    false,
		`server closed the connection unexpectedly`:                                                                       false,
		`table "u_n_i_q_u_e": the file is not live`:                                                                       true,
		`timeout: the statement was cancelled`:                                                                            false,
	} {
		if err := Refusal(text); (err == nil) != clear {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestRefusedExpectation(t *testing.T) {
	s, err := Parse("x", "exec\nCOMMIT\n---- eider\nrefused: (?i)data file\n")
	if err != nil {
		t.Fatal(err)
	}
	e := s.Steps[0].Expect["eider"]
	if !e.Refused || e.Error != "(?i)data file" || e.Rows != nil {
		t.Errorf("got %+v", e)
	}
	r := &runner{s: s, t: fixedTarget{name: "eider"}, trace: &Trace{}, norm: &normaliser{}}
	for text, failures := range map[string]int{"data file 1 is not live": 0, "data file 1, conflict": 1, "something else": 1, "": 1} {
		r.trace.Failures = nil
		r.record(&s.Steps[0], outcome{Outcome: Outcome{Err: text}})
		if len(r.trace.Failures) != failures {
			t.Errorf("%q: %v", text, r.trace.Failures)
		}
	}
}

// Rewriting writes the rows of PostgreSQL, under their own rule where a difference is pinned.
func TestRewritePinned(t *testing.T) {
	const before = "differs why\nquery\nSELECT 1\n---- pg\nold\n---- eider\nright\n\nquery\nSELECT 2\n\ndiffers why\nquery\nSELECT 3\n---- eider\nx\n"
	const after = "differs why\nquery\nSELECT 1\n---- pg\nwrong\n---- eider\nright\n\nquery\nSELECT 2\n----\n2\n\ndiffers why\nquery\nSELECT 3\n---- eider\nx\n"
	s, err := Parse("x", before)
	if err != nil {
		t.Fatal(err)
	}
	tr := &Trace{Target: "pg"}
	for i, row := range []string{"wrong", "2", "3"} {
		tr.Outcomes = append(tr.Outcomes, Outcome{Line: s.Steps[i].Line, Rows: []string{row}, query: true, top: true, Differs: s.Steps[i].Differs})
	}
	path := filepath.Join(t.TempDir(), "x.lake")
	if err := Rewrite(s, path, tr); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != after {
		t.Errorf("got %q, %v", got, err)
	}
}

// fixedTarget is a target that only has a name.
type fixedTarget struct {
	Target
	name string
}

func (f fixedTarget) Name() string { return f.name }
