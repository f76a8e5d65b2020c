package graph

import (
	"encoding/xml"
	"io"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// fataler is what testing.T and rapid.T have in common.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// rect is a box as the picture draws it.
type rect struct {
	id         string
	x, y, w, h float64
	texts      []struct{ x, y, width float64 }
}

// drawn reads the picture as a strict reader of XML does.
func drawn(t fataler, svg string) (boxes []rect, width, height float64) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	var group string
	var font, x, y float64
	inText := false
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return boxes, width, height
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, svg)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			a := map[string]string{}
			for _, at := range tok.Attr {
				if strings.HasPrefix(at.Name.Local, "on") {
					t.Fatalf("attribute %s", at.Name.Local)
				}
				a[at.Name.Local] = at.Value
			}
			f := func(key string) float64 { v, _ := strconv.ParseFloat(a[key], 64); return v }
			switch {
			case tok.Name.Local == "svg":
				width, height = f("width"), f("height")
			case tok.Name.Local == "script" || tok.Name.Local == "foreignObject" || tok.Name.Local == "image" || tok.Name.Local == "a":
				t.Fatalf("element %s", tok.Name.Local)
			case tok.Name.Local == "g" && a["data-id"] != "":
				group = a["data-id"]
			case tok.Name.Local == "rect" && a["class"] == "body":
				boxes = append(boxes, rect{id: group, x: f("x"), y: f("y"), w: f("width"), h: f("height")})
			case tok.Name.Local == "text":
				inText, x, y, font = true, f("x"), f("y"), fontSmall
				if a["class"] == "name" {
					font = fontTitle
				}
			}
		case xml.CharData:
			if inText {
				b := &boxes[len(boxes)-1]
				b.texts = append(b.texts, struct{ x, y, width float64 }{x, y, textWidth(string(tok), font)})
			}
		case xml.EndElement:
			inText = false
		}
	}
}

// checkPicture checks that the picture is well formed, that all boxes are on it, that none
// overlaps another, that labels are inside and that no wire leads through a box.
func checkPicture(t fataler, g *Graph) {
	t.Helper()
	boxes, width, height := drawn(t, g.SVG())
	p := g.picture()
	if len(boxes) != len(p.figs) {
		t.Fatalf("%d boxes for %d figures", len(boxes), len(p.figs))
	}
	for i, a := range boxes {
		if a.x < 0 || a.y < 0 || a.x+a.w > width || a.y+a.h > height {
			t.Fatalf("%s is not on the picture", a.id)
		}
		for _, b := range boxes[:i] {
			if a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.y+b.h && b.y < a.y+a.h {
				t.Fatalf("%s and %s overlap", a.id, b.id)
			}
		}
		for _, l := range a.texts {
			if l.x < a.x || l.x+l.width > a.x+a.w || l.y < a.y || l.y > a.y+a.h {
				t.Fatalf("a label of %s is not in its box", a.id)
			}
		}
	}
	// Wires are level in the columns of boxes, at the heights of their places there.
	for _, w := range p.wires {
		for _, i := range w.path[1 : len(w.path)-1] {
			y := p.boxes[i].middle()
			for _, b := range p.boxes {
				if b.node >= 0 && b.rank == p.boxes[i].rank && b.y < y && y < b.y+b.h {
					t.Fatalf("a wire leads through %s", p.figs[b.node].id)
				}
			}
		}
	}
}

// settle gives the best places: no shift of a block improves them, and gaps are kept.
func TestSettle(t *testing.T) {
	t.Parallel()
	l := &layout{boxes: []box{{h: 10, wanted: 0}, {h: 10, wanted: 0}, {h: 10, wanted: 100}}}
	l.settle([]int{0, 1, 2})
	gap := 10 + boxGap
	for i, want := range []float64{-gap / 2, gap / 2, 100} {
		if got := l.boxes[i].middle(); got != want {
			t.Errorf("box %d is at %v, not %v", i, got, want)
		}
	}
}

// The wires of a graph that can be drawn without crossings do not cross.
func TestCrossings(t *testing.T) {
	t.Parallel()
	sizes := make([]size, 8)
	for i := range sizes {
		sizes[i] = size{10, 10}
	}
	// 0..3 to 7..4: the order of the indexes crosses everywhere.
	l := place(sizes, [][2]int{{0, 7}, {1, 6}, {2, 5}, {3, 4}})
	for i := range 3 {
		if (l.boxes[i].y < l.boxes[i+1].y) != (l.boxes[7-i].y < l.boxes[6-i].y) {
			t.Errorf("the wires of %d and %d cross", i, i+1)
		}
	}
}

func TestInversions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 20).Draw(t, "s")
		want := 0
		for i, a := range s {
			for _, b := range s[i+1:] {
				if b < a {
					want++
				}
			}
		}
		if got := inversions(s); got != want {
			t.Fatalf("%d, not %d", got, want)
		}
	})
}

func TestShorten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		got := shorten(s, fontSmall, maxLabel)
		if textWidth(got, fontSmall) > maxLabel {
			t.Fatalf("%q is still too wide", got)
		}
		if textWidth(s, fontSmall) <= maxLabel && got != s {
			t.Fatalf("%q became %q", s, got)
		}
	})
}
