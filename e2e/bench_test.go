package e2e

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/paired"
	"github.com/eiderdb/eider/e2e/internal/script"
	"github.com/eiderdb/eider/e2e/internal/storm"
)

type benchmark struct {
	name   string
	per    int // operations per block
	rounds int // blocks of each server
	// prepare returns what one block does on a target.
	prepare func(ctx context.Context, t *testing.T, target script.Target, db string, per int) func() error
}

// TestBench compares Eider with PostgreSQL in one run: the same client, the same machine, fsync on for both, short blocks in turns. The ratio is the
// median over the rounds with its 95 % confidence interval, the times are medians with quartiles.
func TestBench(t *testing.T) {
	ctx := context.Background()
	list := benchTargets(t)
	if len(list) != 2 {
		t.Skip("compares two servers")
	}
	fmt.Println("\n| what | PostgreSQL 15 | quartiles | Eider | quartiles | Eider / PostgreSQL | 95 % of it |\n|---|---|---|---|---|---|---|")
	for _, b := range []benchmark{
		{"`SELECT 1` (simple query)", 500, 200, benchSelect1},
		{"`ATTACH` of an existing lake", 1, 120, benchAttach},
		{"one-row inlined `INSERT` through DuckDB, 1 writer", 10, 120, benchInsert},
		{"`COPY … TO STDOUT (FORMAT binary)`, 1,000,000 rows of 5 columns", 1, 40, benchCopyOut},
	} {
		if !benchWanted(t, b.name) {
			continue
		}
		var blocks [2]func() (time.Duration, error)
		for i, target := range list {
			db := newDatabase()
			if err := target.CreateDatabase(ctx, db); err != nil {
				t.Fatal(err)
			}
			run := b.prepare(ctx, t, target, db, b.per)
			blocks[i] = func() (time.Duration, error) {
				start := time.Now()
				if err := run(); err != nil {
					return 0, fmt.Errorf("on %s: %w", target.Name(), err)
				}
				return time.Since(start) / time.Duration(b.per), nil
			}
			for range 3 { // warm up
				if _, err := blocks[i](); err != nil {
					t.Fatalf("%s: %v", b.name, err)
				}
			}
		}
		sample, err := paired.Measure(b.rounds, blocks[0], blocks[1])
		if err != nil {
			t.Fatalf("%s: %v", b.name, err)
		}
		r := sample.Result()
		fmt.Printf("| %s | %s | %s–%s | %s | %s–%s | %.3f | %.3f–%.3f |\n", b.name, short(r.A.Median), short(r.A.Q1), short(r.A.Q3),
			short(r.B.Median), short(r.B.Q1), short(r.B.Q3), r.Ratio, r.Low, r.High)
	}
	fmt.Println()
}

func short(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.2f ms", d.Seconds()*1e3)
	default:
		return fmt.Sprintf("%.1f µs", d.Seconds()*1e6)
	}
}

func benchSelect1(ctx context.Context, t *testing.T, target script.Target, db string, per int) func() error {
	c := connect(ctx, t, target.DSN(db))
	return func() error {
		for range per {
			if _, err := c.Exec(ctx, "SELECT 1").ReadAll(); err != nil {
				return err
			}
		}
		return nil
	}
}

// lakeOn attaches a new lake in a DuckDB of its own.
func lakeOn(ctx context.Context, t *testing.T, target script.Target, db string) (duck.Session, string) {
	t.Helper()
	s := newDuck(ctx, t)
	attach := fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s')", target.DSN(db), t.TempDir())
	if _, err := s.Exec(ctx, attach); err != nil {
		t.Fatalf("on %s: %v", target.Name(), err)
	}
	return s, attach
}

func benchAttach(ctx context.Context, t *testing.T, target script.Target, db string, _ int) func() error {
	s, attach := lakeOn(ctx, t, target, db)
	for i := range 50 {
		if _, err := s.Exec(ctx, fmt.Sprintf("CREATE TABLE lake.t%d (a INTEGER, b VARCHAR, c DOUBLE)", i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Exec(ctx, "DETACH lake"); err != nil {
		t.Fatal(err)
	}
	return func() error {
		if _, err := s.Exec(ctx, attach); err != nil {
			return err
		}
		_, err := s.Exec(ctx, "DETACH lake")
		return err
	}
}

func benchInsert(ctx context.Context, t *testing.T, target script.Target, db string, per int) func() error {
	s, _ := lakeOn(ctx, t, target, db)
	if _, err := s.Exec(ctx, "CREATE TABLE lake.t (a INTEGER, b VARCHAR, c DOUBLE)"); err != nil {
		t.Fatal(err)
	}
	n := 0
	return func() error {
		for range per {
			n++
			if err := storm.Tx(ctx, s, fmt.Sprintf("INSERT INTO lake.t VALUES (%d, 'row', 1.5)", n)); err != nil {
				return err
			}
		}
		return nil
	}
}

func benchCopyOut(ctx context.Context, t *testing.T, target script.Target, db string, _ int) func() error {
	c := connect(ctx, t, target.DSN(db))
	mustExec(ctx, t, c, "CREATE TABLE big (id bigint, name varchar, amount double precision, ok boolean, note varchar)")
	if _, err := c.CopyFrom(ctx, million(), "COPY big FROM STDIN (FORMAT BINARY)"); err != nil {
		t.Fatalf("on %s: %v", target.Name(), err)
	}
	return func() error {
		tag, err := c.CopyTo(ctx, io.Discard, `COPY (SELECT "id", "name", "amount", "ok", "note" FROM "public"."big" ) TO STDOUT (FORMAT "binary");`)
		if err == nil && tag.RowsAffected() != 1_000_000 {
			err = fmt.Errorf("%d rows", tag.RowsAffected())
		}
		return err
	}
}

// million is the COPY stream of the table of benchCopyOut.
func million() io.Reader {
	var b bytes.Buffer
	b.WriteString("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	row := make([]byte, 0, 128)
	field := func(v []byte) {
		row = binary.BigEndian.AppendUint32(row, uint32(len(v)))
		row = append(row, v...)
	}
	for i := range 1_000_000 {
		row = binary.BigEndian.AppendUint16(row[:0], 5)
		field(binary.BigEndian.AppendUint64(nil, uint64(i)))
		field(fmt.Appendf(nil, "name of row %d", i))
		field(binary.BigEndian.AppendUint64(nil, math.Float64bits(float64(i)/3)))
		field([]byte{byte(i & 1)})
		if i%3 == 0 {
			row = binary.BigEndian.AppendUint32(row, math.MaxUint32) // NULL
		} else {
			field([]byte("a short note"))
		}
		b.Write(row)
	}
	b.WriteString("\xff\xff")
	return &b
}
