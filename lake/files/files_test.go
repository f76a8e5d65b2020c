//go:build unix

package files_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/eiderdb/eider/lake/files"
)

func newSet(t *testing.T, c files.Config) *files.Set {
	t.Helper()
	s, err := files.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestReach(t *testing.T) {
	t.Parallel()
	s := newSet(t, files.Config{Paths: []string{"/srv/lake", "s3://bucket/lake/", files.Local}})
	only := newSet(t, files.Config{Paths: []string{"/srv/lake"}})
	for _, tc := range []struct {
		path        string
		want, alone files.Reach
	}{
		{"/srv/lake/t/a.parquet", files.Yes, files.Yes},
		{"file:///srv/lake/a.parquet", files.Yes, files.Yes},
		{"/srv/lakes/a.parquet", files.Maybe, files.No},
		{"/srv/lake/../secret", files.No, files.No},
		{"relative/a.parquet", files.No, files.No},
		{"s3://bucket/lake/a.parquet", files.Yes, files.No},
		{"s3a://bucket/lake/a.parquet", files.Yes, files.No},
		{"s3://bucket/other/a.parquet", files.No, files.No},
		{"s3://bucket/lake/../other", files.No, files.No},
		{"https://host/a.parquet", files.No, files.No},
		{"", files.No, files.No},
	} {
		if got := s.Reach(tc.path); got != tc.want {
			t.Errorf("%s: %d", tc.path, got)
		}
		if got := only.Reach(tc.path); got != tc.alone {
			t.Errorf("%s without local: %d", tc.path, got)
		}
	}
	if _, err := files.New(files.Config{Paths: []string{"lake"}}); err == nil {
		t.Error("a relative folder is taken")
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	rel := func(p string) files.Place { return files.Place{Path: p, Relative: true} }
	abs := func(p string) files.Place { return files.Place{Path: p} }
	for _, tc := range []struct {
		data                string
		schema, table, file files.Place
		want                string
	}{
		{"s3://b/d/", rel("main/"), rel("t/"), rel("f.parquet"), "s3://b/d/main/t/f.parquet"},
		{"/d", rel("main"), rel("t"), rel("p=1/f"), "/d/main/t/p=1/f"},
		{"/d/", rel("main/"), abs("/else/t/"), rel("f"), "/else/t/f"},
		{"/d/", abs("s3://x/"), rel("t/"), rel("f"), "s3://x/t/f"},
		{"/d/", rel("main/"), rel("t/"), abs("/foreign/f"), "/foreign/f"},
	} {
		if got := files.Resolve(tc.data, tc.schema, tc.table, tc.file); got != tc.want {
			t.Errorf("%+v: %s", tc, got)
		}
	}
}

func TestDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	named := newSet(t, files.Config{Paths: []string{dir}})
	local := newSet(t, files.Config{Paths: []string{files.Local}})
	f, err := named.Open(context.Background(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 4)
	if n, err := f.ReadAt(b, 3); f.Size() != 10 || n != 4 || err != nil || string(b) != "3456" {
		t.Errorf("%d %d %v %q", f.Size(), n, err, b)
	}
	for _, tc := range []struct {
		path         string
		named, local error
	}{
		{filepath.Join(dir, "gone"), files.ErrNotFound, files.ErrOutOfReach},
		{filepath.Join(path, "below"), files.ErrNotFound, files.ErrOutOfReach},
		{pipe, files.ErrNotAFile, files.ErrNotAFile}, // and it does not wait for a writer
		{dir + "/", files.ErrNotAFile, files.ErrNotAFile},
		{"s3://b/k", files.ErrOutOfReach, files.ErrOutOfReach},
	} {
		if _, err := named.Open(context.Background(), tc.path, 0); !errors.Is(err, tc.named) {
			t.Errorf("%s: %v", tc.path, err)
		}
		if _, err := local.Open(context.Background(), tc.path, 0); !errors.Is(err, tc.local) {
			t.Errorf("%s, local: %v", tc.path, err)
		}
	}
}

// Only what the operator named can be missing.
func TestMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	lakes := filepath.Join(dir, "lake") // of DuckLake's
	if err := errors.Join(os.WriteFile(there, nil, 0o600), os.Mkdir(lakes, 0o700), os.WriteFile(filepath.Join(lakes, "ducklake-1.parquet"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	named := newSet(t, files.Config{Paths: []string{dir}})
	local := newSet(t, files.Config{Paths: []string{files.Local}})
	for _, tc := range []struct {
		path         string
		named, local bool
	}{
		{there, false, false},
		{filepath.Join(dir, "gone"), true, false},
		{filepath.Join(dir, "gone", "gone"), true, false},
		{filepath.Join(dir, "ducklake-2.parquet"), true, false},
		{filepath.Join(lakes, "ducklake-1.parquet"), false, false},
		{filepath.Join(lakes, "ducklake-2.parquet"), true, true},
		{filepath.Join(lakes, "gone"), true, false},
		{"s3://bucket/gone", false, false},
	} {
		if got := named.Missing(t.Context(), tc.path); got != tc.named {
			t.Errorf("%s: missing %v", tc.path, got)
		}
		if got := local.Missing(t.Context(), tc.path); got != tc.local {
			t.Errorf("%s, local: missing %v", tc.path, got)
		}
	}
}

// An object is opened with one request, which brings its end and tells its size; what is
// in the end costs no other.
func TestObjects(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("0123456789", 5000)
	var requests atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		switch r.URL.Path {
		case "/bucket/lake/f":
			w.Header().Set("ETag", `"e"`)
			http.ServeContent(w, r, "", time.Unix(1, 0), strings.NewReader(content))
		case "/bucket/lake/empty":
			w.Header().Set("Content-Range", "bytes */0")
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		case "/bucket/lake/whole": // knows no ranges
			w.Header().Set("ETag", `"e"`)
			w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
			_, _ = io.WriteString(w, content)
		case "/bucket/lake/locked":
			w.WriteHeader(http.StatusForbidden)
		case "/bucket/lake/moved":
			if requests.Load()%2 == 1 {
				w.Header().Set("Content-Range", "bytes 40000-49999/50000")
				w.Header().Set("ETag", `"e"`)
				w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
				w.WriteHeader(http.StatusPartialContent)
				_, _ = io.WriteString(w, content[40000:])
				return
			}
			w.WriteHeader(http.StatusPreconditionFailed)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(srv.Close)
	s := newSet(t, files.Config{Paths: []string{"s3://bucket/lake"}, S3: files.S3{
		Endpoint: strings.TrimPrefix(srv.URL, "http://"), Region: "us-east-1", Insecure: true, PathStyle: true, AccessKey: "a", SecretKey: "b",
	}})
	open := func(key string) (files.File, error) {
		requests.Store(0)
		return s.Open(context.Background(), "s3://bucket/lake/"+key, 20_000)
	}
	f, err := open("f")
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 8)
	for _, tc := range []struct {
		off      int64
		want     string
		err      error
		requests int64
	}{
		{49_992, "23456789", nil, 1},
		{30_000, "01234567", nil, 1},
		{29_999, "90123456", nil, 2},
		{49_996, "6789", io.EOF, 2},
		{50_000, "", io.EOF, 2},
	} {
		n, err := f.ReadAt(b, tc.off)
		if string(b[:n]) != tc.want || !errors.Is(err, tc.err) || requests.Load() != tc.requests {
			t.Errorf("at %d: %q %v after %d requests", tc.off, b[:n], err, requests.Load())
		}
	}
	if f.Size() != 50_000 {
		t.Error(f.Size())
	}
	if e, err := open("empty"); err != nil || e.Size() != 0 {
		t.Errorf("an empty object: %v", err)
	}
	if _, err := open("gone"); !errors.Is(err, files.ErrNotFound) {
		t.Error(err)
	}
	if _, err := open("locked"); !errors.Is(err, files.ErrDenied) {
		t.Error(err)
	}
	if _, err := open("whole"); err == nil || !strings.Contains(err.Error(), "more came") {
		t.Errorf("a server that sends the whole object: %v", err)
	}
	// An object that is written again while it is read is not read half and half.
	if f, err = open("moved"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadAt(b, 0); err == nil {
		t.Error("the parts of two objects were read as one")
	}
}
