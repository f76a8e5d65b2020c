package graph

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// figure is something that is drawn as a box: a script with the assets that it alone
// writes, an asset with several writers, a source or a trigger.
type figure struct {
	id    string // of the node
	kind  Kind
	state State
	title string // in full, for a pointer that rests on it
	lines []textLine
	size  size
}

// textLine is a line of text in a box.
type textLine struct {
	text  string
	class string // of the style sheet
	font  float64
}

// link leads from a figure to another.
type link struct {
	from, to int
	trigger  bool // it only starts
	nodes    []string
}

const (
	padX, padY = 14.0, 10.0
	bar        = 5.0 // the stripe that tells the state
	maxLabel   = 280.0
	fontTitle  = 13.0
	fontSmall  = 11.0
	lineHeight = 1.45
)

// figures gives what is drawn, and the links; by kind and name.
func (g *Graph) figures() ([]figure, []link) {
	var figs []figure
	at := map[string]int{} // by node
	for _, n := range g.nodes {
		if n.Kind == KindAsset && len(g.writers[n.Name]) == 1 {
			continue // a line of its writer
		}
		at[n.ID] = len(figs)
		figs = append(figs, g.figure(n))
	}
	for _, n := range g.nodes {
		if n.Kind == KindAsset && len(g.writers[n.Name]) == 1 {
			at[n.ID] = at[id(KindScript, g.scripts[g.writers[n.Name][0]].Name)]
		}
	}
	var links []link
	index := map[[2]int]int{}
	for _, e := range g.edges {
		from, to := at[e.From], at[e.To]
		if from == to {
			continue
		}
		k := [2]int{from, to}
		if _, ok := index[k]; !ok {
			index[k] = len(links)
			links = append(links, link{from: from, to: to, trigger: true})
		}
		l := &links[index[k]]
		l.trigger = l.trigger && e.Trigger && !e.Read
		l.nodes = append(l.nodes, e.From)
	}
	return figs, links
}

func (g *Graph) figure(n Node) figure {
	f := figure{id: n.ID, kind: n.Kind, title: Clean(n.Name)}
	add := func(text, class string, font float64) {
		if text = Clean(text); text != "" {
			f.lines = append(f.lines, textLine{shorten(text, font, maxLabel), class, font})
		}
	}
	switch n.Kind {
	case KindScript:
		s := &g.scripts[g.byName[n.Name]]
		f.state = s.Status.State
		add(s.Name, "name", fontTitle)
		add(s.how(), "how", fontSmall)
		for _, w := range s.Writes {
			if len(g.writers[w]) == 1 {
				add(w, "asset", fontSmall)
			}
		}
		if !s.Status.notAsked() {
			mark, _ := s.Status.mark()
			add(mark+" "+s.Status.short(), "state", fontSmall)
			f.title += "\n" + Clean(s.Status.Text())
		}
		if s.Comment != "" {
			f.title += "\n" + Clean(s.Comment)
		}
	case KindTrigger:
		add(n.Name, "how", fontSmall)
	default:
		add(n.Name, "asset", fontSmall)
	}
	w, h := 0.0, 0.0
	for _, l := range f.lines {
		w, h = max(w, textWidth(l.text, l.font)), h+l.font*lineHeight
	}
	f.size = size{float64(int(w+2*padX+bar) + 1), float64(int(h+2*padY) + 1)}
	return f
}

// short is the status for a box: without the message, and what the colour says as well.
func (s Status) short() string {
	if s.State == StateNone {
		return "never ran"
	}
	var parts []string
	if s.State != StateMaterialized {
		parts = append(parts, string(s.State))
	}
	if s.State != StateRunning && s.Rows >= 0 {
		parts = append(parts, rows(s.Rows))
	}
	if !s.At.IsZero() {
		parts = append(parts, s.At.UTC().Format("2006-01-02 15:04")+"Z")
	}
	return strings.Join(parts, " · ")
}

// textWidth is about how wide a text is. It is rather too wide: the figures are those of
// DejaVu Sans, which is wider than most.
func textWidth(s string, font float64) float64 {
	w := 0.0
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r >= 0x1100: // scripts and signs as wide as high
			w += 1.05
		case strings.ContainsRune("iljtfr.,:;'|!/ ()[]-", r):
			w += 0.42
		case strings.ContainsRune("mwMW@%", r):
			w++
		case strings.ContainsRune("<>=+~^#&$", r):
			w += 0.86
		case unicode.IsUpper(r):
			w += 0.79
		default:
			w += 0.64
		}
	}
	if font >= fontTitle { // names are bold
		w *= 1.1
	}
	return w * font
}

// shorten cuts the middle out of a text that is too wide: names often differ at their ends.
func shorten(s string, font, most float64) string {
	if textWidth(s, font) <= most {
		return s
	}
	r := []rune(s)
	head, tail := r[:len(r)/2], r[len(r)/2:]
	for len(head)+len(tail) > 0 && textWidth(string(head)+"…"+string(tail), font) > most {
		if len(head) > len(tail) {
			head = head[:len(head)-1]
		} else {
			tail = tail[1:]
		}
	}
	return string(head) + "…" + string(tail)
}

// picture is the figures in their places.
type picture struct {
	*layout
	figs  []figure
	links []link
}

func (g *Graph) picture() picture {
	figs, links := g.figures()
	sizes := make([]size, len(figs))
	for i, f := range figs {
		sizes[i] = f.size
	}
	ends := make([][2]int, len(links))
	for i, l := range links {
		ends[i] = [2]int{l.from, l.to}
	}
	return picture{place(sizes, ends), figs, links}
}

// ports gives for each wire the heights at which it leaves its first box and comes to its
// last one: spread over the side in the order of where they lead, so that they do not cross
// at the box.
func (p *picture) ports() (leave, come []float64) {
	leave, come = make([]float64, len(p.wires)), make([]float64, len(p.wires))
	side := func(of func(*wire) (end, next int), to []float64) {
		at := map[int][]int{}
		for w := range p.wires {
			end, _ := of(&p.wires[w])
			at[end] = append(at[end], w)
		}
		for end, wires := range at {
			slices.SortStableFunc(wires, func(a, b int) int {
				_, x := of(&p.wires[a])
				_, y := of(&p.wires[b])
				switch d := p.boxes[x].middle() - p.boxes[y].middle(); {
				case d < 0:
					return -1
				case d > 0:
					return 1
				}
				return 0
			})
			b := &p.boxes[end]
			step := min(portSpread, (b.h-2*padY)/float64(len(wires)))
			for k, w := range wires {
				to[w] = b.middle() + (float64(k)-float64(len(wires)-1)/2)*step
			}
		}
	}
	side(func(w *wire) (int, int) { return w.path[0], w.path[1] }, leave)
	side(func(w *wire) (int, int) { return w.path[len(w.path)-1], w.path[len(w.path)-2] }, come)
	return leave, come
}

// route is the path of a wire in SVG's terms: straight beside boxes, curved between ranks.
func (p *picture) route(w *wire, leave, come float64, rankWidth func(int) float64) string {
	var b strings.Builder
	first := &p.boxes[w.path[0]]
	x, y := first.x+first.w, leave
	fmt.Fprintf(&b, "M%s %s", number(x), number(y))
	if end := first.x + rankWidth(first.rank); end > x {
		x = end
		fmt.Fprintf(&b, "H%s", number(x))
	}
	for _, i := range w.path[1:] {
		t := &p.boxes[i]
		ty := t.middle()
		if t.node >= 0 {
			ty = come
		}
		half := (t.x - x) / 2
		fmt.Fprintf(&b, "C%s %s %s %s %s %s", number(x+half), number(y), number(x+half), number(ty), number(t.x), number(ty))
		if x, y = t.x, ty; t.node < 0 {
			x = t.x + t.w
			fmt.Fprintf(&b, "H%s", number(x))
		}
	}
	return b.String()
}

func number(f float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0")
}
