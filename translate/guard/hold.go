package guard

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/conflict/hold"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/lake/files"
)

// Hold keeps the ids of rows: package conflict/hold with a catalog's rows as its state.
type Hold struct {
	Verifier *hold.Verifier
	// NullStarts stores NULL as the row-id start of files that have their rows' ids inside.
	NullStarts bool
	// Gaps leaves a row id out between new files that no merge may take for one run of ids.
	Gaps bool
}

// register amends what the commit says about the row ids of new data files, in the store
// and in the batch.
func (h *Hold) register(ctx context.Context, c *commit, set *conflict.ChangeSet, st *holdState) error {
	if h == nil || len(c.batch.DataFiles.Added) == 0 || !h.NullStarts && !h.Gaps {
		return nil
	}
	embedded, unsure, err := h.Verifier.Embedding(ctx, c.batch, set, st)
	if err != nil {
		return err
	}
	starts := map[int64][]byte{}
	if h.NullStarts {
		for i := range embedded {
			starts[embedded[i].ID] = nil
		}
		c.setStarts(starts)
	}
	if h.Gaps {
		gaps, err := hold.Gaps(c.batch, set, st, func(f *lake.DataFile) bool {
			return slices.ContainsFunc(unsure, func(u lake.DataFile) bool { return u.ID == f.ID })
		})
		if err != nil {
			return err
		}
		for _, g := range gaps {
			for _, s := range g.Shifts {
				for i := range c.batch.DataFiles.Added {
					if f := &c.batch.DataFiles.Added[i]; f.ID == s.File {
						starts[f.ID] = bigint(f.RowIDStart + s.By)
					}
				}
			}
			if err := c.raiseNext(g.Table, g.Next); err != nil {
				return err
			}
		}
		c.setStarts(starts)
	}
	return c.storeStarts(starts)
}

// setStarts puts row-id starts into the batch; nil is NULL.
func (c *commit) setStarts(starts map[int64][]byte) {
	for i := range c.batch.DataFiles.Added {
		f := &c.batch.DataFiles.Added[i]
		if v, ok := starts[f.ID]; ok {
			f.RowIDStart, f.HasRowIDStart = 0, v != nil
			if v != nil {
				f.RowIDStart = int64(binary.BigEndian.Uint64(v))
			}
		}
	}
}

// storeStarts puts row-id starts into the store.
func (c *commit) storeStarts(starts map[int64][]byte) error {
	t, ok := c.txn.TableByName(c.space, dataFileTable)
	if !ok || len(starts) == 0 {
		return nil
	}
	r := relation{c.txn, t}
	var edits []target
	err := c.txn.Changes(t, func(ch store.RowChange) bool {
		if ch.Before == nil && ch.After != nil {
			if _, ok := starts[r.num(ch.After, "data_file_id")]; ok {
				edits = append(edits, target{ch.RowID, slices.Clone(ch.After)})
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	for _, e := range edits {
		n, err := r.with(e.tuple, "row_id_start", starts[r.num(e.tuple, "data_file_id")])
		if err != nil {
			return err
		}
		if err := c.txn.Update(t, e.rowid, e.tuple, n); err != nil {
			return fmt.Errorf("row-id start of a data file: %w", err)
		}
	}
	return nil
}

// raiseNext moves a table's counter of row ids, in the store and in the batch.
func (c *commit) raiseNext(table, by int64) error {
	r, rows, err := c.find(c.txn, tableStatsTable, "table_id", table)
	if err != nil {
		return err
	}
	for _, x := range rows {
		n, err := r.with(x.tuple, "next_row_id", bigint(r.num(x.tuple, "next_row_id")+by))
		if err != nil {
			return err
		}
		if err := c.txn.Update(r.tbl, x.rowid, x.tuple, n); err != nil {
			return fmt.Errorf("counter of row ids: %w", err)
		}
	}
	s := &c.batch.TableStats
	for i := range s.Added {
		if s.Added[i].TableID == table {
			s.Added[i].NextRowID += by
		}
	}
	for i := range s.Changed {
		if s.Changed[i].After.TableID == table {
			s.Changed[i].After.NextRowID += by
		}
	}
	return nil
}

// verify holds the commit's compactions to their sources.
func (h *Hold) verify(ctx context.Context, c *commit, set *conflict.ChangeSet, st *holdState, load func() (*conflict.Modes, error)) (
	found []conflict.Violation, verdicts []hold.Verdict, err error,
) {
	if h == nil {
		return nil, nil, nil
	}
	cs, found, err := hold.Find(c.batch, set, st)
	if err != nil || len(cs) == 0 {
		return found, nil, err
	}
	modes, err := load()
	if err != nil {
		return nil, nil, err
	}
	// Where nothing that could be found counts, nothing is read.
	cs = slices.DeleteFunc(cs, func(x hold.Compaction) bool {
		for _, code := range hold.Codes() {
			if modes.Of(code, x.Table.ID) != conflict.Off {
				return false
			}
		}
		return true
	})
	verdicts, err = h.Verifier.Verify(ctx, cs, st)
	for i := range verdicts {
		d := &verdicts[i]
		found = append(found, d.Violations...)
		if d.Unread != "" && len(d.Violations) == 0 {
			found = append(found, conflict.RowIDsUnread(d.Table, int(d.Tier), d.Unread))
		}
	}
	return found, verdicts, err
}

// positions reads delete files for the state checks.
func (h *Hold) positions(st *holdState) conflict.DeletePositions {
	return func(ctx context.Context, f lake.DeleteFile) ([]int64, error) {
		path, err := st.Path(f.TableID, f.Path, f.Relative)
		if err != nil {
			return nil, err
		}
		return h.Verifier.DeletePositions(ctx, &hold.File{Path: path, Size: f.Size, Footer: f.Footer, Key: f.Key, Format: f.Format})
	}
}

// holdState is the lake as the commit finds it. Names and paths are looked for with the
// commit's own rows, since a table may be made and filled in one transaction.
type holdState struct {
	was, is *view
	dirs    map[int64]tableDirs
	inlined map[int64]map[int64][]int64 // deleted positions by table and file
}

type tableDirs struct {
	data          string
	schema, table files.Place
}

func (s *holdState) Table(id int64) conflict.TableRef {
	t := conflict.TableRef{ID: id}
	versions, err := s.is.Table(id)
	if err != nil {
		return t // a text does without the name
	}
	for _, v := range versions {
		if t.Name == "" || !v.Ended {
			t.Name = v.Name
		}
	}
	return t
}

func (s *holdState) Sorted(table int64) (bool, error) {
	list, err := s.is.Sorts(table)
	return slices.ContainsFunc(list, func(x lake.Sort) bool { return !x.Ended }), err
}

func (s *holdState) LiveDelete(file int64) (out lake.DeleteFile, ok bool, err error) {
	list, err := s.was.DeletesOf(file)
	for _, d := range list {
		if !d.Ended {
			out, ok = d, true
		}
	}
	return out, ok, err
}

// InlinedDeletes reads the table's deletes once: they have no index, and a compaction asks
// for each of its sources.
func (s *holdState) InlinedDeletes(table, file int64) ([]int64, error) {
	if of, ok := s.inlined[table]; ok {
		return of[file], nil
	}
	rows, err := list(s.was, lake.InlinedDeletePrefix+itoa(table), "", nil, func(r relation, t row.Tuple) [2]int64 {
		return [2]int64{r.num(t, "file_id"), r.num(t, "row_id")}
	})
	if err != nil {
		return nil, err
	}
	of := map[int64][]int64{}
	for _, x := range rows {
		of[x[0]] = append(of[x[0]], x[1])
	}
	if s.inlined == nil {
		s.inlined = map[int64]map[int64][]int64{}
	}
	s.inlined[table] = of
	return of[file], nil
}

func (s *holdState) PartitionValues(file int64) ([]lake.PartitionValue, error) {
	return list(s.is, fileValueTable, "data_file_id", bigint(file), relation.fileValue)
}

func (s *holdState) Versions(table int64) ([]int64, error) {
	out, err := list(s.was, versionTable, "table_id", bigint(table), func(r relation, t row.Tuple) int64 { return r.num(t, "begin_snapshot") })
	slices.Sort(out)
	return out, err
}

// MadeIn looks for the snapshot that gave out the file's id. It is that of the file's begin,
// or a later one for files that are dated back. The counter of ids never goes back, so it
// is the first one in the order of the primary key.
func (s *holdState) MadeIn(f *lake.DataFile) (changes string, ok bool, err error) {
	made, ok, err := s.was.firstFrom(f.Begin, func(n lake.Snapshot) bool { return n.NextFileID > f.ID })
	if err != nil || !ok {
		return "", false, err
	}
	// Had a snapshot between expired, it would be that one.
	before, ok, err := one(s.was, snapshotTable, "snapshot_id", made.ID-1, relation.snapshot)
	if err != nil || !ok || before.NextFileID > f.ID {
		return "", false, err
	}
	c, ok, err := one(s.was, changesTable, "snapshot_id", made.ID, relation.changes)
	return c.Made, ok, err
}

func (s *holdState) LiveFiles(table int64) ([]lake.DataFile, error) {
	all, err := list(s.was, dataFileTable, "table_id", bigint(table), relation.dataFile)
	return slices.DeleteFunc(all, func(f lake.DataFile) bool { return f.Ended }), err
}

func (s *holdState) Path(table int64, path string, relative bool) (string, error) {
	if !relative {
		return path, nil
	}
	d, ok := s.dirs[table]
	if !ok {
		var err error
		if d, err = s.folders(table); err != nil {
			return "", err
		}
		if s.dirs == nil {
			s.dirs = map[int64]tableDirs{}
		}
		s.dirs[table] = d
	}
	return files.Resolve(d.data, d.schema, d.table, files.Place{Path: path, Relative: true}), nil
}

// folders finds where a table's files are; of several versions the live one counts.
func (s *holdState) folders(table int64) (d tableDirs, err error) {
	tables, err := s.is.Table(table)
	if err != nil {
		return d, err
	}
	schema := int64(0)
	for i, v := range tables {
		if i == 0 || !v.Ended {
			d.table, schema = files.Place{Path: v.Path, Relative: v.Relative}, v.SchemaID
		}
	}
	schemas, err := s.is.Schema(schema)
	if err != nil {
		return d, err
	}
	for i, v := range schemas {
		if i == 0 || !v.Ended {
			d.schema = files.Place{Path: v.Path, Relative: v.Relative}
		}
	}
	d.data, err = s.is.DataPath()
	return d, err
}
