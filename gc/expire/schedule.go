package expire

import (
	"context"
	"strings"
	"time"

	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/lake/files"
)

const scheduleTable = "ducklake_files_scheduled_for_deletion"

// scheduler puts files on the list of files to delete, as DuckLake does: under their path
// from the lake's data path on, or their whole path if they lie elsewhere.
type scheduler struct {
	lake    meta.Lake
	now     time.Time
	data    string // the lake's data path
	folders map[int64]folder
	// due looks up in the schedule, and named in the tables of files by their names.
	due   *meta.Finder
	named map[string]*meta.Finder
}

// folder is where a table's files are.
type folder struct{ schema, table files.Place }

func newScheduler(ctx context.Context, l meta.Lake, now time.Time) (s *scheduler, err error) {
	s = &scheduler{lake: l, now: now, folders: map[int64]folder{}, named: map[string]*meta.Finder{}}
	if s.data, err = l.DataPath(ctx); err != nil {
		return nil, err
	}
	s.due, err = l.Table(scheduleTable).Finder("path")
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
	list := s.lake.Table(scheduleTable)
	path := meta.Str(p.Path)
	at, err := s.due.Find(ctx, path)
	if err != nil {
		return err
	}
	if len(at) > 0 {
		there := false
		err = list.Scan(ctx, func(x *meta.Row) error {
			there = there || x.Truth("path_is_relative") == p.Relative
			return nil
		}, meta.Equal("path", path))
		if there || err != nil {
			return err
		}
	}
	return list.Insert(meta.Values{
		"data_file_id": meta.Int(id), "path": path, "path_is_relative": meta.Truth(p.Relative),
		"schedule_start": meta.Time(s.now),
	})
}

// shared says whether another row of the same kind has the file of r.
func (s *scheduler) shared(ctx context.Context, r *meta.Row, file files.Place) (found bool, err error) {
	f, ok := s.named[r.Table.Name()]
	if !ok {
		if f, err = r.Table.Finder("path"); err != nil {
			return false, err
		}
		s.named[r.Table.Name()] = f
	}
	path := meta.Str(file.Path)
	if ids, err := f.Find(ctx, path); err != nil || len(ids) == 1 && ids[0] == r.ID {
		return false, err // mostly there is only the row itself
	}
	table := r.Num("table_id")
	err = r.Table.Scan(ctx, func(x *meta.Row) error {
		if x.ID == r.ID || x.Truth("path_is_relative") != file.Relative || file.Relative && x.Num("table_id") != table {
			return nil
		}
		found = true
		return meta.ErrStop
	}, meta.Equal("path", path))
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
