package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/meta/metatest"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/kv/store/storetest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// clock stands still until the test moves it.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	timers map[*timer]bool
}

type timer struct {
	at time.Time
	c  chan time.Time
}

func newClock() *clock {
	return &clock{now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), timers: map[*timer]bool{}} // a Monday
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) After(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{at: c.now.Add(d), c: make(chan time.Time, 1)}
	c.timers[t] = true
	return t.c, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.timers, t)
	}
}

// advance moves the time and fires the timers that are due.
func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	for t := range c.timers {
		if !t.at.After(c.now) {
			t.c <- c.now
			delete(c.timers, t)
		}
	}
}

// fake is a job that does what the test says.
type fake struct {
	kind gc.Kind
	log  *log
}

// log is what fakes have done, in order.
type log struct {
	mu   sync.Mutex
	list []string
	do   map[gc.Kind]func(ctx context.Context, r *gc.Request) (gc.Result, error)
}

func (l *log) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, fmt.Sprintf(format, args...))
}

// take returns what was logged since the last time, sorted by nothing.
func (l *log) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := strings.Join(l.list, ", ")
	l.list = nil
	return s
}

func (f *fake) act(ctx context.Context, r *gc.Request, what string) (gc.Result, error) {
	f.log.add("%s%s %s", what, f.kind, r.Lake)
	f.log.mu.Lock()
	do := f.log.do[f.kind]
	f.log.mu.Unlock()
	if do != nil {
		return do(ctx, r)
	}
	var res gc.Result
	res.Count("things", 1)
	return res, nil
}

func (f *fake) Plan(ctx context.Context, r *gc.Request) (gc.Result, error) {
	return f.act(ctx, r, "plan ")
}

func (f *fake) Run(ctx context.Context, r *gc.Request) (gc.Result, error) { return f.act(ctx, r, "") }

// world is a manager over a store with one catalog, "lake".
type world struct {
	*testing.T
	m     *Manager
	store *store.Store
	cat   *store.Catalog
	clock *clock
	log   *log
}

func newWorld(t *testing.T, lakes ...string) *world {
	t.Helper()
	w := &world{T: t, store: storetest.Open(t), clock: newClock(), log: &log{do: map[gc.Kind]func(context.Context, *gc.Request) (gc.Result, error){}}}
	var err error
	w.cat, err = w.store.Catalog("lake")
	must(t, err)
	for _, l := range lakes {
		w.lake(l, 1)
	}
	w.m = w.manager(Options{})
	return w
}

// manager makes one with the fakes.
func (w *world) manager(o Options) *Manager {
	o.Store, o.Committer, o.Clock, o.Jobs = w.store, metatest.Plain{}, w.clock, map[gc.Kind]gc.Job{}
	for _, k := range gc.Kinds() {
		o.Jobs[k] = &fake{kind: k, log: w.log}
	}
	return New(o)
}

// write runs fn in a transaction that is committed.
func (w *world) write(fn func(txn *store.Txn) error) {
	w.Helper()
	must(w, meta.Do(context.Background(), w.cat, metatest.Plain{}, fn))
}

// lake makes a lake with so many snapshots, an hour apart and the newest of now.
func (w *world) lake(name string, snapshots int64) {
	w.Helper()
	w.write(func(txn *store.Txn) error {
		s, ok := txn.SchemaByName(name)
		if !ok {
			var err error
			if s, err = txn.CreateSchema(name); err != nil {
				return err
			}
		}
		err := metatest.CreateTable(txn, s.OID, meta.SnapshotTable, metatest.SnapshotColumns()...)
		if err != nil {
			return err
		}
		l, err := meta.Open(txn, name)
		if err != nil {
			return err
		}
		for i := range snapshots {
			err := l.Table(meta.SnapshotTable).Insert(meta.Values{
				"snapshot_id": meta.Int(i), "snapshot_time": meta.Time(w.clock.Now().Add(time.Duration(i-snapshots+1) * time.Hour)),
				"schema_version": meta.Int(0), "next_catalog_id": meta.Int(1), "next_file_id": meta.Int(0),
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *world) policy(lake, name, value string) {
	w.Helper()
	must(w, w.m.SetPolicy(context.Background(), "lake", gc.Setting{Scope: gc.Scope{Lake: lake}, Name: name, Value: value}))
}

// raw writes a row of eider.policies as SQL would.
func (w *world) raw(lake, name, value string) {
	w.Helper()
	w.write(func(txn *store.Txn) error {
		t, err := meta.OwnTable(txn, policiesTable, policiesColumns...)
		if err != nil {
			return err
		}
		return t.Insert(meta.Values{"lake": orNull(lake), "name": orNull(name), "value": orNull(value)})
	})
}

// settle runs what is due until nothing is, without Run, and returns what was done.
func (w *world) settle() string {
	w.Helper()
	w.m.mu.Lock()
	w.m.running = true
	w.m.mu.Unlock()
	ctx := context.Background()
	for {
		w.m.round(ctx)
		var wg sync.WaitGroup
		w.m.dispatch(ctx, &wg)
		wg.Wait()
		w.m.mu.Lock()
		st := w.m.catalogs[w.cat.OID()]
		idle := st == nil || len(st.queue) == 0
		w.m.mu.Unlock()
		if idle {
			return w.log.take()
		}
	}
}

// jobs is the history, one line a job.
func (w *world) jobs() []Entry {
	w.Helper()
	var list []Entry
	must(w, meta.Read(context.Background(), w.cat, func(txn *store.Txn) (err error) {
		list, err = entries(context.Background(), txn)
		return err
	}))
	return list
}

func (w *world) states() string {
	w.Helper()
	var out []string
	for _, e := range w.jobs() {
		out = append(out, fmt.Sprintf("%d %s %s", e.ID, e.Kind, e.State))
	}
	return strings.Join(out, ", ")
}

func (w *world) want(got, want string) {
	w.Helper()
	if got != want {
		w.Errorf("got  %s\nwant %s", got, want)
	}
}

// run starts the manager as its owner would; stop ends it.
func (w *world) run() (stop func()) {
	w.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.m.Run(ctx)
	}()
	<-w.m.Begun()
	if _, err := w.m.Submit(ctx, Ask{Catalog: "lake", Lake: "none"}); errors.Is(err, ErrStopped) {
		w.Error("it has begun and takes no requests")
	}
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			<-done
		})
	}
	w.Cleanup(stop)
	return stop
}

func (w *world) submit(kinds ...gc.Kind) []int64 {
	w.Helper()
	ids, err := w.m.Submit(context.Background(), Ask{Catalog: "lake", Kinds: kinds, By: "ann"})
	must(w, err)
	return ids
}

func (w *world) wait(id int64) Entry {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	e, err := w.m.Wait(ctx, "lake", id)
	must(w, err)
	return e
}

// block makes jobs of a kind wait until the test lets them go on or their context ends.
func (w *world) block(k gc.Kind) (started chan *gc.Request, release chan error) {
	started, release = make(chan *gc.Request, 16), make(chan error)
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	w.log.do[k] = func(ctx context.Context, r *gc.Request) (res gc.Result, err error) {
		started <- r
		res.Count("half", 1)
		select {
		case err := <-release:
			return res, err
		case <-ctx.Done():
			return res, context.Cause(ctx)
		}
	}
	return started, release
}

func contains(t testing.TB, s string, parts ...string) {
	t.Helper()
	if i := slices.IndexFunc(parts, func(p string) bool { return !strings.Contains(s, p) }); i >= 0 {
		t.Errorf("%q is not in %q", parts[i], s)
	}
}
