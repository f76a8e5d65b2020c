package jobs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv/store"
)

// Tag is a row of eider.tags: a name for a snapshot, which keeps it.
type Tag struct {
	Lake     string
	Name     string
	Snapshot int64
	Created  time.Time
	Note     string
}

const tagsTable = "tags"

var tagsColumns = []meta.ColumnDef{
	{Name: "lake", Type: meta.Text},
	{Name: "tag", Type: meta.Text},
	{Name: "snapshot_id", Type: meta.Int8},
	{Name: "created_at", Type: meta.Timestamptz},
	{Name: "note", Type: meta.Text},
}

// SetTag names a snapshot. A negative one stands for the newest. A tag that is there already
// moves only if move is set. It returns the tag as it is.
func (m *Manager) SetTag(ctx context.Context, catalog string, tag Tag, move bool) (Tag, error) {
	cat, err := m.catalog(catalog)
	if err != nil {
		return tag, err
	}
	if strings.TrimSpace(tag.Name) == "" {
		return tag, fmt.Errorf("%w: it has no name", ErrTag)
	}
	asked := tag.Snapshot
	err = meta.Do(ctx, cat, m.o.Committer, func(txn *store.Txn) error {
		l, err := meta.Open(txn, tag.Lake)
		if err != nil {
			return fmt.Errorf("%w: %q", ErrNoLake, tag.Lake)
		}
		snapshots := l.Table(meta.SnapshotTable)
		conds := []meta.Cond{meta.Is("snapshot_id", asked)}
		if asked < 0 {
			conds = []meta.Cond{meta.Reverse()}
		}
		r, ok, err := snapshots.One(ctx, conds...)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%w: lake %s has no snapshot %d", ErrTag, tag.Lake, asked)
		}
		tag.Snapshot, tag.Created = r.Num("snapshot_id"), m.o.Clock.Now()
		// An expiry that commits first takes the snapshot away: it is looked for again then.
		txn.WatchRows(snapshots.Descriptor())
		txn.Recheck(func() error {
			_, ok, err := snapshots.One(ctx, meta.Is("snapshot_id", tag.Snapshot))
			if err == nil && !ok {
				err = fmt.Errorf("%w: snapshot %d of lake %s has expired", ErrTag, tag.Snapshot, tag.Lake)
			}
			return err
		})
		t, err := meta.OwnTable(txn, tagsTable, tagsColumns...)
		if err != nil {
			return err
		}
		err = t.Scan(ctx, func(r *meta.Row) error {
			if r.Text("lake") != tag.Lake || r.Text("tag") != tag.Name {
				return nil
			}
			if !move && r.Num("snapshot_id") != tag.Snapshot {
				return fmt.Errorf("%w: %s names snapshot %d already", ErrTag, tag.Name, r.Num("snapshot_id"))
			}
			return r.Delete()
		})
		if err != nil {
			return err
		}
		return t.Insert(meta.Values{
			"lake": meta.Str(tag.Lake), "tag": meta.Str(tag.Name), "snapshot_id": meta.Int(tag.Snapshot),
			"created_at": meta.Time(tag.Created), "note": orNull(tag.Note),
		})
	})
	return tag, err
}

// RemoveTag removes a tag: ErrNoTag when there is none of the name.
func (m *Manager) RemoveTag(ctx context.Context, catalog, lake, name string) (Tag, error) {
	cat, err := m.catalog(catalog)
	if err != nil {
		return Tag{}, err
	}
	var was Tag
	err = meta.Do(ctx, cat, m.o.Committer, func(txn *store.Txn) error {
		found := false
		t, _, err := meta.Own(txn, tagsTable, tagsColumns...)
		if err != nil {
			return err
		}
		err = t.Scan(ctx, func(r *meta.Row) error {
			if r.Text("lake") != lake || r.Text("tag") != name {
				return nil
			}
			found = true
			was = Tag{lake, name, r.Num("snapshot_id"), moment(r, "created_at"), r.Text("note")}
			return r.Delete()
		})
		if err == nil && !found {
			err = fmt.Errorf("%w: %q of lake %s", ErrNoTag, name, lake)
		}
		return err
	})
	return was, err
}

// tagged returns the ids of a lake's snapshots that have a tag.
func tagged(ctx context.Context, txn *store.Txn, lake string) (map[int64]bool, error) {
	t, ok, err := meta.Own(txn, tagsTable, tagsColumns...)
	if !ok || err != nil {
		return nil, err
	}
	ids := map[int64]bool{}
	err = t.Scan(ctx, func(r *meta.Row) error {
		if r.Text("lake") == lake {
			ids[r.Num("snapshot_id")] = true
		}
		return nil
	})
	return ids, err
}
