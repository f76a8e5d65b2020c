package expire

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/sweep"
)

// byTable are the snapshots that policies do not keep, of which some are for a schema or
// table: a snapshot is kept if the policy of a table that it changed, or dropped, keeps it,
// where the newest so many are counted among those that changed the table. What a snapshot did
// besides, and one whose changes cannot be read, counts by the lake's own policy.
//
// A table is its name: one that was replaced has another id, and its past counts with that
// of its successor.
func byTable(ctx context.Context, l meta.Lake, p *gc.Policies, now time.Time) ([]sweep.Range, error) {
	tables, err := tableRetentions(ctx, l, p)
	if err != nil {
		return nil, err
	}
	own := p.Retention()
	goes, newer := &sweep.IDs{}, map[string]int64{}
	all := int64(0)
	snapshots, changes := l.Table(meta.SnapshotTable), l.Table("ducklake_snapshot_changes")
	id, at := snapshots.Column("snapshot_id"), snapshots.Column("snapshot_time")
	err = snapshots.Scan(ctx, func(x *meta.Row) error {
		n, ok := id.Int(x)
		micros, timed := at.Micros(x)
		if !ok || !timed {
			return nil
		}
		c, _, err := changes.One(ctx, meta.Is("snapshot_id", n))
		if err != nil {
			return err
		}
		age := now.Sub(time.UnixMicro(micros))
		changed, rest := changedTables(textOf(&c), tables)
		keep := rest && own.Keeps(age, all)
		for name, r := range changed {
			keep = keep || r.Keeps(age, newer[name])
			newer[name]++
		}
		all++
		if !keep {
			goes.Add(n)
		}
		return nil
	}, meta.From("snapshot_id", math.MinInt64), meta.Reverse())
	ranges := goes.Ranges()
	if ranges == nil {
		ranges = []sweep.Range{}
	}
	return ranges, err
}

// textOf is the text of a row of ducklake_snapshot_changes, "" when there is none.
func textOf(x *meta.Row) string {
	if x.Tuple == nil {
		return ""
	}
	return x.Text("changes_made")
}

// named is a table by its last name, with its retention.
type named struct {
	name string // of schema and table, quoted
	gc.Retention
}

// changedTables are the tables with a retention of their own that a snapshot changed; rest
// says that it did something else.
func changedTables(text string, own map[int64][]named) (tables map[string]gc.Retention, rest bool) {
	list, err := conflict.ParseChanges(text)
	if err != nil || len(list) == 0 {
		return nil, true
	}
	tables = map[string]gc.Retention{}
	for _, c := range list {
		of := own[c.ID]
		if len(of) == 0 || c.Schema != "" {
			rest = true
			continue
		}
		for _, n := range of {
			tables[n.name] = n.Retention
		}
	}
	return tables, rest
}

// last are the rows of the last version of something.
type last struct {
	begin int64
	live  bool
	rows  []nameIn
}

// nameIn is a name and the id of the schema that it is in.
type nameIn struct {
	schema int64
	name   string
}

// lastNames reads the name of each id of a table: that of the live version, else of the one
// that began last. Where several are, all of them count.
func lastNames(ctx context.Context, t meta.Table, idColumn, nameColumn string) (map[int64]*last, error) {
	out := map[int64]*last{}
	err := t.Scan(ctx, func(x *meta.Row) error {
		id, ok := x.Int(idColumn)
		if !ok {
			return nil
		}
		span, l := x.Span(), out[id]
		live := !span.Ended
		switch {
		case l == nil || live && !l.live || live == l.live && span.Begin > l.begin:
			l = &last{begin: span.Begin, live: live}
			out[id] = l
		case live != l.live || span.Begin < l.begin:
			return nil
		}
		l.rows = append(l.rows, nameIn{x.Num("schema_id"), x.Text(nameColumn)})
		return nil
	})
	return out, err
}

// tableRetentions are the retentions of tables, whether they have ended or not, that differ
// from the lake's. A table that has several names has each of their retentions: the longest
// counts.
func tableRetentions(ctx context.Context, l meta.Lake, p *gc.Policies) (map[int64][]named, error) {
	schemas, err := lastNames(ctx, l.Table("ducklake_schema"), "schema_id", "schema_name")
	if err != nil {
		return nil, err
	}
	tables, err := lastNames(ctx, l.Table("ducklake_table"), "table_id", "table_name")
	if err != nil {
		return nil, err
	}
	out, own := map[int64][]named{}, p.Retention()
	for id, t := range tables {
		var all []named
		other := false
		for _, x := range t.rows {
			in := []nameIn{{}}
			if s := schemas[x.schema]; s != nil {
				in = s.rows
			}
			for _, s := range in {
				r := p.TableRetention(s.name, x.name)
				other = other || r != own
				all = append(all, named{fmt.Sprintf("%q.%q", s.name, x.name), r})
			}
		}
		if other {
			out[id] = all
		}
	}
	return out, nil
}
