package expire

import (
	"context"
	"strings"
	"time"

	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/lake/files"
)

// scheduler puts files on the list of files to delete, as DuckLake does: under their path
// from the lake's data path on, or their whole path if they lie elsewhere.
type scheduler struct {
	lake    meta.Lake
	now     time.Time
	data    string // the lake's data path
	folders map[int64]folder
}

// folder is where a table's files are.
type folder struct{ schema, table files.Place }

func newScheduler(ctx context.Context, l meta.Lake, now time.Time) (s *scheduler, err error) {
	s = &scheduler{lake: l, now: now, folders: map[int64]folder{}}
	s.data, err = l.DataPath(ctx)
	return s, err
}

// add schedules the file of a row of ducklake_data_file or ducklake_delete_file, unless it is
// scheduled already or another row has it, which a client may register twice.
func (s *scheduler) add(ctx context.Context, r *meta.Row, id int64) error {
	if s.lake.Rehearsal() {
		return nil
	}
	file := files.Place{Path: r.Text("path"), Relative: r.Truth("path_is_relative")}
	shared, err := s.shared(ctx, r, file)
	if shared || err != nil {
		return err
	}
	p, err := s.place(ctx, r.Num("table_id"), file)
	if err != nil {
		return err
	}
	list := s.lake.Table("ducklake_files_scheduled_for_deletion")
	there := false
	err = list.Scan(ctx, func(x *meta.Row) error {
		there = there || x.Truth("path_is_relative") == p.Relative
		return nil
	}, meta.Equal("path", meta.Str(p.Path)))
	if there || err != nil {
		return err
	}
	return list.Insert(meta.Values{
		"data_file_id": meta.Int(id), "path": meta.Str(p.Path), "path_is_relative": meta.Truth(p.Relative),
		"schedule_start": meta.Time(s.now),
	})
}

// shared says whether another row of the same kind has the file of r.
func (s *scheduler) shared(ctx context.Context, r *meta.Row, file files.Place) (found bool, err error) {
	table := r.Num("table_id")
	err = r.Table.Scan(ctx, func(x *meta.Row) error {
		if x.ID == r.ID || x.Truth("path_is_relative") != file.Relative || file.Relative && x.Num("table_id") != table {
			return nil
		}
		found = true
		return meta.ErrStop
	}, meta.Equal("path", meta.Str(file.Path)))
	return found, err
}

// place is the path of a file as the schedule has it.
func (s *scheduler) place(ctx context.Context, table int64, file files.Place) (files.Place, error) {
	f, ok := s.folders[table]
	if !ok {
		var err error
		if f, err = s.folder(ctx, table); err != nil {
			return files.Place{}, err
		}
		s.folders[table] = f
	}
	path := files.Resolve(s.data, f.schema, f.table, file)
	if rest, ok := strings.CutPrefix(path, s.data); ok {
		return files.Place{Path: rest, Relative: true}, nil
	}
	return files.Place{Path: path}, nil
}

// folder reads where a table is; of several versions the live one counts, else the last.
func (s *scheduler) folder(ctx context.Context, table int64) (f folder, err error) {
	f = folder{files.Place{Relative: true}, files.Place{Relative: true}}
	version := func(name, column string, id int64, at *files.Place) (schema int64, err error) {
		var live, found bool
		err = s.lake.Table(name).Scan(ctx, func(r *meta.Row) error {
			if ended := r.Span().Ended; !live || !ended {
				live, found = !ended, true
				*at = files.Place{Path: r.Text("path"), Relative: r.Truth("path_is_relative")}
				schema = r.Num("schema_id")
			}
			return nil
		}, meta.Is(column, id))
		if !found {
			schema = -1
		}
		return schema, err
	}
	schema, err := version("ducklake_table", "table_id", table, &f.table)
	if err != nil || schema < 0 {
		return f, err
	}
	_, err = version("ducklake_schema", "schema_id", schema, &f.schema)
	return f, err
}
