package maintain

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/eiderdb/eider/worker/duck"
)

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
	r := reader{Catalog: c, tx: tx, o: o, byID: map[int64]*Table{}, before: map[time.Duration]int64{}}
	for _, read := range []func(context.Context) error{r.tables, r.ages, r.targets, r.inlined, r.tiers, r.rewrites} {
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
	// before has, for each age that a rule names, the first snapshot that is younger: what began
	// before it is of that age.
	before map[time.Duration]int64
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

// ages looks up how old snapshots are. What began in one that has expired is older than all that
// are left, by how much nobody knows: it is of any age.
func (r *reader) ages(ctx context.Context) error {
	for i := range r.state {
		rule := &r.state[i].Rule
		for _, age := range []time.Duration{rule.FlushAge, rule.MergeAge, rule.RewriteAge} {
			if _, ok := r.before[age]; ok || age <= 0 {
				continue
			}
			var first int64
			sql := "SELECT coalesce(min(snapshot_id), 9223372036854775807) FROM " + r.table("ducklake_snapshot") + " WHERE snapshot_time > " + ago(age)
			if err := r.tx.QueryRow(ctx, sql).Scan(&first); err != nil {
				return err
			}
			r.before[age] = first
		}
	}
	return nil
}

// inlinedRelation is a relation of rows or deletes that wait for a flush.
type inlinedRelation struct {
	table int64
	name  string
	rows  bool // rows, else deletes
}

func (r *reader) inlined(ctx context.Context) error {
	list, err := r.sources(ctx)
	if err != nil {
		return err
	}
	sizes, err := r.sizes(ctx, list)
	if err != nil {
		return err
	}
	const unions = 50 // relations that one statement counts
	for part := range slices.Chunk(list, unions) {
		var q []string
		for i, s := range part {
			first, size := "CAST(NULL AS bigint)", "CAST(0 AS bigint)"
			if r.byID[s.table].Rule.FlushAge > 0 {
				first = "min(begin_snapshot)"
			}
			if sizes[s.name] != "" {
				size = sizes[s.name]
			}
			q = append(q, fmt.Sprintf("SELECT %d AS i, count(*) AS n, %s AS first, %s AS size FROM %s", i, first, size, r.table(s.name)))
		}
		var i int
		var n, size int64
		var first *int64
		if err := r.each(ctx, strings.Join(q, " UNION ALL "), []any{&i, &n, &first, &size}, func() {
			t := r.byID[part[i].table]
			if part[i].rows {
				t.InlinedRows += n
			} else {
				t.InlinedDeletes += n
			}
			t.InlinedBytes += size
			t.InlinedOld = t.InlinedOld || first != nil && *first < r.before[t.Rule.FlushAge]
		}); err != nil {
			return err
		}
	}
	return nil
}

// sources lists the relations of inlined data of the tables.
func (r *reader) sources(ctx context.Context) (list []inlinedRelation, err error) {
	var s inlinedRelation
	if err := r.each(ctx, "SELECT table_id, table_name FROM "+r.table("ducklake_inlined_data_tables"), []any{&s.table, &s.name}, func() {
		if r.byID[s.table] != nil {
			list = append(list, inlinedRelation{s.table, s.name, true})
		}
	}); err != nil {
		return nil, err
	}
	const prefix = "ducklake_inlined_delete_"
	err = r.each(ctx, "SELECT table_name FROM information_schema.tables WHERE table_schema = "+duck.Literal(r.lake)+" AND table_name LIKE "+
		duck.Literal(strings.ReplaceAll(prefix, "_", `\_`)+"%"), []any{&s.name}, func() {
		if id, err := strconv.ParseInt(strings.TrimPrefix(s.name, prefix), 10, 64); err == nil && r.byID[id] != nil {
			list = append(list, inlinedRelation{id, s.name, false})
		}
	})
	return list, err
}

// sizes are the expressions that sum up how large the rows of a relation are, their values taken
// as text, by its name. Relations of tables whose rules do not ask have none.
func (r *reader) sizes(ctx context.Context, list []inlinedRelation) (map[string]string, error) {
	wanted := map[string]bool{}
	for _, s := range list {
		if s.rows && r.byID[s.table].Rule.FlushBytes > 0 {
			wanted[s.name] = true
		}
	}
	sizes := map[string]string{}
	if len(wanted) == 0 {
		return sizes, nil
	}
	var name, column, typ string
	err := r.each(ctx, "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = "+duck.Literal(r.lake)+
		" AND column_name NOT IN ('row_id', 'begin_snapshot', 'end_snapshot') ORDER BY table_name, ordinal_position", []any{&name, &column, &typ}, func() {
		if !wanted[name] {
			return
		}
		value := duck.Ident(column)
		if typ != "bytea" {
			value = "CAST(" + value + " AS text)"
		}
		if sizes[name] != "" {
			sizes[name] += " + "
		}
		sizes[name] += "coalesce(octet_length(" + value + "), 0)"
	})
	for name, sum := range sizes {
		sizes[name] = "CAST(coalesce(sum(" + sum + "), 0) AS bigint)"
	}
	return sizes, err
}

// tiers counts files by tier, for all tables with the same tiers and the same age at once.
func (r *reader) tiers(ctx context.Context) error {
	type group struct {
		tiers []Tier
		age   time.Duration
		ids   []string // of tables
	}
	var all []*group
	for i := range r.state {
		t := &r.state[i]
		if len(t.Rule.Tiers) == 0 {
			continue
		}
		n := slices.IndexFunc(all, func(g *group) bool { return g.age == t.Rule.MergeAge && slices.Equal(g.tiers, t.Rule.Tiers) })
		if n < 0 {
			n, all = len(all), append(all, &group{tiers: t.Rule.Tiers, age: t.Rule.MergeAge})
		}
		all[n].ids = append(all[n].ids, strconv.FormatInt(t.ID, 10))
	}
	for _, g := range all {
		of := ""
		if len(all) > 1 {
			of = " AND f.table_id IN (" + strings.Join(g.ids, ", ") + ")"
		}
		if err := r.tiersOf(ctx, g.tiers, r.before[g.age], of); err != nil {
			return err
		}
	}
	return nil
}

// tiersOf counts the files that a condition is true of by tier and, since only files of one
// partition are merged, by partition. A file with deletes is not merged, not even with ones
// that have ended. Files are old that began before a snapshot.
func (r *reader) tiersOf(ctx context.Context, tiers []Tier, before int64, of string) error {
	tier := "CASE"
	for i, t := range tiers {
		tier += fmt.Sprintf(" WHEN f.file_size_bytes >= %d AND f.file_size_bytes < %d THEN %d", t.Min, t.Max, i)
	}
	sum := func(value, when string) string {
		return "CAST(sum(CASE WHEN " + when + " THEN " + value + " ELSE 0 END) AS bigint)"
	}
	sql := "SELECT table_id, tier, CAST(sum(n) AS bigint), " + sum("n", "n > 1") + ", " + sum("size", "n > 1") + ", " + sum("size - largest", "n > 1") + ", " + sum("old", "old > 1") + " FROM (" +
		"SELECT f.table_id, " + tier + " END AS tier, f.partition_id, p.vals, count(*) AS n, sum(f.file_size_bytes) AS size, max(f.file_size_bytes) AS largest, " +
		fmt.Sprintf("sum(CASE WHEN f.begin_snapshot < %d THEN 1 ELSE 0 END) AS old", before) + " FROM " + r.table("ducklake_data_file") + " f" +
		" LEFT JOIN (SELECT DISTINCT data_file_id FROM " + r.table("ducklake_delete_file") + ") d ON d.data_file_id = f.data_file_id" +
		" LEFT JOIN (SELECT data_file_id, string_agg(coalesce(partition_value, 'NULL'), '/' ORDER BY partition_key_index) AS vals FROM " +
		r.table("ducklake_file_partition_value") + " GROUP BY data_file_id) p ON p.data_file_id = f.data_file_id" +
		" WHERE f.end_snapshot IS NULL AND d.data_file_id IS NULL" + of + " GROUP BY f.table_id, tier, f.partition_id, p.vals) x WHERE tier IS NOT NULL GROUP BY table_id, tier"
	var table int64
	var i int
	var f TierFiles
	return r.each(ctx, sql, []any{&table, &i, &f.Files, &f.Mergeable, &f.Bytes, &f.Waiting, &f.Old}, func() {
		if t := r.byID[table]; t != nil {
			t.Tiers[i] = f
		}
	})
}

// rewrites counts files by the deletes of their delete file. Inlined deletes are not counted:
// they are flushed before. A delete file is replaced by each later delete, so a file's first one
// says how old its deletes are.
func (r *reader) rewrites(ctx context.Context) error {
	first := map[int64]int64{}
	var table, file, rows, deleted, size, begin int64
	if slices.ContainsFunc(r.state, func(t Table) bool { return t.Rule.RewriteAge > 0 }) {
		if err := r.each(ctx, "SELECT data_file_id, min(begin_snapshot) FROM "+r.table("ducklake_delete_file")+" GROUP BY data_file_id",
			[]any{&file, &begin}, func() { first[file] = begin }); err != nil {
			return err
		}
	}
	return r.each(ctx, "SELECT f.table_id, f.data_file_id, f.record_count, f.file_size_bytes, d.delete_count FROM "+r.table("ducklake_data_file")+" f JOIN "+r.table("ducklake_delete_file")+
		" d ON d.data_file_id = f.data_file_id WHERE f.end_snapshot IS NULL AND d.end_snapshot IS NULL AND d.delete_count > 0 AND f.record_count > 0",
		[]any{&table, &file, &rows, &size, &deleted}, func() {
			if t := r.byID[table]; t != nil {
				begin, ok := first[file]
				t.Rewrite.add(&t.Rule, rows, deleted, size, ok && begin < r.before[t.Rule.RewriteAge])
			}
		})
}
