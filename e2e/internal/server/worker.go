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
	bin := filepath.Join(dir, "eider-worker")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", bin, "./cmd/eider-worker")
	cmd.Dir = filepath.Join(tools.Root(), "worker")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building eider-worker: %w\n%s", err, out)
	}
	return bin, nil
}
