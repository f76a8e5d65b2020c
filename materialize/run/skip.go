package run

import (
	"context"
	"fmt"
	"slices"
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
// table with partitions it says only whether it is gone, or another one: other slices change it all
// the time.
func (a *attempt) targetChanged(ctx context.Context, since int64) (bool, error) {
	t := a.target()
	if a.job.Script.Spec != nil {
		began, ok, err := a.source.Began(ctx, state.TableName{Schema: t.Schema, Name: t.Name})
		return !ok || began > since, err
	}
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

// heads are the newest snapshots of lakes, each as of when it was first asked for.
type heads struct {
	*attempt
	lakes *connections
	of    map[string]int64
}

func (a *attempt) heads() *heads {
	return &heads{a, newConnections(a.Lake), map[string]int64{}}
}

// source connects to a lake and notes its head, which is done once.
func (h *heads) source(ctx context.Context, name string) (*state.Source, error) {
	if lake, err := h.Lake(name); err == nil && lake == h.lake && h.attempt.source != nil {
		h.lakes.lend(name, h.attempt.source)
	}
	src, err := h.lakes.source(ctx, name)
	if _, noted := h.of[name]; err != nil || noted {
		return src, err
	}
	head, err := src.Head(ctx)
	if err != nil {
		return nil, err
	}
	if v, ok := h.version(name); ok {
		head = v
	}
	h.of[name] = head
	return src, nil
}

// view gives the SELECTs of the views that the script reads: they read tables in their turn.
func (h *heads) view(ctx context.Context) func(LakeTable) (string, bool) {
	return func(t LakeTable) (string, bool) {
		src, err := h.source(ctx, t.Lake)
		if err != nil {
			return "", false
		}
		sql, err := src.View(ctx, state.TableName{Schema: t.Schema, Name: t.Name}, t.Lake)
		return sql, err == nil && sql != ""
	}
}

// sources notes the newest snapshots of the lakes that are read, before they are: what changes after
// that is seen by the next run. Tables that the script only runs after are noted with them.
func (a *attempt) sources(ctx context.Context, h *heads) {
	a.run.Sources = map[string]int64{}
	if a.reads.Unknown != "" {
		a.run.Sources[more] = 0
	}
	for _, t := range append(slices.Clone(a.reads.Tables), triggerTables(a.Project, a.job.Script)...) {
		if t.fold() == a.target().fold() {
			continue
		}
		if _, err := h.source(ctx, t.Lake); err != nil {
			a.run.Sources[more] = 0
			continue
		}
		a.run.Sources[t.key()] = h.of[t.Lake]
	}
}
