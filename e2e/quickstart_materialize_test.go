package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eiderdb/eider/e2e/internal/script"
	"github.com/eiderdb/eider/e2e/internal/tools"
)

// TestQuickstartMaterialize: the project in examples/shop runs to its end on Eider and on PostgreSQL, skips what has not changed, and leaves nothing behind but the graph.
func TestQuickstartMaterialize(t *testing.T) {
	if os.Getenv("EIDER_E2E_BINARY") != "" {
		t.Skip("the worker is not beside the binary that was given")
	}
	onBoth(t, func(_ context.Context, t *testing.T, target script.Target, dsn string) {
		graph := filepath.Join(t.TempDir(), "graph.html")
		args := []string{"--graph", graph}
		if target.Name() != "eider" {
			args = append(args, "--connect", dsn) // it starts its own otherwise
		}
		cmd := quickstart(t, "quickstart-materialize", args...)
		eiderWorker(t)
		quickstartRuns(t, cmd, []string{
			"1. Raw tables", "2. Run the project", "history/customers: materialized  1000 rows", "orders/orders [2026-06-01]: materialized  14400 rows", "3. The other days",
			"6 succeeded, 0 failed, 0 not run; 86400 rows", "6 succeeded, 0 failed, 0 not run; 18 rows", "4. Two orders come late", "history/customers: materialized  1001 rows",
			"staging/products: skipped: nothing has changed", "orders/orders [2026-06-07]: materialized  14402 rows", "5. Again", "history/customers: skipped", "marts/city_revenue: skipped",
			"6. An order that cannot be", "orders/orders [2026-06-07]: failed  14402 rows", "✗ custom(tests/no_negative_amount): 1 violating", "marts/city_revenue: not run, because orders/orders failed",
			"exit code 1", "orders/orders [2026-06-07]: materialized", "7. The history", "8. Time travel", "6300000.00", "6303475.00", "9. How everything stands", "level 3", "That worked.",
		}, "\nquickstart-materialize: build worker\n\tsh scripts/quickstart-materialize.sh\n")
		if page, err := os.ReadFile(graph); err != nil || !strings.Contains(string(page), "orders/orders") {
			t.Errorf("the graph's page: %d bytes, %v", len(page), err)
		}
	})
}

// TestExampleGraph: the picture in the documents is the one that the example's graph has.
func TestExampleGraph(t *testing.T) {
	t.Parallel()
	eiderWorker(t)
	ext, err := tools.Fetch(t.Context(), tools.Extensions)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"materialize", "graph", filepath.Join("examples", "shop"), "--no-status", "--format", "svg", "--extension-dir", filepath.Join(ext, "extensions")}
	if os.Getenv("EIDER_E2E_BINARY") != "" {
		args = append(args, "--worker", eiderWorker(t))
	}
	cmd := exec.CommandContext(t.Context(), eiderBinary(t), args...)
	cmd.Dir = tools.Root()
	got, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(tools.Root(), "examples", "shop", "graph.svg"))
	if err != nil || string(got) != string(want) {
		t.Errorf("examples/shop/graph.svg is another one (%v); write it with: eider %s --out examples/shop/graph.svg", err, strings.Join(args[:6], " "))
	}
}
