package storm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// RawTable is a lake's table of one INTEGER column whose rows are inlined, prepared for raw commits: every snapshot after Base adds one row to it.
type RawTable struct {
	ID      int64 // table_id
	Column  int64 // column_id
	Inlined string
	Base    int64 // the snapshot before the first raw commit
	Rows    int64 // rows at Base
}

// PrepareRaw reads what raw commits need from a lake whose newest table has one column and at least one inlined row.
func PrepareRaw(ctx context.Context, c *pgconn.PgConn) (RawTable, error) {
	var t RawTable
	for _, q := range []struct {
		to  *int64
		sql string
	}{
		{&t.ID, "SELECT max(table_id) FROM ducklake_table WHERE end_snapshot IS NULL"},
		{&t.Column, "SELECT min(column_id) FROM ducklake_column WHERE end_snapshot IS NULL AND table_id = (SELECT max(table_id) FROM ducklake_table WHERE end_snapshot IS NULL)"},
		{&t.Base, "SELECT max(snapshot_id) FROM ducklake_snapshot"},
		{&t.Rows, "SELECT next_row_id FROM ducklake_table_stats WHERE table_id = (SELECT max(table_id) FROM ducklake_table WHERE end_snapshot IS NULL)"},
	} {
		v, err := value(ctx, c, q.sql)
		if err != nil {
			return t, err
		}
		if _, err := fmt.Sscan(v, q.to); err != nil {
			return t, fmt.Errorf("%s: %w", q.sql, err)
		}
	}
	var err error
	t.Inlined, err = value(ctx, c, fmt.Sprintf("SELECT max(table_name) FROM ducklake_inlined_data_tables WHERE table_id = %d", t.ID))
	return t, err
}

func value(ctx context.Context, c *pgconn.PgConn, sql string) (string, error) {
	res, err := c.Exec(ctx, sql).ReadAll()
	if err != nil {
		return "", fmt.Errorf("%s: %w", sql, err)
	}
	if len(res) != 1 || len(res[0].Rows) != 1 {
		return "", fmt.Errorf("%s: no single row", sql)
	}
	return string(res[0].Rows[0][0]), nil
}

// Raw is a connection that commits as a DuckLake client does, without the client's back-off.
type Raw struct {
	c   *pgconn.PgConn
	t   RawTable
	at  head // of the open transaction
	buf strings.Builder
}

// OpenRaw connects.
func OpenRaw(ctx context.Context, dsn string, t RawTable) (*Raw, error) {
	c, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	return &Raw{c: c, t: t}, nil
}

// Close ends the connection.
func (r *Raw) Close(ctx context.Context) error { return r.c.Close(ctx) }

const begin = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ"

// headText is the client's query for the newest snapshot, as it arrives: the text in a subquery of a COPY.
const headText = `COPY (SELECT "snapshot_id", "schema_version", "next_catalog_id", "next_file_id" FROM (SELECT snapshot_id, schema_version, next_catalog_id, next_file_id
		 FROM "public".ducklake_snapshot WHERE snapshot_id = (
		     SELECT MAX(snapshot_id) FROM "public".ducklake_snapshot
		 )) AS __unnamed_subquery ) TO STDOUT (FORMAT "binary");`

// head is the newest snapshot as a transaction sees it.
type head struct{ id, schema, catalog, file int64 }

func (r *Raw) head(ctx context.Context) (head, error) {
	var out copied
	if _, err := r.c.CopyTo(ctx, &out, headText); err != nil {
		return head{}, err
	}
	v, err := out.row(4)
	if err != nil {
		return head{}, err
	}
	return head{v[0], v[1], v[2], v[3]}, nil
}

// copied collects a binary COPY stream.
type copied []byte

func (c *copied) Write(p []byte) (int, error) {
	*c = append(*c, p...)
	return len(p), nil
}

var errCopy = errors.New("not a COPY stream of one row of bigint")

const copyHeader = 19

func (c copied) row(n int) ([]int64, error) {
	if len(c) != copyHeader+2+n*12+2 || int(binary.BigEndian.Uint16(c[copyHeader:])) != n {
		return nil, errCopy
	}
	v := make([]int64, n)
	for i := range v {
		f := c[copyHeader+2+i*12:]
		if binary.BigEndian.Uint32(f) != 8 {
			return nil, errCopy
		}
		v[i] = int64(binary.BigEndian.Uint64(f[4:]))
	}
	return v, nil
}

// batch is what DuckLake sends for a one-row inlined insert on top of a head.
func (r *Raw) batch(h head, value int64) string {
	row := r.t.Rows + h.id - r.t.Base // one row by each snapshot since Base
	next := h.id + 1
	b := &r.buf
	b.Reset()
	fmt.Fprintf(b, `INSERT INTO "public".ducklake_snapshot VALUES (%d, NOW(), %d, %d, %d);`, next, h.schema, h.catalog, h.file)
	fmt.Fprintf(b, `UPDATE "public".ducklake_table_stats SET record_count=%d, file_size_bytes=0, next_row_id=%d WHERE table_id=%d;`, row+1, row+1, r.t.ID)
	fmt.Fprintf(b, "\n"+`WITH new_values(tid, cid, new_contains_null, new_contains_nan, new_min, new_max, new_extra_stats) AS (
VALUES (%d, %d, false, NULL, '-1', '%d', NULL)
)
UPDATE "public".ducklake_table_column_stats
SET contains_null=CAST(new_contains_null AS BOOLEAN), contains_nan=CAST(new_contains_nan AS BOOLEAN), min_value=new_min, max_value=new_max, extra_stats=new_extra_stats
FROM new_values
WHERE table_id=tid AND column_id=cid
;`, r.t.ID, r.t.Column, int64(1)<<30)
	fmt.Fprintf(b, `INSERT INTO "public".%s VALUES (%d, %d, NULL, %d);`, r.t.Inlined, row, next, value)
	fmt.Fprintf(b, `INSERT INTO "public".ducklake_snapshot_changes VALUES (%d, 'inlined_insert:%d', NULL, NULL, NULL);`, next, r.t.ID)
	return b.String()
}

// Commit inserts a value and tries again, without sleeping, while the server says that the race for the snapshot was lost. It returns the number
// of attempts and the snapshot that holds the value.
func (r *Raw) Commit(ctx context.Context, value int64) (attempts int, snapshot int64, err error) {
	for {
		attempts++
		snapshot, err = r.try(ctx, value)
		if err == nil {
			return attempts, snapshot, nil
		}
		if !LostRace(err) {
			return attempts, 0, err
		}
		if r.c.TxStatus() != 'I' {
			if err := r.c.Exec(ctx, "ROLLBACK").Close(); err != nil {
				return attempts, 0, err
			}
		}
	}
}

func (r *Raw) try(ctx context.Context, value int64) (int64, error) {
	if err := r.Begin(ctx); err != nil {
		return 0, err
	}
	return r.Finish(ctx, value)
}

// Begin opens a transaction and reads the newest snapshot in it. Finish goes on from there.
func (r *Raw) Begin(ctx context.Context) error {
	if err := r.c.Exec(ctx, begin).Close(); err != nil {
		return err
	}
	var err error
	if r.at, err = r.head(ctx); err != nil {
		return fmt.Errorf("reading the head: %w", err)
	}
	return nil
}

// Finish sends the batch of a one-row insert and COMMIT, and returns the snapshot that the commit made.
func (r *Raw) Finish(ctx context.Context, value int64) (int64, error) {
	if err := r.c.Exec(ctx, r.batch(r.at, value)).Close(); err != nil {
		return 0, err
	}
	if err := r.c.Exec(ctx, "COMMIT").Close(); err != nil {
		if !LostRace(err) {
			return 0, errors.Join(ErrInDoubt, err)
		}
		return 0, err
	}
	return r.at.id + 1, nil
}

// Rollback ends the open transaction.
func (r *Raw) Rollback(ctx context.Context) error { return r.c.Exec(ctx, "ROLLBACK").Close() }

// Cut closes the connection without a word to the server.
func (r *Raw) Cut() error { return r.c.Conn().Close() }

// ErrInDoubt says that COMMIT was sent and not answered: the commit may be there or not.
var ErrInDoubt = errors.New("the outcome of the commit is not known")

// LostRace says whether an error is one of those after which a client tries its commit again.
func LostRace(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == "23505" || e.Code == "40001")
}

// CheckRaw compares the inlined rows with what was acknowledged: by snapshot id, the value that the writer was told it holds there. Snapshots
// since Base must follow each other without a gap, each with exactly one row (unless it says that it changes nothing: the server adds such a one
// in the place of a writer that stops in the middle), row ids without gaps, times strictly increasing. Values that were not acknowledged may be
// there only when inDoubt holds them.
func CheckRaw(ctx context.Context, c *pgconn.PgConn, t RawTable, acked map[int64]int64, inDoubt map[int64]bool, strictTimes bool) error {
	res, err := c.Exec(ctx, fmt.Sprintf(`SELECT s.snapshot_id, d.row_id, d.%s, c.snapshot_id IS NOT NULL AND c.changes_made IS NULL FROM ducklake_snapshot s LEFT JOIN %s d ON d.begin_snapshot = s.snapshot_id `+
		`LEFT JOIN ducklake_snapshot_changes c ON c.snapshot_id = s.snapshot_id WHERE s.snapshot_id > %d ORDER BY s.snapshot_id`, quoted(ctx, c, t), t.Inlined, t.Base)).ReadAll()
	if err != nil {
		return err
	}
	var problems []string
	problem := func(format string, args ...any) {
		if len(problems) < 20 {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	seen := map[int64]int64{}
	left := len(acked)
	for i, row := range res[0].Rows {
		var snap, rowID, value int64
		if row[1] == nil && string(row[3]) == "t" {
			continue // the server has kept a promise
		}
		if row[1] == nil {
			problem("snapshot %s has no row", row[0])
			continue
		}
		if _, err := fmt.Sscan(fmt.Sprintf("%s %s %s", row[0], row[1], row[2]), &snap, &rowID, &value); err != nil {
			return err
		}
		if want := t.Base + 1 + int64(i); snap != want {
			problem("snapshot %d where %d was expected", snap, want)
		}
		if want := t.Rows + int64(i); rowID != want {
			problem("snapshot %d has row id %d, want %d", snap, rowID, want)
		}
		if other, twice := seen[value]; twice {
			problem("value %d is in snapshots %d and %d", value, other, snap)
		}
		seen[value] = snap
		want, ok := acked[snap]
		switch {
		case ok && want != value:
			problem("snapshot %d holds %d, its writer was told %d", snap, value, want)
		case ok:
			left--
		case !inDoubt[value]:
			problem("snapshot %d holds %d, which nobody was told", snap, value)
		}
	}
	if left != 0 {
		problem("%d acknowledged commits are missing", left)
	}
	back, err := value(ctx, c, fmt.Sprintf("SELECT count(*) FROM ducklake_snapshot a JOIN ducklake_snapshot b ON b.snapshot_id = a.snapshot_id + 1 "+
		"WHERE a.snapshot_id >= %d AND b.snapshot_time <= a.snapshot_time", t.Base))
	if err != nil {
		return err
	}
	if strictTimes && back != "0" {
		problem("%s snapshots are not later than the one before", back)
	}
	if problems != nil {
		return errors.New(strings.Join(problems, "\n"))
	}
	return nil
}

// quoted is the name of the one data column of an inlined table.
func quoted(ctx context.Context, c *pgconn.PgConn, t RawTable) string {
	v, err := value(ctx, c, fmt.Sprintf("SELECT column_name FROM ducklake_column WHERE table_id = %d AND column_id = %d AND end_snapshot IS NULL", t.ID, t.Column))
	if err != nil {
		return "i"
	}
	return `"` + strings.ReplaceAll(v, `"`, `""`) + `"`
}
