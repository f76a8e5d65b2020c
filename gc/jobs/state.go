package jobs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv/store"
)

// The tables of policies and pauses.
const (
	policiesTable = "policies"
	pausesTable   = "pauses"
)

var (
	policiesColumns = []meta.ColumnDef{
		{Name: "lake", Type: meta.Text},
		{Name: "schema_name", Type: meta.Text},
		{Name: "table_name", Type: meta.Text},
		{Name: "name", Type: meta.Text},
		{Name: "value", Type: meta.Text},
	}
	pausesColumns = []meta.ColumnDef{
		{Name: "kind", Type: meta.Text}, // NULL: all
		{Name: "since", Type: meta.Timestamptz},
		{Name: "paused_by", Type: meta.Text},
		{Name: "note", Type: meta.Text},
	}
)

// settings reads eider.policies.
func settings(ctx context.Context, txn *store.Txn) ([]gc.Setting, error) {
	t, ok, err := meta.Own(txn, policiesTable, policiesColumns...)
	if !ok || err != nil {
		return nil, err
	}
	var out []gc.Setting
	err = t.Scan(ctx, func(r *meta.Row) error {
		out = append(out, setting(r))
		return nil
	})
	return out, err
}

func setting(r *meta.Row) gc.Setting {
	return gc.Setting{
		Scope: gc.Scope{Lake: r.Text("lake"), Schema: r.Text("schema_name"), Table: r.Text("table_name")},
		Name:  r.Text("name"), Value: r.Text("value"),
	}
}

// LoadPolicies reads the policies of a catalog as a transaction sees them. Who enforces them
// on commits of clients reads them there as well. The defaults count where none is set.
func LoadPolicies(ctx context.Context, txn *store.Txn, defaults gc.Defaults) (*gc.Set, error) {
	rows, err := settings(ctx, txn)
	if err != nil {
		return nil, fmt.Errorf("read policies: %w", err)
	}
	return gc.NewSet(rows).WithDefaults(defaults), nil
}

// SetPolicy sets a policy, in place of what is set for its scope, which must exist: ErrNoLake,
// ErrNoObject.
func (m *Manager) SetPolicy(ctx context.Context, catalog string, s gc.Setting) error {
	if err := gc.Check(s); err != nil {
		return err
	}
	_, err := m.changePolicy(ctx, catalog, s, true)
	return err
}

// ResetPolicy removes what is set for a policy in a scope; false when nothing is.
func (m *Manager) ResetPolicy(ctx context.Context, catalog string, s gc.Setting) (bool, error) {
	return m.changePolicy(ctx, catalog, s, false)
}

func (m *Manager) changePolicy(ctx context.Context, catalog string, s gc.Setting, set bool) (was bool, err error) {
	cat, err := m.catalog(catalog)
	if err != nil {
		return false, err
	}
	err = meta.Do(ctx, cat, m.o.Committer, func(txn *store.Txn) error {
		was = false
		if set {
			if err := exists(ctx, txn, s.Scope); err != nil {
				return err
			}
		}
		t, _, err := meta.Own(txn, policiesTable, policiesColumns...)
		if err == nil && set {
			t, err = meta.OwnTable(txn, policiesTable, policiesColumns...)
		}
		if err != nil {
			return err
		}
		err = t.Scan(ctx, func(r *meta.Row) error {
			if x := setting(r); x.Scope == s.Scope && x.Name == s.Name {
				was = true
				return r.Delete()
			}
			return nil
		})
		if err != nil || !set {
			return err
		}
		return t.Insert(meta.Values{
			"lake": orNull(s.Lake), "schema_name": orNull(s.Schema), "table_name": orNull(s.Table),
			"name": meta.Str(s.Name), "value": meta.Str(strings.TrimSpace(s.Value)),
		})
	})
	if err == nil {
		m.poke()
	}
	return was, err
}

func orNull(s string) []byte {
	if s == "" {
		return nil
	}
	return meta.Str(s)
}

// Pause is a row of eider.pauses.
type Pause struct {
	Kind  gc.Kind // "" for all
	Since time.Time
	By    string
	Note  string
}

// err is the gc.ErrPaused of a job that is held up.
func (p Pause) err() error {
	return fmt.Errorf("%w since %s by %s", gc.ErrPaused, p.Since.Format(time.RFC3339), p.By)
}

func pauses(ctx context.Context, txn *store.Txn) ([]Pause, error) {
	t, ok, err := meta.Own(txn, pausesTable, pausesColumns...)
	if !ok || err != nil {
		return nil, err
	}
	var out []Pause
	err = t.Scan(ctx, func(r *meta.Row) error {
		out = append(out, Pause{gc.Kind(r.Text("kind")), moment(r, "since"), r.Text("paused_by"), r.Text("note")})
		return nil
	})
	return out, err
}

// paused returns the pause that holds a kind up, if one does.
func paused(list []Pause, k gc.Kind) (Pause, bool) {
	i := slices.IndexFunc(list, func(p Pause) bool { return p.Kind == "" || p.Kind == k })
	if i < 0 {
		return Pause{}, false
	}
	return list[i], true
}

// Pause holds up the jobs of a catalog, or those of one kind; a running one is stopped. It
// lasts, over restarts too, until Resume.
func (m *Manager) Pause(ctx context.Context, catalog string, p Pause) error {
	cat, err := m.catalog(catalog)
	if err != nil {
		return err
	}
	p.Since = m.o.Clock.Now()
	err = meta.Do(ctx, cat, m.o.Committer, func(txn *store.Txn) error {
		t, err := meta.OwnTable(txn, pausesTable, pausesColumns...)
		if err != nil {
			return err
		}
		err = t.Scan(ctx, func(r *meta.Row) error {
			if r.Text("kind") == string(p.Kind) {
				return r.Delete()
			}
			return nil
		})
		if err != nil {
			return err
		}
		return t.Insert(meta.Values{
			"kind": orNull(string(p.Kind)), "since": meta.Time(p.Since), "paused_by": orNull(p.By), "note": orNull(p.Note),
		})
	})
	if err != nil {
		return err
	}
	m.log.Info("maintenance paused", "catalog", catalog, "kind", string(p.Kind), "by", p.By, "note", p.Note)
	m.stopPaused(cat, p.Kind)
	m.poke()
	return nil
}

// Resume ends the pause of a catalog, or of a kind; ErrNotPaused when there is none. Resuming
// the catalog ends the pauses of all kinds.
func (m *Manager) Resume(ctx context.Context, catalog string, k gc.Kind, by string) error {
	cat, err := m.catalog(catalog)
	if err != nil {
		return err
	}
	ended := 0
	err = meta.Do(ctx, cat, m.o.Committer, func(txn *store.Txn) error {
		ended = 0
		t, ok, err := meta.Own(txn, pausesTable, pausesColumns...)
		if !ok || err != nil {
			return err
		}
		return t.Scan(ctx, func(r *meta.Row) error {
			if k == "" || r.Text("kind") == string(k) {
				ended++
				return r.Delete()
			}
			return nil
		})
	})
	if err == nil && ended == 0 {
		err = ErrNotPaused
	}
	if err != nil {
		return err
	}
	m.log.Info("maintenance resumed", "catalog", catalog, "kind", string(k), "by", by)
	m.poke()
	return nil
}

// InForce lists the policies as they count for a lake, or for one of its schemas or tables.
func (m *Manager) InForce(ctx context.Context, catalog string, sc gc.Scope) (list []gc.InForce, err error) {
	cat, err := m.catalog(catalog)
	if err != nil {
		return nil, err
	}
	err = meta.Read(ctx, cat, func(txn *store.Txn) error {
		if _, err := meta.Open(txn, sc.Lake); err != nil {
			return fmt.Errorf("%w: %q", ErrNoLake, sc.Lake)
		}
		set, err := LoadPolicies(ctx, txn, m.o.Defaults)
		if err == nil {
			list = set.For(sc.Lake).InForce(sc.Schema, sc.Table)
		}
		return err
	})
	return list, err
}
