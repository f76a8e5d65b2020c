package e2e

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/server"
	"github.com/eiderdb/eider/e2e/internal/tap"
)

// attachFiles attaches a database of a server to a DuckDB, without inlining.
func attachFiles(ctx context.Context, t *testing.T, d duck.Session, s *server.Server, db, data string) {
	t.Helper()
	mustDuck(ctx, t, d, fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s')", s.DSN(db), data))
	mustDuck(ctx, t, d, "CALL lake.set_option('data_inlining_row_limit', 0)")
}

// TestHoldMetrics: each --hold-tier counts a right merge and a wrong one, the refusal is a finding.
func TestHoldMetrics(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for tier := range 4 {
		t.Run(fmt.Sprintf("tier %d", tier), func(t *testing.T) {
			s := privateEider(t, "--hold-tier", fmt.Sprint(tier))
			d := newDuck(ctx, t)
			attachFiles(ctx, t, d, s, "lake", t.TempDir())
			for _, table := range []string{"lake.right", "lake.wrong"} {
				mustDuck(ctx, t, d, "CREATE TABLE "+table+" (i INTEGER, v INTEGER)")
				mustDuck(ctx, t, d, "INSERT INTO "+table+" SELECT range, 100 - range FROM range(20)")
				mustDuck(ctx, t, d, "INSERT INTO "+table+" SELECT range, 100 - range FROM range(20, 40)")
			}
			mustDuck(ctx, t, d, "ALTER TABLE lake.wrong SET SORTED BY (v)")
			before := readMetrics(ctx, t, s)
			mustDuck(ctx, t, d, "CALL ducklake_merge_adjacent_files('lake', 'right')")
			if _, err := d.Exec(ctx, "CALL ducklake_merge_adjacent_files('lake', 'wrong')"); err == nil || !strings.Contains(err.Error(), "would change row ids") {
				t.Errorf("a merge that changes row ids: %v", err)
			}
			after := readMetrics(ctx, t, s)
			for _, c := range []struct {
				name   string
				labels []string
				want   float64
			}{
				{"eider_hold_compactions_total", []string{fmt.Sprintf(`tier="%d"`, tier), `outcome="right"`, `catalog="lake"`}, 1},
				{"eider_hold_compactions_total", []string{`outcome="right"`}, 1},
				{"eider_hold_compactions_total", []string{`outcome="wrong"`}, 1},
				{"eider_hold_compactions_total", nil, 2},
				{"eider_findings_total", []string{`mode="enforce"`, `catalog="lake"`}, 1},
				{"eider_findings_total", nil, 1},
				{"eider_commit_attempts_total", []string{`outcome="committed"`}, 1},
				{"eider_commit_attempts_total", nil, 1},
			} {
				if got := after.Sum(c.name, c.labels...) - before.Sum(c.name, c.labels...); got != c.want {
					t.Errorf("%s%v has grown by %v, want %v", c.name, c.labels, got, c.want)
				}
			}
		})
	}
}

// TestNullRowStartsOff: without NULL row-id starts the catalog is as on PostgreSQL, so the client makes the merge that changes ids. It is refused,
// and where it is let pass the ids are others: the switch is what keeps them.
func TestNullRowStartsOff(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, tc := range []struct {
		flag    string
		starts  string // files without a start
		refused bool
	}{{"true", "2", false}, {"false", "0", true}} {
		t.Run(tc.flag, func(t *testing.T) {
			s := privateEider(t, "--null-row-starts="+tc.flag)
			d := newDuck(ctx, t)
			attachFiles(ctx, t, d, s, "lake", t.TempDir())
			mustDuck(ctx, t, d, "CREATE TABLE lake.t (i INTEGER, v INTEGER)")
			mustDuck(ctx, t, d, "INSERT INTO lake.t SELECT range, 0 FROM range(20)")
			mustDuck(ctx, t, d, "UPDATE lake.t SET v = 1 WHERE i < 10")
			mustDuck(ctx, t, d, "UPDATE lake.t SET v = 2 WHERE i >= 10")
			c := connect(ctx, t, s.DSN("lake"))
			if got := one(ctx, t, c, "SELECT count(*) FROM ducklake_data_file WHERE row_id_start IS NULL"); got != tc.starts {
				t.Errorf("%s files without a row-id start, want %s", got, tc.starts)
			}
			_, err := d.Exec(ctx, "CALL ducklake_merge_adjacent_files('lake')")
			if (err != nil) != tc.refused || err != nil && !strings.Contains(err.Error(), "would change row ids: 20 of 20 differ, first 0 becomes 20") {
				t.Errorf("the merge: %v", err)
			}
			const ids = "SELECT count(*), count(*) FILTER (rowid = i) FROM lake.t"
			if got := mustDuck(ctx, t, d, ids).Lines()[0]; got != "20 | 20" {
				t.Errorf("rows, and those with their ids: %s", got)
			}
			if !tc.refused {
				return
			}
			mustExec(ctx, t, c, makeSettings)
			mustExec(ctx, t, c, "INSERT INTO eider.settings VALUES (NULL, NULL, '*', 'warn')")
			mustDuck(ctx, t, d, "CALL ducklake_merge_adjacent_files('lake')")
			if got := mustDuck(ctx, t, d, ids).Lines()[0]; got != "20 | 0" {
				t.Errorf("rows, and those with their ids, after a merge that was let pass: %s", got)
			}
			if got := one(ctx, t, c, `SELECT string_agg("check", ' ') FROM eider.findings`); got != "row-ids" {
				t.Errorf("findings: %s", got)
			}
		})
	}
}

// TestRowIDGapsOff: without the gaps the client takes files of a sorted table for one run of ids, and the merge is refused.
func TestRowIDGapsOff(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, tc := range []struct {
		flag    string
		starts  string
		refused bool
	}{{"true", "0 21 42", false}, {"false", "0 20 40", true}} {
		t.Run(tc.flag, func(t *testing.T) {
			s := privateEider(t, "--row-id-gaps="+tc.flag)
			d := newDuck(ctx, t)
			attachFiles(ctx, t, d, s, "lake", t.TempDir())
			mustDuck(ctx, t, d, "CREATE TABLE lake.t (i INTEGER, v INTEGER)")
			mustDuck(ctx, t, d, "ALTER TABLE lake.t SET SORTED BY (v)")
			for n := range 3 {
				mustDuck(ctx, t, d, fmt.Sprintf("INSERT INTO lake.t SELECT range, 100 - range FROM range(%d, %d)", 20*n, 20*n+20))
			}
			c := connect(ctx, t, s.DSN("lake"))
			if got := one(ctx, t, c, "SELECT string_agg(row_id_start::text, ' ' ORDER BY row_id_start) FROM ducklake_data_file"); got != tc.starts {
				t.Errorf("row-id starts %s, want %s", got, tc.starts)
			}
			const list = "SELECT list((i, rowid) ORDER BY i)::VARCHAR FROM lake.t"
			before := mustDuck(ctx, t, d, list).Lines()[0]
			_, err := d.Exec(ctx, "CALL ducklake_merge_adjacent_files('lake')")
			if (err != nil) != tc.refused || err != nil && !strings.Contains(err.Error(), "would change row ids: the table has a sort order") {
				t.Errorf("the merge: %v", err)
			}
			if after := mustDuck(ctx, t, d, list).Lines()[0]; after != before {
				t.Errorf("ids %s, before the merge %s", after, before)
			}
		})
	}
}

// gate is a proxy in front of object storage. Once shut, it holds up requests until it is opened.
type gate struct {
	host string
	shut atomic.Pointer[gateShut]
	gets atomic.Int64
}

type gateShut struct {
	met  chan struct{} // gets a value when a request waits
	open chan struct{}
}

func newGate(t *testing.T, endpoint string) *gate {
	t.Helper()
	g := &gate{}
	target := &url.URL{Scheme: "http", Host: endpoint}
	p := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // it is signed
	}}
	srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.gets.Add(1)
		if s := g.shut.Load(); s != nil {
			select {
			case s.met <- struct{}{}:
			default:
			}
			select {
			case <-s.open:
			case <-r.Context().Done():
			}
		}
		p.ServeHTTP(w, r)
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g.host = l.Addr().String()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	t.Cleanup(func() {
		_ = srv.Close()
		<-done
	})
	return g
}

// TestReadsBeforeTheSequencer: while the server waits for the bytes of a merge's files, others commit, to the same table too. The merge has lost the
// race then, and its second attempt is not read for again.
func TestReadsBeforeTheSequencer(t *testing.T) {
	if !wantEider() {
		t.Skip("runs on eider only")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	endpoint := objectStorage(ctx, t)
	g := newGate(t, endpoint)
	s := privateEider(t, "--s3-endpoint", "http://"+g.host, "--s3-path-style", "--s3-access-key", s3Key, "--s3-secret-file", s3SecretFile(t), "--lake-paths", "s3://slow")
	a, b := newDuck(ctx, t), newDuck(ctx, t)
	between, err := tap.New(s.DSN("lake"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(between.Close)
	for d, dsn := range map[duck.Session]string{a: between.DSN(s.DSN("lake")), b: s.DSN("lake")} { // they reach the storage without the proxy
		makeBucket(ctx, t, d, endpoint, "slow")
		mustDuck(ctx, t, d, fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH 's3://slow/data/')", dsn))
		mustDuck(ctx, t, d, "CALL lake.set_option('data_inlining_row_limit', 0)")
	}
	mustDuck(ctx, t, a, "CREATE TABLE lake.t (i INTEGER, v INTEGER)")
	mustDuck(ctx, t, a, "CREATE TABLE lake.u (i INTEGER)")
	mustDuck(ctx, t, a, "INSERT INTO lake.t SELECT range, 0 FROM range(20)")
	mustDuck(ctx, t, a, "UPDATE lake.t SET v = 1 WHERE i < 10")
	mustDuck(ctx, t, a, "UPDATE lake.t SET v = 2 WHERE i >= 10")
	mustDuck(ctx, t, b, "CALL lake.set_option('data_inlining_row_limit', 10)") // so that B's commits have no files that the server looks at
	var batches, read atomic.Int64                                             // attempts of the merge, requests up to the last one
	between.Before(func(sql string) bool {
		if strings.Contains(sql, "ducklake_snapshot VALUES") {
			batches.Add(1)
			read.Store(g.gets.Load())
		}
		return true
	})
	unread := g.gets.Load()
	shut := &gateShut{met: make(chan struct{}, 1), open: make(chan struct{})}
	g.shut.Store(shut)
	merged := make(chan error, 1)
	go func() {
		_, err := a.Exec(ctx, "CALL ducklake_merge_adjacent_files('lake', 't')")
		merged <- err
	}()
	select {
	case <-shut.met:
	case err := <-merged:
		t.Fatalf("the merge did not wait for its files: %v", err)
	case <-ctx.Done():
		t.Fatal("nobody reads the files")
	}
	before := readMetrics(ctx, t, s)
	for range 3 {
		mustDuck(ctx, t, b, "INSERT INTO lake.u VALUES (1)")
	}
	mustDuck(ctx, t, b, "INSERT INTO lake.t VALUES (20, 3)")
	after := readMetrics(ctx, t, s)
	if n := after.Sum("eider_commit_attempts_total", `outcome="committed"`) - before.Sum("eider_commit_attempts_total", `outcome="committed"`); n != 4 {
		t.Errorf("%v commits landed beside the merge, not 4", n)
	}
	if n := after.Sum("eider_commit_turn_wait_seconds_count", `kind="commit"`) - before.Sum("eider_commit_turn_wait_seconds_count", `kind="commit"`); n != 0 {
		t.Errorf("%v of them waited", n)
	}
	select {
	case err := <-merged:
		t.Fatalf("the merge has ended before its files could be read: %v", err)
	default:
	}
	g.shut.Store(nil)
	close(shut.open)
	if err := <-merged; err != nil {
		t.Fatal(err)
	}
	if n := batches.Load(); n != 2 {
		t.Errorf("the merge took %d attempts, not 2", n)
	}
	if read.Load() == unread || g.gets.Load() != read.Load() {
		t.Errorf("%d requests for the first attempt, %d more for the second", read.Load()-unread, g.gets.Load()-read.Load())
	}
	m := readMetrics(ctx, t, s)
	if n := m.Sum("eider_hold_compactions_total", `tier="2"`, `outcome="right"`); n < 1 || n != m.Sum("eider_hold_compactions_total") {
		t.Errorf("%v verdicts of tier 2", n)
	}
	if got := mustDuck(ctx, t, b, "SELECT count(*), count(*) FILTER (rowid = i), sum(v), (SELECT count(*) FROM lake.u) FROM lake.t").Lines()[0]; got != "21 | 20 | 33 | 3" {
		t.Errorf("rows: %s", got)
	}
	if err := healthy(ctx, s, "lake"); err != nil {
		t.Error(err)
	}
}
