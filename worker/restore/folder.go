package restore

import (
	"context"
	"fmt"
	"strings"
)

// A data file is registered by the part of its path after its table's folder, so it must be
// in the folder of the table that it is registered for: the one that is there now, or the one
// that the commit makes. What the table's name belonged to at the old snapshot may have been
// elsewhere, as after a swap of two tables, and so may its schema.

// target is where the rows of a table of the old version are written.
type target struct {
	table  int64 // its id in the old version
	folder string
	// hive says that the values of partitions are in the paths of files.
	hive bool
}

// findTargets finds out where the rows of the plan's tables belong, by the ids that the tables
// have in the old version. cur is the version at the snapshot now.
func (r *run) findTargets(ctx context.Context, rd *reader, now int64, cur *Version) (map[int64]target, error) {
	dataPath := r.o.DataPath
	if dataPath == "" {
		if err := rd.tx.QueryRow(ctx, "SELECT value FROM "+rd.rel("ducklake_metadata")+" WHERE key = 'data_path' AND scope IS NULL").Scan(&dataPath); err != nil {
			return nil, fmt.Errorf("read the data path: %w", err)
		}
	}
	if !strings.HasSuffix(dataPath, "/") {
		dataPath += "/"
	}
	list := map[int64]target{}
	for i := range r.res.Keep {
		p := &r.res.Keep[i]
		schema, err := rd.schemaFolder(ctx, p.Now.SchemaID, now, dataPath)
		if err != nil {
			return nil, err
		}
		folder, err := rd.tableFolder(ctx, p.Now.ID, now, schema)
		if err != nil {
			return nil, err
		}
		hive, err := rd.hive(ctx, p.Now.SchemaID, p.Now.ID)
		if err != nil {
			return nil, err
		}
		list[p.Then.ID] = target{p.Then.ID, folder, hive}
	}
	for i := range r.res.Create {
		o := &r.res.Create[i]
		// The schema is the one that has the name now, or is made as it was; the table's own
		// path is copied.
		id, at, known := o.SchemaID, r.res.Snapshot, int64(-1)
		if there, ok := cur.schemaID(o.Schema); ok {
			id, at, known = there, now, there
		}
		schema, err := rd.schemaFolder(ctx, id, at, dataPath)
		if err != nil {
			return nil, err
		}
		folder, err := rd.tableFolder(ctx, o.ID, r.res.Snapshot, schema)
		if err != nil {
			return nil, err
		}
		hive, err := rd.hive(ctx, known, -1)
		if err != nil {
			return nil, err
		}
		list[o.ID] = target{o.ID, folder, hive}
	}
	return list, nil
}

// schemaFolder is where the tables of a schema are at a snapshot.
func (r *reader) schemaFolder(ctx context.Context, id, n int64, dataPath string) (string, error) {
	return r.below(ctx, "ducklake_schema", fmt.Sprintf("schema_id = %d", id), n, dataPath)
}

// tableFolder is where the files of a table are at a snapshot, in a schema of that folder.
func (r *reader) tableFolder(ctx context.Context, id, n int64, schema string) (string, error) {
	return r.below(ctx, "ducklake_table", fmt.Sprintf("table_id = %d", id), n, schema)
}

// below is the path of the row of a relation that a snapshot sees.
func (r *reader) below(ctx context.Context, relation, where string, n int64, parent string) (string, error) {
	var path string
	var relative bool
	if err := r.tx.QueryRow(ctx, fmt.Sprintf("SELECT coalesce(path, ''), coalesce(path_is_relative, true) FROM %s WHERE %s AND %s", r.rel(relation), where, at("", n))).
		Scan(&path, &relative); err != nil {
		return "", fmt.Errorf("folder of %s at snapshot %d: %w", where, n, err)
	}
	if relative {
		path = parent + path
	}
	return path, nil
}
