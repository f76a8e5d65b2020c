package clean

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/thanos-io/objstore"

	"github.com/eiderdb/eider/lake/paths"
)

// Every storage does the same. (S3 is tested by the end-to-end module, on a real server.)
func TestStorage(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mem := objstore.NewInMemBucket()
	for _, tc := range []struct {
		name   string
		st     Storage
		folder paths.Place
		put    func(name, content string) error
		// killed leaves what a Move leaves that is killed before it takes the object from its old place.
		killed func(from, to string) error
	}{
		{"disk", &disk{root: dir}, paths.Place{Kind: paths.Disk, Name: dir + "/"}, func(name, content string) error {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				return err
			}
			return os.WriteFile(name, []byte(content), 0o600)
		}, os.Link},
		{"objstore", objects{mem}, paths.Place{Kind: paths.Azure, Bucket: "c", Name: "lake/"}, func(name, content string) error {
			return mem.Upload(ctx, name, strings.NewReader(content))
		}, func(_, to string) error { return mem.Upload(ctx, to, strings.NewReader("content")) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			at := func(rel string) paths.Place {
				p := tc.folder
				p.Name += rel
				return p
			}
			list := func() (out []string) {
				err := tc.st.List(ctx, tc.folder, func(o Object) error {
					if o.Modified.IsZero() || o.Size != 7 && o.Size != -1 {
						t.Errorf("%+v", o)
					}
					out = append(out, strings.TrimPrefix(o.Name, tc.folder.Name))
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				slices.Sort(out)
				return out
			}
			want := func(what string, names ...string) {
				t.Helper()
				if got := list(); !slices.Equal(got, names) {
					t.Fatalf("%s: %q, want %q", what, got, names)
				}
			}
			for _, n := range []string{"a", "t/p=a%20b é/b", "t/c"} {
				if err := tc.put(at(n).Name, map[bool]string{true: "CONTENT", false: "content"}[n == "t/c"]); err != nil {
					t.Fatal(err)
				}
			}
			want("at first", "a", "t/c", "t/p=a%20b é/b")
			if o, err := tc.st.Stat(ctx, at("t/p=a%20b é/b")); err != nil || o.Size != 7 {
				t.Fatalf("%+v %v", o, err)
			}
			if _, err := tc.st.Stat(ctx, at("nothing")); !errors.Is(err, ErrNotFound) {
				t.Fatal(err)
			}
			if err := tc.st.Move(ctx, at("a"), at("t/c")); !errors.Is(err, ErrExists) {
				t.Fatal(err)
			}
			if err := tc.st.Move(ctx, at("nothing"), at("x")); !errors.Is(err, ErrNotFound) {
				t.Fatal(err)
			}
			if err := tc.st.Move(ctx, at("a"), at("new/a")); err != nil {
				t.Fatal(err)
			}
			want("moved", "new/a", "t/c", "t/p=a%20b é/b")
			if err := errors.Join(tc.put(at("half/a").Name, "content"), tc.put(at("whole/x").Name, "content")); err != nil {
				t.Fatal(err)
			}
			if err := tc.killed(at("half/a").Name, at("whole/a").Name); err != nil {
				t.Fatal(err)
			}
			if err := tc.st.Move(ctx, at("half/a"), at("whole/a")); err != nil {
				t.Fatalf("the second half of a move: %v", err)
			}
			want("moved at last", "new/a", "t/c", "t/p=a%20b é/b", "whole/a", "whole/x")
			if err := tc.st.Move(ctx, at("whole/a"), at("whole/a")); !errors.Is(err, ErrExists) {
				t.Fatalf("from a place to itself: %v", err)
			}
			if errs := tc.st.Delete(ctx, []paths.Place{at("whole/a"), at("whole/x")}); errs[0] != nil || errs[1] != nil {
				t.Fatal(errs)
			}
			// A missing one is a success, a folder is not emptied.
			errs := tc.st.Delete(ctx, []paths.Place{at("nothing"), at("new/a"), at("t/p=a%20b é/b"), at("t")})
			if errs[0] != nil || errs[1] != nil || errs[2] != nil {
				t.Fatal(errs)
			}
			want("deleted", "t/c")
		})
	}
}
