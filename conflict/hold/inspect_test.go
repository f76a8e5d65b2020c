package hold_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/eiderdb/eider/conflict/hold"
	"github.com/eiderdb/eider/lake/files"
)

// The files of the scenarios are what the catalog says of them, encrypted ones too.
func TestInspect(t *testing.T) {
	t.Parallel()
	plain, encrypted, inside := 0, 0, 0
	ctx := context.Background()
	for _, s := range scenarios(t) {
		v := hold.New(hold.Options{Files: s.reach(t)})
		for _, r := range s.Before.Data {
			f := &hold.File{Path: filepath.Join(s.dir, r.Path), Size: r.Size, Footer: r.Footer}
			if r.Key != nil {
				f.Key = *r.Key
			}
			in, err := v.Inspect(ctx, f)
			if err != nil {
				t.Fatalf("%s/%s: %v", s.name, r.Path, err)
			}
			if in.Size != r.Size || in.Rows != r.Records || r.Footer != 0 && in.Footer != r.Footer || in.Encrypted != (r.Key != nil) {
				t.Errorf("%s/%s: %+v, want %+v", s.name, r.Path, in, r)
			}
			if in.RowIDs {
				inside++
			} else if r.Start == nil {
				t.Errorf("%s/%s has no row-id start and no ids inside", s.name, r.Path)
			}
			if n, err := v.Length(ctx, f); n != r.Size || err != nil {
				t.Errorf("%s/%s: %d bytes, %v", s.name, r.Path, n, err)
			}
			if !in.Encrypted {
				plain++
				continue
			}
			encrypted++
			f.Key = ""
			if _, err := v.Inspect(ctx, f); !errors.Is(err, hold.ErrEncrypted) {
				t.Errorf("%s/%s without its key: %v", s.name, r.Path, err)
			}
		}
	}
	if plain == 0 || encrypted == 0 || inside == 0 || inside == plain+encrypted {
		t.Errorf("%d plain files, %d encrypted ones, %d with their rows' ids", plain, encrypted, inside)
	}
}

func TestInspectOfNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, err := files.New(files.Config{Paths: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	v := hold.New(hold.Options{Files: store})
	bad := filepath.Join(dir, "bad.parquet")
	if err := os.WriteFile(bad, []byte("PAR1 but nothing else PAR1"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		bad: hold.ErrDamaged, filepath.Join(dir, "gone"): files.ErrNotFound, "/elsewhere/f": files.ErrOutOfReach,
	} {
		if _, err := v.Inspect(context.Background(), &hold.File{Path: path}); !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := v.Length(context.Background(), &hold.File{Path: filepath.Join(dir, "gone")}); !errors.Is(err, files.ErrNotFound) {
		t.Error(err)
	}
}
