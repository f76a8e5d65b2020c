package project

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/eiderdb/eider/materialize/annotate"
	"github.com/eiderdb/eider/materialize/classify"
	"github.com/eiderdb/eider/materialize/due"
	"github.com/eiderdb/eider/materialize/partition"
	"github.com/eiderdb/eider/materialize/plan"
)

// macroForm is a statement of a script of macros. It becomes a temporary macro, whatever it says.
var macroForm = regexp.MustCompile(`(?is)^create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?(?:macro|function)\s+(?:if\s+not\s+exists\s+)?`)

// macros reads the scripts that a header uses, and those that these use, what is used first.
func (p *Project) macros(s *Script) {
	seen := map[string]bool{s.Name: true}
	var add func(of *Script)
	add = func(of *Script) {
		for _, name := range of.Header.Use {
			lib, ok := p.resolve(of, name)
			line := of.Header.Lines["use "+name]
			if of != s {
				line = 0 // it is in another file
			}
			switch {
			case !ok:
				p.fail(s, line, fmt.Sprintf("there is no script %s to use", name), "name a script of the project by its path from the root")
			case seen[lib.Name]:
			case !lib.Header.Macros:
				p.fail(s, line, fmt.Sprintf("%s has no macros line in its header", lib.File), "add -- macros to it")
			default:
				seen[lib.Name] = true
				add(lib)
				m, line, err := readMacros(lib)
				if err != nil {
					s.Bad = true
					p.once(Problem{lib.File, line, annotate.SeverityError, err.Error(), "write CREATE MACRO name(…) AS …"})
					continue
				}
				s.Macros = append(s.Macros, m)
			}
		}
	}
	add(s)
}

// once adds a problem that is not there yet: a library has several users.
func (p *Project) once(problem Problem) {
	for _, other := range p.Problems {
		if other == problem {
			return
		}
	}
	p.Problems = append(p.Problems, problem)
}

func readMacros(lib *Script) (plan.Macros, int, error) {
	m := plan.Macros{Script: lib.Name}
	for _, st := range classify.Split(lib.Text) {
		head := macroForm.FindString(st.Text)
		if head == "" {
			return m, st.Line, fmt.Errorf("a script of macros has only CREATE MACRO in it")
		}
		st.Text = "CREATE OR REPLACE TEMP MACRO " + st.Text[len(head):]
		m.Statements = append(m.Statements, st)
	}
	return m, 0, nil
}

// custom reads the bodies of a script's own tests.
func (p *Project) custom(s *Script) {
	for _, t := range s.Header.Tests {
		if t.Kind != annotate.TestCustom {
			continue
		}
		file, ok := p.resolve(s, t.Script)
		if !ok {
			continue // the plan says so, with the line
		}
		if s.Custom == nil {
			s.Custom = map[string]string{}
		}
		s.Custom[t.Script] = file.Text
	}
}

// schedules refuses times that a watch could not go by.
func (p *Project) schedules(s *Script) {
	for _, t := range s.Header.Triggers {
		if t.Native != annotate.Schedule || t.Cron == "" || s.Bad {
			continue
		}
		if _, err := due.ParseSchedule(t.Cron, t.TZ); err != nil {
			p.fail(s, t.Line, err.Error(), "")
		}
	}
}

// macroCall is a call of the macro of partitions.
var macroCall = regexp.MustCompile(`(?i)\b` + partition.MacroName + `\s*\(`)

// placeholders tells of statements that ask for a partition which the script has not. It is no error:
// the text may be meant as it stands.
func (p *Project) placeholders(s *Script) {
	if s.Header.Partitioned != nil {
		return
	}
	all := s.Statements
	if s.SQL != nil {
		all = append(slices.Clone(s.SQL.Setup), s.SQL.Output)
	}
	for _, st := range all {
		what := ""
		switch {
		case classify.HasPartition(st.Text):
			what = annotate.PartitionPlaceholder
		case macroCall.MatchString(st.Text):
			what = partition.MacroName
		default:
			continue
		}
		p.Problems = append(p.Problems, Problem{
			s.File, st.Line, annotate.SeverityWarning, fmt.Sprintf("the statement has %s, which stands for nothing: the header has no line with partitioned", what),
			"add -- partitioned daily, or another kind",
		})
	}
}

// Find returns the script of a name, a file of the project, or an asset.
func (p *Project) Find(name string) (*Script, bool) {
	if a, ok := annotate.ParseAsset(name); ok {
		for _, s := range p.Scripts {
			if s.Header.Materialize != nil && strings.EqualFold(normal(s.Asset()).String(), normal(a).String()) {
				return s, true
			}
		}
		return nil, false
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "./"), ".sql")
	for _, s := range p.Scripts {
		if s.Name == name {
			return s, true
		}
	}
	return nil, false
}
