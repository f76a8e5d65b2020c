package e2e

import (
	"context"
	"strings"
	"testing"

	"github.com/eiderdb/eider/e2e/internal/script"
)

// TestMaterializeChoose has --select in every command that is for several scripts.
func TestMaterializeChoose(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		p := newMatProject(ctx, t, target, dsn)
		p.write("a.sql", "-- materialize ducklake://lake/a\n-- tag first\n-- data_test not_null x\nSELECT 1 AS x")
		p.write("b.sql", "-- materialize ducklake://lake/b\n-- data_test not_null x\nSELECT x FROM lake.a")
		p.write("c.sql", "-- materialize ducklake://lake/c\n-- data_test not_null x\nSELECT 2 AS x")
		p.must(ctx, "run")
		for _, verb := range []string{"run", "plan", "test", "status"} {
			for choice, want := range map[string]string{"tag:first": "a", "+b": "a b", "a+": "a b", "ducklake://lake/c": "c"} {
				var names []string
				for _, l := range p.must(ctx, verb, "--select", choice) {
					if len(names) == 0 || names[len(names)-1] != l.Script {
						names = append(names, l.Script)
					}
				}
				if got := strings.Join(names, " "); got != want {
					t.Errorf("%s --select %s: %s, want %s", verb, choice, got, want)
				}
			}
			if code, _, errs := p.do(ctx, verb, "--select", "nobody"); code != 2 || !strings.Contains(errs, "--select") {
				t.Errorf("%s --select nobody: exit code %d\n%s", verb, code, errs)
			}
		}
	})
}

// TestMaterializeNoLake has lakes and snapshots that are not there: what is missing is said together with what to do, and hides nothing else.
func TestMaterializeNoLake(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		p := newMatProject(ctx, t, target, dsn)
		p.write("here.sql", "-- materialize ducklake://lake/here\n-- data_test not_null x\nSELECT 1 AS x")
		p.write("there.sql", "-- materialize ducklake://empty/there\n-- data_test not_null x\nSELECT 1 AS x")
		p.write("copy.sql", "-- materialize ducklake://lake/copy\nSELECT x FROM lake.here")
		p.must(ctx, "run", "here.sql", "copy.sql")
		head := headSnapshot(ctx, t, dsn)

		empty := "empty=" + target.DSN("postgres")
		for _, verb := range []string{"run", "test"} {
			code, _, errs := p.do(ctx, verb, "there.sql", "--lake", empty)
			if code != 2 || !strings.Contains(errs, "there.sql:1: the lake empty: there is no DuckLake catalog") || !strings.Contains(errs, "make the lake first") {
				t.Errorf("%s: exit code %d\n%s", verb, code, errs)
			}
		}
		code, lines, errs := p.do(ctx, "status", "--lake", "empty=host=127.0.0.1 port=1 user=x dbname=x")
		if code != 2 || len(lines) != 2 || lines[1].Script != "here" || lines[1].Status != "materialized" || !strings.Contains(errs, "there.sql:1: the lake empty: no server answers") {
			t.Errorf("status: exit code %d, %+v\n%s", code, lines, errs)
		}
		for flag, want := range map[string]string{"lkae=1": "there is no lake lkae in the project", "99999": "the lake lake has no snapshot 99999", "lake=99999": "the lake lake has no snapshot 99999"} {
			if code, lines, errs := p.do(ctx, "run", "copy.sql", "--at-version", flag); code != 2 || !strings.Contains(errs, want) {
				t.Errorf("--at-version %s: exit code %d, %+v\n%s", flag, code, lines, errs)
			}
		}
		if now := headSnapshot(ctx, t, dsn); now != head {
			t.Errorf("%d snapshots were made", now-head)
		}
	})
}
