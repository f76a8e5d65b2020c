package run

import (
	"context"
	"fmt"
	"strings"

	"github.com/eiderdb/eider/materialize/plan"
	"github.com/eiderdb/eider/materialize/state"
)

// unchanged says why a run would change nothing; "" if it may: the last run of the slice is materialized,
// the script is the same, and so is each table that it read. It is told without DuckDB, from
// that run's record.
func (a *attempt) unchanged(ctx context.Context) (string, error) {
	if a.o.Force || a.job.Force || len(a.o.AtVersion) > 0 || a.plan == nil {
		return "", nil
	}
	last, err := a.store.Runs(ctx, state.Filter{Asset: a.run.Asset, Partition: &a.job.Partition, NotSkipped: true, Limit: 1})
	if err != nil || len(last) == 0 {
		return "", err
	}
	r := last[0]
	if r.Status != state.Materialized || r.ScriptHash != a.job.Script.Hash || r.Script != a.job.Script.Name || r.Sources == nil || incomplete(r.Sources) || r.Snapshot == nil {
		return "", nil
	}
	if changed, err := a.targetChanged(ctx, *r.Snapshot); err != nil || changed {
		return "", err
	}
	changed, err := a.changedSince(ctx, r.Sources)
	if err != nil || changed != "" {
		return "", err
	}
	return fmt.Sprintf("nothing has changed since the run of %s", r.Started.Format("2006-01-02 15:04:05Z")), nil
}

// targetChanged says whether somebody may have written, dropped or restored the table since. Of a
// table with partitions it says only whether it is gone: other slices change it all the time.
func (a *attempt) targetChanged(ctx context.Context, since int64) (bool, error) {
	if a.job.Script.Spec != nil {
		var err error
		if since, err = a.source.Head(ctx); err != nil {
			return false, err
		}
	}
	t := a.target()
	changed, err := changedIn(ctx, a.source, map[int64][]state.TableName{since: {{Schema: t.Schema, Name: t.Name}}})
	return changed != "", err
}

func (a *attempt) target() LakeTable {
	schema, name := plan.SplitTable(a.job.Script.Asset().Table())
	return LakeTable{a.job.Script.Asset().Lake(), schema, name}
}

// changedSince names a table that has changed, or of which that is not known, since the snapshots of a
// record; "" if there is none.
func (r *Runner) changedSince(ctx context.Context, sources map[string]int64) (string, error) {
	byLake := map[string]map[int64][]state.TableName{}
	for key, snapshot := range sources {
		t, ok := parseKey(key)
		if !ok {
			return key, nil
		}
		if byLake[t.Lake] == nil {
			byLake[t.Lake] = map[int64][]state.TableName{}
		}
		byLake[t.Lake][snapshot] = append(byLake[t.Lake][snapshot], state.TableName{Schema: t.Schema, Name: t.Name})
	}
	for name, since := range byLake {
		lake, err := r.Lake(name)
		if err != nil {
			return "", err
		}
		src, err := state.OpenSource(ctx, lake.DSN, lake.Schema)
		if err != nil {
			return "", err
		}
		changed, err := changedIn(ctx, src, since)
		_ = src.Close(context.WithoutCancel(ctx))
		if err != nil || changed != "" {
			return changed, err
		}
	}
	return "", nil
}

func changedIn(ctx context.Context, src *state.Source, since map[int64][]state.TableName) (string, error) {
	for snapshot, tables := range since {
		changes, err := src.Changes(ctx, snapshot, tables)
		if err != nil {
			return "", err
		}
		for t, c := range changes {
			if !c.Known || c.Snapshot > snapshot {
				return t.Schema + "." + t.Name, nil
			}
		}
	}
	return "", nil
}

// parseKey reads LAKE/SCHEMA.TABLE. Only the table's name may have further dots.
func parseKey(key string) (LakeTable, bool) {
	lake, table, ok := strings.Cut(key, "/")
	if !ok {
		return LakeTable{}, false
	}
	schema, name, ok := strings.Cut(table, ".")
	return LakeTable{lake, schema, name}, ok
}

// more is the key in a record of sources that says that there are others, which are not known.
const more = "?"

func incomplete(sources map[string]int64) bool {
	_, ok := sources[more]
	return ok
}

// sources notes the newest snapshots of the lakes that are read, before they are: what changes after
// that is seen by the next run. Tables that the script only runs after are noted with them.
func (a *attempt) sources(ctx context.Context) {
	a.run.Sources = map[string]int64{}
	heads := map[string]int64{}
	lakes := map[string]*state.Source{}
	defer func() {
		for _, src := range lakes {
			if src != a.source {
				_ = src.Close(context.WithoutCancel(ctx))
			}
		}
	}()
	head := func(t LakeTable) bool {
		if _, ok := heads[t.Lake]; ok {
			return true
		}
		lake, err := a.Lake(t.Lake)
		if err != nil {
			return false
		}
		src := a.source
		if lake != a.lake {
			if src, err = state.OpenSource(ctx, lake.DSN, lake.Schema); err != nil {
				return false
			}
		}
		lakes[t.Lake] = src
		if heads[t.Lake], err = src.Head(ctx); err != nil {
			delete(heads, t.Lake)
			return false
		}
		if v, ok := a.version(t.Lake); ok {
			heads[t.Lake] = v
		}
		return true
	}
	note := func(tables []LakeTable) {
		for _, t := range tables {
			switch {
			case t.fold() == a.target().fold():
			case head(t):
				a.run.Sources[t.key()] = heads[t.Lake]
			default:
				a.run.Sources[more] = 0
			}
		}
	}
	note(a.reads.Tables)
	reads := a.reads
	if reads.Unknown == "" && len(reads.Tables) > 0 {
		// Views of lakes read tables in their turn.
		var err error
		reads, err = Analyse(ctx, a.db, a.Project, a.job.Script, func(t LakeTable) (string, bool) {
			src := lakes[t.Lake]
			if src == nil {
				return "", false
			}
			sql, err := src.View(ctx, state.TableName{Schema: t.Schema, Name: t.Name}, t.Lake)
			return sql, err == nil && sql != ""
		})
		if err != nil {
			reads.Unknown = err.Error()
		}
		note(reads.Tables)
	}
	if reads.Unknown != "" {
		a.run.Sources[more] = 0
	}
	note(triggerTables(a.Project, a.job.Script))
}
