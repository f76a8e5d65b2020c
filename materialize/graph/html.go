package graph

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

var (
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

// HTMLOptions say what stands on the page besides the graph.
type HTMLOptions struct {
	// Title is the project's name; "" for "Materialize".
	Title string
	// Note is a line under the title, such as when the page was made; may be "".
	Note string
}

// HTML gives one page that needs nothing else: the picture to move and to enlarge, details
// of what is clicked, where columns come from and go to, a search. It may load nothing and
// runs no script but its own: the policy in its head names that one by its hash.
func (g *Graph) HTML(o HTMLOptions) (string, error) {
	if o.Title == "" {
		o.Title = "Materialize"
	}
	g, err := g.cleaned()
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(g.Document()) // writes <, > and & as \u…
	if err != nil {
		return "", err
	}
	hash := sha256.Sum256([]byte(pageJS))
	var b strings.Builder
	fmt.Fprintf(&b, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%s</title>
<style>
%s</style>
</head>
<body>
<header>
<h1>%s</h1>
<p class="note">%s</p>
<label class="search"><span>Search</span><input id="search" type="search" placeholder="script, asset, column, tag, test" autocomplete="off" spellcheck="false"></label>
<span id="found" role="status"></span>
</header>
`, base64.StdEncoding.EncodeToString(hash[:]), escape(o.Title), pageCSS, escape(o.Title),
		escape(strings.TrimPrefix(o.Note+" · "+g.summary(), " · ")))
	if g.cycle != nil {
		fmt.Fprintf(&b, "<p class=\"circle\" role=\"alert\">These scripts feed each other in a circle: %s</p>\n", escape(strings.Join(g.cycle, " → ")))
	}
	b.WriteString("<main>\n<div id=\"canvas\">\n")
	b.WriteString(g.SVG())
	b.WriteString(pageRest)
	b.WriteString(`<script type="application/json" id="data">`)
	b.Write(data)
	b.WriteString("</script>\n<script>")
	b.WriteString(pageJS)
	b.WriteString("</script>\n</body>\n</html>\n")
	return b.String(), nil
}

const pageRest = `<div class="tools">
<button id="in" type="button" title="Enlarge (+)">+</button>
<button id="out" type="button" title="Reduce (-)">−</button>
<button id="fit" type="button" title="Show all (0)">fit</button>
</div>
<ul class="legend">
<li class="ok">materialized</li>
<li class="bad">failed</li>
<li class="busy">running</li>
<li class="old">stale</li>
<li class="none">never ran</li>
<li class="source">source</li>
<li class="starts">starts</li>
</ul>
</div>
<aside id="details" aria-live="polite"></aside>
</main>
`
