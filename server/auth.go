package server

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/xdg-go/scram"

	"github.com/eiderdb/eider/translate/pgerr"
)

const (
	mechanism     = "SCRAM-SHA-256"
	mechanismPlus = "SCRAM-SHA-256-PLUS"
)

// authenticate makes the client prove who it is, where the server has users.
func (c *conn) authenticate() error {
	if c.srv.opts.Users != nil {
		if err := c.scram(); err != nil {
			return err
		}
	}
	return c.w.send(&pgproto3.AuthenticationOk{})
}

// scram runs SCRAM-SHA-256. Passwords in clear text and MD5 are never asked for.
func (c *conn) scram() error {
	binding, bound := c.channelBinding()
	mechanisms := []string{mechanism}
	if bound {
		mechanisms = []string{mechanismPlus, mechanism}
	}
	if err := c.w.send(&pgproto3.AuthenticationSASL{AuthMechanisms: mechanisms}); err != nil {
		return errGone
	}
	body, err := c.password()
	if err != nil {
		return err
	}
	var first pgproto3.SASLInitialResponse
	if err := first.Decode(body); err != nil {
		return protocolFatal("invalid message format")
	}
	plus := first.AuthMechanism == mechanismPlus
	if !plus && first.AuthMechanism != mechanism || plus && !bound {
		return protocolFatal("client selected an invalid SASL authentication mechanism")
	}
	// The mechanism's name and the flag in the message must agree.
	if said := strings.HasPrefix(string(first.Data), "p="); said != plus {
		return protocolFatal("malformed SCRAM message")
	}

	verifier, known, err := c.srv.opts.Users.Lookup(c.user)
	if err != nil {
		c.log.Error("reading the user file", "error", err)
		return fatal(pgerr.InternalError, "the server cannot read its user file")
	}
	// The name in the exchange is empty by libpq's custom, the startup packet has it. An
	// unknown user goes through the whole exchange, so that nobody can ask who exists.
	engine, err := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) {
		return scram.StoredCredentials{
			KeyFactors: scram.KeyFactors{Salt: string(verifier.Salt), Iters: verifier.Iterations},
			StoredKey:  verifier.StoredKey,
			ServerKey:  verifier.ServerKey,
		}, nil
	})
	if err != nil {
		return err
	}
	nonce := make([]byte, 18)
	if _, err := io.ReadFull(c.srv.opts.Rand, nonce); err != nil {
		return err
	}
	engine.WithNonceGenerator(func() string { return base64.StdEncoding.EncodeToString(nonce) })
	conv := engine.NewConversation()
	if bound {
		conv = engine.NewConversationWithChannelBinding(binding)
	}
	challenge, err := conv.Step(string(first.Data))
	if err != nil {
		c.log.Debug("SCRAM", "error", err)
		return protocolFatal("malformed SCRAM message").WithDetail("%v", err)
	}
	if err := c.w.send(&pgproto3.AuthenticationSASLContinue{Data: []byte(challenge)}); err != nil {
		return errGone
	}
	if body, err = c.password(); err != nil {
		return err
	}
	final, err := conv.Step(string(body))
	if err != nil || !conv.Valid() || !known {
		c.log.Info("authentication failed", "known", known, "error", err)
		c.srv.metrics.authFailures.Inc()
		return fatal(pgerr.InvalidPassword, "password authentication failed for user %q", c.user)
	}
	if err := c.w.send(&pgproto3.AuthenticationSASLFinal{Data: []byte(final)}); err != nil {
		return errGone
	}
	return nil
}

// password sends what is buffered and reads a message of type 'p'.
func (c *conn) password() ([]byte, error) {
	if c.w.flush() != nil {
		return nil, errGone
	}
	typ, n, err := c.r.header()
	if err != nil {
		return nil, err
	}
	if typ != 'p' {
		return nil, protocolFatal("expected SASL response, got message type %d", typ)
	}
	// PostgreSQL's PG_MAX_SASL_MESSAGE_LENGTH is smaller yet.
	if n > maxStartup {
		return nil, protocolFatal("invalid message length")
	}
	body, _, err := c.r.next(n)
	return body, err
}

// channelBinding is tls-server-end-point of the server's certificate. Certificates whose
// signature has no single hash (Ed25519) cannot be bound to.
func (c *conn) channelBinding() (scram.ChannelBinding, bool) {
	if !c.encrypted {
		return scram.ChannelBinding{}, false
	}
	cert, err := serverCertificate(c.srv.opts.TLS)
	if err != nil {
		return scram.ChannelBinding{}, false
	}
	// The library looks for the certificate where a client finds it.
	binding, err := scram.NewTLSServerEndpointBinding(&tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}})
	if err != nil {
		return scram.ChannelBinding{}, false
	}
	return binding, true
}

// serverCertificate is the certificate that is shown to clients.
func serverCertificate(o *tls.Config) (*x509.Certificate, error) {
	if len(o.Certificates) != 1 || len(o.Certificates[0].Certificate) == 0 {
		return nil, fmt.Errorf("server: no single certificate")
	}
	if leaf := o.Certificates[0].Leaf; leaf != nil {
		return leaf, nil
	}
	return x509.ParseCertificate(o.Certificates[0].Certificate[0])
}
