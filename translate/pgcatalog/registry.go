package pgcatalog

import (
	_ "embed"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"

	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/types"
)

// The namespaces that are always there, with PostgreSQL's oids.
const (
	CatalogOID  = 11   // pg_catalog
	ToastOID    = 99   // pg_toast
	PublicOID   = 2200 // public
	InfoOID     = 13207
	catalogName = "pg_catalog"
	infoName    = "information_schema"
)

//go:embed columns.txt
var columnsText string

// Registry finds the virtual relations. It is immutable.
type Registry struct {
	byName map[string]map[string]*relation
	byOID  map[uint32]*relation
}

var _ exec.VirtualRegistry = (*Registry)(nil)

// New returns the registry of all virtual relations.
func New() *Registry { return shared() }

var shared = sync.OnceValue(func() *Registry {
	r, err := parseColumns(columnsText + ownColumns)
	if err != nil {
		panic(err) // columns.txt is part of the program and read by every test
	}
	for name, g := range generators() {
		rel := r.find(name)
		if rel == nil {
			panic("pgcatalog: no relation " + name)
		}
		rel.attach(g)
	}
	return r
})

// Table finds a virtual relation.
func (r *Registry) Table(schema, name string) (exec.VirtualTable, bool) {
	rel, ok := r.byName[schema][name]
	if !ok {
		return nil, false
	}
	return rel, true
}

// HasSchema says whether the schema is pg_catalog or information_schema.
func (r *Registry) HasSchema(schema string) bool { return schema == catalogName || schema == infoName }

// ofDescriptors are the relations of pg_catalog whose rows follow from the descriptors that a
// transaction sees and from nothing else: not from the session, its settings or the server.
var ofDescriptors = map[string]bool{
	"pg_attrdef": true, "pg_attribute": true, "pg_class": true, "pg_constraint": true, "pg_description": true, "pg_enum": true,
	"pg_index": true, "pg_indexes": true, "pg_namespace": true, "pg_type": true,
}

// OfDescriptors says whether the rows of a relation of pg_catalog are the same wherever the
// descriptors are.
func OfDescriptors(name string) bool { return ofDescriptors[name] }

func (r *Registry) find(qualified string) *relation {
	schema, name, _ := strings.Cut(qualified, ".")
	return r.byName[schema][name]
}

// relation is one virtual relation.
type relation struct {
	schema string
	name   string
	oid    uint32
	kind   byte
	cols   []exec.Column
	index  map[string]int
	xmin   bool // rows have one more value
	gens   []generator
}

var _ exec.VirtualTable = (*relation)(nil)

// generator makes some rows of a relation. fill names the columns that emit sets, in
// its order, separated by blanks; "column=text" is a constant, and columns that are not
// named hold their type's empty value. "xmin" may be set where the relation has a use for it.
type generator struct {
	fill string
	emit func(q *query) error

	set []int
	row exec.Row
}

func (t *relation) Schema() string         { return t.schema }
func (t *relation) Name() string           { return t.name }
func (t *relation) OID() uint32            { return t.oid }
func (t *relation) Columns() []exec.Column { return t.cols }

// attach resolves the columns of generators.
func (t *relation) attach(gens []generator) {
	for _, g := range gens {
		width := len(t.cols)
		if strings.Contains(" "+g.fill+" ", " xmin ") {
			t.xmin, width = true, width+1
		}
		g.row = make(exec.Row, width)
		for i, c := range t.cols {
			g.row[i] = emptyValue(c.Type.OID)
		}
		for _, f := range strings.Fields(g.fill) {
			name, text, constant := strings.Cut(f, "=")
			i, ok := t.index[name]
			if name == "xmin" {
				i, ok = len(t.cols), true
			}
			if !ok {
				panic("pgcatalog: " + t.name + " has no column " + name)
			}
			if constant {
				g.row[i] = constantValue(t.cols[i].Type, text)
				continue
			}
			g.set = append(g.set, i)
		}
		t.gens = append(t.gens, g)
	}
}

// emptyValue is what a column holds that nobody sets: zero for numbers and booleans,
// as in PostgreSQL's NOT NULL system columns, and NULL for the rest.
func emptyValue(oid types.OID) types.Datum {
	switch oid {
	case types.BoolOID, types.Int2OID, types.Int4OID, types.Int8OID, types.OidOID,
		types.Float4OID, types.Float8OID, types.XidOID, types.RegprocOID:
		return types.Datum{Valid: true}
	}
	return types.Null
}

// constantValue reads a constant of a generator's fill list; "null" is NULL.
func constantValue(t types.T, text string) types.Datum {
	switch t.OID {
	case types.BoolOID:
		if text != "null" {
			return dBool(text == "t")
		}
	case types.Int2OID, types.Int4OID, types.Int8OID, types.OidOID, types.XidOID, types.RegprocOID:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return dInt(n)
		}
	case types.Float4OID, types.Float8OID:
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return dFloat(f)
		}
	default:
		if text != "null" {
			return dText(text)
		}
	}
	return types.Null
}

// query is one scan of a relation.
type query struct {
	c     *exec.Ctx
	rel   *relation
	eq    map[int]types.Datum
	gen   *generator
	row   exec.Row
	yield func(exec.Row) bool
	done  bool
}

// errStop ends a generator whose rows nobody wants any more.
var errStop = fmt.Errorf("pgcatalog: scan ended")

// emit yields one row of the generator's columns. It fails when the scan is over or the
// statement was cancelled; generators hand the error on.
func (q *query) emit(vals ...types.Datum) error {
	set := q.gen.set
	if len(vals) != len(set) {
		panic(fmt.Sprintf("pgcatalog: %s sets %d of %d columns", q.rel.name, len(vals), len(set)))
	}
	for i, v := range vals {
		q.row[set[i]] = v
	}
	if err := q.c.Check(); err != nil {
		return err
	}
	if !q.yield(q.row) {
		q.done = true
		return errStop
	}
	return nil
}

// oid is the oid that a column must equal, when the planner knows one.
func (q *query) oid(col string) (uint32, bool) {
	d, ok := q.eq[q.rel.index[col]]
	return uint32(d.I), ok
}

// text is the text that a column must equal, when the planner knows one.
func (q *query) text(col string) (string, bool) {
	d, ok := q.eq[q.rel.index[col]]
	return string(d.B), ok
}

// Rows opens the relation's rows.
func (t *relation) Rows(c *exec.Ctx, eq map[int]types.Datum) (exec.Iter, error) {
	if len(t.gens) == 0 {
		return &exec.SliceIter{}, nil
	}
	for _, d := range eq {
		if !d.Valid {
			return &exec.SliceIter{}, nil // nothing equals NULL
		}
	}
	it := &rowIter{}
	seq := func(yield func(exec.Row) bool) {
		for i := range t.gens {
			g := &t.gens[i]
			q := &query{c: c, rel: t, eq: eq, gen: g, yield: yield}
			q.row = append(q.row, g.row...)
			if err := g.emit(q); err != nil {
				if !q.done {
					it.err = err
				}
				return
			}
		}
	}
	it.next, it.stop = iter.Pull(iter.Seq[exec.Row](seq))
	return it, nil
}

// rowIter pulls rows out of generators.
type rowIter struct {
	next func() (exec.Row, bool)
	stop func()
	err  error
}

func (it *rowIter) Next() (exec.Row, error) {
	row, ok := it.next()
	if ok {
		return row, nil
	}
	if it.err != nil {
		return nil, it.err
	}
	return nil, exec.EOF
}

func (it *rowIter) Close() error {
	it.stop()
	return nil
}

// parseColumns reads columns.txt.
func parseColumns(text string) (*Registry, error) {
	r := &Registry{byName: make(map[string]map[string]*relation), byOID: make(map[uint32]*relation)}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Fields(line)
		schema, name, ok := strings.Cut(f[0], ".")
		if !ok || len(f) < 4 || len(f[2]) != 1 {
			return nil, fmt.Errorf("pgcatalog: bad line %q", line)
		}
		oid, err := strconv.ParseUint(f[1], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("pgcatalog: bad oid in %q", line)
		}
		t := &relation{schema: schema, name: name, oid: uint32(oid), kind: f[2][0], index: make(map[string]int)}
		for i, def := range f[3:] {
			col, typ, _ := strings.Cut(def, ":")
			tt, err := parseType(typ)
			if err != nil {
				return nil, fmt.Errorf("%w in %s.%s", err, name, col)
			}
			t.index[col] = i
			t.cols = append(t.cols, exec.Column{Name: col, Type: tt, Table: t.oid, Attr: int16(i + 1)})
		}
		if r.byName[schema] == nil {
			r.byName[schema] = make(map[string]*relation)
		}
		r.byName[schema][name] = t
		r.byOID[t.oid] = t
	}
	return r, nil
}

// parseType reads a type of columns.txt. Types that exist only inside PostgreSQL
// (statistics, expression trees, access lists) are text here.
func parseType(s string) (types.T, error) {
	t := types.T{Mod: -1}
	name, mod, has := strings.Cut(strings.TrimSuffix(s, ")"), "(")
	if has {
		n, err := strconv.ParseInt(mod, 10, 32)
		if err != nil {
			return t, fmt.Errorf("pgcatalog: bad typmod %q", s)
		}
		t.Mod = int32(n)
	}
	switch name {
	case "char":
		t.OID = types.CharOID
	case "pg_ndistinct", "pg_dependencies", "pg_mcv_list", "anyarray", "inet", "pg_lsn":
		t.OID = types.TextOID
	case "_aclitem", "_pg_statistic":
		t.OID = types.TextArrayOID
	default:
		oid, ok := types.ByName(name)
		if !ok {
			return t, fmt.Errorf("pgcatalog: unknown type %q", name)
		}
		t.OID = oid
	}
	return t, nil
}
