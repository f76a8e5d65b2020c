package hold

import (
	"cmp"
	"slices"
	"strings"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/lake"
)

// Kind is how a compaction replaces its sources.
type Kind uint8

const (
	// Merge puts files together that have no deleted rows; all snapshots read the output.
	Merge Kind = iota
	// Rewrite leaves the deleted rows out; snapshots before the commit keep the sources.
	Rewrite
)

// Source is a data file that a compaction reads.
type Source struct {
	lake.DataFile
	Path string // resolved
	// Delete is the delete file that counts when the commit begins; nil when there is none.
	Delete     *lake.DeleteFile
	DeletePath string // resolved
	// Inlined are the positions that are deleted inline.
	Inlined []int64
}

// survivors is how many rows a scan of the source returns, by the catalog's numbers.
func (s *Source) survivors() int64 {
	n := s.Records - int64(len(s.Inlined))
	if s.Delete != nil {
		n -= s.Delete.Count
	}
	return n
}

// Output is a data file that a compaction writes.
type Output struct {
	lake.DataFile
	Path string // resolved
}

// Compaction is what one commit replaces in one partition of one table.
type Compaction struct {
	Table    conflict.TableRef
	Kind     Kind
	Snapshot int64 // the commit's
	// Sorted says that the table has a live sort order, by which a client orders what it
	// writes.
	Sorted  bool
	Sources []Source // in the order in which a client puts them: begin, row-id start, id
	Outputs []Output // by id
	// Dated says that outputs of a merge have partial_max, and with it the snapshot of each
	// row in a column. Catalogs before 0.4 have neither.
	Dated bool
}

// State is what a compaction's context has to be asked for: the lake as the commit finds it.
type State interface {
	// Table names a table for people.
	Table(id int64) conflict.TableRef
	// Sorted says whether the table has a live sort order.
	Sorted(table int64) (bool, error)
	// LiveDelete returns the delete file that counts for a data file.
	LiveDelete(file int64) (lake.DeleteFile, bool, error)
	// InlinedDeletes returns the positions of a data file that are deleted inline.
	InlinedDeletes(table, file int64) ([]int64, error)
	// PartitionValues returns the partition of a data file.
	PartitionValues(file int64) ([]lake.PartitionValue, error)
	// MadeIn returns the changes_made of the snapshot that a data file came with, which is
	// the one that gave out its id; ok is false when that snapshot is not kept any more.
	MadeIn(f *lake.DataFile) (changes string, ok bool, err error)
	// Path resolves the path of a file of a table.
	Path(table int64, path string, relative bool) (string, error)
	// LiveFiles returns the data files of a table that are live before the commit.
	LiveFiles(table int64) ([]lake.DataFile, error)
}

// Find returns the compactions of a commit, one for each partition, and the violations
// that it sees on the way. A commit without compactions costs nothing.
func Find(b *conflict.Batch, set *conflict.ChangeSet, st State) ([]Compaction, []conflict.Violation, error) {
	var out []Compaction
	var found []conflict.Violation
	for i := range set.Tables {
		t := &set.Tables[i]
		if !t.Ops.Has(conflict.OpMerge | conflict.OpRewrite) {
			continue
		}
		f := finder{b: b, set: set, st: st, t: t}
		cs, err := f.find()
		if err != nil {
			return nil, nil, err
		}
		out = append(out, cs...)
		found = append(found, f.found...)
	}
	return out, found, nil
}

type finder struct {
	b     *conflict.Batch
	set   *conflict.ChangeSet
	st    State
	t     *conflict.TableChange
	found []conflict.Violation
}

func (f *finder) find() (out []Compaction, err error) {
	f.counters(f.st.Table(f.t.ID))
	// Both may be done in one transaction.
	for _, k := range []struct {
		op   conflict.Op
		kind Kind
	}{{conflict.OpMerge, Merge}, {conflict.OpRewrite, Rewrite}} {
		if !f.t.Ops.Has(k.op) {
			continue
		}
		cs, err := f.findKind(k.kind)
		if err != nil {
			return nil, err
		}
		out = append(out, cs...)
	}
	return out, nil
}

// of says whether a new file is the output of a compaction of a kind, where a commit has
// both: a merge dates its outputs back, a rewrite does not.
func (f *finder) of(o *lake.DataFile, k Kind, snapshot int64) bool {
	if !f.t.Ops.Has(conflict.OpMerge) || !f.t.Ops.Has(conflict.OpRewrite) {
		return true
	}
	return (o.Begin == snapshot) == (k == Rewrite)
}

func (f *finder) findKind(k Kind) ([]Compaction, error) {
	snapshot, _ := f.b.Snapshot()
	c := Compaction{Table: f.st.Table(f.t.ID), Snapshot: snapshot.ID, Kind: k}
	var err error
	if c.Sorted, err = f.st.Sorted(f.t.ID); err != nil {
		return nil, err
	}
	groups := map[string]*Compaction{}
	group := func(file *lake.DataFile, values []lake.PartitionValue) *Compaction {
		key := partition(file, values)
		g := groups[key]
		if g == nil {
			g = &Compaction{Table: c.Table, Kind: c.Kind, Snapshot: c.Snapshot, Sorted: c.Sorted}
			groups[key] = g
		}
		return g
	}
	for _, s := range f.sources(c.Kind) {
		values, err := f.values(s.ID, f.b.FileValues.Removed)
		if err != nil {
			return nil, err
		}
		src, err := f.source(s)
		if err != nil {
			return nil, err
		}
		g := group(&s, values)
		g.Sources = append(g.Sources, src)
	}
	said := f.set.Says(f.t.ID, conflict.InsertedIntoTable)
	for _, o := range f.b.DataFiles.Added {
		if o.TableID != f.t.ID || !f.of(&o, k, snapshot.ID) || said && !o.HasPartialMax && o.HasRowIDStart && c.Kind == Merge {
			continue // an insert in the same transaction
		}
		values, err := f.values(o.ID, f.b.FileValues.Added)
		if err != nil {
			return nil, err
		}
		path, err := f.st.Path(o.TableID, o.Path, o.Relative)
		if err != nil {
			return nil, err
		}
		g := group(&o, values)
		g.Outputs = append(g.Outputs, Output{DataFile: o, Path: path})
		g.Dated = g.Dated || o.HasPartialMax
	}
	out := make([]Compaction, 0, len(groups))
	for _, g := range groups {
		slices.SortFunc(g.Sources, func(a, b Source) int { return clientOrder(&a.DataFile, &b.DataFile) })
		slices.SortFunc(g.Outputs, func(a, b Output) int { return cmp.Compare(a.ID, b.ID) })
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b Compaction) int { return cmp.Compare(firstID(&a), firstID(&b)) })
	return out, nil
}

func firstID(c *Compaction) int64 {
	if len(c.Sources) > 0 {
		return c.Sources[0].ID
	}
	if len(c.Outputs) > 0 {
		return c.Outputs[0].ID
	}
	return 0
}

// clientOrder is the order in which DuckLake reads sources: by begin, then by row-id start
// with NULLs last, then by id.
func clientOrder(a, b *lake.DataFile) int {
	start := 0
	switch {
	case a.HasRowIDStart && b.HasRowIDStart:
		start = cmp.Compare(a.RowIDStart, b.RowIDStart)
	case a.HasRowIDStart:
		start = -1
	case b.HasRowIDStart:
		start = 1
	}
	return cmp.Or(cmp.Compare(a.Begin, b.Begin), start, cmp.Compare(a.ID, b.ID))
}

func (f *finder) sources(k Kind) []lake.DataFile {
	var out []lake.DataFile
	if k == Merge {
		for _, d := range f.b.DataFiles.Removed {
			if slices.Contains(f.t.Removed, d.ID) { // not what an expiry takes away
				out = append(out, d)
			}
		}
		return out
	}
	for _, e := range f.b.DataFiles.Changed {
		if e.After.TableID == f.t.ID && !e.Before.Ended && e.After.Ended {
			out = append(out, e.After)
		}
	}
	return out
}

func (f *finder) source(d lake.DataFile) (Source, error) {
	s := Source{DataFile: d}
	var err error
	if s.Path, err = f.st.Path(d.TableID, d.Path, d.Relative); err != nil {
		return s, err
	}
	del, ok, err := f.st.LiveDelete(d.ID)
	if err != nil {
		return s, err
	}
	if ok {
		s.Delete = &del
		if s.DeletePath, err = f.st.Path(d.TableID, del.Path, del.Relative); err != nil {
			return s, err
		}
	}
	s.Inlined, err = f.st.InlinedDeletes(d.TableID, d.ID)
	slices.Sort(s.Inlined)
	return s, err
}

// values are a file's partition values: of the rows that the commit writes, or those that
// are there.
func (f *finder) values(file int64, rows []lake.PartitionValue) ([]lake.PartitionValue, error) {
	var out []lake.PartitionValue
	for _, v := range rows {
		if v.FileID == file {
			out = append(out, v)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return f.st.PartitionValues(file)
}

// partition is a file's partition as a map key.
func partition(f *lake.DataFile, values []lake.PartitionValue) string {
	if !f.HasPartition && len(values) == 0 {
		return ""
	}
	slices.SortFunc(values, func(a, b lake.PartitionValue) int { return cmp.Compare(a.Key, b.Key) })
	var b strings.Builder
	for _, v := range values {
		if v.HasValue {
			b.WriteByte('=')
			b.WriteString(strings.ReplaceAll(v.Value, "\x00", "\x00\x01"))
		}
		b.WriteString("\x00\x00")
	}
	return b.String()
}

// counters: a compaction adds no row, so it gives out no row id.
func (f *finder) counters(t conflict.TableRef) {
	if f.set.Says(f.t.ID, conflict.InsertedIntoTable, conflict.InlinedInsert) {
		return
	}
	for _, e := range f.b.TableStats.Changed {
		if e.After.TableID == f.t.ID && e.Before.NextRowID != e.After.NextRowID {
			f.found = append(f.found, conflict.NextRowIDMoved(t, e.Before.NextRowID, e.After.NextRowID))
		}
	}
}
