package project

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/eiderdb/eider/materialize/annotate"
	"github.com/eiderdb/eider/materialize/classify"
	"github.com/eiderdb/eider/materialize/partition"
	"github.com/eiderdb/eider/materialize/plan"
)

// ErrProject is wrapped by errors about the folder as a whole.
var ErrProject = errors.New("project")

// maxScript bounds a script, in bytes: what is larger is no script.
const maxScript = 4 << 20

// Problem is something wrong with a file.
type Problem struct {
	// File is relative to the project.
	File string
	// Line is from 1; 0 if it is none of them.
	Line     int
	Severity annotate.Severity
	// Message says what is wrong, Remedy what to write.
	Message, Remedy string
}

// String is FILE:LINE: message; remedy.
func (p Problem) String() string {
	s := p.File
	if p.Line > 0 {
		s = fmt.Sprintf("%s:%d", s, p.Line)
	}
	s += ": " + p.Message
	if p.Remedy != "" {
		s += "; " + p.Remedy
	}
	return s
}

// Script is a file of the project with a header.
type Script struct {
	// Name is the path in the project without .sql, with slashes. File has it.
	Name, File string
	Text       string
	Header     *annotate.Header
	// SQL are the statements; nil for a manual script, one that is no asset, or one that cannot be read.
	SQL *classify.Script
	// Statements are those of a manual script, or of one with macros.
	Statements []classify.Statement
	// Spec is how the table is partitioned; nil if it is not.
	Spec *partition.Spec
	// Macros are those that the script uses, Custom the bodies of its own tests by their paths.
	Macros []plan.Macros
	Custom map[string]string
	// Hash tells whether anything that makes the table has changed: the script, macros, tests.
	Hash string
	// Bad says that a problem is an error: the script is not run.
	Bad bool
}

// Asset is the table that the script makes; the zero Asset for none.
func (s *Script) Asset() annotate.Asset {
	if s.Header.Materialize == nil {
		return annotate.Asset{}
	}
	return s.Header.Materialize.Asset
}

// Project is what a folder holds.
type Project struct {
	Config Config
	// Scripts are those that make a table, or whose header says so in a way that cannot be read,
	// by name.
	Scripts []*Script
	// Problems are by file and line.
	Problems []Problem

	fsys  fs.FS
	files map[string]string // of all .sql files, by path
	all   map[string]*Script
	// defaults are those of the settings as a header; nil where they cannot be read.
	defaults *annotate.Header
}

// Load reads the project in a folder. Problems of its files are no error.
func Load(fsys fs.FS) (*Project, error) {
	p := &Project{fsys: fsys, files: map[string]string{}, all: map[string]*Script{}}
	p.readConfig()
	if err := p.read(); err != nil {
		return nil, err
	}
	for _, file := range slices.Sorted(mapKeys(p.files)) {
		s := &Script{Name: strings.TrimSuffix(file, ".sql"), File: file, Text: p.files[file], Header: annotate.Parse(p.files[file])}
		p.all[s.Name] = s
		if s.Header.Materialize != nil || len(s.Header.Tests) > 0 || s.Header.Unreadable() {
			p.Scripts = append(p.Scripts, s)
		}
	}
	for _, s := range p.all {
		p.header(s)
	}
	for _, s := range p.Scripts {
		p.complete(s)
	}
	p.twice()
	slices.SortStableFunc(p.Problems, func(a, b Problem) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		return a.Line - b.Line
	})
	return p, nil
}

// read reads all files with .sql at their ends. Folders and files with a dot in front are left out, as are links.
func (p *Project) read() error {
	err := fs.WalkDir(p.fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := path.Base(name); name != "." && strings.HasPrefix(base, ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() || !strings.HasSuffix(name, ".sql") || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err != nil {
			return err
		} else if info.Size() > maxScript {
			p.Problems = append(p.Problems, Problem{name, 0, annotate.SeverityError, fmt.Sprintf("the file has %d bytes, more than the %d of a script", info.Size(), maxScript), "put data into a table or a file of its own"})
			return nil
		}
		data, err := fs.ReadFile(p.fsys, name)
		if err != nil {
			return err
		}
		if !utf8.Valid(data) {
			p.Problems = append(p.Problems, Problem{name, 0, annotate.SeverityError, "the file is not UTF-8", "save it as UTF-8"})
			return nil
		}
		p.files[name] = strings.ReplaceAll(strings.TrimPrefix(string(data), "\uFEFF"), "\r\n", "\n")
		return nil
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrProject, err)
	}
	return nil
}

func mapKeys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (p *Project) fail(s *Script, line int, message, remedy string) {
	s.Bad = true
	p.Problems = append(p.Problems, Problem{s.File, line, annotate.SeverityError, message, remedy})
}

// header takes over what is wrong with a header, and the defaults of the settings.
func (p *Project) header(s *Script) {
	for _, d := range s.Header.Diagnostics {
		p.Problems = append(p.Problems, Problem{s.File, d.Line, d.Severity, d.Message, d.Remedy})
		s.Bad = s.Bad || d.Severity == annotate.SeverityError
	}
	more := p.defaults
	if more == nil || s.Header.Materialize == nil {
		return
	}
	for _, v := range []struct{ to, from *string }{
		{&s.Header.Tag, &more.Tag}, {&s.Header.Freshness, &more.Freshness}, {&s.Header.Debounce, &more.Debounce},
	} {
		if *v.to == "" {
			*v.to = *v.from
		}
	}
	if s.Header.Retry == nil {
		s.Header.Retry = more.Retry
	}
}

// complete reads what a script that makes a table needs.
func (p *Project) complete(s *Script) {
	h := s.Header
	if h.Materialize == nil {
		if !s.Bad { // the header says so itself
			p.fail(s, h.Tests[0].Line, "a data_test needs a table to look at", "add a line with materialize ducklake://LAKE/TABLE")
		}
		return
	}
	if pt := h.Partitioned; pt != nil {
		spec, err := partition.New(pt.Kind, pt.TZ, pt.Format, pt.Start, pt.Key)
		if err != nil {
			p.fail(s, pt.Line, err.Error(), "")
		} else {
			s.Spec = &spec
		}
	}
	var err error
	if h.Materialize.Manual {
		s.Statements = classify.Split(s.Text)
		if len(s.Statements) == 0 {
			p.fail(s, 0, "the script has no statement", "")
		}
	} else if s.SQL, err = classify.Classify(s.Text); err != nil {
		p.classified(s, err)
	}
	p.macros(s)
	p.custom(s)
	p.schedules(s)
	p.placeholders(s)
	s.Hash = s.hash()
	if s.Bad {
		return
	}
	in := s.Input()
	if s.Spec != nil {
		in.Partition = "1" // any: only the header is looked at
	}
	if !h.Materialize.Manual {
		_, err = plan.Build(in)
	} else {
		err = plan.CheckInput(in)
	}
	var bad *plan.Error
	if errors.As(err, &bad) {
		p.fail(s, bad.Line, bad.Message, bad.Remedy)
	} else if err != nil {
		p.fail(s, 0, err.Error(), "")
	}
}

func (p *Project) classified(s *Script, err error) {
	var bad *classify.Error
	if !errors.As(err, &bad) {
		p.fail(s, 0, err.Error(), "")
		return
	}
	text := *bad
	line, remedy := text.Line, text.Remedy
	text.Line, text.Remedy = 0, ""
	p.fail(s, line, text.Error(), remedy)
}

// Input is what a plan of the script is made of, without a partition and a probe.
func (s *Script) Input() *plan.Input {
	in := &plan.Input{Header: s.Header, Script: s.SQL, Macros: s.Macros, Custom: s.Custom}
	if s.Spec != nil {
		in.PartitionMacro = s.Spec.Macro()
	}
	return in
}

// resolve finds a file that a header names: in the project, or beside the script.
func (p *Project) resolve(s *Script, name string) (*Script, bool) {
	name = strings.TrimSuffix(name, ".sql")
	for _, full := range []string{path.Clean(name), path.Join(path.Dir(s.Name), name)} {
		if f, ok := p.all[full]; ok {
			return f, true
		}
	}
	return nil, false
}

// twice refuses scripts that write one table: which of them is right depends on their order.
func (p *Project) twice() {
	by := map[string]*Script{}
	for _, s := range p.Scripts {
		if s.Header.Materialize == nil {
			continue
		}
		for _, a := range s.Header.Materialize.WriteTargets() {
			key := strings.ToLower(normal(a).String())
			if other := by[key]; other != nil && other != s {
				p.fail(s, s.Header.Materialize.Line, fmt.Sprintf("%s is already made by %s", a, other.File), "let one script make it")
				other.Bad = true
				continue
			}
			by[key] = s
		}
	}
}

// normal is a table's asset without the schema that is meant anyway.
func normal(a annotate.Asset) annotate.Asset {
	if a.Kind != annotate.KindLake {
		return a
	}
	if schema, name := plan.SplitTable(a.Table()); schema == plan.DefaultSchema {
		a.Path = a.Lake() + "/" + name
	}
	return a
}

// hash is of everything that makes the table.
func (s *Script) hash() string {
	h := sha256.New()
	add := func(text string) { fmt.Fprintf(h, "%d:%s", len(text), text) }
	add(s.Text)
	for _, m := range s.Macros {
		add(m.Script)
		for _, st := range m.Statements {
			add(st.Text)
		}
	}
	for _, t := range s.Header.Tests {
		if t.Kind == annotate.TestCustom {
			add(s.Custom[t.Script])
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
