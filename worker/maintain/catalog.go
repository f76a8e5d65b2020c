package maintain

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/worker/duck"
)

// Catalog reads what a lake's catalog says, over a connection of its own, and holds the lock
// that keeps other workers away. DuckDB's connections come from a pool and are reset between
// transactions, which lets go of a session's locks.
type Catalog struct {
	conn   *pgx.Conn
	lake   string // metadata schema
	locked bool
	eider  bool
}

// lockClass is the first half of the lock's key, "EIDM" as a number; the second is made from
// the lake's name. Advisory locks are a database's own on PostgreSQL and on Eider.
const lockClass = 0x4549444d

// OpenCatalog connects to the database of a lake and looks whether there is one. lake is its
// metadata schema, "" for public.
func OpenCatalog(ctx context.Context, dsn, lake string) (*Catalog, error) {
	if lake == "" {
		lake = "public"
	}
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("%w: connection string: %w", ErrOption, err)
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect to the catalog: %w", err)
	}
	c := &Catalog{conn: conn, lake: lake}
	var version string
	var tables int
	err = conn.QueryRow(ctx, "SELECT version()").Scan(&version)
	if err == nil {
		err = conn.QueryRow(ctx, "SELECT count(*) FROM information_schema.tables WHERE table_schema = $1 AND table_name = 'ducklake_snapshot'", lake).Scan(&tables)
	}
	if err == nil && tables == 0 {
		err = fmt.Errorf("%w in schema %s of database %s", ErrNoLake, lake, cfg.Database)
	}
	if err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	c.eider = strings.Contains(version, "Eider")
	return c, nil
}

// Lake is the metadata schema.
func (c *Catalog) Lake() string { return c.lake }

// HoldsRowIDs says whether the catalog refuses merges that would give rows other ids: Eider
// does.
func (c *Catalog) HoldsRowIDs() bool { return c.eider }

// Lock takes the lake's lock, or returns ErrBusy.
func (c *Catalog) Lock(ctx context.Context) error {
	var ok bool
	key := int32(crc32.ChecksumIEEE([]byte(c.lake)))
	if err := c.conn.QueryRow(ctx, fmt.Sprintf("SELECT pg_try_advisory_lock(%d, %d)", lockClass, key)).Scan(&ok); err != nil {
		return fmt.Errorf("lock the lake: %w", err)
	}
	if !ok {
		return ErrBusy
	}
	c.locked = true
	return nil
}

// Alive says with an error whether the connection, and with it the lock, is still there.
func (c *Catalog) Alive(ctx context.Context) error {
	if err := c.conn.Ping(ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return nil
}

// Close lets go of the lock and ends the connection.
func (c *Catalog) Close(ctx context.Context) error { return c.conn.Close(ctx) }

// Policies reads eider.policies; ok is false where there is no such table, as on PostgreSQL.
func (c *Catalog) Policies(ctx context.Context) (set *gc.Set, ok bool, err error) {
	var n int
	err = c.conn.QueryRow(ctx, `SELECT count(*) FROM information_schema.columns WHERE table_schema = 'eider' AND table_name = 'policies'
 AND column_name IN ('lake', 'schema_name', 'table_name', 'name', 'value')`).Scan(&n)
	if err != nil || n != 5 {
		return gc.NewSet(nil), false, err
	}
	rows, err := c.conn.Query(ctx, "SELECT coalesce(lake, ''), coalesce(schema_name, ''), coalesce(table_name, ''), coalesce(name, ''), coalesce(value, '') FROM eider.policies")
	if err != nil {
		return nil, false, fmt.Errorf("read policies: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (s gc.Setting, err error) {
		return s, r.Scan(&s.Lake, &s.Schema, &s.Table, &s.Name, &s.Value)
	})
	if err != nil {
		return nil, false, fmt.Errorf("read policies: %w", err)
	}
	return gc.NewSet(list), true, nil
}

// Paused says by whom all maintenance of the catalog, or what workers do, is paused ("eider gc
// pause"); "" if it is not, as on PostgreSQL.
func (c *Catalog) Paused(ctx context.Context) (string, error) {
	if !c.eider {
		return "", nil
	}
	var n int
	err := c.conn.QueryRow(ctx, `SELECT count(*) FROM information_schema.columns WHERE table_schema = 'eider' AND table_name = 'pauses'
 AND column_name IN ('kind', 'paused_by', 'note')`).Scan(&n)
	if err != nil || n != 3 {
		return "", err
	}
	var by, note string
	err = c.conn.QueryRow(ctx, "SELECT coalesce(paused_by, ''), coalesce(note, '') FROM eider.pauses WHERE coalesce(kind, '') IN ('', '"+string(gc.Maintain)+"') LIMIT 1").Scan(&by, &note)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read pauses: %w", err)
	}
	why := "maintenance is paused by " + by
	if note != "" {
		why += ": " + note
	}
	return why, nil
}

// table is a relation of the lake, quoted.
func (c *Catalog) table(name string) string { return duck.Ident(c.lake) + "." + duck.Ident(name) }

// State reads what the lake's live tables have to be done. All of it is of one moment.
func (c *Catalog) State(ctx context.Context, o *Options) (state []Table, err error) {
	tx, err := c.conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, fmt.Errorf("read the catalog: %w", err)
	}
	defer func() {
		if e := tx.Rollback(context.WithoutCancel(ctx)); err == nil && e != nil {
			err = e
		}
	}()
	r := reader{Catalog: c, tx: tx, o: o, byID: map[int64]*Table{}}
	for _, read := range []func(context.Context) error{r.tables, r.targets, r.inlined, r.tiers, r.rewrites} {
		if err := read(ctx); err != nil {
			return nil, fmt.Errorf("read the catalog: %w", err)
		}
	}
	return r.state, nil
}

// reader reads one state.
type reader struct {
	*Catalog
	tx    pgx.Tx
	o     *Options
	state []Table
	byID  map[int64]*Table
}

// each calls f for every row of a query; to are where its columns go.
func (r *reader) each(ctx context.Context, sql string, to []any, f func()) error {
	rows, err := r.tx.Query(ctx, sql)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, to, func() error { f(); return nil })
	return err
}

func (r *reader) tables(ctx context.Context) error {
	var t Table
	err := r.each(ctx, "SELECT t.table_id, s.schema_name, t.table_name FROM "+r.table("ducklake_table")+" t JOIN "+r.table("ducklake_schema")+
		" s ON s.schema_id = t.schema_id WHERE t.end_snapshot IS NULL AND s.end_snapshot IS NULL ORDER BY s.schema_name, t.table_name",
		[]any{&t.ID, &t.Schema, &t.Name}, func() {
			if !r.o.wants(t.Schema, t.Name) {
				return
			}
			t.Rule = r.o.ruleOf(t.Schema, t.Name)
			t.Tiers = make([]TierFiles, len(t.Rule.Tiers))
			r.state = append(r.state, t)
		})
	for i := range r.state {
		r.byID[r.state[i].ID] = &r.state[i]
	}
	return err
}

// targets reads the options target_file_size: a table's own goes before its schema's and
// that before the lake's.
func (r *reader) targets(ctx context.Context) error {
	var value, scope string
	var id int64
	schemas := map[int64]int64{} // of tables
	var table, schema int64
	if err := r.each(ctx, "SELECT table_id, schema_id FROM "+r.table("ducklake_table")+" WHERE end_snapshot IS NULL", []any{&table, &schema},
		func() { schemas[table] = schema }); err != nil {
		return err
	}
	set := map[string]map[int64]int64{}
	err := r.each(ctx, "SELECT value, coalesce(scope, ''), coalesce(scope_id, 0) FROM "+r.table("ducklake_metadata")+" WHERE key = 'target_file_size'",
		[]any{&value, &scope, &id}, func() {
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n <= 0 {
				return // not written by DuckLake; DuckDB's own reading of it counts
			}
			if set[scope] == nil {
				set[scope] = map[int64]int64{}
			}
			set[scope][id] = n
		})
	for i := range r.state {
		t := &r.state[i]
		t.Target = set[""][0]
		if n := set["schema"][schemas[t.ID]]; n > 0 {
			t.Target = n
		}
		if n := set["table"][t.ID]; n > 0 {
			t.Target = n
		}
	}
	return err
}

// unions is how many relations of inlined data one statement counts.
const unions = 50

func (r *reader) inlined(ctx context.Context) error {
	type source struct {
		table int64
		name  string
		rows  bool // rows, else deletes
	}
	var list []source
	var s source
	if err := r.each(ctx, "SELECT table_id, table_name FROM "+r.table("ducklake_inlined_data_tables"), []any{&s.table, &s.name}, func() {
		if r.byID[s.table] != nil {
			list = append(list, source{s.table, s.name, true})
		}
	}); err != nil {
		return err
	}
	const prefix = "ducklake_inlined_delete_"
	if err := r.each(ctx, "SELECT table_name FROM information_schema.tables WHERE table_schema = "+duck.Literal(r.lake)+" AND table_name LIKE "+
		duck.Literal(strings.ReplaceAll(prefix, "_", `\_`)+"%"), []any{&s.name}, func() {
		if id, err := strconv.ParseInt(strings.TrimPrefix(s.name, prefix), 10, 64); err == nil && r.byID[id] != nil {
			list = append(list, source{id, s.name, false})
		}
	}); err != nil {
		return err
	}
	for len(list) > 0 {
		part := list[:min(unions, len(list))]
		list = list[len(part):]
		var q []string
		for i, s := range part {
			q = append(q, fmt.Sprintf("SELECT %d AS i, count(*) AS n FROM %s", i, r.table(s.name)))
		}
		var i int
		var n int64
		if err := r.each(ctx, strings.Join(q, " UNION ALL "), []any{&i, &n}, func() {
			if t := r.byID[part[i].table]; part[i].rows {
				t.InlinedRows += n
			} else {
				t.InlinedDeletes += n
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// tiers counts files by tier, for all tables with the same tiers at once.
func (r *reader) tiers(ctx context.Context) error {
	var all [][]Tier
	tables := map[int][]string{} // ids, by the index in all
	for i := range r.state {
		t := &r.state[i]
		if len(t.Rule.Tiers) == 0 {
			continue
		}
		n := slices.IndexFunc(all, func(o []Tier) bool { return slices.Equal(o, t.Rule.Tiers) })
		if n < 0 {
			n, all = len(all), append(all, t.Rule.Tiers)
		}
		tables[n] = append(tables[n], strconv.FormatInt(t.ID, 10))
	}
	for n, tiers := range all {
		of := ""
		if len(all) > 1 {
			of = " AND f.table_id IN (" + strings.Join(tables[n], ", ") + ")"
		}
		if err := r.tiersOf(ctx, tiers, of); err != nil {
			return err
		}
	}
	return nil
}

// tiersOf counts the files that a condition is true of by tier and, since only files of one
// partition are merged, by partition. A file with deletes is not merged, not even with ones
// that have ended.
func (r *reader) tiersOf(ctx context.Context, tiers []Tier, of string) error {
	tier := "CASE"
	for i, t := range tiers {
		tier += fmt.Sprintf(" WHEN f.file_size_bytes >= %d AND f.file_size_bytes < %d THEN %d", t.Min, t.Max, i)
	}
	sql := "SELECT table_id, tier, CAST(sum(n) AS bigint), CAST(sum(CASE WHEN n > 1 THEN n ELSE 0 END) AS bigint), CAST(sum(CASE WHEN n > 1 THEN size ELSE 0 END) AS bigint) FROM (" +
		"SELECT f.table_id, " + tier + " END AS tier, f.partition_id, p.vals, count(*) AS n, sum(f.file_size_bytes) AS size FROM " + r.table("ducklake_data_file") + " f" +
		" LEFT JOIN (SELECT DISTINCT data_file_id FROM " + r.table("ducklake_delete_file") + ") d ON d.data_file_id = f.data_file_id" +
		" LEFT JOIN (SELECT data_file_id, string_agg(coalesce(partition_value, 'NULL'), '/' ORDER BY partition_key_index) AS vals FROM " +
		r.table("ducklake_file_partition_value") + " GROUP BY data_file_id) p ON p.data_file_id = f.data_file_id" +
		" WHERE f.end_snapshot IS NULL AND d.data_file_id IS NULL" + of + " GROUP BY f.table_id, tier, f.partition_id, p.vals) x WHERE tier IS NOT NULL GROUP BY table_id, tier"
	var table int64
	var i int
	var f TierFiles
	return r.each(ctx, sql, []any{&table, &i, &f.Files, &f.Mergeable, &f.Bytes}, func() {
		if t := r.byID[table]; t != nil {
			t.Tiers[i] = f
		}
	})
}

// rewrites counts files by the deletes of their delete file. Inlined deletes are not counted:
// they are flushed before.
func (r *reader) rewrites(ctx context.Context) error {
	var table, rows, deleted int64
	return r.each(ctx, "SELECT f.table_id, f.record_count, d.delete_count FROM "+r.table("ducklake_data_file")+" f JOIN "+r.table("ducklake_delete_file")+
		" d ON d.data_file_id = f.data_file_id WHERE f.end_snapshot IS NULL AND d.end_snapshot IS NULL AND d.delete_count > 0 AND f.record_count > 0",
		[]any{&table, &rows, &deleted}, func() {
			t := r.byID[table]
			if t == nil || float64(deleted) < t.Rule.DeleteThreshold*float64(rows) {
				return
			}
			t.Rewrite.Files++
			t.Rewrite.Rows += rows
			t.Rewrite.Deleted += deleted
		})
}

// HasServerJobs says whether the catalog's server does expiry, cleanup and orphans itself.
func (c *Catalog) HasServerJobs(ctx context.Context) (bool, error) {
	rows, err := c.conn.Query(ctx, "SELECT * FROM eider.gc_status("+duck.Literal(c.lake)+")")
	if err == nil {
		for rows.Next() {
		}
		err = rows.Err()
	}
	var e *pgconn.PgError
	if errors.As(err, &e) {
		switch e.Code {
		case "42883", "42P01", "3F000", "0A000": // no such function, relation or schema; not here
			return false, nil
		}
	}
	return err == nil, err
}

// ServerJob has the server do a phase for the lake, and waits for its end. What the policies
// turn off, or a pause holds up, is skipped.
func (c *Catalog) ServerJob(ctx context.Context, p Phase) (string, error) {
	kinds := []string{p.String()}
	if p == Expire {
		kinds = append(kinds, "trim") // what expiry leaves without a use
	}
	var said []string
	for _, kind := range kinds {
		var state, counts, failure string
		err := c.conn.QueryRow(ctx, fmt.Sprintf(`SELECT state, coalesce(counts, ''), coalesce(error, '') FROM eider.gc_run(%s, %s, '{"wait": true, "skip": true}')`,
			duck.Literal(c.lake), duck.Literal(kind))).Scan(&state, &counts, &failure)
		if err != nil {
			return strings.Join(said, "; "), err
		}
		if state == "skipped" {
			said = append(said, kind+" "+state+": "+failure)
			continue
		}
		if failure != "" {
			return strings.Join(said, "; "), fmt.Errorf("%w: %s: %s", ErrServerJob, kind, failure)
		}
		said = append(said, strings.TrimSpace(kind+" "+state+" "+counts))
	}
	return strings.Join(said, "; "), nil
}
