package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/eiderdb/eider/cmd/eider/config"
	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/gc/fsck"
	"github.com/eiderdb/eider/gc/jobs"
	"github.com/eiderdb/eider/server"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	for name, text := range pages() {
		path := filepath.Join(root, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, text, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "gendocs:", err)
			os.Exit(1)
		}
	}
}

const made = "<!-- Made by internal/gendocs from the code; change that and run: make generate -->\n"

// pages are the generated files by their path in the repository.
func pages() map[string][]byte {
	return map[string][]byte{
		"docs/conflicts.md":         []byte(made + conflict.Page()),
		"docs/fsck.md":              []byte(made + fsck.Page()),
		"docs/reference/flags.md":   flags(config.Fields()),
		"docs/reference/metrics.md": metrics(metricList()),
	}
}

// metricList are all metrics of the server.
func metricList() []server.Metric {
	list := server.MetricList()
	for _, m := range jobs.MetricList() {
		list = append(list, server.Metric(m))
	}
	return list
}

func flags(fields []config.Field) []byte {
	var b bytes.Buffer
	b.WriteString(made)
	b.WriteString(`
# Settings of eider serve

Every setting is a flag (` + "`--name value`" + `), an environment variable and a key of the YAML file that ` + "`--config`" + ` or
EIDER_CONFIG names. A flag wins over the environment, the environment over the file, the file over the default. An unknown
key in the file is an error. ` + "`eider serve --print-config`" + ` prints the settings in force as such a file.

| flag and file key | environment | value | default | |
|---|---|---|---|---|
`)
	for _, f := range fields {
		def := "none"
		if f.Default != "" {
			def = "`" + f.Default + "`"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s |\n", f.Name, f.Env, f.Type, def, cell(f.Help))
	}
	return b.Bytes()
}

func metrics(list []server.Metric) []byte {
	var b bytes.Buffer
	b.WriteString(made)
	b.WriteString(`
# Metrics

The server shows these at ` + "`/metrics`" + ` of ` + "`admin-listen`" + `, in the text format of Prometheus, together with the usual
` + "`go_`" + ` and ` + "`process_`" + ` metrics.

| metric | kind | labels | |
|---|---|---|---|
`)
	for _, m := range list {
		labels := make([]string, len(m.Labels))
		for i, l := range m.Labels {
			labels[i] = "`" + l + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Type, strings.Join(labels, ", "), cell(m.Help))
	}
	return b.Bytes()
}

// cell is text inside of a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
