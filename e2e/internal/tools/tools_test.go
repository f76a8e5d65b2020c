package tools

import (
	"os"
	"strings"
	"testing"
)

// Without pip the script says what to install, and leaves nothing half done.
func TestFetchWithoutPip(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("EIDER_EXT_DIR", dir)
	t.Setenv("PYTHON", "no-such-python")
	for _, part := range []string{Extensions, Python155, SeaweedFS} {
		_, err := Fetch(t.Context(), part)
		if err == nil || !strings.Contains(err.Error(), "install Python 3 with pip") {
			t.Errorf("%s: %v", part, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
