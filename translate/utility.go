package translate

import (
	"maps"
	"slices"
	"strings"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

func upper(s string) string { return strings.ToUpper(s) }

func textColumn(name string) exec.Column {
	return exec.Column{Name: name, Type: types.T{OID: types.TextOID, Mod: -1}}
}

func textDatum(s string) types.Datum { return types.Datum{B: []byte(s), Valid: true} }

// execSet runs SET in all its forms and returns its tag.
func (s *Session) execSet(st *ast.Set, out Out) (string, error) {
	if st.Local && !s.tx.block && !s.tx.implicit {
		if err := s.notice(out, warning(pgerr.NoActiveSQLTransaction, "SET LOCAL can only be used in transaction blocks")); err != nil {
			return "", err
		}
	}
	name := st.Name
	switch st.Special {
	case "time zone":
		name = "timezone"
	case "names":
		name = "client_encoding"
	case "role":
		name = "role"
	case "session authorization":
		name = "session_authorization"
	case "constraints":
		if !s.tx.block && !s.tx.implicit {
			if err := s.notice(out, warning(pgerr.NoActiveSQLTransaction, "SET CONSTRAINTS can only be used in transaction blocks")); err != nil {
				return "", err
			}
		}
		return "SET CONSTRAINTS", nil
	}
	def := st.Default
	value := ""
	if !def {
		var err error
		if value, err = flattenValues(name, st.Values); err != nil {
			return "", err
		}
		if st.Special == "time zone" && strings.EqualFold(value, "local") {
			def = true
		}
	}
	if err := s.change(name, value, def, st.Local, fromSQL); err != nil {
		return "", err
	}
	s.env = nil
	return "SET", nil
}

// flattenValues makes one text of SET's value list.
func flattenValues(name string, values []string) (string, error) {
	d := settingDefs().byKey[strings.ToLower(name)]
	if len(values) == 1 && (d == nil || !d.quote) {
		return values[0], nil
	}
	if d == nil || !d.list {
		if d == nil && !customSetting(name) {
			return "", unknownSetting(name)
		}
		return "", pgerr.New(pgerr.InvalidParameterValue, "SET %s takes only one argument", name)
	}
	parts := make([]string, len(values))
	for i, v := range values {
		if d.quote {
			v = quoteIdent(v)
		}
		parts[i] = v
	}
	return strings.Join(parts, ", "), nil
}

func (s *Session) execReset(st *ast.Reset) error {
	defer func() { s.env = nil }()
	if st.All {
		s.set.resetAll()
		return nil
	}
	if d := settingDefs().byKey[strings.ToLower(st.Name)]; d == nil {
		if _, ok := s.set.vals[strings.ToLower(st.Name)]; !ok {
			return unknownSetting(st.Name)
		}
		s.set.put(strings.ToLower(st.Name), "", false)
		return nil
	}
	return s.change(st.Name, "", true, false, fromSQL)
}

func (s *Session) showColumns(st *ast.Show) ([]exec.Column, error) {
	if st.All {
		return []exec.Column{textColumn("name"), textColumn("setting"), textColumn("description")}, nil
	}
	canonical, _, ok := s.show(st.Name)
	if !ok {
		return nil, unknownSetting(st.Name)
	}
	return []exec.Column{textColumn(canonical)}, nil
}

func (s *Session) execShow(st *ast.Show) (*running, error) {
	cols, err := s.showColumns(st)
	if err != nil {
		return nil, err
	}
	if !st.All {
		_, v, _ := s.show(st.Name)
		return rows(cols, "SHOW", []exec.Row{{textDatum(v)}}), nil
	}
	var list []exec.Row
	for _, d := range settingDefs().sorted {
		list = append(list, exec.Row{textDatum(d.name), textDatum(s.showDef(d)), textDatum("")})
	}
	for _, k := range slices.Sorted(maps.Keys(s.set.vals)) {
		if settingDefs().byKey[k] == nil {
			list = append(list, exec.Row{textDatum(k), textDatum(s.set.vals[k].eff), textDatum("")})
		}
	}
	return rows(cols, "SHOW", list), nil
}

func (s *Session) execDiscard(st *ast.Discard) (string, error) {
	switch what := upper(st.What); what {
	case "ALL":
		if err := s.preventInBlock("DISCARD ALL"); err != nil {
			return "", err
		}
		s.abort()
		s.discardAll()
		return "DISCARD ALL", nil
	case "TEMP", "TEMPORARY":
		return "DISCARD TEMP", s.dropTempTables()
	default:
		return "DISCARD " + what, nil // plans and sequences: nothing is kept per session
	}
}

// discardAll makes the session as good as new. REQUIRES: no open transaction.
func (s *Session) discardAll() {
	if len(s.portals) > 0 {
		s.dropAllPortals(true)
	}
	if len(s.stmts) > 0 {
		clear(s.stmts)
	}
	if len(s.set.vals) > 0 {
		s.set.resetAll()
		maps.DeleteFunc(s.set.vals, func(k string, _ settingValue) bool { return settingDefs().byKey[k] != nil })
		s.set.gen++
		s.set.dirty = true
		s.env = nil
	}
	s.unlistenAll()
	s.releaseLocks(true, true)
	s.locks = false
	s.turn.lost = false // the connection goes back to a pool; what is known of its client stays
	if s.tempUsed {
		s.temp.Reset()
		s.tempUsed = false
	}
}

func (s *Session) unlistenAll() {
	if len(s.listens) == 0 {
		return
	}
	s.shared.mu.Lock()
	clear(s.listens)
	s.shared.mu.Unlock()
	s.followCommits()
}

// dropTempTables is DISCARD TEMP.
func (s *Session) dropTempTables() error {
	t, err := s.newStatement()
	if err != nil {
		return err
	}
	for tbl := range t.TempTables() {
		if err := t.DropTable(tbl.OID); err != nil {
			return err
		}
	}
	return nil
}

// execListen runs LISTEN, UNLISTEN and NOTIFY; they take effect when the transaction commits.
func (s *Session) execListen(st ast.Stmt) (string, error) {
	switch st := st.(type) {
	case *ast.Listen:
		s.tx.listens = append(s.tx.listens, listenChange{channel: st.Channel})
		return "LISTEN", nil
	case *ast.Unlisten:
		s.tx.listens = append(s.tx.listens, listenChange{channel: st.Channel, off: true, all: st.All})
		return "UNLISTEN", nil
	case *ast.Notify:
		return "NOTIFY", s.Notify(st.Channel, st.Payload)
	}
	return "", errFeature("statement is not supported")
}

// maxPayload is the longest payload of a NOTIFY, in bytes.
const maxPayload = 7999

// Notify queues a notification for when the transaction commits, as pg_notify() does.
// Equal ones within a transaction are delivered once.
func (s *Session) Notify(channel, payload string) error {
	switch {
	case channel == "":
		return pgerr.New(pgerr.InvalidParameterValue, "channel name cannot be empty")
	case channel == CommitChannel || channel == DroppedChannel:
		return pgerr.New(pgerr.ReservedName, "channel %q is notified by the server alone", channel)
	case len(payload) > maxPayload:
		return pgerr.New(pgerr.InvalidParameterValue, "payload string too long")
	}
	n := Notification{PID: s.opts.PID, Channel: channel, Payload: payload}
	if !slices.Contains(s.tx.notifies, n) {
		s.tx.notifies = append(s.tx.notifies, n)
	}
	return nil
}

// execMaintenance accepts VACUUM and its like, which have nothing to do here: the store
// keeps itself in order.
func (s *Session) execMaintenance(rq *request, st *ast.Maintenance) (string, error) {
	tag := upper(st.Kind)
	if st.Kind == "vacuum" {
		if err := s.preventInBlock(tag); err != nil {
			return "", err
		}
	}
	if len(st.Tables) > 0 && st.Kind != "reindex" {
		t, err := s.newStatement()
		if err != nil {
			return "", err
		}
		for _, n := range st.Tables {
			if _, err := s.bindTable(t, rq, n); err != nil && pgerr.CodeOf(err) != pgerr.WrongObjectType {
				return "", err
			}
		}
	}
	return tag, nil
}

// execLock accepts LOCK TABLE: commits are checked against each other anyway.
func (s *Session) execLock(rq *request, st *ast.Lock) error {
	if err := s.requireBlock("LOCK TABLE"); err != nil {
		return err
	}
	t, err := s.newStatement()
	if err != nil {
		return err
	}
	for _, n := range st.Tables {
		if _, err := s.bindTable(t, rq, n); err != nil && pgerr.CodeOf(err) != pgerr.WrongObjectType {
			return err
		}
	}
	return nil
}
