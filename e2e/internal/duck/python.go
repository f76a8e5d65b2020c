package duck

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/eiderdb/eider/e2e/internal/tools"
)

//go:embed driver.py
var driverPy string

// Python is DuckDB in a Python process: the packaged wheel of some version, driven over a pipe.
type Python struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	mu  sync.Mutex
}

// OpenPython starts the wheel of version 1.5.5 or 1.4.4 with its two extensions loaded. More variables (NAME=value) may be put into its environment.
func OpenPython(ctx context.Context, version string, env ...string) (*Python, error) {
	var part, ext string
	switch version {
	case "1.5.5":
		part, ext = tools.Python155, "extensions"
		if _, err := tools.Fetch(ctx, tools.Extensions); err != nil {
			return nil, err
		}
	case "1.4.4":
		part, ext = tools.Python144, "extensions-1.4.4"
	default:
		return nil, fmt.Errorf("no DuckDB wheel of version %q is known", version)
	}
	dir, err := tools.Fetch(ctx, part)
	if err != nil {
		return nil, err
	}
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	cmd := exec.Command(python, "-u", "-c", driverPy, filepath.Join(dir, ext))
	cmd.Env = append(append(os.Environ(), "PYTHONPATH="+filepath.Join(dir, part)), env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Python{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20)}, nil
}

// Query executes a statement with its values rendered by DuckDB.
func (p *Python) Query(ctx context.Context, sql string) (Result, error) {
	sql, _ = asText(sql)
	return p.Exec(ctx, sql)
}

// Exec executes a statement.
func (p *Python) Exec(_ context.Context, sql string) (Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	req, err := json.Marshal(sql)
	if err != nil {
		return Result{}, err
	}
	if _, err := p.in.Write(append(req, '\n')); err != nil {
		return Result{}, errors.Join(ErrClosed, err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return Result{}, errors.Join(ErrClosed, err)
	}
	var answer struct {
		Rows  [][]*string `json:"rows"`
		Error *string     `json:"error"`
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return Result{}, fmt.Errorf("answer of the Python driver: %w", err)
	}
	if answer.Error != nil {
		return Result{}, errors.New(*answer.Error)
	}
	var res Result
	for _, row := range answer.Rows {
		out := make([]string, len(row))
		for i, v := range row {
			if v == nil {
				out[i] = Null
			} else {
				out[i] = Text(*v)
			}
		}
		res.Rows = append(res.Rows, out)
	}
	return res, nil
}

// Close ends the process.
func (p *Python) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.in.Close()
	return p.cmd.Wait()
}
