package conflict

import (
	"context"
	"maps"
	"slices"

	"github.com/eiderdb/eider/lake"
)

// View answers what a check has to know of the rows beside the batch. Each call costs a
// look-up by key, unless it says that it reads a table.
type View interface {
	// Head is the newest snapshot.
	Head() (lake.Snapshot, bool, error)
	// Snapshots counts the snapshots with from ≤ id ≤ to.
	Snapshots(from, to int64) (int64, error)
	// Beside are the snapshots with the next smaller and the next larger id; nil: there is none.
	Beside(snapshot int64) (before, after *lake.Snapshot, err error)
	// ChangesOf is the row of ducklake_snapshot_changes of a snapshot.
	ChangesOf(snapshot int64) (lake.Changes, bool, error)

	// Schemas, Views and Macros read their tables; Tables reads all tables' rows.
	Schemas() ([]lake.Schema, error)
	Tables() ([]lake.Table, error)
	Views() ([]lake.View, error)
	Macros() ([]lake.Macro, error)
	// MacroType is "scalar" or "table", "" for a macro without an implementation.
	MacroType(id int64) (string, error)

	// Schema, Table, Columns, … return all versions of what belongs to an id.
	Schema(id int64) ([]lake.Schema, error)
	Table(id int64) ([]lake.Table, error)
	Columns(table int64) ([]lake.Column, error)
	Partitions(table int64) ([]lake.Partition, error)
	Sorts(table int64) ([]lake.Sort, error)
	SortKeys(table int64) ([]lake.SortKey, error)
	Tags(object int64) ([]lake.Tag, error)
	ColumnTags(table int64) ([]lake.ColumnTag, error)
	TableStats(table int64) ([]lake.TableStats, error)
	ColumnStats(table int64) ([]lake.ColumnStats, error)
	Registered(table int64) ([]lake.InlinedTable, error)

	DataFile(id int64) (lake.DataFile, bool, error)
	DeleteFile(id int64) (lake.DeleteFile, bool, error)
	DeletesOf(dataFile int64) ([]lake.DeleteFile, error)
	// DataFilesAt and DeleteFilesAt find files by the path that their rows have.
	DataFilesAt(path string) ([]lake.DataFile, error)
	DeleteFilesAt(path string) ([]lake.DeleteFile, error)
	// Foreign calls fn for the rows of data files and delete files whose paths do not begin as
	// those that DuckLake makes: with a slash, a dot, or the scheme of a URL. It reads as many.
	Foreign(fn func(table int64, path string, relative bool) error) error
	// ScheduledAt finds scheduled files by the path that their rows have.
	ScheduledAt(path string) ([]lake.Scheduled, error)
	// ScheduledForeign is Foreign for scheduled files.
	ScheduledForeign(fn func(s lake.Scheduled) error) error
	// Options reads ducklake_metadata.
	Options() ([]lake.Option, error)
	// DataPath is the lake's data path, which relative paths start from.
	DataPath() (string, error)

	// InlinedDeletes reads the inlined deletes of a table.
	InlinedDeletes(table int64) ([]lake.InlinedDelete, error)
	// InlinedColumns are the names of a relation's columns, without those that DuckLake
	// puts first; ok is false when there is no such relation.
	InlinedColumns(relation string) (names []string, ok bool, err error)
	// Rows reads a relation of the metadata schema: how many rows it has, and how many of
	// them have not ended. ok is false when there is no such relation.
	Rows(relation string) (all, live int64, ok bool, err error)
}

// DeletePositions reads the positions that a delete file deletes. An error says that they
// could not be read, which is never the same as none.
type DeletePositions func(ctx context.Context, f lake.DeleteFile) ([]int64, error)

// Commit is what the checks look at.
type Commit struct {
	*Batch
	// Was is the newest committed state, Is the same with the commit's own rows.
	Was, Is View
	// Loose reads the same as Is, for questions whose answer may be out of date when the
	// commit lands: what others change there meanwhile makes nobody look again. Is when nil.
	Loose View
	// Set is the batch by meaning.
	Set *ChangeSet
	// Base is the snapshot that the client planned its changes on. It is known to be the
	// newest one when the client has not looked for others' changes, which it does when it
	// commits again after a lost race.
	Base    int64
	HasBase bool
	// Positions reads delete files; nil when the server cannot.
	Positions DeletePositions
	// Fence says what is held; nil: nothing is.
	Fence Fence
	Ctx   context.Context //nolint:containedctx // lives for one call of Check
}

// Check returns everything that the commit must not do, in the order in which a person
// wants to read it. A commit that makes the lake is taken as it comes.
func Check(c Commit) ([]Violation, error) {
	if c.Bootstrap {
		return nil, nil
	}
	k := newChecker(c)
	if err := k.start(); err != nil {
		return nil, err
	}
	for _, check := range []func() error{
		k.snapshots, k.expiry, k.emptied, k.nulls, k.counters, k.spans,
		k.compactions, k.deleteFiles, k.inlinedDeletes, k.overlaps, k.removedDeletes,
		k.files, k.scheduled, k.statistics,
		k.schemas, k.tables, k.columns, k.views, k.macros, k.tags, k.registry,
		k.textSorts,
	} {
		if k.lost {
			break
		}
		if err := check(); err != nil {
			return nil, err
		}
	}
	return k.found, nil
}

type checker struct {
	Commit
	head    lake.Snapshot // the newest before
	hasHead bool
	at      int64 // the snapshot that the commit makes, or the head
	makes   bool  // it makes one
	lost    bool  // it lost a race: what else is wrong is no matter
	found   []Violation

	inlined map[int64]map[int64][]lake.InlinedDelete // Is.InlinedDeletes, by table and file
	live    map[int64]bool                           // tableLive
	paths   *Paths                                   // of Is

	loosePaths *Paths               // of Loose; see loose
	gone       map[int64][]goneFile // rows of files that the commit removes, by id; see removes
	added      map[int64]bool       // data files that it adds; see addedFile
	ownDeletes map[int64]bool       // delete files that it adds; see ownDeleteFile
	ended      map[int64]bool       // data files that it ends; see endedNow
}

func newChecker(c Commit) *checker { return &checker{Commit: c, paths: NewPaths(c.Is)} }

// loose are the paths as Loose has them.
func (k *checker) loose() *Paths {
	if k.loosePaths == nil {
		k.loosePaths = k.paths
		if k.Loose != nil {
			k.loosePaths = NewPaths(k.Loose)
		}
	}
	return k.loosePaths
}

func (k *checker) add(v Violation) { k.found = append(k.found, v) }

func (k *checker) start() error {
	var err error
	if k.head, k.hasHead, err = k.Was.Head(); err != nil {
		return err
	}
	s, ok := k.Snapshot()
	k.at, k.makes = s.ID, ok
	if !ok {
		k.at = k.head.ID
	}
	return nil
}

// ref names a table in a text.
func (k *checker) ref(table int64) TableRef {
	t := TableRef{ID: table}
	versions, err := k.Is.Table(table)
	if err != nil {
		return t // the text does without
	}
	for _, v := range versions {
		if t.Name == "" || !v.Ended {
			t.Name = v.Name
		}
	}
	return t
}

// inlinedOf are the inlined deletes of a data file as the commit leaves them.
func (k *checker) inlinedOf(table, file int64) ([]lake.InlinedDelete, error) {
	byFile, ok := k.inlined[table]
	if !ok {
		all, err := k.Is.InlinedDeletes(table)
		if err != nil {
			return nil, err
		}
		byFile = make(map[int64][]lake.InlinedDelete)
		for _, d := range all {
			byFile[d.FileID] = append(byFile[d.FileID], d)
		}
		if k.inlined == nil {
			k.inlined = make(map[int64]map[int64][]lake.InlinedDelete)
		}
		k.inlined[table] = byFile
	}
	return byFile[file], nil
}

// inlinedBefore are those that the commit found: without what it adds, with what it removes.
func (k *checker) inlinedBefore(table, file int64) ([]lake.InlinedDelete, error) {
	now, err := k.inlinedOf(table, file)
	if err != nil {
		return nil, err
	}
	mine := k.Deletes(table)
	var out []lake.InlinedDelete
	for _, d := range now {
		if !containsDelete(mine.Added, d) {
			out = append(out, d)
		}
	}
	for _, d := range mine.Removed {
		if d.FileID == file {
			out = append(out, d)
		}
	}
	return out, nil
}

func containsDelete(list []lake.InlinedDelete, d lake.InlinedDelete) bool {
	for _, o := range list {
		if o == d {
			return true
		}
	}
	return false
}

func liveDelete(list []lake.DeleteFile) (lake.DeleteFile, bool) {
	for _, d := range list {
		if !d.Ended {
			return d, true
		}
	}
	return lake.DeleteFile{}, false
}

// endedNow says whether the commit ends a data file.
func (k *checker) endedNow(file int64) bool {
	if k.ended == nil {
		k.ended = make(map[int64]bool, len(k.DataFiles.Changed))
		for i := range k.DataFiles.Changed {
			if e := &k.DataFiles.Changed[i]; !e.Before.Ended && e.After.Ended {
				k.ended[e.After.ID] = true
			}
		}
	}
	return k.ended[file]
}

func (k *checker) addedFile(file int64) bool {
	if k.added == nil {
		k.added = make(map[int64]bool, len(k.DataFiles.Added))
		for i := range k.DataFiles.Added {
			k.added[k.DataFiles.Added[i].ID] = true
		}
	}
	return k.added[file]
}

func (k *checker) ownDeleteFile(id int64) bool {
	if k.ownDeletes == nil {
		k.ownDeletes = make(map[int64]bool, len(k.DeleteFiles.Added))
		for i := range k.DeleteFiles.Added {
			k.ownDeletes[k.DeleteFiles.Added[i].ID] = true
		}
	}
	return k.ownDeletes[id]
}

func sortedKeys[V any](m map[int64]V) []int64 { return slices.Sorted(maps.Keys(m)) }
