package translate_test

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/kv/store/storetest"
	"github.com/eiderdb/eider/translate"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// transcript is an Out that writes down what it gets, one line per message.
type transcript struct {
	b      strings.Builder
	sess   *translate.Session
	copyIn [][]byte // payloads for COPY FROM
	fail   string   // CopyFail with this message after the payloads
	asked  bool
}

func (o *transcript) line(format string, args ...any) error {
	fmt.Fprintf(&o.b, format+"\n", args...)
	return nil
}

func (o *transcript) RowDescription(cols []exec.Column, formats []int16) error {
	return o.line("T %s", describeColumns(cols))
}

func describeColumns(cols []exec.Column) string {
	parts := make([]string, len(cols))
	for i, c := range cols {
		parts[i] = c.Name + ":" + strconv.Itoa(int(c.Type.OID))
		if c.Type.Mod != -1 {
			parts[i] += "/" + strconv.Itoa(int(c.Type.Mod))
		}
	}
	return strings.Join(parts, " ")
}

func (o *transcript) DataRow(row exec.Row, cols []exec.Column, formats []int16) error {
	parts := make([]string, len(row))
	for i, d := range row {
		f := int16(0)
		switch {
		case len(formats) == 1:
			f = formats[0]
		case len(formats) > 1:
			f = formats[i]
		}
		switch {
		case !d.Valid:
			parts[i] = "NULL"
		case f == 1:
			parts[i] = fmt.Sprintf("%x", types.AppendBinary(nil, cols[i].Type.OID, d))
		default:
			parts[i] = string(types.AppendText(o.sess.Env(), nil, cols[i].Type, d))
		}
	}
	return o.line("D %s", strings.Join(parts, "|"))
}

func (o *transcript) CommandComplete(tag string) error { return o.line("C %s", tag) }
func (o *transcript) EmptyQuery() error                { return o.line("I") }
func (o *transcript) Suspended() error                 { return o.line("s") }
func (o *transcript) CopyDone() error                  { return o.line("c") }

func (o *transcript) Notice(e *pgerr.Error) error {
	o.problem(e)
	return nil
}

func (o *transcript) problem(e *pgerr.Error) {
	sev := e.Severity
	if sev == "" {
		sev = pgerr.SeverityError
	}
	pos := ""
	if e.Position > 0 {
		pos = fmt.Sprintf(" @%d", e.Position)
	}
	_ = o.line("%s %s: %s%s", sev, e.Code, visible(e.Message), pos)
	for _, x := range []struct{ name, text string }{{"DETAIL", e.Detail}, {"HINT", e.Hint}, {"CONTEXT", e.Where}} {
		if x.text != "" {
			_ = o.line("  %s: %s", x.name, strings.ReplaceAll(visible(x.text), "\n", "\n    "))
		}
	}
}

// visible shows the joiner that keeps retry words out of terminal errors as a middle dot.
func visible(s string) string { return strings.ReplaceAll(s, "\u2060", "·") }

func (o *transcript) ParameterStatus(name, value string) error {
	return o.line("S %s=%s", name, value)
}

func (o *transcript) CopyOut(binary bool, ncols int) error {
	return o.line("H binary=%v columns=%d", binary, ncols)
}

func (o *transcript) CopyData(b []byte) error { return o.line("d %q", b) }

func (o *transcript) CopyIn(binary bool, ncols int) (translate.CopyReader, error) {
	o.asked = true
	_ = o.line("G binary=%v columns=%d", binary, ncols)
	return &feeder{o: o}, nil
}

// feeder plays the client's part of COPY FROM STDIN.
type feeder struct {
	o    *transcript
	next int
	end  bool
}

func (f *feeder) Next() ([]byte, error) {
	if f.next < len(f.o.copyIn) {
		f.next++
		// The payload is only good until the following call: spoil the one before.
		if f.next >= 2 {
			for i := range f.o.copyIn[f.next-2] {
				f.o.copyIn[f.next-2][i] = '#'
			}
		}
		return f.o.copyIn[f.next-1], nil
	}
	f.end = true
	if f.o.fail != "" {
		return nil, pgerr.New(pgerr.QueryCanceled, "COPY from stdin failed: %s", f.o.fail)
	}
	return nil, io.EOF
}

func (f *feeder) Drain() error {
	for !f.end {
		if _, err := f.Next(); err != nil && f.end {
			break
		}
	}
	return nil
}

// world is a server's worth of sessions over one in-memory store.
type world struct {
	t        testing.TB
	store    *store.Store
	shared   *translate.Shared
	clock    func() time.Time
	sessions map[string]*translate.Session
	mu       sync.Mutex
	notified map[string][]string // guarded by mu: sessions may run side by side
	pid      int32
	limits   translate.Limits
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return worldOn(t, storetest.Open(t))
}

// worldOn is a world over a store with a catalog "lake".
func worldOn(t testing.TB, st *store.Store) *world {
	t.Helper()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w := &world{
		t: t, store: st, sessions: map[string]*translate.Session{}, notified: map[string][]string{}, pid: 100,
		clock: func() time.Time { return start },
	}
	w.shared = translate.NewShared(translate.SharedOptions{Now: start})
	t.Cleanup(func() {
		for _, s := range w.sessions {
			s.Close()
		}
	})
	return w
}

func (w *world) open(name, db string, params map[string]string) (*translate.Session, error) {
	w.pid++
	s, err := translate.NewSession(translate.Deps{
		Store: w.store, Shared: w.shared, Clock: w.clock, Version: "0.0.0", Limits: w.limits,
	}, translate.SessionOptions{
		User: "eider", Database: db, PID: w.pid, RuntimeParams: params,
		Notify: func(n translate.Notification) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.notified[name] = append(w.notified[name], fmt.Sprintf("A %s %q", n.Channel, n.Payload))
		},
	})
	if err != nil {
		return nil, err
	}
	s.Params()
	w.sessions[name] = s
	return s, nil
}

// session returns the named session, connecting it when it is new.
func (w *world) session(name string) *translate.Session {
	if s, ok := w.sessions[name]; ok {
		return s
	}
	s, err := w.open(name, "lake", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// taken returns the notifications that a session has got since the last call.
func (w *world) taken(name string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.notified[name]
	delete(w.notified, name)
	return list
}

// simple runs a Query message and writes down everything that comes back.
func (w *world) simple(name, sql string, data [][]byte, fail string) string {
	s := w.session(name)
	o := &transcript{sess: s, copyIn: data, fail: fail}
	if err := s.Simple(context.Background(), sql, o); err != nil {
		o.problem(asPG(w.t, err))
	}
	_ = o.line("Z %c", s.TxStatus())
	for _, n := range w.taken(name) {
		_ = o.line("%s", n)
	}
	return o.b.String()
}

func asPG(t testing.TB, err error) *pgerr.Error {
	e := pgerr.As(err)
	if e == nil {
		t.Fatalf("error without SQLSTATE: %v", err)
	}
	return e
}
