package graph

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/eiderdb/eider/materialize/lineage"
)

// Errors of this package.
var (
	// ErrCycle is returned when there is no order because scripts wait for each other; the
	// text names them in a circle.
	ErrCycle = errors.New("scripts feed each other in a circle")
	// ErrSelector is returned for a selector that stands for no script.
	ErrSelector = errors.New("no script is meant")
	// ErrName is returned when two scripts have one name, or one has none.
	ErrName = errors.New("scripts need names of their own")
)

// Script is one script of a project.
type Script struct {
	Name string
	// File is its path in the project.
	File string
	// Comment is what the script says about itself; may be "".
	Comment string
	// Writes are the assets that it makes, such as ducklake://lake/orders.
	Writes []string
	// Reads are the assets, files and tables that it reads. One that it also writes makes no
	// edge: it reads its own past.
	Reads    []string
	Triggers []Trigger
	// TriggerAll says that all asset triggers must have come, not any.
	TriggerAll bool
	// Partition is the kind of its partitions, such as daily; "" for none.
	Partition string
	// Strategy is how it writes, such as merge.
	Strategy string
	Tags     []string
	// Tests are the data tests by the names that results show.
	Tests     []string
	Freshness string
	// Schedule is a cron expression; "" for none.
	Schedule string
	// Columns are those of Writes[0] with what they are made of.
	Columns []lineage.AssetColumn
	// Status is that of the last run.
	Status Status
}

// Trigger is something that a script waits for: an asset or something native, such as
// schedule or webhook. One of the two is set.
type Trigger struct {
	Asset  string
	Native string
}

// State is how the last run ended.
type State string

// States. Others are shown as they are.
const (
	StateNone         State = "" // it never ran
	StateRunning      State = "running"
	StateMaterialized State = "materialized"
	StateFailed       State = "failed"
	StateStale        State = "stale"   // materialized, and older than its freshness allows
	StateUnknown      State = "unknown" // the catalog was not asked or, with an error, could not be
)

// Status is what is known of the last run.
type Status struct {
	State State
	// Snapshot is what the run committed; 0 when there is none.
	Snapshot int64
	// Rows is how many it has; below 0 when that is not known.
	Rows int64
	// At is when the run ended or, while it runs, began.
	At    time.Time
	Error string
}

// Kind is what a node is.
type Kind string

// Kinds of nodes.
const (
	KindScript  Kind = "script"
	KindAsset   Kind = "asset"   // some script writes it
	KindSource  Kind = "source"  // it is read and no script writes it
	KindTrigger Kind = "trigger" // native
)

// Node is a node of the graph.
type Node struct {
	// ID is the kind and the name, as in asset:ducklake://lake/orders.
	ID   string
	Kind Kind
	Name string
}

// Edge leads from what feeds to what is fed.
type Edge struct {
	From, To string // IDs
	// Write is a script's to its asset; Read an asset's to the script; Trigger that of what
	// starts the script. An asset can be read and start.
	Write, Read, Trigger bool
}

// Graph is made by New and does not change.
type Graph struct {
	scripts []Script // by name
	byName  map[string]int
	nodes   []Node // by kind and name
	edges   []Edge // by ends
	writers map[string][]int
	// next has for each script those that its assets feed, prev those that feed it; both in
	// order.
	next, prev [][]int
	cycle      []string
	levels     [][]int
}

// New makes the graph of the scripts.
func New(scripts []Script) (*Graph, error) {
	g := &Graph{scripts: slices.Clone(scripts), byName: map[string]int{}, writers: map[string][]int{}}
	slices.SortStableFunc(g.scripts, func(a, b Script) int { return cmp.Compare(a.Name, b.Name) })
	for i, s := range g.scripts {
		if _, twice := g.byName[s.Name]; twice || s.Name == "" {
			return nil, errors.Join(ErrName, errors.New(Clean(s.Name)))
		}
		g.byName[s.Name] = i
		for _, w := range s.Writes {
			if !slices.Contains(g.writers[w], i) {
				g.writers[w] = append(g.writers[w], i)
			}
		}
	}
	g.connect()
	g.sort()
	return g, nil
}

// Only is the graph of some of the scripts.
func (g *Graph) Only(names []string) (*Graph, error) {
	var scripts []Script
	for _, s := range g.scripts {
		if slices.Contains(names, s.Name) {
			scripts = append(scripts, s)
		}
	}
	return New(scripts)
}

// Scripts, by name.
func (g *Graph) Scripts() []Script { return slices.Clone(g.scripts) }

// Nodes, by kind and name.
func (g *Graph) Nodes() []Node { return slices.Clone(g.nodes) }

// Edges, by their ends.
func (g *Graph) Edges() []Edge { return slices.Clone(g.edges) }

func id(k Kind, name string) string { return string(k) + ":" + name }

// native is the name of a trigger's node: schedules are told apart by their times.
func (s *Script) native(t Trigger) string {
	if t.Native == "schedule" && s.Schedule != "" {
		return "schedule " + s.Schedule
	}
	return t.Native
}

// natives are the names of all native triggers of the script, its schedule's among them.
func (s *Script) natives() []string {
	var out []string
	if s.Schedule != "" {
		out = append(out, "schedule "+s.Schedule)
	}
	for _, t := range s.Triggers {
		if t.Native != "" {
			out = append(out, s.native(t))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// waitsFor are the assets that start the script.
func (s *Script) waitsFor() []string {
	var out []string
	for _, t := range s.Triggers {
		if t.Asset != "" {
			out = append(out, t.Asset)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ReadsItself tells whether the script reads an asset that it writes.
func (s *Script) ReadsItself() bool {
	return slices.ContainsFunc(s.Reads, func(r string) bool { return slices.Contains(s.Writes, r) })
}

func (g *Graph) connect() {
	edges := map[[2]string]*Edge{}
	edge := func(from, to string) *Edge {
		k := [2]string{from, to}
		if edges[k] == nil {
			edges[k] = &Edge{From: from, To: to}
		}
		return edges[k]
	}
	nodes := map[string]Node{}
	node := func(k Kind, name string) string {
		n := Node{id(k, name), k, name}
		nodes[n.ID] = n
		return n.ID
	}
	asset := func(name string) string {
		if len(g.writers[name]) > 0 {
			return node(KindAsset, name)
		}
		return node(KindSource, name)
	}
	g.next, g.prev = make([][]int, len(g.scripts)), make([][]int, len(g.scripts))
	feeds := func(name string, to int) {
		for _, w := range g.writers[name] {
			if !slices.Contains(g.next[w], to) {
				g.next[w] = append(g.next[w], to)
				g.prev[to] = append(g.prev[to], w)
			}
		}
	}
	for i := range g.scripts {
		s := &g.scripts[i]
		me := node(KindScript, s.Name)
		for _, w := range s.Writes {
			edge(me, asset(w)).Write = true
		}
		for _, r := range s.Reads {
			if !slices.Contains(s.Writes, r) {
				edge(asset(r), me).Read = true
				feeds(r, i)
			}
		}
		for _, r := range s.waitsFor() {
			if !slices.Contains(s.Writes, r) {
				edge(asset(r), me).Trigger = true
				feeds(r, i)
			}
		}
		for _, n := range s.natives() {
			edge(node(KindTrigger, n), me).Trigger = true
		}
	}
	for _, n := range nodes {
		g.nodes = append(g.nodes, n)
	}
	slices.SortFunc(g.nodes, func(a, b Node) int { return cmp.Compare(a.ID, b.ID) })
	for _, e := range edges {
		g.edges = append(g.edges, *e)
	}
	slices.SortFunc(g.edges, func(a, b Edge) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	for i := range g.scripts {
		slices.Sort(g.next[i])
		slices.Sort(g.prev[i])
	}
}

// Clean makes text that fits on one line of a terminal or of a document: no control
// character remains that could move the cursor, end a line or spoil an XML document.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case r < 0x20, r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029, r >= 0xfffe && r <= 0xffff, bidi(r):
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// bidi tells characters that turn the direction of what stands beside them.
func bidi(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x061c
}
