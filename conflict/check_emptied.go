package conflict

import (
	"slices"
	"strconv"
	"strings"

	"github.com/eiderdb/eider/lake"
)

// kept are DuckLake's tables whose rows every reader needs. Not among them are those that
// may be emptied by hand: statistics of files, comments, options; nor the deletion schedule, of
// which a TRUNCATE is judged row by row (see unscheduled).
var kept = []string{
	"ducklake_snapshot", "ducklake_snapshot_changes", "ducklake_schema", "ducklake_table", "ducklake_view",
	"ducklake_macro", "ducklake_macro_impl", "ducklake_column", "ducklake_data_file", "ducklake_delete_file",
	"ducklake_table_stats", "ducklake_table_column_stats", "ducklake_partition_info", "ducklake_partition_column",
	"ducklake_sort_info", "ducklake_sort_expression", "ducklake_file_partition_value", "ducklake_column_mapping",
	"ducklake_name_mapping", "ducklake_schema_versions", "ducklake_inlined_data_tables",
}

// besides are the other tables that every lake has: one that is emptied is no loss, but
// without one of them no client can load the lake, or write to it.
var besides = []string{
	"ducklake_metadata", "ducklake_tag", "ducklake_column_tag", "ducklake_file_column_stats", "ducklake_file_variant_stats",
	"ducklake_files_scheduled_for_deletion", "ducklake_macro_parameters",
}

// taken: a lake loses none of its tables, by DROP or under another name, unless it loses
// all of them in one commit.
func (k *checker) taken() error {
	var gone []string
	for _, name := range k.Dropped {
		if !slices.Contains(kept, name) && !slices.Contains(besides, name) || slices.Contains(gone, name) {
			continue
		}
		if _, there, err := k.Is.InlinedColumns(name); err != nil {
			return err
		} else if !there {
			gone = append(gone, name)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	for _, name := range slices.Concat(kept, besides) {
		if _, there, err := k.Is.InlinedColumns(name); err != nil {
			return err
		} else if there {
			slices.Sort(gone)
			k.add(TableDropped(gone, name))
			return nil
		}
	}
	return nil
}

// emptied: what TRUNCATE, DROP and rewrites by ALTER TABLE do to rows is not in the batch,
// so no other check sees it. A migration of the format does all of them.
//
// Relations of inlined data in what is left of a lake without its tables are no loss.
func (k *checker) emptied() error {
	if k.Set.Parts&PartMigration != 0 || !k.hasHead || len(k.Emptied)+len(k.Dropped) == 0 {
		return nil
	}
	if err := k.taken(); err != nil {
		return err
	}
	names := slices.Clone(k.Emptied)
	for _, name := range k.Dropped {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		var err error
		switch {
		case slices.Contains(kept, name):
			err = k.keptTable(name)
		case strings.HasPrefix(name, lake.InlinedDataPrefix):
			id, _, _ := strings.Cut(strings.TrimPrefix(name, lake.InlinedDataPrefix), "_")
			err = k.ofTable(id, name, k.inlinedRowsTaken)
		case strings.HasPrefix(name, lake.InlinedDeletePrefix):
			err = k.ofTable(strings.TrimPrefix(name, lake.InlinedDeletePrefix), name, k.inlinedDeletesTaken)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keptTable judges a rewrite by the number of rows; in a commit that makes a snapshot
// nobody could tell what it has changed among them.
func (k *checker) keptTable(name string) error {
	was, _, _, err := k.Was.Rows(name)
	if err != nil || was == 0 {
		return err
	}
	is, _, there, err := k.Is.Rows(name)
	if err != nil || !there {
		return err
	}
	if is != was || k.makes {
		k.add(TableEmptied(TableRef{}, name, was))
	}
	return nil
}

// ofTable refuses what a relation of a live table loses, in a lake that can be read.
func (k *checker) ofTable(id, name string, losses func(table int64, name string) (int64, error)) error {
	table, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil //nolint:nilerr // another's relation
	}
	lost, err := losses(table, name)
	if err != nil || lost == 0 {
		return err
	}
	live, err := k.tableLive(table)
	if err != nil || !live {
		return err
	}
	for _, core := range []string{"ducklake_column", "ducklake_data_file", "ducklake_delete_file"} {
		if _, there, err := k.Is.InlinedColumns(core); err != nil || !there {
			return err
		}
	}
	k.add(TableEmptied(k.ref(table), name, lost))
	return nil
}

// inlinedRowsTaken: live rows go into a data file, or stay.
func (k *checker) inlinedRowsTaken(table int64, name string) (int64, error) {
	if k.Set.Says(table, InlineFlush, FlushedInlined) {
		return 0, nil
	}
	for i := range k.DataFiles.Added {
		if k.DataFiles.Added[i].TableID == table {
			return 0, nil
		}
	}
	_, was, _, err := k.Was.Rows(name)
	if err != nil || was == 0 {
		return 0, err
	}
	_, is, _, err := k.Is.Rows(name)
	if is == was {
		return 0, err
	}
	return was, err
}

// inlinedDeletesTaken: deletes of a live file go into a delete file, or stay.
func (k *checker) inlinedDeletesTaken(table int64, name string) (lost int64, err error) {
	was, err := k.Was.InlinedDeletes(table)
	if err != nil || len(was) == 0 {
		return 0, err
	}
	is, _, _, err := k.Is.Rows(name)
	if err != nil || is == int64(len(was)) {
		return 0, err
	}
	known := map[int64]bool{}
	for _, d := range was {
		needed, ok := known[d.FileID]
		if !ok {
			if needed, err = k.needsDeletes(d.FileID); err != nil {
				return 0, err
			}
			known[d.FileID] = needed
		}
		if needed {
			lost++
		}
	}
	return lost, nil
}

// needsDeletes says whether a file is live and gets no delete file from this commit.
func (k *checker) needsDeletes(file int64) (bool, error) {
	f, there, err := k.Is.DataFile(file)
	if err != nil || !there || f.Ended {
		return false, err
	}
	deletes, err := k.Is.DeletesOf(file)
	d, has := liveDelete(deletes)
	return !has || !k.ownDeleteFile(d.ID), err
}
