package graph

import (
	"fmt"
	"strings"
)

// DOT gives the graph in the language of Graphviz.
func (g *Graph) DOT() string {
	var b strings.Builder
	b.WriteString("digraph materialize {\n\trankdir=LR;\n\tnode [fontname=\"Helvetica\", fontsize=11];\n\tedge [color=\"#6b7280\"];\n")
	for _, n := range g.nodes {
		label, style := dotText(n.Name), ""
		switch n.Kind {
		case KindScript:
			s := &g.scripts[g.byName[n.Name]]
			label = dotText(n.Name) + `\n` + dotText(s.how())
			style = fmt.Sprintf("shape=box, style=\"rounded,filled\", fillcolor=%q", dotFill(s.Status.State))
		case KindAsset:
			style = "shape=cylinder"
		case KindSource:
			style = "shape=cylinder, style=dashed"
		case KindTrigger:
			style = "shape=hexagon"
		}
		fmt.Fprintf(&b, "\t\"%s\" [label=\"%s\", %s];\n", dotText(n.ID), label, style)
	}
	for _, e := range g.edges {
		style := ""
		if e.Trigger && !e.Read {
			style = " [style=dashed]"
		} else if e.Trigger {
			style = " [style=bold]"
		}
		fmt.Fprintf(&b, "\t\"%s\" -> \"%s\"%s;\n", dotText(e.From), dotText(e.To), style)
	}
	b.WriteString("}\n")
	return b.String()
}

func dotText(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(Clean(s))
}

func dotFill(s State) string {
	switch s {
	case StateNone, StateUnknown:
		return "#f3f4f6"
	case StateRunning:
		return "#dbeafe"
	case StateMaterialized:
		return "#dcfce7"
	case StateFailed:
		return "#fee2e2"
	}
	return "#fef3c7"
}
