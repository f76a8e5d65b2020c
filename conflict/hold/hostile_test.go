package hold_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/eiderdb/eider/conflict/hold"
	"github.com/eiderdb/eider/lake/files"
)

// withFooter is a Parquet file of nothing but a footer.
func withFooter(foot []byte) []byte {
	b := append([]byte("PAR1"), foot...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(foot)))
	return append(b, "PAR1"...)
}

// hostile are files that would take all memory, or all stack, of who believes them.
func hostile(t testing.TB, n int) map[string][]byte {
	t.Helper()
	deep := format.FileMetaData{Version: 1}
	for range n {
		e := format.SchemaElement{Name: "x"}
		e.NumChildren.V, e.NumChildren.Valid = 1, true
		deep.Schema = append(deep.Schema, e)
	}
	deep.Schema = append(deep.Schema, format.SchemaElement{Name: "leaf"})
	var protocol thrift.CompactProtocol
	foot, err := thrift.Marshal(&protocol, &deep)
	if err != nil {
		t.Fatal(err)
	}
	many := append([]byte{0x49, 0xFC, 0xFF, 0xFF, 0xFF, 0xFF, 0x07}, make([]byte, 100)...)     // field 4: 2^31-1 row groups
	empty := append(binary.AppendUvarint([]byte{0x49, 0xFC}, uint64(n)), make([]byte, n+1)...) // n empty ones
	nested := bytes.Repeat([]byte{0xFC}, n)                                                    // structs of an unknown field
	lists := append([]byte{0xF9}, bytes.Repeat([]byte{0x19}, n)...)
	return map[string][]byte{
		"columns nest": withFooter(foot), "a list of two billion": withFooter(many), "a list of empty structs": withFooter(empty),
		"structs nest": withFooter(nested), "lists nest": withFooter(lists),
	}
}

func TestHostileFooters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	set, err := files.New(files.Config{Paths: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	v := hold.New(hold.Options{Files: set})
	for name, b := range hostile(t, 1_000_000) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if l, err := v.Layout(context.Background(), &hold.File{Path: path, Size: int64(len(b))}); !errors.Is(err, hold.ErrDamaged) {
			t.Errorf("%s: %v %v", name, l, err)
		}
	}
	// More than what is read of any file's end, or of a vector, whatever the catalog says.
	path := filepath.Join(dir, "large")
	if err := os.WriteFile(path, withFooter(make([]byte, 17<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Layout(context.Background(), &hold.File{Path: path, Footer: 17 << 20, Size: 18 << 20}); !errors.Is(err, hold.ErrBudget) {
		t.Errorf("a large footer: %v", err)
	}
	if _, err := v.DeletePositions(context.Background(), &hold.File{Path: path, Size: 1 << 30, Format: "puffin"}); !errors.Is(err, hold.ErrBudget) {
		t.Errorf("a large vector: %v", err)
	}
}

// A short vector of long runs stands for more positions than may be held.
func TestHostileVector(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pos := make([]int64, 10_000)
	for i := range pos {
		pos[i] = int64(i)
	}
	b := blob(pos, true)
	path := filepath.Join(dir, "v.puffin")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := files.New(files.Config{Paths: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int64]error{10_000 * 8 * 4: nil, 9_999 * 8 * 4: hold.ErrBudget} {
		v := hold.New(hold.Options{Files: set, MaxBytes: most})
		if _, err := v.DeletePositions(context.Background(), &hold.File{Path: path, Size: int64(len(b)), Format: "puffin"}); !errors.Is(err, want) {
			t.Errorf("at most %d bytes: %v", most, err)
		}
	}
}
