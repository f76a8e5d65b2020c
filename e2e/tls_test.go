package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/server"
)

// issuer signs certificates; the zero value signs its own.
type issuer struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte // the certificate
}

// issue makes a certificate; leaf ones are for localhost and 127.0.0.1.
func (by *issuer) issue(t *testing.T, name string, authority bool) *issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		BasicConstraintsValid: true,
		IsCA:                  authority,
	}
	if authority {
		c.KeyUsage = x509.KeyUsageCertSign
	} else {
		c.KeyUsage, c.DNSNames, c.IPAddresses = x509.KeyUsageDigitalSignature, []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	parent, signer := by.cert, by.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &issuer{parsed, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

// keyPEM is the private key.
func (by *issuer) keyPEM(t *testing.T) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(by.key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func writeFile(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// addUser runs "eider user add", which also changes a password.
func addUser(ctx context.Context, t *testing.T, file, user, password string) {
	t.Helper()
	cmd := exec.CommandContext(ctx, eiderBinary(t), "user", "add", user, "--user-file", file, "--password-stdin")
	cmd.Stdin = strings.NewReader(password + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("eider user add: %v\n%s", err, out)
	}
}

// attachLake is the statement that attaches a lake of a server with more words in the connection string.
func attachLake(s *server.Server, data, words string) string {
	return fmt.Sprintf("ATTACH 'ducklake:postgres:port=%d dbname=lake %s' AS lake (DATA_PATH '%s/')", s.Port(), words, data)
}

// A server with certificate and users, as docs/configure.md sets it up: DuckDB's own libpq verifies the certificate and proves the password.
func TestTLSAndPassword(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	dir := t.TempDir()
	root := new(issuer).issue(t, "root", true)
	between := root.issue(t, "intermediate", true)
	leaf, alone := between.issue(t, "leaf", false), new(issuer).issue(t, "alone", false)
	// The chain's order is that of the file: the server's certificate first.
	chain := writeFile(t, filepath.Join(dir, "chain.pem"), append(append([]byte(nil), leaf.pem...), between.pem...))
	chainKey := writeFile(t, filepath.Join(dir, "chain.key"), leaf.keyPEM(t))
	rootPEM := writeFile(t, filepath.Join(dir, "root.pem"), root.pem)
	alonePEM := writeFile(t, filepath.Join(dir, "alone.pem"), alone.pem)
	aloneKey := writeFile(t, filepath.Join(dir, "alone.key"), alone.keyPEM(t))
	users := filepath.Join(dir, "users")
	addUser(ctx, t, users, "alice", "wonder land'")

	const password = ` password=''wonder land\''''`
	for _, c := range []struct{ name, cert, key, root, other string }{
		{"chain", chain, chainKey, rootPEM, alonePEM},
		{"self-signed", alonePEM, aloneKey, alonePEM, rootPEM},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := privateEider(t, "--tls-cert", c.cert, "--tls-key", c.key, "--user-file", users, "--require-tls")
			data := t.TempDir()
			d := newDuck(ctx, t)
			verify := " sslmode=verify-full sslrootcert=" + c.root
			for _, tc := range []struct{ name, words, fails string }{
				{"no TLS", "host=localhost user=alice sslmode=disable" + password, "this server accepts encrypted connections only: set sslmode=require or stronger"},
				{"wrong CA", "host=localhost user=alice sslmode=verify-full sslrootcert=" + c.other + password, "certificate verify failed"},
				{"other host", "host=wonderland hostaddr=127.0.0.1 user=alice" + verify + password, `does not match host name "wonderland"`},
				{"wrong password", "host=localhost user=alice password=wonder" + verify, `password authentication failed for user "alice"`},
				{"no password", "host=localhost user=alice" + verify, "password"},
				{"unknown user", "host=localhost user=bob" + verify + password, `password authentication failed for user "bob"`},
				{"by name", "host=localhost user=alice" + verify + password, ""},
				{"by address", "host=127.0.0.1 user=alice" + verify + password, ""},
				{"bound to the channel", "host=localhost user=alice channel_binding=require" + verify + password, ""},
				{"no verification", "host=localhost user=alice sslmode=require" + password, ""},
				{"what libpq takes by itself", "host=localhost user=alice" + password, ""},
			} {
				_, err := d.Exec(ctx, attachLake(s, data, tc.words))
				switch {
				case tc.fails == "" && err != nil:
					t.Errorf("%s: %v", tc.name, err)
				case tc.fails == "":
					mustRun(ctx, t, d, "CREATE TABLE IF NOT EXISTS lake.t (i INTEGER)", "INSERT INTO lake.t VALUES (1)", "DETACH lake")
				case err == nil:
					t.Errorf("%s: it attaches", tc.name)
					mustRun(ctx, t, d, "DETACH lake")
				case !strings.Contains(err.Error(), tc.fails):
					t.Errorf("%s: %v, want %q", tc.name, err, tc.fails)
				}
			}

			// A password in the environment, for DuckDB and for the commands of eider.
			p, err := duck.OpenPython(ctx, "1.5.5", "PGPASSWORD=wonder land'")
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			mustRun(ctx, t, p, attachLake(s, data, "host=localhost user=alice"+verify))
			res, err := p.Query(ctx, "SELECT sum(i) FROM lake.t")
			if err != nil || len(res.Rows) != 1 || res.Rows[0][0] != "5" {
				t.Errorf("the sum is %v, %v", res.Rows, err)
			}
			list := func(password string) (string, error) {
				cmd := exec.CommandContext(ctx, eiderBinary(t), "catalog", "list", "--server",
					fmt.Sprintf("postgres://alice@localhost:%d/postgres?sslmode=verify-full&sslrootcert=%s", s.Port(), c.root))
				cmd.Env = append(os.Environ(), "PGPASSWORD="+password)
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			if out, err := list("wonder land'"); err != nil || !strings.Contains(out, "lake") {
				t.Errorf("eider catalog list: %v\n%s", err, out)
			}
			if out, err := list("wonder"); err == nil || !strings.Contains(out, "password authentication failed") {
				t.Errorf("eider catalog list with a wrong password: %v\n%s", err, out)
			}
		})
	}

	t.Run("changed password", func(t *testing.T) {
		s := privateEider(t, "--tls-cert", chain, "--tls-key", chainKey, "--user-file", users)
		words := func(password string) string {
			return "host=localhost user=carol sslmode=verify-full sslrootcert=" + rootPEM + " password=" + password
		}
		d, data := newDuck(ctx, t), t.TempDir()
		attach := func(password string) error {
			_, err := d.Exec(ctx, attachLake(s, data, words(password)))
			if err == nil {
				mustRun(ctx, t, d, "DETACH lake")
			}
			return err
		}
		if err := attach("one"); err == nil {
			t.Error("a user who is not there attaches")
		}
		addUser(ctx, t, users, "carol", "one")
		if err := attach("one"); err != nil {
			t.Error(err)
		}
		addUser(ctx, t, users, "carol", "two")
		if err := attach("one"); err == nil || !strings.Contains(err.Error(), "password authentication failed") {
			t.Errorf("the old password: %v", err)
		}
		if err := attach("two"); err != nil {
			t.Error(err)
		}
	})
}

// mustRun runs statements in a session.
func mustRun(ctx context.Context, t *testing.T, d duck.Session, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if _, err := d.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}
