package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/history"
)

// TestCounters lets writers add one to the same few counters, some of which lie in a file and some in the catalog. No addition may be lost, and the
// record of what every transaction saw must keep the promises of package history.
func TestCounters(t *testing.T) {
	const counters = 6
	length := 6 * time.Second
	if *soakFlag > 0 {
		length = *soakFlag
	}
	onStorm(t, times(8, 6), func(ctx context.Context, t *testing.T, g *gale) {
		seed := newSeed(t)
		g.setup(ctx, t, "CREATE TABLE lake.t (k INTEGER, v INTEGER)",
			"INSERT INTO lake.t SELECT range, 0 FROM range(100, 120)", // a file
			fmt.Sprintf("INSERT INTO lake.t SELECT range, 0 FROM range(%d)", counters/2))
		keys := []int{0, 1, 2, 100, 101, 102}
		var rec history.Recorder
		added := make([][]int, len(g.who)) // by writer, by key
		end := time.Now().Add(length)
		err := onWriters(len(g.who), func(w int) error {
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			added[w] = make([]int, len(keys))
			s := g.who[w]
			for n := 0; time.Now().Before(end); n++ {
				k := r.IntN(len(keys))
				item := fmt.Sprintf("t/%d", keys[k])
				tx := history.Tx{ID: fmt.Sprintf("w%d-%d", w, n), Begin: rec.Tick(), Writes: []string{item}}
				err := func() error {
					if _, err := s.Exec(ctx, "BEGIN"); err != nil {
						return err
					}
					for range 2 {
						res, err := s.Query(ctx, "SELECT id FROM lake.current_snapshot()")
						if err != nil {
							return err
						}
						snap, err := strconv.ParseInt(res.Rows[0][0], 10, 64)
						if err != nil {
							return err
						}
						tx.Snapshots = append(tx.Snapshots, snap)
						if res, err = s.Query(ctx, fmt.Sprintf("SELECT v FROM lake.t WHERE k = %d", keys[k])); err != nil {
							return err
						}
						if len(res.Rows) != 1 {
							return fmt.Errorf("counter %d has %d rows", keys[k], len(res.Rows))
						}
						if tx.Reads = append(tx.Reads, history.Read{Item: item, Value: res.Rows[0][0]}); tx.SeenAt == 0 {
							tx.SeenAt = rec.Tick()
						}
					}
					if _, err := s.Exec(ctx, fmt.Sprintf("UPDATE lake.t SET v = v + 1 WHERE k = %d", keys[k])); err != nil {
						return err
					}
					_, err := s.Exec(ctx, "COMMIT")
					return err
				}()
				tx.End = rec.Tick()
				g.account(w, tx.ID, err)
				if err == nil {
					res, err := s.Query(ctx, "SELECT id FROM lake.last_committed_snapshot()")
					if err != nil {
						return err
					}
					if tx.Commit, err = strconv.ParseInt(res.Rows[0][0], 10, 64); err != nil {
						return err
					}
					added[w][k]++
				} else {
					_, _ = s.Exec(ctx, "ROLLBACK")
				}
				rec.Add(tx)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		total := 0
		for k := range keys {
			want := 0
			for w := range added {
				want += added[w][k]
			}
			total += want
			g.expect(ctx, t, fmt.Sprintf("SELECT count(*), max(v) FROM lake.t WHERE k = %d", keys[k]), fmt.Sprintf("1 | %d", want))
		}
		t.Logf("%d additions", total)
		txs := rec.Txs()
		for i, v := range history.Check(txs, history.Premises{At: counterAt(txs), Allowed: g.allowed(ctx, t), Times: g.snapshotTimes(ctx, t)}) {
			if i == 10 {
				break
			}
			t.Errorf("%s", v)
		}
		g.judge(ctx, t)
	})
}

// counterAt replays the additions that were acknowledged.
func counterAt(txs []history.Tx) func(snapshot int64, item string) (string, bool) {
	by := map[string][]int64{} // the snapshots that added to a counter
	for _, tx := range txs {
		if tx.Commit != 0 {
			by[tx.Writes[0]] = append(by[tx.Writes[0]], tx.Commit)
		}
	}
	for _, ids := range by {
		slices.Sort(ids)
	}
	return func(snapshot int64, item string) (string, bool) {
		n, _ := slices.BinarySearch(by[item], snapshot+1)
		return strconv.Itoa(n), true
	}
}

// allowed is DuckLake's rule for commits over commits, applied to what the snapshots say that they changed.
func (g *gale) allowed(ctx context.Context, t *testing.T) func(late, early *history.Tx) bool {
	changes := map[int64]string{}
	for id, row := range g.snapshots(ctx, t) {
		changes[id] = row[1]
	}
	return func(late, early *history.Tx) bool { return history.Over(changes[late.Commit], changes[early.Commit]) }
}

// snapshotTimes are the times of snapshots where they have to increase: PostgreSQL's NOW() is the start of the transaction.
func (g *gale) snapshotTimes(ctx context.Context, t *testing.T) map[int64]time.Time {
	if g.target.Name() == "pg" {
		return nil
	}
	out := map[int64]time.Time{}
	for id, row := range g.snapshots(ctx, t) {
		at, err := time.Parse("2006-01-02 15:04:05.999999", row[0])
		if err != nil {
			t.Fatal(err)
		}
		out[id] = at
	}
	return out
}

// snapshots returns the time and the changes of all snapshots.
func (g *gale) snapshots(ctx context.Context, t *testing.T) map[int64][2]string {
	c := connect(ctx, t, g.target.DSN(g.db))
	out := map[int64][2]string{}
	for _, row := range mustExec(ctx, t, c, "SELECT s.snapshot_id, s.snapshot_time AT TIME ZONE 'UTC', coalesce(h.changes_made, '') "+
		"FROM ducklake_snapshot s LEFT JOIN ducklake_snapshot_changes h USING (snapshot_id)")[0].Rows {
		id, err := strconv.ParseInt(string(row[0]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		out[id] = [2]string{string(row[1]), string(row[2])}
	}
	return out
}
