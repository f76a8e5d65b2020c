package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/eiderdb/eider/server/users"
)

// certificate makes a self-signed certificate for 127.0.0.1.
func certificate(t testing.TB, ed bool) tls.Certificate {
	t.Helper()
	var key any
	var pub any
	if ed {
		p, k, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		key, pub = k, p
	} else {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		key, pub = k, &k.PublicKey
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "eider"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, pub, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func serverTLS(t testing.TB) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{certificate(t, false)}, MinVersion: tls.VersionTLS12}
}

// userFile has one user, ann, whose password is "pencil".
func userFile(t testing.TB) *users.File {
	t.Helper()
	f, err := users.Create(filepath.Join(t.TempDir(), "users"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := users.NewVerifier("pencil", users.DefaultIterations, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Set("ann", v); err != nil {
		t.Fatal(err)
	}
	return f
}

// dsn connects by pgconn, so that a client of its own proves the handshakes.
func (s *testServer) pgconn(t testing.TB, dsn string) (*pgconn.PgConn, error) {
	t.Helper()
	host, port, _ := net.SplitHostPort(s.addr)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, err := pgconn.Connect(ctx, fmt.Sprintf("host=%s port=%s dbname=lake connect_timeout=10 %s", host, port, dsn))
	if err == nil {
		t.Cleanup(func() { c.Close(context.Background()) })
	}
	return c, err
}

// B35: every sslmode does what it says, with and without TLS at the server.
func TestTLSModes(t *testing.T) {
	t.Parallel()
	without := start(t, Options{})
	with := start(t, Options{TLS: serverTLS(t)})
	required := start(t, Options{TLS: serverTLS(t), RequireTLS: true})
	for _, tc := range []struct {
		server    *testServer
		name, dsn string
		encrypted bool
		refusal   string // part of the message
	}{
		{without, "without", "sslmode=disable", false, ""},
		{without, "without", "sslmode=allow", false, ""},
		{without, "without", "sslmode=prefer", false, ""},
		{without, "without", "sslmode=require", false, "refused TLS"},
		{with, "with", "sslmode=disable", false, ""},
		{with, "with", "sslmode=allow", false, ""},
		{with, "with", "sslmode=prefer", true, ""},
		{with, "with", "sslmode=require", true, ""},
		{with, "with", "sslmode=require sslnegotiation=direct", true, ""},
		{required, "required", "sslmode=disable", false, "encrypted connections only"},
		{required, "required", "sslmode=allow", true, ""},
		{required, "required", "sslmode=require", true, ""},
	} {
		t.Run(tc.name+" "+tc.dsn, func(t *testing.T) {
			t.Parallel()
			c, err := tc.server.pgconn(t, "user=eider "+tc.dsn)
			if tc.refusal != "" {
				if err == nil || !strings.Contains(err.Error(), tc.refusal) {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, isTLS := c.Conn().(*tls.Conn); isTLS != tc.encrypted {
				t.Errorf("encrypted: %v", isTLS)
			}
			res, err := c.Exec(context.Background(), "SELECT 1; ROWS 20000; COPYOUT 3; SELECT 2").ReadAll()
			if err != nil || len(res) != 4 || len(res[1].Rows) != 20000 || string(res[3].Rows[0][0]) != "2" {
				t.Errorf("%d results, %v", len(res), err)
			}
		})
	}
}

// What a client must not do around TLS.
func TestTLSMisuse(t *testing.T) {
	t.Parallel()
	s := start(t, Options{TLS: serverTLS(t)})
	hello := packet(3<<16, "user\x00eider\x00\x00")

	// Bytes that were sent in the clear before the handshake must not be taken for the
	// client's after it.
	c := s.dial(t)
	c.raw(append(packet(codeSSL, ""), hello...))
	var b [1]byte
	if _, err := c.nc.Read(b[:]); err != nil || b[0] != 'S' {
		t.Fatalf("answer %q, %v", b, err)
	}
	c.expect("E:FATAL:08P01 EOF")

	over := func(protocols []string, direct bool) (*client, error) {
		c := s.dial(t)
		if !direct {
			c.raw(packet(codeSSL, ""))
			if _, err := c.nc.Read(b[:]); err != nil || b[0] != 'S' {
				t.Fatalf("answer %q, %v", b, err)
			}
		}
		tc := tls.Client(c.nc, &tls.Config{InsecureSkipVerify: true, NextProtos: protocols})
		if err := tc.Handshake(); err != nil {
			return nil, err
		}
		return &client{t: t, nc: tc, f: pgproto3.NewFrontend(tc, tc)}, nil
	}
	if c, err := over(nil, true); err != nil {
		t.Error(err)
	} else {
		c.expect("E:FATAL:08P01 EOF")
	}
	if _, err := over([]string{"h2"}, false); err == nil {
		t.Error("a client of another protocol was served")
	}
	for _, protocols := range [][]string{nil, {alpnProtocol}} {
		c, err := over(protocols, false)
		if err != nil {
			t.Fatal(err)
		}
		c.raw(hello)
		c.expect("R S S K Z:I")
	}
	// Encryption inside of encryption, GSS or TLS, is refused.
	c, err := over(nil, false)
	if err != nil {
		t.Fatal(err)
	}
	c.raw(packet(codeSSL, ""))
	c.expect("E:FATAL:0A000 EOF")
	c, err = over([]string{alpnProtocol}, true)
	if err != nil {
		t.Fatal(err)
	}
	c.raw(packet(codeGSSENC, ""))
	c.expect("E:FATAL:0A000 EOF")
}

func TestSCRAM(t *testing.T) {
	t.Parallel()
	u := userFile(t)
	plain := start(t, Options{Users: u})
	encrypted := start(t, Options{Users: u, TLS: serverTLS(t)})
	ed := start(t, Options{Users: u, TLS: &tls.Config{Certificates: []tls.Certificate{certificate(t, true)}}})
	for _, tc := range []struct {
		server    *testServer
		name, dsn string
		code      string // SQLSTATE, "" for success
	}{
		{plain, "plain", "user=ann password=pencil sslmode=disable", ""},
		{plain, "plain", "user=ann password=wrong sslmode=disable", "28P01"},
		{plain, "plain", "user=bob password=pencil sslmode=disable", "28P01"},
		{plain, "plain", "user=ann password=pencil dbname=nothere sslmode=disable", "3D000"},
		{plain, "plain", "user=bob password=pencil dbname=nothere sslmode=disable", "28P01"},
		{encrypted, "tls", "user=ann password=pencil sslmode=require channel_binding=disable", ""},
		{encrypted, "tls", "user=ann password=pencil sslmode=require channel_binding=prefer", ""},
		{encrypted, "tls", "user=ann password=pencil sslmode=require channel_binding=require", ""},
		{encrypted, "tls", "user=ann password=wrong sslmode=require channel_binding=require", "28P01"},
		{ed, "ed25519", "user=ann password=pencil sslmode=require channel_binding=prefer", ""},
	} {
		t.Run(tc.name+" "+tc.dsn, func(t *testing.T) {
			t.Parallel()
			c, err := tc.server.pgconn(t, tc.dsn)
			if tc.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				if _, err := c.Exec(context.Background(), "SELECT 1").ReadAll(); err != nil {
					t.Error(err)
				}
				return
			}
			var pg *pgconn.PgError
			if !errors.As(err, &pg) || pg.Code != tc.code || pg.Severity != "FATAL" {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The exchange, message by message, against clients that get it wrong.
func TestSCRAMMisuse(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Users: userFile(t)})
	hello := packet(3<<16, "user\x00ann\x00\x00")
	first := func(mechanism, data string) []byte {
		m := &pgproto3.SASLInitialResponse{AuthMechanism: mechanism, Data: []byte(data)}
		b, err := m.Encode(nil)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, tc := range []struct {
		name string
		send []byte
		want string
	}{
		{"clear text", message('p', "pencil\x00"), "E:FATAL:08P01 EOF"},
		{"another message", message('Q', "SELECT 1\x00"), "E:FATAL:08P01 EOF"},
		{"unknown mechanism", first("SCRAM-SHA-1", "n,,n=,r=abc"), "E:FATAL:08P01 EOF"},
		{"binding without TLS", first(mechanismPlus, "p=tls-server-end-point,,n=,r=abc"), "E:FATAL:08P01 EOF"},
		{"binding under the wrong name", first(mechanism, "p=tls-server-end-point,,n=,r=abc"), "E:FATAL:08P01 EOF"},
		{"garbage", first(mechanism, "what"), "E:FATAL:08P01 EOF"},
		{"empty", first(mechanism, ""), "E:FATAL:08P01 EOF"},
		{"huge", []byte("p\x7f\xff\xff\xff"), "E:FATAL:08P01 EOF"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := s.dial(t)
			c.raw(hello)
			if got := c.receive(); !strings.HasPrefix(got, "*pgproto3.AuthenticationSASL") {
				t.Fatalf("got %s", got)
			}
			c.raw(tc.send)
			c.expect(tc.want)
		})
	}
	// Flag y: the client can bind, and thinks that the server cannot. Right without TLS.
	c := s.dial(t)
	c.raw(hello)
	c.receive()
	c.raw(first(mechanism, "y,,n=,r=abc"))
	if got := c.receive(); !strings.HasPrefix(got, "*pgproto3.AuthenticationSASLContinue") {
		t.Fatalf("got %s", got)
	}
	c.raw(message('p', "c=eSws,r=abcwrong,p=AAAA"))
	c.expect("E:FATAL:28P01 EOF")
}
