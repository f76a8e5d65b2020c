package script

import (
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
)

// Comparison is what comparing two runs of one script came to.
type Comparison struct {
	Differences []string // not explained by the script
	Pinned      int      // statements whose difference the script explains
	Compared    int      // statements with equal outcome
	stale       []int    // indices of Differences that are pins without a difference
}

// DropStale forgets the complaints about pins without a difference: two runs on one server cannot differ.
func (c *Comparison) DropStale() {
	for i := len(c.stale) - 1; i >= 0; i-- {
		c.Differences = slices.Delete(c.Differences, c.stale[i], c.stale[i]+1)
	}
	c.stale = nil
}

// Compare compares the outcomes statement by statement and then the tables. A pinned difference that is none any more is a difference too:
// pins must not outlive their reason.
func Compare(s *Script, pg, eider *Trace) Comparison {
	var c Comparison
	a, b := pg.Outcomes, eider.Outcomes
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		// Steps of one server only have no partner; their lines tell.
		if x.Line != y.Line && x.Differs != "" && !hasLine(b[j:], x.Line) {
			c.Pinned++
			i++
			continue
		}
		if x.Line != y.Line && y.Differs != "" && !hasLine(a[i:], y.Line) {
			c.Pinned++
			j++
			continue
		}
		i++
		j++
		same := x.Line == y.Line && x.Err == y.Err && slices.Equal(x.Rows, y.Rows)
		switch {
		case x.Differs != "" && same:
			c.stale = append(c.stale, len(c.Differences))
			c.Differences = append(c.Differences, fmt.Sprintf("%s:%d: pinned as different, but equal: %s", s.Name, x.Line, x.SQL))
		case x.Differs != "":
			c.Pinned++
		case same:
			c.Compared++
		default:
			c.Differences = append(c.Differences, fmt.Sprintf("%s:%d: %s\n%s", s.Name, x.Line, clip(x.SQL, 300), show(x, y)))
		}
	}
	for ; i < len(a); i++ {
		if a[i].Differs != "" {
			c.Pinned++
			continue
		}
		c.Differences = append(c.Differences, fmt.Sprintf("%s:%d: not reached on eider", s.Name, a[i].Line))
		break
	}
	for ; j < len(b); j++ {
		if b[j].Differs != "" {
			c.Pinned++
			continue
		}
		c.Differences = append(c.Differences, fmt.Sprintf("%s:%d: not reached on pg", s.Name, b[j].Line))
		break
	}
	diffs := compareTables(pg.Tables, eider.Tables)
	switch {
	case s.TablesDiffer == "":
		for _, d := range diffs {
			c.Differences = append(c.Differences, s.Name+": "+d)
		}
	case len(diffs) > 0:
		c.Pinned++
	}
	return c
}

func hasLine(outcomes []Outcome, line int) bool {
	for _, o := range outcomes {
		if o.Line == line {
			return true
		}
	}
	return false
}

func show(x, y Outcome) string {
	if x.Err != "" || y.Err != "" {
		return fmt.Sprintf("  pg    error %q rows %q\n  eider error %q rows %q", x.Err, clip(strings.Join(x.Rows, "; "), 500), y.Err, clip(strings.Join(y.Rows, "; "), 500))
	}
	var out []string
	for i := 0; i < max(len(x.Rows), len(y.Rows)) && len(out) < 20; i++ {
		l, r := "(no row)", "(no row)"
		if i < len(x.Rows) {
			l = x.Rows[i]
		}
		if i < len(y.Rows) {
			r = y.Rows[i]
		}
		if l != r {
			out = append(out, "  pg    "+l, "  eider "+r)
		}
	}
	return strings.Join(out, "\n")
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}

// Rewrite puts the rows of a trace into the file as the expected rows of its queries. Queries in loops are left as they are, and of pinned ones
// only the rows of the trace's own server are written.
func Rewrite(s *Script, path string, t *Trace) error {
	type edit struct {
		from, to int
		lines    []string
	}
	rows := map[int]Outcome{}
	for _, o := range t.Outcomes {
		if o.query && o.top && o.Err == "" {
			rows[o.Line] = o
		}
	}
	var edits []edit
	for _, st := range s.Steps {
		o, ok := rows[st.Line]
		target, rule := "", "----"
		if st.Differs != "" {
			target, rule = t.Target, "---- "+t.Target
		}
		old := st.Expect[target]
		if !ok || st.Verb != VerbQuery || st.Differs != "" && old == nil {
			continue
		}
		e := edit{from: st.bodyEnd, to: st.bodyEnd, lines: append([]string{rule}, o.Rows...)}
		if old != nil {
			e.from, e.to = old.start, old.end
		}
		edits = append(edits, e)
	}
	sort.Slice(edits, func(i, j int) bool { return edits[i].from > edits[j].from })
	lines := slices.Clone(s.Lines)
	for _, e := range edits {
		lines = slices.Replace(lines, e.from, e.to, e.lines...)
	}
	return os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}
