package storm

import (
	"context"
	"fmt"
	"strings"

	"github.com/eiderdb/eider/e2e/internal/duck"
)

// Writer is a DuckDB of its own with the lake attached, as a separate process would be.
type Writer struct {
	duck.Session
	inst *duck.Instance
}

// OpenWriter starts a DuckDB and attaches the lake at a server; options stand in the ATTACH.
func OpenWriter(ctx context.Context, dsn, data string, options ...string) (*Writer, error) {
	inst, err := duck.Open(ctx)
	if err != nil {
		return nil, err
	}
	s, err := inst.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &Writer{Session: s, inst: inst}
	attach := fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (%s)", dsn, strings.Join(append([]string{"DATA_PATH '" + data + "'"}, options...), ", "))
	if _, err := w.Exec(ctx, attach); err != nil {
		_ = w.Close()
		return nil, err
	}
	return w, nil
}

// Conn is another connection of the same DuckDB.
func (w *Writer) Conn(ctx context.Context) (duck.Session, error) { return w.inst.Conn(ctx) }

// Close ends the DuckDB.
func (w *Writer) Close() error {
	_ = w.Session.Close()
	return w.inst.Close()
}

// Tx runs statements in one transaction and rolls back if one fails.
func Tx(ctx context.Context, s duck.Session, statements ...string) error {
	return transaction(ctx, s, nil, statements...)
}

// transaction runs statements in one transaction; before, if there is one, runs first in it.
func transaction(ctx context.Context, s duck.Session, before func() error, statements ...string) error {
	if _, err := s.Exec(ctx, "BEGIN"); err != nil {
		return err
	}
	if before != nil {
		if err := before(); err != nil {
			_, _ = s.Exec(ctx, "ROLLBACK")
			return err
		}
	}
	for _, sql := range statements {
		if _, err := s.Exec(ctx, sql); err != nil {
			_, _ = s.Exec(ctx, "ROLLBACK")
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	if _, err := s.Exec(ctx, "COMMIT"); err != nil {
		_, _ = s.Exec(ctx, "ROLLBACK") // a failed COMMIT has ended the transaction already
		return fmt.Errorf("COMMIT: %w", err)
	}
	return nil
}
