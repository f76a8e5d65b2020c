package storm

import (
	"context"
	"fmt"

	"github.com/eiderdb/eider/e2e/internal/duck"
)

// Writer is a DuckDB of its own with the lake attached.
type Writer struct {
	duck.Session
	inst *duck.Instance // nil: a process
}

// OpenWriter starts a DuckDB in this process and attaches the lake at a server.
func OpenWriter(ctx context.Context, dsn, data string) (*Writer, error) {
	inst, err := duck.Open(ctx)
	if err != nil {
		return nil, err
	}
	s, err := inst.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return attach(ctx, &Writer{Session: s, inst: inst}, dsn, data)
}

// OpenProcess starts a DuckDB in a process of its own: what happens to it there, happens to it alone.
func OpenProcess(ctx context.Context, dsn, data string) (*Writer, error) {
	p, err := duck.OpenPython(ctx, "1.5.5")
	if err != nil {
		return nil, err
	}
	return attach(ctx, &Writer{Session: p}, dsn, data)
}

func attach(ctx context.Context, w *Writer, dsn, data string) (*Writer, error) {
	if _, err := w.Exec(ctx, fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s')", dsn, data)); err != nil {
		_ = w.Close()
		return nil, err
	}
	return w, nil
}

// Close ends the DuckDB.
func (w *Writer) Close() error {
	err := w.Session.Close()
	if w.inst != nil {
		err = w.inst.Close()
	}
	return err
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
