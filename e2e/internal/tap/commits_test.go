package tap

import (
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// COMMITs have the fate that is decided for them: their own answer, an error, or none.
func TestCommits(t *testing.T) {
	const insert = "INSERT INTO s.ducklake_snapshot VALUES (1)"
	for _, tc := range []struct {
		name, sent string // a statement in front of the COMMIT
		fate       *Fate
		served     string // what the server is sent for COMMIT
		want       string // the client's answer
	}{
		{"passed", insert, nil, "COMMIT", "CZ"},
		{"without a snapshot", "SELECT 1", &Fate{Code: "40001"}, "COMMIT", "CZ"},
		{"answered", insert, &Fate{Code: "40001"}, "COMMIT", "E40001Z"},
		{"replaced", insert, &Fate{Instead: "ROLLBACK", Code: "08007"}, "ROLLBACK", "E08007Z"},
		{"cut", insert, &Fate{}, "COMMIT", "EOF"},
	} {
		for _, piece := range []int{1, 4, 1 << 10} {
			t.Run(tc.name+" by "+strconv.Itoa(piece), func(t *testing.T) {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				dsn := "host=127.0.0.1 port=" + strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
				p, err := NewCommits(dsn, func(batch bool) *Fate {
					if !batch {
						return nil
					}
					return tc.fate
				})
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				_, port, _ := strings.Cut(p.DSN(dsn), "port=")
				client, err := net.Dial("tcp", "127.0.0.1:"+port)
				if err != nil {
					t.Fatal(err)
				}
				defer client.Close()
				server, err := l.Accept()
				if err != nil {
					t.Fatal(err)
				}
				defer server.Close()
				for i, step := range []struct{ sent, served string }{{"", ""}, {tc.sent, tc.sent}, {"COMMIT", tc.served}} {
					question, answer := message('Q', step.sent+"\x00"), append(message('C', "DONE\x00"), message('Z', "I")...)
					served := message('Q', step.served+"\x00")
					if i == 0 {
						question, answer = message(0, "\x00\x03\x00\x00user\x00eider\x00\x00"), message('Z', "I")
						served = question
					}
					if _, err := client.Write(question); err != nil {
						t.Fatal(err)
					}
					got := make([]byte, len(served))
					if _, err := io.ReadFull(server, got); err != nil || string(got) != string(served) {
						t.Fatalf("the server is sent %q, %v", got, err)
					}
					for rest := answer; len(rest) > 0; {
						n := min(piece, len(rest))
						if _, err := server.Write(rest[:n]); err != nil && tc.want != "EOF" {
							t.Fatal(err)
						}
						rest = rest[n:]
					}
					want := map[int]string{0: "Z", 1: "CZ", 2: tc.want}[i]
					if got := heard(t, client); got != want {
						t.Fatalf("the client hears %s, want %s", got, want)
					}
				}
			})
		}
	}
}

// heard is what a client hears until it is ready or cut: the types of messages, and errors' codes.
func heard(t *testing.T, client net.Conn) (out string) {
	t.Helper()
	for {
		head := make([]byte, 5)
		if _, err := io.ReadFull(client, head); errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
			return "EOF"
		} else if err != nil {
			t.Fatal(err)
		}
		body := make([]byte, int(head[3])<<8+int(head[4])-4)
		if _, err := io.ReadFull(client, body); err != nil {
			t.Fatal(err)
		}
		out += string(head[:1])
		switch head[0] {
		case 'E':
			var e pgproto3.ErrorResponse
			if err := e.Decode(body); err != nil {
				t.Fatal(err)
			}
			out += e.Code
		case 'Z':
			return out
		}
	}
}
