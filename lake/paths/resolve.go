package paths

import (
	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/lake/files"
)

// Layout is where a lake's files lie: the data path, and every version of its schemas and
// tables. Versions that ended count: a file may have been written under any of them.
type Layout struct {
	// DataPath is data_path of ducklake_metadata.
	DataPath string
	schemas  map[int64][]files.Place
	tables   map[int64][]tablePlace
}

type tablePlace struct {
	files.Place
	schema int64
}

// NewLayout makes a Layout.
func NewLayout(dataPath string, schemas []lake.Schema, tables []lake.Table) *Layout {
	l := &Layout{DataPath: dataPath, schemas: map[int64][]files.Place{}, tables: map[int64][]tablePlace{}}
	for _, s := range schemas {
		p := files.Place{Path: s.Path, Relative: s.Relative}
		if !contains(l.schemas[s.ID], p) {
			l.schemas[s.ID] = append(l.schemas[s.ID], p)
		}
	}
	for _, t := range tables {
		p := tablePlace{files.Place{Path: t.Path, Relative: t.Relative}, t.SchemaID}
		if !contains(l.tables[t.ID], p) {
			l.tables[t.ID] = append(l.tables[t.ID], p)
		}
	}
	return l
}

// Extends says that every file that old tells the place of has the same place in l, which may have
// more schemas and tables.
func (l *Layout) Extends(old *Layout) bool {
	return l.DataPath == old.DataPath && extends(l.schemas, old.schemas) && extends(l.tables, old.tables)
}

func extends[T comparable](all, old map[int64][]T) bool {
	for id, were := range old {
		are := all[id]
		if len(are) != len(were) {
			return false
		}
		for _, p := range were {
			if !contains(are, p) {
				return false
			}
		}
	}
	return true
}

func contains[T comparable](all []T, one T) bool {
	for _, a := range all {
		if a == one {
			return true
		}
	}
	return false
}

// File returns the absolute paths under which a table's file may lie, one for each
// distinct version of the table's and the schema's path. complete is false when there are
// versions whose folder cannot be known, because the table or a schema has no row.
func (l *Layout) File(table int64, file files.Place) (names []string, complete bool) {
	if !file.Relative {
		return []string{file.Path}, true
	}
	complete = len(l.tables[table]) > 0
	for _, t := range l.tables[table] {
		if !t.Relative {
			names = add(names, files.Resolve(l.DataPath, files.Place{}, t.Place, file))
			continue
		}
		complete = complete && len(l.schemas[t.schema]) > 0
		for _, s := range l.schemas[t.schema] {
			names = add(names, files.Resolve(l.DataPath, s, t.Place, file))
		}
	}
	return names, complete
}

func add(all []string, one string) []string {
	if contains(all, one) {
		return all
	}
	return append(all, one)
}

// Scheduled is the absolute path of a row of the deletion schedule: a relative one starts
// at the data path, whatever its table's is.
func (l *Layout) Scheduled(file files.Place) string {
	top := files.Place{Relative: true}
	return files.Resolve(l.DataPath, top, top, file)
}
