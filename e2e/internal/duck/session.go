package duck

import (
	"context"
	"errors"
	"regexp"
	"strings"
)

// Session executes statements one at a time.
type Session interface {
	// Exec executes one statement as it stands.
	Exec(ctx context.Context, sql string) (Result, error)
	// Query executes one statement for its rows, with every value cast to text by the engine where that is possible.
	Query(ctx context.Context, sql string) (Result, error)
	Close() error
}

// Result is what a statement returned.
type Result struct {
	Rows [][]string // rendered values
	Tags []string   // command tags, of plain PostgreSQL sessions
}

// Lines renders rows for scripts, one line each.
func (r Result) Lines() []string {
	lines := make([]string, 0, len(r.Rows)+len(r.Tags))
	for _, row := range r.Rows {
		lines = append(lines, strings.Join(row, " | "))
	}
	return append(lines, r.Tags...)
}

// Null is how a NULL is rendered.
const Null = "NULL"

// Empty is how the empty string is rendered.
const Empty = "(empty)"

// Text renders a text value in such a way that it stays on its line and cannot be taken for an empty line.
func Text(s string) string {
	if s == "" {
		return Empty
	}
	if !strings.ContainsAny(s, "\x00\n\r\t") {
		return s
	}
	return escaper.Replace(s)
}

var escaper = strings.NewReplacer("\x00", `\0`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

var rowsFirst = regexp.MustCompile(`(?is)^\s*(SELECT|FROM|WITH|VALUES|TABLE|DESCRIBE|SHOW|SUMMARIZE|PIVOT|UNPIVOT)\b`)

var wraps = regexp.MustCompile(`(?is)\b(INSERT|UPDATE|DELETE|MERGE)\b.*\bRETURNING\b`)

// asText wraps a DuckDB query so that DuckDB itself renders the values; ok is false for statements that cannot stand in a FROM clause.
func asText(sql string) (string, bool) {
	sql = strings.TrimRight(strings.TrimSpace(sql), ";")
	if !rowsFirst.MatchString(sql) || wraps.MatchString(sql) {
		return sql, false
	}
	return "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (\n" + sql + "\n)", true
}

// ErrClosed is returned by a session whose process or connection is gone.
var ErrClosed = errors.New("session is closed")
