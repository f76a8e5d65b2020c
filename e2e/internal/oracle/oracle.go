// Package oracle runs a PostgreSQL 15 of its own for the tests: the stock settings, fsync on, the C locale, a random port, a temporary folder.
package oracle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/e2e/internal/proc"
)

// Server is a running PostgreSQL.
type Server struct {
	bin  string // folder of PostgreSQL's programs
	dir  string
	port int
	proc *proc.Process
	mu   sync.Mutex // serialises CREATE and DROP DATABASE: PostgreSQL refuses two at once on one template
}

// Start finds or installs PostgreSQL and starts it in a new temporary folder.
func Start(ctx context.Context) (*Server, error) {
	bin, err := binaries(ctx, places, install)
	if err != nil {
		return nil, err
	}
	cred, err := account()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "eider-oracle-")
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, dir: dir}
	if err := s.start(ctx, bin, cred); err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, bin string, cred *syscall.Credential) error {
	if cred != nil {
		if err := os.Chown(s.dir, int(cred.Uid), int(cred.Gid)); err != nil {
			return err
		}
	}
	data := filepath.Join(s.dir, "data")
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-E", "UTF8", "--locale=C", "-A", "trust", "-U", "postgres", "-D", data)
	as(initdb, cred, s.dir)
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	port, err := proc.FreePort()
	if err != nil {
		return err
	}
	s.port = port
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-p", strconv.Itoa(port), "-k", s.dir,
		"-c", "listen_addresses=127.0.0.1", "-c", "fsync=on", "-c", "timezone=UTC", "-c", "max_connections=400", "-c", "lc_messages=C")
	as(cmd, cred, s.dir)
	cmd.Stdout, cmd.Stderr = log, log
	if s.proc, err = proc.Start(cmd); err != nil {
		return err
	}
	if err := s.ready(ctx); err != nil {
		s.proc.Kill()
		text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		return fmt.Errorf("%w\n%s", err, bytes.TrimSpace(text))
	}
	return nil
}

func (s *Server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		c, err := pgconn.Connect(ctx, s.DSN("postgres"))
		if err == nil {
			return errors.Join(checkVersion(c.ParameterStatus("server_version")), c.Close(ctx))
		}
		select {
		case <-s.proc.Done():
			return fmt.Errorf("PostgreSQL ended at its start: %w", s.proc.Err())
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL does not answer: %w", err)
		case <-tick.C:
		}
	}
}

// Name is the name of the target in scripts.
func (s *Server) Name() string { return "pg" }

// Program is the path of one of PostgreSQL's programs.
func (s *Server) Program(name string) string { return filepath.Join(s.bin, name) }

// Port is the TCP port on 127.0.0.1.
func (s *Server) Port() int { return s.port }

// DSN is a libpq connection string for a database.
func (s *Server) DSN(db string) string {
	return fmt.Sprintf("host=127.0.0.1 port=%d user=postgres dbname=%s sslmode=disable", s.port, db)
}

// CreateDatabase creates an empty database.
func (s *Server) CreateDatabase(ctx context.Context, name string) error {
	return s.admin(ctx, "CREATE DATABASE "+name)
}

// DropDatabase drops a database together with its sessions.
func (s *Server) DropDatabase(ctx context.Context, name string) error {
	return s.admin(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
}

func (s *Server) admin(ctx context.Context, sql string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := pgconn.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	_, err = c.Exec(ctx, sql).ReadAll()
	return err
}

// Restart ends all sessions of a database: what its clients notice of a restart, without stopping the other tests' server.
func (s *Server) Restart(ctx context.Context, db string, _ bool) error {
	return s.admin(ctx, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '"+db+"'")
}

// Stop ends the server and removes its folder.
func (s *Server) Stop() error {
	if err := s.proc.Signal(os.Interrupt); err != nil {
		return err
	}
	select {
	case <-s.proc.Done():
	case <-time.After(30 * time.Second):
		s.proc.Kill()
	}
	return os.RemoveAll(s.dir)
}

// account is whom PostgreSQL runs as: it refuses to run as root, so root takes the postgres user (or nobody).
func account() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	var last error
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			last = err
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, fmt.Errorf("no account to run PostgreSQL as: %w", last)
}

func as(cmd *exec.Cmd, cred *syscall.Credential, dir string) {
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC")
	if cred != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
	}
}
