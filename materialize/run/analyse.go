package run

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/materialize/annotate"
	"github.com/eiderdb/eider/materialize/classify"
	"github.com/eiderdb/eider/materialize/lineage"
	"github.com/eiderdb/eider/materialize/plan"
	"github.com/eiderdb/eider/materialize/project"
)

// Analysis is what a script reads, as far as its text tells.
type Analysis struct {
	// Lakes are the lakes that the script names, by the aliases under which it does, in lower
	// case. Those that it attaches itself are among them.
	Lakes map[string]string
	// Attach are the aliases of lakes that have to be attached for it.
	Attach []string
	// Tables are the tables of lakes that the SELECT reads, sorted, those read as of a version
	// left out.
	Tables []LakeTable
	// Files are assets such as s3://… that it reads.
	Files []annotate.Asset
	// Columns are where the columns come from, annotations in place of what was inferred.
	Columns []lineage.AssetColumn
	// Unknown says why it is not known what the result depends on; "" when it is: Tables are all then.
	Unknown string
}

// LakeTable is a table of a lake.
type LakeTable struct {
	Lake, Schema, Name string
}

// Asset is the table as scripts call it.
func (t LakeTable) Asset() annotate.Asset {
	path := t.Lake + "/" + t.Name
	if !strings.EqualFold(t.Schema, plan.DefaultSchema) {
		path = t.Lake + "/" + t.Schema + "." + t.Name
	}
	return annotate.Asset{Kind: annotate.KindLake, Path: path}
}

// key is the table in a run's record.
func (t LakeTable) key() string { return t.Lake + "/" + t.Schema + "." + t.Name }

func (t LakeTable) fold() LakeTable {
	return LakeTable{t.Lake, strings.ToLower(t.Schema), strings.ToLower(t.Name)}
}

// temp is what a temporary table, view or macro of the script stands for.
type temp struct {
	sql    string
	params []string // of a macro
}

// parser gives DuckDB's parse trees.
type parser interface {
	Query(ctx context.Context, sql string) ([][]any, error)
}

// analyser reads one script.
type analyser struct {
	ctx     context.Context
	db      parser
	project *project.Project
	script  *project.Script
	catalog Catalog
	out     Analysis
	use     lineage.TableRef // what a bare name is in: Catalog and Schema
	temps   map[string]temp
	err     error
}

// Catalog is what can be asked about tables of lakes. Its functions may be nil.
type Catalog struct {
	// View gives the SELECT of a view, in which the lake's name is the catalog; false for what is none.
	View func(LakeTable) (sql string, ok bool)
	// Columns gives the names of a table's columns in their order; false when they are not known.
	Columns func(LakeTable) ([]string, bool)
}

// Analyse reads what a script reads. The lake of its target counts as named.
func Analyse(ctx context.Context, db parser, p *project.Project, s *project.Script, c Catalog) (Analysis, error) {
	a := &analyser{ctx: ctx, db: db, project: p, script: s, catalog: c, temps: map[string]temp{}, out: Analysis{Lakes: map[string]string{}}}
	a.out.Columns = lineage.Merge(nil, annotated(s.Header))
	if s.SQL == nil {
		a.out.Unknown = "the script is manual"
		return a.out, nil
	}
	for _, m := range s.Macros {
		for _, st := range m.Statements {
			a.setup(st.Text)
		}
	}
	for _, st := range s.SQL.Setup {
		a.setup(classify.SubstitutePartition(st.Text, "p"))
	}
	for _, st := range s.SQL.Setup {
		a.mentioned(st.Text)
	}
	tree, err := a.tree(classify.SubstitutePartition(s.SQL.Output.Text, "p"))
	if err != nil {
		return a.out, err
	}
	read, err := a.read(tree)
	if err != nil {
		a.mentioned(s.SQL.Output.Text)
		a.out.Unknown = err.Error()
		return a.out, a.err
	}
	a.reads(&read, 0)
	a.out.Columns = lineage.Merge(lineage.Assets(read.Columns, func(t lineage.TableRef) string {
		if lt, ok := a.lakeTable(t); ok {
			return lt.Asset().String()
		}
		if t.File {
			if f, ok := annotate.ParseAsset(t.Name); ok {
				return f.String()
			}
		}
		return ""
	}), annotated(s.Header))
	slices.Sort(a.out.Attach)
	slices.SortFunc(a.out.Tables, func(x, y LakeTable) int { return strings.Compare(x.key(), y.key()) })
	return a.out, a.err
}

func annotated(h *annotate.Header) []lineage.AssetColumn {
	var list []lineage.AssetColumn
	for _, c := range h.Columns {
		n := lineage.AssetColumn{Name: c.Name}
		for _, f := range c.From {
			n.From = append(n.From, lineage.AssetRef{Asset: f.Asset.String(), Column: f.Column})
		}
		list = append(list, n)
	}
	return list
}

// unknown keeps the first reason.
func (a *analyser) unknown(format string, args ...any) {
	if a.out.Unknown == "" {
		a.out.Unknown = fmt.Sprintf(format, args...)
	}
}

var (
	useForm = regexp.MustCompile(`(?is)^use\s+("(?:[^"]|"")+"|[\w$]+)(?:\s*\.\s*("(?:[^"]|"")+"|[\w$]+))?$`)
	// tempForm is CREATE TEMP TABLE or VIEW name AS ….
	tempForm = regexp.MustCompile(`(?is)^create\s+(?:or\s+replace\s+)?(?:temp|temporary)\s+(?:table|view)\s+(?:if\s+not\s+exists\s+)?("(?:[^"]|"")+"|[\w$]+)(?:\s*\([^)]*\))?\s+as\s+(.*)$`)
	// macroForm is CREATE TEMP MACRO name(…) AS [TABLE] ….
	macroForm = regexp.MustCompile(`(?is)^create\s+(?:or\s+replace\s+)?(?:temp|temporary)\s+(?:macro|function)\s+("(?:[^"]|"")+"|[\w$]+)\s*\((.*?)\)\s+as\s+(table\s+)?(.*)$`)
)

// setup takes notice of what a statement before the SELECT names.
func (a *analyser) setup(sql string) {
	if at, ok := plan.ParseAttach(sql); ok {
		a.out.Lakes[strings.ToLower(at.Alias)] = at.Lake
		return
	}
	if m := useForm.FindStringSubmatch(sql); m != nil {
		if len(a.temps) > 0 {
			a.unknown("it says USE after it made something temporary, in which names meant something else")
		}
		a.use = lineage.TableRef{Catalog: unquote(m[1]), Schema: plan.DefaultSchema}
		if m[2] != "" {
			a.use.Schema = unquote(m[2])
		}
		return
	}
	if m := tempForm.FindStringSubmatch(sql); m != nil {
		a.temporary("t ", m[1], temp{sql: m[2]})
		return
	}
	if m := macroForm.FindStringSubmatch(sql); m != nil {
		kind, sql := "f ", m[4]
		if m[3] != "" {
			kind = "tf "
		} else {
			sql = "SELECT " + sql
		}
		a.temporary(kind, m[1], temp{sql: sql, params: params(m[2])})
	}
}

// temporary notes what a name of the script's own stands for. Where there are two of a name it depends on
// OR REPLACE and IF NOT EXISTS which one counts, and the one may read the other.
func (a *analyser) temporary(kind, name string, t temp) {
	key := kind + strings.ToLower(unquote(name))
	if _, twice := a.temps[key]; twice {
		a.unknown("it makes %s twice", unquote(name))
	}
	a.temps[key] = t
}

// params are the names of a macro's parameters; a default follows its name after := .
func params(list string) []string {
	var out []string
	for p := range strings.SplitSeq(list, ",") {
		name, _, _ := strings.Cut(p, ":=")
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, unquote(strings.Fields(name)[0]))
		}
	}
	return out
}

func unquote(s string) string {
	if strings.HasPrefix(s, `"`) {
		return strings.ReplaceAll(s[1:len(s)-1], `""`, `"`)
	}
	return s
}

// tree is DuckDB's parse tree of a SELECT.
func (a *analyser) tree(sql string) (json.RawMessage, error) {
	rows, err := a.db.Query(a.ctx, "SELECT CAST(json_serialize_sql("+lake.QuoteText(sql)+") AS VARCHAR)")
	if err != nil {
		return nil, fmt.Errorf("parse the SELECT: %w", err)
	}
	if len(rows) != 1 || len(rows[0]) != 1 {
		return nil, fmt.Errorf("parse the SELECT: %d rows", len(rows))
	}
	text, _ := rows[0][0].(string)
	return json.RawMessage(text), nil
}

func (a *analyser) read(tree json.RawMessage) (lineage.Read, error) {
	return lineage.OfSelect(tree, lineage.Options{Named: a.named, Resolve: a.resolve, Columns: a.columns})
}

// named gives the SELECTs of the script's own temporary tables, views and macros.
func (a *analyser) named(kind lineage.Kind, catalog, schema, name string) (lineage.NamedSelect, bool) {
	if catalog != "" && !strings.EqualFold(catalog, "temp") || schema != "" && !strings.EqualFold(schema, "temp") && !strings.EqualFold(schema, "main") {
		return lineage.NamedSelect{}, false
	}
	prefix := map[lineage.Kind]string{lineage.KindTable: "t ", lineage.KindTableFunction: "tf ", lineage.KindFunction: "f "}[kind]
	t, ok := a.temps[prefix+strings.ToLower(name)]
	if !ok {
		return lineage.NamedSelect{}, false
	}
	tree, err := a.tree(t.sql)
	if err != nil {
		a.err = err
		return lineage.NamedSelect{}, false
	}
	return lineage.NamedSelect{Tree: tree, Params: t.params}, true
}

// columns gives the columns of a table, as far as somebody knows them.
func (a *analyser) columns(catalog, schema, table string) ([]string, bool) {
	t, ok := a.lakeTable(lineage.TableRef{Catalog: catalog, Schema: schema, Name: table})
	if !ok || a.catalog.Columns == nil {
		return nil, false
	}
	return a.catalog.Columns(t)
}

// resolve says which table a name means. DuckDB takes a.b for the table b of the catalog a, if
// there is one, else for that of the schema a.
func (a *analyser) resolve(t lineage.TableRef) lineage.TableRef {
	switch {
	case t.Catalog != "":
	case t.Schema != "" && a.lake(t.Schema) != "":
		t.Catalog, t.Schema = t.Schema, plan.DefaultSchema
	case t.Schema != "":
		t.Catalog = a.use.Catalog
	default:
		t.Catalog, t.Schema = a.use.Catalog, a.use.Schema
	}
	return t
}

// lake is the lake that an alias means: one that the script attaches, or one that has to be
// attached for it, because the settings have it or the target is in it.
func (a *analyser) lake(alias string) string {
	key := strings.ToLower(alias)
	if lake := a.out.Lakes[key]; lake != "" {
		return lake
	}
	for name := range a.project.Config.Lakes {
		if strings.EqualFold(name, alias) {
			a.attach(key, name)
			return name
		}
	}
	if own := a.script.Asset().Lake(); strings.EqualFold(own, alias) {
		a.attach(key, own)
		return own
	}
	return ""
}

// mentioned attaches the lakes that a text has as the first part of a name. It is for what is read without a
// tree: statements before the SELECT, whose names may not come up in it, and a PIVOT.
func (a *analyser) mentioned(sql string) {
	if _, ok := plan.ParseAttach(sql); ok {
		return
	}
	for _, name := range append(slices.Sorted(maps.Keys(a.project.Config.Lakes)), a.script.Asset().Lake()) {
		if name == "" {
			continue
		}
		form := regexp.MustCompile(`(?i)(?:^|[^\p{L}\p{N}_$"'./\\])(?:` + regexp.QuoteMeta(name) + `|` + regexp.QuoteMeta(pgx.Identifier{name}.Sanitize()) + `)\s*\.`)
		if form.MatchString(sql) {
			a.lake(name)
		}
	}
}

func (a *analyser) attach(alias, lake string) {
	a.out.Lakes[alias] = lake
	a.out.Attach = append(a.out.Attach, lake)
}

func (a *analyser) lakeTable(t lineage.TableRef) (LakeTable, bool) {
	if t.File || t.Catalog == "" {
		return LakeTable{}, false
	}
	lake := a.lake(t.Catalog)
	schema := t.Schema
	if schema == "" {
		schema = plan.DefaultSchema
	}
	return LakeTable{lake, schema, t.Name}, lake != ""
}

// reads notes the tables, and what views of lakes read in their turn.
func (a *analyser) reads(r *lineage.Read, depth int) {
	for _, f := range r.Files {
		for _, path := range f.Paths {
			if asset, ok := annotate.ParseAsset(path); ok && !slices.Contains(a.out.Files, asset) {
				a.out.Files = append(a.out.Files, asset)
			}
		}
		a.unknown("it reads files, which have no version")
	}
	if bad := lineage.Unstable(r.Functions); len(bad) > 0 {
		a.unknown("it calls %s, which gives something else each time", strings.Join(bad, ", "))
	}
	for _, t := range r.Tables {
		if t.File {
			continue
		}
		lt, ok := a.lakeTable(t)
		if !ok {
			a.unknown("it reads %s, which is in no lake", t)
			continue
		}
		if t.AtVersion || slices.ContainsFunc(a.out.Tables, func(o LakeTable) bool { return o.fold() == lt.fold() }) {
			continue
		}
		a.out.Tables = append(a.out.Tables, lt)
		a.view(lt, depth)
	}
}

// maxViews bounds views of views.
const maxViews = 16

func (a *analyser) view(t LakeTable, depth int) {
	if a.catalog.View == nil {
		return
	}
	sql, ok := a.catalog.View(t)
	if !ok {
		return
	}
	if depth == maxViews {
		a.unknown("its views are nested too deeply")
		return
	}
	tree, err := a.tree(sql)
	if err != nil {
		a.err = err
		return
	}
	// In a view of a lake a name without a catalog is one of that lake.
	inner := *a
	inner.use = lineage.TableRef{Catalog: t.Lake, Schema: t.Schema}
	inner.temps, inner.out = nil, Analysis{Lakes: map[string]string{strings.ToLower(t.Lake): t.Lake}}
	read, err := inner.read(tree)
	if err != nil {
		a.unknown("the view %s: %v", t.Name, err)
		return
	}
	inner.out.Tables = a.out.Tables
	inner.reads(&read, depth+1)
	a.out.Tables = inner.out.Tables
	if inner.out.Unknown != "" {
		a.unknown("the view %s: %s", t.Name, inner.out.Unknown)
	}
}
