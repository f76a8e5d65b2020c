package project

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/eiderdb/eider/internal/nearest"
	"github.com/eiderdb/eider/internal/strictyaml"
	"github.com/eiderdb/eider/materialize/annotate"
)

// ConfigFile is the name of the settings' file, in the project's root.
const ConfigFile = "materialize.yaml"

// Config are a project's settings.
type Config struct {
	// Server is the connection string of the server where lakes without a dsn are.
	Server string `yaml:"server"`
	// Lakes are what ducklake://NAME/… stands for. A name that is not there is the database of
	// that name on the server.
	Lakes map[string]Lake `yaml:"lakes"`
	// Extensions are loaded into DuckDB besides ducklake and postgres.
	Extensions []string `yaml:"extensions"`
	// Init is a file of SQL statements that DuckDB runs before any lake is attached, for secrets
	// and settings; its path is relative to the project.
	Init string `yaml:"init"`
	// Author is who snapshots are by; "" for the system's user.
	Author string `yaml:"author"`
	// Defaults are for scripts that do not say.
	Defaults Defaults `yaml:"defaults"`
}

// Lake is a lake that scripts read or write.
type Lake struct {
	// DSN is the connection string of the catalog's database; "" for the server's database with
	// the lake's name.
	DSN string `yaml:"dsn"`
	// Schema is the metadata schema; "" for public.
	Schema string `yaml:"schema"`
	// DataPath replaces the data path that the catalog has.
	DataPath string `yaml:"data_path"`
}

// Defaults are annotations for scripts without them.
type Defaults struct {
	Retry     string `yaml:"retry"`
	Tag       string `yaml:"tag"`
	Freshness string `yaml:"freshness"`
	Debounce  string `yaml:"debounce"`
}

// readConfig reads the settings; where there is no file, they are empty.
func (p *Project) readConfig() {
	data, err := fs.ReadFile(p.fsys, ConfigFile)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		err = strictyaml.Decode(data, &p.Config)
	}
	for _, e := range each(err) {
		problem := Problem{File: ConfigFile, Severity: annotate.SeverityError, Message: e.Error(), Remedy: "see the settings in docs/materialize.md"}
		var at *strictyaml.Error
		if errors.As(e, &at) {
			problem.Line, problem.Message = at.Line, at.Message
		}
		p.Problems = append(p.Problems, problem)
	}
	p.readDefaults()
}

// readDefaults reads what a header would say, by the header's rules.
func (p *Project) readDefaults() {
	d := p.Config.Defaults
	var lines []string
	for _, v := range []struct{ key, value string }{{"retry", d.Retry}, {"tag", d.Tag}, {"freshness", d.Freshness}, {"debounce", d.Debounce}} {
		if v.value == "" {
			continue
		}
		line := "-- " + v.key + " " + v.value
		h := annotate.Parse(line)
		problem := Problem{File: ConfigFile, Severity: annotate.SeverityError, Message: fmt.Sprintf("defaults.%s: %q cannot be read", v.key, v.value), Remedy: "write it as the line of a header has it"}
		switch {
		case len(h.Diagnostics) > 0:
			problem.Message, problem.Remedy = "defaults."+h.Diagnostics[0].Message, h.Diagnostics[0].Remedy
		case !strings.ContainsAny(v.value, "\r\n") && (h.Retry != nil || h.Tag+h.Freshness+h.Debounce != ""):
			lines = append(lines, line)
			continue
		}
		p.Problems = append(p.Problems, problem)
	}
	p.defaults = annotate.Parse(strings.Join(lines, "\n"))
}

// each takes joined errors apart.
func each(err error) []error {
	if err == nil {
		return nil
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var list []error
		for _, e := range many.Unwrap() {
			list = append(list, each(e)...)
		}
		return list
	}
	return []error{err}
}

// Lake returns the settings of a lake. Where they say nothing about a name, the lake is the database of that
// name; known is false then.
func (p *Project) Lake(name string) (lake Lake, known bool) {
	lake, known = p.Config.Lakes[name]
	return lake, known
}

// Suggest names the lake of the settings that may have been meant, "" for none.
func (p *Project) Suggest(name string) string {
	near := nearest.Of(name, slices.Collect(maps.Keys(p.Config.Lakes)))
	if near == "" {
		return ""
	}
	return fmt.Sprintf("%s has a lake %s", ConfigFile, near)
}
