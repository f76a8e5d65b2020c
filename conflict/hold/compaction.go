package hold

import (
	"cmp"
	"slices"
	"strconv"
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
	// PartitionValues returns the partition of a data file. It is asked for files that have one.
	PartitionValues(file int64) ([]lake.PartitionValue, error)
	// Versions returns the snapshots since which the table has had other columns, partitions or
	// names, ascending; none where the catalog does not say for each table.
	Versions(table int64) ([]int64, error)
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
	// added and removed are the batch's partition values by file.
	added, removed map[int64][]lake.PartitionValue
	versions       []int64
}

func (f *finder) find() (out []Compaction, err error) {
	f.counters(f.st.Table(f.t.ID))
	f.added, f.removed = byFile(f.b.FileValues.Added), byFile(f.b.FileValues.Removed)
	if f.t.Ops.Has(conflict.OpMerge) {
		if f.versions, err = f.st.Versions(f.t.ID); err != nil {
			return nil, err
		}
	}
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

func byFile(values []lake.PartitionValue) map[int64][]lake.PartitionValue {
	if len(values) == 0 {
		return nil
	}
	out := make(map[int64][]lake.PartitionValue, len(values))
	for _, v := range values {
		out[v.FileID] = append(out[v.FileID], v)
	}
	return out
}

// of says whether a new file is the output of a compaction of a kind, where a commit has
// both: a merge dates its outputs back, a rewrite does not.
func (f *finder) of(o *lake.DataFile, k Kind, snapshot int64) bool {
	if !f.t.Ops.Has(conflict.OpMerge) || !f.t.Ops.Has(conflict.OpRewrite) {
		return true
	}
	return (o.Begin == snapshot) == (k == Rewrite)
}

// group is what a compaction never crosses. A merge does not put files of different shapes
// of the table together either: its output is read as its first source was. A rewrite's
// output has the newest shape whatever its source had.
type group struct {
	partition string
	version   int
}

func (f *finder) group(d *lake.DataFile, k Kind, values map[int64][]lake.PartitionValue) (g group, err error) {
	if k == Merge {
		g.version, _ = slices.BinarySearch(f.versions, d.Begin+1)
	}
	own := values[d.ID]
	if len(own) == 0 && d.HasPartition {
		if own, err = f.st.PartitionValues(d.ID); err != nil {
			return g, err
		}
	}
	g.partition = partition(d, own)
	return g, nil
}

func (f *finder) findKind(k Kind) ([]Compaction, error) {
	snapshot, _ := f.b.Snapshot()
	sorted, err := f.st.Sorted(f.t.ID)
	if err != nil {
		return nil, err
	}
	ref := f.st.Table(f.t.ID)
	sources := f.sources(k)
	groups := map[group]*Compaction{}
	in := func(g group) *Compaction {
		c := groups[g]
		if c == nil {
			c = &Compaction{Table: ref, Kind: k, Snapshot: snapshot.ID, Sorted: sorted}
			if len(groups) == 0 {
				c.Sources = make([]Source, 0, len(sources)) // mostly there is but one
			}
			groups[g] = c
		}
		return c
	}
	for _, s := range sources {
		g, err := f.group(s, k, f.removed)
		if err != nil {
			return nil, err
		}
		c := in(g)
		c.Sources = append(c.Sources, Source{DataFile: *s})
		if err := f.fill(&c.Sources[len(c.Sources)-1]); err != nil {
			return nil, err
		}
	}
	said := f.set.Says(f.t.ID, conflict.InsertedIntoTable)
	for i := range f.b.DataFiles.Added {
		o := &f.b.DataFiles.Added[i]
		if o.TableID != f.t.ID || !f.of(o, k, snapshot.ID) || said && !o.HasPartialMax && o.HasRowIDStart && k == Merge {
			continue // an insert in the same transaction
		}
		g, err := f.group(o, k, f.added)
		if err != nil {
			return nil, err
		}
		path, err := f.st.Path(o.TableID, o.Path, o.Relative)
		if err != nil {
			return nil, err
		}
		c := in(g)
		c.Outputs = append(c.Outputs, Output{DataFile: *o, Path: path})
		c.Dated = c.Dated || o.HasPartialMax
	}
	out := make([]Compaction, 0, len(groups))
	for _, c := range groups {
		c.order()
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b Compaction) int { return cmp.Compare(firstID(&a), firstID(&b)) })
	return out, nil
}

// order puts the files into the order in which a client has them, where they are not.
func (c *Compaction) order() {
	for i := 1; i < len(c.Sources); i++ {
		if clientOrder(&c.Sources[i-1].DataFile, &c.Sources[i].DataFile) > 0 {
			slices.SortFunc(c.Sources, func(a, b Source) int { return clientOrder(&a.DataFile, &b.DataFile) })
			break
		}
	}
	slices.SortFunc(c.Outputs, func(a, b Output) int { return cmp.Compare(a.ID, b.ID) })
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

func (f *finder) sources(k Kind) []*lake.DataFile {
	if k == Merge {
		out := make([]*lake.DataFile, 0, len(f.t.Removed))
		merged := make(map[int64]bool, len(f.t.Removed)) // not what an expiry takes away
		for _, id := range f.t.Removed {
			merged[id] = true
		}
		for i := range f.b.DataFiles.Removed {
			if d := &f.b.DataFiles.Removed[i]; merged[d.ID] {
				out = append(out, d)
			}
		}
		return out
	}
	var out []*lake.DataFile
	for i := range f.b.DataFiles.Changed {
		if e := &f.b.DataFiles.Changed[i]; e.After.TableID == f.t.ID && !e.Before.Ended && e.After.Ended {
			out = append(out, &e.After)
		}
	}
	return out
}

// fill finds the rest of what there is to know of a source.
func (f *finder) fill(s *Source) (err error) {
	if s.Path, err = f.st.Path(s.TableID, s.DataFile.Path, s.Relative); err != nil {
		return err
	}
	del, ok, err := f.st.LiveDelete(s.ID)
	if err != nil {
		return err
	}
	if ok {
		kept := del // its own variable, so that files without deletes cost no allocation
		s.Delete = &kept
		if s.DeletePath, err = f.st.Path(s.TableID, del.Path, del.Relative); err != nil {
			return err
		}
	}
	s.Inlined, err = f.st.InlinedDeletes(s.TableID, s.ID)
	slices.Sort(s.Inlined)
	return err
}

// partition is a file's partition as a map key: the same values of another set of columns
// are another one.
func partition(f *lake.DataFile, values []lake.PartitionValue) string {
	if !f.HasPartition && len(values) == 0 {
		return ""
	}
	slices.SortFunc(values, func(a, b lake.PartitionValue) int { return cmp.Compare(a.Key, b.Key) })
	var b strings.Builder
	b.WriteString(strconv.FormatInt(f.PartitionID, 10))
	for _, v := range values {
		if v.HasValue {
			b.WriteByte('=')
			b.WriteString(strings.ReplaceAll(v.Value, "\x00", "\x00\x01"))
		}
		b.WriteString("\x00\x00")
	}
	return b.String()
}

// counters: a compaction adds no row, so it gives out no row id, and a merge loses none.
func (f *finder) counters(t conflict.TableRef) {
	if f.set.Says(f.t.ID, conflict.InsertedIntoTable, conflict.InlinedInsert) {
		return
	}
	for _, e := range f.b.TableStats.Changed {
		if e.After.TableID != f.t.ID {
			continue
		}
		if e.Before.NextRowID != e.After.NextRowID {
			f.found = append(f.found, conflict.NextRowIDMoved(t, e.Before.NextRowID, e.After.NextRowID))
		}
		if !f.t.Ops.Has(conflict.OpRewrite) && e.Before.Records != e.After.Records {
			f.found = append(f.found, conflict.RecordCountMoved(t, e.Before.Records, e.After.Records))
		}
	}
}
