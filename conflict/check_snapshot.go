package conflict

import (
	"math"
	"slices"
	"time"

	"github.com/eiderdb/eider/lake"
)

// snapshots: the newest one stays, new ones follow it in number and time, and what they
// say can be read.
func (k *checker) snapshots() error {
	if !k.hasHead {
		return nil
	}
	if len(k.Snapshots.Removed)+len(k.Snapshots.Changed) > 0 || slices.Contains(k.Emptied, "ducklake_snapshot") {
		now, ok, err := k.Is.Head()
		if err != nil {
			return err
		}
		if !ok || now.ID < k.head.ID {
			k.add(HeadRemoved(k.head.ID))
		}
	}
	prev := k.head
	for _, s := range k.newSnapshots() {
		if s.ID != prev.ID+1 {
			k.lost = true
			k.found = []Violation{SnapshotNotNext(s.ID, prev.ID)}
			return nil
		}
		if !follows(prev.Micros, s.Micros) {
			k.add(SnapshotTime(stamp(s.Micros), stamp(prev.Micros)))
		}
		prev = s
	}
	if err := k.movedTimes(); err != nil {
		return err
	}
	for i := range k.Logs.Added {
		if err := k.log(k.Logs.Added[i]); err != nil {
			return err
		}
	}
	for i := range k.Logs.Changed {
		if err := k.log(k.Logs.Changed[i].After); err != nil {
			return err
		}
	}
	if k.makes && k.HasBase && k.Base < k.head.ID {
		n, err := k.Was.Snapshots(k.Base+1, k.head.ID)
		if err != nil {
			return err
		}
		if n < k.head.ID-k.Base {
			k.add(BaseExpired(k.Base, k.head.ID))
		}
	}
	return nil
}

func (k *checker) newSnapshots() []lake.Snapshot {
	added := k.Snapshots.Added
	if len(added) > 1 {
		added = slices.Clone(added)
		slices.SortFunc(added, func(a, b lake.Snapshot) int { return int(a.ID - b.ID) })
	}
	return added
}

func (k *checker) log(l lake.Changes) error {
	if !slices.ContainsFunc(k.Snapshots.Added, func(s lake.Snapshot) bool { return s.ID == l.SnapshotID }) {
		n, err := k.Is.Snapshots(l.SnapshotID, l.SnapshotID)
		if err != nil {
			return err
		}
		if n == 0 {
			k.add(SnapshotRowMissing("ducklake_snapshot_changes", l.SnapshotID))
		}
	}
	if _, err := ParseChanges(l.Made); err != nil {
		k.add(ChangesUnreadable(err))
	}
	return nil
}

// mostMicros is the end of the year 9999, in µs since 1970: what is beyond it, and as far
// on the other side, is infinite or a slip of the pen. Nothing could ever come after it.
const mostMicros = 253_402_300_800_000_000

func finite(micros int64) bool { return -mostMicros < micros && micros < mostMicros }

// follows says whether the time of a snapshot may come after that of the one before. A
// lake that was loaded with times that leave no room goes on with the present.
func follows(prev, micros int64) bool {
	return finite(micros) && (micros > prev || !finite(prev+1))
}

// movedTimes: an UPDATE of times, unlike a new snapshot, says what somebody wants, so it is
// not put right, and must leave the order as it is.
func (k *checker) movedTimes() error {
	for _, e := range k.Snapshots.Changed {
		if e.After.Micros == e.Before.Micros {
			continue
		}
		before, after, err := k.Is.Beside(e.After.ID)
		if err != nil {
			return err
		}
		if !finite(e.After.Micros) || before != nil && !follows(before.Micros, e.After.Micros) ||
			after != nil && finite(after.Micros) && !follows(e.After.Micros, after.Micros) {
			k.add(SnapshotTimeMoved(e.After.ID, stamp(e.After.Micros)))
		}
	}
	return nil
}

func stamp(micros int64) string {
	switch micros {
	case math.MaxInt64:
		return "infinity"
	case math.MinInt64:
		return "-infinity"
	}
	return time.UnixMicro(micros).UTC().Format("2006-01-02 15:04:05.000000")
}

// nulls: an id that is NULL belongs to nothing, and clients read it as a number.
func (k *checker) nulls() error {
	for _, n := range k.Nulls {
		k.add(NullID(n.Table, n.Column))
	}
	return nil
}

// counters: ids are given out once.
func (k *checker) counters() error {
	if !k.hasHead {
		return nil
	}
	last := k.head
	for _, e := range k.Snapshots.Changed {
		if e.After.ID == k.head.ID {
			k.counter(k.head, e.After)
			last = e.After
		}
	}
	for _, s := range k.newSnapshots() {
		k.counter(last, s)
		last = s
	}
	catalog := func(relation string, id int64) {
		if id >= last.NextCatalogID {
			k.add(IDBeyondCounter(relation, id, "next_catalog_id", last.NextCatalogID))
		}
	}
	file := func(table int64, relation string, id int64) {
		switch {
		case id >= last.NextFileID:
			k.add(IDBeyondCounter(relation, id, "next_file_id", last.NextFileID))
		case k.makes && id < k.head.NextFileID:
			k.add(IDReused(k.ref(table), relation, id, "next_file_id", k.head.NextFileID))
		}
	}
	for i := range k.Schemas.Added {
		catalog("ducklake_schema", k.Schemas.Added[i].ID)
	}
	for i := range k.Tables.Added {
		catalog("ducklake_table", k.Tables.Added[i].ID)
	}
	for i := range k.Views.Added {
		catalog("ducklake_view", k.Views.Added[i].ID)
	}
	for i := range k.Macros.Added {
		catalog("ducklake_macro", k.Macros.Added[i].ID)
	}
	for i := range k.Partitions.Added {
		catalog("ducklake_partition_info", k.Partitions.Added[i].ID)
	}
	for i := range k.Sorts.Added {
		catalog("ducklake_sort_info", k.Sorts.Added[i].ID)
	}
	for i := range k.DataFiles.Added {
		f := &k.DataFiles.Added[i]
		file(f.TableID, "ducklake_data_file", f.ID)
	}
	for i := range k.DeleteFiles.Added {
		d := &k.DeleteFiles.Added[i]
		file(d.TableID, "ducklake_delete_file", d.ID)
	}
	return k.rowCounters()
}

// mostID is far above what any lake gets to, and leaves room for what comes after.
const mostID = 1 << 62

// counter compares the counters of a snapshot with those before.
func (k *checker) counter(was, now lake.Snapshot) {
	for _, c := range []struct {
		name     string
		was, now int64
	}{
		{"schema_version", was.SchemaVersion, now.SchemaVersion},
		{"next_catalog_id", was.NextCatalogID, now.NextCatalogID},
		{"next_file_id", was.NextFileID, now.NextFileID},
	} {
		switch {
		case c.now < c.was:
			k.add(CounterBack(c.name, c.now, c.was))
		case c.now > mostID && c.now != c.was:
			k.add(CounterSpent(c.name, c.now))
		}
	}
}

// rowCounters: row ids of a table are given out once.
func (k *checker) rowCounters() error {
	for i := range k.TableStats.Changed {
		e := &k.TableStats.Changed[i]
		if e.Before.TableID == e.After.TableID && e.After.NextRowID < e.Before.NextRowID {
			k.add(NextRowIDBack(k.ref(e.After.TableID), e.After.NextRowID, e.Before.NextRowID))
		}
	}
	for i := range k.DataFiles.Added {
		f := &k.DataFiles.Added[i]
		if !f.HasRowIDStart || f.Records == 0 {
			continue
		}
		if next, ok, err := k.nextRowID(f.TableID); err != nil {
			return err
		} else if ok && f.RowIDStart >= next {
			k.add(IDBeyondCounter("ducklake_data_file.row_id_start", f.RowIDStart, "next_row_id", next))
		}
	}
	for i := range k.InlinedRows {
		in := &k.InlinedRows[i]
		if len(in.Added) == 0 {
			continue
		}
		next, ok, err := k.nextRowID(in.TableID)
		if err != nil {
			return err
		}
		for j := range in.Added {
			if ok && in.Added[j].RowID >= next {
				k.add(IDBeyondCounter(in.Relation, in.Added[j].RowID, "next_row_id", next))
				break
			}
		}
	}
	return nil
}

// nextRowID is a table's counter as the commit leaves it, from the batch where it is there.
func (k *checker) nextRowID(table int64) (int64, bool, error) {
	for i := range k.TableStats.Changed {
		if e := &k.TableStats.Changed[i]; e.After.TableID == table {
			return e.After.NextRowID, true, nil
		}
	}
	for i := range k.TableStats.Added {
		if s := &k.TableStats.Added[i]; s.TableID == table {
			return s.NextRowID, true, nil
		}
	}
	stats, err := k.Is.TableStats(table)
	if err != nil || len(stats) == 0 {
		return 0, false, err
	}
	return stats[0].NextRowID, true, nil
}

// spans: nothing begins or ends in a snapshot that does not exist yet, nothing ends
// before it begins.
func (k *checker) spans() error {
	if !k.hasHead {
		return nil
	}
	span := func(table int64, relation string, id int64, s lake.Span) {
		switch {
		case s.Begin > k.at:
			k.add(BeginsLater(k.ref(table), relation, id, s.Begin, k.at))
		case s.Ended && (s.End < s.Begin || s.End > k.at):
			k.add(BadSpan(k.ref(table), relation, id, s.Begin, s.End, k.at))
		}
	}
	each(&k.Schemas, func(x lake.Schema) { span(0, "ducklake_schema", x.ID, x.Span) })
	each(&k.Tables, func(x lake.Table) { span(x.ID, "ducklake_table", x.ID, x.Span) })
	each(&k.Views, func(x lake.View) { span(0, "ducklake_view", x.ID, x.Span) })
	each(&k.Macros, func(x lake.Macro) { span(0, "ducklake_macro", x.ID, x.Span) })
	each(&k.Columns, func(x lake.Column) { span(x.TableID, "ducklake_column", x.ID, x.Span) })
	each(&k.Tags, func(x lake.Tag) { span(0, "ducklake_tag", x.Object, x.Span) })
	each(&k.ColumnTags, func(x lake.ColumnTag) { span(x.TableID, "ducklake_column_tag", x.ColumnID, x.Span) })
	each(&k.Partitions, func(x lake.Partition) { span(x.TableID, "ducklake_partition_info", x.ID, x.Span) })
	each(&k.Sorts, func(x lake.Sort) { span(x.TableID, "ducklake_sort_info", x.ID, x.Span) })
	each(&k.DataFiles, func(x lake.DataFile) { span(x.TableID, "ducklake_data_file", x.ID, x.Span) })
	each(&k.DeleteFiles, func(x lake.DeleteFile) { span(x.TableID, "ducklake_delete_file", x.ID, x.Span) })
	for i := range k.InlinedRows {
		in := &k.InlinedRows[i]
		each(&in.Rows, func(x lake.InlinedRow) { span(in.TableID, in.Relation, x.RowID, x.Span) })
	}
	for i := range k.InlinedDeletes {
		in := &k.InlinedDeletes[i]
		each(&in.Rows, func(x lake.InlinedDelete) {
			span(in.TableID, "the inlined deletes", x.RowID, lake.Span{Begin: x.Begin})
		})
	}
	return nil
}
