package tap

import (
	"encoding/binary"
	"io"
	"net"
	"reflect"
	"strconv"
	"testing"
)

func message(kind byte, body string) []byte {
	b := []byte{}
	if kind != 0 {
		b = append(b, kind)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(4+len(body)))
	return append(b, body...)
}

// A scripted conversation, cut into pieces of every size, is passed on as it is and counted right.
func TestCounts(t *testing.T) {
	type step struct {
		client bool
		msg    []byte
	}
	query := func(sql string) step { return step{true, message('Q', sql+"\x00")} }
	answer := func(tag string) step { return step{false, message('C', tag+"\x00")} }
	fail := func(code, text string) step {
		return step{false, message('E', "SERROR\x00C"+code+"\x00M"+text+"\x00\x00")}
	}
	script := []step{
		{true, message(0, "\x00\x03\x00\x00user\x00eider\x00\x00")},
		{false, message('R', "\x00\x00\x00\x00")},
		query("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ"), answer("BEGIN"),
		query(`COPY (SELECT 1) TO STDOUT`), answer("COPY 1"),
		query(`INSERT INTO "public".ducklake_snapshot VALUES (1, NOW(), 1, 1, 1);INSERT INTO x VALUES (1)`), answer("INSERT 0 1"), answer("INSERT 0 1"),
		query("COMMIT"), answer("COMMIT"),
		query("BEGIN"), answer("BEGIN"),
		query(`INSERT INTO "my sch".ducklake_snapshot VALUES (1, NOW(), 1, 1, 1);`), fail("23505", "duplicate key"),
		query("ROLLBACK"), answer("ROLLBACK"),
		query("BEGIN"), answer("BEGIN"),
		query(`INSERT INTO s.ducklake_snapshot VALUES (2, NOW(), 1, 1, 1);`), answer("INSERT 0 1"),
		query("COMMIT"), fail("40001", "concurrent"),
		query("BEGIN"), answer("BEGIN"),
		query("INSERT INTO plain VALUES (1)"), answer("INSERT 0 1"),
		query("COMMIT"), answer("COMMIT"),
		{true, message('P', "\x00SELECT bad\x00\x00\x00")},
		fail("42703", "no column"),
	}
	want := Counts{
		Attempts: 3, Commits: 1, Most: 2, Reads: 2, Statements: 14,
		Errors: map[string]int{"23505 batch": 1, "40001 commit": 1, "42703 read": 1},
		Texts:  map[string]string{"23505 batch": "duplicate key", "40001 commit": "concurrent", "42703 read": "no column"},
	}
	for _, s := range script {
		if !s.client {
			want.Answered += len(s.msg)
		}
	}
	for _, piece := range []int{1, 3, 7, 1 << 20} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		tp, err := New("host=127.0.0.1 port=" + strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
		if err != nil {
			t.Fatal(err)
		}
		client, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(tp.Port()))
		if err != nil {
			t.Fatal(err)
		}
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range script {
			from, to := server, client
			if s.client {
				from, to = client, server
			}
			for rest := s.msg; len(rest) > 0; {
				n := min(piece, len(rest))
				if _, err := from.Write(rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			got := make([]byte, len(s.msg))
			if _, err := io.ReadFull(to, got); err != nil || string(got) != string(s.msg) {
				t.Fatalf("got %q, %v, want %q", got, err, s.msg)
			}
		}
		if got := tp.Take(); !reflect.DeepEqual(got, want) || got.ReadErrors() != 1 {
			t.Errorf("pieces of %d: got %+v, want %+v", piece, got, want)
		}
		if got := tp.Take(); got.Attempts != 0 || got.Most != 0 || len(got.Errors) != 0 {
			t.Errorf("counts are not reset: %+v", got)
		}
		_, _, _ = client.Close(), server.Close(), l.Close()
		tp.Close()
	}
}
