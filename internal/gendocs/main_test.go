package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The pages in the repository are what the code says.
func TestCurrent(t *testing.T) {
	t.Parallel()
	for name, want := range pages() {
		got, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is out of date, run make generate:\n%s", name, diff)
		}
	}
}
