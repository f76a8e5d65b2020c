package e2e

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/script"
)

// The number of alternating runs of each benchmark; the table shows medians.
const benchRounds = 7

type benchmark struct {
	name string
	per  int // operations per run
	// prepare returns what one run does on a target.
	prepare func(ctx context.Context, t *testing.T, target script.Target, db string) func() error
}

// TestBench compares Eider with PostgreSQL in one run: the same client, the same machine, fsync on for both, runs alternating.
func TestBench(t *testing.T) {
	if !*benchFlag {
		t.Skip("benchmarks run with -bench")
	}
	ctx := context.Background()
	pg := needPostgres(t)
	list := []script.Target{pg}
	if wantEider() {
		list = append(list, privateEider(t))
	}
	fmt.Println("\n| what | PostgreSQL 15 | Eider | Eider / PostgreSQL |\n|---|---|---|---|")
	for _, b := range []benchmark{
		{"`SELECT 1` (simple query)", 2000, benchSelect1},
		{"`ATTACH` of an existing lake", 1, benchAttach},
		{"one-row inlined `INSERT` through DuckDB, 1 writer", 50, benchInsert},
		{"`COPY … TO STDOUT (FORMAT binary)`, 1,000,000 rows of 5 columns", 1, benchCopyOut},
	} {
		runs := make([]func() error, len(list))
		for i, target := range list {
			db := newDatabase()
			if err := target.CreateDatabase(ctx, db); err != nil {
				t.Fatal(err)
			}
			runs[i] = b.prepare(ctx, t, target, db)
			if err := runs[i](); err != nil { // warm up
				t.Fatalf("%s on %s: %v", b.name, target.Name(), err)
			}
		}
		times := make([][]time.Duration, len(list))
		for range benchRounds {
			for i, run := range runs {
				start := time.Now()
				if err := run(); err != nil {
					t.Fatalf("%s on %s: %v", b.name, list[i].Name(), err)
				}
				times[i] = append(times[i], time.Since(start)/time.Duration(b.per))
			}
		}
		p := median(times[0])
		if len(times) == 1 {
			fmt.Printf("| %s | %s | | |\n", b.name, short(p))
			continue
		}
		e := median(times[1])
		fmt.Printf("| %s | %s | %s | %.2f |\n", b.name, short(p), short(e), float64(e)/float64(p))
	}
	fmt.Println()
}

func median(d []time.Duration) time.Duration {
	d = slices.Clone(d)
	slices.Sort(d)
	return d[len(d)/2]
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

func benchSelect1(ctx context.Context, t *testing.T, target script.Target, db string) func() error {
	c := connect(ctx, t, target.DSN(db))
	return func() error {
		for range 2000 {
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
	inst, err := duck.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inst.Close() })
	s, err := inst.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	attach := fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s')", target.DSN(db), t.TempDir())
	if _, err := s.Exec(ctx, attach); err != nil {
		t.Fatalf("on %s: %v", target.Name(), err)
	}
	return s, attach
}

func benchAttach(ctx context.Context, t *testing.T, target script.Target, db string) func() error {
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

func benchInsert(ctx context.Context, t *testing.T, target script.Target, db string) func() error {
	s, _ := lakeOn(ctx, t, target, db)
	if _, err := s.Exec(ctx, "CREATE TABLE lake.t (a INTEGER, b VARCHAR, c DOUBLE)"); err != nil {
		t.Fatal(err)
	}
	n := 0
	return func() error {
		for range 50 {
			n++
			if _, err := s.Exec(ctx, fmt.Sprintf("INSERT INTO lake.t VALUES (%d, 'row', 1.5)", n)); err != nil {
				return err
			}
		}
		return nil
	}
}

func benchCopyOut(ctx context.Context, t *testing.T, target script.Target, db string) func() error {
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
