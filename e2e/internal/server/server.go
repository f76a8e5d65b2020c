// Package server builds the eider binary once per test process and runs it on temporary folders.
package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/e2e/internal/proc"
	"github.com/eiderdb/eider/e2e/internal/tools"
)

// Build compiles cmd/eider into dir and returns the path. EIDER_E2E_BINARY names a binary to take instead.
func Build(ctx context.Context, dir string) (string, error) {
	if b := os.Getenv("EIDER_E2E_BINARY"); b != "" {
		return b, nil
	}
	bin := filepath.Join(dir, "eider")
	args := []string{"build", "-o", bin}
	if os.Getenv("EIDER_E2E_RACE") != "" {
		args = append(args, "-race")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/eider")...)
	cmd.Dir = tools.Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building eider: %w\n%s", err, out)
	}
	return bin, nil
}

// Server is a running eider.
type Server struct {
	bin  string
	dir  string // parent of the data folder and the log
	data string
	args []string
	port int
	http int // of /metrics

	mu   sync.Mutex
	proc *proc.Process
}

// Start runs the binary on a new temporary folder. More arguments of "serve" may follow.
func Start(ctx context.Context, bin string, args ...string) (*Server, error) {
	dir, err := os.MkdirTemp("", "eider-e2e-")
	if err != nil {
		return nil, err
	}
	port, err := proc.FreePort()
	if err != nil {
		return nil, err
	}
	admin, err := proc.FreePort()
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, dir: dir, data: filepath.Join(dir, "data"), args: args, port: port, http: admin}
	if err := s.launch(ctx); err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	return s, nil
}

func (s *Server) launch(ctx context.Context) error {
	log, err := os.OpenFile(s.LogPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(s.bin, append([]string{"serve", "--listen", fmt.Sprintf("127.0.0.1:%d", s.port), "--admin-listen", fmt.Sprintf("127.0.0.1:%d", s.http), "--data", s.data}, s.args...)...)
	cmd.Dir = s.dir
	cmd.Stdout, cmd.Stderr = log, log
	p, err := proc.Start(cmd)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.proc = p
	s.mu.Unlock()
	if err := s.ready(ctx); err != nil {
		p.Kill()
		text, _ := os.ReadFile(s.LogPath())
		if len(text) > 4000 {
			text = text[len(text)-4000:]
		}
		return fmt.Errorf("%w\n%s", err, text)
	}
	return nil
}

// startingUp is the SQLSTATE of a server that listens but has not opened its store yet.
const startingUp = "57P03"

// authorization is the class of the refusals of a server that is up and wants users or encryption.
const authorization = "28"

func (s *Server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		c, err := pgconn.Connect(ctx, s.DSN("postgres"))
		if err == nil {
			return c.Close(ctx)
		}
		var refused *pgconn.PgError
		switch {
		case !errors.As(err, &refused) || refused.Code == startingUp:
		case strings.HasPrefix(refused.Code, authorization):
			return nil
		default:
			return fmt.Errorf("eider refuses connections: %w", err)
		}
		select {
		case <-s.process().Done():
			return fmt.Errorf("eider ended at its start: %w", s.process().Err())
		case <-ctx.Done():
			return fmt.Errorf("eider does not answer: %w", err)
		case <-tick.C:
		}
	}
}

func (s *Server) process() *proc.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc
}

// Name is the name of the target in scripts.
func (s *Server) Name() string { return "eider" }

// Port is the TCP port on 127.0.0.1; it stays over restarts.
func (s *Server) Port() int { return s.port }

// DataDir is the server's data folder.
func (s *Server) DataDir() string { return s.data }

// PID is the process id of the running server.
func (s *Server) PID() int { return s.process().PID() }

// LogPath is the file with the server's output.
func (s *Server) LogPath() string { return filepath.Join(s.dir, "log") }

// DSN is a libpq connection string for a database.
func (s *Server) DSN(db string) string {
	return fmt.Sprintf("host=127.0.0.1 port=%d user=eider dbname=%s sslmode=disable", s.port, db)
}

// CreateDatabase creates an empty catalog.
func (s *Server) CreateDatabase(ctx context.Context, name string) error {
	return s.admin(ctx, "CREATE DATABASE "+name)
}

// DropDatabase drops a catalog together with its sessions.
func (s *Server) DropDatabase(ctx context.Context, name string) error {
	return s.admin(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
}

func (s *Server) admin(ctx context.Context, sql string) error {
	c, err := pgconn.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	_, err = c.Exec(ctx, sql).ReadAll()
	return err
}

// Restart stops the server (or kills it) and starts it on the same folder and port.
func (s *Server) Restart(ctx context.Context, _ string, kill bool) error {
	if kill {
		s.Kill()
	} else if err := s.shutdown(); err != nil {
		return err
	}
	return s.launch(ctx)
}

// Kill ends the server with SIGKILL and waits for its end.
func (s *Server) Kill() { s.process().Kill() }

// Launch starts a stopped or killed server again on its folder and port.
func (s *Server) Launch(ctx context.Context) error { return s.launch(ctx) }

func (s *Server) shutdown() error {
	p := s.process()
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.Done():
	case <-time.After(30 * time.Second):
		p.Kill()
		return errors.New("eider does not end on SIGTERM")
	}
	if err := p.Err(); err != nil {
		return fmt.Errorf("eider ended with an error on SIGTERM: %w", err)
	}
	return nil
}

// Stop ends the server and removes its folder.
func (s *Server) Stop() error {
	err := s.shutdown()
	return errors.Join(err, os.RemoveAll(s.dir))
}
