package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/server"
	"github.com/eiderdb/eider/e2e/internal/tap"
)

// Compactions with files that the server cannot read, or not open with the key that the catalog has.

// readMetrics reads /metrics.
func readMetrics(ctx context.Context, t testing.TB, s *server.Server) server.Metrics {
	t.Helper()
	m, err := s.Metrics(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// makeSettings makes the table with the modes of checks.
const makeSettings = `CREATE SCHEMA IF NOT EXISTS eider; CREATE TABLE IF NOT EXISTS eider.settings (lake text, table_id bigint, "check" text, mode text)`

// spoiledMerge is a lake with tables t and u of two files with ids inside each, whose merges commit while the files are not as they were.
type spoiledMerge struct {
	*lakeClient
	server *server.Server
	db     string
	data   string
	merges map[string]string // what a merge of a table was answered with
}

// spoilers say what is wrong with the files of a table while the server looks at them; they return what brings them back.
var spoilers = map[string]struct {
	options string
	spoil   func(folder string) (undo func() error, err error)
}{
	"out of reach": {"", func(folder string) (func() error, error) {
		return func() error { return os.Rename(folder+".away", folder) }, os.Rename(folder, folder+".away")
	}},
	"another key": {", ENCRYPTED", func(folder string) (func() error, error) {
		list, err := filepath.Glob(filepath.Join(folder, "*.parquet"))
		if err != nil || len(list) < 3 {
			return nil, fmt.Errorf("files %v: %w", list, err)
		}
		// Each file has a key of its own, so the bytes of one do not open with another's.
		kept := make([][]byte, len(list))
		for i, name := range list {
			if kept[i], err = os.ReadFile(name); err != nil {
				return nil, err
			}
		}
		put := func(shift int) (err error) {
			for i, name := range list {
				if werr := os.WriteFile(name, kept[(i+shift)%len(list)], 0o600); err == nil {
					err = werr
				}
			}
			return err
		}
		return func() error { return put(0) }, put(1)
	}},
}

func openSpoiled(ctx context.Context, t *testing.T, s *server.Server, root, kind string) *spoiledMerge {
	t.Helper()
	m := &spoiledMerge{server: s, db: newDatabase(), merges: map[string]string{}}
	m.data = filepath.Join(root, m.db)
	if err := s.CreateDatabase(ctx, m.db); err != nil {
		t.Fatal(err)
	}
	p, err := tap.New(s.DSN(m.db))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	m.lakeClient = &lakeClient{p, newDuck(ctx, t)}
	m.must(ctx, t, "SET force_mbedtls_unsafe = 'true'", // this build of DuckDB has no OpenSSL
		fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s/'%s)", p.DSN(s.DSN(m.db)), m.data, spoilers[kind].options),
		"CALL lake.set_option('data_inlining_row_limit', 0)")
	for _, table := range []string{"lake.t", "lake.u"} {
		m.must(ctx, t, "CREATE TABLE "+table+" (i INTEGER, v INTEGER)", "INSERT INTO "+table+" SELECT range, 0 FROM range(20)",
			"UPDATE "+table+" SET v = 1 WHERE i < 10", "UPDATE "+table+" SET v = 2 WHERE i >= 10")
	}
	return m
}

// merge merges a table while its files are spoiled.
func (m *spoiledMerge) merge(ctx context.Context, t *testing.T, table, kind string) {
	t.Helper()
	folder := filepath.Join(m.data, "main", table)
	batch := false
	var undo func() error
	m.Before(func(sql string) bool {
		batch = batch || strings.Contains(sql, "ducklake_snapshot VALUES")
		if batch && strings.HasPrefix(sql, "COMMIT") && undo == nil {
			var err error
			if undo, err = spoilers[kind].spoil(folder); err != nil {
				t.Error(err)
			}
		}
		return true
	})
	_, err := m.sess.Exec(ctx, "CALL ducklake_merge_adjacent_files('lake', '"+table+"')")
	m.Before(nil)
	if undo == nil {
		t.Fatalf("the merge of %s did not commit: %v", table, err)
	}
	if err := undo(); err != nil {
		t.Fatal(err)
	}
	m.merges[table] = "lands"
	if err != nil {
		m.merges[table] = oneLine(err.Error())
	}
}

// TestHoldModes: what cannot be compared does what the mode says, for a catalog and for a table, and is never passed in silence: with the default
// --lake-paths, where nobody has promised that the server can read the files, and with the folder named. Files of the second kind are there and
// cannot be opened, which is worse than being out of reach.
func TestHoldModes(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	const (
		apart   = "row ids of a compaction of table .t. .* were not compared: the server does not read files there"
		missing = "could not be verified: there is no such file"
		locked  = "could not be verified: it is encrypted, and the catalog's key does not open it"
	)
	root := t.TempDir()
	servers := map[string]*server.Server{
		"local": privateEider(t, "--hold-cache", "0"),
		"named": privateEider(t, "--hold-cache", "0", "--lake-paths", root),
	}
	for _, tc := range []struct {
		reach, kind string
		settings    string // rows of eider.settings: lake, table, check, mode; $t is the id of t
		t, u        string // "" lands, else what the merge is refused with
		check       string // of what is found in t, or with which it is refused
		mode        string // warn, enforce, or off: nothing is found
	}{
		{"local", "out of reach", "", "", "", "unread", "warn"},
		{"local", "out of reach", "(NULL, NULL, '*', 'enforce')", "", "", "unread", "warn"},
		{"local", "out of reach", "(NULL, NULL, '*', 'warn')", "", "", "unread", "warn"},
		{"local", "out of reach", "(NULL, NULL, '*', 'off')", "", "", "unread", "off"},
		{"local", "out of reach", "(NULL, NULL, 'unread', 'enforce')", apart, "were not compared", "unread", "enforce"},
		{"local", "out of reach", "('public', $t, 'unread', 'enforce')", apart, "", "unread", "enforce"},
		{"local", "out of reach", "(NULL, NULL, 'unread', 'enforce'), ('public', $t, 'unread', 'off')", "", "were not compared", "unread", "off"},
		{"named", "out of reach", "", missing, missing, "unverified", "enforce"},
		{"named", "out of reach", "(NULL, NULL, 'unverified', 'warn')", "", "", "unverified", "warn"},
		{"named", "out of reach", "(NULL, $t, 'unverified', 'warn')", "", missing, "unverified", "warn"},
		{"named", "out of reach", "(NULL, NULL, '*', 'warn'), (NULL, $t, '*', 'off')", "", "", "unverified", "off"},
		{"local", "another key", "", locked, locked, "unverified", "enforce"},
		{"local", "another key", "(NULL, $t, '*', 'warn')", "", locked, "unverified", "warn"},
		{"named", "another key", "", locked, locked, "unverified", "enforce"},
		{"named", "another key", "(NULL, NULL, 'unverified', 'warn'), (NULL, $t, 'unverified', 'enforce')", locked, "", "unverified", "enforce"},
		{"named", "another key", "(NULL, NULL, 'unverified', 'off')", "", "", "unverified", "off"},
	} {
		t.Run(strings.NewReplacer(" ", "_", "'", "").Replace(tc.reach+" "+tc.kind+" "+tc.settings), func(t *testing.T) {
			s := servers[tc.reach]
			m := openSpoiled(ctx, t, s, root, tc.kind)
			c := connect(ctx, t, s.DSN(m.db))
			id := one(ctx, t, c, "SELECT table_id FROM ducklake_table WHERE table_name = 't'")
			if tc.settings != "" {
				mustExec(ctx, t, c, makeSettings)
				mustExec(ctx, t, c, "INSERT INTO eider.settings VALUES "+strings.ReplaceAll(tc.settings, "$t", id))
			}
			before := readMetrics(ctx, t, s)
			m.merge(ctx, t, "t", tc.kind)
			after := readMetrics(ctx, t, s)
			m.merge(ctx, t, "u", tc.kind)
			for table, want := range map[string]string{"t": tc.t, "u": tc.u} {
				got := m.merges[table]
				if want == "" && got != "lands" || want != "" && !matches(want, got) {
					t.Errorf("the merge of %s: %s; want %q", table, got, want)
				}
				files := one(ctx, t, c, "SELECT count(*) FROM ducklake_data_file d JOIN ducklake_table t USING (table_id) WHERE t.table_name = '"+table+"' AND d.end_snapshot IS NULL")
				if (files == "1") != (want == "") {
					t.Errorf("%s has %s files, its merge: %s", table, files, got)
				}
				if got := m.rows(ctx, t, "SELECT count(*), count(*) FILTER (rowid = i), sum(v) FROM lake."+table); got != "20 | 20 | 30" {
					t.Errorf("%s: %s", table, got)
				}
			}
			label := `catalog="` + m.db + `"`
			grown := func(name string, labels ...string) float64 {
				return after.Sum(name, append(labels, label)...) - before.Sum(name, append(labels, label)...)
			}
			found := 0.0
			if tc.mode != "off" {
				found = 1
			}
			if n := grown("eider_findings_total", `check="`+tc.check+`"`, `mode="`+tc.mode+`"`); n != found {
				t.Errorf("eider_findings_total of %s and %s has grown by %v", tc.check, tc.mode, n)
			}
			if n := grown("eider_findings_total"); n != found {
				t.Errorf("eider_findings_total has grown by %v", n)
			}
			outcome := map[string]string{"unread": "unread", "unverified": "wrong"}[tc.check]
			judged := 1.0
			if strings.Contains(tc.settings, "'*', 'off'") {
				judged = 0 // nobody looks
			}
			if n := grown("eider_hold_compactions_total", `outcome="`+outcome+`"`); n != judged || grown("eider_hold_compactions_total") != n {
				t.Errorf("eider_hold_compactions_total of %s has grown by %v, of all by %v", outcome, n, grown("eider_hold_compactions_total"))
			}
			rows := "0"
			if one(ctx, t, c, "SELECT count(*) FROM pg_tables WHERE schemaname = 'eider' AND tablename = 'findings'") == "1" {
				rows = one(ctx, t, c, fmt.Sprintf(`SELECT count(*) FROM eider.findings WHERE table_id = %s AND "check" = '%s' AND lake = 'public' AND snapshot_id IS NOT NULL`, id, tc.check))
			}
			if (rows == "1") != (tc.mode == "warn") {
				t.Errorf("%s rows of eider.findings, with the mode %s", rows, tc.mode)
			}
			log, err := os.ReadFile(s.LogPath())
			if err != nil {
				t.Fatal(err)
			}
			said := matches(`commit violates a check.*catalog=`+m.db+` check=`+tc.check+` mode=`+tc.mode+` `, string(log))
			if said != (tc.mode != "off") {
				t.Errorf("the log speaks of it: %v, with the mode %s", said, tc.mode)
			}
			if err := healthy(ctx, s, m.db); err != nil {
				t.Error(err)
			}
		})
	}
}

func matches(pattern, text string) bool { return regexp.MustCompile(pattern).MatchString(text) }
