package server

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/eiderdb/eider/e2e/internal/tools"
)

// BuildWorker compiles worker/cmd/eider-worker into dir and returns the path.
func BuildWorker(ctx context.Context, dir string) (string, error) {
	return build(ctx, "worker", dir, "./cmd/eider-worker")
}

// BuildStep compiles one of the commands of internal that tests run on a stopped server's data.
func BuildStep(ctx context.Context, dir, name string) (string, error) {
	return build(ctx, ".", dir, "./internal/"+name)
}

// build compiles a package of the module in a folder of the repository into dir.
func build(ctx context.Context, module, dir, pkg string) (string, error) {
	name := filepath.Base(pkg)
	bin := filepath.Join(dir, name)
	cmd := exec.CommandContext(ctx, "go", "build", "-o", bin, pkg)
	cmd.Dir = filepath.Join(tools.Root(), module)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", name, err, out)
	}
	return bin, nil
}
