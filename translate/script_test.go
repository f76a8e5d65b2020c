package translate_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/eiderdb/eider/translate"
)

// TestScripts runs testdata/*: each command plays messages of one session (s=name) and
// shows what comes back.
//
//	sql      a Query message; with copy data after a line "====", one CopyData per line,
//	         in Go quotes or as it is with a newline; "!message" is CopyFail
//	connect  s=name [db=name] with parameters name=value, one per line
//	ext      messages of the extended protocol, one per line: see extended
//	close    s=name
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		w := newWorld(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			name := "a"
			d.MaybeScanArgs(t, "s", &name)
			switch d.Cmd {
			case "sql":
				sql, data, fail := splitInput(t, d.Input)
				return w.simple(name, sql, data, fail)
			case "ext":
				return w.extended(name, d.Input)
			case "connect":
				db := "lake"
				d.MaybeScanArgs(t, "db", &db)
				params := map[string]string{}
				for _, l := range strings.Split(d.Input, "\n") {
					if k, v, ok := strings.Cut(l, "="); ok {
						params[k] = v
					}
				}
				s, err := w.open(name, db, params)
				if err != nil {
					return err.Error()
				}
				var b strings.Builder
				for _, p := range s.Params() {
					fmt.Fprintf(&b, "S %s=%s\n", p.Name, p.Value)
				}
				return b.String()
			case "close":
				w.session(name).Close()
				delete(w.sessions, name)
				return ""
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

func splitInput(t testing.TB, in string) (sql string, data [][]byte, fail string) {
	sql, rest, found := strings.Cut(in, "\n====")
	if s, err := strconv.Unquote(sql); err == nil && strings.HasPrefix(sql, "`") == false && strings.HasPrefix(sql, `"`) {
		sql = s
	}
	if !found {
		return sql, nil, ""
	}
	for _, l := range strings.Split(strings.TrimPrefix(rest, "\n"), "\n") {
		switch {
		case l == "" && rest == "":
		case strings.HasPrefix(l, "!"):
			fail = l[1:]
		case strings.HasPrefix(l, "hex:"):
			b, err := hex.DecodeString(strings.ReplaceAll(l[4:], " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			data = append(data, b)
		case strings.HasPrefix(l, "q:"):
			s, err := strconv.Unquote(l[2:])
			if err != nil {
				t.Fatalf("%s: %v", l, err)
			}
			data = append(data, []byte(s))
		default:
			data = append(data, []byte(l+"\n"))
		}
	}
	return sql, data, fail
}

// extended plays messages of the extended protocol, one per line:
//
//	parse <name> [oid,oid] <sql>      the unnamed statement is -
//	describe s|p <name>
//	bind <portal> <stmt> [f=0|1] [r=0|1] value…   values in hex with x:, NULL, or text
//	execute <portal> [max]
//	close s|p <name>
//	sync
//
// After an error everything up to sync is skipped, as the server does.
func (w *world) extended(name, in string) string {
	s := w.session(name)
	o := &transcript{sess: s}
	ctx := context.Background()
	skip := false
	for _, l := range strings.Split(in, "\n") {
		f := strings.Fields(l)
		if len(f) == 0 || skip && f[0] != "sync" {
			continue
		}
		if err := w.message(ctx, s, o, l, f); err != nil {
			o.problem(asPG(w.t, err))
			skip = f[0] != "sync"
		}
		if f[0] == "sync" {
			skip = false
			_ = o.line("Z %c", s.TxStatus())
		}
	}
	return o.b.String()
}

func unnamed(s string) string {
	if s == "-" {
		return ""
	}
	return s
}

func (w *world) message(ctx context.Context, s *translate.Session, o *transcript, l string, f []string) error {
	switch f[0] {
	case "parse":
		rest := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(l[len("parse"):]), f[1]))
		var oids []uint32
		if strings.HasPrefix(rest, "[") {
			list, r, _ := strings.Cut(rest[1:], "]")
			rest = strings.TrimSpace(r)
			for _, x := range strings.Split(list, ",") {
				n, err := strconv.ParseUint(x, 10, 32)
				if err != nil {
					w.t.Fatal(err)
				}
				oids = append(oids, uint32(n))
			}
		}
		if err := s.Parse(ctx, unnamed(f[1]), rest, oids); err != nil {
			return err
		}
		return o.line("1")
	case "describe":
		if f[1] == "s" {
			params, cols, err := s.DescribeStatement(ctx, unnamed(f[2]))
			if err != nil {
				return err
			}
			_ = o.line("t %v", params)
			if cols == nil {
				return o.line("n")
			}
			return o.RowDescription(cols, nil)
		}
		cols, _, err := s.DescribePortal(unnamed(f[2]))
		if err != nil {
			return err
		}
		if cols == nil {
			return o.line("n")
		}
		return o.RowDescription(cols, nil)
	case "bind":
		var pf, rf []int16
		var vals [][]byte
		for _, x := range f[3:] {
			switch {
			case strings.HasPrefix(x, "f="):
				pf = append(pf, int16(x[2]-'0'))
			case strings.HasPrefix(x, "r="):
				rf = append(rf, int16(x[2]-'0'))
			case x == "NULL":
				vals = append(vals, nil)
			case strings.HasPrefix(x, "x:"):
				b, err := hex.DecodeString(x[2:])
				if err != nil {
					w.t.Fatal(err)
				}
				vals = append(vals, b)
			default:
				vals = append(vals, []byte(x))
			}
		}
		if err := s.Bind(ctx, unnamed(f[1]), unnamed(f[2]), pf, vals, rf); err != nil {
			return err
		}
		return o.line("2")
	case "execute":
		n := 0
		if len(f) > 2 {
			n, _ = strconv.Atoi(f[2])
		}
		return s.Execute(ctx, unnamed(f[1]), n, o)
	case "close":
		if f[1] == "s" {
			_ = s.CloseStatement(unnamed(f[2]))
		} else {
			_ = s.ClosePortal(unnamed(f[2]))
		}
		return o.line("3")
	case "sync":
		return s.Sync(ctx)
	}
	w.t.Fatalf("unknown message %q", l)
	return nil
}
