package lint

import (
	"os"
	"strings"
	"testing"
)

// rule says which packages of ours a package, and those below it, may import. The first
// rule whose prefix fits counts.
type rule struct {
	prefix string
	may    []string
}

// The layers, from the bottom up. "kv" allows kv and everything below it; "=kv/rel" that
// package alone.
var rules = []rule{
	{"kv", []string{"kv"}},
	{"translate/pgerr", []string{"=lake/retry"}},
	{"translate/ast", nil},
	{"translate/lex", []string{"translate/ast", "translate/pgerr"}},
	{"translate/parse", []string{"translate/ast", "translate/lex", "translate/pgerr"}},
	{"translate/jsonpath", []string{"translate/pgerr"}},
	{"translate/types", []string{"translate/jsonpath", "translate/pgerr"}},
	{"translate/exec", []string{"kv", "translate/ast", "translate/exec", "translate/jsonpath", "translate/lex", "translate/pgerr", "translate/types"}},
	{"translate/pgcatalog", []string{"kv", "translate/exec", "translate/lex", "translate/pgerr", "translate/types"}},
	{"translate/plan", []string{
		"kv", "translate/ast", "translate/exec", "translate/lex", "translate/parse", "translate/pgerr", "translate/types",
	}},
	{"translate", []string{"kv", "translate", "conflict", "lake"}},
	{"conflict", []string{"conflict", "lake"}},
	{"=gc", []string{"lake", "=internal/bytesize", "=internal/duration"}},
	{"gc/meta", []string{"gc/meta", "kv", "lake"}},
	{"gc/sweep", []string{"=gc", "gc/meta", "kv", "lake"}},
	{"gc/expire", []string{"=gc", "gc/meta", "gc/sweep", "conflict", "kv", "lake"}},
	{"gc/trim", []string{"=gc", "gc/expire", "gc/meta", "gc/sweep", "kv", "lake"}},
	{"gc/clean", []string{"=gc", "gc/meta", "kv", "lake"}},
	{"gc/jobs", []string{"=gc", "gc/meta", "kv", "lake"}},
	{"gc/sqlface", []string{"=gc", "gc/clean", "gc/jobs", "gc/meta", "translate/exec", "translate/pgerr", "translate/types"}},
	{"gc", []string{"gc", "kv", "lake", "conflict"}},
	{"lake/pgsource", []string{"=lake"}},
	{"lake/paths", []string{"=lake", "=lake/files"}},
	{"lake", nil},
	{"materialize/wall", nil},
	{"materialize/partition", []string{"=lake", "=materialize/wall"}},
	{"materialize/due", []string{"=internal/duration", "=materialize/partition", "=materialize/wall"}},
	{"materialize/annotate", []string{"=internal/duration", "=internal/nearest"}},
	{"materialize/classify", []string{"=lake"}},
	{"materialize/lineage", nil},
	{"materialize/graph", []string{"=internal/nearest", "=materialize/lineage"}},
	{"materialize/state", []string{"conflict"}},
	{"materialize/plan", []string{"=lake", "=materialize/annotate", "=materialize/classify"}},
	{"materialize/project", []string{
		"=internal/nearest", "=internal/strictyaml", "=materialize/annotate", "=materialize/classify", "=materialize/due", "=materialize/partition",
		"=materialize/plan",
	}},
	{"materialize/run", []string{"=internal/cmdline", "=lake", "materialize"}},
	{"policy", nil},
	{"server", []string{"kv", "translate", "server"}},
	{"cmd/eider", []string{"kv", "translate", "server", "conflict", "gc", "lake", "cmd/eider", "=internal/bytesize", "=internal/cmdline", "=internal/nearest"}},
	{"internal/bytesize", nil},
	{"internal/cmdline", nil},
	{"internal/duration", nil},
	{"internal/nearest", nil},
	{"internal/strictyaml", []string{"=internal/nearest"}},
	{"internal/gcstep", []string{"conflict", "gc", "kv", "lake", "translate"}},
	{"internal/cleanstep", []string{"gc", "kv", "lake", "translate"}},
	{"internal", []string{"internal", "cmd/eider", "conflict", "=gc/fsck", "gc/jobs", "server"}},
}

func covers(allowed, path string) bool {
	if exact, ok := strings.CutPrefix(allowed, "="); ok {
		return path == exact
	}
	return path == allowed || strings.HasPrefix(path, allowed+"/")
}

// Layers stay layers: a package imports only what its rule lists.
func TestImportRules(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		path := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if path == "" {
			continue
		}
		var r *rule
		for i := range rules {
			if covers(rules[i].prefix, path) {
				r = &rules[i]
				break
			}
		}
		if r == nil {
			t.Errorf("package %s has no import rule", path)
			continue
		}
		check := func(kind string, imports []string) {
			for _, imp := range imports {
				ours, ok := strings.CutPrefix(imp, module+"/")
				if !ok || covers(path, ours) {
					continue
				}
				allowed := false
				for _, m := range r.may {
					allowed = allowed || covers(m, ours)
				}
				if !allowed {
					t.Errorf("%s %s %s", path, kind, ours)
				}
			}
		}
		check("imports", p.Imports)
		if r.prefix == "kv" { // not even its tests know what is above
			check("tests import", append(p.TestImports, p.XTestImports...))
		}
	}
}

// The rules themselves must be able to fail.
func TestCovers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		allowed, path string
		want          bool
	}{
		{"kv", "kv", true},
		{"kv", "kv/rel", true},
		{"kv", "kvx", false},
		{"=kv", "kv/rel", false},
		{"translate", "server", false},
	} {
		if got := covers(c.allowed, c.path); got != c.want {
			t.Errorf("covers(%q, %q) = %v", c.allowed, c.path, got)
		}
	}
}

// What needs C or serves only tests stays out of the server's module: DuckDB and the
// grammar oracle live in e2e.
func TestModuleGraph(t *testing.T) {
	t.Parallel()
	out, err := goCmd(t, ".", nil, "list", "-m", "all")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(out) {
		for _, bad := range []string{"duckdb", "pg_query"} {
			if strings.Contains(line, bad) {
				t.Errorf("the server's module graph has %s", strings.TrimSpace(line))
			}
		}
	}
}

// The binary is pure Go.
func TestBuildsWithoutCgo(t *testing.T) {
	t.Parallel()
	if out, err := goCmd(t, ".", []string{"CGO_ENABLED=0"}, "build", "-o", os.DevNull, "./cmd/eider"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
