package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/eiderdb/eider/e2e/internal/proc"
	"github.com/eiderdb/eider/e2e/internal/tools"
)

// quickstart is what "make quickstart", or another target with a script of that name, runs
// when the binary is built, on the binary of the tests and with the DuckDB that they have
// fetched.
func quickstart(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	if !wantEider() {
		t.Skip("runs on eider only")
	}
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{filepath.Join("scripts", name+".sh"), "--server", eiderBinary(t)}, args...)...)
	cmd.Dir = tools.Root()
	cmd.Env = append(os.Environ(), "EIDER_EXT_DIR="+tools.CacheDir(), "TMPDIR="+t.TempDir())
	return cmd
}

// quickstartTells are parts of what the quickstart prints, in their order.
var quickstartTells = []string{
	"1. Attach", "ATTACH 'ducklake:postgres:", "2. A table.", "Parquet files: 0", "3. A larger insert", "Parquet files: 1", "4. Update and delete",
	"10003", "5. Time travel", "20003", "6. Change the table", "Anatidae", "7. What changed", "update_postimage", "8. Many small files",
	"ducklake_merge_adjacent_files", "9. Write what is in the catalog", "ducklake_expire_snapshots", "ducklake_cleanup_old_files",
	"10. Stop the server", "That worked.",
}

// TestQuickstart: the README's first command runs to its end, does what it says, and leaves
// nothing behind.
func TestQuickstart(t *testing.T) {
	t.Parallel()
	quickstartRuns(t, quickstart(t, "quickstart"), quickstartTells, "\nquickstart: build\n\tsh scripts/quickstart.sh\n")
}

// quickstartRuns runs a quickstart to its end. It must print the parts in their order, leave
// nothing behind, and be all that the rule in the Makefile runs.
func quickstartRuns(t *testing.T, cmd *exec.Cmd, tells []string, rule string) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rest := string(out)
	for _, part := range tells {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			t.Fatalf("no %q where it belongs:\n%s", part, out)
		}
		rest = after
	}
	nothingLeft(t, cmd)
	mk, err := os.ReadFile(filepath.Join(tools.Root(), "Makefile"))
	if err != nil || !strings.Contains(string(mk), rule) {
		t.Errorf("the Makefile has no rule that is %q (%v)", rule, err)
	}
}

// nothingLeft looks for folders of a quickstart that has ended.
func nothingLeft(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(tmpDir(cmd), "eider-quickstart-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func tmpDir(cmd *exec.Cmd) string {
	dir := ""
	for _, e := range cmd.Env {
		if v, ok := strings.CutPrefix(e, "TMPDIR="); ok {
			dir = v
		}
	}
	return dir
}

var attachLine = regexp.MustCompile(`^ +(ATTACH 'ducklake:postgres:.*' AS lake);$`)

// TestQuickstartKeeps: the line that it prints at its end attaches the lake, until the
// quickstart is ended by a signal, which cleans up.
func TestQuickstartKeeps(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	cmd := quickstart(t, "quickstart", "--keep")
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = in, in
	p, err := proc.Start(cmd)
	in.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	var printed strings.Builder
	attach := ""
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "The server runs until Ctrl-C") {
		printed.WriteString(lines.Text() + "\n")
		if m := attachLine.FindStringSubmatch(lines.Text()); m != nil {
			attach = m[1]
		}
	}
	if attach == "" {
		t.Fatalf("no line to connect by hand:\n%s", printed.String())
	}
	s := newDuck(ctx, t)
	for _, sql := range []string{attach, "USE lake"} {
		if _, err := s.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	if res, err := s.Exec(ctx, "SELECT count(*) FROM birds"); err != nil || strings.Join(res.Lines(), "") != "10153" {
		t.Errorf("birds: %v, %v", res, err)
	}
	for _, sql := range []string{"USE memory", "DETACH lake"} {
		if _, err := s.Exec(ctx, sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if err := p.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if err := p.Err(); err != nil {
		t.Errorf("ended with %v", err)
	}
	nothingLeft(t, cmd)
}
