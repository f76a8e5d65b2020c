package conflict_test

import (
	"math"
	"testing"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/lake"
)

func TestAmend(t *testing.T) {
	t.Parallel()
	// A flush of file 4, done again after a lost race: its inlined deletes are there again.
	s, b := small(), next("deleted_from_table:1")
	d := lake.DeleteFile{Span: live(3), ID: 11, TableID: 1, DataFileID: 4, Path: "d", Relative: true, Count: 2, PartialMax: 4, HasPartialMax: true}
	b.DeleteFiles.Added = []lake.DeleteFile{d}
	for _, o := range []option{base(5), base(4), base(-1)} {
		list, err := conflict.Amend(commitOf(t, s, b, o), 70)
		if err != nil || len(list) != 1 || !list[0].Covered || list[0].Upto != 4 || list[0].File != 4 {
			t.Fatalf("%+v, %v", list, err)
		}
	}
	// The same file of an ordinary delete, planned on snapshot 3, is none.
	if list, err := conflict.Amend(commitOf(t, s, b, base(3)), 70); err != nil || len(list) > 0 {
		t.Fatalf("%+v, %v", list, err)
	}

	// A delete file that takes another's place, dated with a snapshot that was lost.
	b = next("deleted_from_table:1")
	b.DeleteFiles.Removed = s.deletes
	b.DeleteFiles.Added = []lake.DeleteFile{{Span: live(2), ID: 11, TableID: 1, DataFileID: 2, Path: "d", Relative: true, Count: 30, PartialMax: 5, HasPartialMax: true}}
	list, err := conflict.Amend(commitOf(t, s, b, base(4)), 70)
	if err != nil || len(list) != 1 || list[0].Keep == nil || list[0].Keep.ID != 3 || list[0].End != 6 || list[0].Instead != 11 {
		t.Fatalf("%+v, %v", list, err)
	}
	// With the right date it is as it should be.
	b.DeleteFiles.Added[0].PartialMax = 6
	if list, err := conflict.Amend(commitOf(t, s, b), 70); err != nil || len(list) > 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	// One without room for dates begins later.
	b.DeleteFiles.Added[0].Span, b.DeleteFiles.Added[0].HasPartialMax = live(6), false
	if list, err = conflict.Amend(commitOf(t, s, b), 70); err != nil || len(list) != 1 || list[0].Keep == nil {
		t.Fatalf("%+v, %v", list, err)
	}

	// The next delete of a file with such a history: its delete file is dated back too far.
	s.deletes = []lake.DeleteFile{
		{Span: ended(2, 5), ID: 3, TableID: 1, DataFileID: 2, Path: "d3", Relative: true, Count: 20},
		{Span: live(5), ID: 6, TableID: 1, DataFileID: 2, Path: "d6", Relative: true, Count: 30},
	}
	b = next("deleted_from_table:1")
	b.DeleteFiles.Removed = s.deletes[1:]
	b.DeleteFiles.Added = []lake.DeleteFile{{Span: live(2), ID: 11, TableID: 1, DataFileID: 2, Path: "d", Relative: true, Count: 40, PartialMax: 6, HasPartialMax: true}}
	if list, err = conflict.Amend(commitOf(t, s, b), 70); err != nil || len(list) != 1 || list[0].Begin != 5 || list[0].Instead != 11 || list[0].Keep != nil {
		t.Fatalf("%+v, %v", list, err)
	}
	// A flush of an inlined delete from before: only the inlined delete can say so.
	inlined := lake.InlinedDelete{TableID: 1, FileID: 2, RowID: 99, Begin: 3}
	s.inlined = []lake.InlinedDelete{inlined}
	b.InlinedDeletes = []conflict.InlinedDeletes{{TableID: 1, Rows: conflict.Rows[lake.InlinedDelete]{Removed: s.inlined}}}
	b.DeleteFiles.Added[0].Count, b.DeleteFiles.Added[0].PartialMax = 31, 5
	if list, err = conflict.Amend(commitOf(t, s, b), 70); err != nil || len(list) != 1 || !list[0].Back || list[0].Keep == nil || list[0].Keep.ID != 6 {
		t.Fatalf("%+v, %v", list, err)
	}

	// Times grow: from the clock, or by the least there is.
	for _, c := range []struct{ micros, now, want int64 }{{50, 70, 70}, {49, 7, 51}, {51, 7, 0}, {math.MaxInt64, 70, 70}, {math.MaxInt64, 7, 51}, {math.MinInt64, 70, 70}} {
		b = next("")
		b.Snapshots.Added[0].Micros = c.micros
		list, err := conflict.Amend(commitOf(t, s, b), c.now)
		if err != nil || (c.want == 0) != (len(list) == 0) || c.want != 0 && list[0].Micros != c.want {
			t.Fatalf("%+v: %+v, %v", c, list, err)
		}
	}
}

// TestUnscheduleNamed: whether a file is named comes before whether it is listed already.
func TestUnscheduleNamed(t *testing.T) {
	t.Parallel()
	s := small()
	s.files = append(s.files, lake.DataFile{Span: live(2), ID: 8, TableID: 1, Path: "f5", Relative: true, Records: 100})
	b := &conflict.Batch{Schema: "public"}
	b.DataFiles.Removed = s.files[3:4]
	b.Scheduled.Added = []lake.Scheduled{{ID: 9, Path: "main/t/f5", Relative: true}, {ID: 5, Path: "main/t/f5", Relative: true}}
	list, err := conflict.Amend(commitOf(t, s, b), 0)
	if err != nil || len(list) != 1 || list[0].Unschedule == nil || list[0].Twice {
		t.Errorf("got %+v %v", list, err)
	}
}

// An option that is there already when a commit adds it: the commit's row stays, whatever it is set for.
func TestOptionTwice(t *testing.T) {
	t.Parallel()
	was := []lake.Option{{Key: "k", Value: "1"}, {Key: "k", Value: "2", Scope: "table", ScopeID: 3}, {Key: "k", Value: "3", Scope: "schema", ScopeID: 3}}
	for _, c := range []struct {
		name    string
		added   []lake.Option
		removed []lake.Option
		want    int
	}{
		{"another option", []lake.Option{{Key: "l", Value: "1"}}, nil, 0},
		{"another scope", []lake.Option{{Key: "k", Value: "1", Scope: "table", ScopeID: 4}}, nil, 0},
		{"the lake's", []lake.Option{{Key: "k", Value: "9"}}, nil, 1},
		{"the same value", []lake.Option{{Key: "k", Value: "1"}}, nil, 1},
		{"a table's", []lake.Option{{Key: "k", Value: "9", Scope: "table", ScopeID: 3}}, nil, 1},
		{"twice in the commit", []lake.Option{{Key: "l", Value: "1"}, {Key: "l", Value: "2"}}, nil, 1},
		{"in place of the other", []lake.Option{{Key: "k", Value: "9"}}, was[:1], 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := small()
			s.options = was
			b := &conflict.Batch{Options: conflict.Rows[lake.Option]{Added: c.added, Removed: c.removed}}
			list, err := conflict.Amend(commitOf(t, s, b), 70)
			if err != nil || len(list) != c.want || c.want == 1 && (list[0].Option == nil || list[0].Option.Key != c.added[0].Key) {
				t.Errorf("%+v, %v", list, err)
			}
		})
	}
}
