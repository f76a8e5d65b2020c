package storm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/history"
	"github.com/eiderdb/eider/e2e/internal/tap"
)

// World is a lake under a workload and everything that is known about what it must hold.
type World struct {
	DSN    string
	Data   string
	Seed   uint64
	Shared []string // names of the tables that all writers use
	// Processes gives each client a process of its own.
	Processes bool
	Watch     bool // record the writers' transactions with the snapshots that they saw

	Model   Model
	History history.Recorder

	mu       sync.Mutex
	stats    Stats
	problems []string
	doubt    map[string]Op // operations whose outcome is not known, by id
	rowids   map[string]map[int64]int64
}

// Stats count what a workload did.
type Stats struct {
	Committed     int
	Done, Refused map[string]int // by operation
	Texts         map[string]int // of refusals
	Attempts      map[int]int    // committed operations by the number of their attempts
	ReadErrors    map[string]int // reads that the server answered with an error
	Reads         int
	Slowest       time.Duration
}

// NewWorld makes the shared tables through a DuckDB and returns the world.
func NewWorld(ctx context.Context, dsn, data string, seed uint64, tables int) (*World, error) {
	x := &World{
		DSN: dsn, Data: data, Seed: seed, doubt: map[string]Op{}, rowids: map[string]map[int64]int64{},
		stats: Stats{Done: map[string]int{}, Refused: map[string]int{}, Texts: map[string]int{}, Attempts: map[int]int{}, ReadErrors: map[string]int{}},
	}
	w, err := OpenWriter(ctx, dsn, data)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	for i := range tables {
		name := fmt.Sprintf("s%d", i)
		x.Shared = append(x.Shared, name)
		op := Op{Name: "setup", SQL: []string{"CREATE TABLE lake." + name + " (k BIGINT, v BIGINT)"}, Changes: []Change{{Kind: Create, Table: name}}}
		snap, err := x.commit(ctx, w, "setup-"+name, op)
		if err != nil {
			return nil, err
		}
		x.Model.Add(Commit{"setup-" + name, snap, op.Changes})
		x.rowids[name] = map[int64]int64{}
	}
	return x, nil
}

// Stats returns a copy of the counts.
func (x *World) Stats() Stats {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.stats
	s.Done, s.Refused, s.Texts = maps.Clone(s.Done), maps.Clone(s.Refused), maps.Clone(s.Texts)
	s.Attempts, s.ReadErrors = maps.Clone(s.Attempts), maps.Clone(s.ReadErrors)
	return s
}

// MostAttempts is the largest number of attempts that a commit needed.
func (s Stats) MostAttempts() int {
	most := 0
	for a := range s.Attempts {
		most = max(most, a)
	}
	return most
}

// String is a summary of several lines.
func (s Stats) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d commits, attempts %v, %d reads, slowest operation %s", s.Committed, s.Attempts, s.Reads, s.Slowest.Round(time.Millisecond))
	for _, n := range slices.Sorted(maps.Keys(s.Done)) {
		fmt.Fprintf(&b, "\n  %-22s %5d done %5d refused", n, s.Done[n], s.Refused[n])
	}
	for n, c := range s.Refused {
		if s.Done[n] == 0 {
			fmt.Fprintf(&b, "\n  %-22s     0 done %5d refused", n, c)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(s.Texts)) {
		fmt.Fprintf(&b, "\n  %5d × %s", s.Texts[n], n)
	}
	for _, n := range slices.Sorted(maps.Keys(s.ReadErrors)) {
		fmt.Fprintf(&b, "\n  %5d × error of a read: %s", s.ReadErrors[n], n)
	}
	return b.String()
}

// Problem records that something was wrong.
func (x *World) Problem(format string, args ...any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.problems) < 50 {
		x.problems = append(x.problems, fmt.Sprintf(format, args...))
	}
}

// Problems are the things that were wrong.
func (x *World) Problems() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.problems)
}

// Client is one writer of a world.
type Client struct {
	World *World
	Plan  *Plan
	Num   int
	n     int
	w     *Writer
	tap   *tap.Tap // nil: attempts are not counted
}

// NewClient opens a writer of its own; with a tap its attempts are counted.
func (x *World) NewClient(ctx context.Context, num int, weights Weights, counted bool) (*Client, error) {
	c := &Client{World: x, Plan: NewPlan(x.Seed, num, x.Shared, weights), Num: num}
	if counted {
		var err error
		if c.tap, err = tap.New(x.DSN); err != nil {
			return nil, err
		}
	}
	return c, c.Reopen(ctx)
}

// Reopen replaces the client's DuckDB with a fresh one.
func (c *Client) Reopen(ctx context.Context) error {
	if c.w != nil {
		_ = c.w.Close() // it answers with errors from now on
	}
	dsn := c.World.DSN
	if c.tap != nil {
		dsn = c.tap.DSN(dsn)
	}
	w, err := c.World.open(ctx, dsn, c.World.Data)
	if err == nil {
		c.w = w
	}
	return err
}

func (x *World) open(ctx context.Context, dsn, data string) (*Writer, error) {
	if x.Processes {
		return OpenProcess(ctx, dsn, data)
	}
	return OpenWriter(ctx, dsn, data)
}

// Close ends the client.
func (c *Client) Close() {
	if c.w != nil {
		_ = c.w.Close()
	}
	if c.tap != nil {
		c.tap.Close()
	}
}

// Session is the client's DuckDB.
func (c *Client) Session() duck.Session { return c.w }

// ErrLost is returned by Step when the connection broke, so that the outcome is not known.
var ErrLost = errors.New("the connection was lost")

// Step does the next operation of the client's plan.
func (c *Client) Step(ctx context.Context) error {
	op := c.Plan.Next()
	c.n++
	return c.Do(ctx, c.id(), op)
}

// id names the client's last operation.
func (c *Client) id() string { return fmt.Sprintf("w%d-%d", c.Num, c.n) }

// Do runs one operation. Refusals are counted, other failures recorded as problems; ErrLost is returned as it is.
func (c *Client) Do(ctx context.Context, id string, op Op) error {
	x := c.World
	if c.tap != nil {
		c.tap.Take()
	}
	start := time.Now()
	snap, err := x.commit(ctx, c.w, id, op)
	took := time.Since(start)
	if err == nil {
		c.Plan.Done(op)
		x.Model.Add(Commit{id, snap, op.Changes})
		x.forget(op)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stats.Slowest = max(x.stats.Slowest, took)
	if c.tap != nil {
		n := c.tap.Take()
		x.stats.Reads += n.Reads
		for k, v := range n.Errors {
			if strings.HasSuffix(k, " read") {
				x.stats.ReadErrors[k+" "+n.Texts[k]] += v
			}
		}
		if err == nil {
			x.stats.Attempts[n.Attempts]++
		}
	}
	switch {
	case err == nil:
		x.stats.Committed++
		x.stats.Done[op.Name]++
		return nil
	case Refused(err):
		x.stats.Refused[op.Name]++
		x.stats.Texts[Normal(err)]++
		return nil
	case Lost(err):
		x.doubt[id] = op
		return ErrLost
	default:
		x.problems = append(x.problems, fmt.Sprintf("%s (%s): %s", id, op.Name, Short(err)))
		return nil
	}
}

// commit runs an operation as one transaction that carries its id as commit message, and returns the snapshot that it made. With Watch the
// transaction goes into the history.
func (x *World) commit(ctx context.Context, w *Writer, id string, op Op) (int64, error) {
	tx := history.Tx{ID: id, Begin: x.History.Tick()}
	statements := append([]string{fmt.Sprintf("CALL lake.set_commit_message('storm', '%s')", id)}, op.SQL...)
	var before func() error
	if x.Watch {
		before = func() error {
			snap, err := snapshotOf(ctx, w, "current_snapshot")
			tx.Snapshots = []int64{snap}
			return err
		}
	}
	if err := transaction(ctx, w, before, statements...); err != nil {
		return 0, err
	}
	tx.End = x.History.Tick()
	snap, err := snapshotOf(ctx, w, "last_committed_snapshot")
	if err != nil {
		return 0, fmt.Errorf("after the commit: %w", err)
	}
	if x.Watch {
		tx.Commit = snap
		for _, c := range op.Changes {
			if c.Kind == Put || c.Kind == Delete {
				tx.Writes = append(tx.Writes, fmt.Sprintf("%s/%d", c.Table, c.Key))
			}
		}
		x.History.Add(tx)
	}
	return snap, nil
}

func snapshotOf(ctx context.Context, s duck.Session, function string) (int64, error) {
	res, err := s.Query(ctx, "SELECT id FROM lake."+function+"()")
	if err != nil {
		return 0, err
	}
	if len(res.Rows) != 1 {
		return 0, errNoAnswer
	}
	return strconv.ParseInt(res.Rows[0][0], 10, 64)
}

// errNoAnswer is what a query for one value met that came back empty: a DuckDB whose connection broke in the middle may say nothing about it.
var errNoAnswer = errors.New("a query for one value gave no row")

// forget drops the row ids of rows that an operation removed.
func (x *World) forget(op Op) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range op.Changes {
		if ids := x.rowids[c.Table]; ids != nil && c.Kind == Delete {
			delete(ids, c.Key)
		}
	}
}

var (
	refused = regexp.MustCompile(`Transaction conflict - attempting to|Nothing was stored\.`)
	// A flush deletes the inlined rows before its commit, so that a row which somebody else has changed meanwhile ends it there.
	raced = regexp.MustCompile(`could not serialize access due to concurrent (update|delete)`)
	// X2 of the case list: a rewrite asks an older inlined table for a column that was added later.
	missing = regexp.MustCompile(`Failed to read inlined-data aggregates from DuckLake: Referenced column`)
	lost    = regexp.MustCompile(`(?i)server closed the connection|connection refused|no connection to the server|terminating connection|could not receive data|SSL SYSCALL|connection reset|broken pipe|the database system is|starting up|shutting down|could not send data|Current transaction is aborted|unsuccessful query result|database has been invalidated|index 0 within vector of size 0|Failed to execute query "ROLLBACK": *(\n|$)`)
	digits  = regexp.MustCompile(`\d+`)
	quotes  = regexp.MustCompile(`"[^"]*"`)
)

// Refused says whether an operation failed because another one forbids it, which a client may see at any time.
func Refused(err error) bool {
	text := err.Error()
	return refused.MatchString(text) && !strings.Contains(text, "Exceeded the maximum retry count")
}

// Exhausted says whether a commit was given up after the client's last try.
func Exhausted(err error) bool {
	return strings.Contains(err.Error(), "Exceeded the maximum retry count")
}

// Lost says whether an operation failed because the server went away, or because the client did: a DuckDB may give itself up when its connection
// breaks in the middle of an answer.
func Lost(err error) bool {
	return errors.Is(err, duck.ErrClosed) || errors.Is(err, errNoAnswer) || lost.MatchString(err.Error())
}

// Normal is the core of an error's text with numbers and names taken out, so that equal refusals count as one.
func Normal(err error) string {
	text := err.Error()
	if at := missing.FindStringIndex(text); at != nil {
		text = text[at[0]:]
	} else if i := strings.Index(text, "Transaction conflict"); i >= 0 {
		text = text[i:]
	} else if i := strings.LastIndex(text, "ERROR:"); i >= 0 {
		text = text[i:]
	}
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	text = quotes.ReplaceAllString(digits.ReplaceAllString(text, "N"), `"…"`)
	return text[:min(len(text), 200)]
}

// Maintain makes one maintenance call and counts its outcome. ErrLost is returned as it is.
func (x *World) Maintain(ctx context.Context, s duck.Session, call string) error {
	start := time.Now()
	_, err := s.Exec(ctx, call)
	took := time.Since(start)
	name := call[strings.Index(call, "ducklake_")+len("ducklake_"):]
	name = name[:strings.IndexByte(name, '(')]
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stats.Slowest = max(x.stats.Slowest, took)
	switch {
	case err == nil:
		x.stats.Done[name]++
	case Refused(err), missing.MatchString(err.Error()), raced.MatchString(err.Error()) && !Exhausted(err):
		x.stats.Refused[name]++
		x.stats.Texts[Normal(err)]++
	case Lost(err):
		return ErrLost
	default:
		x.problems = append(x.problems, fmt.Sprintf("%s: %s", call, Short(err)))
	}
	return nil
}

// Short leaves out the middle of a long error: the client puts its whole batch there.
func Short(err error) string {
	const head, tail = 250, 450
	text := err.Error()
	if len(text) <= head+tail {
		return text
	}
	return text[:head] + " … " + text[len(text)-tail:]
}
