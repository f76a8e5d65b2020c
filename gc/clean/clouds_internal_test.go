package clean

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-kit/log"
	"github.com/thanos-io/objstore/providers/azure"

	"github.com/eiderdb/eider/lake/files"
	"github.com/eiderdb/eider/lake/paths"
)

// Without keys, in another account, in another folder, or where there is no client for the storage, nothing is deleted, and why is said.
func TestClouds(t *testing.T) {
	t.Parallel()
	named := []string{"gs://b/lake", "gcs://c/lake", "r2://b/lake", "az://c/lake", "abfss://c@acc.dfs.core.windows.net/lake", "s3://b/lake"}
	keys := AccessOptions{
		Folders: named, GCS: files.S3{AccessKey: "k", SecretKey: "s"}, S3: files.S3{AccessKey: "k", SecretKey: "s"},
		Azure: Azure{Account: "acc", Key: "a2V5"},
	}
	for _, tc := range []struct {
		name string
		o    AccessOptions
		path string
		says string // "": the server may delete there
	}{
		{"no keys of Google", AccessOptions{Folders: named}, "gs://b/lake/f", "no keys for gs"},
		{"the other scheme of Google", AccessOptions{Folders: named}, "gcs://b/lake/f", "no keys for gs"},
		{"no keys of S3", AccessOptions{Folders: named}, "s3://b/lake/f", "no keys for s3"},
		{"no account of Azure", AccessOptions{Folders: named}, "az://c/lake/f", "no account of Azure"},
		{"Google", keys, "gcs://b/lake/f", ""},
		{"a folder named by the other scheme", keys, "gs://c/lake/f", ""},
		{"beside the folder", keys, "gs://b/lakes/f", "may not delete there"},
		{"another bucket", keys, "gs://other/lake/f", "may not delete there"},
		{"a bucket of the name elsewhere", keys, "s3://c/lake/f", "may not delete there"},
		{"Azure", keys, "azure://c/lake/f", ""},
		{"Azure by account", keys, "abfss://c@acc.dfs.core.windows.net/lake/f", ""},
		{"another account of Azure", keys, "az://other.blob.core.windows.net/c/lake/f", "another account"},
		{"R2", keys, "r2://b/lake/f", "no client for r2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			set, err := NewAccess(tc.o)
			if err != nil {
				t.Fatal(err)
			}
			at, err := paths.Locate(tc.path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = set.Storage(at)
			if tc.says == "" && err != nil || tc.says != "" && (!errors.Is(err, ErrNoAccess) || !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("%v, want %q", err, tc.says)
			}
		})
	}
}

// azureEnv names the connection string of Azurite, with its usual account.
const azureEnv = "EIDER_TEST_AZURE"

// TestAzure works on a container of Azurite, which speaks Azure's protocol.
func TestAzure(t *testing.T) {
	conn := os.Getenv(azureEnv)
	if conn == "" {
		t.Skip("no Azure storage: " + azureEnv + " names none")
	}
	ctx := context.Background()
	c := azure.DefaultConfig // makes the container
	c.StorageAccountName, c.StorageConnectionString, c.ContainerName = "devstoreaccount1", conn, "eider-test"
	if _, err := azure.NewBucketWithConfig(log.NewNopLogger(), c, "test", nil); err != nil {
		t.Fatal(err)
	}
	set, err := NewAccess(AccessOptions{Folders: []string{"az://eider-test/lake"}, Azure: Azure{Account: "devstoreaccount1", ConnectionString: conn}})
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) paths.Place {
		return paths.Place{Kind: paths.Azure, Bucket: "eider-test", Name: "lake/" + name}
	}
	st, err := set.Storage(at("a"))
	if err != nil {
		t.Fatal(err)
	}
	b, ok := st.(objects)
	if !ok {
		t.Fatalf("%T", st)
	}
	put := func(name, content string) {
		t.Helper()
		if err := b.b.Upload(ctx, at(name).Name, strings.NewReader(content)); err != nil {
			t.Fatal(err)
		}
	}
	want := func(what string, names ...string) {
		t.Helper()
		var got []string
		err := st.List(ctx, at(""), func(o Object) error {
			if o.Modified.IsZero() {
				t.Errorf("no time: %+v", o)
			}
			got = append(got, strings.TrimPrefix(o.Name, "lake/"))
			return nil
		})
		slices.Sort(got)
		if err != nil || !slices.Equal(got, names) {
			t.Fatalf("%s: %q %v, want %q", what, got, err, names)
		}
	}
	put("a", "content")
	put("t/p=a%20b é/b", "content")
	put("t/c", "CONTENT")
	want("at first", "a", "t/c", "t/p=a%20b é/b")
	if o, err := st.Stat(ctx, at("t/p=a%20b é/b")); err != nil || o.Size != 7 {
		t.Errorf("%+v %v", o, err)
	}
	if _, err := st.Stat(ctx, at("nothing")); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if err := st.Move(ctx, at("a"), at("t/c")); !errors.Is(err, ErrExists) {
		t.Error(err)
	}
	put(".eider-quarantine/1/a", "content") // by a move that was killed
	if err := st.Move(ctx, at("a"), at(".eider-quarantine/1/a")); err != nil {
		t.Error(err)
	}
	if err := st.Move(ctx, at(".eider-quarantine/1/a"), at("new/a")); err != nil {
		t.Error(err)
	}
	want("moved", "new/a", "t/c", "t/p=a%20b é/b")
	for _, err := range st.Delete(ctx, []paths.Place{at("nothing"), at("new/a"), at("t/p=a%20b é/b")}) {
		if err != nil {
			t.Error(err)
		}
	}
	want("deleted", "t/c")
}
