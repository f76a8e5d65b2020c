package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// commitTold is the payload of a notification of a commit.
type commitTold struct {
	Lake     string `json:"lake"`
	Snapshot int64  `json:"snapshot_id"`
	Changes  string `json:"changes"`
	Author   string `json:"author"`
	Message  string `json:"message"`
}

// listener hears of the commits of a database, by a plain driver.
type listener struct {
	t    *testing.T
	dsn  string
	conn *pgx.Conn
	head int64 // read after LISTEN
}

func listen(ctx context.Context, t *testing.T, dsn string) *listener {
	t.Helper()
	l := &listener{t: t, dsn: dsn}
	var err error
	if l.conn, err = pgx.Connect(ctx, dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.conn.Close(context.Background()) })
	if _, err := l.conn.Exec(ctx, "LISTEN eider_commit"); err != nil {
		t.Fatal(err)
	}
	if err := l.conn.QueryRow(ctx, "SELECT max(snapshot_id) FROM public.ducklake_snapshot").Scan(&l.head); err != nil {
		t.Fatal(err)
	}
	return l
}

// next waits for a notification, and reads on another connection what it names.
func (l *listener) next(ctx context.Context) commitTold {
	l.t.Helper()
	n, err := l.conn.WaitForNotification(ctx)
	if err != nil {
		l.t.Fatal(err)
	}
	if n.Channel != "eider_commit" {
		l.t.Fatalf("notified of %s: %s", n.Channel, n.Payload)
	}
	var c commitTold
	if err := json.Unmarshal([]byte(n.Payload), &c); err != nil {
		l.t.Fatalf("%s: %v", n.Payload, err)
	}
	other, err := pgx.Connect(ctx, l.dsn)
	if err != nil {
		l.t.Fatal(err)
	}
	defer func() { _ = other.Close(ctx) }()
	var changes string
	err = other.QueryRow(ctx, `SELECT COALESCE(changes_made, '') FROM "`+c.Lake+`".ducklake_snapshot JOIN "`+c.Lake+
		`".ducklake_snapshot_changes USING (snapshot_id) WHERE snapshot_id = $1`, c.Snapshot).Scan(&changes)
	if err != nil {
		l.t.Fatalf("snapshot %d was told and cannot be read: %v", c.Snapshot, err)
	}
	if changes != c.Changes {
		l.t.Errorf("snapshot %d was told with %q, it is %q", c.Snapshot, c.Changes, changes)
	}
	return c
}

// upTo hears until a snapshot and checks that there is no gap from the one after the head.
func (l *listener) upTo(ctx context.Context, last int64) (all []commitTold) {
	l.t.Helper()
	for want := l.head + 1; want <= last; {
		c := l.next(ctx)
		if c.Snapshot <= l.head && len(all) == 0 {
			continue // committed while the listener came
		}
		if c.Snapshot != want {
			l.t.Fatalf("heard of snapshot %d, want %d", c.Snapshot, want)
		}
		all = append(all, c)
		want++
	}
	return all
}

// TestCommitNotifications: a listener beside DuckDBs that write hears of each snapshot, in
// order, when it can be read; one whose connection was lost goes on without a gap.
func TestCommitNotifications(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	s := needEider(t)
	db := newDatabase()
	if err := s.CreateDatabase(ctx, db); err != nil {
		t.Fatal(err)
	}
	d, attach := lakeOn(ctx, t, s, db)
	for _, sql := range []string{"CREATE TABLE lake.t (w INTEGER, i INTEGER)"} {
		if _, err := d.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	first := listen(ctx, t, s.DSN(db))

	const writers, rounds = 4, 12
	var wg sync.WaitGroup
	for w := range writers {
		duck := newDuck(ctx, t)
		if _, err := duck.Exec(ctx, attach); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for i := range rounds {
				if _, err := duck.Exec(ctx, fmt.Sprintf("INSERT INTO lake.t VALUES (%d, %d)", w, i)); err != nil {
					t.Errorf("writer %d: %v", w, err)
					return
				}
			}
		})
	}
	first.upTo(ctx, first.head+writers*rounds/2)
	// The connection is lost in the middle, and another one comes.
	if err := first.conn.PgConn().Conn().Close(); err != nil {
		t.Fatal(err)
	}
	second := listen(ctx, t, s.DSN(db))
	if second.head < first.head+writers*rounds/2 {
		t.Errorf("snapshot %d is the newest, %d has been told before", second.head, first.head+writers*rounds/2)
	}
	wg.Wait()
	probe := listen(ctx, t, s.DSN(db))
	if probe.head < first.head+writers*rounds {
		t.Errorf("%d snapshots", probe.head-first.head)
	}
	for _, c := range second.upTo(ctx, probe.head) {
		if c.Lake != "public" {
			t.Errorf("lake %q", c.Lake)
		}
	}

	// A rollback is not told, a message is; another lake of the database has its own name.
	for _, sql := range []string{
		"BEGIN", "INSERT INTO lake.t VALUES (9, 9)", "ROLLBACK",
		"BEGIN", "INSERT INTO lake.t VALUES (9, 10)", "CALL lake.set_commit_message('Ann', 'by hand')", "COMMIT",
		strings.Replace(attach, "AS lake (", "AS more (METADATA_SCHEMA 'more', ", 1),
	} {
		if _, err := d.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	if c := probe.next(ctx); c.Snapshot != probe.head+1 || c.Author != "Ann" || c.Message != "by hand" || !strings.Contains(c.Changes, "insert") {
		t.Errorf("told %+v", c)
	}
	if c := probe.next(ctx); c.Lake != "more" || c.Snapshot != 0 {
		t.Errorf("told %+v", c)
	}
}

// TestSlowListener: a client that listens and does not read holds nobody up, and hears how
// much it has missed.
func TestSlowListener(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	s := privateEider(t, "--max-notifications", "3")
	db := newDatabase()
	if err := s.CreateDatabase(ctx, db); err != nil {
		t.Fatal(err)
	}
	d, _ := lakeOn(ctx, t, s, db)
	if _, err := d.Exec(ctx, "CREATE TABLE lake.t (i INTEGER)"); err != nil {
		t.Fatal(err)
	}
	l := listen(ctx, t, s.DSN(db))
	if _, err := l.conn.Exec(ctx, "BEGIN"); err != nil {
		t.Fatal(err)
	}
	const commits = 10
	for i := range commits {
		if _, err := d.Exec(ctx, fmt.Sprintf("INSERT INTO lake.t VALUES (%d)", i)); err != nil {
			t.Fatal(err)
		}
	}
	// Another listener has heard all, so that all have been queued.
	other := connect(ctx, t, s.DSN(db))
	if got := one(ctx, t, other, "SELECT max(snapshot_id) FROM ducklake_snapshot"); got != fmt.Sprint(l.head+commits) {
		t.Fatalf("snapshot %s", got)
	}
	if _, err := l.conn.Exec(ctx, "COMMIT"); err != nil {
		t.Fatal(err)
	}
	told, last := int64(0), int64(0)
	for last < l.head+commits {
		n, err := l.conn.WaitForNotification(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if n.Channel == "eider_dropped" {
			var p struct{ Dropped int64 }
			if err := json.Unmarshal([]byte(n.Payload), &p); err != nil {
				t.Fatal(err)
			}
			told += p.Dropped
			continue
		}
		var c commitTold
		if err := json.Unmarshal([]byte(n.Payload), &c); err != nil || c.Snapshot <= last {
			t.Fatalf("%s after %d: %v", n.Payload, last, err)
		}
		told, last = told+1, c.Snapshot
	}
	if told < commits { // what was dropped is told after what was kept
		n, err := l.conn.WaitForNotification(ctx)
		if err != nil || n.Channel != "eider_dropped" {
			t.Fatalf("%d of %d told, then %v, %v", told, commits, n, err)
		}
	}
	if !strings.Contains(one(ctx, t, other, "SELECT 1"), "1") {
		t.Error("the server does not answer")
	}
}
