package storm

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/history"
)

// ReadOwn reads the client's rows of a shared table twice in one transaction. Nobody else touches them, so they must be exactly those that the
// client was told, with the row ids that they had before.
func (c *Client) ReadOwn(ctx context.Context) error {
	t := c.Plan.Shared()
	lo, hi := c.Plan.Span()
	sql := fmt.Sprintf("SELECT k, v, rowid FROM lake.%s WHERE k BETWEEN %d AND %d", t, lo, hi)
	var rows []Row
	ids := map[int64]int64{}
	err := c.read(ctx, func(first bool) ([]history.Read, error) {
		rows, ids = rows[:0], map[int64]int64{}
		res, err := c.w.Query(ctx, sql)
		if err != nil {
			return nil, err
		}
		for _, r := range res.Rows {
			n, err := numbers(r)
			if err != nil {
				return nil, err
			}
			rows = append(rows, Row{n[0], n[1]})
			ids[n[0]] = n[2]
		}
		return []history.Read{{Item: fmt.Sprintf("%s of writer %d", t, c.Num), Value: fmt.Sprint(sumOfRows(rows))}}, nil
	})
	if err != nil {
		return err
	}
	x := c.World
	for _, p := range Compare(c.Plan.Rows(t), rows) {
		x.Problem("writer %d read its rows of table %s after operation %d: %s", c.Num, t, c.n, p)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	known := x.rowids[t]
	for k, id := range ids {
		if old, ok := known[k]; ok && old != id && len(x.problems) < 50 {
			x.problems = append(x.problems, fmt.Sprintf("table %s: the row with key %d had row id %d and has %d now", t, k, old, id))
		}
		known[k] = id
	}
	return nil
}

// ReadAll reads a digest of a whole shared table, by scan and by count(*), twice in one transaction. Finish compares it with the model.
func (c *Client) ReadAll(ctx context.Context) error {
	t := c.Plan.Shared()
	return c.read(ctx, func(bool) ([]history.Read, error) {
		s, err := sum(ctx, c.w, "lake."+t)
		if err != nil {
			return nil, err
		}
		n, err := c.w.Query(ctx, "SELECT count(*) FROM lake."+t)
		if err != nil {
			return nil, err
		}
		if len(n.Rows) != 1 {
			return nil, errNoAnswer
		}
		if got := n.Rows[0][0]; got != strconv.FormatInt(s.Rows, 10) {
			c.World.Problem("table %s: a scan gives %d rows, count(*) %s", t, s.Rows, got)
		}
		return []history.Read{{Item: t, Value: fmt.Sprint(s)}}, nil
	})
}

// read runs f twice in a transaction and records what it saw.
func (c *Client) read(ctx context.Context, f func(first bool) ([]history.Read, error)) error {
	x := c.World
	tx := history.Tx{ID: fmt.Sprintf("reader w%d-%d", c.Num, c.n), Begin: x.History.Tick()}
	fail := func(err error) error {
		_, _ = c.w.Exec(ctx, "ROLLBACK")
		if Lost(err) {
			return ErrLost
		}
		x.Problem("%s: a read failed: %s", tx.ID, Short(err))
		return nil
	}
	if _, err := c.w.Exec(ctx, "BEGIN"); err != nil {
		return fail(err)
	}
	for i := range 2 {
		snap, err := snapshotOf(ctx, c.w, "current_snapshot")
		if err != nil {
			return fail(err)
		}
		tx.Snapshots = append(tx.Snapshots, snap)
		reads, err := f(i == 0)
		if err != nil {
			return fail(err)
		}
		tx.Reads = append(tx.Reads, reads...)
		if i == 0 {
			tx.SeenAt = x.History.Tick()
		}
	}
	if _, err := c.w.Exec(ctx, "COMMIT"); err != nil {
		return fail(err)
	}
	tx.End = x.History.Tick()
	x.History.Add(tx)
	return nil
}

func sum(ctx context.Context, s duck.Session, from string) (Sum, error) {
	res, err := s.Query(ctx, "SELECT count(k), coalesce(sum(k), 0)::BIGINT, coalesce(sum(v), 0)::BIGINT FROM "+from)
	if err != nil {
		return Sum{}, err
	}
	if len(res.Rows) != 1 {
		return Sum{}, errNoAnswer
	}
	n, err := numbers(res.Rows[0])
	if err != nil {
		return Sum{}, err
	}
	return Sum{n[0], n[1], n[2]}, nil
}

func numbers(row []string) ([]int64, error) {
	out := make([]int64, len(row))
	for i, v := range row {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

func sumOfRows(rows []Row) Sum {
	s := Sum{Rows: int64(len(rows))}
	for _, r := range rows {
		s.Keys += r.Key
		s.Vals += r.Val
	}
	return s
}

// Finish judges the lake after the workload: the content of every table, its counts, sampled older snapshots, what readers saw, the snapshots
// themselves. It returns everything that is wrong, the problems recorded before included.
func (x *World) Finish(ctx context.Context, samples int, strictTimes bool) []string {
	if err := x.finish(ctx, samples, strictTimes); err != nil {
		x.Problem("looking at the lake afterwards: %v", err)
	}
	return x.Problems()
}

func (x *World) finish(ctx context.Context, samples int, strictTimes bool) error {
	w, err := OpenWriter(ctx, x.DSN, x.Data)
	if err != nil {
		return err
	}
	defer w.Close()
	c, err := pgconn.Connect(ctx, x.DSN)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	snaps, times, changes, err := x.snapshots(ctx, c)
	if err != nil {
		return err
	}
	head := snaps[len(snaps)-1]

	// Older snapshots that are still there, the newest among them.
	r := rand.New(rand.NewPCG(x.Seed, 99))
	at := map[int64]bool{head: true}
	for range min(samples, len(snaps)) {
		at[snaps[r.IntN(len(snaps))]] = true
	}
	err = x.Model.Walk(slices.Sorted(maps.Keys(at)), func(snap int64, s State) error { return x.compareAt(ctx, w, snap, snap == head, s) })
	if err != nil {
		return err
	}
	return x.checkHistory(times, changes, strictTimes)
}

// compareAt compares all tables of the model with the lake at a snapshot.
func (x *World) compareAt(ctx context.Context, w *Writer, snap int64, head bool, s State) error {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		from := "lake." + name
		if !head {
			from += fmt.Sprintf(" AT (VERSION => %d)", snap)
		}
		res, err := w.Query(ctx, "SELECT k, v FROM "+from)
		if err != nil {
			x.Problem("reading %s: %s", from, Short(err))
			continue
		}
		rows := make([]Row, len(res.Rows))
		for i, r := range res.Rows {
			n, err := numbers(r)
			if err != nil {
				return fmt.Errorf("%s: %w", from, err)
			}
			rows[i] = Row{n[0], n[1]}
		}
		for _, p := range Compare(s[name], rows) {
			x.Problem("table %s at snapshot %d: %s", name, snap, p)
		}
		if n, err := w.Query(ctx, "SELECT count(*) FROM "+from); err != nil || n.Rows[0][0] != strconv.Itoa(len(rows)) {
			x.Problem("table %s at snapshot %d: count(*) says %v (%v), a scan %d", name, snap, n.Rows, err, len(rows))
		}
	}
	if !head {
		return nil
	}
	res, err := w.Query(ctx, "SELECT table_name FROM duckdb_tables() WHERE database_name = 'lake' ORDER BY 1")
	if err != nil {
		return err
	}
	var got []string
	for _, r := range res.Rows {
		got = append(got, r[0])
	}
	if want := slices.Sorted(maps.Keys(s)); !slices.Equal(got, want) {
		x.Problem("the lake has the tables %v, want %v", got, want)
	}
	return nil
}

// snapshots checks the snapshots of the catalog against the acknowledged commits and takes commits of unknown outcome that landed into the model.
func (x *World) snapshots(ctx context.Context, c *pgconn.PgConn) ([]int64, map[int64]time.Time, map[int64]string, error) {
	res, err := c.Exec(ctx, "SELECT s.snapshot_id, s.snapshot_time AT TIME ZONE 'UTC', coalesce(h.commit_message, ''), coalesce(h.changes_made, '') "+
		"FROM ducklake_snapshot s LEFT JOIN ducklake_snapshot_changes h USING (snapshot_id) ORDER BY s.snapshot_id").ReadAll()
	if err != nil {
		return nil, nil, nil, err
	}
	commits, err := x.Model.Commits()
	if err != nil {
		return nil, nil, nil, err
	}
	byID := map[string]int64{}
	for _, k := range commits {
		byID[k.ID] = k.Snapshot
	}
	var ids []int64
	times, changes := map[int64]time.Time{}, map[int64]string{}
	found := map[string]int64{}
	for _, row := range res[0].Rows {
		id, err := strconv.ParseInt(string(row[0]), 10, 64)
		if err != nil {
			return nil, nil, nil, err
		}
		at, err := time.Parse("2006-01-02 15:04:05.999999", string(row[1]))
		if err != nil {
			return nil, nil, nil, err
		}
		ids, times[id], changes[id] = append(ids, id), at, string(row[3])
		msg := string(row[2])
		if msg == "" {
			continue // the first snapshot, maintenance
		}
		if other, twice := found[msg]; twice {
			x.Problem("operation %s is in snapshots %d and %d", msg, other, id)
		}
		found[msg] = id
		x.mu.Lock()
		op, doubtful := x.doubt[msg]
		x.mu.Unlock()
		switch want, ok := byID[msg]; {
		case ok && want != id:
			x.Problem("operation %s is snapshot %d, its writer was told %d", msg, id, want)
		case ok:
		case doubtful:
			x.Model.Add(Commit{msg, id, op.Changes})
		default:
			x.Problem("snapshot %d is of operation %s, which failed (%s)", id, msg, row[3])
		}
	}
	if len(ids) == 0 {
		return nil, nil, nil, fmt.Errorf("the lake has no snapshot")
	}
	for id, snap := range byID {
		if _, there := times[snap]; there && found[id] == 0 {
			x.Problem("operation %s was acknowledged as snapshot %d, which is not its own", id, snap)
		} else if !there && snap > ids[len(ids)-1] {
			x.Problem("operation %s was acknowledged as snapshot %d, the newest is %d", id, snap, ids[len(ids)-1])
		}
	}
	return ids, times, changes, nil
}

// Settle finds out what became of the client's last operation after the connection was lost, by its id in the catalog, and takes over its effects
// if it was committed.
func (c *Client) Settle(ctx context.Context) error {
	x := c.World
	id := c.id()
	x.mu.Lock()
	op, doubtful := x.doubt[id]
	x.mu.Unlock()
	if !doubtful {
		return nil // it was a read
	}
	conn, err := pgconn.Connect(ctx, x.DSN)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	res, err := conn.Exec(ctx, "SELECT snapshot_id FROM ducklake_snapshot_changes WHERE commit_message = '"+id+"'").ReadAll()
	if err != nil {
		return err
	}
	x.mu.Lock()
	delete(x.doubt, id)
	x.mu.Unlock()
	if len(res[0].Rows) == 0 {
		return nil
	}
	snap, err := strconv.ParseInt(string(res[0].Rows[0][0]), 10, 64)
	if err != nil {
		return err
	}
	x.Model.Add(Commit{id, snap, op.Changes})
	c.Plan.Done(op)
	x.forget(op)
	return nil
}

// checkHistory holds what the transactions saw against the model and against DuckLake's rules for commits over commits.
func (x *World) checkHistory(times map[int64]time.Time, changes map[int64]string, strictTimes bool) error {
	txs := x.History.Txs()
	at := map[int64]bool{}
	for _, t := range txs {
		if len(t.Snapshots) > 0 {
			at[t.Snapshots[0]] = true
		}
	}
	type key struct {
		snap int64
		item string
	}
	want := map[key]string{}
	items := map[int64][]string{}
	for _, t := range txs {
		for _, r := range t.Reads {
			items[t.Snapshots[0]] = append(items[t.Snapshots[0]], r.Item)
		}
	}
	err := x.Model.Walk(slices.Sorted(maps.Keys(at)), func(snap int64, s State) error {
		for _, item := range items[snap] {
			table, writer, own := strings.Cut(item, " of writer ")
			rows := s[table]
			if own {
				n, err := strconv.ParseInt(writer, 10, 64)
				if err != nil {
					return err
				}
				part := map[int64]int64{}
				for k, v := range rows {
					if k/KeySpan == n+1 {
						part[k] = v
					}
				}
				rows = part
			}
			want[key{snap, item}] = fmt.Sprint(SumOf(rows))
		}
		return nil
	})
	if err != nil {
		return err
	}
	p := history.Premises{
		At: func(snap int64, item string) (string, bool) {
			v, ok := want[key{snap, item}]
			return v, ok
		},
		Allowed: func(late, early *history.Tx) bool { return history.Over(changes[late.Commit], changes[early.Commit]) },
	}
	if strictTimes {
		p.Times = times
	}
	for _, v := range history.Check(txs, p) {
		x.Problem("%s", v)
	}
	return nil
}
