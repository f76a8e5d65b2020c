package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/eiderdb/eider/e2e/internal/oracle"
)

// A PostgreSQL that is not there or of another version fails nothing: comparisons are left out, counted, and the totals say so. What else
// keeps it from starting is a failure.
func TestNoOracle(t *testing.T) {
	for _, tc := range []struct {
		err  error
		says string
	}{
		{oracle.ErrMissing, "PostgreSQL IS MISSING: 2 comparisons"},
		{fmt.Errorf("/usr/bin: %w: it is %q", oracle.ErrVersion, "postgres 17.1"), `PostgreSQL IS OF ANOTHER VERSION: 2 comparisons`},
		{fmt.Errorf("initdb: no space"), ""},
	} {
		var e env
		for range 2 {
			pg, err := e.postgres(func() (*oracle.Server, error) { return nil, tc.err })
			if pg != nil || (err == nil) != (tc.says != "") {
				t.Errorf("%v: %v, %v", tc.err, pg, err)
			}
		}
		n := e.skipped.Load()
		if tc.says == "" {
			if n != 0 {
				t.Errorf("%v: counted as left out", tc.err)
			}
			continue
		}
		line := strings.Trim(noOracle(n, e.pg.err), "\n")
		if !strings.Contains(line, tc.says) || !strings.Contains(line, tc.err.Error()) || !strings.Contains(line, "postgresql 15") || strings.Contains(line, "\n") {
			t.Errorf("%v: %s", tc.err, line)
		}
	}
}
