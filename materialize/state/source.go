package state

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/eiderdb/eider/conflict"
)

// Channel is where Eider notifies its listeners of commits. Other catalogs notify nobody.
const Channel = "eider_commit"

// Source is a lake that is read: a connection to its catalog. It is not for concurrent use.
type Source struct {
	conn   *pgx.Conn
	cfg    *pgx.ConnConfig
	schema string // metadata schema, quoted
	eider  bool
}

// OpenSource connects to a lake's catalog; schema is its metadata schema, "" for public.
func OpenSource(ctx context.Context, dsn, schema string) (*Source, error) {
	if schema == "" {
		schema = "public"
	}
	cfg, err := config(dsn, "eider materialize")
	if err != nil {
		return nil, err
	}
	s := &Source{cfg: cfg, schema: pgx.Identifier{schema}.Sanitize()}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	var version string
	var tables int
	err = s.conn.QueryRow(ctx, "SELECT version()").Scan(&version)
	if err == nil {
		err = s.conn.QueryRow(ctx, "SELECT count(*) FROM information_schema.tables WHERE table_schema = $1 AND table_name = 'ducklake_snapshot'", schema).Scan(&tables)
	}
	if err == nil && tables == 0 {
		err = fmt.Errorf("%w in schema %s of database %s", ErrNoLake, schema, cfg.Database)
	}
	if err != nil {
		_ = s.conn.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	s.eider = strings.Contains(version, "Eider")
	return s, nil
}

// connect makes a new connection. When it fails the old one stays: a closed one, of which there is an error to be had.
func (s *Source) connect(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, s.cfg.Copy())
	if err != nil {
		return fmt.Errorf("%w: %w", ErrConnect, err)
	}
	s.conn = conn
	return nil
}

// Close ends the connection.
func (s *Source) Close(ctx context.Context) error { return s.conn.Close(ctx) }

// Head returns the lake's newest snapshot.
func (s *Source) Head(ctx context.Context) (head int64, err error) {
	if err := s.conn.QueryRow(ctx, "SELECT coalesce(max(snapshot_id), -1) FROM "+s.schema+".ducklake_snapshot").Scan(&head); err != nil {
		return 0, fmt.Errorf("read the lake's head: %w", err)
	}
	return head, nil
}

// TableName names a table, or a view, of a lake.
type TableName struct {
	Schema, Name string
}

// Change says what has become of a table since a snapshot.
type Change struct {
	// Known is false when it cannot be told: there is no table of that name, or snapshots
	// since then have been expired.
	Known bool
	// Snapshot is the newest snapshot that changed the table's rows or columns, 0 when none did.
	Snapshot int64
}

// Changes says for each table whether a snapshot after since has changed its rows or columns.
// A merge, a rewrite and a flush change neither.
func (s *Source) Changes(ctx context.Context, since int64, tables []TableName) (map[TableName]Change, error) {
	out := make(map[TableName]Change, len(tables))
	err := pgx.BeginTxFunc(ctx, s.conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		ids, err := s.named(ctx, tx, tables)
		if err != nil {
			return err
		}
		var kept int64
		if err := tx.QueryRow(ctx, "SELECT count(*) FROM "+s.schema+".ducklake_snapshot WHERE snapshot_id >= $1", since).Scan(&kept); err != nil {
			return err
		}
		var head int64
		if err := tx.QueryRow(ctx, "SELECT coalesce(max(snapshot_id), -1) FROM "+s.schema+".ducklake_snapshot").Scan(&head); err != nil {
			return err
		}
		// Snapshot ids have no gaps, so a missing one has been expired.
		gone := kept != head-since+1
		newest, err := s.newest(ctx, tx, since)
		if err != nil {
			return err
		}
		for _, t := range tables {
			at, ok := ids[t]
			c := Change{Known: ok}
			for _, id := range at.ids {
				c.Snapshot = max(c.Snapshot, newest[id])
			}
			if at.begin > since {
				c.Snapshot = max(c.Snapshot, at.begin)
			}
			if gone && c.Snapshot == 0 {
				c.Known = false
			}
			out[t] = c
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read what has changed since snapshot %d: %w", since, err)
	}
	return out, nil
}

// Began returns the snapshot that made the table, or that gave it its name; ok is false where there is none.
func (s *Source) Began(ctx context.Context, t TableName) (snapshot int64, ok bool, err error) {
	err = pgx.BeginTxFunc(ctx, s.conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		found, err := s.named(ctx, tx, []TableName{t})
		snapshot, ok = found[t].begin, len(found) > 0
		return err
	})
	if err != nil {
		return 0, false, fmt.Errorf("look for the table: %w", err)
	}
	return snapshot, ok, nil
}

// object is a live table or view: its id and the snapshot in which its row began.
type object struct {
	ids   []int64
	begin int64
}

func (s *Source) named(ctx context.Context, tx pgx.Tx, want []TableName) (map[TableName]object, error) {
	wanted := make(map[TableName]TableName, len(want)) // DuckDB's names are the same in any case
	for _, t := range want {
		wanted[lower(t)] = t
	}
	out := map[TableName]object{}
	var t TableName
	var id, begin int64
	for _, what := range []string{"table", "view"} {
		rows, err := tx.Query(ctx, "SELECT s.schema_name, t."+what+"_name, t."+what+"_id, t.begin_snapshot FROM "+s.schema+".ducklake_"+what+" t JOIN "+
			s.schema+".ducklake_schema s ON s.schema_id = t.schema_id WHERE t.end_snapshot IS NULL AND s.end_snapshot IS NULL")
		if err != nil {
			return nil, err
		}
		if _, err := pgx.ForEachRow(rows, []any{&t.Schema, &t.Name, &id, &begin}, func() error {
			if asked, ok := wanted[lower(t)]; ok {
				o := out[asked]
				out[asked] = object{append(o.ids, id), max(o.begin, begin)}
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func lower(t TableName) TableName {
	return TableName{strings.ToLower(t.Schema), strings.ToLower(t.Name)}
}

// newest returns by id the newest snapshot after since that changed rows or columns.
func (s *Source) newest(ctx context.Context, tx pgx.Tx, since int64) (map[int64]int64, error) {
	out := map[int64]int64{}
	rows, err := tx.Query(ctx, "SELECT snapshot_id, coalesce(changes_made, '') FROM "+s.schema+".ducklake_snapshot_changes WHERE snapshot_id > $1", since)
	if err != nil {
		return nil, err
	}
	var snapshot int64
	var made string
	_, err = pgx.ForEachRow(rows, []any{&snapshot, &made}, func() error {
		changes, err := conflict.ParseChanges(made)
		if err != nil {
			return fmt.Errorf("snapshot %d: %w", snapshot, err)
		}
		for _, c := range changes {
			if changesRows(c.Kind) {
				out[c.ID] = max(out[c.ID], snapshot)
			}
		}
		return nil
	})
	return out, err
}

// Commit is a snapshot that changed a table's rows or columns.
type Commit struct {
	Snapshot int64
	Time     time.Time
	// Extra is what the snapshot says of itself besides its message, "" for nothing.
	Extra string
}

// maxCommits bounds how many snapshots are looked at: of more, the newest count.
const maxCommits = 10_000

// Commits returns for each table the snapshots after since that changed it, the oldest first. A table that is not there has none.
func (s *Source) Commits(ctx context.Context, since int64, tables []TableName) (map[TableName][]Commit, error) {
	out := map[TableName][]Commit{}
	err := pgx.BeginTxFunc(ctx, s.conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		objects, err := s.named(ctx, tx, tables)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, fmt.Sprintf("SELECT c.snapshot_id, s.snapshot_time, coalesce(c.changes_made, ''), coalesce(c.commit_extra_info, '') FROM "+
			s.schema+".ducklake_snapshot_changes c JOIN "+s.schema+".ducklake_snapshot s ON s.snapshot_id = c.snapshot_id WHERE c.snapshot_id > $1 ORDER BY c.snapshot_id DESC LIMIT %d", maxCommits), since)
		if err != nil {
			return err
		}
		var c Commit
		var made string
		_, err = pgx.ForEachRow(rows, []any{&c.Snapshot, &c.Time, &made, &c.Extra}, func() error {
			changes, err := conflict.ParseChanges(made)
			if err != nil {
				return fmt.Errorf("snapshot %d: %w", c.Snapshot, err)
			}
			for t, o := range objects {
				if o.begin == c.Snapshot || slices.ContainsFunc(changes, func(ch conflict.Change) bool { return changesRows(ch.Kind) && slices.Contains(o.ids, ch.ID) }) {
					out[t] = append(out[t], c)
				}
			}
			return nil
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the commits since snapshot %d: %w", since, err)
	}
	for t := range out {
		slices.Reverse(out[t])
	}
	return out, nil
}

// RunSnapshot returns the snapshot whose extra information is JSON with "run" being the run's id; nil if there
// is none, because nothing was committed or it has been expired.
func (s *Source) RunSnapshot(ctx context.Context, run string) (snapshot *int64, err error) {
	if err := s.conn.QueryRow(ctx, "SELECT max(snapshot_id) FROM "+s.schema+".ducklake_snapshot_changes WHERE commit_extra_info LIKE $1", `%"run":"`+run+`"%`).Scan(&snapshot); err != nil {
		return nil, fmt.Errorf("look for the run's snapshot: %w", err)
	}
	return snapshot, nil
}

// changesRows says whether a change is one of rows or columns: a merge, a rewrite and a flush are not.
func changesRows(k conflict.ChangeKind) bool {
	switch k {
	case conflict.InsertedIntoTable, conflict.DeletedFromTable, conflict.AlteredTable, conflict.AlteredView, conflict.InlinedInsert, conflict.InlinedDelete,
		conflict.DroppedTable, conflict.DroppedView:
		return true
	}
	return false
}

// PartitionedBy returns the columns that a table is partitioned by as they are, in their order;
// a column with a transform is given as transform(column). Nil for a table that is not partitioned.
func (s *Source) PartitionedBy(ctx context.Context, t TableName) (by []string, err error) {
	rows, err := s.conn.Query(ctx, "SELECT c.column_name, p.transform FROM "+s.schema+".ducklake_table t JOIN "+s.schema+".ducklake_schema s ON s.schema_id = t.schema_id"+
		" JOIN "+s.schema+".ducklake_partition_info i ON i.table_id = t.table_id AND i.end_snapshot IS NULL"+
		" JOIN "+s.schema+".ducklake_partition_column p ON p.table_id = t.table_id AND p.partition_id = i.partition_id"+
		" JOIN "+s.schema+".ducklake_column c ON c.table_id = t.table_id AND c.column_id = p.column_id AND c.end_snapshot IS NULL"+
		" WHERE t.end_snapshot IS NULL AND s.end_snapshot IS NULL AND lower(s.schema_name) = lower($1) AND lower(t.table_name) = lower($2) ORDER BY p.partition_key_index", t.Schema, t.Name)
	if err != nil {
		return nil, fmt.Errorf("read the partitioning: %w", err)
	}
	var column, transform string
	if _, err = pgx.ForEachRow(rows, []any{&column, &transform}, func() error {
		if transform != "identity" {
			column = transform + "(" + column + ")"
		}
		by = append(by, column)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read the partitioning: %w", err)
	}
	return by, nil
}

// viewCatalog stands in views for the catalog that they are in, whatever that is called.
const viewCatalog = "{DUCKLAKE_CATALOG}"

// View returns the SELECT of a view, in which catalog names the lake; "" if there is none of that
// name.
func (s *Source) View(ctx context.Context, t TableName, catalog string) (sql string, err error) {
	err = s.conn.QueryRow(ctx, "SELECT v.sql FROM "+s.schema+".ducklake_view v JOIN "+s.schema+".ducklake_schema s ON s.schema_id = v.schema_id"+
		" WHERE v.end_snapshot IS NULL AND s.end_snapshot IS NULL AND lower(s.schema_name) = lower($1) AND lower(v.view_name) = lower($2)", t.Schema, t.Name).Scan(&sql)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the view: %w", err)
	}
	return strings.ReplaceAll(sql, viewCatalog, pgx.Identifier{catalog}.Sanitize()), nil
}

// Columns returns the names of a table's columns in their order, nil if there is none of that name.
func (s *Source) Columns(ctx context.Context, t TableName) ([]string, error) {
	rows, err := s.conn.Query(ctx, "SELECT c.column_name FROM "+s.schema+".ducklake_table t JOIN "+s.schema+".ducklake_schema s ON s.schema_id = t.schema_id"+
		" JOIN "+s.schema+".ducklake_column c ON c.table_id = t.table_id AND c.end_snapshot IS NULL AND c.parent_column IS NULL"+
		" WHERE t.end_snapshot IS NULL AND s.end_snapshot IS NULL AND lower(s.schema_name) = lower($1) AND lower(t.table_name) = lower($2) ORDER BY c.column_order", t.Schema, t.Name)
	if err != nil {
		return nil, fmt.Errorf("read the columns: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("read the columns: %w", err)
	}
	return list, nil
}

// WaitOptions says how commits are waited for. The zero value is right.
type WaitOptions struct {
	// Poll is how often the head is looked at where the catalog notifies nobody; 0 for 2 s.
	Poll time.Duration
	// Anyway is how often it is looked at where the catalog does; 0 for 30 s.
	Anyway time.Duration
	// Longest is the longest pause before a lost connection is made again; 0 for 30 s.
	Longest time.Duration
}

// Follow calls each with the lake's head, first with the one that it finds and then whenever it has
// become another, until ctx ends; it returns ctx's error. A lost connection is made again after
// pauses that double; lost, which may be nil, hears of it.
func (s *Source) Follow(ctx context.Context, o WaitOptions, each func(head int64), lost func(error)) error {
	if o.Poll <= 0 {
		o.Poll = 2 * time.Second
	}
	if o.Anyway <= 0 {
		o.Anyway = 30 * time.Second
	}
	if o.Longest <= 0 {
		o.Longest = 30 * time.Second
	}
	last, pause := int64(-2), time.Duration(0)
	for {
		err := s.follow(ctx, o, func(head int64) {
			pause = 0
			if head != last {
				last = head
				each(head)
			}
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if lost != nil {
			lost(err)
		}
		pause = min(max(2*pause, 100*time.Millisecond), o.Longest)
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
		_ = s.conn.Close(ctx)
		if err := s.connect(ctx); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// follow does it over one connection, until that fails.
func (s *Source) follow(ctx context.Context, o WaitOptions, head func(int64)) error {
	if s.conn.IsClosed() {
		return ErrLost
	}
	every := o.Poll
	if s.eider {
		every = o.Anyway
		if _, err := s.conn.Exec(ctx, "LISTEN "+Channel); err != nil {
			return err
		}
	}
	for {
		now, err := s.Head(ctx)
		if err != nil {
			return err
		}
		head(now)
		wait, cancel := context.WithTimeout(ctx, every)
		if s.eider {
			_, err = s.conn.WaitForNotification(wait)
		} else {
			<-wait.Done()
			err = wait.Err()
		}
		cancel()
		if err != nil && (ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
			return err
		}
	}
}
