package conflict

import (
	"path"
	"strings"

	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/lake/paths"
)

// Paths finds out where the files of a lake are, as one view of it has them.
type Paths struct {
	view    View
	folders map[int64]place // of tables
	base    string          // the lake's data path
	based   bool            // base is known
	foreign *paths.Index    // View.Foreign; nil: not read yet
	due     *paths.Index    // View.ScheduledForeign; nil: not read yet
}

// NewPaths reads in a view.
func NewPaths(v View) *Paths { return &Paths{view: v} }

// place is where a file is: relative to the lake's data path, or absolute.
type place struct {
	path     string
	relative bool
}

// location resolves the path of a file of a table.
func (p *Paths) location(table int64, path string, relative bool) (place, error) {
	if !relative {
		return place{path, false}, nil
	}
	f, ok := p.folders[table]
	if !ok {
		var err error
		if f, err = p.folder(table); err != nil {
			return f, err
		}
		if p.folders == nil {
			p.folders = make(map[int64]place)
		}
		p.folders[table] = f
	}
	return place{f.path + path, f.relative}, nil
}

// folder is where a table's files are.
func (p *Paths) folder(table int64) (place, error) {
	tables, err := p.view.Table(table)
	if err != nil || len(tables) == 0 {
		return place{"", true}, err
	}
	t := tables[len(tables)-1]
	if !t.Relative {
		return place{t.Path, false}, nil
	}
	schemas, err := p.view.Schema(t.SchemaID)
	if err != nil || len(schemas) == 0 {
		return place{t.Path, true}, err
	}
	s := schemas[len(schemas)-1]
	return place{s.Path + t.Path, s.Relative}, nil
}

func (p *Paths) absolute(at place) (string, error) {
	if !at.relative {
		return at.path, nil
	}
	if !p.based {
		var err error
		if p.base, err = p.view.DataPath(); err != nil {
			return "", err
		}
		p.based = true
	}
	return p.base + at.path, nil
}

// Is says whether the file of a row is that of a row of
// ducklake_files_scheduled_for_deletion.
func (p *Paths) Is(table int64, path string, relative bool, s lake.Scheduled) (bool, error) {
	if relative && s.Relative {
		// The schedule has the path with the folders of schema and table before it.
		return strings.HasSuffix(s.Path, path), nil
	}
	want, err := p.absolute(place{s.Path, s.Relative})
	if err != nil {
		return false, err
	}
	at, err := p.location(table, path, relative)
	if err != nil {
		return false, err
	}
	full, err := p.absolute(at)
	return paths.Alike(full, want), err
}

// Named finds a row of a data file or delete file, live or kept for older snapshots, that
// names the file of a row of ducklake_files_scheduled_for_deletion; table is the row's. The
// two may spell the file differently (package lake/paths): what only may be the same counts,
// since it is to stay. Paths that DuckLake has made are found as they are. Those that a
// client has registered, which may have any form, are read once, see View.Foreign.
func (p *Paths) Named(s lake.Scheduled) (table int64, ok bool, err error) {
	want, err := p.absolute(place{s.Path, s.Relative})
	if err != nil {
		return 0, false, err
	}
	// A row's path is an end of the whole path, cut at a slash.
	for rest := want; ; {
		if table, ok, err = p.at(rest, want); ok || err != nil {
			return table, ok, err
		}
		i := strings.IndexByte(rest, '/')
		if i < 0 {
			return p.registered(want)
		}
		rest = rest[i+1:]
	}
}

// namedAs is Named for rows with one path, and for those that a client has registered.
func (p *Paths) namedAs(s lake.Scheduled, path string) (table int64, ok bool, err error) {
	want, err := p.absolute(place{s.Path, s.Relative})
	if err != nil {
		return 0, false, err
	}
	if table, ok, err = p.at(path, want); ok || err != nil {
		return table, ok, err
	}
	return p.registered(want)
}

// at finds a row with a path that may name the file want.
func (p *Paths) at(path, want string) (table int64, ok bool, err error) {
	is := func(table int64, path string, relative bool) (bool, error) {
		at, err := p.location(table, path, relative)
		if err != nil {
			return false, err
		}
		full, err := p.absolute(at)
		return paths.Alike(full, want), err
	}
	files, err := p.view.DataFilesAt(path)
	if err != nil {
		return 0, false, err
	}
	for _, f := range files {
		if ok, err := is(f.TableID, f.Path, f.Relative); ok || err != nil {
			return f.TableID, ok, err
		}
	}
	deletes, err := p.view.DeleteFilesAt(path)
	if err != nil {
		return 0, false, err
	}
	for _, d := range deletes {
		if ok, err := is(d.TableID, d.Path, d.Relative); ok || err != nil {
			return d.TableID, ok, err
		}
	}
	return 0, false, nil
}

// registered finds a row of View.Foreign that may name the file want.
func (p *Paths) registered(want string) (table int64, ok bool, err error) {
	if p.foreign == nil {
		if err := p.readForeign(); err != nil {
			return 0, false, err
		}
	}
	table, ok = p.foreign.Find(want)
	return table, ok, nil
}

func (p *Paths) readForeign() error {
	x := &paths.Index{}
	err := p.view.Foreign(func(table int64, path string, relative bool) error {
		at, err := p.location(table, path, relative)
		if err != nil {
			return err
		}
		full, err := p.absolute(at)
		if err == nil {
			x.Add(full, table)
		}
		return err
	})
	if err == nil {
		p.foreign = x
	}
	return err
}

// scheduled says whether a row of ducklake_files_scheduled_for_deletion names the file of a
// new row, or may name it. A file with a name that DuckLake has made up has been written for
// the commit, and is asked for by its path as DuckLake would schedule it; one that a client
// has registered may be on the list in any spelling.
func (p *Paths) scheduled(table int64, path string, relative, registered bool) (bool, error) {
	at, err := p.location(table, path, relative)
	if err != nil {
		return false, err
	}
	due, err := p.view.ScheduledAt(at.path)
	if err != nil || samePlace(due, lake.Scheduled{Path: at.path, Relative: at.relative}) {
		return err == nil, err
	}
	if !registered && relative && !odd(path) {
		return false, nil
	}
	full, err := p.absolute(at)
	if err != nil {
		return false, err
	}
	for end := range endings(full) {
		rows, err := p.view.ScheduledAt(end)
		if err != nil {
			return false, err
		}
		for _, s := range rows {
			name, err := p.absolute(place{s.Path, s.Relative})
			if err != nil || paths.Alike(full, name) {
				return err == nil, err
			}
		}
	}
	if p.due == nil {
		if err := p.readDue(); err != nil {
			return false, err
		}
	}
	_, ok := p.due.Find(full)
	return ok, nil
}

// odd says whether a path begins as none that DuckLake makes: see View.Foreign.
func odd(path string) bool {
	return strings.HasPrefix(path, "/") || strings.HasPrefix(path, ".") || strings.Contains(path, ":/")
}

// endings are the ends of a name, and of its forms that are compared, that begin a part: a path
// that is relative to a folder above the file is among them.
func endings(name string) map[string]bool {
	forms := append(paths.Keys(name), name)
	if tail, ok := paths.Tail(name); ok {
		// What ".." leads to depends on links. Mostly there are none.
		forms = append(forms, tail, path.Clean(name))
	}
	out := map[string]bool{}
	for _, rest := range forms {
		for ok := true; ok; _, rest, ok = strings.Cut(rest, "/") {
			if rest != "" {
				out[rest] = true
			}
		}
	}
	return out
}

func (p *Paths) readDue() error {
	x := &paths.Index{}
	err := p.view.ScheduledForeign(func(s lake.Scheduled) error {
		name, err := p.absolute(place{s.Path, s.Relative})
		if err == nil {
			x.Add(name, s.ID)
		}
		return err
	})
	if err == nil {
		p.due = x
	}
	return err
}
