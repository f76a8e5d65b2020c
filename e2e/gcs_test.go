package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/proc"
	"github.com/eiderdb/eider/e2e/internal/tools"
)

// emulator is an emulator of Google Cloud Storage behind a proxy that records requests.
type emulator struct {
	url string // of the proxy

	mu       sync.Mutex
	requests []string
}

// take returns the requests since the last call, as "METHOD object".
func (e *emulator) take() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer func() { e.requests = nil }()
	return e.requests
}

// google runs the emulator with a bucket. It has what maintenance needs of Google's XML interface but copies, which go through its JSON interface, and
// the status of a deletion.
func google(ctx context.Context, t *testing.T, bucket string) *emulator {
	t.Helper()
	cache, err := tools.Fetch(ctx, tools.FakeGCS)
	if err != nil {
		shared.storageless.Add(1)
		t.Skipf("no emulator of Google Cloud Storage: %v", err)
	}
	port, err := proc.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	seed := t.TempDir()
	if err := os.Mkdir(filepath.Join(seed, bucket), 0o755); err != nil {
		t.Fatal(err)
	}
	host := fmt.Sprintf("127.0.0.1:%d", port)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	e := &emulator{}
	target := &url.URL{Scheme: "http", Host: host}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(r *http.Response) error {
			if r.Request.Method == http.MethodDelete && r.StatusCode == http.StatusOK { // Google says that there is no content
				_ = r.Body.Close()
				r.StatusCode, r.Body, r.ContentLength = http.StatusNoContent, http.NoBody, 0
				r.Header.Del("Content-Length")
			}
			return nil
		},
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		e.requests = append(e.requests, r.Method+" "+r.URL.Path)
		e.mu.Unlock()
		if from := r.Header.Get("X-Amz-Copy-Source"); from != "" {
			e.copy(w, target, from, strings.TrimPrefix(r.URL.EscapedPath(), "/"))
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	e.url = front.URL
	cmd := exec.Command(filepath.Join(cache, "fake-gcs", "fake-gcs-server"), "-backend=memory", "-data="+seed, "-scheme=http", "-host=127.0.0.1", fmt.Sprintf("-port=%d", port), "-public-host="+host, "-log-level=warn")
	cmd.Stdout, cmd.Stderr = log, log
	p, err := proc.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if res, err := http.Get(target.String() + "/_internal/healthcheck"); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return e
			}
		}
		select {
		case <-p.Done():
			b, _ := os.ReadFile(log.Name())
			t.Fatalf("the emulator ended: %v\n%s", p.Err(), b)
		case <-ctx.Done():
			t.Fatal("the emulator does not answer")
		case <-tick.C:
		}
	}
}

// copy copies an object; both are "bucket/object", escaped.
func (e *emulator) copy(w http.ResponseWriter, target *url.URL, from, to string) {
	object := func(s string) string {
		bucket, name, _ := strings.Cut(strings.TrimPrefix(s, "/"), "/")
		name, _ = url.PathUnescape(name)
		return "b/" + bucket + "/o/" + url.PathEscape(name)
	}
	res, err := http.Post(target.String()+"/storage/v1/"+object(from)+"/rewriteTo/"+object(to), "application/json", strings.NewReader("{}"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		w.WriteHeader(res.StatusCode)
		return
	}
	w.Header().Set("Content-Type", "application/xml")
	_, _ = io.WriteString(w, `<CopyObjectResult><ETag>"x"</ETag><LastModified>2026-01-02T03:04:05Z</LastModified></CopyObjectResult>`)
}

// put stores an object.
func (e *emulator) put(t *testing.T, bucket, name string, content []byte) {
	t.Helper()
	res, err := http.Post(e.url+"/upload/storage/v1/b/"+bucket+"/o?uploadType=media&name="+url.QueryEscape(name), "application/octet-stream", strings.NewReader(string(content)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(res.Body)
		t.Fatalf("upload: %s %s", res.Status, b)
	}
}

// TestGoogle: the server deletes files of a lake in Google Cloud Storage at another endpoint: those that are scheduled and those that nobody names, plainly,
// through quarantine and back, and asks for each by itself, since Google takes no lists. DuckDB reads the files there; the emulator has no multipart
// uploads, so that it cannot write them.
func TestGoogle(t *testing.T) {
	if !wantEider() {
		t.Skip("runs on eider only")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	const bucket = "lake-bucket"
	e := google(ctx, t, bucket)
	s := privateEider(t, "--delete-paths", "gs://"+bucket+"/data", "--gcs-endpoint", e.url, "--gcs-access-key", s3Key, "--gcs-secret-file", s3SecretFile(t))
	d := newDuck(ctx, t)
	for _, sql := range speakS3(ctx, t, "unused:1") {
		mustDuck(ctx, t, d, sql)
	}
	mustDuck(ctx, t, d, fmt.Sprintf("CREATE SECRET (TYPE gcs, KEY_ID '%s', SECRET '%s', ENDPOINT '%s', URL_STYLE 'path', USE_SSL false)", s3Key, s3Secret, strings.TrimPrefix(e.url, "http://")))
	local := filepath.Join(t.TempDir(), "f.parquet")
	mustDuck(ctx, t, d, "COPY (SELECT range AS i FROM range(10)) TO '"+local+"'")
	content, err := os.ReadFile(local)
	if err != nil {
		t.Fatal(err)
	}
	const folder = "data/main/t/"
	names := []string{folder + "p=a%20b é/one.parquet", folder + "two.parquet", folder + "live.parquet", folder + "stray.parquet", folder + "more/stray é.parquet", "data/notes.txt", "other/stray.parquet"}
	for _, n := range names {
		e.put(t, bucket, n, content)
	}
	list := func() (out []string) {
		t.Helper()
		res, err := http.Get(e.url + "/storage/v1/b/" + bucket + "/o")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var there struct{ Items []struct{ Name string } }
		if err := json.NewDecoder(res.Body).Decode(&there); err != nil {
			t.Fatal(err)
		}
		for _, o := range there.Items {
			out = append(out, o.Name)
		}
		slices.Sort(out)
		return out
	}
	want := func(when string, gone ...string) {
		t.Helper()
		var left []string
		for _, n := range names {
			if !slices.Contains(gone, n) {
				left = append(left, n)
			}
		}
		slices.Sort(left)
		got := slices.DeleteFunc(list(), func(n string) bool { return strings.HasPrefix(n, "data/.eider-quarantine/") })
		if !slices.Equal(got, left) {
			t.Errorf("%s: %q, want %q", when, got, left)
		}
	}
	l := &holdLake{s: s, db: "lake", dsn: s.DSN("lake")}
	attach := fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH 'gs://%s/data/')", l.dsn, bucket)
	mustDuck(ctx, t, d, attach)
	for _, sql := range []string{"CREATE TABLE lake.t (i BIGINT)", "CREATE TABLE lake.u (i BIGINT)"} {
		mustDuck(ctx, t, d, sql)
	}
	for i, n := range names[:3] {
		mustDuck(ctx, t, d, fmt.Sprintf("CALL ducklake_add_data_files('lake', '%s', 'gs://%s/%s')", map[bool]string{true: "u", false: "t"}[i < 2], bucket, n))
	}
	want("registered")
	mustDuck(ctx, t, d, "DROP TABLE lake.u")
	policies := []string{"--set", "retain-count=1", "--set", "orphans=on"}
	run := func(more ...string) string {
		return l.run(ctx, t, append(append([]string{"gc", "run"}, more...), policies...)...)
	}

	// Nothing is old enough to be an orphan; a plan deletes nothing.
	run("expire", "orphans")
	want("young")
	l.run(ctx, t, "gc", "plan", "cleanup", "--set", "quarantine=off")
	want("planned")

	// Aside, and back.
	out := run("cleanup", "--set", "quarantine=on")
	want("aside\n"+out, names[0], names[1])
	l.run(ctx, t, "gc", "quarantine", "restore", "--all")
	want("back")

	// For good. A week later what came back is an orphan like what nobody has ever named.
	mustDuck(ctx, t, d, "DETACH lake")
	e.take()
	r := cleanStep(ctx, t, s, "-folders", "gs://"+bucket+"/data", "-google", "-s3-endpoint", strings.TrimPrefix(e.url, "http://"), "-s3-key", s3Key, "-s3-secret", s3Secret, "-after", "720h", "orphans")
	want(fmt.Sprintf("orphans %q", r.lines()), names[0], names[1], names[3], names[4])
	var asked []string
	for _, r := range e.take() {
		if strings.HasPrefix(r, "DELETE ") || strings.HasPrefix(r, "POST ") {
			asked = append(asked, r)
		}
	}
	if len(asked) != 4 || strings.HasPrefix(asked[3], "POST") {
		t.Errorf("deletions: %q", asked)
	}
	mustDuck(ctx, t, d, attach)
	if got := fmt.Sprint(mustDuck(ctx, t, d, "SELECT count(*), sum(i) FROM lake.t").Rows); got != "[[10 45]]" {
		t.Errorf("read %s", got)
	}
}
