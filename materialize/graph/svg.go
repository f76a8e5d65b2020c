package graph

import (
	_ "embed"
	"encoding/xml"
	"fmt"
	"strings"
)

//go:embed picture.css
var pictureCSS string

// SVG gives the graph as a picture that stands alone. Its colours follow the reader's
// preference for light or dark.
func (g *Graph) SVG() string {
	p := g.picture()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="graph" viewBox="0 0 %s %s" width="%s" height="%s" role="img" aria-label="%s">`+"\n",
		number(p.width), number(p.height), number(p.width), number(p.height), escape("Graph of "+g.summary()))
	b.WriteString("<style>\n" + pictureCSS + "</style>\n<defs>")
	for _, kind := range []string{"read", "start"} {
		fmt.Fprintf(&b, `<marker id="arrow-%s" class="arrow %s" viewBox="0 0 8 8" refX="7.5" refY="4" markerUnits="userSpaceOnUse" markerWidth="11" markerHeight="11" orient="auto-start-reverse"><path d="M0 0.5L8 4L0 7.5z"/></marker>`, kind, kind)
	}
	b.WriteString("</defs>\n")
	fmt.Fprintf(&b, `<rect class="paper" width="%s" height="%s"/>`+"\n<g class=\"wires\">\n", number(p.width), number(p.height))
	p.drawWires(&b)
	b.WriteString("</g>\n<g class=\"boxes\">\n")
	for i := range p.boxes {
		if bx := &p.boxes[i]; bx.node >= 0 {
			p.drawBox(&b, bx, &p.figs[bx.node])
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

func (p *picture) drawWires(b *strings.Builder) {
	widths := map[int]float64{}
	for i := range p.boxes {
		widths[p.boxes[i].rank] = max(widths[p.boxes[i].rank], p.boxes[i].w)
	}
	leave, come := p.ports()
	for i := range p.wires {
		w := &p.wires[i]
		l := &p.links[w.edge]
		kind, end := "read", "end"
		if l.trigger {
			kind = "start"
		}
		if w.turned {
			end, kind = "start", kind+" back"
		}
		fmt.Fprintf(b, `<path class="wire %s" data-from="%s" data-to="%s" marker-%s="url(#arrow-%s)" d="%s"><title>%s → %s</title></path>`+"\n",
			kind, escape(p.figs[l.from].id), escape(p.figs[l.to].id), end, strings.TrimSuffix(kind, " back"),
			p.route(w, leave[i], come[i], func(r int) float64 { return widths[r] }),
			escape(strings.Join(l.nodes, ", ")), escape(p.figs[l.to].id))
	}
}

func (p *picture) drawBox(b *strings.Builder, bx *box, f *figure) {
	state := "state-" + stateClass(f.state)
	fmt.Fprintf(b, `<g class="box %s %s" data-id="%s" tabindex="0" role="button"><title>%s</title>`, f.kind, state, escape(f.id), escapeLines(f.title))
	radius := "8"
	if f.kind == KindTrigger {
		radius = number(bx.h / 2)
	}
	fmt.Fprintf(b, `<rect class="body" x="%s" y="%s" width="%s" height="%s" rx="%s"/>`, number(bx.x), number(bx.y), number(bx.w), number(bx.h), radius)
	if f.kind == KindScript {
		fmt.Fprintf(b, `<rect class="bar" x="%s" y="%s" width="%s" height="%s" rx="2.5"/>`, number(bx.x+5), number(bx.y+8), number(bar), number(bx.h-16))
	}
	y := bx.y + padY
	for _, l := range f.lines {
		fmt.Fprintf(b, `<text class="%s" x="%s" y="%s">%s</text>`, l.class, number(bx.x+padX+bar), number(y+l.font*1.08), escape(l.text))
		y += l.font * lineHeight
	}
	b.WriteString("</g>\n")
}

func stateClass(s State) string {
	switch s {
	case StateNone, StateUnknown:
		return "none"
	case StateRunning, StateMaterialized, StateFailed, StateStale:
		return string(s)
	}
	return "other"
}

// escape makes text of one line fit for XML's and HTML's text and attributes.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(Clean(s))) // a Builder takes everything
	return b.String()
}

func escapeLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = escape(lines[i])
	}
	return strings.Join(lines, "\n")
}
