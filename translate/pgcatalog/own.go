package pgcatalog

import (
	"encoding/binary"
	"errors"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/types"
)

// ownColumns are the relations of the schema eider, in the form of columns.txt. Those without
// a generator are tables that are made when they are first needed: until then they are
// there and empty, with the columns that they will have.
const ownColumns = `
eider.findings 15901 v found_at:timestamptz lake:text snapshot_id:int8 table_id:int8 check:text text:text detail:text user_name:text application:text
eider.jobs 15902 v id:int8 lake:text kind:text state:text dry_run:bool asked:timestamptz started:timestamptz ended:timestamptz asked_by:text options:text counts:text bytes:int8 deferred:int8 notes:text error:text plan:text
eider.options 15903 v name:text value:text
eider.pauses 15904 v kind:text since:timestamptz paused_by:text note:text
eider.policies 15905 v lake:text schema_name:text table_name:text name:text value:text
eider.quarantine 15910 v lake:text job:int8 path:text place:text bytes:int8 moved_at:timestamptz reason:text
eider.schedule 15906 v lake:text data_file_id:int8 path:text path_is_relative:bool schedule_start:timestamptz due_at:timestamptz held:text
eider.sessions 15907 v pid:int4 user_name:text application:text client_addr:text state:text transaction_start:timestamptz lake:text snapshot_id:int8 since:timestamptz query:text
eider.settings 15908 v lake:text table_id:int8 check:text mode:text
eider.tags 15909 v lake:text tag:text snapshot_id:int8 created_at:timestamptz note:text
`

func ownGenerators() map[string][]generator {
	return map[string][]generator{
		"eider.sessions": {{
			fill: "pid user_name application client_addr state transaction_start lake snapshot_id since query",
			emit: emitSessions,
		}},
		"eider.schedule": {{
			fill: "lake data_file_id path path_is_relative schedule_start due_at held",
			emit: emitSchedule,
		}},
	}
}

// emitSessions lists the sessions of the catalog; one that holds a view has a row for each
// lake in it, with the snapshot that it pins there.
func emitSessions(q *query) error {
	l, ok := q.c.Session.(ViewLister)
	if !ok {
		return nil
	}
	list, release, err := l.Views()
	if err != nil {
		return err
	}
	defer release()
	for _, s := range list {
		row := func(lake, snapshot types.Datum) error {
			return q.emit(dInt(int64(s.PID)), dText(s.User), dText(s.AppName), dTextOr(s.Addr), dText(s.State), dTime(s.XactStart),
				lake, snapshot, dTime(s.Since), dText(s.Query))
		}
		heads, err := headsOf(s.Txn)
		if err != nil {
			return err
		}
		if len(heads) == 0 {
			heads = []head{{}}
		}
		for _, h := range heads {
			snapshot := types.Null
			if h.known {
				snapshot = dInt(h.snapshot)
			}
			if err := row(dTextOr(h.lake), snapshot); err != nil {
				return err
			}
		}
	}
	return nil
}

// head is the newest snapshot of a lake.
type head struct {
	lake     string
	snapshot int64
	known    bool
}

// headsOf reads the newest snapshots of all lakes in a view. A view from before the storage
// was opened again cannot be read by anybody.
func headsOf(t *store.Txn) ([]head, error) {
	if t == nil {
		return nil, nil
	}
	var out []head
	for s := range t.Schemas() {
		tbl, ok := t.TableByName(s.OID, "ducklake_snapshot")
		if !ok || tbl.Kind != rel.KindTable {
			continue
		}
		c, ok := tbl.Column("snapshot_id")
		if !ok || c.Type != uint32(types.Int8OID) {
			continue
		}
		h := head{lake: s.Name}
		err := h.read(t, tbl, c)
		if errors.Is(err, kv.ErrEngineRestarted) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

// read finds the largest snapshot_id: the last key of the primary key, or the largest of all
// rows where there is none. Rows have the order of their insertion, which is another one after
// a copy or a restore.
func (h *head) read(t *store.Txn, tbl *rel.Table, c *rel.Column) (err error) {
	a := store.Access{}
	x, sorted := tbl.PrimaryKey()
	if sorted = sorted && len(x.Columns) == 1 && x.Columns[0] == c.Num; sorted {
		a.Index, a.Reverse = x, true
	}
	it, err := t.Scan(tbl, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for it.Next() {
		v, null := c.Value(it.Tuple())
		if null || len(v) != 8 {
			continue
		}
		if n := int64(binary.BigEndian.Uint64(v)); !h.known || n > h.snapshot {
			h.snapshot, h.known = n, true
		}
		if sorted {
			break
		}
	}
	return it.Err()
}

func emitSchedule(q *query) error {
	l, ok := q.c.Session.(ScheduleLister)
	if !ok || q.c.Txn == nil {
		return nil
	}
	list, err := l.Schedule(q.c.Context, q.c.Txn)
	if err != nil {
		return err
	}
	for _, f := range list {
		if err := q.emit(dText(f.Lake), dInt(f.ID), dText(f.Path), dBool(f.Relative), dTime(f.Start), dTime(f.Due), dTextOr(f.Held)); err != nil {
			return err
		}
	}
	return nil
}
