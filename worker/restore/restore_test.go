package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// TestRefused tells the answers to COMMIT after which nothing can have been committed. For
// any other one the files must stay.
func TestRefused(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		"40001": true, // lost race
		"40P01": true, // deadlock
		"23505": true, // unique index
		"23503": true, // deferred foreign key
		"23514": true, // Eider's checks
		"55000": true,
		"55006": true,
		"08007": false, // Eider: the outcome is not known
		"08006": false,
		"08003": false,
		"40003": false, // statement_completion_unknown
		"40000": false,
		"57014": false, // PostgreSQL cancels the wait for a replica after it has committed
		"57P01": false, // shutdown
		"57P02": false,
		"57P05": false,
		"53100": false, // disk full, in the middle of which write is not known
		"58030": false,
		"25P03": false,
		"XX000": false,
		"XX001": false,
		"2F000": false,
		"":      false,
	} {
		err := fmt.Errorf("commit: %w", &pgconn.PgError{Severity: "ERROR", Code: code})
		if got := refused(err); got != want {
			t.Errorf("%q: %v", code, got)
		}
		if raced(err) && !refused(err) {
			t.Errorf("%q would be tried again, and may have been committed", code)
		}
	}
	for err, want := range map[error]bool{
		pgx.ErrTxCommitRollback:  true,
		io.ErrUnexpectedEOF:      false,
		context.DeadlineExceeded: false,
		errors.New("broken"):     false,
	} {
		if got := refused(err); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
}
