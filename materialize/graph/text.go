package graph

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// TextOptions say how Text looks.
type TextOptions struct {
	// Colour uses the colours of a terminal (ANSI).
	Colour bool
}

const (
	ansiBold, ansiDim, ansiRed, ansiGreen, ansiYellow, ansiBlue = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[34m"
	ansiReset                                                   = "\x1b[0m"
)

// Text gives the graph for people: each script with what it reads, waits for, tests and
// writes, in the order of runs, with whom its assets feed.
func (g *Graph) Text(o TextOptions) string {
	t := textWriter{colour: o.Colour}
	t.line(g.summary())
	if g.cycle != nil {
		t.line("")
		t.line(t.paint(ansiRed, "circle: ") + Clean(strings.Join(g.cycle, " → ")))
	}
	name, how := 0, 0
	for i := range g.scripts {
		name = max(name, len([]rune(Clean(g.scripts[i].Name))))
		how = max(how, len([]rune(Clean(g.scripts[i].how()))))
	}
	for n, level := range g.drawnLevels() {
		t.line("")
		head := fmt.Sprintf("level %d", n+1)
		if n >= len(g.levels) {
			head = "in the circle or behind it"
		}
		t.line(t.paint(ansiDim, head))
		for _, i := range level {
			g.scriptText(&t, i, name, how)
		}
	}
	return t.b.String()
}

// drawnLevels are the levels, and after them one with what is in or behind a circle.
func (g *Graph) drawnLevels() [][]int {
	levels := slices.Clone(g.levels)
	var rest []int
	in := map[int]bool{}
	for _, i := range slices.Concat(levels...) {
		in[i] = true
	}
	for i := range g.scripts {
		if !in[i] {
			rest = append(rest, i)
		}
	}
	if rest != nil {
		levels = append(levels, rest)
	}
	return levels
}

func (g *Graph) summary() string {
	count := map[Kind]int{}
	for _, n := range g.nodes {
		count[n.Kind]++
	}
	parts := []string{plural(count[KindScript], "script"), plural(count[KindAsset], "asset"), plural(count[KindSource], "source")}
	if n := count[KindTrigger]; n > 0 {
		parts = append(parts, plural(n, "trigger"))
	}
	return strings.Join(parts, ", ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// how says in short how the script writes.
func (s *Script) how() string {
	if s.Partition == "" {
		return s.Strategy
	}
	return strings.TrimPrefix(s.Strategy+" · "+s.Partition, " · ")
}

func (g *Graph) scriptText(t *textWriter, i, nameWidth, howWidth int) {
	s := &g.scripts[i]
	mark, colour := s.Status.mark()
	line := t.paint(ansiBold, pad(Clean(s.Name), nameWidth)) + "  " + pad(Clean(s.how()), howWidth)
	if !s.Status.notAsked() {
		line += "  " + t.paint(colour, mark) + " " + Clean(s.Status.Text())
	}
	t.line(strings.TrimRight(line, " "))
	var rows [][2]string
	add := func(what string, values []string) {
		for k, v := range values {
			if k > 0 {
				what = ""
			}
			rows = append(rows, [2]string{what, Clean(v)})
		}
	}
	if s.Comment != "" {
		add("about", []string{s.Comment})
	}
	add("on", s.natives())
	add(map[bool]string{true: "on all", false: "on"}[s.TriggerAll], s.waitsFor())
	reads := slices.Clone(s.Reads)
	slices.Sort(reads)
	add("reads", slices.Compact(reads))
	if len(s.Tags) > 0 {
		add("tags", []string{strings.Join(s.Tags, ", ")})
	}
	if s.Freshness != "" {
		add("fresh", []string{"within " + s.Freshness})
	}
	if len(s.Tests) > 0 {
		add("tests", []string{strings.Join(s.Tests, ", ")})
	}
	var writes []string
	for _, w := range s.Writes {
		if fed := g.fed(w, i); len(fed) > 0 {
			w += " → " + strings.Join(fed, ", ")
		}
		writes = append(writes, w)
	}
	add("writes", writes)
	last := len(rows) - 1
	for last >= 0 && rows[last][0] == "" {
		last--
	}
	for k, r := range rows {
		branch := "│  "
		switch {
		case k == last:
			branch = "└─ "
		case k > last:
			branch = "   "
		case r[0] != "":
			branch = "├─ "
		}
		t.line("  " + t.paint(ansiDim, branch+pad(r[0], 6)) + "  " + r[1])
	}
}

// fed are the names of the scripts that read or wait for an asset, but for its writer.
func (g *Graph) fed(asset string, but int) []string {
	var out []string
	for i := range g.scripts {
		s := &g.scripts[i]
		if i != but && (slices.Contains(s.Reads, asset) || slices.Contains(s.waitsFor(), asset)) {
			out = append(out, s.Name)
		}
	}
	return out
}

// notAsked says that there is nothing to say.
func (s Status) notAsked() bool { return s.State == StateUnknown && s.Error == "" }

// mark is a sign for the state, and its colour.
func (s Status) mark() (sign, colour string) {
	switch s.State {
	case StateNone:
		return "·", ansiDim
	case StateUnknown:
		return "?", ansiDim
	case StateRunning:
		return "▶", ansiBlue
	case StateMaterialized:
		return "✓", ansiGreen
	case StateFailed:
		return "✗", ansiRed
	}
	return "!", ansiYellow
}

// Text says the status in one line: nothing of one that was not asked for.
func (s Status) Text() string {
	switch {
	case s.State == StateNone:
		return "never ran"
	case s.notAsked():
		return ""
	}
	parts := []string{string(s.State)}
	if s.Snapshot > 0 {
		parts = append(parts, fmt.Sprintf("snapshot %d", s.Snapshot))
	}
	if s.State != StateRunning && s.Rows >= 0 {
		parts = append(parts, rows(s.Rows))
	}
	if !s.At.IsZero() {
		parts = append(parts, s.At.UTC().Format(time.DateTime)+"Z")
	}
	if s.Error != "" {
		line, _, _ := strings.Cut(s.Error, "\n") // the rest is in the records
		parts = append(parts, line)
	}
	return strings.Join(parts, ", ")
}

func rows(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return grouped(n) + " rows"
}

// grouped writes a number with its thousands apart.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-len([]rune(s))))
}

type textWriter struct {
	b      strings.Builder
	colour bool
}

func (t *textWriter) line(s string) { t.b.WriteString(strings.TrimRight(s, " ") + "\n") }

func (t *textWriter) paint(colour, s string) string {
	if !t.colour {
		return s
	}
	return colour + s + ansiReset
}
