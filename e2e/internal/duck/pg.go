package duck

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// Postgres is a plain connection that sends every text as one simple Query message.
type Postgres struct{ c *pgconn.PgConn }

// OpenPostgres connects.
func OpenPostgres(ctx context.Context, dsn string) (*Postgres, error) {
	c, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	return &Postgres{c: c}, nil
}

// Query returns the rows of all result sets.
func (p *Postgres) Query(ctx context.Context, sql string) (Result, error) {
	r, err := p.Exec(ctx, sql)
	r.Tags = nil
	return r, err
}

// Exec returns the rows and the command tags.
func (p *Postgres) Exec(ctx context.Context, sql string) (Result, error) {
	if p.c.IsClosed() {
		return Result{}, ErrClosed
	}
	results, err := p.c.Exec(ctx, sql).ReadAll()
	var res Result
	for _, r := range results {
		for _, row := range r.Rows {
			line := make([]string, len(row))
			for i, v := range row {
				if v == nil {
					line[i] = Null
				} else {
					line[i] = Text(string(v))
				}
			}
			res.Rows = append(res.Rows, line)
		}
		if tag := r.CommandTag.String(); tag != "" {
			res.Tags = append(res.Tags, tag)
		}
	}
	return res, describe(err)
}

// Status is the transaction status that the server reported last.
func (p *Postgres) Status() byte { return p.c.TxStatus() }

// Close ends the session in an orderly way.
func (p *Postgres) Close() error { return p.c.Close(context.Background()) }

// describe puts the fields of a server's error that a person sees into its text.
func describe(err error) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return err
	}
	text := fmt.Sprintf("%s %s: %s", e.Severity, e.Code, e.Message)
	if e.Detail != "" {
		text += " DETAIL: " + e.Detail
	}
	if e.Hint != "" {
		text += " HINT: " + e.Hint
	}
	return &serverError{text: text, err: err}
}

type serverError struct {
	text string
	err  error
}

func (e *serverError) Error() string { return e.text }
func (e *serverError) Unwrap() error { return e.err }
