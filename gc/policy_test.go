package gc_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/gc"
)

// Every policy's default can be read and set where the policy may be set, and nowhere below.
func TestDefs(t *testing.T) {
	t.Parallel()
	scopes := []gc.Scope{{}, {Lake: "l"}, {Lake: "l", Schema: "s"}, {Lake: "l", Schema: "s", Table: "t"}}
	for _, d := range gc.Defs() {
		for _, sc := range scopes {
			err := gc.Check(gc.Setting{Scope: sc, Name: d.Name, Value: d.Default})
			if (err == nil) != (sc.Level() <= d.Narrowest) {
				t.Errorf("%s for %s: %v", d.Name, sc, err)
			}
		}
		if d.Help == "" || d.Value == "" {
			t.Errorf("%s has no help", d.Name)
		}
	}
	p := gc.NewSet(nil).For("l") // every getter reads its default
	for _, k := range gc.Kinds() {
		if p.Mode(k) == "" || p.Every(k) <= 0 {
			t.Errorf("%s: %q every %s", k, p.Mode(k), p.Every(k))
		}
	}
	if p.Maintenance() || !p.Retention().All() || p.DeletionGrace() != 0 || p.OrphanMinAge() != 7*24*time.Hour {
		t.Error("a catalog without policies must not be worked on")
	}
	if p.Mode(gc.Orphans) != gc.ModeDryRun || p.Mode(gc.Expire) != gc.ModeOn || p.Triggers() != (gc.Triggers{}) {
		t.Error("defaults")
	}
	if keep, on := p.Quarantine(); on || keep != 7*24*time.Hour {
		t.Error("quarantine")
	}
	if w, loc := p.Windows(); loc != time.UTC || !w.Open(time.Unix(0, 0)) {
		t.Error("windows")
	}
}

// Settings that cannot be say why.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scope       gc.Scope
		name, value string
		want        string // a part of the error, "" for none
	}{
		{gc.Scope{}, "retain-age", "30d", ""},
		{gc.Scope{}, "retain-age", " 1w 2d3h ", ""},
		{gc.Scope{}, "retain-age", "none", ""},
		{gc.Scope{}, "retain-age", "30", "units are"},
		{gc.Scope{}, "retain-age", "", "write a number"},
		{gc.Scope{}, "retain-age", "d", "write a number"},
		{gc.Scope{}, "retain-age", "-3d", "write a number"},
		{gc.Scope{}, "retain-age", "99999999999w", "out of range"},
		{gc.Scope{}, "retain_age", "30d", "it is spelt retain-age"},
		{gc.Scope{}, "Retain Age", "30d", "it is spelt retain-age"},
		{gc.Scope{}, "retention", "30d", `"retention" is unknown`},
		{gc.Scope{}, "retain-count", "0", "from 1 on"},
		{gc.Scope{}, "retain-count", "many", "from 1 on"},
		{gc.Scope{}, "maintenance", "yes", "say on or off"},
		{gc.Scope{}, "orphans", "dry-run", ""},
		{gc.Scope{}, "fsck", "dry-run", "say on or off"},
		{gc.Scope{}, "orphan-min-age", "5m", "at least 1h"},
		{gc.Scope{}, "every", "1s", "at least 1m"},
		{gc.Scope{}, "time-zone", "Europe/Berlin", ""},
		{gc.Scope{}, "time-zone", "Local", "a name such as"},
		{gc.Scope{}, "time-zone", "Mars/Olympus", "no time zone"},
		{gc.Scope{}, "trigger-bytes", "10GiB", ""},
		{gc.Scope{}, "trigger-bytes", "10 GB", ""},
		{gc.Scope{}, "trigger-bytes", "8000000TiB", ""},
		{gc.Scope{}, "trigger-bytes", "99999999TiB", "a whole number"},
		{gc.Scope{}, "trigger-bytes", "1.5GB", "a whole number"},
		{gc.Scope{Lake: "l", Schema: "s"}, "windows", "Sat", "cannot be set for a schema, only for a catalog, a lake"},
		{gc.Scope{Lake: "l", Table: "t"}, "retain-age", "1d", "a table is named with its schema"},
		{gc.Scope{Schema: "s"}, "retain-age", "1d", "a schema is named with its lake"},
		{gc.Scope{}, "windows", "Mon-Fri 22:00-06:00, Sat-Sun, 12:00-13:00", ""},
		{gc.Scope{}, "windows", "sunday 00:00-24:00", ""},
		{gc.Scope{}, "windows", "22:00", "write days and hours"},
		{gc.Scope{}, "windows", "22:00-25:00", "no time of day"},
		{gc.Scope{}, "windows", "22:00-22:00", "no length"},
		{gc.Scope{}, "windows", "24:00-01:00", "no length"},
		{gc.Scope{}, "windows", "2:00-3:00", "no time of day"},
		{gc.Scope{}, "windows", "Mon,,Tue", "write days and hours"},
		{gc.Scope{}, "windows", "Mon Tue", "write days and hours"},
		{gc.Scope{}, "windows", "22:00-23:00 Mon", "write days and hours"},
		{gc.Scope{}, "windows", "Someday", "names no days"},
		{gc.Scope{Lake: "l", Schema: "s", Table: "t"}, "tiers", "0-1MiB:5MiB, 1MiB-10MiB:32MiB", ""},
		{gc.Scope{}, "tiers", "0-5MiB:4MiB", "merges files into itself"},
		{gc.Scope{}, "tiers", "", "is not MIN-MAX:TARGET"},
		{gc.Scope{}, "flush", "dry-run", "say on or off"},
		{gc.Scope{}, "min-inlined-rows", "0", "from 1 on"},
		{gc.Scope{}, "min-small-files", "1", "at least 2"},
		{gc.Scope{Lake: "l", Schema: "s", Table: "t"}, "flush-age", "1h", ""},
		{gc.Scope{}, "flush-age", "0s", "at least 1s"},
		{gc.Scope{}, "flush-age", "none", ""},
		{gc.Scope{}, "flush-bytes", "10MiB", ""},
		{gc.Scope{}, "merge-age", "90", "units are"},
		{gc.Scope{}, "merge-bytes", "none", ""},
		{gc.Scope{}, "rewrite-age", "30d", ""},
		{gc.Scope{}, "rewrite-bytes", "0", "a whole number"},
		{gc.Scope{}, "delete-threshold", "1", ""},
		{gc.Scope{}, "delete-threshold", "0", "above 0"},
		{gc.Scope{}, "delete-threshold", "1.01", "above 0"},
		{gc.Scope{}, "delete-threshold", "NaN", "above 0"},
	} {
		err := gc.Check(gc.Setting{Scope: c.scope, Name: c.name, Value: c.value})
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !errors.Is(err, gc.ErrPolicy)) {
			t.Errorf("%s = %q: %v, want %q", c.name, c.value, err, c.want)
		}
	}
}

func set(lake, schema, table, name, value string) gc.Setting {
	return gc.Setting{Scope: gc.Scope{Lake: lake, Schema: schema, Table: table}, Name: name, Value: value}
}

// What is narrower counts, key by key, whatever the order of the rows.
func TestNarrowerWins(t *testing.T) {
	t.Parallel()
	rows := []gc.Setting{
		set("", "", "", "retain-age", "1d"),
		set("", "", "", "retain-count", "10"),
		set("l", "", "", "retain-age", "2d"),
		set("l", "s", "", "retain-age", "3d"),
		set("l", "s", "t", "retain-age", "none"),
		set("other", "", "", "retain-count", "99"),
	}
	day := 24 * time.Hour
	rapid.Check(t, func(r *rapid.T) {
		s := gc.NewSet(rapid.Permutation(rows).Draw(r, "rows"))
		p := s.For("l")
		for _, c := range []struct {
			got, want gc.Retention
		}{
			{s.For("x").Retention(), gc.Retention{Age: day, HasAge: true, Count: 10, HasCount: true}},
			{p.Retention(), gc.Retention{Age: 2 * day, HasAge: true, Count: 10, HasCount: true}},
			{p.TableRetention("s", "u"), gc.Retention{Age: 3 * day, HasAge: true, Count: 10, HasCount: true}},
			{p.TableRetention("s", "t"), gc.Retention{Count: 10, HasCount: true}},
			{p.TableRetention("r", "t"), gc.Retention{Age: 2 * day, HasAge: true, Count: 10, HasCount: true}},
			{s.For("other").Retention(), gc.Retention{Age: day, HasAge: true, Count: 99, HasCount: true}},
		} {
			if c.got != c.want {
				r.Errorf("%+v, want %+v", c.got, c.want)
			}
		}
		if !p.Narrower() || s.For("other").Narrower() {
			r.Error("narrower")
		}
		over, err := p.With(map[string]string{"retain-age": "5d", "retain-count": "none"})
		if err != nil {
			r.Fatal(err)
		}
		if got := over.TableRetention("r", "t"); got != (gc.Retention{Age: 5 * day, HasAge: true}) || got != over.Retention() {
			r.Errorf("overridden: %+v", got)
		}
		// What a schema or a table has of its own is not overridden.
		if got := over.TableRetention("s", "u"); got != (gc.Retention{Age: 3 * day, HasAge: true}) {
			r.Errorf("overridden, in a schema with its own: %+v", got)
		}
		if got := over.TableRetention("s", "t"); !got.All() || !over.Narrower() {
			r.Errorf("overridden, for a table with its own: %+v", got)
		}
		if p.Retention().Age != 2*day {
			r.Error("With changes what it was called on")
		}
	})
}

// An override that cannot be read is refused.
func TestWithRefuses(t *testing.T) {
	t.Parallel()
	if _, err := gc.NewSet(nil).For("l").With(map[string]string{"older": "1d"}); !errors.Is(err, gc.ErrPolicy) {
		t.Error(err)
	}
}

// A snapshot goes only when neither rule keeps it.
func TestRetentionKeeps(t *testing.T) {
	t.Parallel()
	h := time.Hour
	for _, c := range []struct {
		r     gc.Retention
		age   time.Duration
		newer int64
		want  bool
	}{
		{gc.Retention{}, 1000 * h, 1000, true},
		{gc.Retention{Age: h, HasAge: true}, h - 1, 1000, true},
		{gc.Retention{Age: h, HasAge: true}, h, 0, false},
		{gc.Retention{Count: 3, HasCount: true}, 1000 * h, 2, true},
		{gc.Retention{Count: 3, HasCount: true}, 0, 3, false},
		{gc.Retention{Age: h, HasAge: true, Count: 3, HasCount: true}, h, 2, true},
		{gc.Retention{Age: h, HasAge: true, Count: 3, HasCount: true}, 0, 3, true},
		{gc.Retention{Age: h, HasAge: true, Count: 3, HasCount: true}, h, 3, false},
	} {
		if got := c.r.Keeps(c.age, c.newer); got != c.want {
			t.Errorf("%+v keeps %s with %d newer: %v", c.r, c.age, c.newer, got)
		}
	}
}

// Settings that cannot be read are problems of the lakes that they cover, and count for none.
func TestProblems(t *testing.T) {
	t.Parallel()
	s := gc.NewSet([]gc.Setting{
		set("", "", "", "maintenance", "on"),
		set("", "", "", "maintenance", "off"), // twice
		set("l", "", "", "retain-age", "soon"),
		set("m", "", "", "nonsense", "1"),
	})
	if n := len(s.Problems()); n != 3 {
		t.Errorf("%d problems", n)
	}
	for lake, want := range map[string]int{"l": 2, "m": 2, "x": 1} {
		p := s.For(lake)
		if got := len(p.Problems()); got != want || !p.Maintenance() || !p.Retention().All() {
			t.Errorf("%s: %d problems, want %d", lake, got, want)
		}
	}
	for _, x := range gc.NewSet([]gc.Setting{set("l", "", "", "every", "2h")}).For("l").InForce("", "") {
		if x.Name == "every" && (x.Value != "2h" || !x.Set || x.From.Lake != "l") || x.Name == "windows" && x.Set {
			t.Errorf("%+v", x)
		}
	}
}

// Durations are read as they are written.
func TestDurationRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(200*365*24*time.Hour)).Draw(r, "d")).Truncate(time.Millisecond)
		got, err := gc.ParseDuration(gc.FormatDuration(d))
		if err != nil || got != d {
			r.Fatalf("%s: %s, %v", gc.FormatDuration(d), got, err)
		}
	})
}

// Whatever is read must not panic, and what is taken is stable.
func FuzzPolicyValue(f *testing.F) {
	for _, s := range []string{"30d", "Mon-Fri 22:00-06:00, Sat", "10GiB", "none", "", "Sun-Mon", "1w2d", "24:00-24:00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, d := range gc.Defs() {
			_ = gc.Check(gc.Setting{Name: d.Name, Value: s})
		}
		if w, err := gc.ParseWindows(s); err == nil {
			at := time.Unix(1_700_000_000, 0).UTC()
			if next, ok := w.Change(at); ok && w.Open(next) == w.Open(at) {
				t.Errorf("%q does not change at %s", s, next)
			}
		}
		if d, err := gc.ParseDuration(s); err == nil && d < 0 {
			t.Errorf("%q is %s", s, d)
		}
	})
}
