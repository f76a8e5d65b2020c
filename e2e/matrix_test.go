package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/script"
)

// The conflict matrices: a client does one operation in an open transaction, another does
// any other operation and commits, the first commits. Every pair runs through real DuckDB
// on a table of its own. One side must be refused, clearly, or the content must be right.
// The verdict of every cell is kept in testdata/matrix for a person to read.

var (
	matrixFlag        = flag.String("matrix", "some", "cells of the conflict matrices: some (one kind of table per pair) or all")
	matrixPGFlag      = flag.Bool("matrix-pg", false, "run the conflict matrices on PostgreSQL too, to show how many cells are wrong there")
	matrixRewriteFlag = flag.Bool("matrix-rewrite", false, "write the verdicts of all cells that ran into testdata/matrix")
	matrixNotesFlag   = flag.Bool("matrix-notes", false, "print what every cell came to")
	matrixOnlyFlag    = flag.String("matrix-only", "", "regular expression: only the cells whose A×B matches")
)

// verdict is the outcome of one cell.
type verdict byte

const (
	vBoth     verdict = '.' // both land, the content is right
	vClient   verdict = 'D' // the client's own conflict check refuses A
	vServer   verdict = 'S' // the server refuses A, for good
	vAgain    verdict = 'r' // the server tells A to run it again: both change the same rows, and neither makes a snapshot that the client could lose
	vHistory  verdict = 'h' // right now, but an older version reads wrong
	vWrong    verdict = '!' // rows are lost or doubled, the catalog is broken, or the refusal is unclear
	vNotThere verdict = ' ' // did not run
)

// wrong says whether the verdict is a failure.
func (v verdict) wrong() bool { return v == vWrong || v == vHistory }

// cell is what one pair came to.
type cell struct {
	verdict verdict
	notes   []string // why it is wrong, or the text of the refusal
}

func (c *cell) fail(format string, args ...any) {
	c.verdict = vWrong
	if len(c.notes) < maxNotes {
		c.notes = append(c.notes, fmt.Sprintf(format, args...))
	}
}

const maxNotes = 6

// refuse judges the error of A's COMMIT. quiet: A makes no snapshot, so that no client tries it again whatever the words are.
func (c *cell) refuse(err error, quiet bool) {
	text := oneLine(err.Error())
	if quiet && strings.Contains(text, "could not serialize access") {
		c.verdict = vAgain
		c.notes = append(c.notes, text)
		return
	}
	if rerr := script.Refusal(text); rerr != nil {
		c.fail("%v: %s", rerr, text)
		return
	}
	c.verdict = vServer
	if strings.Contains(strings.ToLower(text), "transaction conflict - ") {
		c.verdict = vClient
	}
	c.notes = append(c.notes, text)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clients are the DuckDB instances of one worker: two that race and one that only looks on.
type clients struct {
	ctx  context.Context
	inst [3]*duck.Instance
	sess [3]duck.Session
}

const (
	sideA = iota
	sideB
	sideC
)

func (c *clients) open(side int) error {
	if c.inst[side] != nil {
		return nil
	}
	inst, err := duck.Open(c.ctx)
	if err != nil {
		return err
	}
	sess, err := inst.Conn(c.ctx)
	if err != nil {
		return errors.Join(err, inst.Close())
	}
	c.inst[side], c.sess[side] = inst, sess
	return nil
}

func (c *clients) attach(side int, dsn, data string) error {
	if err := c.open(side); err != nil {
		return err
	}
	return c.exec(side, fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s/')", dsn, data))
}

func (c *clients) exec(side int, statements ...string) error {
	for _, sql := range statements {
		if _, err := c.sess[side].Exec(c.ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// rows returns the rows of a query as lines.
func (c *clients) rows(side int, sql string) ([]string, error) {
	res, err := c.sess[side].Query(c.ctx, sql)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", sql, err)
	}
	return res.Lines(), nil
}

// value returns the only value of a query.
func (c *clients) value(side int, sql string) (string, error) {
	rows, err := c.rows(side, sql)
	if err != nil {
		return "", err
	}
	if len(rows) != 1 {
		return "", fmt.Errorf("%s: %d rows", sql, len(rows))
	}
	return rows[0], nil
}

// drop closes an instance: the only way to get rid of its cached catalog for sure.
func (c *clients) drop(side int) {
	if c.inst[side] == nil {
		return
	}
	_ = c.sess[side].Close()
	_ = c.inst[side].Close()
	c.inst[side], c.sess[side] = nil, nil
}

func (c *clients) close() {
	for side := range c.inst {
		c.drop(side)
	}
}

// race runs A's statements in a transaction, B's in between, and A's COMMIT. prepared is
// called after A's statements, done after B's. An error of A's COMMIT is the refusal; any
// other is returned as err.
func (c *clients) race(a, b []string, prepared func() error) (refusal, err error) {
	if err := c.exec(sideA, append([]string{"BEGIN"}, a...)...); err != nil {
		_ = c.exec(sideA, "ROLLBACK")
		return nil, fmt.Errorf("A, before the race: %w", err)
	}
	if err := c.exec(sideB, b...); err != nil {
		_ = c.exec(sideA, "ROLLBACK")
		return nil, fmt.Errorf("B: %w", err)
	}
	if prepared != nil {
		if err := prepared(); err != nil {
			_ = c.exec(sideA, "ROLLBACK")
			return nil, err
		}
	}
	_, refusal = c.sess[sideA].Exec(c.ctx, "COMMIT")
	if refusal != nil {
		_ = c.exec(sideA, "ROLLBACK") // there is none to roll back, unless COMMIT kept it
	}
	return refusal, nil
}

// grid holds the verdicts of one matrix on one server.
type grid struct {
	name   string // file in testdata/matrix
	target string
	ops    []string

	mu    sync.Mutex
	cells map[[2]string]cell
}

func newGrid(name, target string, ops []string) *grid {
	return &grid{name: name, target: target, ops: ops, cells: map[[2]string]cell{}}
}

func (g *grid) set(a, b string, c cell) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cells[[2]string{a, b}] = c
}

// String draws the grid.
func (g *grid) String() string {
	var b strings.Builder
	width := 0
	for _, op := range g.ops {
		width = max(width, len(op))
	}
	height := width
	for line := range height {
		b.WriteString(strings.Repeat(" ", width+1))
		for _, op := range g.ops {
			name := strings.Repeat(" ", height-len(op)) + op
			b.WriteByte(' ')
			b.WriteByte(name[line])
		}
		b.WriteByte('\n')
	}
	for _, a := range g.ops {
		fmt.Fprintf(&b, "%-*s ", width, a)
		for _, op := range g.ops {
			v := vNotThere
			if c, ok := g.cells[[2]string{a, op}]; ok {
				v = c.verdict
			}
			b.WriteByte(' ')
			b.WriteByte(byte(v))
		}
		b.WriteByte('\n')
	}
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// parseGrid reads verdicts back from a drawing.
func parseGrid(text string, ops []string) map[[2]string]verdict {
	out := map[[2]string]verdict{}
	for line := range strings.Lines(text) {
		name, _, _ := strings.Cut(line, " ")
		if !slices.Contains(ops, name) {
			continue
		}
		width := 0
		for _, op := range ops {
			width = max(width, len(op))
		}
		line = strings.TrimRight(line, "\n")
		for i, op := range ops {
			if at := width + 2 + 2*i; at < len(line) && line[at] != byte(vNotThere) {
				out[[2]string{name, op}] = verdict(line[at])
			}
		}
	}
	return out
}

const legend = `# Rows: what A does in an open transaction. Columns: what B does and commits before A commits.
#   .  both land and the content is right
#   D  the client's own conflict check refuses A
#   S  the server refuses A, with a text that is final
#   r  the server refuses A, which makes no snapshot: it has changed the same rows as B
#   h  right now, but a version in between reads wrong
#   !  both land and rows are lost or doubled, or the catalog is broken
`

func (g *grid) path() string { return filepath.Join("testdata", "matrix", g.name+"."+g.target+".txt") }

// finish compares the grid with the recorded one, or records it, and counts.
func (g *grid) finish(t *testing.T) {
	t.Helper()
	counts := map[verdict]int{}
	keys := make([][2]string, 0, len(g.cells))
	for k, c := range g.cells {
		counts[c.verdict]++
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b [2]string) int { return strings.Compare(a[0]+" "+a[1], b[0]+" "+b[1]) })
	fmt.Printf("e2e: matrix %s on %s: %d cells, %d both right, %d refused by the client, %d by the server, %d with a wrong history, %d wrong\n",
		g.name, g.target, len(g.cells), counts[vBoth], counts[vClient], counts[vServer], counts[vHistory], counts[vWrong])
	if len(g.cells) == 0 {
		return
	}
	recorded := map[[2]string]verdict{}
	text, err := os.ReadFile(g.path())
	if err == nil {
		recorded = parseGrid(string(text), g.ops)
	} else if !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, k := range keys {
		c := g.cells[k]
		if *matrixNotesFlag {
			t.Logf("%s × %s: %c %s", k[0], k[1], c.verdict, strings.Join(c.notes, "; "))
		}
		if c.verdict.wrong() && g.target == "eider" && recorded[k] != vHistory {
			t.Errorf("%s: A %s × B %s: %s", g.name, k[0], k[1], strings.Join(c.notes, "\n  "))
		} else if recorded[k] != c.verdict && !*matrixRewriteFlag {
			t.Errorf("%s: A %s × B %s is %c, recorded is %c: %s", g.name, k[0], k[1], c.verdict, recorded[k], strings.Join(c.notes, "\n  "))
		}
	}
	if *matrixRewriteFlag {
		for k, v := range recorded {
			if _, ok := g.cells[k]; !ok {
				g.cells[k] = cell{verdict: v}
			}
		}
		if err := os.MkdirAll(filepath.Dir(g.path()), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(g.path(), []byte(legend+"\n"+g.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// matrixTargets are the servers that a matrix runs on.
func matrixTargets(t *testing.T) []script.Target {
	var out []script.Target
	for _, target := range targets(t) {
		if target.Name() == "eider" || *matrixPGFlag || *targetFlag == "pg" {
			out = append(out, target)
		}
	}
	if len(out) == 0 {
		t.Skip("the matrices run on eider")
	}
	return out
}

// chosen says whether a cell runs, given its number among those of its pair.
func chosen(t *testing.T, a, b string, kind, kinds, pair int) bool {
	re, err := regexp.Compile(*matrixOnlyFlag)
	if err != nil {
		t.Fatal(err)
	}
	return re.MatchString(a+"×"+b) && (*matrixFlag == "all" || pair%kinds == kind)
}

// raceRow runs the cells of one operation of A: in one lake, and in a new one after each
// cell that went wrong, because that may have broken the lake or a client. A third client
// looks at each table at once, and a fresh one at all tables of a lake at its end.
type raceRow struct {
	*clients
	target script.Target
	grid   *grid

	dsn   string
	drops func()
	known map[string]bool // findings of earlier cells
	after []func()        // what the fresh client checks

	attachC func() error
}

// run runs the given cells, each by its number.
func (r *raceRow) run(t *testing.T, a string, names []string, cells []int, one func(j int, c *cell) error) error {
	if len(cells) == 0 {
		return nil
	}
	results := map[int]*cell{}
	for len(cells) > 0 {
		if err := r.newLake(t); err != nil {
			return err
		}
		c := &cell{}
		for len(cells) > 0 && c.verdict != vWrong {
			j := cells[0]
			cells = cells[1:]
			c = &cell{verdict: vBoth}
			results[j] = c
			if err := one(j, c); err != nil {
				c.fail("%s", oneLine(err.Error()))
			}
		}
		if c.verdict == vWrong {
			r.after = nil
			for side := range r.inst {
				r.drop(side)
			}
		}
		if err := r.finish(); err != nil {
			c.fail("%s", oneLine(err.Error()))
		}
	}
	for j, c := range results {
		r.grid.set(a, names[j], *c)
	}
	return nil
}

func (r *raceRow) newLake(t *testing.T) error {
	db := newDatabase()
	if err := r.target.CreateDatabase(r.ctx, db); err != nil {
		return err
	}
	r.drops = func() { _ = r.target.DropDatabase(context.Background(), db) }
	data := t.TempDir()
	r.dsn, r.known, r.after = r.target.DSN(db), map[string]bool{}, nil
	for side := range r.inst {
		if err := r.attach(side, r.dsn, data); err != nil {
			return err
		}
	}
	r.attachC = func() error { return r.attach(sideC, r.dsn, data) }
	return nil
}

// finish lets a fresh client look at every table and takes the lake away.
func (r *raceRow) finish() error {
	defer r.drops()
	if len(r.after) > 0 {
		r.drop(sideC)
		if err := r.attachC(); err != nil {
			return fmt.Errorf("a fresh client: %w", err)
		}
		for _, check := range r.after {
			check()
		}
	}
	for side := range r.inst {
		if r.inst[side] == nil {
			continue
		}
		if err := r.exec(side, "DETACH lake"); err != nil {
			r.drop(side)
		}
	}
	return nil
}

// quiet are the operations that make no snapshot.
var quiet = []string{"expire", "clean", "option"}

// waits says whether PostgreSQL lets B wait for A, which never ends: both change the same rows before they commit, and only there is a row locked.
func (r *raceRow) waits(a, b string) bool {
	return a == b && r.target.Name() != "eider" && slices.Contains(quiet, a)
}

// news returns what is found in the lake since the last call.
func (r *raceRow) news() ([]script.Finding, error) {
	found, err := script.Findings(r.ctx, r.dsn)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(f script.Finding) bool {
		known := r.known[f.String()]
		r.known[f.String()] = true
		return known
	}), nil
}

const matrixTimeout = 20 * time.Minute
