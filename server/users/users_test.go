package users

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The verifier of RFC 7677's example user.
const rfc = "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="

func TestVerifier(t *testing.T) {
	t.Parallel()
	salt := []byte{0x5b, 0x6d, 0x99, 0x68, 0x9d, 0x12, 0x35, 0x8e, 0xec, 0xa0, 0x4b, 0x14, 0x12, 0x36, 0xfa, 0x81}
	v, err := NewVerifier("pencil", DefaultIterations, bytes.NewReader(salt))
	if err != nil {
		t.Fatal(err)
	}
	if v.String() != rfc {
		t.Errorf("got  %s\nwant %s", v, rfc)
	}
	back, err := ParseVerifier(v.String())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(v, back); diff != "" {
		t.Error(diff)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	users, names, err := Parse([]byte("# people\n\nann:" + rfc + "\n  b:c:" + rfc + "\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ann", "b:c"}, names); diff != "" || len(users) != 2 {
		t.Error(diff)
	}
	for _, text := range []string{
		"ann", "ann:secret", ":" + rfc, "ann:" + rfc + "\nann:" + rfc,
		"ann:" + strings.Replace(rfc, "4096", "0", 1), "ann:" + strings.Replace(rfc, "WG5d", "*", 1),
		"ann:" + strings.Replace(rfc, "WG5d8oPm", "WG5d", 1), "ann:" + rfc + "$x",
	} {
		if _, _, err := Parse([]byte(text)); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// emptyFile makes a file of no users, and a verifier to put into it.
func emptyFile(t *testing.T, path string) (*File, Verifier) {
	t.Helper()
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	v, err := ParseVerifier(rfc)
	if err != nil {
		t.Fatal(err)
	}
	return f, v
}

func TestFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "users")
	if _, err := Open(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("open of no file: %v", err)
	}
	f, v := emptyFile(t, path)
	if added, err := f.Set("ann", v); err != nil || !added {
		t.Fatalf("set: %v, %v", added, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	other, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, known, err := other.Lookup("ann"); err != nil || !known {
		t.Errorf("ann: %v, %v", known, err)
	}
	a, known, err := other.Lookup("bob")
	if err != nil || known {
		t.Errorf("bob: %v, %v", known, err)
	}
	if b, _, _ := other.Lookup("bob"); !cmp.Equal(a, b) {
		t.Error("an unknown user has another verifier the second time")
	}
	// A change by another process is seen; comments survive.
	data, _ := os.ReadFile(path)
	if err := os.WriteFile(path, append([]byte("# mine\n"), data...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Set("bob", v); err != nil {
		t.Fatal(err)
	}
	w := v
	w.Iterations = 5000
	if added, err := f.Set("ann", w); err != nil || added {
		t.Errorf("change: %v, %v", added, err)
	}
	if got, known, err := other.Lookup("ann"); err != nil || !known || got.Iterations != 5000 {
		t.Errorf("ann: %+v, %v, %v", got, known, err)
	}
	if err := f.Remove("bob"); err != nil {
		t.Error(err)
	}
	if err := f.Remove("bob"); !errors.Is(err, ErrUnknown) {
		t.Errorf("remove: %v", err)
	}
	data, _ = os.ReadFile(path)
	if want := "# mine\nann:" + w.String() + "\n"; string(data) != want {
		t.Errorf("file\n%s", data)
	}
	for _, name := range []string{"", " x", "#x", "a\nb"} {
		if _, err := f.Set(name, v); !errors.Is(err, ErrName) {
			t.Errorf("name %q: %v", name, err)
		}
	}
	if err := os.WriteFile(path, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := other.Lookup("ann"); !errors.Is(err, ErrFormat) {
		t.Errorf("broken file: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("ann:" + rfc + "\n"))
	f.Add([]byte("# x\n:\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		users, names, err := Parse(data)
		if err != nil {
			return
		}
		for _, n := range names {
			v := users[n]
			again, err := ParseVerifier(v.String())
			if err != nil || !cmp.Equal(v, again) {
				t.Fatalf("%q: %v, %v", n, again, err)
			}
		}
	})
}

// A changed file can be read by whoever could read it before.
func TestFileKeepsOwnerAndMode(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "users")
	f, v := emptyFile(t, path)
	if _, err := f.Set("ann", v); err != nil {
		t.Fatal(err)
	}
	const someone = 4711
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	root := os.Geteuid() == 0
	if root {
		if err := os.Chown(path, someone, someone+1); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Set("bob", v); err != nil {
		t.Fatal(err)
	}
	if err := f.Remove("ann"); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if after.Mode() != before.Mode() {
		t.Errorf("mode %v, was %v", after.Mode(), before.Mode())
	}
	if a, b := owner(after), owner(before); a != b || root && a != [2]uint32{someone, someone + 1} {
		t.Errorf("owner and group %v, were %v", a, b)
	}
}

func owner(info os.FileInfo) [2]uint32 {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return [2]uint32{}
	}
	return [2]uint32{s.Uid, s.Gid}
}
