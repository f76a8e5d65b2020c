package proc

import (
	"os/exec"
	"syscall"
)

func tieToParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	// SIGQUIT ends PostgreSQL at once and leaves no shared memory behind; a Go program ends on it too.
	cmd.SysProcAttr.Pdeathsig = syscall.SIGQUIT
}
