package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// result is what a command line did.
type result struct {
	code     int
	out, err string
}

// eider runs a command line to its end.
func eider(t *testing.T, stdin string, env map[string]string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(context.Background(), args, streams{strings.NewReader(stdin), &out, &errs}, lookup(env), nil)
	return result{code, out.String(), errs.String()}
}

func lookup(env map[string]string) func(string) (string, bool) {
	return func(k string) (string, bool) { v, ok := env[k]; return v, ok }
}

// want checks the exit code and parts of the output.
func (r result) want(t *testing.T, code int, parts ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d\n%s%s", r.code, code, r.out, r.err)
	}
	for _, p := range parts {
		if !strings.Contains(r.out+r.err, p) {
			t.Errorf("output has no %q:\n%s%s", p, r.out, r.err)
		}
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	eider(t, "", nil, "version").want(t, 0, "eider ", "go1.")
	eider(t, "", nil).want(t, 0, "catalog server for DuckLake", "serve", "Exit codes")
	eider(t, "", nil, "bogus").want(t, 2, `unknown command "bogus"`)
	eider(t, "", nil, "serve", "--bogus").want(t, 2, "unknown flag: --bogus", `see "eider serve --help"`)
	eider(t, "", nil, "serve", "extra").want(t, 2, "eider serve takes no arguments")
	eider(t, "", nil, "catalog", "create").want(t, 2, "takes the name of one catalog")
	eider(t, "", nil, "serve", "--listen", "0.0.0.0:0").want(t, 2, "--user-file (EIDER_USER_FILE)")
	eider(t, "", map[string]string{"EIDER_FSYNC": "maybe"}, "serve").want(t, 2, "environment variable EIDER_FSYNC")
	eider(t, "", map[string]string{"EIDER_DATA": "somewhere"}, "serve", "--engine=memory", "--print-config").
		want(t, 0, "data: somewhere # environment", "engine: memory # flag", "fsync: true # default")
	eider(t, "", nil, "catalog", "list", "--server", "x", "--data", "y").want(t, 2, "exclude each other")
	eider(t, "", nil, "catalog", "list", "--data", filepath.Join(t.TempDir(), "none")).want(t, 1, "data folder")
	eider(t, "", nil, "catalog", "list", "--server", "postgres://x@127.0.0.1:1/x").want(t, 1, "no server answers at 127.0.0.1:1", `"eider serve"`)
}

func TestUser(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "users")
	env := map[string]string{"EIDER_USER_FILE": file}
	eider(t, "", nil, "user", "list").want(t, 2, "EIDER_USER_FILE")
	eider(t, "", env, "user", "list").want(t, 1, "no such file", "eider user add")
	eider(t, "secret\n", env, "user", "add", "ann").want(t, 0, "added user ann")
	eider(t, "secret", nil, "user", "add", "bob", "--user-file", file).want(t, 0, "added user bob")
	eider(t, "other\n", env, "user", "add", "ann").want(t, 0, "changed the password of user ann")
	eider(t, "\n", env, "user", "add", "eve").want(t, 1, "the password is empty")
	eider(t, "x\n", nil, "user", "add", "eve", "--user-file", filepath.Join(file+"-none", "users")).want(t, 1, "there is no folder "+file+"-none", "make it first")
	eider(t, "x\n", env, "user", "add", "eve", "--iterations", "1").want(t, 2, "at least 4096")
	if r := eider(t, "", env, "user", "list"); r.out != "ann\nbob\n" {
		t.Errorf("users %q", r.out)
	}
	eider(t, "", env, "user", "remove", "ann").want(t, 0, "removed user ann")
	eider(t, "", env, "user", "remove", "ann").want(t, 1, "no such user")
	data, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(data), "secret") || !strings.HasPrefix(string(data), "bob:SCRAM-SHA-256$4096:") {
		t.Errorf("file %q, %v", data, err)
	}
}

// process is "eider serve" in the background.
type process struct {
	t     *testing.T
	sig   chan os.Signal
	done  chan int
	log   *logWatch
	addr  string
	admin string
}

// logWatch keeps the log and tells when the server is ready.
type logWatch struct {
	mu    sync.Mutex
	text  bytes.Buffer
	ready chan map[string]any
}

func (l *logWatch) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(p)
	var line map[string]any
	if json.Unmarshal(p, &line) == nil && line["msg"] == "ready" {
		l.ready <- line
	}
	return len(p), nil
}

func (l *logWatch) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// serve starts a server on free ports and stops it when the test ends.
func serve(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{t: t, sig: make(chan os.Signal, 2), done: make(chan int, 1), log: &logWatch{ready: make(chan map[string]any, 1)}}
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--log-format", "json"}, args...)
	go func() {
		p.done <- run(context.Background(), args, streams{strings.NewReader(""), io.Discard, p.log}, lookup(nil), p.sig)
	}()
	select {
	case line := <-p.log.ready:
		p.addr = line["listen"].([]any)[0].(string)
		p.admin = line["admin"].(string)
	case code := <-p.done:
		t.Fatalf("serve ended with %d:\n%s", code, p.log)
	case <-time.After(30 * time.Second):
		t.Fatalf("serve is not ready:\n%s", p.log)
	}
	t.Cleanup(p.stop)
	return p
}

// stop ends the server as an operator does.
func (p *process) stop() {
	p.t.Helper()
	if p.done == nil {
		return
	}
	p.sig <- syscall.SIGTERM
	select {
	case code := <-p.done:
		if code != 0 {
			p.t.Errorf("serve ended with %d:\n%s", code, p.log)
		}
	case <-time.After(60 * time.Second):
		p.t.Fatalf("serve does not end:\n%s", p.log)
	}
	p.done = nil
}

func (p *process) url(catalog string) string {
	return fmt.Sprintf("postgres://eider@%s/%s?sslmode=disable", p.addr, catalog)
}

// connect opens a connection to a catalog, for as long as the test.
func (p *process) connect(t *testing.T, catalog string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), p.url(catalog))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// The catalogs of a server, and what is left of them in its folder afterwards.
func TestServeAndCatalogs(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	p := serve(t, "--data", data)
	eider(t, "", nil, "catalog", "list", "--server", p.url("postgres")).want(t, 0, "lake\npostgres\n")
	env := map[string]string{"EIDER_SERVER": p.url("postgres")}
	eider(t, "", env, "catalog", "create", `odd "name"`).want(t, 0, "created catalog")
	eider(t, "", env, "catalog", "create", "lake").want(t, 1, `database "lake" already exists`)
	eider(t, "", env, "catalog", "drop", "nothere").want(t, 1, `database "nothere" does not exist`)
	eider(t, "", env, "catalog", "rename", `odd "name"`, "plain").want(t, 0, "renamed")
	eider(t, "", env, "catalog", "set", "plain", "migrate", "refuse").want(t, 0, "set migrate of catalog plain to refuse")
	eider(t, "", env, "catalog", "set", "plain", "migrate", "o'clock").want(t, 1, "allow, any, refuse")
	eider(t, "", env, "catalog", "set", "plain", "more", "x").want(t, 1, `"eider.more"`)
	eider(t, "", env, "catalog", "reset", "plain", "eider.migrate").want(t, 0, "reset")
	eider(t, "", nil, "catalog", "list", "--data", data).want(t, 3, "an eider server uses "+data, "leave out --data")
	eider(t, "", nil, "serve", "--listen", "127.0.0.1:0", "--admin-listen=", "--data", data).want(t, 3, "another eider server uses "+data)
	eider(t, "", nil, "serve", "--listen", p.addr, "--admin-listen=", "--engine=memory").want(t, 1, "is in use", "--listen")
	eider(t, "", nil, "serve", "--listen", "127.0.0.1:0", "--admin-listen", p.admin, "--engine=memory").want(t, 1, p.admin+" is in use", "--admin-listen")
	if code, text := get(t, "http://"+p.admin+"/readyz"); code != 200 {
		t.Errorf("readyz %d %s", code, text)
	}
	if _, text := get(t, "http://"+p.admin+"/metrics"); !strings.Contains(text, "eider_storage_disk_bytes") ||
		!strings.Contains(text, "eider_plan_cache_hits_total") {
		t.Error("metrics without storage or plan cache")
	}
	conn, err := pgx.Connect(context.Background(), p.url("nothere"))
	if err == nil {
		conn.Close(context.Background())
		t.Error("connected to a catalog that does not exist")
	} else if !strings.Contains(err.Error(), `database "nothere" does not exist (SQLSTATE 3D000)`) {
		t.Errorf("got %v", err)
	}
	p.stop()

	eider(t, "", nil, "catalog", "list", "--data", data).want(t, 0, "lake\n", "plain\n", "postgres\n")
	eider(t, "", nil, "catalog", "create", "more", "--data", data).want(t, 0, "created catalog more")
	eider(t, "", nil, "catalog", "create", "more", "--data", data).want(t, 1, `database "more" already exists`)
	eider(t, "", nil, "catalog", "set", "more", "migrate", "any", "--data", data).want(t, 0, "set migrate")
	eider(t, "", nil, "catalog", "set", "more", "migrate", "what", "--data", data).want(t, 1, "allow, any, refuse")
	eider(t, "", nil, "catalog", "reset", "nothere", "migrate", "--data", data).want(t, 1, `database "nothere" does not exist`)
	eider(t, "", nil, "catalog", "drop", "lake", "--data", data).want(t, 0, "dropped catalog lake")
	eider(t, "", nil, "catalog", "rename", "lake", "x", "--data", data).want(t, 1, `database "lake" does not exist`)
	p = serve(t, "--data", data)
	r := eider(t, "", nil, "catalog", "list", "--server", p.url("postgres"))
	if r.out != "more\nplain\npostgres\n" {
		t.Errorf("an existing store was changed: %q", r.out)
	}
}

// A start that fails says what to do.
func TestServeRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	users := filepath.Join(dir, "users")
	eider(t, "pencil\n", nil, "user", "add", "ann", "--user-file", users).want(t, 0)
	memory := []string{"serve", "--admin-listen=", "--engine=memory", "--user-file", users}
	for _, c := range []struct {
		name  string
		args  []string
		parts []string
	}{
		{"data is a file", []string{"serve", "--listen=127.0.0.1:0", "--admin-listen=", "--data", file}, []string{file, "name a folder", "--data"}},
		{"data is below a file", []string{"serve", "--listen=127.0.0.1:0", "--admin-listen=", "--data", filepath.Join(file, "x")}, []string{file, "name a folder", "--data"}},
		// 192.0.2.0/24 is kept for documentation: no machine has it.
		{"address of nobody", append(memory, "--listen=192.0.2.1:0"), []string{"no address 192.0.2.1:0", "--listen"}},
		{"socket in no folder", append(memory, "--listen=127.0.0.1:0", "--unix-socket", filepath.Join(dir, "none", "s")), []string{"unix-socket", "its folder must be there"}},
	} {
		t.Run(c.name, func(t *testing.T) { eider(t, "", nil, c.args...).want(t, 1, c.parts...) })
	}
}

// Whoever talks to a server is told what to do when there is none, or it wants a password.
func TestServerUnreachable(t *testing.T) {
	t.Parallel()
	users := filepath.Join(t.TempDir(), "users")
	eider(t, "pencil\n", nil, "user", "add", "ann", "--user-file", users).want(t, 0)
	p := serve(t, "--engine", "memory", "--user-file", users)
	for _, args := range [][]string{{"catalog", "list"}, {"gc", "status"}, {"checks", "list"}, {"snapshot", "list"}, {"fsck"}} {
		failed := 1
		if args[0] == "fsck" {
			failed = 2 // 1 is for what it finds
		}
		t.Run(args[0], func(t *testing.T) {
			at := func(server string) result { return eider(t, "", nil, append(args, "--server", server)...) }
			at("postgres://ann@127.0.0.1:1/").want(t, failed, "no server answers at 127.0.0.1:1", `"eider serve"`, "--server")
			at("127.0.0.1:1").want(t, 2, "--server: cannot parse", "postgres://USER@HOST:PORT/")
			at("postgres://ann@"+p.addr+"/postgres").want(t, failed, `password authentication failed for user "ann"`, "PGPASSWORD")
			if r := at("postgres://ann:wrong@" + p.addr + "/postgres"); strings.Contains(r.err, "PGPASSWORD") {
				t.Errorf("a wrong password is no missing one: %s", r.err)
			}
		})
	}
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	r, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// Users, and a unix socket.
func TestServeUsers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, sock := filepath.Join(dir, "users"), filepath.Join(dir, ".s.PGSQL.5434")
	eider(t, "pencil\n", nil, "user", "add", "ann", "--user-file", file).want(t, 0)
	p := serve(t, "--engine", "memory", "--user-file", file, "--unix-socket", sock)
	for _, host := range []string{dir, "127.0.0.1"} {
		port := "5434"
		if host != dir {
			_, port, _ = strings.Cut(p.addr, ":")
		}
		for password, ok := range map[string]bool{"pencil": true, "wrong": false} {
			conn, err := pgx.Connect(context.Background(), fmt.Sprintf("host=%s port=%s user=ann password=%s dbname=lake sslmode=disable", host, port, password))
			if err == nil {
				conn.Close(context.Background())
			}
			if (err == nil) != ok {
				t.Errorf("%s, %s: %v", host, password, err)
			}
		}
	}
	// A user who is added later can log in at once.
	eider(t, "later\n", nil, "user", "add", "bob", "--user-file", file).want(t, 0)
	conn, err := pgx.Connect(context.Background(), fmt.Sprintf("postgres://bob:later@%s/lake?sslmode=disable", p.addr))
	if err != nil {
		t.Fatal(err)
	}
	conn.Close(context.Background())
}
