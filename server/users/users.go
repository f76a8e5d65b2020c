package users

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/xdg-go/stringprep"
)

// DefaultIterations is PostgreSQL's number of PBKDF2 rounds for new verifiers.
const DefaultIterations = 4096

const (
	scheme   = "SCRAM-SHA-256"
	saltSize = 16
)

// The errors of this package.
var (
	// ErrFormat is returned for a user file with a line that is no user.
	ErrFormat = errors.New("invalid user file")
	// ErrUnknown is returned by Remove for a name that is not in the file.
	ErrUnknown = errors.New("no such user")
	// ErrName is returned for names that the file cannot hold.
	ErrName = errors.New("invalid user name")
)

// Verifier is what the server keeps of a password.
type Verifier struct {
	Iterations int
	Salt       []byte
	StoredKey  []byte
	ServerKey  []byte
}

// NewVerifier derives a verifier from a password, with a salt from random.
func NewVerifier(password string, iterations int, random io.Reader) (Verifier, error) {
	salt := make([]byte, saltSize)
	if _, err := io.ReadFull(random, salt); err != nil {
		return Verifier{}, fmt.Errorf("make a salt: %w", err)
	}
	// As PostgreSQL: a password that SASLprep does not take is used as it is.
	if p, err := stringprep.SASLprep.Prepare(password); err == nil {
		password = p
	}
	salted, err := pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	if err != nil {
		return Verifier{}, fmt.Errorf("derive a key: %w", err)
	}
	stored := sha256.Sum256(sign(salted, "Client Key"))
	return Verifier{Iterations: iterations, Salt: salt, StoredKey: stored[:], ServerKey: sign(salted, "Server Key")}, nil
}

func sign(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// String is the verifier as the file has it.
func (v Verifier) String() string {
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("%s$%d:%s$%s:%s", scheme, v.Iterations, b64(v.Salt), b64(v.StoredKey), b64(v.ServerKey))
}

// ParseVerifier reads what String writes.
func ParseVerifier(s string) (Verifier, error) {
	var v Verifier
	parts := strings.Split(s, "$")
	if len(parts) != 3 || parts[0] != scheme {
		return v, fmt.Errorf("%w: a verifier begins with %s$", ErrFormat, scheme)
	}
	rounds, salt, ok1 := strings.Cut(parts[1], ":")
	stored, server, ok2 := strings.Cut(parts[2], ":")
	n, err := strconv.Atoi(rounds)
	if !ok1 || !ok2 || err != nil || n < 1 {
		return v, fmt.Errorf("%w: malformed verifier", ErrFormat)
	}
	v.Iterations = n
	for _, f := range []struct {
		text string
		dst  *[]byte
		size int
	}{{salt, &v.Salt, 0}, {stored, &v.StoredKey, sha256.Size}, {server, &v.ServerKey, sha256.Size}} {
		b, err := base64.StdEncoding.DecodeString(f.text)
		if err != nil || len(b) == 0 || f.size != 0 && len(b) != f.size {
			return v, fmt.Errorf("%w: malformed verifier", ErrFormat)
		}
		*f.dst = b
	}
	return v, nil
}

// File is a user file. It is read again when it has changed, so that users can be added
// while the server runs. It is safe for concurrent use.
type File struct {
	path   string
	secret []byte // makes up verifiers for names that do not exist

	mu    sync.Mutex
	users map[string]Verifier
	names []string // in the file's order
	stamp stamp
}

type stamp struct {
	size int64
	mod  time.Time
}

// Open reads a user file that exists.
func Open(path string) (*File, error) {
	f, err := newFile(path)
	if err != nil {
		return nil, err
	}
	return f, f.refresh()
}

// Create is Open for a file that may not exist yet.
func Create(path string) (*File, error) {
	f, err := newFile(path)
	if err != nil {
		return nil, err
	}
	if err := f.refresh(); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return f, nil
}

func newFile(path string) (*File, error) {
	f := &File{path: path, users: map[string]Verifier{}, secret: make([]byte, sha256.Size)}
	if _, err := rand.Read(f.secret); err != nil {
		return nil, fmt.Errorf("user file: %w", err)
	}
	return f, nil
}

// refresh reads the file if it is not the one that was read last.
func (f *File) refresh() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refreshLocked()
}

// REQUIRES: f.mu.
func (f *File) refreshLocked() error {
	info, err := os.Stat(f.path)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("user file: %w; \"eider user add\" makes it", err)
	}
	if err != nil {
		return fmt.Errorf("user file: %w", err)
	}
	now := stamp{info.Size(), info.ModTime()}
	if now == f.stamp {
		return nil
	}
	data, err := os.ReadFile(f.path)
	if err != nil {
		return fmt.Errorf("user file: %w", err)
	}
	users, names, err := Parse(data)
	if err != nil {
		return fmt.Errorf("user file %s: %w", f.path, err)
	}
	f.users, f.names, f.stamp = users, names, now
	return nil
}

// Parse reads the contents of a user file. names are in its order.
func Parse(data []byte) (users map[string]Verifier, names []string, err error) {
	users = map[string]Verifier{}
	sc := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		// A name may hold colons.
		i := strings.LastIndex(line, ":"+scheme+"$")
		if i <= 0 {
			return nil, nil, fmt.Errorf("%w: line %d is not name:%s$…", ErrFormat, n, scheme)
		}
		v, err := ParseVerifier(line[i+1:])
		if err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", n, err)
		}
		name := line[:i]
		if _, twice := users[name]; twice {
			return nil, nil, fmt.Errorf("%w: line %d names %q again", ErrFormat, n, name)
		}
		users[name] = v
		names = append(names, name)
	}
	if err := sc.Err(); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return users, names, nil
}

// Lookup returns a user's verifier. For a name that is not there it returns one that no
// password satisfies and that is the same every time.
func (f *File) Lookup(name string) (v Verifier, known bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.refreshLocked(); err != nil {
		return Verifier{}, false, err
	}
	if v, ok := f.users[name]; ok {
		return v, true, nil
	}
	return Verifier{
		Iterations: DefaultIterations,
		Salt:       sign(f.secret, name)[:saltSize],
		StoredKey:  sign(f.secret, "stored "+name),
		ServerKey:  sign(f.secret, "server "+name),
	}, false, nil
}

// Names lists the users in the file's order.
func (f *File) Names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.names)
}

// Set adds a user or changes a password, and says whether the user is new.
func (f *File) Set(name string, v Verifier) (added bool, err error) {
	if name == "" || strings.TrimSpace(name) != name || name[0] == '#' || strings.ContainsAny(name, "\n\r\x00") {
		return false, fmt.Errorf("%w %q: it must not be empty, begin with #, or begin or end with a blank", ErrName, name)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_, had := f.users[name]
	line := name + ":" + v.String()
	return !had, f.rewriteLocked(name, line)
}

// Remove takes a user out.
func (f *File) Remove(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.users[name]; !ok {
		return fmt.Errorf("%w: %q", ErrUnknown, name)
	}
	return f.rewriteLocked(name, "")
}

// rewriteLocked replaces the user's line, or appends it; comments stay. The new file
// takes the old one's place in one step, and has its owner and mode: whoever could read
// it, a server above all, can read the new one.
//
// REQUIRES: f.mu.
func (f *File) rewriteLocked(name, line string) error {
	data, err := os.ReadFile(f.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("user file: %w", err)
	}
	var out []string
	done := line == ""
	for l := range strings.Lines(string(data)) {
		l = strings.TrimRight(l, "\r\n")
		if strings.HasPrefix(strings.TrimSpace(l), name+":"+scheme+"$") {
			if done {
				continue
			}
			l, done = line, true
		}
		out = append(out, l)
	}
	if !done {
		out = append(out, line)
	}
	text := strings.Join(out, "\n")
	if text != "" {
		text += "\n"
	}
	mode := os.FileMode(0o600)
	old, err := os.Stat(f.path)
	if err == nil {
		mode = old.Mode().Perm()
	}
	dir := filepath.Dir(f.path)
	tmp, err := os.CreateTemp(dir, ".users-*")
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("user file %s: there is no folder %s; make it first", f.path, dir)
	}
	if err != nil {
		return fmt.Errorf("user file: %w", err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.WriteString(text)
	if old != nil {
		err = errors.Join(err, keepOwner(tmp, old))
	}
	err = errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), f.path)
	}
	if err != nil {
		return fmt.Errorf("user file: %w", err)
	}
	return f.refreshLocked()
}
