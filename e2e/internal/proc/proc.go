package proc

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
)

// Process is a started command with its exit awaited exactly once.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error
	once sync.Once
}

// Start starts cmd. Where the system offers it the child is signalled when this process ends, however it ends.
// That signal is tied to the thread that started the child, so a goroutine keeps its thread until the child is gone.
func Start(cmd *exec.Cmd) (*Process, error) {
	p := &Process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		tieToParent(cmd)
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		started <- nil
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	return p, nil
}

// Signal sends a signal; a process that has ended already is no error.
func (p *Process) Signal(sig os.Signal) error {
	select {
	case <-p.done:
		return nil
	default:
	}
	return p.cmd.Process.Signal(sig)
}

// Kill ends the process without a chance to clean up and waits for the end.
func (p *Process) Kill() {
	p.once.Do(func() { _ = p.Signal(os.Kill) })
	<-p.done
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err is the result of the process after Done.
func (p *Process) Err() error {
	<-p.done
	return p.err
}

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// FreePort returns a TCP port of the loopback address that was free a moment ago.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
