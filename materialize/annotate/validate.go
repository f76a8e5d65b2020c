package annotate

import "fmt"

// Validate complains of lines that do not go together. Parse has done it: this is for
// headers that are made otherwise.
func (h *Header) Validate() []Diagnostic {
	v := &validator{}
	m := h.Materialize
	if m == nil {
		if len(h.Tests) > 0 {
			v.say(h.Tests[0].Line, keyDataTest, CodeConflict, SeverityError, "there is no table to test: the header has no materialize line",
				"write materialize ducklake://LAKE/TABLE")
		}
		if h.Partitioned != nil {
			v.say(h.Partitioned.Line, keyPartitioned, CodeNoEffect, SeverityWarning, "there is no table to partition: the header has no materialize line",
				"write materialize ducklake://LAKE/TABLE")
		}
		return v.list
	}
	v.target(h, m)
	v.tests(h, m)
	if m.Manual {
		if m.Strategy() != Replace {
			v.say(m.Line, keyMaterialize, CodeNoEffect, SeverityWarning, fmt.Sprintf("a manual script writes its table itself: %s has no effect", m.Strategy()), "remove manual or the options")
		}
		return v.list
	}
	v.strategy(h, m)
	return v.list
}

// validator collects complaints.
type validator struct{ list []Diagnostic }

func (v *validator) say(line int, keyword string, code Code, severity Severity, message, remedy string) {
	v.list = append(v.list, Diagnostic{
		Line: line, Keyword: keyword, Code: code, Severity: severity, Message: keyword + ": " + message, Remedy: remedy,
	})
}

// target looks at the table's name.
func (v *validator) target(h *Header, m *Materialize) {
	if m.Asset.Kind != KindLake {
		if !m.Manual && len(h.Tests) == 0 {
			v.say(m.Line, keyMaterialize, CodeTarget, SeverityWarning, fmt.Sprintf("%s is no table of a lake: the script is run as it is and writes it itself", m.Asset),
				"write ducklake://LAKE/TABLE, or materialize manual")
		}
		return
	}
	if m.Asset.Lake() == "" || m.Asset.Table() == "" {
		v.say(m.Line, keyMaterialize, CodeTarget, SeverityError, fmt.Sprintf("%s names no table of a lake", m.Asset), "write ducklake://LAKE/TABLE")
	}
}

// tests looks at whether the table can be tested, and against what.
func (v *validator) tests(h *Header, m *Materialize) {
	for i, t := range h.Tests {
		switch {
		case i > 0: // once is enough
		case m.Manual:
			v.say(t.Line, keyDataTest, CodeConflict, SeverityError, "the table of a manual script cannot be tested: where it is written is not known", "remove manual or the tests")
		case m.Asset.Kind != KindLake:
			v.say(t.Line, keyDataTest, CodeConflict, SeverityError, fmt.Sprintf("only tables of a lake can be tested, and %s is none", m.Asset), "write materialize ducklake://LAKE/TABLE, or remove the tests")
		}
		if t.Kind != TestRelationships {
			continue
		}
		if k := t.Ref.Kind; k != KindLake && k != KindDataTable || t.Ref.Lake() == "" || t.Ref.Table() == "" {
			v.say(t.Line, keyDataTest, CodeTarget, SeverityError, fmt.Sprintf("%s names no table", t.Ref), "write relationships COL -> ducklake://LAKE/TABLE.COL")
		}
	}
}

// strategy looks at the options that choose how a managed table is written.
func (v *validator) strategy(h *Header, m *Materialize) {
	effect := func(set bool, option, why string) {
		if set {
			v.say(m.Line, keyMaterialize, CodeNoEffect, SeverityWarning, option+" has no effect: "+why, "remove it")
		}
	}
	if m.History {
		if m.Key == "" {
			v.say(m.Line, keyMaterialize, CodeConflict, SeverityError, "history needs a key to tell whose versions rows are", "write key=COLUMN")
		}
		if h.Partitioned != nil {
			v.say(h.Partitioned.Line, keyPartitioned, CodeConflict, SeverityError, "a history cannot be partitioned", "remove partitioned or history")
		}
		effect(m.Append, "append", "history comes first")
	} else {
		effect(m.Append && m.Key != "", "key="+m.Key, "append adds all rows")
		effect(len(m.Track) > 0, "track=", "it is for history")
		effect(m.CloseDeleted, "deletes=close", "it is for history")
	}
	fixed := !m.History && (m.Strategy() != Replace || h.Partitioned != nil)
	effect(!fixed && m.OnSchemaChange != SchemaWarn && m.OnSchemaChange != "", "on_schema_change="+string(m.OnSchemaChange), "this strategy does not go by it")
}
