package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/proc"
	"github.com/eiderdb/eider/e2e/internal/tools"
)

const (
	s3Key    = "lake-user"
	s3Secret = "lake-secret-0123456789"
)

// objectStorage runs SeaweedFS with one user and a bucket, and returns its host and port. There is not a SeaweedFS for every machine: a test
// that is left out is counted and said at the end, as with PostgreSQL.
func objectStorage(ctx context.Context, t *testing.T) string {
	t.Helper()
	cache, err := tools.Fetch(ctx, tools.SeaweedFS)
	if err != nil {
		shared.storageless.Add(1)
		t.Skipf("no object storage: %v", err)
	}
	dir := t.TempDir()
	conf := filepath.Join(dir, "s3.json")
	text := fmt.Sprintf(`{"identities":[{"name":"u","credentials":[{"accessKey":%q,"secretKey":%q}],"actions":["Admin","Read","Write","List","Tagging"]}]}`, s3Key, s3Secret)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// Each part takes a port for HTTP, and one for gRPC that is 10000 higher unless it is named.
	args := []string{"server", "-dir=" + dir, "-ip=127.0.0.1", "-s3", "-s3.config=" + conf, "-master.volumeSizeLimitMB=64", "-volume.max=20", "-volume.minFreeSpace=64MiB", "-master.telemetry=false"}
	var port int
	for _, part := range []string{"master", "volume", "filer", "s3"} {
		for _, suffix := range []string{".port.grpc", ".port"} {
			if port, err = proc.FreePort(); err != nil {
				t.Fatal(err)
			}
			args = append(args, fmt.Sprintf("-%s%s=%d", part, suffix, port))
		}
	}
	log, err := os.Create(filepath.Join(dir, "weed.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(cache, "seaweedfs", "weed"), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	p, err := proc.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	endpoint := fmt.Sprintf("127.0.0.1:%d", port)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		res, err := http.Get("http://" + endpoint + "/healthz")
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return endpoint
			}
		}
		select {
		case <-p.Done():
			b, _ := os.ReadFile(log.Name())
			t.Fatalf("object storage ended: %v\n%s", p.Err(), b)
		case <-ctx.Done():
			t.Fatalf("object storage does not answer: %v", err)
		case <-tick.C:
		}
	}
}

// A lake in a bucket: the server reads footers and row ids there, stores no start for files of updates, and lets the client's merge pass.
// Where it may not read the bucket, or has no key for it, it does what can be done without.
func TestS3(t *testing.T) {
	if !wantEider() {
		t.Skip("runs on eider only")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	endpoint := objectStorage(ctx, t)
	access := []string{"--s3-endpoint", "http://" + endpoint, "--s3-path-style", "--s3-access-key", s3Key}
	for _, tc := range []struct {
		name, bucket string
		args         []string
		nulls        int    // files of updates without a start
		refused      string // what the merge is refused with
	}{
		{"within reach", "near", append([]string{"--lake-paths", "s3://near", "--s3-secret-file", s3SecretFile(t)}, access...), 2, ""},
		{"out of reach", "far", nil, 0, ""},
		{"wrong key", "locked", append([]string{"--lake-paths", "s3://locked/"}, access...), 0, "could not be verified: access is denied"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := privateEider(t, tc.args...)
			c := newDuck(ctx, t)
			makeBucket(ctx, t, c, endpoint, tc.bucket)
			run := func(sql string) error {
				_, err := c.Exec(ctx, sql)
				return err
			}
			for _, sql := range []string{
				fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH 's3://%s/data/')", s.DSN("lake"), tc.bucket),
				"CREATE TABLE lake.t (i INTEGER, v INTEGER)",
				"CALL lake.set_option('data_inlining_row_limit', 0)",
				"INSERT INTO lake.t SELECT range, 0 FROM range(20)",
				"UPDATE lake.t SET v = 1 WHERE i < 10",
				"UPDATE lake.t SET v = 2 WHERE i >= 10",
			} {
				if err := run(sql); err != nil {
					t.Fatalf("%s: %v", sql, err)
				}
			}
			res, err := c.Query(ctx, "SELECT count(*) FROM __ducklake_metadata_lake.ducklake_data_file WHERE row_id_start IS NULL")
			if err != nil || res.Rows[0][0] != fmt.Sprint(tc.nulls) {
				t.Fatalf("files without a start: %v %v, want %d", res.Rows, err, tc.nulls)
			}
			err = run("CALL ducklake_merge_adjacent_files('lake')")
			switch {
			case tc.refused == "" && err != nil:
				t.Fatal(err)
			case tc.refused != "" && (err == nil || !strings.Contains(err.Error(), tc.refused)):
				t.Fatalf("the merge: %v", err)
			}
			res, err = c.Query(ctx, "SELECT count(*), count(*) FILTER (rowid = i) FROM lake.t")
			if err != nil || strings.Join(res.Rows[0], " ") != "20 20" {
				t.Fatalf("rows, and those with their ids: %v %v", res.Rows, err)
			}
		})
	}
}

// speakS3 are the statements that make DuckDB speak to the object storage.
func speakS3(ctx context.Context, t *testing.T, endpoint string) []string {
	t.Helper()
	cache, err := tools.Fetch(ctx, tools.HTTPFS)
	if err != nil {
		t.Fatal(err)
	}
	return []string{
		"LOAD '" + filepath.Join(cache, "httpfs", "httpfs.duckdb_extension") + "'",
		fmt.Sprintf("CREATE SECRET (TYPE s3, KEY_ID '%s', SECRET '%s', ENDPOINT '%s', URL_STYLE 'path', USE_SSL false)", s3Key, s3Secret, endpoint),
	}
}

// makeBucket makes DuckDB speak to the object storage, and makes a bucket by writing to it.
func makeBucket(ctx context.Context, t *testing.T, c duck.Session, endpoint, bucket string) {
	t.Helper()
	for _, sql := range append(speakS3(ctx, t, endpoint), fmt.Sprintf("COPY (SELECT 1) TO 's3://%s/made.csv'", bucket)) {
		mustDuck(ctx, t, c, sql)
	}
}

// s3SecretFile is a file with the secret, as the server's flags take it.
func s3SecretFile(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(name, []byte(s3Secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
