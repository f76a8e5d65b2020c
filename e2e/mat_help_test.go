package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/proc"
	"github.com/eiderdb/eider/e2e/internal/script"
	"github.com/eiderdb/eider/e2e/internal/tools"
)

// matProject is a project in a folder, a lake named lake in a database of a server, and a DuckDB that has it attached as lake.
type matProject struct {
	t      *testing.T
	target script.Target
	dsn    string
	dir    string
	data   string
	duck   duck.Session
}

func newMatProject(ctx context.Context, t *testing.T, target script.Target, dsn string) *matProject {
	t.Helper()
	p := &matProject{t: t, target: target, dsn: dsn, dir: t.TempDir(), data: t.TempDir()}
	p.duck = lakeSession(ctx, t, dsn, p.data)
	p.write("materialize.yaml", "lakes:\n  lake: {dsn: '"+strings.ReplaceAll(dsn, "'", "''")+"'}\n")
	return p
}

// write writes a file of the project.
func (p *matProject) write(name, text string) {
	p.t.Helper()
	file := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// remove removes a file of the project.
func (p *matProject) remove(name string) {
	p.t.Helper()
	if err := os.Remove(filepath.Join(p.dir, name)); err != nil {
		p.t.Fatal(err)
	}
}

// sql runs statements of another client.
func (p *matProject) sql(ctx context.Context, statements ...string) {
	p.t.Helper()
	for _, s := range statements {
		mustDuck(ctx, p.t, p.duck, s)
	}
}

// rows are those of a query, a line each.
func (p *matProject) rows(ctx context.Context, sql string) string {
	p.t.Helper()
	return strings.Join(mustDuck(ctx, p.t, p.duck, sql).Lines(), "\n")
}

// records is a table of the records, as the DuckDB of a project reads it.
func records(table string) string {
	return "postgres_query('__ducklake_metadata_lake', 'SELECT * FROM eider_materialize." + table + "')"
}

// matLine is a line of what the commands report.
type matLine struct {
	Event, Script, Asset, Partition, Run, Status, Text, Role, SQL, Trigger, Error string
	Attempt                                                                       int
	Snapshot                                                                      *int64 `json:"snapshot_id"`
	Rows                                                                          *int64
	Version                                                                       *int64 `json:"schema_version"`
	Success, Failure, Pending                                                     int
	Cancelled                                                                     bool
	Tests                                                                         []struct {
		Test      string
		Violating int64
		Sample    json.RawMessage
	}
}

// command is "eider materialize VERB", with the worker beside the server's binary; files are those of the project, none for all of it.
func (p *matProject) command(ctx context.Context, verb string, args ...string) *exec.Cmd {
	p.t.Helper()
	eiderWorker(p.t)
	ext, err := tools.Fetch(ctx, tools.Extensions)
	if err != nil {
		p.t.Fatal(err)
	}
	all := []string{"materialize", verb, "--server", p.target.DSN("postgres"), "--extension-dir", filepath.Join(ext, "extensions")}
	if verb != "graph" {
		all = append(all, "--format", "json")
	}
	if verb != "plan" && verb != "graph" {
		all = append(all, "--threads", "1", "--memory-limit", "1GB")
	}
	if os.Getenv("EIDER_E2E_BINARY") != "" {
		all = append(all, "--worker", eiderWorker(p.t))
	}
	files := false
	for _, a := range args {
		if strings.HasSuffix(a, ".sql") {
			a, files = filepath.Join(p.dir, a), true
		}
		all = append(all, a)
	}
	if !files {
		all = append(all, p.dir)
	}
	return exec.CommandContext(ctx, eiderBinary(p.t), all...)
}

// do runs a command to its end.
func (p *matProject) do(ctx context.Context, verb string, args ...string) (code int, lines []matLine, errs string) {
	p.t.Helper()
	cmd := p.command(ctx, verb, args...)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	running, e := proc.Start(cmd)
	if e != nil {
		p.t.Fatal(e)
	}
	<-running.Done()
	sc := bufio.NewScanner(&out)
	sc.Buffer(nil, 1<<22)
	for sc.Scan() {
		var l matLine
		if e := json.Unmarshal(sc.Bytes(), &l); e != nil {
			p.t.Errorf("%q: %v", sc.Text(), e)
		}
		lines = append(lines, l)
	}
	return cmd.ProcessState.ExitCode(), lines, err.String()
}

// must runs a command that has to end well.
func (p *matProject) must(ctx context.Context, verb string, args ...string) []matLine {
	p.t.Helper()
	code, lines, errs := p.do(ctx, verb, args...)
	if code != 0 {
		p.t.Fatalf("%s %v: exit code %d, %+v\n%s", verb, args, code, lines, errs)
	}
	return lines
}

// ended are the statuses of the runs of a command, SCRIPT [PARTITION] STATUS, in their order.
func ended(lines []matLine) string {
	var list []string
	for _, l := range lines {
		switch l.Event {
		case "ended":
			s := l.Script
			if l.Partition != "" {
				s += " " + l.Partition
			}
			list = append(list, s+" "+l.Status)
		case "blocked":
			list = append(list, l.Script+" blocked")
		}
	}
	return strings.Join(list, ", ")
}
