package pgcatalog

import (
	"strconv"

	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/lex"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

func itoa(v int64) string { return strconv.FormatInt(v, 10) }

func serverFuncs() []exec.Func {
	start := func(c *exec.Call) (types.Datum, error) {
		if i, ok := c.Session.(ServerInfo); ok {
			return dTime(i.StartTime()), nil
		}
		return dTime(c.Session.StatementTime()), nil
	}
	signal := func(send func(Signaller, int32) bool) evalFunc {
		return func(c *exec.Call) (types.Datum, error) {
			pid := int32(c.Args[0].I)
			if s, ok := c.Session.(Signaller); ok && send(s, pid) {
				return dBool(true), nil
			}
			w := pgerr.New(pgerr.Warning, "PID %d is not a PostgreSQL server process", pid)
			w.Severity = pgerr.SeverityWarning
			c.Session.Notice(w)
			return dBool(false), nil
		}
	}
	export := func(c *exec.Call) (types.Datum, error) {
		if e, ok := c.Session.(SnapshotExporter); ok {
			id, err := e.ExportSnapshot()
			return dText(id), err
		}
		if c.Txn == nil {
			return types.Null, pgerr.New(pgerr.FeatureNotSupported, "pg_export_snapshot is not supported here")
		}
		id, err := c.Txn.ExportSnapshot()
		return dText(id), err
	}
	notify := func(c *exec.Call) (types.Datum, error) {
		n, ok := c.Session.(Notifier)
		if !ok {
			return types.Null, pgerr.New(pgerr.FeatureNotSupported, "pg_notify is not supported here")
		}
		var args [2]string // NULL is the empty string, which is no channel
		for i := range args {
			if c.Args[i].Valid {
				args[i] = string(c.Args[i].B)
			}
		}
		err := n.Notify(args[0], args[1])
		return types.Datum{B: []byte{}, Valid: err == nil}, err
	}
	xid := func(c *exec.Call) (types.Datum, error) { return dInt(int64(c.Session.PID())), nil }
	fns := []exec.Func{
		volatile("pg_export_snapshot", tText, export),
		volatile("pg_is_in_recovery", tBool, constant(dBool(false))),
		volatile("pg_is_wal_replay_paused", tBool, constant(dBool(false))),
		volatile("eider_checkpoint", tText, checkpoint, tText),
		volatile("pg_cancel_backend", tBool, signal(Signaller.CancelBackend), tInt4),
		volatile("pg_terminate_backend", tBool, signal(Signaller.TerminateBackend), tInt4),
		volatile("pg_terminate_backend", tBool, signal(Signaller.TerminateBackend), tInt4, tInt8),
		volatile("pg_reload_conf", tBool, constant(dBool(true))),
		stable("txid_current", tInt8, xid),
		stable("txid_current_if_assigned", tInt8, constant(types.Null)),
		stable("pg_current_xact_id_if_assigned", types.Xid8OID, constant(types.Null)),
		stable("pg_postmaster_start_time", tTime, start),
		stable("pg_conf_load_time", tTime, start),
		stable("inet_server_addr", tText, constant(types.Null)),
		stable("inet_server_port", tInt4, constant(types.Null)),
		stable("inet_client_addr", tText, constant(types.Null)),
		stable("inet_client_port", tInt4, constant(types.Null)),
		stable("pg_blocking_pids", types.Int4ArrayOID, constant(array(tInt4, 1, nil)), tInt4),
		stable("pg_stat_get_snapshot_timestamp", tTime, constant(types.Null)),
		stable("pg_jit_available", tBool, constant(dBool(false))),
		volatile("pg_notification_queue_usage", types.Float8OID, constant(dFloat(0))),
	}
	pgNotify := volatile("pg_notify", tVoid, notify, tText, tText)
	pgNotify.NullCall = true
	return append(fns, pgNotify, keywordsFunc())
}

// keywordsFunc is pg_get_keywords(), which drivers ask for the words to quote.
func keywordsFunc() exec.Func {
	f := volatile("pg_get_keywords", types.RecordOID, nil)
	f.Vol, f.Set = exec.Stable, true
	text := func(name string) exec.Column { return exec.Column{Name: name, Type: types.T{OID: tText, Mod: -1}} }
	f.Cols = []exec.Column{
		text("word"),
		{Name: "catcode", Type: types.T{OID: types.CharOID, Mod: -1}},
		{Name: "barelabel", Type: types.T{OID: tBool, Mod: -1}},
		text("catdesc"), text("baredesc"),
	}
	f.Rows = func(*exec.Call) (exec.Iter, error) {
		var rows []exec.Row
		for k := lex.NoKeyword + 1; k.Valid(); k++ {
			code, desc := byte('U'), "unreserved"
			switch k.Class() {
			case lex.ColName:
				code, desc = 'C', "unreserved (cannot be function or type name)"
			case lex.TypeFunc:
				code, desc = 'T', "reserved (can be function or type name)"
			case lex.Reserved:
				code, desc = 'R', "reserved"
			}
			bare := "requires AS"
			if k.BareLabel() {
				bare = "can be bare label"
			}
			rows = append(rows, exec.Row{dText(k.String()), dChar(code), dBool(k.BareLabel()), dText(desc), dText(bare)})
		}
		return &exec.SliceIter{Items: rows}, nil
	}
	return f
}

func lockFuncs() []exec.Func {
	one := func(c *exec.Call) AdvisoryKey {
		v := uint64(c.Args[0].I)
		return AdvisoryKey{Class: uint32(v >> 32), Object: uint32(v)}
	}
	two := func(c *exec.Call) AdvisoryKey {
		return AdvisoryKey{Class: uint32(c.Args[0].I), Object: uint32(c.Args[1].I), TwoKeys: true}
	}
	var fns []exec.Func
	add := func(name string, ret types.OID, run func(c *exec.Call, l AdvisoryLocker, k AdvisoryKey) (types.Datum, error)) {
		for _, two2 := range []bool{false, true} {
			args, key := []types.OID{tInt8}, one
			if two2 {
				args, key = []types.OID{tInt4, tInt4}, two
			}
			fns = append(fns, volatile(name, ret, func(c *exec.Call) (types.Datum, error) {
				l, err := locker(c)
				if err != nil {
					return types.Null, err
				}
				return run(c, l, key(c))
			}, args...))
		}
	}
	for _, m := range []struct {
		suffix string
		mode   AdvisoryMode
	}{{"", AdvisoryMode{}}, {"_shared", AdvisoryMode{Shared: true}}} {
		for _, xact := range []bool{false, true} {
			mode, mid := m.mode, "advisory_lock"
			if xact {
				mode.Xact, mid = true, "advisory_xact_lock"
			}
			add("pg_"+mid+m.suffix, tVoid, func(c *exec.Call, l AdvisoryLocker, k AdvisoryKey) (types.Datum, error) {
				_, err := l.AdvisoryLock(c, k, mode, false)
				return types.Datum{B: []byte{}, Valid: err == nil}, err
			})
			add("pg_try_"+mid+m.suffix, tBool, func(c *exec.Call, l AdvisoryLocker, k AdvisoryKey) (types.Datum, error) {
				ok, err := l.AdvisoryLock(c, k, mode, true)
				return dBool(ok), err
			})
		}
		add("pg_advisory_unlock"+m.suffix, tBool, func(c *exec.Call, l AdvisoryLocker, k AdvisoryKey) (types.Datum, error) {
			if l.AdvisoryUnlock(k, m.mode.Shared) {
				return dBool(true), nil
			}
			w := pgerr.New(pgerr.Warning, "you don't own a lock of type %s", lockType(m.mode.Shared))
			w.Severity = pgerr.SeverityWarning
			c.Session.Notice(w)
			return dBool(false), nil
		})
	}
	return append(fns, volatile("pg_advisory_unlock_all", tVoid, func(c *exec.Call) (types.Datum, error) {
		if l, ok := c.Session.(AdvisoryLocker); ok {
			l.AdvisoryUnlockAll()
		}
		return types.Datum{B: []byte{}, Valid: true}, nil
	}))
}

func lockType(shared bool) string {
	if shared {
		return "ShareLock"
	}
	return "ExclusiveLock"
}

func locker(c *exec.Call) (AdvisoryLocker, error) {
	if l, ok := c.Session.(AdvisoryLocker); ok {
		return l, nil
	}
	return nil, pgerr.New(pgerr.FeatureNotSupported, "advisory locks are not supported here")
}

func sizeFuncs() []exec.Func {
	relation := func(c *exec.Call) (types.Datum, error) {
		oid := uint32(c.Args[0].I)
		if _, _, ok := NewNames(c.Ctx).lookup(oid); !ok {
			return types.Null, nil
		}
		if s, ok := c.Session.(Sizer); ok {
			return dInt(s.RelationSize(oid)), nil
		}
		return dInt(0), nil
	}
	dbSize := func(c *exec.Ctx, name string) (types.Datum, error) {
		for _, d := range databases(c) {
			if d.Name == name {
				if s, ok := c.Session.(Sizer); ok {
					return dInt(s.DatabaseSize(name)), nil
				}
				return dInt(0), nil
			}
		}
		return types.Null, pgerr.New(pgerr.InvalidCatalogName, "database %q does not exist", name)
	}
	fns := []exec.Func{
		volatile("pg_database_size", tInt8, func(c *exec.Call) (types.Datum, error) { return dbSize(c.Ctx, str(c.Args[0])) }, tName),
		volatile("pg_database_size", tInt8, func(c *exec.Call) (types.Datum, error) {
			for _, d := range databases(c.Ctx) {
				if d.OID == uint32(c.Args[0].I) {
					return dbSize(c.Ctx, d.Name)
				}
			}
			return types.Null, nil
		}, tOID),
		volatile("pg_tablespace_size", tInt8, constant(dInt(0)), tOID),
		immutable("pg_size_pretty", tText, func(c *exec.Call) (types.Datum, error) { return dText(sizePretty(c.Args[0].I)), nil }, tInt8),
		volatile("pg_relation_size", tInt8, relation, types.RegclassOID, tText),
	}
	for _, name := range []string{"pg_relation_size", "pg_total_relation_size", "pg_table_size", "pg_indexes_size"} {
		eval := relation
		if name == "pg_indexes_size" {
			eval = constant(dInt(0))
		}
		fns = append(fns, volatile(name, tInt8, eval, types.RegclassOID))
	}
	return fns
}

// sizePretty prints a byte count as PostgreSQL does: each unit is used up to 10 times the
// next one and halves are rounded away from zero.
func sizePretty(n int64) string {
	abs := func(v int64) uint64 {
		if v < 0 {
			return -uint64(v)
		}
		return uint64(v)
	}
	const limit = 10 * 1024
	if abs(n) < limit {
		return itoa(n) + " bytes"
	}
	// One more bit is kept for rounding.
	v := n >> 9
	for i, unit := range []string{"kB", "MB", "GB", "TB", "PB"} {
		if abs(v) < limit*2-1 || i == 4 {
			r := v / 2
			if v%2 != 0 {
				if v > 0 {
					r = (v + 1) / 2
				} else {
					r = (v - 1) / 2
				}
			}
			return itoa(r) + " " + unit
		}
		v /= 1 << 10
	}
	return ""
}
