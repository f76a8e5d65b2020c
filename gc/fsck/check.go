package fsck

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/lake/paths"
)

// Options configure a check.
type Options struct {
	// Lake is the name of the lake, its metadata schema, for reports.
	Lake string
	// Now is the time of the check, for reports.
	Now time.Time
	// MaxPerCode bounds the findings of one code that a report has; the others are only
	// counted. 0 means DefaultMaxPerCode.
	MaxPerCode int
	// Files looks at the lake's files; nil looks at none.
	Files *Files
	// DataPath replaces the data path of the lake, as a client's OVERRIDE_DATA_PATH does.
	DataPath string
	// DropMissing plans repairs for data files that do not exist: a new snapshot without them.
	DropMissing bool
}

// DefaultMaxPerCode is what Options.MaxPerCode is unless it is set.
const DefaultMaxPerCode = 1000

const (
	// maxRows is about how many rows one repair changes, and maxRepairs how many repairs one
	// check plans. What is left is found, and planned, by the next check.
	maxRows    = 10_000
	maxRepairs = 500
	// maxIDs bounds the ids that are kept of rows without a whole.
	maxIDs = 1 << 20
)

// Check reads a lake and tests its invariants. The error is lake.ErrNotALake, or one of the
// source, or of a field that is not of its type; whatever is wrong with the lake is in the
// report.
func Check(ctx context.Context, src lake.Source, o Options) (*Report, error) {
	r, err := lake.NewReader(ctx, src)
	if err != nil {
		return nil, err
	}
	if o.MaxPerCode <= 0 {
		o.MaxPerCode = DefaultMaxPerCode
	}
	c := &checker{
		ctx: ctx, r: r, o: o, infos: infos(), batches: map[Code]int{}, maxCatalog: -1, maxFile: -1,
		rep: &Report{Lake: o.Lake, At: o.Now, Totals: map[Code]int64{}, Findings: []Finding{}},
	}
	if err := c.run(); err != nil {
		return nil, fmt.Errorf("fsck: %w", err)
	}
	c.sort()
	return c.rep, nil
}

// errStop ends a check of which the rest means nothing.
var errStop = errors.New("stop")

type checker struct {
	ctx   context.Context
	r     *lake.Reader
	o     Options
	infos map[Code]CodeInfo
	rep   *Report
	// batches are the places in rep.plans of the repairs that still take changes.
	batches map[Code]int

	version, dataPath string
	snaps             []snap // by id
	head              snap

	schemas []lake.Schema
	objects map[int64]string // kind of the object of an id
	tables  map[int64]*table
	columns []column // by table, id, begin
	parts   map[int64][]partition
	maps    map[int64]int64 // column mapping: its table
	layout  *paths.Layout
	// scheme has the first snapshot that a row of ducklake_schema_versions covers, by table;
	// under 0 that of rows without a table.
	scheme map[int64]int64

	files       []dataFile      // by id
	deletes     []deleteFile    // by data file, begin
	deletedRows map[int64]int64 // live deletes by data file, of both kinds
	paths       map[pathKey]owner
	hash        hasher

	registry   map[string][]registration
	inlined    map[int64][]inlinedDelete // by data file; kept for Files only
	maxCatalog int64
	maxFile    int64
}

func (c *checker) run() error {
	steps := []func() error{
		c.options, c.relations, c.snapshots, c.readObjects, c.readColumns, c.readParts, c.objectInvariants, c.readFiles,
		c.fileInvariants, c.fileStatistics, c.partitionValues, c.tableStatistics, c.inlinedTables, c.inlinedDeletes, c.deletedCounts, c.compareStatistics,
		c.counters, c.schedule,
	}
	if c.o.Files != nil {
		steps = append(steps, c.lookAtFiles)
	}
	for _, step := range steps {
		err := step()
		if err == nil {
			err = c.ctx.Err()
		}
		if errors.Is(err, errStop) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add reports a finding. Its repair, if it has one, is made with others of its code.
func (c *checker) add(f Finding, changes ...Change) {
	f.Repairable = len(changes) > 0
	c.emit(f)
	if len(changes) > 0 {
		c.plan(f.Code, f.Object, false, changes...)
	}
}

// emit reports a finding whose repair, if it has one, is planned by the caller.
func (c *checker) emit(f Finding) {
	f.Severity = c.infos[f.Code].Severity
	if t := c.tables[f.TableID]; t != nil && f.TableID != 0 {
		f.Table = t.name
	}
	c.rep.Totals[f.Code]++
	switch f.Severity {
	case Error:
		c.rep.Errors++
	case Warning:
		c.rep.Warnings++
	case Info:
		c.rep.Infos++
	}
	if c.rep.Totals[f.Code] <= int64(c.o.MaxPerCode) {
		c.rep.Findings = append(c.rep.Findings, f)
	}
}

// find is add for a finding of a table with nothing but a text.
func (c *checker) find(code Code, table int64, object, format string, args ...any) {
	c.add(Finding{Code: code, TableID: table, Object: object, Message: fmt.Sprintf(format, args...)})
}

// plan puts changes into a repair of their code, as long as that is not too large.
func (c *checker) plan(code Code, object string, steady bool, changes ...Change) {
	n := rowsOf(changes)
	if i, ok := c.batches[code]; ok {
		r := &c.rep.plans[i]
		if r.Steady == steady && rowsOf(r.Changes)+n <= maxRows {
			r.Changes = append(r.Changes, changes...)
			r.Text = c.repairText(code, object, len(r.Changes))
			return
		}
	}
	if len(c.rep.plans) >= maxRepairs {
		return
	}
	c.batches[code] = len(c.rep.plans)
	c.rep.plans = append(c.rep.plans, Repair{
		Code: code, Text: c.repairText(code, object, len(changes)), Changes: changes, Head: c.head.id, Steady: steady,
	})
}

func (c *checker) repairText(code Code, object string, changes int) string {
	if changes > 1 {
		object = fmt.Sprintf("%d changes, the last for %s", changes, object)
	}
	return c.infos[code].Repair + " (" + object + ")"
}

func rowsOf(changes []Change) (n int) {
	for i := range changes {
		n++
		for _, w := range changes[i].Where {
			n += len(w.In)
		}
	}
	return n
}

// sort brings findings into an order that does not depend on that of rows: by severity,
// then by code and object.
func (c *checker) sort() {
	rank := map[Severity]int{Error: 0, Warning: 1, Info: 2}
	slices.SortStableFunc(c.rep.Findings, func(a, b Finding) int {
		if d := rank[a.Severity] - rank[b.Severity]; d != 0 {
			return d
		}
		if d := strings.Compare(string(a.Code), string(b.Code)); d != 0 {
			return d
		}
		return compareObjects(a.Object, b.Object)
	})
}

// compareObjects puts "data file 9" before "data file 10".
func compareObjects(a, b string) int {
	if len(a) != len(b) && strings.TrimRight(a, "0123456789") == strings.TrimRight(b, "0123456789") {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// span tests the validity of a row.
func (c *checker) span(table int64, label string, s lake.Span) {
	switch {
	case s.Begin > c.head.id:
		c.find(BeginsAfterHead, table, label, "begins at %d, the newest snapshot is %d", s.Begin, c.head.id)
	case s.Ended && s.End > c.head.id:
		c.find(EndsAfterHead, table, label, "ends at %d, the newest snapshot is %d", s.End, c.head.id)
	}
	if s.Ended && s.End < s.Begin {
		c.find(EndsBeforeBegin, table, label, "begins at %d, ends at %d", s.Begin, s.End)
	}
}

// live says whether the newest snapshot sees a row.
func (c *checker) live(s lake.Span) bool { return s.VisibleAt(c.head.id) }

// overlap is two versions of one thing that are valid at one snapshot. mend says that the
// first one can end where the second begins.
type overlap struct {
	a, b int
	mend bool
}

// overlaps finds versions of one group, which lie side by side in the order of begin, that
// share a snapshot.
func overlaps(n int, same func(i, j int) bool, span func(i int) lake.Span) (found []overlap) {
	last := -1
	var at lake.Span
	for i := range n {
		s := span(i)
		if s.Empty() {
			continue
		}
		if last >= 0 && same(last, i) && at.Overlaps(s) {
			o := overlap{last, i, at.Begin < s.Begin}
			found = append(found, o)
			if !o.mend && at.Ended && (!s.Ended || s.End > at.End) || o.mend {
				last, at = i, s
			}
			continue
		}
		last, at = i, s
	}
	return found
}

func until(s lake.Span) string {
	if !s.Ended {
		return "live"
	}
	return fmt.Sprint(s.End)
}

// endAt is the change that ends a version earlier.
func endAt(relation string, s lake.Span, at int64, ids ...Cond) Change {
	where := append(ids, is("begin_snapshot", s.Begin), optional("end_snapshot", s.End, s.Ended))
	return Change{Op: UpdateRows, Relation: relation, Where: where, Set: []Field{set("end_snapshot", at)}, Rows: 1}
}

// wholes finds rows of a relation whose whole is gone, and plans their removal. key is the
// column that names the whole.
func (c *checker) wholes(code Code, relation, key, what string, exists func(id int64) bool) error {
	if !c.r.Column(relation, key) {
		return nil
	}
	o := orphans{c: c, code: code, relation: relation, key: key, what: what}
	err := c.r.Each(c.ctx, relation, key, func(r *lake.Row) error {
		if r.Has(0) && !exists(r.Num(0)) {
			o.add(r.Num(0))
		}
		return nil
	})
	o.report()
	return err
}

// orphans counts rows without a whole.
type orphans struct {
	c                     *checker
	code                  Code
	relation, key, what   string
	ids                   map[int64]int64
	rows, example, beyond int64
}

func (o *orphans) add(id int64) {
	if o.ids == nil {
		o.ids, o.example = map[int64]int64{}, id
	}
	o.rows++
	if _, ok := o.ids[id]; ok || len(o.ids) < maxIDs {
		o.ids[id]++
		return
	}
	o.beyond++
}

func (o *orphans) report() {
	if o.rows == 0 {
		return
	}
	number := fmt.Sprintf("%d", len(o.ids))
	if o.beyond > 0 {
		number = "more than " + number
	}
	f := Finding{
		Code: o.code, Object: o.relation, Rows: o.rows,
		Message: fmt.Sprintf("%d rows of %s %s that do not exist, for example %d", o.rows, number, o.what, o.example),
	}
	var in []string
	n := int64(0)
	flush := func() {
		if len(in) > 0 {
			o.c.plan(o.code, o.relation, true, Change{Op: DeleteRows, Relation: o.relation, Where: []Cond{{o.key, in}}, Rows: Any})
		}
		in, n = nil, 0
	}
	for _, id := range slices.Sorted(maps.Keys(o.ids)) {
		if n += o.ids[id]; len(in) > 0 && n > maxRows {
			flush()
			n = o.ids[id]
		}
		in = append(in, fmt.Sprint(id))
	}
	flush()
	f.Repairable = true
	o.c.emit(f)
}
