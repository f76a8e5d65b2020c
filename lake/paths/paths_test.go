package paths_test

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/lake/files"
	"github.com/eiderdb/eider/lake/paths"
)

func TestSame(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		// Slashes and dots.
		{"/srv/lake/t/f", "/srv/lake//t/./f", true},
		{"/srv/lake/t/f", "/srv/lake/t/f/", true},
		{"/srv/lake/t/f", "/srv/lake/t/g", false},
		{"/srv/lake/t/f", "/srv/lake/t/F", false},
		{"s3://b/d/t/f", "s3://b/d//t/./f", true},
		{"s3://b//d/f", "s3://b/d/f", true},
		// Dots in names are letters.
		{"/srv/..lake/f", "/srv/lake/f", false},
		{"/srv/.lake/f", "/srv/lake/f", false},
		// Encoding: of partition values, of listings, of both.
		{"s3://b/p=a%20b/f", "s3://b/p=a b/f", true},
		{"s3://b/p=a%2520b/f", "s3://b/p=a%20b/f", true},
		{"/d/p=50%25/f", "/d/p=50%/f", true},
		{"/d/p=%C3%A9/f", "/d/p=é/f", true},
		{"/d/p=%c3%a9/f", "/d/p=%C3%A9/f", true},
		{"/d/p=a%2Fb/f", "/d/p=a/b/f", true},
		{"/d/p%3Dx/f", "/d/p=x/f", true},
		{"/d/p=%zz/f", "/d/p=%ZZ/f", false},
		{"/d/p=a+b/f", "/d/p=a b/f", false},
		// é as one code point, and as two.
		{"/d/\u00e9", "/d/e\u0301", false},
		// Schemes.
		{"s3://b/k", "s3a://b/k", true},
		{"S3N://b/k", "s3://b/k", true},
		{"gs://b/k", "gcs://b/k", true},
		{"s3://b/k", "gs://b/k", false},
		{"s3://b/k", "r2://b/k", false},
		{"s3://B/k", "s3://b/k", true},
		{"s3://b/k", "s3://b/K", false},
		{"s3://b/k?s3_region=eu-west-1", "s3://b/k", true},
		{"s3://b/what?", "s3://b/what?", true},
		{"file:///d/f", "/d/f", true},
		{"file://localhost/d/f", "/d/f", true},
		{"file:/d/f", "/d/f", true},
		{"FILE:///d/f", "/d/f", true},
		// Web addresses.
		{"https://b.s3.eu-west-1.amazonaws.com/d/f", "s3://b/d/f", true},
		{"https://s3.eu-west-1.amazonaws.com/b/d/f", "s3://b/d/f", true},
		{"https://my.dotted.bucket.s3.amazonaws.com/d/f", "s3://my.dotted.bucket/d/f", true},
		{"http://127.0.0.1:9000/b/d/f", "s3://b/d/f", true},
		{"https://minio.local/b/d/f?X-Amz-Signature=1", "s3://b/d/f", true},
		{"https://storage.googleapis.com/b/d/f", "gs://b/d/f", true},
		{"https://b.storage.googleapis.com/d/f", "gs://b/d/f", true},
		{"https://storage.googleapis.com/storage/v1/b/b/o/d%2Ff?alt=media", "gs://b/d/f", true},
		{"https://acc.blob.core.windows.net/c/d/f", "az://c/d/f", true},
		{"https://HOST/a", "https://host/a", true},
		{"https://b.s3.amazonaws.com/d/f", "s3://b/d/g", false},
		{"https://b.s3.amazonaws.com/d/f", "s3://c/d/f", false},
		// Azure.
		{"azure://c/f", "az://c/f", true},
		{"abfss://c/f", "az://c/f", true},
		{"abfss://c@acc.dfs.core.windows.net/f", "az://acc.blob.core.windows.net/c/f", true},
		{"abfss://c@acc.dfs.core.windows.net/f", "az://c/f", true},
		{"wasbs://c@acc.blob.core.windows.net/f", "https://acc.blob.core.windows.net/c/f", true},
		// Where ".." leads is not known: everything with that end may be it.
		{"/srv/lake/../other/f", "/srv/other/f", true},
		{"/srv/lake/../other/f", "/mnt/x/other/f", true},
		{"/srv/lake/../other/f", "/srv/lake/../other/f", true},
		{"/srv/lake/../other/f", "/srv/other/g", false},
		{"s3://b/d/%2e%2e/f", "s3://b/f", true},
		// Relative to a working directory.
		{"data/t/f", "/users/me/data/t/f", true},
		{"./data/t/f", "/users/me/data/t/f", true},
		{"../data/t/f", "/users/me/data/t/f", true},
		{"data/t/f", "/users/me/mydata/t/f", false},
		{"data/t/f", "data/t/f", true},
		// Other machines.
		{`C:\lake\f`, `C:\lake\f`, true},
		{`C:\lake\f`, `c:\lake\f`, false},
		{`C:/lake/f`, `/lake/f`, false},
		{`\\host\share\f`, `\\host\share\f`, true},
		{"hdfs://nn/d//f", "hdfs://NN/d/f", true},
	} {
		if got := paths.Same(tc.a, tc.b); got != tc.want {
			t.Errorf("%q and %q: %v", tc.a, tc.b, got)
		}
		if got := paths.Same(tc.b, tc.a); got != tc.want {
			t.Errorf("%q and %q: %v", tc.b, tc.a, got)
		}
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		path string
		want paths.Place
		err  error
	}{
		{"/d/a b//f", paths.Place{Kind: paths.Disk, Name: "/d/a b//f"}, nil},
		{"file:///d/f", paths.Place{Kind: paths.Disk, Name: "/d/f"}, nil},
		{"/d/p=a%20b/f?x#y", paths.Place{Kind: paths.Disk, Name: "/d/p=a%20b/f?x#y"}, nil},
		{"s3a://B/d//p=a%20b/f", paths.Place{Kind: paths.S3, Bucket: "B", Name: "d//p=a%20b/f"}, nil},
		{"gcs://b/f", paths.Place{Kind: paths.GCS, Bucket: "b", Name: "f"}, nil},
		{"abfss://c@Acc.dfs.core.windows.net/f", paths.Place{Kind: paths.Azure, Account: "acc", Bucket: "c", Name: "f"}, nil},
		{"az://acc.blob.core.windows.net/c/d/f", paths.Place{Kind: paths.Azure, Account: "acc", Bucket: "c", Name: "d/f"}, nil},
		{"az://c/d/f", paths.Place{Kind: paths.Azure, Bucket: "c", Name: "d/f"}, nil},
		{"s3://b/k?region=x", paths.Place{}, paths.ErrUnknown},
		{"s3:///k", paths.Place{}, paths.ErrUnknown},
		{"https://b.s3.amazonaws.com/k", paths.Place{}, paths.ErrUnknown},
		{"hdfs://nn/k", paths.Place{}, paths.ErrUnknown},
		{`C:\lake`, paths.Place{}, paths.ErrUnknown},
		{`\\host\share`, paths.Place{}, paths.ErrUnknown},
		{"d/f", paths.Place{}, paths.ErrRelative},
		{"file://host/f", paths.Place{}, paths.ErrRelative},
		{"", paths.Place{}, paths.ErrRelative},
		{"/d/../f", paths.Place{}, paths.ErrClimbs},
		{"s3://b/../f", paths.Place{}, paths.ErrClimbs},
	} {
		got, err := paths.Locate(tc.path)
		if got != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("%q: %+v %v", tc.path, got, err)
		}
		if err == nil {
			if again, err := paths.Locate(got.String()); again != got || err != nil {
				t.Errorf("%q: %q: %+v %v", tc.path, got, again, err)
			}
		}
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ path, want string }{
		{"/d", "/d/"},
		{"/d//x/./", "/d/x/"},
		{"/", "/"},
		{"s3://b/d", "s3://b/d/"},
		{"s3://b/d/", "s3://b/d/"},
		{"s3://b//d/./x", "s3://b//d/./x/"}, // not the whole bucket
		{"s3://b", "s3://b/"},
	} {
		got, err := paths.Folder(tc.path)
		if err != nil || got.String() != tc.want {
			t.Errorf("%q: %q %v", tc.path, got, err)
		}
	}
}

func TestReadings(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ path, want string }{
		{"/d/f", "/d/f"},
		{"file:///d/../a%2520b", "/d/../a%2520b /d/../a%20b /d/../a b"},
		{"/d/50%", "/d/50%"},
		{"d/f", ""},
		{"s3://b/f", ""},
		{`C:\f`, ""},
	} {
		if got := strings.Join(paths.Readings(tc.path), " "); got != tc.want {
			t.Errorf("%q: %q", tc.path, got)
		}
	}
}

func TestLayout(t *testing.T) {
	t.Parallel()
	l := paths.NewLayout("s3://b/d/",
		[]lake.Schema{{ID: 0, Path: "main/", Relative: true}, {ID: 1, Path: "/abs/s", Relative: false}},
		[]lake.Table{
			{ID: 1, SchemaID: 0, Path: "t/", Relative: true},
			{ID: 1, SchemaID: 0, Path: "t/", Relative: true, Name: "renamed"},
			{ID: 1, SchemaID: 1, Path: "t2", Relative: true},
			{ID: 2, SchemaID: 0, Path: "gs://x/t/"},
			{ID: 3, SchemaID: 9, Path: "t/", Relative: true},
		})
	rel := func(p string) files.Place { return files.Place{Path: p, Relative: true} }
	for _, tc := range []struct {
		table    int64
		file     files.Place
		want     string
		complete bool
	}{
		{1, rel("f"), "s3://b/d/main/t/f /abs/s/t2/f", true},
		{2, rel("p=1/f"), "gs://x/t/p=1/f", true},
		{3, rel("f"), "", false},
		{4, rel("f"), "", false},
		{4, files.Place{Path: "/x/f"}, "/x/f", true},
	} {
		got, complete := l.File(tc.table, tc.file)
		if strings.Join(got, " ") != tc.want || complete != tc.complete {
			t.Errorf("%d %v: %v %v", tc.table, tc.file, got, complete)
		}
	}
	if got := l.Scheduled(rel("main/t/f")); got != "s3://b/d/main/t/f" {
		t.Error(got)
	}
	if got := l.Scheduled(files.Place{Path: "/x/f"}); got != "/x/f" {
		t.Error(got)
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	var s paths.Set
	if s.Has("/d/f") {
		t.Error("an empty set has a file")
	}
	for _, p := range []string{"", "..", "/d/..", "./", "s3://b/x/.."} {
		if err := s.Add(p); !errors.Is(err, paths.ErrAnything) {
			t.Errorf("%q: %v", p, err)
		}
		if !s.Has(p) {
			t.Errorf("%q may be anything", p)
		}
	}
	if err := s.AddTail("main/t/f"); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]bool{"s3://b/main/t/f": true, "/x/y/main//t/f": true, "/main/t/f": true, "/xmain/t/f": false, "/t/f": false} {
		if s.Has(p) != want {
			t.Errorf("%q: %v", p, !want)
		}
	}
}

// plain are names that mean nothing to anybody: different ones are different objects.
var plain = rapid.StringMatching(`[a-zA-Z0-9_=é -][a-zA-Z0-9_.=é ,+-]{0,8}`)

// object draws an object as parts.
func object(t *rapid.T) (kind, bucket string, parts []string) {
	kind = rapid.SampledFrom([]string{"file", "s3", "gs", "r2", "az"}).Draw(t, "kind")
	bucket = rapid.StringMatching(`[a-z][a-z0-9-]{2,5}`).Draw(t, "bucket")
	return kind, bucket, rapid.SliceOfN(plain, 1, 4).Draw(t, "parts")
}

// spell draws one of the ways to write an object.
func spell(t *rapid.T, kind, bucket string, parts []string) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 || kind == "file" {
			b.WriteString(rapid.SampledFrom([]string{"/", "/", "//", "/./"}).Draw(t, "slash"))
		}
		for range rapid.IntRange(0, 2).Draw(t, "encoded") {
			p = url.PathEscape(p)
		}
		b.WriteString(p)
	}
	name := b.String() + rapid.SampledFrom([]string{"", "", "/"}).Draw(t, "end")
	schemes := map[string][]string{
		"file": {"", "file://", "FILE://", "file://localhost"},
		"s3":   {"s3://", "s3a://", "S3n://"}, "gs": {"gs://", "gcs://"}, "r2": {"r2://"},
		"az": {"az://", "azure://", "abfss://"},
	}[kind]
	scheme := rapid.SampledFrom(schemes).Draw(t, "scheme")
	if kind == "file" {
		return scheme + name
	}
	if rapid.Bool().Draw(t, "loud") {
		bucket = strings.ToUpper(bucket)
	}
	return scheme + bucket + "/" + name
}

// Two spellings of one object are the same.
func TestSpellings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kind, bucket, parts := object(t)
		a, b := spell(t, kind, bucket, parts), spell(t, kind, bucket, parts)
		if !paths.Same(a, b) {
			t.Fatalf("%q and %q", a, b)
		}
	})
}

// Objects with plain names are told apart.
func TestDistinct(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kind, bucket, parts := object(t)
		kind2, bucket2, parts2 := object(t)
		switch rapid.IntRange(0, 2).Draw(t, "difference") {
		case 0:
			kind2, bucket2, parts2 = kind, bucket, slices.Clone(parts)
			i := rapid.IntRange(0, len(parts2)-1).Draw(t, "part")
			parts2[i] = plain.Draw(t, "other")
		case 1:
			kind2, parts2 = kind, parts
		}
		if kind == kind2 && (bucket == bucket2 || kind == "file") && slices.Equal(parts, parts2) {
			return
		}
		if a, b := spell(t, kind, bucket, parts), spell(t, kind2, bucket2, parts2); paths.Same(a, b) {
			t.Fatalf("%q and %q", a, b)
		}
	})
}

// A key is its own key: comparing by keys is an equivalence for names that have one.
func FuzzKeys(f *testing.F) {
	for _, s := range []string{
		"", "/", "/a//b/./c/", "s3://b/%2e%2e/x", "https://h.i/b/k?q", "%25%32%35", "a%", "//x", "file:/x", "az://a.blob.core.windows.net/c/f", `C:\x`, "%2Fa", "s3://%2F/x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, k := range paths.Keys(s) {
			if again := paths.Keys(k); !slices.Contains(again, k) {
				t.Fatalf("%q: %q has the keys %q", s, k, again)
			}
			if !paths.Same(s, k) || !paths.Same(k, s) {
				t.Fatalf("%q is not the same as its key %q", s, k)
			}
		}
		if !paths.Same(s, s) {
			t.Fatalf("%q is not itself", s)
		}
		p, err := paths.Locate(s)
		if err != nil {
			return
		}
		if again, err := paths.Locate(p.String()); err != nil || again != p {
			t.Fatalf("%q: %+v, spelled %q: %+v %v", s, p, p, again, err)
		}
		if !paths.Same(s, p.String()) {
			t.Fatalf("%q is not the same as its place %q", s, p)
		}
	})
}
