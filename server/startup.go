package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/eiderdb/eider/translate"
	"github.com/eiderdb/eider/translate/pgerr"
)

// Startup packets, by their first four bytes (PostgreSQL's pqcomm.h).
const (
	codeCancel = 80877102
	codeSSL    = 80877103
	codeGSSENC = 80877104

	// maxStartup is PostgreSQL's MAX_STARTUP_PACKET_LENGTH.
	maxStartup = 10_000
	// newestMinor is the newest protocol version 3 that is spoken.
	newestMinor = 2
	// alpnProtocol is the name of the protocol in TLS's negotiation.
	alpnProtocol = "postgresql"
	// tlsRecord is the first byte of a TLS handshake.
	tlsRecord = 0x16
)

// errDone ends a connection that has got what it came for.
var errDone = io.EOF

// startup brings the connection from its first byte to its first ReadyForQuery.
func (c *conn) startup() error {
	c.raw.SetDeadline(time.Now().Add(c.srv.opts.StartupTimeout))
	params, err := c.greet()
	if err != nil {
		return lost(err)
	}
	backend, err := c.srv.admit(c)
	if err != nil {
		return err
	}
	if err := c.negotiate(params); err != nil {
		return err
	}
	if err := c.identify(params); err != nil {
		return err
	}
	if err := c.authenticate(); err != nil {
		return lost(err)
	}
	c.mu.Lock()
	c.mu.starting = false
	if c.mu.drainUntil.IsZero() {
		c.raw.SetDeadline(time.Time{})
	}
	stop := c.mu.stop
	c.mu.Unlock()
	if stop != keepServing {
		return errStopping()
	}
	return c.open(backend, params)
}

// greet reads startup packets until one asks for a session.
func (c *conn) greet() (*pgproto3.StartupMessage, error) {
	if err := c.r.fill(1); err != nil {
		return nil, err
	}
	if c.r.buf()[c.r.r] == tlsRecord {
		if err := c.directTLS(); err != nil {
			return nil, err
		}
	}
	askedTLS, askedGSS := c.encrypted, false
	for {
		if err := c.r.fill(8); err != nil {
			return nil, err
		}
		head := c.r.buf()[c.r.r:]
		n := int64(int32(binary.BigEndian.Uint32(head)))
		code := binary.BigEndian.Uint32(head[4:])
		if n < 8 || n > maxStartup {
			return nil, protocolFatal("invalid length of startup packet")
		}
		c.r.r += 4
		packet, _, err := c.r.next(int(n) - 4)
		if err != nil {
			return nil, err
		}
		switch {
		case code == codeCancel:
			var m pgproto3.CancelRequest
			if m.Decode(packet) == nil {
				c.srv.cancel(int32(m.ProcessID), m.SecretKey)
			}
			return nil, errDone
		case code == codeSSL && !askedTLS:
			askedTLS = true
			if err := c.sslRequest(); err != nil {
				return nil, err
			}
		case code == codeGSSENC && !askedGSS && !c.encrypted:
			askedGSS = true
			if err := c.say('N'); err != nil {
				return nil, err
			}
		case code>>16 != 3:
			return nil, fatal(pgerr.FeatureNotSupported, "unsupported frontend protocol %d.%d: server supports 3.0 to 3.%d",
				code>>16, code&0xffff, newestMinor)
		default:
			return decodeStartup(packet)
		}
	}
}

// decodeStartup decodes a StartupMessage of any minor version.
func decodeStartup(packet []byte) (*pgproto3.StartupMessage, error) {
	m := &pgproto3.StartupMessage{
		ProtocolVersion: binary.BigEndian.Uint32(packet),
		Parameters:      map[string]string{},
	}
	p := packet[4:]
	next := func() (string, bool) {
		i := bytes.IndexByte(p, 0)
		if i < 0 {
			return "", false
		}
		s := string(p[:i])
		p = p[i+1:]
		return s, true
	}
	for {
		name, ok := next()
		if !ok {
			return nil, protocolFatal("invalid startup packet layout: expected terminator as last byte")
		}
		if name == "" {
			break
		}
		value, ok := next()
		if !ok {
			return nil, protocolFatal("invalid startup packet layout: expected terminator as last byte")
		}
		m.Parameters[name] = value
	}
	if len(p) != 0 {
		return nil, protocolFatal("invalid startup packet layout: expected terminator as last byte")
	}
	return m, nil
}

// say answers SSLRequest and GSSENCRequest.
func (c *conn) say(b byte) error {
	_, err := c.nc.Write([]byte{b})
	return err
}

// sslRequest answers SSLRequest.
func (c *conn) sslRequest() error {
	if c.srv.opts.TLS == nil || c.isLocal() {
		return c.say('N')
	}
	if err := c.say('S'); err != nil {
		return err
	}
	if c.r.buffered() > 0 {
		// Somebody between the client and us may have put it there.
		return protocolFatal("received unencrypted data after SSL request")
	}
	return c.handshake(c.raw, false)
}

// directTLS serves a client that starts with TLS, as sslnegotiation=direct does.
func (c *conn) directTLS() error {
	if c.srv.opts.TLS == nil || c.isLocal() {
		return protocolFatal("the server does not offer TLS")
	}
	seen := bytes.Clone(c.r.buf()[c.r.r:c.r.w])
	c.r.r = c.r.w
	return c.handshake(&replayConn{Conn: c.raw, seen: seen}, true)
}

// handshake turns the connection into an encrypted one.
func (c *conn) handshake(nc net.Conn, direct bool) error {
	t := tls.Server(nc, c.srv.opts.TLS)
	if err := t.Handshake(); err != nil {
		return errors.Join(errGone, err)
	}
	c.nc, c.encrypted = t, true
	c.r.src, c.w.dst = t, t
	if direct && t.ConnectionState().NegotiatedProtocol != alpnProtocol {
		return protocolFatal("received direct SSL connection request without ALPN protocol negotiation extension")
	}
	return nil
}

// replayConn gives bytes that have been read already to its reader again.
type replayConn struct {
	net.Conn
	seen []byte
}

func (r *replayConn) Read(p []byte) (int, error) {
	if len(r.seen) > 0 {
		n := copy(p, r.seen)
		r.seen = r.seen[n:]
		return n, nil
	}
	return r.Conn.Read(p)
}

// isLocal says whether the client came by a unix socket.
func (c *conn) isLocal() bool {
	_, ok := c.raw.(*net.UnixConn)
	return ok
}

// negotiate answers what a client asked for beyond what is known here.
func (c *conn) negotiate(m *pgproto3.StartupMessage) error {
	minor := m.ProtocolVersion & 0xffff
	c.minor = min(minor, newestMinor)
	var unknown []string
	for name := range m.Parameters {
		if strings.HasPrefix(name, "_pq_.") {
			unknown = append(unknown, name)
			delete(m.Parameters, name)
		}
	}
	if minor <= newestMinor && len(unknown) == 0 {
		return nil
	}
	// PostgreSQL sends the whole version number here, and libpq expects that.
	err := c.w.send(&pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: 3<<16 | c.minor, UnrecognizedOptions: unknown})
	if err != nil {
		return errGone
	}
	return nil
}

// identify takes user and database out of the parameters.
func (c *conn) identify(m *pgproto3.StartupMessage) error {
	c.user, c.database = m.Parameters["user"], m.Parameters["database"]
	if c.user == "" {
		return fatal(pgerr.InvalidAuthorization, "no PostgreSQL user name specified in startup packet")
	}
	if c.database == "" {
		c.database = c.user
	}
	switch strings.ToLower(m.Parameters["replication"]) {
	case "", "0", "false", "off", "no", "f", "n":
	default:
		return fatal(pgerr.FeatureNotSupported, "replication connections are not supported")
	}
	for _, name := range []string{"user", "database", "replication"} {
		delete(m.Parameters, name)
	}
	c.log = c.log.With("pid", c.pid, "remote", c.remote(), "user", c.user, "database", c.database)
	if c.srv.opts.RequireTLS && !c.encrypted && !c.isLocal() {
		return fatal(pgerr.InvalidAuthorization, "this server accepts encrypted connections only: set sslmode=require or stronger")
	}
	return nil
}

func (c *conn) remote() string {
	if a := c.raw.RemoteAddr(); a != nil && !c.isLocal() {
		return a.String()
	}
	return "local"
}

// open makes the session and says everything up to ReadyForQuery.
func (c *conn) open(backend Backend, m *pgproto3.StartupMessage) error {
	remote := ""
	if !c.isLocal() {
		remote = c.remote()
	}
	sess, err := backend.NewSession(context.Background(), translate.SessionOptions{
		User:            c.user,
		Database:        c.database,
		ApplicationName: m.Parameters["application_name"],
		RuntimeParams:   m.Parameters,
		PID:             c.pid,
		RemoteAddr:      remote,
		Notify:          c.notify,
	})
	if err != nil {
		return clientError(context.Background(), err)
	}
	c.sess = sess
	size := 4
	if c.minor >= 2 {
		size = 32
	}
	key := make([]byte, size)
	if _, err := io.ReadFull(c.srv.opts.Rand, key); err != nil {
		return err
	}
	c.srv.setKey(c, key)
	for _, p := range sess.Params() {
		if err := c.w.parameterStatus(p.Name, p.Value); err != nil {
			return errGone
		}
	}
	if err := c.w.send(&pgproto3.BackendKeyData{ProcessID: uint32(c.pid), SecretKey: key}); err != nil {
		return errGone
	}
	c.log.Debug("connected", "encrypted", c.encrypted)
	return c.ready()
}
