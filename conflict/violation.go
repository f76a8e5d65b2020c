package conflict

import (
	"fmt"
	"strings"
)

// Code names a check: the stable word that settings, findings and metrics use.
type Code string

// Violation is one thing that a commit must not do. Only the constructors of this package
// (errors*.go) make one, so that every text keeps to the client's retry rule (lake/retry):
// that of a retryable one contains one of its words, that of any other contains none.
type Violation struct {
	Code Code
	// Table is the table of the lake that it is about; 0 when it is about none.
	Table int64
	// Text says what is wrong in one sentence that starts in lower case.
	Text string
	// Detail says what would come of it, or shows examples; Hint says what to do. Both are
	// sentences, or empty.
	Detail, Hint string
	// SQLState is the error's code when the commit is refused.
	SQLState string
	// Retry marks what the same commit, done again by the client on the newest state,
	// need not meet again. Everything else is final: a client must not try again.
	Retry bool
}

// String is the violation on one line.
func (v Violation) String() string { return fmt.Sprintf("%s: %s", v.Code, v.Text) }

// Mode is what happens when a commit violates a check.
type Mode uint8

// The modes.
const (
	// Enforce refuses the commit. It is the default.
	Enforce Mode = iota
	// Warn lets it land and records a finding.
	Warn
	// Off does not look.
	Off
)

func (m Mode) String() string {
	switch m {
	case Enforce:
		return "enforce"
	case Warn:
		return "warn"
	case Off:
		return "off"
	}
	return "unknown"
}

// ParseMode returns the mode of a name, in any case.
func ParseMode(s string) (Mode, bool) {
	for m := Enforce; m <= Off; m++ {
		if strings.EqualFold(s, m.String()) {
			return m, true
		}
	}
	return Enforce, false
}

// Any stands for every check in a Setting.
const Any Code = "*"

// Setting is the mode of one check, or of all, for one table of a lake, or for all.
type Setting struct {
	// Table is a table id; 0 is every table, and what is about no table.
	Table int64
	Check Code
	Mode  Mode
}

// advisory says of a check that what it finds is no fault of the commit. Whoever enforces
// checks in general does not mean it.
func advisory(c Code) bool { return c == CodeUnread }

// Modes are the settings of one lake. The zero value enforces everything but what is advisory.
type Modes struct {
	// Default is the mode of what no setting names.
	Default  Mode
	Settings []Setting
}

// Of returns the mode of a check for a table: the setting for the table goes before the
// lake's, and in each the one for the check before the one for all. Among equal settings
// the last counts. What is advisory is not enforced unless the setting is for it by name.
func (m *Modes) Of(check Code, table int64) Mode {
	best, mode, named := 0, m.Default, false
	for i := range m.Settings {
		s := &m.Settings[i]
		rank := 1
		switch {
		case s.Table != 0 && s.Table != table, s.Check != Any && s.Check != check:
			continue
		case s.Table != 0:
			rank += 2
		}
		if s.Check == check {
			rank++
		}
		if rank >= best {
			best, mode, named = rank, s.Mode, s.Check == check
		}
	}
	if advisory(check) && !named {
		mode = max(mode, Warn)
	}
	return mode
}
