package config

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

	"github.com/eiderdb/eider/internal/nearest"
)

// ErrConfig is wrapped by every complaint about a setting.
var ErrConfig = errors.New("configuration")

// Flags are the settings as command-line flags.
type Flags struct {
	set    *pflag.FlagSet
	values map[string]*string
	file   string
}

// AddFlags adds settings to a flag set, and --config for the file: those that are named, or
// all.
func AddFlags(set *pflag.FlagSet, only ...string) *Flags {
	f := &Flags{set: set, values: map[string]*string{}}
	for _, d := range Fields() {
		if len(only) > 0 && !slices.Contains(only, d.Name) {
			continue
		}
		text := d.Default
		f.values[d.Name] = &text
		set.Var(&flagValue{text: &text, bool: d.Type == "true or false", kind: flagKind(d)}, d.Name, d.Help)
		if d.Type == "true or false" {
			set.Lookup(d.Name).NoOptDefVal = "true"
		}
	}
	set.StringVar(&f.file, "config", "", "YAML file with settings (EIDER_CONFIG). Its keys are the flags' names.")
	return f
}

func flagKind(d Field) string {
	kind, _, _ := strings.Cut(d.Type, " ")
	switch kind {
	case "list,":
		return "list"
	case "true":
		return "bool"
	case "text":
		return "text"
	}
	if d.Choices != nil {
		return strings.Join(d.Choices, "|")
	}
	return kind
}

// flagValue keeps a flag's text: Load gives it its meaning, together with the others.
type flagValue struct {
	text *string
	bool bool
	kind string
	set  bool
}

func (v *flagValue) String() string {
	if v.text == nil {
		return ""
	}
	return *v.text
}

func (v *flagValue) Set(s string) error {
	// A list's flag may be given more than once.
	if v.set && v.kind == "list" {
		s = *v.text + "," + s
	}
	*v.text, v.set = s, true
	return nil
}

func (v *flagValue) Type() string { return v.kind }

// Source says where a setting's value is from.
type Source string

// The sources, weakest first.
const (
	FromDefault Source = "default"
	FromFile    Source = "file"
	FromEnv     Source = "environment"
	FromFlag    Source = "flag"
)

// Loaded is the result of Load.
type Loaded struct {
	Options
	Sources map[string]Source
	File    string // the configuration file, "" for none
}

// Load puts the settings together. getenv is os.LookupEnv.
func Load(flags *Flags, getenv func(string) (string, bool)) (*Loaded, error) {
	l := &Loaded{Options: Default(), Sources: map[string]Source{}, File: flags.file}
	if l.File == "" {
		l.File, _ = getenv("EIDER_CONFIG")
	}
	fs := fields(&l.Options)
	byName := make(map[string]*Field, len(fs))
	for i := range fs {
		byName[fs[i].Name] = &fs[i]
		l.Sources[fs[i].Name] = FromDefault
	}
	if l.File != "" {
		data, err := os.ReadFile(l.File)
		if err != nil {
			return nil, fmt.Errorf("%w file: %w", ErrConfig, err)
		}
		if err := applyFile(data, byName, l.Sources); err != nil {
			return nil, fmt.Errorf("%w file %s: %w", ErrConfig, l.File, err)
		}
	}
	for i := range fs {
		f := &fs[i]
		if text, ok := getenv(f.Env); ok {
			if err := f.Set(text); err != nil {
				return nil, fmt.Errorf("%w: environment variable %s: %w", ErrConfig, f.Env, err)
			}
			l.Sources[f.Name] = FromEnv
		}
		if text := flags.values[f.Name]; text != nil && flags.set.Changed(f.Name) {
			if err := f.Set(*text); err != nil {
				return nil, fmt.Errorf("%w: flag --%s: %w", ErrConfig, f.Name, err)
			}
			l.Sources[f.Name] = FromFlag
		}
	}
	return l, l.Validate()
}

// applyFile sets what a YAML file says. Unknown keys are mistakes, never ignored.
func applyFile(data []byte, byName map[string]*Field, sources map[string]Source) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return err
	}
	if len(doc.Content) == 0 {
		return nil
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: expected lines of the form key: value", top.Line)
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, val := top.Content[i], top.Content[i+1]
		f := byName[key.Value]
		if f == nil {
			if near := nearest.Of(key.Value, slices.Collect(maps.Keys(byName))); near != "" {
				return fmt.Errorf("line %d: unknown key %q, did you mean %q?", key.Line, key.Value, near)
			}
			return fmt.Errorf("line %d: unknown key %q", key.Line, key.Value)
		}
		if at, twice := seen[f.Name]; twice {
			return fmt.Errorf("line %d: %s is set in line %d already", key.Line, f.Name, at)
		}
		seen[f.Name] = key.Line
		text, err := scalar(val)
		if err == nil {
			err = f.Set(text)
		}
		if err != nil {
			return fmt.Errorf("line %d: %s: %w", val.Line, f.Name, err)
		}
		sources[f.Name] = FromFile
	}
	return nil
}

// scalar is a YAML value as text; a sequence becomes a list.
func scalar(n *yaml.Node) (string, error) {
	switch n.Kind {
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			return "", nil
		}
		return n.Value, nil
	case yaml.AliasNode:
		return scalar(n.Alias)
	case yaml.SequenceNode:
		parts := make([]string, 0, len(n.Content))
		for _, c := range n.Content {
			if c.Kind != yaml.ScalarNode {
				return "", errors.New("a list holds plain values")
			}
			parts = append(parts, c.Value)
		}
		return strings.Join(parts, ","), nil
	}
	return "", errors.New("expected a value or a list")
}

// Print writes the settings as a file that Load reads, with where each is from.
func (l *Loaded) Print(w io.Writer) error {
	for _, f := range fields(&l.Options) {
		var node yaml.Node
		node.SetString(f.Text())
		if f.Type != "text" && f.Choices == nil && f.Type != "list, separated by commas" {
			node.Style = 0
			node.Tag = ""
		}
		val, err := yaml.Marshal(&node)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		if _, err := fmt.Fprintf(w, "%s: %s # %s\n", f.Name, strings.TrimSpace(string(val)), l.Sources[f.Name]); err != nil {
			return err
		}
	}
	return nil
}
