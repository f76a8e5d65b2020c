package meta_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/meta/metatest"
	"github.com/eiderdb/eider/kv/store"
)

// Distinct finds what a look at all rows finds, by the table's order, an index or neither.
func TestDistinct(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := catalog(t)
		rows := rapid.SliceOfN(rapid.Int64Range(-2, 5), 0, 10).Draw(rt, "values")
		do(t, c, func(txn *store.Txn) error {
			must(t, metatest.CreateTable(txn, store.PublicOID, meta.SnapshotTable, metatest.SnapshotColumns()...))
			must(t, metatest.CreateTable(txn, store.PublicOID, "ducklake_file_column_stats", "data_file_id", "table_id", "column_id", "plain"))
			l, err := meta.Open(txn, "public")
			must(t, err)
			for _, n := range rows {
				v := meta.Int(n)
				if n == 0 {
					v = nil
				}
				must(t, l.Table("ducklake_file_column_stats").Insert(meta.Values{"data_file_id": v, "table_id": v, "plain": v}))
			}
			want := slices.DeleteFunc(slices.Clone(rows), func(n int64) bool { return n == 0 })
			slices.Sort(want)
			want = slices.Compact(want)
			for _, column := range []string{"data_file_id", "table_id", "plain"} {
				got, err := l.Table("ducklake_file_column_stats").Distinct(context.Background(), column)
				must(t, err)
				if !slices.Equal(got, want) {
					rt.Fatalf("%s: %v, want %v", column, got, want)
				}
			}
			return nil
		})
	})
}

// A job works at full size and without pauses while it is alone, gives way as soon as others
// commit, and comes back when they have stopped.
func TestPacer(t *testing.T) {
	t.Parallel()
	c := catalog(t)
	now := time.Unix(0, 0)
	var slept []time.Duration
	p := meta.NewPacer(c, metatest.Plain{}, meta.PaceOptions{
		Rows: 100, BusyRows: 10, BusyTime: time.Second, BusyShare: 0.2,
		Clock: func() time.Time { return now },
		Sleep: func(_ context.Context, d time.Duration) error { slept = append(slept, d); return nil },
	})
	n := 0
	write := func(txn *store.Txn) error {
		n++
		_, err := txn.CreateSchema(string(rune('a'+n%26)) + time.Duration(n).String())
		return err
	}
	step := func(others bool) {
		t.Helper()
		must(t, p.Do(context.Background(), func(txn *store.Txn) error {
			now = now.Add(10 * time.Millisecond)
			if others {
				do(t, c, write)
			}
			return write(txn)
		}))
	}
	if p.Rows() != 10 {
		t.Errorf("the first transaction writes %d rows", p.Rows())
	}
	for range 9 {
		step(false)
	}
	if p.Rows() != 10 {
		t.Errorf("%d rows before it is known that nobody else is at work", p.Rows())
	}
	step(false) // 100 ms
	if p.Rows() != 100 || slept != nil {
		t.Errorf("alone: %d rows, pauses %v", p.Rows(), slept)
	}
	step(true)
	if p.Rows() != 10 || !slices.Equal(slept, []time.Duration{40 * time.Millisecond}) {
		t.Errorf("with others: %d rows, pauses %v", p.Rows(), slept)
	}
	for range 9 {
		step(false)
	}
	if p.Rows() != 10 || len(slept) != 10 {
		t.Errorf("shortly after: %d rows, pauses %v", p.Rows(), slept)
	}
	step(false)
	slept = nil
	step(false)
	if p.Rows() != 100 || slept != nil {
		t.Errorf("alone again: %d rows, pauses %v", p.Rows(), slept)
	}

	closed := errors.New("closed")
	ctx, cancel := context.WithCancelCause(context.Background())
	p = meta.NewPacer(c, metatest.Plain{}, meta.PaceOptions{Sleep: func(ctx context.Context, _ time.Duration) error {
		cancel(closed)
		return context.Cause(ctx)
	}})
	must(t, p.Do(ctx, func(txn *store.Txn) error { // what ends in the pause is committed
		do(t, c, write)
		return write(txn)
	}))
	if err := p.Do(ctx, write); !errors.Is(err, closed) {
		t.Errorf("ended: %v", err)
	}
}

// slowly is a Committer whose commits take so long.
type slowly struct {
	now   *time.Time
	takes *time.Duration
}

func (s slowly) Commit(ctx context.Context, txn *store.Txn) error {
	*s.now = s.now.Add(*s.takes)
	return metatest.Plain{}.Commit(ctx, txn)
}

// Beside others the size of a transaction follows what rows and commits cost, within its
// bounds, and not what holds up some of them.
func TestPacerSize(t *testing.T) {
	t.Parallel()
	c := catalog(t)
	now := time.Unix(0, 0)
	var takes time.Duration
	p := meta.NewPacer(c, slowly{&now, &takes}, meta.PaceOptions{
		Rows: 10_000, BusyRows: 800, BusyTime: time.Millisecond,
		Clock: func() time.Time { return now },
		Sleep: func(context.Context, time.Duration) error { return nil },
	})
	n := 0
	// run makes transactions whose rows take so long, beside others' commits, until their size
	// stays the same, and returns the least and the most rows of the last of them.
	run := func(row time.Duration, held func(i int) time.Duration) (least, most int) {
		t.Helper()
		for i := range 200 {
			must(t, p.Do(context.Background(), func(txn *store.Txn) error {
				n++
				rows := p.Rows()
				if i < 100 {
					least, most = rows, rows
				}
				least, most = min(least, rows), max(most, rows)
				do(t, c, func(txn *store.Txn) error {
					_, err := txn.CreateSchema(fmt.Sprint("other", n))
					return err
				})
				now = now.Add(time.Duration(rows)*row + held(i))
				_, err := txn.CreateSchema(fmt.Sprint("own", n))
				return err
			}))
		}
		return least, most
	}
	never := func(int) time.Duration { return 0 }
	often := func(i int) time.Duration { return time.Duration(i%5) * 20 * time.Millisecond }
	for _, k := range []struct {
		name        string
		row, commit time.Duration
		held        func(i int) time.Duration
		least, most int
	}{
		{"small", 5 * time.Microsecond, time.Millisecond, never, 195, 205},
		{"dear rows", 100 * time.Microsecond, time.Millisecond, never, 32, 32},
		{"cheap rows", time.Nanosecond, time.Millisecond, never, 800, 800},
		{"again", 20 * time.Microsecond, time.Millisecond, never, 48, 52},
		{"slow disk", 20 * time.Microsecond, 12 * time.Millisecond, never, 290, 310},
		{"held up", 20 * time.Microsecond, time.Millisecond, often, 48, 52},
		{"very dear rows", time.Second, time.Millisecond, never, 32, 32},
	} {
		takes = k.commit
		least, most := run(k.row, k.held)
		if least < k.least || most > k.most {
			t.Errorf("%s: %d to %d rows, want %d to %d", k.name, least, most, k.least, k.most)
		}
	}
}
