package config

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// load is Load over a command line, an environment and a file's text.
func load(t *testing.T, args []string, env map[string]string, file string) (*Loaded, error) {
	t.Helper()
	set := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	flags := AddFlags(set)
	if file != "" {
		path := filepath.Join(t.TempDir(), "eider.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", path)
	}
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	return Load(flags, func(k string) (string, bool) { v, ok := env[k]; return v, ok })
}

func TestDefault(t *testing.T) {
	t.Parallel()
	got, err := load(t, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), got.Options); diff != "" {
		t.Error(diff)
	}
	if got.Listen[0] != "127.0.0.1:5434" || got.Data != "eider-data" || got.CacheSize != 256<<20 ||
		!got.Fsync || got.ShutdownTimeout != 30*time.Second || got.Catalogs[0] != "lake" {
		t.Errorf("defaults %+v", got.Options)
	}
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	file := "data: from-file\nlog-level: debug\ncache-size: 1GiB\ncatalogs: [a, b]\nfsync: false\nplan-cache: 0\n"
	env := map[string]string{"EIDER_DATA": "from-env", "EIDER_LOG_LEVEL": "warn"}
	got, err := load(t, []string{"--data=from-flag", "--listen", "127.0.0.1:1", "--listen", "[::1]:2", "--pprof"}, env, file)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Data, want.LogLevel, want.CacheSize, want.Catalogs = "from-flag", "warn", 1<<30, []string{"a", "b"}
	want.Fsync, want.PlanCache, want.Pprof = false, 0, true
	want.Listen = []string{"127.0.0.1:1", "[::1]:2"}
	if diff := cmp.Diff(want, got.Options); diff != "" {
		t.Error(diff)
	}
	for name, source := range map[string]Source{"data": FromFlag, "log-level": FromEnv, "cache-size": FromFile, "engine": FromDefault} {
		if got.Sources[name] != source {
			t.Errorf("%s is from the %s", name, got.Sources[name])
		}
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		args []string
		env  map[string]string
		file string
		want string // part of the message
		not  string // no part of it
	}{
		{name: "unknown key", file: "cach-size: 1GiB\n", want: `line 1: unknown key "cach-size", did you mean "cache-size"?`},
		{name: "like no key", file: "bogus: 3\n", want: `line 1: unknown key "bogus"`, not: "did you mean"},
		{name: "underscores", file: "data: x\nlog_level: debug\n", want: `line 2: unknown key "log_level", did you mean "log-level"?`},
		{name: "key twice", file: "data: x\ndata: y\n", want: "line 2: data is set in line 1 already"},
		{name: "no mapping", file: "- x\n", want: "line 1: expected lines of the form key: value"},
		{name: "nested", file: "listen:\n  host: x\n", want: "line 2: listen: expected a value or a list"},
		{name: "bad size", file: "cache-size: big\n", want: `line 1: cache-size: "big" is no size`},
		{name: "bad choice", args: []string{"--engine", "rocks"}, want: `flag --engine: "rocks" is none of pebble, memory`},
		{name: "bad bool", env: map[string]string{"EIDER_FSYNC": "maybe"}, want: `environment variable EIDER_FSYNC: "maybe" is no true or false`},
		{name: "bad duration", args: []string{"--shutdown-timeout", "10"}, want: "flag --shutdown-timeout"},
		{name: "negative duration", args: []string{"--shutdown-timeout", "-1s"}, want: "must not be negative"},
		{name: "open to the world", args: []string{"--listen", "0.0.0.0:5434"}, want: "--user-file (EIDER_USER_FILE)"},
		{name: "open to the world, no host", args: []string{"--listen", ":5434"}, want: "--user-file (EIDER_USER_FILE)"},
		{name: "open by name", args: []string{"--listen", "db.example.org:5434"}, want: "--user-file (EIDER_USER_FILE)"},
		{name: "no port", args: []string{"--listen", "127.0.0.1"}, want: `"127.0.0.1" is no host:port`},
		{name: "port only", args: []string{"--listen", "6000"}, want: `"6000" is no host:port, such as 127.0.0.1:5434`},
		{name: "port beyond all", args: []string{"--listen", "127.0.0.1:99999"}, want: `"127.0.0.1:99999": there is no port 99999`},
		{name: "port by name", args: []string{"--admin-listen", "127.0.0.1:no-such"}, want: `admin-listen: "127.0.0.1:no-such": there is no port no-such`},
		{name: "one port for two", args: []string{"--listen", "127.0.0.1:6000", "--admin-listen", "127.0.0.1:6000"}, want: "listen and admin-listen are both 127.0.0.1:6000"},
		{name: "certificate without key", args: []string{"--tls-cert", "x"}, want: "tls-cert and tls-key belong together"},
		{name: "TLS required without certificate", args: []string{"--require-tls"}, want: "require-tls needs tls-cert"},
		{name: "nothing to listen on", args: []string{"--listen="}, want: "nothing to listen on"},
		{name: "message limit", args: []string{"--max-message=1"}, want: "max-message must be between"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, tc.args, tc.env, tc.file)
			if err == nil || !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got  %v\nwant …%s…", err, tc.want)
			} else if tc.not != "" && strings.Contains(err.Error(), tc.not) {
				t.Errorf("got  %v\nwant nothing like %s", err, tc.not)
			}
		})
	}
	if _, err := load(t, []string{"--listen", "0.0.0.0:5434", "--user-file", "u"}, nil, ""); err != nil {
		t.Errorf("with users: %v", err)
	}
	if _, err := load(t, []string{"--config", "/nonexistent/eider.yaml"}, nil, ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

// What Print writes, Load reads as the same settings.
func TestPrint(t *testing.T) {
	t.Parallel()
	want, err := load(t, []string{"--catalogs", "a,b", "--data", "x: y # z", "--cache-size", "100MB", "--log-slow-statement", "90s"}, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := want.Print(&b); err != nil {
		t.Fatal(err)
	}
	got, err := load(t, nil, nil, b.String())
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	if diff := cmp.Diff(want.Options, got.Options); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(b.String(), "cache-size: 100000000 # flag") {
		t.Errorf("printed\n%s", b.String())
	}
}

func TestBytes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Bytes{"0": 0, "4096": 4096, "64MiB": 64 << 20, "1.5 GiB": 3 << 29, "1gb": 1e9, "2 KiB": 2048, "7B": 7} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "x", "1e30", "NaN", "1XB"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

// Every setting has its documentation.
func TestDocumented(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range Fields() {
		if f.Name == "" || len(f.Help) < 10 || !strings.HasSuffix(f.Help, ".") || seen[f.Name] {
			t.Errorf("field %+v", f)
		}
		seen[f.Name] = true
	}
}
