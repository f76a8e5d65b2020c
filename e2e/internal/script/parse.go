package script

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Script is a parsed file.
type Script struct {
	Name  string   // path below the scripts folder
	Lines []string // the file as it was read
	Steps []Step
	// TablesDiffer is the reason why the catalog tables need not be equal at the end; empty if they must be.
	TablesDiffer string
	// Unhealthy maps codes of findings that the script leaves in its lakes to the reason; a
	// code may have one server in front (pg:name-twice).
	Unhealthy map[string]string
	// Private says that the script restarts its server and needs one of its own.
	Private bool
}

// Verb is what a step does.
type Verb string

// The verbs of the language.
const (
	VerbSession  Verb = "session"
	VerbAttach   Verb = "attach"
	VerbExec     Verb = "exec"
	VerbQuery    Verb = "query"
	VerbError    Verb = "error"
	VerbLet      Verb = "let"
	VerbAsync    Verb = "async"
	VerbAwait    Verb = "await"
	VerbRestart  Verb = "restart"
	VerbTables   Verb = "tables"
	VerbEach     Verb = "each"
	VerbRepeat   Verb = "repeat"
	VerbParallel Verb = "parallel"
	VerbClose    Verb = "close"
)

// Step is one block of a script.
type Step struct {
	Line    int // 1-based line of the header
	Verb    Verb
	Session string
	Args    string // rest of the header
	Body    string
	Sort    bool
	Differs string             // why the two servers may differ here
	Only    string             // target that alone runs the step
	Within  time.Duration      // what each statement may take at most; 0 is no limit
	Expect  map[string]*Expect // by target name, "" for all
	Var     string             // loop variable, captured name, or name of the async statement
	Values  []string           // of a loop
	Steps   []Step             // of a loop or parallel block
	bodyEnd int                // index of the first line behind the body
}

// Expect is an expected outcome.
type Expect struct {
	Rows  []string
	Error string // regular expression; empty for success
	// Refused says that the error must also be a clear refusal: see Refusal.
	Refused bool
	start   int // line index of "----"
	end     int // index of the first line behind the rows
}

// Load reads and parses a file.
func Load(path, name string) (*Script, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(name, string(text))
}

// Parse parses the text of a script.
func Parse(name, text string) (*Script, error) {
	p := &parser{s: &Script{Name: name, Lines: strings.Split(strings.TrimRight(text, "\n"), "\n")}}
	steps, err := p.block(false)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, p.i+1, err)
	}
	p.s.Steps = steps
	return p.s, nil
}

type parser struct {
	s *Script
	i int
}

func (p *parser) block(nested bool) ([]Step, error) {
	var steps []Step
	differs := ""
	only := ""
	within := time.Duration(0)
	for p.i < len(p.s.Lines) {
		line := strings.TrimSpace(p.s.Lines[p.i])
		word, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			p.i++
		case word == "differs":
			if rest == "" {
				return nil, fmt.Errorf("differs needs a reason")
			}
			differs = rest
			p.i++
		case word == "only":
			if rest != "pg" && rest != "eider" {
				return nil, fmt.Errorf("only needs pg or eider")
			}
			only = rest
			p.i++
		case word == "within":
			var err error
			if within, err = time.ParseDuration(rest); err != nil || within <= 0 {
				return nil, fmt.Errorf("within needs a duration")
			}
			p.i++
		case word == "tables-differ":
			if rest == "" {
				return nil, fmt.Errorf("tables-differ needs a reason")
			}
			p.s.TablesDiffer = rest
			p.i++
		case word == "unhealthy":
			code, reason, _ := strings.Cut(rest, " ")
			if reason == "" {
				return nil, fmt.Errorf("unhealthy needs a code and a reason")
			}
			if p.s.Unhealthy == nil {
				p.s.Unhealthy = map[string]string{}
			}
			p.s.Unhealthy[code] = reason
			p.i++
		case word == "end":
			if !nested {
				return nil, fmt.Errorf("end without a loop")
			}
			p.i++
			return steps, nil
		default:
			st, err := p.step(Verb(word), rest)
			if err != nil {
				return nil, err
			}
			st.Differs, st.Only = differs, only
			differs, only = "", ""
			if within > 0 && st.Verb != VerbExec && st.Verb != VerbQuery {
				return nil, fmt.Errorf("%s has no limit of time", st.Verb)
			}
			st.Within, within = within, 0
			if st.Only != "" && st.Differs == "" {
				return nil, fmt.Errorf("a step for one server only needs a reason (differs)")
			}
			steps = append(steps, st)
		}
	}
	if nested {
		return nil, fmt.Errorf("loop without an end")
	}
	return steps, nil
}

var ident = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (p *parser) step(verb Verb, rest string) (Step, error) {
	st := Step{Line: p.i + 1, Verb: verb, Session: "a"}
	// The name of an async statement comes before its session.
	if verb == VerbAsync || verb == VerbAwait || verb == VerbLet {
		st.Var, rest, _ = strings.Cut(rest, " ")
		rest = strings.TrimSpace(rest)
		if !ident.MatchString(st.Var) {
			return st, fmt.Errorf("%s needs a name", verb)
		}
	}
	if strings.HasPrefix(rest, "@") {
		st.Session, rest, _ = strings.Cut(rest[1:], " ")
		rest = strings.TrimSpace(rest)
	}
	st.Args = rest
	p.i++
	switch verb {
	case VerbSession, VerbAttach, VerbTables, VerbClose:
		return st, nil
	case VerbRestart:
		p.s.Private = true
		return st, nil
	case VerbEach:
		name, list, ok := strings.Cut(rest, " in ")
		if !ok || !ident.MatchString(name) {
			return st, fmt.Errorf("each needs NAME in VALUES")
		}
		st.Var, st.Values = name, strings.Fields(list)
		return p.nest(st)
	case VerbRepeat:
		var lo, hi int
		if n, _ := fmt.Sscanf(rest, "%s %d %d", &st.Var, &lo, &hi); n != 3 {
			return st, fmt.Errorf("repeat needs NAME FROM TO")
		}
		for i := lo; i <= hi; i++ {
			st.Values = append(st.Values, strconv.Itoa(i))
		}
		return p.nest(st)
	case VerbParallel:
		n, err := strconv.Atoi(rest)
		if err != nil || n < 1 {
			return st, fmt.Errorf("parallel needs a number")
		}
		st.Var = "worker"
		for i := range n {
			st.Values = append(st.Values, strconv.Itoa(i))
		}
		return p.nest(st)
	case VerbQuery:
		switch rest {
		case "":
		case "sort":
			st.Sort = true
		default:
			return st, fmt.Errorf("query takes only sort, not %q", rest)
		}
	case VerbExec, VerbLet, VerbAsync:
		if rest != "" {
			return st, fmt.Errorf("%s takes no %q", verb, rest)
		}
	case VerbError:
		if rest == "" {
			return st, fmt.Errorf("error needs a regular expression")
		}
		if _, err := regexp.Compile(rest); err != nil {
			return st, err
		}
	case VerbAwait:
		st.Session = ""
		if re, ok := strings.CutPrefix(rest, "error "); ok {
			st.Expect = map[string]*Expect{"": {Error: re}}
		} else if rest != "" {
			return st, fmt.Errorf("await takes error and an expression")
		}
	default:
		return st, fmt.Errorf("unknown verb %q", verb)
	}
	return st, p.body(&st)
}

func (p *parser) nest(st Step) (Step, error) {
	steps, err := p.block(true)
	st.Steps = steps
	return st, err
}

// body reads the statement up to an empty line, and the expectations behind it.
func (p *parser) body(st *Step) error {
	start := p.i
	for p.i < len(p.s.Lines) && strings.TrimSpace(p.s.Lines[p.i]) != "" && !isRule(p.s.Lines[p.i]) {
		p.i++
	}
	st.Body = strings.Join(p.s.Lines[start:p.i], "\n")
	st.bodyEnd = p.i
	if st.Body == "" && st.Verb != VerbAwait {
		return fmt.Errorf("%s without a statement", st.Verb)
	}
	for p.i < len(p.s.Lines) && isRule(p.s.Lines[p.i]) {
		target := strings.TrimSpace(strings.TrimPrefix(p.s.Lines[p.i], "----"))
		if target != "" && target != "pg" && target != "eider" {
			return fmt.Errorf("unknown target %q", target)
		}
		e := &Expect{start: p.i}
		p.i++
		for p.i < len(p.s.Lines) && p.s.Lines[p.i] != "" && !isRule(p.s.Lines[p.i]) {
			e.Rows = append(e.Rows, strings.TrimRight(p.s.Lines[p.i], " "))
			p.i++
		}
		e.end = p.i
		if len(e.Rows) == 1 {
			re, ok := strings.CutPrefix(e.Rows[0], "error: ")
			if !ok {
				re, e.Refused = strings.CutPrefix(e.Rows[0], "refused: ")
			}
			if ok || e.Refused {
				e.Error, e.Rows = re, nil
				if _, err := regexp.Compile(re); err != nil {
					return err
				}
			}
		}
		if st.Expect == nil {
			st.Expect = map[string]*Expect{}
		}
		st.Expect[target] = e
	}
	return nil
}

func isRule(line string) bool {
	return line == "----" || strings.HasPrefix(line, "---- ")
}

// statements splits a body into statements that end with a semicolon at the end of a line.
func statements(body string) []string {
	var out []string
	var cur []string
	for _, line := range strings.Split(body, "\n") {
		cur = append(cur, line)
		if strings.HasSuffix(strings.TrimRight(line, " "), ";") {
			out = append(out, strings.Join(cur, "\n"))
			cur = nil
		}
	}
	if len(cur) > 0 {
		out = append(out, strings.Join(cur, "\n"))
	}
	return out
}

// Count is the number of statements as they are written, loops counted once.
func Count(steps []Step) int {
	n := 0
	for _, st := range steps {
		switch st.Verb {
		case VerbEach, VerbRepeat, VerbParallel:
			n += Count(st.Steps)
		case VerbExec:
			n += len(statements(st.Body))
		case VerbQuery, VerbError, VerbLet, VerbAsync, VerbAttach:
			n++
		}
	}
	return n
}
