package translate

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/eiderdb/eider/translate/pgerr"
)

// settingValue is the value of one parameter in a session. eff is in force now; sess is
// what comes back when the transaction with a SET LOCAL ends.
type settingValue struct{ eff, sess string }

// settingUndo restores one parameter when a transaction or subtransaction aborts.
type settingUndo struct {
	key string
	old settingValue
	had bool
}

// settings holds what a session changed, in base units by lower-case name. Parameters that
// are not in vals have their reset value.
type settings struct {
	vals  map[string]settingValue
	reset map[string]string // startup values, which RESET goes back to
	undo  []settingUndo
	inTx  bool // changes are recorded in undo
	dirty bool // a reported setting may have changed since the last report
	sent  map[string]string
	gen   uint64 // bumped by every change

	fast    fastSettings
	fastGen uint64
}

// fastSettings are the values the statement path reads, decoded.
type fastSettings struct {
	statementTimeout time.Duration
	lockTimeout      time.Duration
	idleTxTimeout    time.Duration
	idleTimeout      time.Duration
	sync             bool
	minMessages      string
	searchPath       []string
}

func newSettings() *settings {
	return &settings{vals: map[string]settingValue{}, reset: map[string]string{}, sent: map[string]string{}, gen: 1}
}

// get returns the effective value in base units.
func (g *settings) get(d *settingDef) string {
	if v, ok := g.vals[d.key]; ok {
		return v.eff
	}
	return g.resetValue(d)
}

func (g *settings) resetValue(d *settingDef) string {
	if v, ok := g.reset[d.key]; ok {
		return v
	}
	return d.def
}

// put stores a validated value; local changes last until the transaction ends.
func (g *settings) put(key, value string, local bool) {
	old, had := g.vals[key]
	if g.inTx {
		g.undo = append(g.undo, settingUndo{key: key, old: old, had: had})
	}
	next := settingValue{eff: value, sess: value}
	if local {
		next.sess = old.sess
		if !had {
			next.sess = g.baseValue(key)
		}
	}
	g.vals[key] = next
	g.changed(key)
}

func (g *settings) baseValue(key string) string {
	if d := settingDefs().byKey[key]; d != nil {
		return g.resetValue(d)
	}
	return ""
}

func (g *settings) changed(key string) {
	g.gen++
	if d := settingDefs().byKey[key]; d != nil && d.report {
		g.dirty = true
	}
}

// begin starts recording; rollbackTo(mark) undoes what came after mark; end finishes the
// transaction, keeping session values when it committed.
func (g *settings) begin() { g.inTx, g.undo = true, g.undo[:0] }

func (g *settings) mark() int { return len(g.undo) }

func (g *settings) rollbackTo(mark int) {
	for len(g.undo) > mark {
		u := g.undo[len(g.undo)-1]
		g.undo = g.undo[:len(g.undo)-1]
		switch {
		case u.had:
			g.vals[u.key] = u.old
		case settingDefs().byKey[u.key] == nil:
			g.vals[u.key] = settingValue{} // a custom parameter stays known, and empty
		default:
			delete(g.vals, u.key)
		}
		g.changed(u.key)
	}
}

func (g *settings) end(commit bool) {
	if !commit {
		g.rollbackTo(0)
	}
	for _, u := range g.undo {
		if v, ok := g.vals[u.key]; ok && v.eff != v.sess {
			v.eff = v.sess
			g.vals[u.key] = v
			g.changed(u.key)
		}
	}
	g.undo = g.undo[:0]
	g.inTx = false
}

// resetAll is RESET ALL.
func (g *settings) resetAll() {
	for _, k := range slices.Sorted(maps.Keys(g.vals)) {
		switch k {
		case "transaction_isolation", "transaction_read_only", "transaction_deferrable", "role", "session_authorization", "seed":
			continue
		}
		if d := settingDefs().byKey[k]; d != nil {
			g.put(k, g.resetValue(d), false)
		} else {
			g.put(k, "", false)
		}
	}
}

// decoded returns the values the statement path needs.
func (g *settings) decoded() *fastSettings {
	if g.fastGen == g.gen {
		return &g.fast
	}
	g.fastGen = g.gen
	ms := func(key string) time.Duration {
		d := settingDefs().byKey[key]
		return time.Duration(parseBound(g.get(d), 0)) * time.Millisecond
	}
	g.fast = fastSettings{
		statementTimeout: ms("statement_timeout"),
		lockTimeout:      ms("lock_timeout"),
		idleTxTimeout:    ms("idle_in_transaction_session_timeout"),
		idleTimeout:      ms("idle_session_timeout"),
		sync:             g.text("synchronous_commit") != "off",
		minMessages:      g.text("client_min_messages"),
	}
	g.fast.searchPath, _ = splitIdentifiers(g.text("search_path"))
	return &g.fast
}

// text is the effective value by name, "" for unknown names.
func (g *settings) text(key string) string {
	if d := settingDefs().byKey[key]; d != nil {
		return g.get(d)
	}
	return g.vals[key].eff
}

// customSetting says whether name may be a custom parameter: identifiers joined by dots.
func customSetting(name string) bool { return strings.Contains(name, ".") }

func validCustomName(name string) bool {
	for part := range strings.SplitSeq(name, ".") {
		if part == "" {
			return false
		}
		for i := 0; i < len(part); i++ {
			c := part[i]
			if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80 || i > 0 && (c >= '0' && c <= '9' || c == '$')) {
				return false
			}
		}
	}
	return true
}

func unknownSetting(name string) *pgerr.Error {
	return pgerr.New(pgerr.UndefinedObject, "unrecognized configuration parameter %q", name)
}

// settingSource says where a change comes from.
type settingSource uint8

const (
	fromSQL settingSource = iota
	fromStartup
)

// change validates and stores name = value; def asks for the reset value.
func (s *Session) change(name, value string, def, local bool, src settingSource) error {
	key := strings.ToLower(name)
	d := settingDefs().byKey[key]
	if d == nil {
		if !customSetting(key) {
			return unknownSetting(name)
		}
		if !validCustomName(name) {
			return pgerr.New(pgerr.InvalidName, "invalid configuration parameter name %q", name).
				WithDetail("Custom parameter names must be two or more simple identifiers separated by dots.")
		}
		if src == fromStartup {
			s.set.reset[key] = value
		}
		s.set.put(key, value, local)
		return nil
	}
	if err := d.mayChange(src); err != nil {
		return err
	}
	switch key {
	case "transaction_isolation", "transaction_read_only", "transaction_deferrable":
		return s.setTransactionSetting(key, value, def)
	case "role", "session_authorization":
		return s.setIdentity(d, value, def)
	}
	if def {
		s.set.put(key, s.set.resetValue(d), local)
		return nil
	}
	canon, err := d.validate(value)
	if key == "datestyle" {
		canon, err = validDateStyle(s.set.get(d), value)
	}
	if err != nil {
		return err
	}
	if key == "standard_conforming_strings" && canon == "off" {
		return badValue(d.name, value).WithDetail("Backslashes are literal in ordinary strings; use E'...' for escapes.")
	}
	if src == fromStartup {
		s.set.reset[key] = canon
	}
	s.set.put(key, canon, local)
	return nil
}

const cantChangeRuntimeParam = "55P02"

// mayChange refuses parameters that a session cannot set.
func (d *settingDef) mayChange(src settingSource) error {
	switch d.context {
	case "internal":
		return pgerr.New(cantChangeRuntimeParam, "parameter %q cannot be changed", d.name)
	case "postmaster":
		return pgerr.New(cantChangeRuntimeParam, "parameter %q cannot be changed without restarting the server", d.name)
	case "sighup":
		return pgerr.New(cantChangeRuntimeParam, "parameter %q cannot be changed now", d.name)
	case "backend", "superuser-backend":
		if src != fromStartup {
			return pgerr.New(cantChangeRuntimeParam, "parameter %q cannot be set after connection start", d.name)
		}
	}
	return nil
}

// setIdentity is SET ROLE and SET SESSION AUTHORIZATION: only the session's own user exists.
func (s *Session) setIdentity(d *settingDef, value string, def bool) error {
	if def || d.key == "role" && value == "none" {
		s.set.put(d.key, s.set.resetValue(d), false)
		return nil
	}
	if value != s.opts.User {
		return pgerr.New(pgerr.InvalidParameterValue, "role %q does not exist", value)
	}
	s.set.put(d.key, value, false)
	return nil
}

// show returns a parameter's value as SHOW displays it.
func (s *Session) show(name string) (canonical, value string, ok bool) {
	key := strings.ToLower(name)
	if d := settingDefs().byKey[key]; d != nil {
		return d.name, s.showDef(d), true
	}
	if v, found := s.set.vals[key]; found {
		return key, v.eff, true
	}
	return "", "", false
}

func (s *Session) showDef(d *settingDef) string {
	switch d.key {
	case "transaction_isolation":
		return s.isolationName()
	case "transaction_read_only":
		return onOff(s.readOnly())
	case "transaction_deferrable":
		return onOff(s.tx.deferrable)
	}
	return d.display(s.set.get(d))
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

// Params returns the settings to announce by ParameterStatus when the session starts.
func (s *Session) Params() []Param {
	out := make([]Param, 0, len(reportedSettings))
	for _, k := range reportedSettings {
		d := settingDefs().byKey[k]
		v := s.showDef(d)
		s.set.sent[k] = v
		out = append(out, Param{Name: d.name, Value: v})
	}
	s.set.dirty = false
	return out
}

// ReportChanges sends a ParameterStatus for every reported setting that changed since the
// last report. Simple and Execute call it; the server may call it before ReadyForQuery.
func (s *Session) ReportChanges(out Out) error {
	if !s.set.dirty {
		return nil
	}
	s.set.dirty = false
	for _, k := range reportedSettings {
		d := settingDefs().byKey[k]
		if v := s.showDef(d); v != s.set.sent[k] {
			s.set.sent[k] = v
			if err := out.ParameterStatus(d.name, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// applyStartup applies the startup packet's settings.
func (s *Session) applyStartup() error {
	s.set.reset["session_authorization"] = s.opts.User
	if s.deps.Version != "" {
		s.set.reset["server_version"] = settingDefs().byKey["server_version"].def + " (Eider " + s.deps.Version + ")"
	}
	for _, k := range slices.Sorted(maps.Keys(s.opts.RuntimeParams)) {
		v := s.opts.RuntimeParams[k]
		if strings.HasPrefix(k, "_pq_.") {
			continue
		}
		switch k {
		case "user", "database", "application_name", "replication":
			continue
		}
		if k == "options" {
			if err := s.applyOptions(v); err != nil {
				return err
			}
			continue
		}
		if err := s.change(k, v, false, false, fromStartup); err != nil {
			return err
		}
	}
	if s.opts.ApplicationName != "" {
		return s.change("application_name", s.opts.ApplicationName, false, false, fromStartup)
	}
	return nil
}

// applyOptions reads -c name=value, -cname=value and --name=value; a backslash keeps the
// next character.
func (s *Session) applyOptions(line string) error {
	args := splitOptions(line)
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-c" && i+1 < len(args):
			i++
			a = args[i]
		case strings.HasPrefix(a, "-c"):
			a = a[2:]
		case strings.HasPrefix(a, "--"):
			a = a[2:]
		default:
			return pgerr.New(pgerr.SyntaxError, "invalid command-line argument for server process: %s", a)
		}
		name, value, ok := strings.Cut(a, "=")
		if !ok {
			return pgerr.New(pgerr.SyntaxError, "-c %s requires a value", a)
		}
		if err := s.change(strings.ReplaceAll(name, "-", "_"), value, false, false, fromStartup); err != nil {
			return err
		}
	}
	return nil
}

func splitOptions(line string) []string {
	var out []string
	var b strings.Builder
	in := false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && i+1 < len(line):
			i++
			b.WriteByte(line[i])
			in = true
		case c == ' ' || c == '\t' || c == '\n':
			if in {
				out = append(out, b.String())
				b.Reset()
				in = false
			}
		default:
			b.WriteByte(c)
			in = true
		}
	}
	if in {
		out = append(out, b.String())
	}
	return out
}
