package pgcatalog

import (
	"net"
	"strconv"
	"time"

	"github.com/eiderdb/eider/translate/types"
)

// encodingUTF8 is PostgreSQL's number of the encoding; Eider knows no other.
const encodingUTF8 = 6

func serverGenerators() map[string][]generator {
	user := []generator{{
		fill: "usename usesysid usecreatedb usesuper userepl=f usebypassrls passwd=********",
		emit: emitUsers,
	}}
	return map[string][]generator{
		"pg_catalog.pg_database": {{
			fill: "oid datname datdba=10 encoding=6 datlocprovider=c datallowconn=t datconnlimit=-1 dattablespace=1663 datcollate=C datctype=C",
			emit: emitDatabases,
		}},
		"pg_catalog.pg_roles": {{
			fill: "rolname rolsuper rolinherit=t rolcreaterole rolcreatedb rolcanlogin rolconnlimit=-1 rolpassword=******** rolbypassrls oid",
			emit: func(q *query) error {
				for _, r := range roles(q.c) {
					if err := q.emit(dText(r.Name), dBool(r.Superuser), dBool(r.Superuser), dBool(r.Superuser), dBool(r.Login),
						dBool(r.Superuser), dOID(r.OID)); err != nil {
						return err
					}
				}
				return nil
			},
		}},
		"pg_catalog.pg_authid": {{
			fill: "oid rolname rolsuper rolinherit=t rolcreaterole rolcreatedb rolcanlogin rolbypassrls rolconnlimit=-1",
			emit: func(q *query) error {
				for _, r := range roles(q.c) {
					if err := q.emit(dOID(r.OID), dText(r.Name), dBool(r.Superuser), dBool(r.Superuser), dBool(r.Superuser),
						dBool(r.Login), dBool(r.Superuser)); err != nil {
						return err
					}
				}
				return nil
			},
		}},
		"pg_catalog.pg_user":   user,
		"pg_catalog.pg_shadow": user,
		"pg_catalog.pg_settings": {{
			fill: "name setting unit category=Settings short_desc context vartype source boot_val reset_val sourceline=null",
			emit: emitSettings,
		}},
		"pg_catalog.pg_stat_activity": {{
			fill: "datid datname pid leader_pid=null usesysid usename application_name client_addr client_port backend_start " +
				"xact_start query_start state_change state backend_xid=null backend_xmin=null query_id=null query backend_type",
			emit: emitActivity,
		}},
		"pg_catalog.pg_stat_database": {{
			fill: "datid datname numbackends checksum_failures=null",
			emit: emitDatabaseStats,
		}},
		"pg_catalog.pg_prepared_statements": {{
			fill: "name statement prepare_time parameter_types from_sql",
			emit: emitPrepared,
		}},
		"pg_catalog.pg_cursors": {{
			fill: "name statement is_holdable is_binary is_scrollable creation_time",
			emit: emitCursors,
		}},
		"pg_catalog.pg_timezone_names": {{fill: "name abbrev utc_offset is_dst", emit: emitZones}},
	}
}

func emitDatabases(q *query) error {
	name, named := q.text("datname")
	for _, d := range databases(q.c) {
		if named && d.Name != name {
			continue
		}
		if err := q.emit(dOID(d.OID), dText(d.Name)); err != nil {
			return err
		}
	}
	return nil
}

func emitUsers(q *query) error {
	for _, r := range roles(q.c) {
		if !r.Login {
			continue
		}
		if err := q.emit(dText(r.Name), dOID(r.OID), dBool(r.Superuser), dBool(r.Superuser), dBool(r.Superuser)); err != nil {
			return err
		}
	}
	return nil
}

func emitSettings(q *query) error {
	l, ok := q.c.Session.(SettingsLister)
	if !ok {
		return nil
	}
	name, named := q.text("name")
	for _, s := range l.Settings() {
		if named && s.Name != name {
			continue
		}
		if err := q.emit(dText(s.Name), dText(s.Value), dTextOr(s.Unit), dText(s.Desc), dText(or(s.Context, "user")),
			dText(or(s.VarType, "string")), dText(or(s.Source, "default")), dText(s.Boot), dText(s.Reset)); err != nil {
			return err
		}
	}
	return nil
}

func or(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

func emitActivity(q *query) error {
	l, ok := q.c.Session.(ActivityLister)
	if !ok {
		return nil
	}
	pid, only := q.eq[q.rel.index["pid"]]
	for _, a := range l.Activities() {
		if only && int64(a.PID) != pid.I {
			continue
		}
		addr, port := types.Null, types.Null
		if host, p, err := net.SplitHostPort(a.Addr); err == nil {
			addr = dText(host)
			if n, err := strconv.Atoi(p); err == nil {
				port = dInt(int64(n))
			}
		}
		if err := q.emit(dOID(a.DatabaseOID), dText(a.Database), dInt(int64(a.PID)), dOID(roleOID(q, a.User)), dText(a.User),
			dText(a.AppName), addr, port, dTime(a.Connected), dTime(a.XactStart), dTime(a.QueryStart), dTime(a.Changed),
			dText(a.State), dText(a.Query), dText("client backend")); err != nil {
			return err
		}
	}
	return nil
}

func roleOID(q *query, name string) uint32 {
	for _, r := range roles(q.c) {
		if r.Name == name {
			return r.OID
		}
	}
	return ownerOID
}

func emitDatabaseStats(q *query) error {
	count := map[uint32]int64{}
	if l, ok := q.c.Session.(ActivityLister); ok {
		for _, a := range l.Activities() {
			count[a.DatabaseOID]++
		}
	}
	for _, d := range databases(q.c) {
		if err := q.emit(dOID(d.OID), dText(d.Name), dInt(count[d.OID])); err != nil {
			return err
		}
	}
	return nil
}

func emitPrepared(q *query) error {
	l, ok := q.c.Session.(StatementLister)
	if !ok {
		return nil
	}
	for _, p := range l.PreparedStatements() {
		params := array(types.RegtypeOID, 1, oidItems(p.Params))
		if err := q.emit(dText(p.Name), dText(p.Text), dTime(p.Prepared), params, dBool(p.SQL)); err != nil {
			return err
		}
	}
	return nil
}

func emitCursors(q *query) error {
	l, ok := q.c.Session.(CursorLister)
	if !ok {
		return nil
	}
	for _, p := range l.Cursors() {
		if err := q.emit(dText(p.Name), dText(p.Text), dBool(p.Hold), dBool(p.Binary), dBool(p.Scroll), dTime(p.Declared)); err != nil {
			return err
		}
	}
	return nil
}

// emitZones lists the time zones that this build can load, as they stand now.
func emitZones(q *query) error {
	now := q.c.Clock()
	want, named := q.text("name")
	for _, name := range zoneNames() {
		if named && name != want {
			continue
		}
		loc, err := time.LoadLocation(name)
		if err != nil {
			continue
		}
		at := now.In(loc)
		abbrev, off := at.Zone()
		if err := q.emit(dText(name), dText(abbrev), types.Datum{I: int64(off) * 1e6, Valid: true}, dBool(at.IsDST())); err != nil {
			return err
		}
	}
	return nil
}
