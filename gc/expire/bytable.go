package expire

import (
	"context"
	"math"
	"time"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/sweep"
)

// byTable are the snapshots that policies do not keep, of which some are for a schema or
// table: a snapshot is kept if the policy of a table that it changed keeps it, where the
// newest so many are counted among those that changed the table. What a snapshot did besides,
// and one whose changes cannot be read, counts by the lake's own policy.
func byTable(ctx context.Context, l meta.Lake, p *gc.Policies, now time.Time) ([]sweep.Range, error) {
	tables, err := tableRetentions(ctx, l, p)
	if err != nil {
		return nil, err
	}
	own := p.Retention()
	goes, newer := &sweep.IDs{}, map[int64]int64{}
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
		for _, t := range changed {
			keep = keep || tables[t].Keeps(age, newer[t])
			newer[t]++
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

// changedTables are the tables with a retention of their own that a snapshot changed; rest
// says that it did something else.
func changedTables(text string, own map[int64]gc.Retention) (ids []int64, rest bool) {
	list, err := conflict.ParseChanges(text)
	if err != nil || len(list) == 0 {
		return nil, true
	}
	seen := map[int64]bool{}
	for _, c := range list {
		_, ours := own[c.ID]
		switch {
		case !ours || c.Schema != "":
			rest = true
		case !seen[c.ID]:
			seen[c.ID] = true
			ids = append(ids, c.ID)
		}
	}
	return ids, rest
}

// tableRetentions are the retentions of live tables that differ from the lake's.
func tableRetentions(ctx context.Context, l meta.Lake, p *gc.Policies) (map[int64]gc.Retention, error) {
	schemas := map[int64]string{}
	err := l.Table("ducklake_schema").Scan(ctx, func(x *meta.Row) error {
		schemas[x.Num("schema_id")] = x.Text("schema_name")
		return nil
	}, meta.Null("end_snapshot"))
	if err != nil {
		return nil, err
	}
	out, own := map[int64]gc.Retention{}, p.Retention()
	err = l.Table("ducklake_table").Scan(ctx, func(x *meta.Row) error {
		if r := p.TableRetention(schemas[x.Num("schema_id")], x.Text("table_name")); r != own {
			out[x.Num("table_id")] = r
		}
		return nil
	}, meta.Null("end_snapshot"))
	return out, err
}
