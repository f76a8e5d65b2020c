package clean_test

import (
	"testing"
	"time"

	"github.com/eiderdb/eider/gc/clean"
	"github.com/eiderdb/eider/lake/paths"
)

// In a bucket there is nothing but names to tell files by.
func TestCleanupRules(t *testing.T) {
	t.Parallel()
	r := &clean.CleanupRules{Live: &paths.Set{}, Early: &paths.Set{}, Now: now, Grace: time.Hour}
	must(t, r.Live.Add("s3a://b/d//main/t/p=a%2520b/live"))
	must(t, r.Live.Add("https://b.s3.eu-west-1.amazonaws.com/d/web"))
	must(t, r.Live.Add("../main/t/tail"))
	must(t, r.Early.Add("S3://b/d/./early"))
	past := now.Add(-time.Hour)
	for _, tc := range []struct {
		e    clean.Entry
		want clean.Verdict
	}{
		{clean.Entry{Name: "s3://b/d/gone", Start: past}, clean.Remove},
		{clean.Entry{Name: "s3://b/d/gone", Start: past.Add(1)}, clean.Keep},
		{clean.Entry{Name: "s3://b/d/gone"}, clean.Keep},
		{clean.Entry{Name: "s3://b/d/main/t/p=a%20b/live", Start: past}, clean.Defer},
		{clean.Entry{Name: "s3://b/d/main/t/p=a b/live", Start: past}, clean.Defer},
		{clean.Entry{Name: "s3://b/d/web", Start: past}, clean.Defer},
		{clean.Entry{Name: "s3://b/d/main/t/tail", Start: past}, clean.Defer},
		{clean.Entry{Name: "s3n://b/d/early", Start: past}, clean.Defer},
		{clean.Entry{Name: "s3://b/d/../x", Start: past}, clean.Defer},
		{clean.Entry{Name: "s3://b/d/x?versionId=1", Start: past}, clean.Defer},
		{clean.Entry{Name: "d/x", Start: past}, clean.Defer},
		{clean.Entry{Name: "", Start: past}, clean.Defer},
	} {
		if got, why := r.Judge(tc.e); got != tc.want {
			t.Errorf("%+v: %d, %s", tc.e, got, why)
		}
	}
}

func TestOrphanRules(t *testing.T) {
	t.Parallel()
	at := func(name string) paths.Place { return paths.Place{Kind: paths.S3, Bucket: "b", Name: name} }
	r := &clean.OrphanRules{
		Live: &paths.Set{}, Folder: at("d/"), Real: at("d/"), Spared: []paths.Place{at("d/nested/")},
		Before: now.Add(-day), Writing: now.Add(-2 * day),
	}
	must(t, r.Live.Add("s3a://b//d/main/t/p=a%20b/live.parquet"))
	must(t, r.Live.Add("http://127.0.0.1:9000/b/d/web.parquet"))
	for _, tc := range []struct {
		name string
		age  time.Duration
		want clean.Verdict
	}{
		{"d/x.parquet", old, clean.Remove},
		{"d/x.puffin", old, clean.Remove},
		{"d/x.txt", old, clean.Keep},
		{"dx.parquet", old, clean.Keep},
		{"d/nested/x.parquet", old, clean.Keep},
		{"d//nested/x.parquet", old, clean.Keep},
		{"d/.eider-quarantine/1/x.parquet", old, clean.Keep},
		{"d/t/.eider-quarantine/1/x.parquet", old, clean.Keep},
		{"d/../x.parquet", old, clean.Keep},
		{"d/main/t/p=a%20b/live.parquet", old, clean.Keep},
		{"d/main/t/p=a b/live.parquet", old, clean.Keep},
		{"d/web.parquet", old, clean.Keep},
		{"d/x.parquet", 2 * day, clean.Defer},
		{"d/x.parquet", day, clean.Defer},
		{"d/x.parquet", 2*day + 1, clean.Remove},
	} {
		if got, why := r.Judge(clean.Object{Place: at(tc.name), Modified: now.Add(-tc.age)}); got != tc.want {
			t.Errorf("%s, %v old: %d, %s", tc.name, tc.age, got, why)
		}
	}
	if got, _ := r.Judge(clean.Object{Place: at("d/x.parquet")}); got != clean.Keep {
		t.Error("an object of unknown age goes")
	}
	other := at("d/x.parquet")
	other.Bucket = "c"
	if got, _ := r.Judge(clean.Object{Place: other, Modified: now.Add(-old)}); got != clean.Keep {
		t.Error("an object of another bucket goes")
	}
}
