package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/script"
	"github.com/eiderdb/eider/e2e/internal/storm"
	"github.com/eiderdb/eider/e2e/internal/tap"
)

// stormKind is what all writers of a storm do.
type stormKind struct {
	name    string
	weights storm.Weights                              // operations on tables that are there
	define  func(writer, n int, table string) storm.Op // or what makes or replaces one
	own     bool                                       // of tables of the writers' own only
	refused refusal
}

// refusal says because of whom a client may refuse some operations of a storm.
type refusal uint8

const (
	never         refusal = iota
	ofOneTable            // other writers of the same table: of several that replace it one wins
	ofMaintenance         // that as well: deletes and updates name files, and a merge or a flush puts the rows of all writers into one
)

var stormKinds = []stormKind{
	{name: "inlined", weights: storm.Weights{storm.InsertInline: 1}},
	{name: "parquet", weights: storm.Weights{storm.InsertFile: 1}},
	{name: "create-as", own: true, define: func(writer, n int, _ string) storm.Op {
		return tableAs("CREATE TABLE", fmt.Sprintf("c_%d_%d", writer, n), writer, n)
	}},
	{name: "replace", refused: ofOneTable, define: func(writer, n int, table string) storm.Op {
		return tableAs("CREATE OR REPLACE TABLE", table, writer, n)
	}},
	{name: "delete", weights: storm.Weights{storm.DeleteOne: 3, storm.DeleteRange: 1}, refused: ofMaintenance},
	{name: "update", weights: storm.Weights{storm.UpdateOne: 3, storm.UpdateRange: 1}, refused: ofMaintenance},
}

// tableAs makes a table with rows that tell who has written them, every other time in a file.
func tableAs(verb, table string, writer, n int) storm.Op {
	rows, lo := int64(3+40*(n%2)), int64(writer+1)*storm.KeySpan+int64(n)*100
	op := storm.Op{Name: verb, Changes: []storm.Change{{Kind: storm.Create, Table: table}}}
	for k := lo; k < lo+rows; k++ {
		op.Changes = append(op.Changes, storm.Change{Kind: storm.Put, Table: table, Key: k, Val: 2 * k})
	}
	op.SQL = []string{fmt.Sprintf("%s lake.%s AS SELECT range AS k, 2 * range AS v FROM range(%d, %d)", verb, table, lo, lo+rows)}
	return op
}

// TestStorms: 8 and 16 writers of one kind, on one table or each on its own, with merges and flushes running beside them. Every commit needs two
// attempts at most, the maintenance's too, nothing is given up, the lake is what the model says at the end and at snapshots in between, and what the
// transactions saw keeps the promises of package history. Without -storm-full each kind runs in some of its forms only.
func TestStorms(t *testing.T) {
	for i, kind := range stormKinds {
		for j, writers := range []int{8, 16} {
			for k, many := range []bool{false, true} {
				if kind.own && !many || !*stormFull && (i+j+k)%2 == 0 {
					continue
				}
				name := fmt.Sprintf("%s/%d/one", kind.name, writers)
				if many {
					name = fmt.Sprintf("%s/%d/many", kind.name, writers)
				}
				t.Run(name, func(t *testing.T) { runStorm(t, kind, writers, many) })
			}
		}
	}
}

func runStorm(t *testing.T, kind stormKind, writers int, many bool) {
	for _, target := range stormTargets(t) {
		t.Run(target.Name(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			tables := 1
			if many {
				tables = writers
			}
			x := newWorld(ctx, t, target, newSeed(t), tables)
			x.Watch = true
			clients := stormClients(ctx, t, x, kind, writers)
			begun := time.Now()
			m := besideStorm(ctx, t, x)
			each(clients, func(c *storm.Client) error { return kind.run(ctx, c, times(30, 4)) }, x.Problem)
			took := time.Since(begun)
			m.end(t)
			x.judge(ctx, t, times(6, 3))
			t.Logf("%.1f s, maintenance: %s", took.Seconds(), m)
			if target.Name() != "eider" {
				return
			}
			kind.judge(t, x.Stats(), writers, many)
			found, err := script.FileFindings(ctx, x.DSN, x.Data)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				t.Errorf("%s: %s", f.Schema, f.Finding)
			}
		})
	}
}

// run does n operations of a writer. Now and then, and at the end, it looks at its table.
func (k stormKind) run(ctx context.Context, c *storm.Client, n int) error {
	table := c.Plan.Shared()
	for i := range n {
		var err error
		if k.define != nil {
			err = c.Do(ctx, fmt.Sprintf("w%d-define-%d", c.Num, i), k.define(c.Num, i, table))
		} else if err = k.fill(ctx, c); err == nil {
			err = c.Step(ctx)
		}
		if err == nil && i%4 == 2 {
			err = c.ReadAll(ctx)
		}
		if err != nil {
			return err
		}
	}
	if k.define != nil {
		return nil
	}
	return c.ReadOwn(ctx)
}

// judge fails the test if operations were refused that nobody forbids, or if there was no storm.
func (k stormKind) judge(t *testing.T, s storm.Stats, writers int, many bool) {
	t.Helper()
	done, refused := 0, 0
	for name, n := range s.Done {
		if (k.define != nil || k.weights[name] > 0) && !maintenance[name] {
			done, refused = done+n, refused+s.Refused[name]
		}
	}
	if refused > 0 && (k.refused == never || k.refused == ofOneTable && many) {
		t.Errorf("%d operations were refused: %v", refused, s.Texts)
	}
	if done < writers {
		t.Errorf("no more than %d operations were done", done)
	}
	for name := range maintenance {
		if s.Done[name]+s.Refused[name] == 0 {
			t.Errorf("no %s ran beside", name)
		}
	}
}

// stormClients opens the writers of a storm, each with the table that it works on. Those that change rows have some.
func stormClients(ctx context.Context, t *testing.T, x *world, kind stormKind, writers int) []*storm.Client {
	t.Helper()
	clients := make([]*storm.Client, writers)
	for w := range clients {
		c, err := x.NewClient(ctx, w, kind.weights, true)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		if len(x.Shared) > 1 {
			c.Plan = storm.NewPlan(x.Seed, w, x.Shared[w:w+1], kind.weights)
		}
		clients[w] = c
	}
	each(clients, func(c *storm.Client) error { return kind.fill(ctx, c) }, x.Problem)
	return clients
}

// fill gives a writer that changes rows some to change: inlined ones, and some in files.
func (k stormKind) fill(ctx context.Context, c *storm.Client) error {
	if k.weights[storm.DeleteOne]+k.weights[storm.UpdateOne] == 0 {
		return nil
	}
	defer c.Plan.Use(k.weights)
	for len(c.Plan.Rows(c.Plan.Shared())) < 40 {
		for _, op := range []string{storm.InsertInline, storm.InsertFile} {
			c.Plan.Use(storm.Weights{op: 1})
			if err := c.Step(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// each runs f for all clients at once and reports what went wrong.
func each(clients []*storm.Client, f func(c *storm.Client) error, problem func(string, ...any)) {
	var wg sync.WaitGroup
	for _, c := range clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := f(c); err != nil {
				problem("writer %d: %v", c.Num, err)
			}
		}()
	}
	wg.Wait()
}

// maintenance are the calls that run beside a storm, by the names that storm.Stats has for them.
var maintenance = map[string]bool{"merge_adjacent_files": true, "flush_inlined_data": true}

// besides is a client that merges and flushes beside a storm, by turns and without a pause.
type besides struct {
	stop     chan struct{}
	done     chan struct{}
	x        *world
	attempts map[int]int // calls by the most attempts that a commit of theirs needed
}

func besideStorm(ctx context.Context, t *testing.T, x *world) *besides {
	t.Helper()
	m := &besides{stop: make(chan struct{}), done: make(chan struct{}), x: x, attempts: map[int]int{}}
	tp, err := tap.New(x.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tp.Close)
	w, err := storm.OpenWriter(ctx, tp.DSN(x.DSN), x.Data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	go func() {
		defer close(m.done)
		for n := 0; ; n++ {
			select {
			case <-m.stop:
				return
			default:
			}
			tp.Take()
			if err := x.Maintain(ctx, w, []string{callMerge, callFlush}[n%2]); err != nil {
				x.Problem("maintenance: %v", err)
				return
			}
			m.attempts[tp.Take().Most]++
		}
	}()
	return m
}

// end waits for the end of the call that is running.
func (m *besides) end(t *testing.T) {
	t.Helper()
	close(m.stop)
	<-m.done
	if most := slices.Max(append(slices.Collect(maps.Keys(m.attempts)), 0)); m.x.target.Name() == "eider" && most > m.x.most() {
		t.Errorf("a commit of the maintenance took too many attempts: %v", m.attempts)
	}
}

func (m *besides) String() string {
	s := m.x.Stats()
	out := fmt.Sprintf("attempts %v", m.attempts)
	for _, name := range slices.Sorted(maps.Keys(maintenance)) {
		out += fmt.Sprintf(", %s %d done, %d refused", name, s.Done[name], s.Refused[name])
	}
	return out
}
