package server

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

func TestExtended(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	type msgs = []pgproto3.FrontendMessage
	sync := &pgproto3.Sync{}
	for _, tc := range []struct {
		name string
		send msgs
		want string
	}{
		{"unnamed statement outlives Sync", msgs{
			&pgproto3.Parse{Query: "SELECT 1"}, sync, &pgproto3.Describe{ObjectType: 'S'}, sync,
		}, "1 Z:I t T Z:I"},
		{"execute", msgs{
			&pgproto3.Parse{Query: "SELECT 1"}, &pgproto3.Bind{}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}, sync,
		}, "1 2 T D:1 C:SELECT_1 Z:I"},
		{"binary", msgs{
			&pgproto3.Parse{Query: "SELECT 1"}, &pgproto3.Bind{ResultFormatCodes: []int16{1}}, &pgproto3.Execute{}, sync,
		}, "1 2 D:\x00\x00\x00\x01 C:SELECT_1 Z:I"},
		{"no data", msgs{
			&pgproto3.Parse{Query: "NOTICE"}, &pgproto3.Bind{}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Describe{ObjectType: 'S'}, &pgproto3.Execute{}, sync,
		}, "1 2 n t n N:42P07 C:NOTICE Z:I"},
		{"suspended", msgs{
			&pgproto3.Parse{Query: "ROWS 3"}, &pgproto3.Bind{DestinationPortal: "p"}, &pgproto3.Execute{Portal: "p", MaxRows: 2},
			&pgproto3.Execute{Portal: "p", MaxRows: 2}, sync,
		}, "1 2 D:row_0 D:row_1 s D:row_2 C:SELECT_1 Z:I"},
		{"flush answers without Sync", msgs{&pgproto3.Parse{Query: "SELECT 1"}, &pgproto3.Flush{}}, "1"},
		{"an error drops everything up to Sync", msgs{
			&pgproto3.Parse{Query: "BAD"}, &pgproto3.Bind{}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{},
			&pgproto3.Query{String: "SELECT 1"}, &pgproto3.Close{ObjectType: 'S'}, &pgproto3.Flush{}, sync, &pgproto3.Query{String: "SELECT 2"},
		}, "E:42601 Z:I T D:2 C:SELECT_1 Z:I"},
		{"an error is sent without waiting for Sync", msgs{&pgproto3.Parse{Query: "BAD"}}, "E:42601"},
		{"unknown statement", msgs{&pgproto3.Bind{PreparedStatement: "x"}, sync}, "E:26000 Z:I"},
		{"unknown portal", msgs{&pgproto3.Execute{Portal: "x"}, sync}, "E:34000 Z:I"},
		{"close", msgs{
			&pgproto3.Parse{Name: "a", Query: "SELECT 1"}, &pgproto3.Close{ObjectType: 'S', Name: "a"},
			&pgproto3.Close{ObjectType: 'P', Name: "nothere"}, &pgproto3.Describe{ObjectType: 'S', Name: "a"}, sync,
		}, "1 3 3 E:26000 Z:I"},
		{"status in a block", msgs{
			&pgproto3.Query{String: "BEGIN"}, &pgproto3.Parse{Query: "FAIL"}, &pgproto3.Bind{}, &pgproto3.Execute{}, sync,
			&pgproto3.Query{String: "ROLLBACK"},
		}, "C:BEGIN Z:T 1 2 E:42P01 Z:T C:ROLLBACK Z:I"},
		{"function call", msgs{&pgproto3.FunctionCall{Function: 1}, &pgproto3.Query{String: "SELECT 1"}}, "E:0A000 Z:I T D:1 C:SELECT_1 Z:I"},
		{"copy messages where nobody copies", msgs{
			&pgproto3.CopyData{Data: []byte("x")}, &pgproto3.CopyDone{}, &pgproto3.CopyFail{}, &pgproto3.Query{String: "SELECT 1"},
		}, "T D:1 C:SELECT_1 Z:I"},
		{"terminate", msgs{&pgproto3.Terminate{}}, "EOF"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := s.connect(t)
			c.send(tc.send...)
			c.expect(tc.want)
		})
	}
}

// message is a message of the given type.
func message(typ byte, body string) []byte {
	b := append([]byte{typ}, 0, 0, 0, 0)
	binary.BigEndian.PutUint32(b[1:], uint32(4+len(body)))
	return append(b, body...)
}

// Malformed contents are an error of the session; a broken stream ends the connection,
// and only that one.
func TestMalformed(t *testing.T) {
	t.Parallel()
	s := start(t, Options{MaxMessage: 1 << 20})
	bystander := s.connect(t)
	sync := string(message('S', ""))
	for _, tc := range []struct{ name, send, want string }{
		{"query without end", string(message('Q', "SELECT 1")), "E:08P01 Z:I"},
		{"query with more after its end", string(message('Q', "SELECT 1\x00\x00")), "E:08P01 Z:I"},
		{"empty query message", string(message('Q', "")), "E:08P01 Z:I"},
		{"short parse", string(message('P', "x")) + sync, "E:08P01 Z:I"},
		{"parse of bad UTF-8", string(message('P', "\x00\xe9(\x00\x00\x00")) + sync, "E:22021 Z:I"},
		{"short bind", string(message('B', "\x00\x00\x00\x01")) + sync, "E:08P01 Z:I"},
		{"bind that lies about a length", string(message('B', "\x00\x00\x00\x00\x00\x01\x7f\xff\xff\xffx\x00\x00")) + sync, "E:08P01 Z:I"},
		{"short execute", string(message('E', "")) + sync, "E:08P01 Z:I"},
		{"describe of a third kind", string(message('D', "Xa\x00")) + sync, "E:08P01 Z:I"},
		{"empty close", string(message('C', "")) + sync, "E:08P01 Z:I"},
		{"sync with a body", string(message('S', "x")), "E:FATAL:08P01 EOF"},
		{"unknown type", string(message('y', "")), "E:FATAL:08P01 EOF"},
		{"password at the wrong time", string(message('p', "x\x00")), "E:FATAL:08P01 EOF"},
		{"length below four", "Q\x00\x00\x00\x03", "E:FATAL:08P01 EOF"},
		{"negative length", "Q\xff\xff\xff\xff", "E:FATAL:08P01 EOF"},
		{"small message too long", "D\x00\x01\x00\x00", "E:FATAL:08P01 EOF"},
		{"garbage", "\x01\x02\x03\x04\x05\x06\x07\x08", "E:FATAL:08P01 EOF"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := s.connect(t)
			c.raw([]byte(tc.send))
			c.expect(tc.want)
			if !strings.HasSuffix(tc.want, "EOF") {
				c.query("SELECT 1")
				c.expect("T D:1 C:SELECT_1 Z:I")
			}
			bystander.query("SELECT 5")
			bystander.expect("T D:5 C:SELECT_1 Z:I")
		})
	}
}

// A message over the limit is dropped and answered; the session goes on. The same holds
// for one that never comes whole: no memory is reserved for it.
func TestOversized(t *testing.T) {
	t.Parallel()
	s := start(t, Options{MaxMessage: 100_000})
	c := s.connect(t)
	big := string(message('Q', strings.Repeat("x", 300_000)+"\x00"))
	c.raw([]byte(big))
	c.expect("E:54000 Z:I")
	c.raw([]byte(big[:5] + big[5:]))
	c.expect("E:54000 Z:I")
	c.raw(message('P', strings.Repeat("x", 300_000)))
	c.raw(message('E', "\x00\x00\x00\x00\x00"))
	c.raw(message('S', ""))
	c.expect("E:54000 Z:I")
	c.query("COPYIN")
	c.expect("G")
	c.raw(message('d', strings.Repeat("x", 300_000)))
	c.send(&pgproto3.CopyDone{})
	c.expect("E:54000 Z:I")
	c.query("SELECT " + strings.Repeat("0", 90_000) + "8")
	c.expect("T D:8 C:SELECT_1 Z:I")

	whole := start(t, Options{})
	c = whole.connect(t)
	b := message('Q', "x")
	binary.BigEndian.PutUint32(b[1:], math.MaxInt32/2)
	c.raw(b)
	c.nc.Close()
}

// Messages of every size around the reader's buffers arrive whole.
func TestMessageSizes(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	c := s.connect(t)
	for _, n := range []int{
		1, idleBuffer - 20, idleBuffer, idleBuffer + 1, readBuffer - 20, readBuffer, readBuffer + 1,
		keepBody - 20, keepBody, keepBody + 10, 4*keepBody + 7, 9 * keepBody,
	} {
		c.query("SELECT " + strings.Repeat("0", n) + "3")
		c.query("SELECT 4")
		c.expect("T D:3 C:SELECT_1 Z:I T D:4 C:SELECT_1 Z:I")
	}
}
