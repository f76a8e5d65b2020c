package server

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// packet is a startup packet: its length, the code, the rest.
func packet(code uint32, rest string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(8+len(rest)))
	b = binary.BigEndian.AppendUint32(b, code)
	return append(b, rest...)
}

func TestStartup(t *testing.T) {
	t.Parallel()
	const (
		v30 = 3 << 16
		who = "user\x00eider\x00database\x00lake\x00"
	)
	for _, tc := range []struct {
		name string
		send []byte
		want string
	}{
		{"plain", packet(v30, who+"\x00"), "R S S K Z:I"},
		{"database defaults to the user", packet(v30, "user\x00lake\x00\x00"), "R S S K Z:I"},
		{"version 3.2", packet(v30+2, who+"\x00"), "R S S K Z:I"},
		{"version 3.1", packet(v30+1, who+"\x00"), "R S S K Z:I"},
		{"newer minor version", packet(v30+9999, who+"\x00"), "v:3.2: R S S K Z:I"},
		{"unknown protocol option", packet(v30, who+"_pq_.grease\x001\x00\x00"), "v:3.0:_pq_.grease R S S K Z:I"},
		{"version 2", packet(2<<16, who+"\x00"), "E:FATAL:0A000 EOF"},
		{"version 4", packet(4<<16, who+"\x00"), "E:FATAL:0A000 EOF"},
		{"no user", packet(v30, "database\x00lake\x00\x00"), "E:FATAL:28000 EOF"},
		{"no such database", packet(v30, "user\x00eider\x00database\x00nothere\x00\x00"), "R E:FATAL:3D000 EOF"},
		{"replication", packet(v30, who+"replication\x00database\x00\x00"), "E:FATAL:0A000 EOF"},
		{"replication off", packet(v30, who+"replication\x00false\x00\x00"), "R S S K Z:I"},
		{"no terminator", packet(v30, who), "E:FATAL:08P01 EOF"},
		{"name without value", packet(v30, who+"x\x00"), "E:FATAL:08P01 EOF"},
		{"trailing bytes", packet(v30, who+"\x00junk"), "E:FATAL:08P01 EOF"},
		{"HTTP", []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), "E:FATAL:08P01 EOF"},
		{"zero length", make([]byte, 8), "E:FATAL:08P01 EOF"},
		{"huge length", []byte("\x7f\xff\xff\xff\x00\x03\x00\x00"), "E:FATAL:08P01 EOF"},
		{"negative length", []byte("\xff\xff\xff\xff\x00\x03\x00\x00"), "E:FATAL:08P01 EOF"},
		{"TLS hello where there is no TLS", []byte("\x16\x03\x01\x00\x05hello"), "E:FATAL:08P01 EOF"},
		{"cancel request of nobody", packet(codeCancel, "\x00\x00\x00\x01\x00\x00\x00\x01"), "EOF"},
		{"malformed cancel request", packet(codeCancel, "\x00"), "EOF"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := start(t, Options{}).dial(t)
			c.raw(tc.send)
			c.expect(tc.want)
		})
	}
}

// An SSLRequest and a GSSENCRequest are answered with N, in any order, and the startup
// goes on in the clear on the same connection, also when it was sent ahead.
func TestEncryptionRefused(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	start := packet(3<<16, "user\x00eider\x00\x00")
	for _, codes := range [][]uint32{{codeSSL}, {codeGSSENC}, {codeGSSENC, codeSSL}, {codeSSL, codeGSSENC}} {
		c := s.dial(t)
		var b []byte
		for _, code := range codes {
			b = append(b, packet(code, "")...)
		}
		c.raw(append(b, start...))
		got := make([]byte, len(codes))
		if _, err := c.nc.Read(got); err != nil || strings.Trim(string(got[:1]), "N") != "" {
			t.Fatalf("answer %q, %v", got, err)
		}
		if len(codes) == 2 && got[1] == 0 {
			if _, err := c.nc.Read(got[1:]); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, bytes.Repeat([]byte("N"), len(codes))) {
			t.Fatalf("answer %q", got)
		}
		c.expect("R S S K Z:I")
	}
	c := s.dial(t)
	c.raw(append(packet(codeSSL, ""), packet(codeSSL, "")...))
	one := make([]byte, 1)
	if _, err := c.nc.Read(one); err != nil || one[0] != 'N' {
		t.Fatalf("answer %q, %v", one, err)
	}
	c.expect("E:FATAL:0A000 EOF")
}

// The runtime parameters reach the session, without what the server itself consumes.
func TestStartupParameters(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	c := s.dial(t)
	c.raw(packet(3<<16, "user\x00u\x00database\x00d\x00application_name\x00app\x00options\x00-c a=b\x00_pq_.x\x00\x00\x00"))
	c.expect("v:3.0:_pq_.x R S S K Z:I")
	o := s.fakes.last().opts
	if o.User != "u" || o.Database != "d" || o.ApplicationName != "app" || o.PID == 0 || o.RemoteAddr == "" || o.Notify == nil {
		t.Errorf("options %+v", o)
	}
	if len(o.RuntimeParams) != 2 || o.RuntimeParams["options"] != "-c a=b" {
		t.Errorf("runtime parameters %v", o.RuntimeParams)
	}
}

// A client that takes too long to say who it is loses its connection, however it
// dribbles.
func TestStartupTimeout(t *testing.T) {
	t.Parallel()
	s := start(t, Options{StartupTimeout: 50 * time.Millisecond})
	for _, begun := range []string{"", "\x00", "\x00\x00\x00\x20\x00\x03\x00\x00user\x00"} {
		c := s.dial(t)
		if begun != "" {
			c.raw([]byte(begun))
		}
		c.expect("E:FATAL:57014 EOF")
	}
}

func TestTooManyConnections(t *testing.T) {
	t.Parallel()
	s := start(t, Options{MaxConnections: 2})
	a := s.connect(t)
	s.connect(t)
	c := s.dial(t)
	c.raw(packet(3<<16, "user\x00eider\x00\x00"))
	c.expect("E:FATAL:53300 EOF")
	// The place of one that leaves can be taken.
	a.send(&pgproto3.Terminate{})
	a.expect("EOF")
	for range 200 {
		c = s.dial(t)
		c.raw(packet(3<<16, "user\x00eider\x00\x00"))
		if c.receive() == "R" {
			c.expect("S S K Z:I")
			return
		}
	}
	t.Fatal("the place was not given back")
}

func TestStartingUp(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Backend: BackendFunc(nil)})
	s.SetBackend(nil)
	if s.Ready() {
		t.Error("ready without a backend")
	}
	c := s.dial(t)
	c.raw(packet(3<<16, "user\x00eider\x00\x00"))
	c.expect("E:FATAL:57P03 EOF")
	s.SetBackend(s.fakes)
	s.connect(t)
}
