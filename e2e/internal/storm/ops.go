package storm

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// Op is an operation: statements of one transaction and what they change if it commits.
type Op struct {
	Name    string
	SQL     []string
	Changes []Change
}

// Weights say how often the operations of a workload come, by name.
type Weights map[string]int

// Operations on the tables that all writers share. Each writer has keys of its own, so that two operations never want the same row.
const (
	InsertInline = "insert inline" // up to three rows, which stay in the catalog
	InsertFile   = "insert file"   // rows enough for a Parquet file
	UpdateOne    = "update one"
	UpdateRange  = "update range"
	DeleteOne    = "delete one"
	DeleteRange  = "delete range"
	Upsert       = "upsert"
	Several      = "several"    // some of the above in one transaction
	AddColumn    = "add column" // to a shared table
)

// Operations on tables and views of the writer's own.
const (
	CreateAs    = "create as"
	Replace     = "create or replace"
	DropTable   = "drop table"
	RenameTable = "rename table"
	AlterOwn    = "alter own"
	ReplaceView = "replace view"
	DropView    = "drop view"
)

// DML are the operations on rows of shared tables.
var DML = Weights{InsertInline: 8, InsertFile: 3, UpdateOne: 4, UpdateRange: 2, DeleteOne: 4, DeleteRange: 2, Upsert: 2, Several: 2}

// DDL are the operations on tables of the writer's own.
var DDL = Weights{CreateAs: 2, Replace: 3, DropTable: 1, RenameTable: 1, AlterOwn: 1, ReplaceView: 1, DropView: 1}

// Plus returns both.
func (w Weights) Plus(o Weights) Weights {
	sum := maps.Clone(w)
	for k, v := range o {
		sum[k] += v
	}
	return sum
}

// KeySpan is the number of keys that belong to one writer.
const KeySpan = 10_000_000

// inlineLimit is DuckLake's default: more rows go to a file.
const inlineLimit = 10

// Plan makes the operations of one writer. It knows the writer's rows and tables, so that every operation has something to do and its effect is
// known in advance. Equal seeds and equal outcomes give equal operations.
type Plan struct {
	r       *rand.Rand
	w       int
	next    int64 // next new key
	names   int   // names given out
	order   []string
	weights Weights
	total   int
	shared  []string
	own     map[string][]int64         // own tables: their keys are not tracked, the model does
	rows    map[string]map[int64]int64 // the writer's rows of shared tables
	views   []string
}

// NewPlan returns the plan of writer w for shared tables which have columns k and v.
func NewPlan(seed uint64, w int, shared []string, weights Weights) *Plan {
	p := &Plan{
		r: rand.New(rand.NewPCG(seed, uint64(w))), w: w, next: int64(w+1) * KeySpan,
		shared: shared, own: map[string][]int64{}, rows: map[string]map[int64]int64{},
	}
	for _, t := range shared {
		p.rows[t] = map[int64]int64{}
	}
	p.Use(weights)
	return p
}

// Use takes other weights for the operations that follow.
func (p *Plan) Use(weights Weights) {
	p.weights, p.order, p.total = weights, slices.Sorted(maps.Keys(weights)), 0
	for _, n := range p.order {
		p.total += weights[n]
	}
}

// Shared chooses one of the shared tables.
func (p *Plan) Shared() string { return p.shared[p.r.IntN(len(p.shared))] }

// IntN is a random number of the plan's.
func (p *Plan) IntN(n int) int { return p.r.IntN(n) }

// Rows are the writer's rows of a shared table, as far as it was told.
func (p *Plan) Rows(table string) map[int64]int64 { return p.rows[table] }

// Span is the range of the writer's keys.
func (p *Plan) Span() (lo, hi int64) { return int64(p.w+1) * KeySpan, int64(p.w+2)*KeySpan - 1 }

// Next makes an operation. Nothing of it is taken over before Done.
func (p *Plan) Next() Op {
	for {
		n := p.r.IntN(p.total)
		for _, name := range p.order {
			if n -= p.weights[name]; n < 0 {
				if op, ok := p.make(name); ok {
					op.Name = name
					return op
				}
				break
			}
		}
	}
}

// Done takes over the effects of an operation that was acknowledged.
func (p *Plan) Done(op Op) {
	for _, c := range op.Changes {
		rows, shared := p.rows[c.Table]
		switch c.Kind {
		case Put:
			if shared {
				rows[c.Key] = c.Val
			}
		case Delete:
			if shared {
				delete(rows, c.Key)
			}
		case Create:
			p.own[c.Table] = nil
		case Drop:
			delete(p.own, c.Table)
		case Rename:
			delete(p.own, c.Table)
			p.own[c.To] = nil
		}
	}
	switch op.Name {
	case ReplaceView:
		if v := op.viewName(); !slices.Contains(p.views, v) {
			p.views = append(p.views, v)
		}
	case DropView:
		p.views = slices.DeleteFunc(p.views, func(v string) bool { return v == op.viewName() })
	}
}

func (op Op) viewName() string {
	i := strings.Index(op.SQL[0], "lake.v_")
	v := op.SQL[0][i+len("lake."):]
	if i := strings.IndexByte(v, ' '); i >= 0 {
		v = v[:i]
	}
	return v
}

func (p *Plan) make(name string) (Op, bool) {
	switch name {
	case CreateAs, Replace, DropTable, RenameTable, AlterOwn, ReplaceView, DropView:
		return p.ddl(name)
	case AddColumn:
		p.names++
		return Op{SQL: []string{fmt.Sprintf("ALTER TABLE lake.%s ADD COLUMN c_%d_%d INTEGER DEFAULT %d", p.Shared(), p.w, p.names, p.r.IntN(100))}}, true
	case Several:
		return p.several()
	}
	t := p.Shared()
	return p.dml(name, t, p.rows[t])
}

// several puts up to three operations on one table into a transaction; each builds on the one before. Of the transaction's own rows none is updated
// that is in a file then or comes into one: the client would store row ids that it uses before the commit only, twice the same in two such
// transactions, and would change them with the next update.
func (p *Plan) several() (Op, bool) {
	t := p.Shared()
	rows := maps.Clone(p.rows[t])
	committed := maps.Clone(rows)
	var op Op
	for range 2 + p.r.IntN(2) {
		name := []string{InsertInline, InsertFile, UpdateOne, DeleteOne, UpdateRange}[p.r.IntN(5)]
		of := rows
		if name == UpdateRange {
			of = committed
		}
		one, ok := p.dml(name, t, of)
		if !ok {
			continue
		}
		op.SQL = append(op.SQL, one.SQL...)
		op.Changes = append(op.Changes, one.Changes...)
		for _, c := range one.Changes {
			if _, old := committed[c.Key]; old && c.Kind == Put {
				committed[c.Key] = c.Val
			} else {
				delete(committed, c.Key)
			}
			if c.Kind == Put && name != InsertFile {
				rows[c.Key] = c.Val
			} else {
				delete(rows, c.Key)
			}
		}
	}
	return op, len(op.SQL) > 0
}

func (p *Plan) dml(name, t string, rows map[int64]int64) (Op, bool) {
	op := Op{}
	put := func(k, v int64) { op.Changes = append(op.Changes, Change{Kind: Put, Table: t, Key: k, Val: v}) }
	fresh := func(n int64) int64 {
		p.next += n
		return p.next - n
	}
	switch name {
	case InsertInline:
		n := 1 + int64(p.r.IntN(3))
		var values []string
		for k := fresh(n); n > 0; k, n = k+1, n-1 {
			v := int64(p.r.IntN(1_000_000))
			put(k, v)
			values = append(values, fmt.Sprintf("(%d, %d)", k, v))
		}
		op.SQL = []string{fmt.Sprintf("INSERT INTO lake.%s (k, v) VALUES %s", t, strings.Join(values, ", "))}
		return op, true
	case InsertFile:
		n := int64(inlineLimit + 1 + p.r.IntN(30))
		lo, salt := fresh(n), int64(p.r.IntN(1_000_000))
		for k := lo; k < lo+n; k++ {
			put(k, (k-lo)*3+salt)
		}
		op.SQL = []string{fmt.Sprintf("INSERT INTO lake.%s (k, v) SELECT range, (range - %d) * 3 + %d FROM range(%d, %d)", t, lo, salt, lo, lo+n)}
		return op, true
	}
	keys := slices.Sorted(maps.Keys(rows))
	if len(keys) == 0 {
		return op, false
	}
	from := p.r.IntN(len(keys))
	k := keys[from]
	last := keys[min(len(keys)-1, from+inlineLimit+2+p.r.IntN(20))]
	switch name {
	case UpdateOne:
		v := int64(p.r.IntN(1_000_000))
		put(k, v)
		op.SQL = []string{fmt.Sprintf("UPDATE lake.%s SET v = %d WHERE k = %d", t, v, k)}
	case UpdateRange:
		d := int64(1 + p.r.IntN(1000))
		for _, k := range keys[from:] {
			if k > last {
				break
			}
			put(k, rows[k]+d)
		}
		op.SQL = []string{fmt.Sprintf("UPDATE lake.%s SET v = v + %d WHERE k BETWEEN %d AND %d", t, d, k, last)}
	case DeleteOne:
		op.Changes = []Change{{Kind: Delete, Table: t, Key: k}}
		op.SQL = []string{fmt.Sprintf("DELETE FROM lake.%s WHERE k = %d", t, k)}
	case DeleteRange:
		for _, k := range keys[from:] {
			if k > last {
				break
			}
			op.Changes = append(op.Changes, Change{Kind: Delete, Table: t, Key: k})
		}
		op.SQL = []string{fmt.Sprintf("DELETE FROM lake.%s WHERE k BETWEEN %d AND %d", t, k, last)}
	case Upsert:
		n, v, m := fresh(1), int64(p.r.IntN(1_000_000)), int64(p.r.IntN(1_000_000))
		put(k, v)
		put(n, m)
		op.SQL = []string{fmt.Sprintf("MERGE INTO lake.%s t USING (VALUES (%d, %d), (%d, %d)) s(k, v) ON t.k = s.k "+
			"WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)", t, k, v, n, m)}
	}
	return op, true
}

func (p *Plan) ddl(name string) (Op, bool) {
	own := slices.Sorted(maps.Keys(p.own))
	p.names++
	switch name {
	case CreateAs, Replace:
		t := fmt.Sprintf("o_%d_%d", p.w, p.names)
		if len(own) > 0 && (name == Replace || len(own) >= 3) {
			t = own[p.r.IntN(len(own))]
		}
		op := Op{Changes: []Change{{Kind: Create, Table: t}}}
		n, salt := int64(3), int64(p.r.IntN(1000))
		if p.r.IntN(2) == 0 {
			n = 40
		}
		for k := range n {
			op.Changes = append(op.Changes, Change{Kind: Put, Table: t, Key: k, Val: k + salt})
		}
		op.SQL = []string{fmt.Sprintf("CREATE OR REPLACE TABLE lake.%s AS SELECT range AS k, range + %d AS v FROM range(%d)", t, salt, n)}
		return op, true
	case ReplaceView:
		return Op{SQL: []string{fmt.Sprintf("CREATE OR REPLACE VIEW lake.v_%d_%d AS SELECT count(*) AS n, %d AS salt FROM lake.%s", p.w, p.r.IntN(2), p.r.IntN(1000), p.Shared())}}, true
	case DropView:
		if len(p.views) == 0 {
			return Op{}, false
		}
		return Op{SQL: []string{"DROP VIEW lake." + p.views[p.r.IntN(len(p.views))]}}, true
	}
	if len(own) == 0 {
		return Op{}, false
	}
	t := own[p.r.IntN(len(own))]
	switch name {
	case DropTable:
		return Op{SQL: []string{"DROP TABLE lake." + t}, Changes: []Change{{Kind: Drop, Table: t}}}, true
	case RenameTable:
		to := fmt.Sprintf("o_%d_%d", p.w, p.names)
		return Op{SQL: []string{fmt.Sprintf("ALTER TABLE lake.%s RENAME TO %s", t, to)}, Changes: []Change{{Kind: Rename, Table: t, To: to}}}, true
	default: // AlterOwn
		return Op{SQL: []string{fmt.Sprintf("ALTER TABLE lake.%s ADD COLUMN c_%d VARCHAR DEFAULT 'd'", t, p.names)}}, true
	}
}
