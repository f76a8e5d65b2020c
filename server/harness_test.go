package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"go.uber.org/goleak"

	"github.com/eiderdb/eider/translate"
	"github.com/eiderdb/eider/translate/pgerr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakes is a Backend of fakeSessions that keeps them for the test.
type fakes struct {
	mu  sync.Mutex
	all []*fakeSession
}

func (f *fakes) NewSession(_ context.Context, o translate.SessionOptions) (Session, error) {
	if o.Database == "nothere" {
		return nil, fatal(pgerr.InvalidCatalogName, "database %q does not exist", o.Database)
	}
	s := newFake(o)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, s)
	return s, nil
}

func (f *fakes) last() *fakeSession {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.all[len(f.all)-1]
}

// testServer is a server on a port of its own, gone when the test ends.
type testServer struct {
	*Server
	addr  string
	fakes *fakes
}

func start(t testing.TB, o Options) *testServer {
	t.Helper()
	f := &fakes{}
	if o.Backend == nil {
		o.Backend = f
	}
	if testing.Verbose() && o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	s := New(o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		if err := <-done; !errors.Is(err, ErrServerClosed) {
			t.Errorf("Serve: %v", err)
		}
		if n := s.working.Load(); n != 0 {
			t.Errorf("%d connections are at work after the end", n)
		}
	})
	return &testServer{Server: s, addr: l.Addr().String(), fakes: f}
}

type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimRight(string(p), "\n"))
	return len(p), nil
}

// client speaks the protocol message by message.
type client struct {
	t  testing.TB
	nc net.Conn
	f  *pgproto3.Frontend
}

// dial opens a socket without a startup.
func (s *testServer) dial(t testing.TB) *client {
	t.Helper()
	nc, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	nc.SetDeadline(time.Now().Add(20 * time.Second))
	t.Cleanup(func() { nc.Close() })
	return &client{t: t, nc: nc, f: pgproto3.NewFrontend(nc, nc)}
}

// connect brings a client to its first ReadyForQuery.
func (s *testServer) connect(t testing.TB) *client {
	t.Helper()
	c := s.dial(t)
	c.send(&pgproto3.StartupMessage{ProtocolVersion: 196608, Parameters: map[string]string{"user": "eider", "database": "lake"}})
	c.expect("R S S K Z:I")
	return c
}

func (c *client) send(msgs ...pgproto3.FrontendMessage) {
	c.t.Helper()
	for _, m := range msgs {
		c.f.Send(m)
	}
	if err := c.f.Flush(); err != nil {
		c.t.Fatalf("send: %v", err)
	}
}

// raw sends bytes.
func (c *client) raw(b []byte) {
	c.t.Helper()
	if _, err := c.nc.Write(b); err != nil {
		c.t.Fatalf("send: %v", err)
	}
}

func (c *client) query(sql string) { c.t.Helper(); c.send(&pgproto3.Query{String: sql}) }

// receive reads one message and renders it: a letter and what matters of it. The end of
// the stream is "EOF".
func (c *client) receive() string {
	m, err := c.f.Receive()
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return "EOF"
		}
		return "error: " + err.Error()
	}
	switch m := m.(type) {
	case *pgproto3.AuthenticationOk:
		return "R"
	case *pgproto3.ParameterStatus:
		return "S"
	case *pgproto3.BackendKeyData:
		return "K"
	case *pgproto3.ReadyForQuery:
		return "Z:" + string(m.TxStatus)
	case *pgproto3.ErrorResponse:
		return "E:" + strings.TrimPrefix(m.Severity+":", "ERROR:") + m.Code
	case *pgproto3.NoticeResponse:
		return "N:" + m.Code
	case *pgproto3.RowDescription:
		return "T"
	case *pgproto3.DataRow:
		return "D:" + string(bytes.Join(m.Values, []byte("|")))
	case *pgproto3.CommandComplete:
		return "C:" + strings.ReplaceAll(string(m.CommandTag), " ", "_")
	case *pgproto3.EmptyQueryResponse:
		return "I"
	case *pgproto3.ParseComplete:
		return "1"
	case *pgproto3.BindComplete:
		return "2"
	case *pgproto3.CloseComplete:
		return "3"
	case *pgproto3.NoData:
		return "n"
	case *pgproto3.ParameterDescription:
		return "t"
	case *pgproto3.PortalSuspended:
		return "s"
	case *pgproto3.CopyInResponse:
		return "G"
	case *pgproto3.CopyOutResponse:
		return "H"
	case *pgproto3.CopyData:
		return fmt.Sprintf("d:%d", len(m.Data))
	case *pgproto3.CopyDone:
		return "c"
	case *pgproto3.NotificationResponse:
		return "A:" + m.Payload
	case *pgproto3.NegotiateProtocolVersion:
		return fmt.Sprintf("v:%d.%d:%s", m.NewestMinorProtocol>>16, m.NewestMinorProtocol&0xffff, strings.Join(m.UnrecognizedOptions, ","))
	}
	return fmt.Sprintf("%T", m)
}

// expect reads as many messages as want has words.
func (c *client) expect(want string) {
	c.t.Helper()
	words := strings.Fields(want)
	got := make([]string, 0, len(words))
	for range words {
		g := c.receive()
		got = append(got, strings.ReplaceAll(g, " ", "_"))
		if g == "EOF" || strings.HasPrefix(g, "error") {
			break
		}
	}
	if g := strings.Join(got, " "); g != want {
		c.t.Fatalf("got  %s\nwant %s", g, want)
	}
}
