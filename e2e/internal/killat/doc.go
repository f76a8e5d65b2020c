// Package killat runs a program so that it can be ended by SIGKILL right before the n-th of its system calls that change files: what it did until then
// is there, what it was about to do is not. Counting is over all its threads, by ptrace, so that a test can try one call after the other until
// the program comes to its end (Linux only).
//
// The test binary stands between the test and the program: it is started in its place (Wrapper), starts it, and traces it once it is told to (Trap.Arm).
package killat

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// Env tells the test binary to run Main. Its value is the socket on which orders come.
const Env = "EIDER_E2E_KILLAT"

// ErrUnsupported: there is no such tracing on this system.
var ErrUnsupported = errors.New("killat: only on Linux")

// Trap is the test's end.
type Trap struct {
	dir  string
	conn net.Conn
	in   *bufio.Reader
}

// Wrapper writes a script into dir that runs the program with the script's arguments under the test binary, and returns its path.
func Wrapper(dir, program string) (script string, t *Trap, err error) {
	if !supported {
		return "", nil, ErrUnsupported
	}
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	t = &Trap{dir: dir}
	script = filepath.Join(dir, "run")
	text := fmt.Sprintf("#!/bin/sh\n%s='%s' exec '%s' '%s' \"$@\"\n", Env, t.socket(), self, program)
	return script, t, os.WriteFile(script, []byte(text), 0o755)
}

func (t *Trap) socket() string { return filepath.Join(t.dir, "socket") }

// Arm makes the program that runs now end before its n-th change, counted from 1: of names in file systems, and of the bytes of files below the
// folder. It returns when all threads are watched.
func (t *Trap) Arm(ctx context.Context, n int, folder string) (err error) {
	var d net.Dialer
	if t.conn, err = d.DialContext(ctx, "unix", t.socket()); err != nil {
		return err
	}
	if end, ok := ctx.Deadline(); ok {
		_ = t.conn.SetDeadline(end) // a deadline can be set on any connection that is open
	}
	t.in = bufio.NewReader(t.conn)
	if _, err := fmt.Fprintf(t.conn, "%d %s\n", n, folder); err != nil {
		return err
	}
	if line, err := t.in.ReadString('\n'); err != nil || line != "armed\n" {
		return fmt.Errorf("killat: %q: %w", line, err)
	}
	return nil
}

// Disarm lets the program live. It returns the call before which it was killed all the same, or "".
func (t *Trap) Disarm() (string, error) {
	if _, err := fmt.Fprintln(t.conn, "off"); err != nil {
		return t.Fired(), nil //nolint:nilerr // it has ended
	}
	line, err := t.in.ReadString('\n')
	_ = t.conn.Close()
	if line == "off\n" {
		line, err = "", nil
	}
	return strings.TrimSpace(line), err
}

// Fired waits for the program's end, and returns the call before which it was killed: "" if it ended otherwise.
func (t *Trap) Fired() string {
	line, _ := t.in.ReadString('\n') // the end of the connection is the answer
	_ = t.conn.Close()
	return strings.TrimSpace(line)
}
