package pgrepair

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/gc/fsck"
	"github.com/eiderdb/eider/lake"
)

// ErrNoCheckpoint is returned by Checkpoint for a server that keeps none.
var ErrNoCheckpoint = errors.New("pgrepair: the server takes no checkpoints")

// Options configure a Writer.
type Options struct {
	// Lake is the metadata schema of the lake.
	Lake string
	// NoCheckpoint makes repairs without a copy of the catalog from before.
	NoCheckpoint bool
	// Logger gets each repair; nobody when nil.
	Logger *slog.Logger
}

// Writer makes repairs of one lake over a connection that nobody else uses meanwhile.
type Writer struct {
	conn       *pgconn.PgConn
	o          Options
	logged     bool // the table of repairs is there
	checkpoint string
}

var _ fsck.Writer = (*Writer)(nil)

// New makes a Writer.
func New(conn *pgconn.PgConn, o Options) *Writer {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Writer{conn: conn, o: o}
}

// createLog makes the table that keeps what was repaired.
const createLog = `CREATE SCHEMA IF NOT EXISTS eider; CREATE TABLE IF NOT EXISTS eider.repairs (repaired_at timestamptz, lake text, code text, ` +
	`text text, statements text, checkpoint text, user_name text)`

// mostLogged bounds the statements of one repair in the log, in bytes.
const mostLogged = 64 << 10

// Checkpoint asks the server for a copy of the store. PostgreSQL has no such thing: there
// the one who repairs has to have a backup, and to say so.
func (w *Writer) Checkpoint(ctx context.Context) (string, error) {
	if !w.o.NoCheckpoint {
		rows, err := w.query(ctx, "SELECT eider_checkpoint('fsck')")
		switch {
		case code(err) == "42883": // undefined function
			return "", fmt.Errorf("%w: it is not an Eider server, or an old one", ErrNoCheckpoint)
		case code(err) == "0A000":
			var e *pgconn.PgError
			errors.As(err, &e)
			return "", fmt.Errorf("%w: %s %s", ErrNoCheckpoint, e.Message, e.Hint)
		case err != nil:
			return "", err
		}
		w.checkpoint = string(rows[0][0])
	}
	return w.checkpoint, nil
}

// Apply makes a repair in one transaction, with its row in eider.repairs.
func (w *Writer) Apply(ctx context.Context, r *fsck.Repair) error {
	if !w.logged {
		if _, err := w.exec(ctx, createLog); err != nil {
			return fmt.Errorf("pgrepair: eider.repairs: %w", err)
		}
		w.logged = true
	}
	statements := make([]string, len(r.Changes))
	for i := range r.Changes {
		statements[i] = r.Changes[i].SQL(w.o.Lake)
	}
	err := w.apply(ctx, r, statements)
	if err != nil {
		if _, rerr := w.exec(ctx, "ROLLBACK"); rerr != nil {
			return errors.Join(err, rerr)
		}
		return err
	}
	w.o.Logger.Info("repaired", "lake", w.o.Lake, "code", string(r.Code), "text", r.Text, "changes", len(r.Changes))
	return nil
}

func (w *Writer) apply(ctx context.Context, r *fsck.Repair, statements []string) error {
	// An Eider server hides rows of the schedule from those who might delete the files.
	if _, err := w.exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL eider.show_schedule = 'all'"); err != nil {
		return err
	}
	if !r.Steady {
		rows, err := w.query(ctx, "SELECT max(snapshot_id) FROM "+lake.QuoteName(w.o.Lake)+".ducklake_snapshot")
		if err != nil {
			return judged(err)
		}
		if head := string(rows[0][0]); head != strconv.FormatInt(r.Head, 10) {
			return fmt.Errorf("%w: the newest snapshot is %s, it was %d", fsck.ErrMoved, head, r.Head)
		}
	}
	for i, sql := range statements {
		c := &r.Changes[i]
		n, err := w.exec(ctx, sql)
		if err != nil {
			return judged(err)
		}
		if c.Op != fsck.DropRelation && c.Rows != fsck.Any && n != c.Rows {
			return fmt.Errorf("%w: %d rows and not %d: %s", fsck.ErrMoved, n, c.Rows, sql)
		}
	}
	text := strings.Join(statements, ";\n")
	if len(text) > mostLogged {
		text = strings.ToValidUTF8(text[:mostLogged], "") + "…"
	}
	_, err := w.exec(ctx, fmt.Sprintf(
		"INSERT INTO eider.repairs (repaired_at, lake, code, text, statements, checkpoint, user_name) VALUES (now(), %s, %s, %s, %s, %s, current_user)",
		lake.QuoteText(w.o.Lake), lake.QuoteText(string(r.Code)), lake.QuoteText(r.Text), lake.QuoteText(text), lake.QuoteText(w.checkpoint)))
	if err != nil {
		return judged(err)
	}
	_, err = w.exec(ctx, "COMMIT")
	return judged(err)
}

// judged tells refusals and lost races from other errors.
func judged(err error) error {
	switch code(err) {
	case "23514", "55006": // as the guard's refusals have it
		var e *pgconn.PgError
		errors.As(err, &e)
		return fmt.Errorf("%w: %s %s", fsck.ErrRefused, e.Message, e.Hint)
	case "40001", "40P01", "23505", "42P01":
		return fmt.Errorf("%w: %w", fsck.ErrMoved, err)
	}
	return err
}

func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func (w *Writer) exec(ctx context.Context, sql string) (rows int64, err error) {
	res, err := w.conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		return 0, err
	}
	for _, r := range res {
		rows += r.CommandTag.RowsAffected()
	}
	return rows, nil
}

// query returns the rows of one statement, at least one.
func (w *Writer) query(ctx context.Context, sql string) ([][][]byte, error) {
	res, err := w.conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(res) == 0 || len(res[0].Rows) == 0 {
		return nil, fmt.Errorf("pgrepair: no row: %s", sql)
	}
	return res[0].Rows, nil
}
