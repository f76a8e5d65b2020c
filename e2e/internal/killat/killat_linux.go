package killat

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const supported = true

// Numbers of ptrace(2) that package syscall does not have.
const (
	ptraceSeize       = 0x4206
	ptraceInterrupt   = 0x4207
	ptraceListen      = 0x4208
	ptraceSyscallInfo = 0x420e
	optionExitKill    = 1 << 20
	eventStop         = 128
	waitAll           = 0x40000000 // __WALL
)

// order is what the test has asked for.
type order struct {
	conn   net.Conn
	n      int
	folder string
	off    *atomic.Bool // the program is to live
}

// Main runs a program, its arguments with it, until its end, and returns the exit code. Orders come on the socket.
func Main(socket string, argv []string) int {
	// ptrace answers to one thread, and the signal at the parent's death is tied to one.
	runtime.LockOSThread()
	_ = os.Remove(socket) // of a run before
	l, err := net.Listen("unix", socket)
	if err != nil {
		return failed(err)
	}
	env := os.Environ()
	for i, e := range env {
		if strings.HasPrefix(e, Env+"=") {
			env[i] = Env + "_DONE=1"
		}
	}
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Env: env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return failed(err)
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT)
	go func() {
		for s := range signals {
			_ = syscall.Kill(pid, s.(syscall.Signal)) // it may have ended
		}
	}()
	orders := make(chan order)
	go accept(l, orders)
	for {
		var ws syscall.WaitStatus
		switch got, err := syscall.Wait4(pid, &ws, syscall.WNOHANG, nil); {
		case err != nil && err != syscall.EINTR: //nolint:errorlint // package syscall returns them bare
			return failed(err)
		case err == nil && got == pid:
			return code(ws)
		}
		select {
		case o := <-orders:
			t := &tracer{pid: pid, order: o, threads: map[int]bool{}}
			ws, err := t.run()
			if err != nil {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				return failed(err)
			}
			return code(ws)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, "killat:", err)
	return 1
}

func code(ws syscall.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

func accept(l net.Listener, orders chan<- order) {
	conn, err := l.Accept()
	if err != nil {
		return
	}
	o := order{conn: conn, off: new(atomic.Bool)}
	in := bufio.NewReader(conn)
	line, err := in.ReadString('\n')
	if err == nil {
		_, err = fmt.Sscanf(line, "%d %s", &o.n, &o.folder)
	}
	if err != nil {
		_ = conn.Close()
		return
	}
	orders <- o
	if _, err := in.ReadString('\n'); err == nil {
		o.off.Store(true)
		fmt.Fprintln(conn, "off")
	}
}

// tracer watches all threads of a process.
type tracer struct {
	pid int
	order
	threads map[int]bool // those that are attached, and whether they have been stopped since
	armed   bool
	count   int
}

func (t *tracer) run() (syscall.WaitStatus, error) {
	if err := t.attach(); err != nil {
		return 0, err
	}
	for {
		var ws syscall.WaitStatus
		tid, err := syscall.Wait4(-1, &ws, waitAll, nil)
		if err == syscall.EINTR { //nolint:errorlint // package syscall returns them bare
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("wait: %w", err)
		}
		if !ws.Stopped() {
			if delete(t.threads, tid); tid == t.pid {
				return ws, nil
			}
			continue
		}
		if err := t.stopped(tid, ws); err != nil && err != syscall.ESRCH { //nolint:errorlint // see above; it has been killed
			return 0, err
		}
	}
}

// attach takes every thread; those that these start come by themselves. It goes on until a look finds none that is new.
func (t *tracer) attach() error {
	for more := true; more; {
		more = false
		list, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", t.pid))
		if err != nil {
			return err
		}
		for _, e := range list {
			var tid int
			if _, err := fmt.Sscan(e.Name(), &tid); err != nil {
				return err
			}
			if _, have := t.threads[tid]; have {
				continue
			}
			more = true
			err := ptrace(ptraceSeize, tid, 0, syscall.PTRACE_O_TRACESYSGOOD|syscall.PTRACE_O_TRACECLONE|optionExitKill)
			if err == nil {
				err = ptrace(ptraceInterrupt, tid, 0, 0)
			}
			// A thread that has been started by one that is watched is watched already; one may have ended.
			if err != nil && err != syscall.ESRCH && err != syscall.EPERM { //nolint:errorlint // bare
				return fmt.Errorf("attach to %d: %w", tid, err)
			}
			t.threads[tid] = err != nil
		}
	}
	return nil
}

// stopped looks at a thread that has stopped, and lets it go on.
func (t *tracer) stopped(tid int, ws syscall.WaitStatus) error {
	t.threads[tid] = true
	sig, event := ws.StopSignal(), int(ws)>>16
	deliver := 0
	switch {
	case sig == syscall.SIGTRAP|0x80:
		if t.armed {
			if err := t.called(tid); err != nil {
				return err
			}
		}
	case event == eventStop && sig != syscall.SIGTRAP:
		return ptrace(ptraceListen, tid, 0, 0) // the whole group is stopped
	case event == 0:
		deliver = int(sig)
	}
	if err := ptrace(syscall.PTRACE_SYSCALL, tid, 0, uintptr(deliver)); err != nil {
		return err
	}
	return t.ready()
}

// ready says so once all threads are watched.
func (t *tracer) ready() error {
	if t.armed {
		return nil
	}
	for _, seen := range t.threads {
		if !seen {
			return nil
		}
	}
	t.armed = true
	_, err := fmt.Fprintln(t.conn, "armed")
	return err
}

// called looks at a system call that a thread is about to make.
func (t *tracer) called(tid int) error {
	// struct ptrace_syscall_info: op, arch, instruction and stack pointers, number, arguments.
	var info struct {
		op     uint8
		_      [3]uint8
		_      uint32
		_, _   uint64
		number uint64
		args   [6]uint64
	}
	if err := ptrace(ptraceSyscallInfo, tid, unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info))); err != nil {
		return err
	}
	if info.op != 1 { // it returns
		return nil
	}
	name, ok := changes[info.number]
	if !ok {
		return nil
	}
	what := ""
	switch name {
	case "write", "pwrite64", "ftruncate", "fsync", "fdatasync":
		to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", t.pid, int32(info.args[0])))
		if err != nil || !strings.HasPrefix(to, t.folder+"/") {
			return nil //nolint:nilerr // it has no name: a socket, a pipe
		}
		what = to
	case "openat":
		if info.args[2]&syscall.O_CREAT == 0 {
			return nil
		}
		what = t.text(info.args[1])
	default:
		what = t.text(info.args[1])
	}
	if t.count++; t.count == t.n && !t.off.Load() {
		if _, err := fmt.Fprintf(t.conn, "%s %s\n", name, filepath.Base(what)); err != nil {
			return err
		}
		return syscall.Kill(t.pid, syscall.SIGKILL)
	}
	return nil
}

// text reads a name in the process's memory.
func (t *tracer) text(at uint64) string {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", t.pid))
	if err != nil {
		return "?"
	}
	defer f.Close()
	b := make([]byte, 512)
	n, _ := f.ReadAt(b, int64(at)) // what could be read is enough for a message
	name, _, _ := bytes.Cut(b[:n], []byte{0})
	return string(name)
}

func ptrace(request, tid int, addr, data uintptr) error {
	_, _, e := syscall.Syscall6(syscall.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// changes are the calls that count.
var changes = map[uint64]string{
	syscall.SYS_WRITE: "write", syscall.SYS_PWRITE64: "pwrite64", syscall.SYS_FTRUNCATE: "ftruncate", syscall.SYS_FSYNC: "fsync",
	syscall.SYS_FDATASYNC: "fdatasync", syscall.SYS_OPENAT: "openat", syscall.SYS_UNLINKAT: "unlinkat", syscall.SYS_LINKAT: "linkat",
	syscall.SYS_RENAMEAT: "renameat", syscall.SYS_MKDIRAT: "mkdirat", syscall.SYS_UTIMENSAT: "utimensat",
}
