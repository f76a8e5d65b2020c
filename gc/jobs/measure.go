package jobs

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake"
)

// Measure is what a lake was found to hold. Counts are of the rows that the measurement has
// read: Complete is false when a table had more.
type Measure struct {
	At       time.Time
	Complete bool
	Version  string // of the catalog's format

	Snapshots          int64
	OldestID, NewestID int64
	Oldest, Newest     time.Time
	// Free is the time of the oldest snapshot that an expiry might take: it has no tag and is
	// not the newest. Zero when there is none.
	Free time.Time

	Tables, EndedTables int64

	Files, FileBytes, FileRows             int64 // current data files
	EndedFiles, EndedBytes                 int64 // data files kept for old snapshots only
	DeleteFiles, DeleteBytes, DeletedRows  int64 // current delete files
	Scheduled, ScheduledPaths              int64 // rows of the schedule, different paths in them
	InlinedTables, UnreachableInlined      int64 // relations of inlined rows; those of tables that are gone
	FileStats, FileStatsOrphaned           int64 // rows of ducklake_file_column_stats; of files that are gone
	TableStats, TableStatsOrphaned         int64 // rows of ducklake_table_column_stats; of tables that are gone
	PartitionValues, PartitionValuesOrphan int64
}

// trigger says which of the triggers has gone off for a kind of job, "" for none.
func (l *Measure) trigger(t gc.Triggers, k gc.Kind, now time.Time) string {
	if l.At.IsZero() || k != gc.Expire && k != gc.Trim && k != gc.Cleanup {
		return ""
	}
	switch {
	case t.Snapshots > 0 && l.Snapshots >= t.Snapshots:
		return gc.NameTriggerSnapshots
	case t.Age > 0 && !l.Free.IsZero() && now.Sub(l.Free) >= t.Age:
		return gc.NameTriggerAge
	case t.Files > 0 && l.Scheduled >= t.Files && k == gc.Cleanup:
		return gc.NameTriggerFiles
	case t.Bytes > 0 && l.EndedBytes >= t.Bytes:
		return gc.NameTriggerBytes
	}
	return ""
}

// measure looks at the lakes whose measure is old.
func (m *Manager) measure(ctx context.Context, st *catalogState, txn *store.Txn) error {
	if m.o.Measure < 0 {
		return nil
	}
	now := m.o.Clock.Now()
	here := map[string]bool{}
	for _, l := range meta.Lakes(txn) {
		here[l.Name()] = true
		m.mu.Lock()
		old := st.lakes[l.Name()]
		m.mu.Unlock()
		if !old.At.IsZero() && now.Sub(old.At) < m.o.Measure {
			continue
		}
		tagged, err := tagged(ctx, txn, l.Name())
		if err != nil {
			return err
		}
		x, err := measureLake(ctx, l, tagged, m.o.MeasureRows)
		if err != nil {
			return err
		}
		x.At = now
		m.mu.Lock()
		st.lakes[l.Name()] = x
		m.mu.Unlock()
		m.o.Metrics.measured(st.cat.Name(), l.Name(), &x)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range st.lakes {
		if !here[name] {
			delete(st.lakes, name)
			m.o.Metrics.forgetLake(st.cat.Name(), name)
		}
	}
	return nil
}

// meter reads the tables of a lake up to a number of rows of each.
type meter struct {
	ctx   context.Context
	l     meta.Lake
	limit int
	tags  map[int64]bool // ids of snapshots with a tag
	x     Measure
	err   error
}

// each calls fn for the rows of a table, and returns how many it has seen.
func (t *meter) each(table string, fn func(r *meta.Row), conds ...meta.Cond) (n int64) {
	if t.err != nil {
		return 0
	}
	t.err = t.l.Table(table).Scan(t.ctx, func(r *meta.Row) error {
		if n >= int64(t.limit) {
			t.x.Complete = false
			return meta.ErrStop
		}
		n++
		if fn != nil {
			fn(r)
		}
		return nil
	}, conds...)
	return n
}

// edge reads the first row of ducklake_snapshot in one direction.
func (t *meter) edge(conds ...meta.Cond) (id int64, at time.Time) {
	if t.err != nil {
		return 0, time.Time{}
	}
	r, ok, err := t.l.Table(meta.SnapshotTable).One(t.ctx, conds...)
	if t.err = err; err != nil || !ok {
		return 0, time.Time{}
	}
	return r.Num("snapshot_id"), moment(&r, "snapshot_time")
}

func measureLake(ctx context.Context, l meta.Lake, tags map[int64]bool, limit int) (Measure, error) {
	t := &meter{ctx: ctx, l: l, limit: limit, tags: tags, x: Measure{Complete: true}}
	t.snapshots()
	tables := t.tables()
	files := t.files()
	t.statistics(tables, files)
	t.inlined(tables)
	t.each("ducklake_metadata", func(r *meta.Row) {
		if r.Text("key") == "version" {
			t.x.Version = r.Text("value")
		}
	})
	if errors.Is(t.err, store.ErrNoCatalog) {
		t.err = nil
	}
	return t.x, t.err
}

func (t *meter) snapshots() {
	x := &t.x
	x.OldestID, x.Oldest = t.edge()
	x.NewestID, x.Newest = t.edge(meta.Reverse())
	x.Snapshots = t.each(meta.SnapshotTable, func(r *meta.Row) { // in the order of their ids
		if id := r.Num("snapshot_id"); x.Free.IsZero() && id != x.NewestID && !t.tags[id] {
			x.Free = moment(r, "snapshot_time")
		}
	})
	if x.Snapshots >= int64(t.limit) { // ids have hardly a gap but at expiry, which takes the oldest
		x.Snapshots = max(x.Snapshots, x.NewestID-x.OldestID+1)
	}
}

// tables returns the ids of the tables that some row names.
func (t *meter) tables() map[int64]bool {
	ids := map[int64]bool{}
	t.each("ducklake_table", func(r *meta.Row) {
		ids[r.Num("table_id")] = true
		if r.Span().Ended {
			t.x.EndedTables++
		} else {
			t.x.Tables++
		}
	})
	return ids
}

// files returns the ids of the data files that some row names.
func (t *meter) files() map[int64]bool {
	x := &t.x
	ids := map[int64]bool{}
	t.each("ducklake_data_file", func(r *meta.Row) {
		ids[r.Num("data_file_id")] = true
		size := r.Num("file_size_bytes")
		if r.Span().Ended {
			x.EndedFiles++
			x.EndedBytes += size
			return
		}
		x.Files++
		x.FileBytes += size
		x.FileRows += r.Num("record_count")
	})
	t.each("ducklake_delete_file", func(r *meta.Row) {
		if !r.Span().Ended {
			x.DeleteFiles++
			x.DeleteBytes += r.Num("file_size_bytes")
			x.DeletedRows += r.Num("delete_count")
		}
	})
	paths := map[string]bool{}
	x.Scheduled = t.each("ducklake_files_scheduled_for_deletion", func(r *meta.Row) { paths[r.Text("path")] = true })
	x.ScheduledPaths = int64(len(paths))
	return ids
}

func (t *meter) statistics(tables, files map[int64]bool) {
	x := &t.x
	whole := x.Complete // else an id that was not read would make an orphan
	count := func(table, column string, of map[int64]bool) (all, orphaned int64) {
		all = t.each(table, func(r *meta.Row) {
			if whole && !of[r.Num(column)] {
				orphaned++
			}
		})
		return all, orphaned
	}
	x.FileStats, x.FileStatsOrphaned = count("ducklake_file_column_stats", "data_file_id", files)
	x.TableStats, x.TableStatsOrphaned = count("ducklake_table_column_stats", "table_id", tables)
	x.PartitionValues, x.PartitionValuesOrphan = count("ducklake_file_partition_value", "data_file_id", files)
}

func (t *meter) inlined(tables map[int64]bool) {
	for r := range t.l.Tables(lake.InlinedDataPrefix) {
		if r.Name() == lake.InlinedRegistry {
			continue
		}
		id, _, _ := strings.Cut(strings.TrimPrefix(r.Name(), lake.InlinedDataPrefix), "_")
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			continue
		}
		t.x.InlinedTables++
		if t.x.Complete && !tables[n] {
			t.x.UnreachableInlined++
		}
	}
}
