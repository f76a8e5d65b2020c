package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/e2e/internal/script"
)

// TestStatements sends files of batches to PostgreSQL and to eider, one session per file, each batch as one simple Query, and compares column
// names, types, rows, command tags, SQLSTATEs, messages and the transaction status after it. See runExtended for the extended protocol and COPY.
// A batch whose first line is "-- differs: reason"
// must differ.
func TestStatements(t *testing.T) {
	files, err := filepath.Glob("testdata/statements/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no statement files: %v", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".sql"), func(t *testing.T) {
			t.Parallel()
			runStatements(t, f)
		})
	}
}

func runStatements(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	batches := split(string(text))
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	list := targets(t)
	var results [][]string
	for _, target := range list {
		results = append(results, runBatches(ctx, t, target, batches))
	}
	shared.mu.Lock()
	shared.statements.batches += len(batches)
	shared.mu.Unlock()
	if len(results) < 2 {
		return
	}
	differ, pinned := 0, 0
	for i, b := range batches {
		same := results[0][i] == results[1][i]
		switch {
		case b.differs == "" && !same:
			differ++
			t.Errorf("%s:%d: %s\n--- pg\n%s--- eider\n%s", file, b.line, b.sql, results[0][i], results[1][i])
		case b.differs != "" && same && !selfCheck():
			t.Errorf("%s:%d: pinned as different, but equal: %s", file, b.line, b.sql)
		case b.differs != "":
			pinned++
		}
	}
	shared.mu.Lock()
	shared.statements.differences += differ
	shared.statements.pinned += pinned
	shared.mu.Unlock()
}

type batch struct {
	line    int
	sql     string
	differs string
}

// split cuts a file into batches at empty lines.
func split(text string) []batch {
	var out []batch
	var cur []string
	start := 0
	flush := func() {
		if len(cur) == 0 {
			return
		}
		b := batch{line: start}
		if reason, ok := strings.CutPrefix(cur[0], "-- differs: "); ok {
			b.differs, cur = reason, cur[1:]
		}
		b.sql = strings.Join(cur, "\n")
		out = append(out, b)
		cur = nil
	}
	for i, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == "" {
			flush()
			continue
		}
		if len(cur) == 0 {
			start = i + 1
			if strings.HasPrefix(line, "##") {
				continue // a heading
			}
		}
		cur = append(cur, line)
	}
	flush()
	return out
}

func runBatches(ctx context.Context, t *testing.T, target script.Target, batches []batch) []string {
	t.Helper()
	db := newDatabase()
	if err := target.CreateDatabase(ctx, db); err != nil {
		t.Fatalf("on %s: %v", target.Name(), err)
	}
	defer func() { _ = target.DropDatabase(ctx, db) }()
	var notices []string
	cfg, err := pgconn.ParseConfig(target.DSN(db))
	if err != nil {
		t.Fatal(err)
	}
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		notices = append(notices, fmt.Sprintf("%s %s: %s", n.Severity, n.Code, n.Message))
	}
	c, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		t.Fatalf("on %s: %v", target.Name(), err)
	}
	defer c.Close(ctx)
	out := make([]string, len(batches))
	for i, b := range batches {
		notices = nil
		if text, ok := runExtended(ctx, c, b.sql); ok {
			out[i] = text
			continue
		}
		out[i] = runBatch(ctx, c, b.sql) + strings.Join(append(notices, ""), "\n") + fmt.Sprintf("status %c\n", c.TxStatus())
		if c.IsClosed() {
			t.Fatalf("on %s: %s:%d: the connection is gone: %v\n%s", target.Name(), db, b.line, err, b.sql)
		}
	}
	return out
}

var copyOut = regexp.MustCompile(`(?i)^copy\b.*\bto stdout`)

func runBatch(ctx context.Context, c *pgconn.PgConn, sql string) string {
	if !copyOut.MatchString(sql) {
		return renderResults(c.Exec(ctx, sql).ReadAll())
	}
	var data strings.Builder
	tag, err := c.CopyTo(ctx, &data, sql)
	return fmt.Sprintf("%q\n%s\n", data.String(), tag) + renderResults(nil, err)
}

func renderResults(results []*pgconn.Result, err error) string {
	var sb strings.Builder
	for _, r := range results {
		for i, f := range r.FieldDescriptions {
			fmt.Fprintf(&sb, "%s%s:%d:%d:%d", map[bool]string{true: "", false: " | "}[i == 0], f.Name, f.DataTypeOID, f.DataTypeSize, f.TypeModifier)
		}
		if len(r.FieldDescriptions) > 0 {
			sb.WriteString("\n")
		}
		for _, row := range r.Rows {
			for i, v := range row {
				if i > 0 {
					sb.WriteString(" | ")
				}
				if v == nil {
					sb.WriteString("NULL")
				} else {
					fmt.Fprintf(&sb, "%q", v)
				}
			}
			sb.WriteString("\n")
		}
		if tag := r.CommandTag.String(); tag != "" {
			sb.WriteString(tag + "\n")
		}
	}
	var e *pgconn.PgError
	if errors.As(err, &e) {
		fmt.Fprintf(&sb, "%s %s: %s", e.Severity, e.Code, e.Message)
		if e.Detail != "" {
			sb.WriteString(" DETAIL: " + e.Detail)
		}
		if e.Hint != "" {
			sb.WriteString(" HINT: " + e.Hint)
		}
		if e.Position != 0 {
			fmt.Fprintf(&sb, " AT %d", e.Position)
		}
		sb.WriteString("\n")
	} else if err != nil {
		sb.WriteString("error: " + err.Error() + "\n")
	}
	return sb.String()
}
