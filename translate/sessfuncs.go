package translate

import (
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgcatalog"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// sessionFuncs is the session as SQL functions and virtual tables see it.
type sessionFuncs struct {
	s   *Session
	out Out
}

var (
	_ exec.Session               = sessionFuncs{}
	_ exec.Ender                 = sessionFuncs{}
	_ pgcatalog.SettingsLister   = sessionFuncs{}
	_ pgcatalog.ActivityLister   = sessionFuncs{}
	_ pgcatalog.AdvisoryLocker   = sessionFuncs{}
	_ pgcatalog.StatementLister  = sessionFuncs{}
	_ pgcatalog.CursorLister     = sessionFuncs{}
	_ pgcatalog.DatabaseLister   = sessionFuncs{}
	_ pgcatalog.SnapshotExporter = sessionFuncs{}
	_ pgcatalog.ServerInfo       = sessionFuncs{}
	_ pgcatalog.Signaller        = sessionFuncs{}
	_ pgcatalog.Notifier         = sessionFuncs{}
	_ pgcatalog.ViewLister       = sessionFuncs{}
	_ pgcatalog.ScheduleLister   = sessionFuncs{}
)

// User is current_user.
func (f sessionFuncs) User() string { return f.s.opts.User }

// SessionUser is session_user.
func (f sessionFuncs) SessionUser() string { return f.s.opts.User }

// Database is current_database().
func (f sessionFuncs) Database() string { return f.s.db }

// DatabaseOID is the catalog's oid.
func (f sessionFuncs) DatabaseOID() uint32 { return f.s.catOID }

// PID is pg_backend_pid().
func (f sessionFuncs) PID() int32 { return f.s.opts.PID }

// SearchPath is the effective search path.
func (f sessionFuncs) SearchPath() []string { return f.s.searchPath() }

// Setting is current_setting(name).
func (f sessionFuncs) Setting(name string) (string, bool) {
	_, v, ok := f.s.show(name)
	return v, ok
}

// SetSetting is set_config(name, value, local).
func (f sessionFuncs) SetSetting(name, value string, local bool) error {
	if err := f.s.change(name, value, false, local, fromSQL); err != nil {
		return err
	}
	f.s.env = nil
	return nil
}

// StatementTime is statement_timestamp().
func (f sessionFuncs) StatementTime() time.Time { return f.s.tx.statement }

// Notice sends a notice raised by a function.
func (f sessionFuncs) Notice(e *pgerr.Error) {
	if f.out != nil {
		_ = f.s.notice(f.out, e)
	}
}

// OnEnd implements exec.Ender.
func (f sessionFuncs) OnEnd(do func()) { f.s.ends = append(f.s.ends, do) }

// Settings lists the parameters for pg_settings.
func (f sessionFuncs) Settings() []pgcatalog.Setting {
	defs := settingDefs().sorted
	out := make([]pgcatalog.Setting, 0, len(defs)+4)
	for _, d := range defs {
		v := f.s.set.get(d)
		switch d.key {
		case "transaction_isolation", "transaction_read_only", "transaction_deferrable":
			v = f.s.showDef(d)
		}
		src := "default"
		if _, ok := f.s.set.vals[d.key]; ok {
			src = "session"
		} else if _, ok := f.s.set.reset[d.key]; ok {
			src = "client"
		}
		out = append(out, pgcatalog.Setting{
			Name: d.name, Value: v, Unit: d.unit, Boot: d.def, Reset: f.s.set.resetValue(d),
			VarType: d.kind.String(), Context: d.context, Source: src,
		})
	}
	for _, k := range slices.Sorted(maps.Keys(f.s.set.vals)) {
		if settingDefs().byKey[k] == nil {
			out = append(out, pgcatalog.Setting{
				Name: k, Value: f.s.set.vals[k].eff, VarType: "string", Context: "user", Source: "session",
			})
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return strings.ToLower(out[i].Name) < strings.ToLower(out[j].Name) })
	return out
}

// Activities lists the server's sessions.
func (f sessionFuncs) Activities() []pgcatalog.Activity { return f.s.shared.Activities() }

// CancelBackend is pg_cancel_backend.
func (f sessionFuncs) CancelBackend(pid int32) bool {
	return f.s.deps.Signal != nil && f.s.deps.Signal(pid, false)
}

// TerminateBackend is pg_terminate_backend.
func (f sessionFuncs) TerminateBackend(pid int32) bool {
	return f.s.deps.Signal != nil && f.s.deps.Signal(pid, true)
}

// PreparedStatements lists the named statements.
func (f sessionFuncs) PreparedStatements() []pgcatalog.PreparedStatement {
	var out []pgcatalog.PreparedStatement
	for _, name := range slices.Sorted(maps.Keys(f.s.stmts)) {
		if name == "" {
			continue
		}
		p := f.s.stmts[name]
		out = append(out, pgcatalog.PreparedStatement{Name: name, Text: p.source, Prepared: p.created, Params: p.params, SQL: p.bySQL})
	}
	return out
}

// Cursors lists the open portals.
func (f sessionFuncs) Cursors() []pgcatalog.Cursor {
	var out []pgcatalog.Cursor
	for _, name := range slices.Sorted(maps.Keys(f.s.portals)) {
		p := f.s.portals[name]
		out = append(out, pgcatalog.Cursor{
			Name: name, Text: p.source, Hold: p.hold, Binary: p.binary, Scroll: p.scroll, Declared: p.created,
		})
	}
	return out
}

// Databases lists the catalogs.
func (f sessionFuncs) Databases() []pgcatalog.Database {
	infos := f.s.deps.Store.Catalogs()
	out := make([]pgcatalog.Database, len(infos))
	for i, c := range infos {
		out[i] = pgcatalog.Database{OID: c.OID, Name: c.Name}
	}
	return out
}

// ExportSnapshot is pg_export_snapshot().
func (f sessionFuncs) ExportSnapshot() (string, error) {
	if len(f.s.tx.savepoints) > 0 {
		return "", pgerr.New(pgerr.ActiveSQLTransaction, "cannot export a snapshot from a subtransaction")
	}
	t, err := f.s.txn()
	if err != nil {
		return "", err
	}
	id, err := t.ExportSnapshot()
	if err != nil {
		return "", err
	}
	return id, nil
}

// ProductVersion is Eider's version.
func (f sessionFuncs) ProductVersion() string { return f.s.deps.Version }

// StartTime is when the server started.
func (f sessionFuncs) StartTime() time.Time { return f.s.shared.started }

// importSnapshot is SET TRANSACTION SNAPSHOT.
func (s *Session) importSnapshot(id string) error {
	if s.tx.queried || len(s.tx.savepoints) > 0 {
		return pgerr.New(pgerr.ActiveSQLTransaction, "SET TRANSACTION SNAPSHOT must be called before any query")
	}
	if s.tx.iso < repeatableRead {
		return pgerr.New(pgerr.FeatureNotSupported,
			"a snapshot-importing transaction must have isolation level SERIALIZABLE or REPEATABLE READ")
	}
	if s.tx.txn != nil {
		_ = s.tx.txn.Rollback()
		s.tx.txn = nil
	}
	s.tx.snapshot = id
	_, err := s.txn()
	return err
}

// searchPath is the effective search path: schemas that exist, without pg_temp and pg_catalog.
// "$user" never means the schema that the server keeps its own tables in: a user of its name,
// which is the usual one, would make tables there from the moment that it exists.
func (s *Session) searchPath() []string {
	names := s.set.decoded().searchPath
	t := s.tx.txn
	out := make([]string, 0, len(names))
	for _, n := range names {
		if n == "$user" {
			if n = s.opts.User; n == settingsSchema {
				continue
			}
		}
		if n == "pg_catalog" || n == "pg_temp" || n == "information_schema" && t == nil {
			continue
		}
		if t == nil {
			out = append(out, n)
			continue
		}
		if _, ok := t.SchemaByName(n); ok || n == "information_schema" {
			out = append(out, n)
		}
	}
	return out
}

// Env is what values are encoded with, as the settings are now.
func (s *Session) Env() *types.Env { return s.typeEnv() }

// typeEnv is what the settings make of values; it changes with the settings and the transaction.
func (s *Session) typeEnv() *types.Env {
	if s.env != nil && s.envGen == s.set.gen {
		return s.env
	}
	e := types.DefaultEnv()
	if loc, _, ok := loadZone(s.set.text("timezone")); ok {
		e.Location = loc
	}
	style, order, _ := strings.Cut(s.set.text("datestyle"), ", ")
	switch style {
	case "SQL":
		e.DateStyle = types.DateStyleSQL
	case "Postgres":
		e.DateStyle = types.DateStylePostgres
	case "German":
		e.DateStyle = types.DateStyleGerman
	}
	switch order {
	case "DMY":
		e.DateOrder = types.OrderDMY
	case "YMD":
		e.DateOrder = types.OrderYMD
	}
	switch s.set.text("intervalstyle") {
	case "postgres_verbose":
		e.IntervalStyle = types.IntervalPostgresVerbose
	case "sql_standard":
		e.IntervalStyle = types.IntervalSQLStandard
	case "iso_8601":
		e.IntervalStyle = types.IntervalISO8601
	}
	e.ByteaEscape = s.set.text("bytea_output") == "escape"
	e.ExtraFloatDigits, _ = strconv.Atoi(s.set.text("extra_float_digits"))
	e.Now = s.tx.started
	e.RegName, e.RegInput = s.regName, s.regInput
	s.env, s.envGen = e, s.set.gen
	return e
}

// regName prints a value of a reg type in the catalog as the running transaction sees it.
func (s *Session) regName(t types.OID, v uint32) (string, bool) {
	return pgcatalog.NewNames(&exec.Ctx{Session: sessionFuncs{s: s}, Txn: s.tx.txn}).RegName(t, v)
}

// regInput reads the name of what a reg type stands for, as the running transaction sees it.
func (s *Session) regInput(t types.OID, name string) (uint32, error) {
	return pgcatalog.NewNames(&exec.Ctx{Session: sessionFuncs{s: s}, Txn: s.tx.txn}).RegLookup(t, name)
}

// Notify is pg_notify(channel, payload).
func (f sessionFuncs) Notify(channel, payload string) error { return f.s.Notify(channel, payload) }
