package tap

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Fate is what becomes of a COMMIT.
type Fate struct {
	// Instead is the statement that the server is sent; the COMMIT itself when it is empty.
	Instead string
	// Code is the SQLSTATE of the error that the client is answered with, once the server
	// has answered. When it is empty, the connection is cut in place of an answer.
	Code string
}

// Commits is a proxy that passes everything on but the answers to some COMMITs. It decides
// about those that are a message of their own.
type Commits struct {
	l      net.Listener
	target string
	decide func(batch bool) *Fate
	wg     sync.WaitGroup
}

// NewCommits starts a proxy in front of the server of a connection string, on this machine.
// It asks decide about each COMMIT, on the connection's own goroutine: batch says whether
// the connection has sent an insert of a snapshot, nil lets the COMMIT and its answer pass.
func NewCommits(dsn string, decide func(batch bool) *Fate) (*Commits, error) {
	port, ok := strings.CutPrefix(portOfDSN.FindString(dsn), "port=")
	if !ok {
		return nil, fmt.Errorf("no port in %q", dsn)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &Commits{l: l, target: "127.0.0.1:" + port, decide: decide}
	c.wg.Add(1)
	go c.accept()
	return c, nil
}

// DSN is the connection string through the proxy.
func (c *Commits) DSN(dsn string) string {
	return portOfDSN.ReplaceAllString(dsn, fmt.Sprintf("port=%d", c.l.Addr().(*net.TCPAddr).Port))
}

// Close takes no more connections and waits for the end of those there are.
func (c *Commits) Close() {
	_ = c.l.Close()
	c.wg.Wait()
}

func (c *Commits) accept() {
	defer c.wg.Done()
	for {
		client, err := c.l.Accept()
		if err != nil {
			return
		}
		c.wg.Add(1)
		go c.serve(client)
	}
}

func (c *Commits) serve(client net.Conn) {
	defer c.wg.Done()
	defer client.Close()
	server, err := net.Dial("tcp", c.target)
	if err != nil {
		return
	}
	var fate atomic.Pointer[Fate] // of the COMMIT that is being answered
	done := make(chan struct{})
	go func() {
		defer close(done)
		answers(client, server, &fate)
	}()
	c.questions(client, server, &fate)
	_ = server.Close()
	<-done
}

// answers passes on what the server says until one side ends, or a COMMIT's fate is that the connection does.
func answers(client, server net.Conn, fate *atomic.Pointer[Fate]) {
	defer client.Close()
	defer server.Close()
	buf := make([]byte, 64<<10)
	var held []byte // of an answer that is not passed on
	for {
		n, err := server.Read(buf)
		if err != nil {
			return
		}
		out := buf[:n]
		if f := fate.Load(); f != nil {
			if f.Code == "" {
				return
			}
			if held = append(held, out...); !bytes.HasSuffix(held, []byte("Z\x00\x00\x00\x05I")) { // ready for the next statement
				continue
			}
			held = nil
			fate.Store(nil)
			if out, err = (&pgproto3.ErrorResponse{Severity: "ERROR", Code: f.Code, Message: "answered by the test"}).Encode(nil); err != nil {
				return
			}
			if out, err = (&pgproto3.ReadyForQuery{TxStatus: 'I'}).Encode(out); err != nil {
				return
			}
		}
		if _, err := client.Write(out); err != nil {
			return
		}
	}
}

// questions passes on what the client says, message by message.
func (c *Commits) questions(client, server net.Conn, fate *atomic.Pointer[Fate]) {
	batch := false
	for startup := true; ; startup = false {
		head := make([]byte, 5)
		if startup {
			head = head[:4]
		}
		if _, err := io.ReadFull(client, head); err != nil {
			return
		}
		body := make([]byte, int(binary.BigEndian.Uint32(head[len(head)-4:]))-4)
		if _, err := io.ReadFull(client, body); err != nil {
			return
		}
		message := append(head, body...)
		if !startup && head[0] == 'Q' {
			batch = batch || bytes.HasPrefix(body, []byte("INSERT INTO")) && bytes.Contains(body, []byte("ducklake_snapshot"))
			if strings.EqualFold(string(bytes.Trim(body, "\x00 ;")), "COMMIT") {
				if f := c.decide(batch); f != nil {
					fate.Store(f)
					if f.Instead != "" {
						var err error
						if message, err = (&pgproto3.Query{String: f.Instead}).Encode(nil); err != nil {
							return
						}
					}
				}
			}
		}
		if _, err := server.Write(message); err != nil {
			return
		}
	}
}
