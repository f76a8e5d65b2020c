package graph

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

// readScripts reads scripts as YAML.
func readScripts(t testing.TB, text string) []Script {
	t.Helper()
	var scripts []Script
	d := yaml.NewDecoder(strings.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&scripts); err != nil {
		t.Fatal(err)
	}
	return scripts
}

// Each file of testdata makes graphs and shows them in all forms.
func TestForms(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		var g *Graph
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "graph":
				var err error
				if g, err = New(readScripts(t, d.Input)); err != nil {
					return err.Error() + "\n"
				}
				return g.summary() + "\n"
			case "text":
				return g.Text(TextOptions{Colour: d.HasArg("colour")})
			case "dot":
				return g.DOT()
			case "json":
				b, err := g.JSON()
				if err != nil {
					return err.Error()
				}
				return string(b)
			case "svg":
				return strings.Replace(g.SVG(), pictureCSS, "(style)\n", 1)
			case "html":
				s, err := g.HTML(HTMLOptions{Title: "Shop <&>", Note: "made for a test"})
				if err != nil {
					return err.Error()
				}
				for of, by := range map[string]string{pageCSS: "(style)\n", pageJS: "(script)", g.SVG(): "(picture)\n"} {
					if !strings.Contains(s, of) {
						t.Errorf("the page lacks its %s", by)
					}
					s = strings.Replace(s, of, by, 1)
				}
				return s
			case "levels":
				levels, err := g.Levels()
				if err != nil {
					return err.Error() + "\n"
				}
				return fmt.Sprintln(levels)
			case "select":
				names, err := g.Select(strings.Fields(d.Input))
				if err != nil {
					return err.Error() + "\n"
				}
				return fmt.Sprintln(names)
			}
			t.Fatalf("%s: %s is no directive", d.Pos, d.Cmd)
			return ""
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, scripts := range [][]Script{{{Name: "a"}, {Name: "a"}}, {{Name: ""}}} {
		if _, err := New(scripts); !errors.Is(err, ErrName) {
			t.Errorf("%v: %v", scripts, err)
		}
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	g, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Text(TextOptions{}); got != "0 scripts, 0 assets, 0 sources\n" {
		t.Error(got)
	}
	checkPicture(t, g)
	if _, err := g.HTML(HTMLOptions{}); err != nil {
		t.Error(err)
	}
}

// TestUnknown: what was not asked for is not said to have never run.
func TestUnknown(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status Status
		want   string // after the name
	}{
		{Status{Rows: -1}, "· never ran"},
		{Status{State: StateUnknown, Rows: -1}, ""},
		{Status{State: StateUnknown, Rows: -1, Error: "no server\nat all"}, "? unknown, no server"},
		{Status{State: StateFailed, Rows: -1, Error: "a.sql:2: no column\nLINE 1: SELECT"}, "✗ failed, a.sql:2: no column"},
	} {
		g, err := New([]Script{{Name: "a", Strategy: "merge", Status: test.status}})
		if err != nil {
			t.Fatal(err)
		}
		line := "\na  " + strings.TrimRight("merge  "+test.want, " ") + "\n"
		if got := g.Text(TextOptions{}); !strings.Contains(got+"\n", line) {
			t.Errorf("%+v: no line %q in\n%s", test.status, line, got)
		}
		for form, got := range map[string]string{"dot": g.DOT(), "svg": g.SVG()} {
			if strings.Contains(got, "never ran") && test.status.State != StateNone {
				t.Errorf("%s of %+v says that it never ran", form, test.status)
			}
		}
		checkPicture(t, g)
	}
}

func TestOnly(t *testing.T) {
	t.Parallel()
	g, err := New([]Script{
		{Name: "a", Writes: []string{"ducklake://l/a"}},
		{Name: "b", Reads: []string{"ducklake://l/a"}, Writes: []string{"ducklake://l/b"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	only, err := g.Only([]string{"b"})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Node{"source:ducklake://l/a", KindSource, "ducklake://l/a"}); !slices.Contains(only.Nodes(), want) {
		t.Errorf("%v lacks %v", only.Nodes(), want)
	}
}

// anyScripts draws scripts that read each other's assets, in circles too.
func anyScripts(t *rapid.T) []Script {
	n := rapid.IntRange(0, 12).Draw(t, "scripts")
	asset := rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf("ducklake://l/t%d", rapid.IntRange(0, n+2).Draw(t, "asset"))
	})
	scripts := make([]Script, n)
	for i := range scripts {
		s := Script{
			Name: fmt.Sprintf("s%d", i), Writes: []string{fmt.Sprintf("ducklake://l/t%d", i)},
			Reads:    rapid.SliceOfN(asset, 0, 3).Draw(t, "reads"),
			Strategy: rapid.SampledFrom([]string{"replace", "merge", strings.Repeat("Wide ", 30)}).Draw(t, "strategy"),
		}
		if rapid.Bool().Draw(t, "more") {
			s.Writes = append(s.Writes, asset.Draw(t, "writes"))
			s.Triggers = []Trigger{{Asset: asset.Draw(t, "trigger")}, {Native: "webhook"}}
			s.Schedule = "0 6 * * *"
			s.Comment = rapid.String().Draw(t, "comment")
			s.Status = Status{State: StateFailed, Error: rapid.String().Draw(t, "error")}
		}
		scripts[i] = s
	}
	return scripts
}

// The order keeps what it says, or there is a circle that is one; what is drawn does not
// depend on the order in which scripts come, and nothing overlaps.
func TestProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		scripts := anyScripts(t)
		g, err := New(scripts)
		if err != nil {
			t.Fatal(err)
		}
		feeds := func(a, b string) bool {
			x, y := &g.scripts[g.byName[a]], &g.scripts[g.byName[b]]
			return slices.ContainsFunc(x.Writes, func(w string) bool {
				return !slices.Contains(y.Writes, w) && (slices.Contains(y.Reads, w) || slices.Contains(y.waitsFor(), w))
			})
		}
		order, err := g.Order()
		if err == nil {
			if len(order) != len(scripts) {
				t.Fatalf("%d of %d scripts in the order", len(order), len(scripts))
			}
			for i, a := range order {
				for _, b := range order[:i] {
					if feeds(a, b) {
						t.Fatalf("%s feeds %s and comes after it: %v", a, b, order)
					}
				}
			}
		} else {
			c := g.Cycle()
			if len(c) < 5 || c[0] != c[len(c)-1] {
				t.Fatalf("%v is no circle", c)
			}
			for i := 2; i < len(c); i += 2 {
				if !feeds(c[i-2], c[i]) || !slices.Contains(g.scripts[g.byName[c[i-2]]].Writes, c[i-1]) {
					t.Fatalf("in %v %s does not feed %s", c, c[i-2], c[i])
				}
			}
		}
		checkPicture(t, g)
		seed := rapid.Uint64().Draw(t, "seed")
		shuffled := slices.Clone(scripts)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		again, err := New(shuffled)
		if err != nil {
			t.Fatal(err)
		}
		one, err := g.HTML(HTMLOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if two, err := again.HTML(HTMLOptions{}); err != nil || one != two {
			t.Fatalf("another order of scripts gives another page (%v)", err)
		}
		if one, two := g.Text(TextOptions{})+g.DOT(), again.Text(TextOptions{})+again.DOT(); one != two {
			t.Fatalf("another order of scripts gives another text:\n%s\n%s", one, two)
		}
	})
}

// What is upstream of a script is what has a way to it.
func TestSelectProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g, err := New(anyScripts(t))
		if err != nil {
			t.Fatal(err)
		}
		order, err := g.Order()
		if err != nil || len(order) == 0 {
			return
		}
		name := rapid.SampledFrom(order).Draw(t, "name")
		up, err := g.Select([]string{"+" + name})
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range order {
			down, err := g.Select([]string{other + "+"})
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(up, other) != slices.Contains(down, name) {
				t.Fatalf("+%s is %v, %s+ is %v", name, up, other, down)
			}
		}
	})
}

// The JSON is what Document says, and fits into a page as it is.
func TestJSON(t *testing.T) {
	t.Parallel()
	g, err := New([]Script{{Name: "</script><b>", Comment: "<!-- & \u2028"}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := g.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if s := string(b); strings.ContainsAny(s, "<>&\u2028") {
		t.Error(s)
	}
	var d Document
	if err := json.Unmarshal(b, &d); err != nil || d.Scripts[0].Name != "</script><b>" {
		t.Error(d, err)
	}
}
