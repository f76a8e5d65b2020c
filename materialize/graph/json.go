package graph

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/eiderdb/eider/materialize/lineage"
)

// Document is what JSON gives; DESIGN.md says what its parts are.
type Document struct {
	// Version is 1; it grows when a field changes its meaning or goes away.
	Version int          `json:"version"`
	Scripts []DocScript  `json:"scripts"`
	Nodes   []DocNode    `json:"nodes"`
	Edges   []DocEdge    `json:"edges"`
	Levels  [][]string   `json:"levels"`
	Cycle   []string     `json:"cycle,omitempty"`
	Columns []DocColumns `json:"columns"`
}

// DocScript is a script of a Document.
type DocScript struct {
	Name        string       `json:"name"`
	File        string       `json:"file"`
	Comment     string       `json:"comment,omitempty"`
	Level       int          `json:"level"` // from 1; 0 in or behind a circle
	Strategy    string       `json:"strategy,omitempty"`
	Partition   string       `json:"partition,omitempty"`
	Writes      []string     `json:"writes"`
	Reads       []string     `json:"reads"`
	ReadsItself bool         `json:"reads_itself,omitempty"`
	Triggers    []DocTrigger `json:"triggers"`
	TriggerAll  bool         `json:"trigger_all,omitempty"`
	Schedule    string       `json:"schedule,omitempty"`
	Freshness   string       `json:"freshness,omitempty"`
	Tags        []string     `json:"tags"`
	Tests       []string     `json:"tests"`
	Upstream    []string     `json:"upstream"`   // scripts that feed it directly
	Downstream  []string     `json:"downstream"` // scripts that it feeds directly
	Status      DocStatus    `json:"status"`
}

// DocTrigger is a trigger of a script: an asset or something native.
type DocTrigger struct {
	Asset  string `json:"asset,omitempty"`
	Native string `json:"native,omitempty"`
}

// DocStatus is the status of a script.
type DocStatus struct {
	State    State      `json:"state"` // "" when it never ran
	Snapshot int64      `json:"snapshot,omitempty"`
	Rows     *int64     `json:"rows,omitempty"`
	At       *time.Time `json:"at,omitempty"`
	Error    string     `json:"error,omitempty"`
	Text     string     `json:"text"`
}

// DocNode is a node of a Document.
type DocNode struct {
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
}

// DocEdge is an edge of a Document.
type DocEdge struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Write   bool   `json:"write,omitempty"`
	Read    bool   `json:"read,omitempty"`
	Trigger bool   `json:"trigger,omitempty"`
}

// DocColumns are the columns of an asset, as one script makes them.
type DocColumns struct {
	Asset   string      `json:"asset"`
	Script  string      `json:"script"`
	Columns []DocColumn `json:"columns"`
}

// DocColumn is a column and what it is made of.
type DocColumn struct {
	Name string       `json:"name"` // "*" for columns that are not known one by one
	From []DocColFrom `json:"from"`
	// Known says that From is all that the column is made of.
	Known bool `json:"known"`
	// Annotated says that the script's header says so.
	Annotated bool `json:"annotated,omitempty"`
}

// DocColFrom is a column of an asset that feeds another.
type DocColFrom struct {
	Asset  string `json:"asset"`
	Column string `json:"column"` // "*" when it is not known which
}

// Document gives the graph as data.
func (g *Graph) Document() Document {
	d := Document{
		Version: 1, Scripts: []DocScript{}, Nodes: []DocNode{}, Edges: []DocEdge{}, Levels: [][]string{}, Cycle: g.cycle, Columns: []DocColumns{},
	}
	level := map[int]int{}
	for n, l := range g.levels {
		names := []string{}
		for _, i := range l {
			level[i] = n + 1
			names = append(names, g.scripts[i].Name)
		}
		d.Levels = append(d.Levels, names)
	}
	for i := range g.scripts {
		d.Scripts = append(d.Scripts, g.docScript(i, level[i]))
		if s := &g.scripts[i]; len(s.Columns) > 0 && len(s.Writes) > 0 {
			d.Columns = append(d.Columns, DocColumns{s.Writes[0], s.Name, docColumns(s.Columns)})
		}
	}
	for _, n := range g.nodes {
		d.Nodes = append(d.Nodes, DocNode(n))
	}
	for _, e := range g.edges {
		d.Edges = append(d.Edges, DocEdge(e))
	}
	return d
}

func (g *Graph) docScript(i, level int) DocScript {
	s := &g.scripts[i]
	d := DocScript{
		Name: s.Name, File: s.File, Comment: s.Comment, Level: level, Strategy: s.Strategy, Partition: s.Partition,
		Writes: list(s.Writes), Reads: list(slices.Compact(slices.Sorted(slices.Values(s.Reads)))), ReadsItself: s.ReadsItself(),
		Triggers: []DocTrigger{}, TriggerAll: s.TriggerAll, Schedule: s.Schedule, Freshness: s.Freshness,
		Tags: list(s.Tags), Tests: list(s.Tests), Upstream: g.names(g.prev[i]), Downstream: g.names(g.next[i]),
		Status: DocStatus{State: s.Status.State, Snapshot: s.Status.Snapshot, Error: s.Status.Error, Text: s.Status.Text()},
	}
	for _, t := range s.Triggers {
		d.Triggers = append(d.Triggers, DocTrigger(t))
	}
	if s.Status.State != StateNone && s.Status.State != StateRunning && s.Status.Rows >= 0 {
		d.Status.Rows = &s.Status.Rows
	}
	if !s.Status.At.IsZero() {
		at := s.Status.At.UTC()
		d.Status.At = &at
	}
	return d
}

func docColumns(cols []lineage.AssetColumn) []DocColumn {
	out := []DocColumn{}
	for _, c := range cols {
		d := DocColumn{Name: c.Name, From: []DocColFrom{}, Known: c.Exact, Annotated: c.Annotated}
		for _, f := range c.From {
			d.From = append(d.From, DocColFrom(f))
		}
		out = append(out, d)
	}
	return out
}

func (g *Graph) names(scripts []int) []string {
	out := []string{}
	for _, i := range scripts {
		out = append(out, g.scripts[i].Name)
	}
	return out
}

// list is never nil: a document has [] and not null.
func list(s []string) []string { return append([]string{}, s...) }

// JSON gives the Document as indented JSON. It can stand in an HTML page as it is.
func (g *Graph) JSON() ([]byte, error) {
	b, err := json.MarshalIndent(g.Document(), "", "  ")
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}
