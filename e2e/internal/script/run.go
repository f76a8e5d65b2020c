package script

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/eiderdb/eider/e2e/internal/duck"
)

// Target is a server that scripts run on.
type Target interface {
	Name() string
	DSN(db string) string
	CreateDatabase(ctx context.Context, name string) error
	DropDatabase(ctx context.Context, name string) error
	Restart(ctx context.Context, db string, kill bool) error
}

// Outcome is what one statement did.
type Outcome struct {
	Line    int
	SQL     string
	Rows    []string
	Err     string
	Differs string
	query   bool // its rows are written by Rewrite
	top     bool // not in a loop
}

// Trace is what a whole script did on one server.
type Trace struct {
	Target   string
	Outcomes []Outcome
	Tables   []Table
	Failures []string // broken expectations
}

const (
	scriptTimeout = 3 * time.Minute
	maxFailures   = 5
)

// errStop ends a run whose later steps would only repeat an earlier failure.
var errStop = errors.New("stopped")

// Run executes a script on a target, in a database and a data folder of its own.
func Run(ctx context.Context, s *Script, t Target, db string) (*Trace, error) {
	ctx, cancel := context.WithTimeout(ctx, scriptTimeout)
	defer cancel()
	data, err := dataDir()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(data)
	if err := t.CreateDatabase(ctx, db); err != nil {
		return nil, fmt.Errorf("creating database %s on %s: %w", db, t.Name(), err)
	}
	r := &runner{
		s: s, t: t, db: db, data: data,
		vars:     map[string]string{"DATA": data, "DSN": t.DSN(db), "DB": db},
		norm:     &normaliser{data: data, dsn: t.DSN(db), db: db, now: time.Now().UTC()},
		sessions: map[string]*session{},
		async:    map[string]chan Outcome{},
		trace:    &Trace{Target: t.Name()},
	}
	err = r.steps(ctx, s.Steps, true)
	if errors.Is(err, errStop) {
		err = nil
	}
	r.close()
	if err != nil {
		return r.trace, err
	}
	if err := r.health(ctx); err != nil {
		r.trace.Failures = append(r.trace.Failures, "checking the lake: "+err.Error())
	}
	if r.trace.Tables, err = dump(ctx, t.DSN(db), r.norm); err != nil {
		r.trace.Failures = append(r.trace.Failures, "tables: "+err.Error())
	}
	return r.trace, t.DropDatabase(ctx, db)
}

// dataDir makes a new folder whose path has the same length each time: delete files hold paths, their sizes end up in the catalog.
func dataDir() (string, error) {
	for {
		dir := filepath.Join(os.TempDir(), fmt.Sprintf("eider-lake-%010d", rand.Uint32()))
		err := os.Mkdir(dir, 0o700)
		if !errors.Is(err, os.ErrExist) {
			return dir, err
		}
	}
}

type session struct {
	duck.Session
	inst *duck.Instance // nil unless this session owns an instance
	of   *duck.Instance
}

type runner struct {
	s     *Script
	t     Target
	db    string
	data  string
	vars  map[string]string
	norm  *normaliser
	trace *Trace

	mu       sync.Mutex // guards sessions: parallel blocks open theirs at the same time
	sessions map[string]*session
	async    map[string]chan Outcome
}

func (r *runner) close() {
	for _, ch := range r.async {
		<-ch
	}
	var insts []*duck.Instance
	for _, s := range r.sessions {
		_ = s.Close()
		if s.inst != nil {
			insts = append(insts, s.inst)
		}
	}
	for _, i := range insts {
		_ = i.Close()
	}
}

func (r *runner) steps(ctx context.Context, steps []Step, top bool) error {
	for i := range steps {
		if steps[i].Only != "" && steps[i].Only != r.t.Name() {
			continue
		}
		if err := r.step(ctx, &steps[i], top); err != nil {
			return err
		}
		if len(r.trace.Failures) >= maxFailures {
			return errStop
		}
	}
	return nil
}

func (r *runner) step(ctx context.Context, st *Step, top bool) error {
	switch st.Verb {
	case VerbSession:
		name, kind, _ := strings.Cut(st.Args, " ")
		_, err := r.open(ctx, name, kind)
		return r.at(st, err)
	case VerbClose:
		return r.at(st, r.closeSession(st.Session))
	case VerbAttach:
		return r.attach(ctx, st)
	case VerbExec:
		for _, sql := range statements(st.Body) {
			r.exec(ctx, st, sql)
		}
	case VerbQuery, VerbError:
		o := r.run(ctx, st, st.Body, true)
		o.query, o.top = st.Verb == VerbQuery, top
		r.record(st, o)
	case VerbLet:
		o := r.run(ctx, st, st.Body, true)
		switch {
		case o.Err != "":
			r.fail(st, "let: %s", o.Err)
		case len(o.raw) == 0:
			r.fail(st, "let: no row")
		default:
			r.vars[st.Var] = o.raw[0][0]
		}
	case VerbAsync:
		return r.start(ctx, st)
	case VerbAwait:
		ch := r.async[st.Var]
		if ch == nil {
			return r.at(st, fmt.Errorf("nothing is running under the name %s", st.Var))
		}
		delete(r.async, st.Var)
		o := <-ch
		o.Line, o.Differs = st.Line, st.Differs
		r.record(st, outcome{Outcome: o})
	case VerbRestart:
		return r.at(st, r.t.Restart(ctx, r.db, st.Args == "kill"))
	case VerbTables:
		tables, err := dump(ctx, r.t.DSN(r.db), r.norm)
		if err != nil {
			return r.at(st, err)
		}
		var lines []string
		for _, t := range tables {
			lines = append(lines, t.Schema+"."+t.Name+" "+strings.Join(t.Columns, " "))
			lines = append(lines, t.lines()...)
		}
		r.trace.Outcomes = append(r.trace.Outcomes, Outcome{Line: st.Line, SQL: "tables", Rows: lines, Differs: st.Differs})
	case VerbEach, VerbRepeat:
		for _, v := range st.Values {
			r.vars[st.Var] = v
			if err := r.steps(ctx, st.Steps, false); err != nil {
				return err
			}
		}
	case VerbParallel:
		return r.parallel(ctx, st)
	default:
		return r.at(st, fmt.Errorf("unknown verb %s", st.Verb))
	}
	return nil
}

func (r *runner) at(st *Step, err error) error {
	if err != nil {
		return fmt.Errorf("%s:%d: %w", r.s.Name, st.Line, err)
	}
	return nil
}

// session returns a named session; a name that was not declared is a DuckDB of its own.
func (r *runner) session(ctx context.Context, name string) (*session, error) {
	r.mu.Lock()
	s := r.sessions[name]
	r.mu.Unlock()
	if s != nil {
		return s, nil
	}
	return r.open(ctx, name, "duck")
}

func (r *runner) open(ctx context.Context, name, kind string) (*session, error) {
	s := &session{}
	var err error
	switch kind, arg, _ := strings.Cut(kind, " "); kind {
	case "duck":
		if s.inst, err = duck.Open(ctx); err != nil {
			return nil, err
		}
		s.of = s.inst
		s.Session, err = s.inst.Conn(ctx)
	case "conn":
		other, oerr := r.session(ctx, arg)
		if oerr != nil {
			return nil, oerr
		}
		if other.of == nil {
			return nil, fmt.Errorf("session %s is no DuckDB of this process", arg)
		}
		s.of = other.of
		s.Session, err = other.of.Conn(ctx)
	case "pg":
		s.Session, err = duck.OpenPostgres(ctx, r.t.DSN(r.db))
	case "python":
		s.Session, err = duck.OpenPython(ctx, arg)
	default:
		err = fmt.Errorf("unknown kind of session %q", kind)
	}
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sessions[name] != nil {
		return nil, fmt.Errorf("session %s is open already", name)
	}
	r.sessions[name] = s
	return s, nil
}

func (r *runner) closeSession(name string) error {
	r.mu.Lock()
	s := r.sessions[name]
	delete(r.sessions, name)
	r.mu.Unlock()
	if s == nil {
		return fmt.Errorf("session %s is not open", name)
	}
	err := s.Close()
	if s.inst != nil {
		err = errors.Join(err, s.inst.Close())
	}
	return err
}

// attach runs the ATTACH statement of a lake: [NAME] [options].
func (r *runner) attach(ctx context.Context, st *Step) error {
	name, opts := "lake", st.Args
	if first, rest, _ := strings.Cut(st.Args, " "); ident.MatchString(first) && strings.ToLower(first) == first {
		name, opts = first, strings.TrimSpace(rest)
	}
	if !strings.Contains(opts, "DATA_PATH") {
		opts = strings.TrimSuffix("DATA_PATH '$DATA/', "+opts, ", ")
	}
	r.exec(ctx, st, fmt.Sprintf("ATTACH 'ducklake:postgres:$DSN' AS %s (%s)", name, opts))
	return nil
}

func (r *runner) exec(ctx context.Context, st *Step, sql string) {
	o := r.run(ctx, st, sql, false)
	sort.Strings(o.Rows)
	r.record(st, o)
}

// outcome is an Outcome with its rows before normalisation.
type outcome struct {
	Outcome
	raw [][]string
}

func (r *runner) run(ctx context.Context, st *Step, sql string, query bool) outcome {
	sql = r.substitute(sql)
	o := outcome{Outcome: Outcome{Line: st.Line, SQL: sql, Differs: st.Differs}}
	s, err := r.session(ctx, st.Session)
	if err != nil {
		o.Err = err.Error()
		return o
	}
	if st.Within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, st.Within)
		defer cancel()
	}
	return r.runOn(ctx, s, o, query, st.Sort)
}

func (r *runner) runOn(ctx context.Context, s *session, o outcome, query, sorted bool) outcome {
	run := s.Exec
	if query {
		run = s.Query
	}
	res, err := run(ctx, o.SQL)
	if err != nil {
		o.Err = r.norm.error(err.Error())
		if ctx.Err() != nil {
			o.Err = "timeout: " + o.Err
		}
		return o
	}
	o.raw = res.Rows
	o.Rows = r.norm.lines(res.Lines())
	if sorted {
		sort.Strings(o.Rows)
	}
	return o
}

func (r *runner) start(ctx context.Context, st *Step) error {
	if r.async[st.Var] != nil {
		return r.at(st, fmt.Errorf("%s is running already", st.Var))
	}
	s, err := r.session(ctx, st.Session)
	if err != nil {
		return r.at(st, err)
	}
	o := outcome{Outcome: Outcome{Line: st.Line, SQL: r.substitute(st.Body), Differs: st.Differs}}
	ch := make(chan Outcome, 1)
	r.async[st.Var] = ch
	go func() { ch <- r.runOn(ctx, s, o, false, true).Outcome }()
	return nil
}

// parallel runs the block once per worker, each with a DuckDB of its own. Statements must succeed; their results are not compared,
// because the order among the workers is open.
func (r *runner) parallel(ctx context.Context, st *Step) error {
	var wg sync.WaitGroup
	errs := make([]error, len(st.Values))
	subs := make([]*runner, len(st.Values))
	for i, v := range st.Values {
		sub := &runner{
			s: r.s, t: r.t, db: r.db, data: r.data, norm: r.norm,
			vars: map[string]string{}, sessions: map[string]*session{}, async: map[string]chan Outcome{},
			trace: &Trace{Target: r.trace.Target},
		}
		for k, val := range r.vars {
			sub.vars[k] = val
		}
		sub.vars[st.Var] = v
		subs[i] = sub
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[i] = sub.steps(ctx, st.Steps, false)
			sub.close()
		}()
	}
	wg.Wait()
	n := 0
	for _, sub := range subs {
		r.trace.Failures = append(r.trace.Failures, sub.trace.Failures...)
		n += len(sub.trace.Outcomes)
	}
	r.trace.Outcomes = append(r.trace.Outcomes, Outcome{Line: st.Line, SQL: "parallel", Rows: []string{fmt.Sprint(n, " statements")}})
	return errors.Join(errs...)
}

func (r *runner) fail(st *Step, format string, args ...any) {
	r.trace.Failures = append(r.trace.Failures, fmt.Sprintf("%s:%d on %s: ", r.s.Name, st.Line, r.t.Name())+fmt.Sprintf(format, args...))
}

// record keeps an outcome and checks it against what the script expects.
func (r *runner) record(st *Step, o outcome) {
	r.trace.Outcomes = append(r.trace.Outcomes, o.Outcome)
	want := st.Expect[r.t.Name()]
	if want == nil {
		want = st.Expect[""]
	}
	pattern := ""
	if st.Verb == VerbError {
		pattern = r.substitute(st.Args)
	}
	if want != nil && want.Error != "" {
		pattern = r.substitute(want.Error)
	} else if want != nil && st.Verb == VerbError {
		pattern = ""
	}
	switch {
	case pattern != "" && o.Err == "":
		r.fail(st, "no error, want %s\n  %s", pattern, o.SQL)
	case pattern != "":
		if re, err := regexp.Compile(pattern); err != nil {
			r.fail(st, "%v", err)
		} else if !re.MatchString(o.Err) {
			r.fail(st, "error does not match %s\n  %s\n  %s", pattern, o.SQL, o.Err)
		} else if want != nil && want.Refused {
			if err := Refusal(o.Err); err != nil {
				r.fail(st, "%v\n  %s\n  %s", err, o.SQL, o.Err)
			}
		}
	case o.Err != "":
		r.fail(st, "%s\n  %s", o.SQL, o.Err)
	case want != nil:
		rows := make([]string, len(want.Rows))
		for i := range rows {
			rows[i] = r.norm.text(r.substitute(want.Rows[i]))
		}
		if !slices.Equal(rows, o.Rows) {
			r.fail(st, "%s\n  got\n    %s\n  want\n    %s", o.SQL, strings.Join(o.Rows, "\n    "), strings.Join(rows, "\n    "))
		}
	}
}

var variable = regexp.MustCompile(`\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?`)

// substitute replaces $NAME and ${NAME} of known variables and leaves everything else alone.
func (r *runner) substitute(s string) string {
	if !strings.Contains(s, "$") {
		return s
	}
	return variable.ReplaceAllStringFunc(s, func(m string) string {
		name := variable.FindStringSubmatch(m)[1]
		if strings.HasPrefix(m, "${") != strings.HasSuffix(m, "}") {
			return m
		}
		if v, ok := r.vars[name]; ok {
			return v
		}
		return m
	})
}
