package node

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What the system refuses is told with what to do; root, who runs tests, is refused little.
func TestRefusals(t *testing.T) {
	t.Parallel()
	path := func(errno error) error { return &fs.PathError{Op: "open", Path: "data/EIDER_LOCK", Err: errno} }
	bind := func(errno syscall.Errno) error {
		return &net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", errno)}
	}
	for _, c := range []struct {
		got  string
		want []string
	}{
		{folderHint(path(syscall.EACCES)), []string{"this user", "read and write", "--data"}},
		{folderHint(path(syscall.EPERM)), []string{"this user", "--data"}},
		{folderHint(path(syscall.EROFS)), []string{"can be written", "--data"}},
		{folderHint(path(syscall.ENOTDIR)), []string{"name a folder", "--data"}},
		{folderHint(path(syscall.ENOENT)), []string{"can be made", "--data"}},
		{listenError("listen", "127.0.0.1:80", bind(syscall.EACCES)).Error(), []string{"may not listen on 127.0.0.1:80", "1023", "--listen"}},
		{listenError("admin-listen", "127.0.0.1:1", bind(syscall.EADDRINUSE)).Error(), []string{"127.0.0.1:1 is in use", "--admin-listen"}},
		{listenError("listen", "10.0.0.1:1", bind(syscall.EADDRNOTAVAIL)).Error(), []string{"no address 10.0.0.1:1", "--listen"}},
		{listenError("listen", "x:1", errors.New("no such host")).Error(), []string{"listen: no such host"}},
	} {
		for _, part := range c.want {
			if !strings.Contains(c.got, part) {
				t.Errorf("no %q in %q", part, c.got)
			}
		}
	}
	if got := folderHint(errors.New("corrupt")); got != "" {
		t.Errorf("a hint for what is not known: %q", got)
	}
}

// A socket that nobody can make is refused with a hint.
func TestUnixSocketRefused(t *testing.T) {
	t.Parallel()
	if l, err := listenUnix(filepath.Join(t.TempDir(), "none", "s")); err == nil || !strings.Contains(err.Error(), "its folder must be there") {
		if err == nil {
			l.Close()
		}
		t.Errorf("%v", err)
	}
}
