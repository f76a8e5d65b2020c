package node

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certificatePEM is a certificate that signs itself, and its key.
func certificatePEM(t *testing.T) (cert, key []byte) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now(), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
}

func TestLoadTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cert, key := certificatePEM(t)
	other, otherKey := certificatePEM(t)
	certFile, keyFile := put("cert.pem", cert), put("key.pem", key)
	chain := put("chain.pem", append(append([]byte(nil), cert...), other...))
	for _, tc := range []struct {
		name, cert, key string
		certificates    int    // in the chain
		fails           string // besides the names of the two files
	}{
		{"pair", certFile, keyFile, 1, ""},
		{"chain", chain, keyFile, 2, ""},
		{"no certificate file", filepath.Join(dir, "missing.pem"), keyFile, 0, "no such file"},
		{"no key file", certFile, filepath.Join(dir, "missing.key"), 0, "no such file"},
		{"key of another", certFile, put("other.key", otherKey), 0, "private key does not match public key"},
		{"exchanged", keyFile, certFile, 0, "certificate"},
		{"no PEM", put("text", []byte("certificate")), keyFile, 0, "failed to find any PEM data"},
		{"cut", put("cut.pem", cert[:len(cert)/2]), keyFile, 0, "failed to find any PEM data"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := loadTLS(tc.cert, tc.key)
			if tc.fails != "" {
				if err == nil {
					t.Fatal("it loads")
				}
				for _, want := range []string{tc.fails, "tls-cert " + tc.cert, "tls-key " + tc.key} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%v, want %q in it", err, want)
					}
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Certificates) != 1 || len(c.Certificates[0].Certificate) != tc.certificates {
				t.Errorf("the configuration has other certificates: %v", c.Certificates)
			}
			if c.MinVersion != tls.VersionTLS12 {
				t.Errorf("oldest version %x", c.MinVersion)
			}
		})
	}
}
