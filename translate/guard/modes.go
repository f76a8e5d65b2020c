package guard

import (
	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
)

// Where a catalog keeps the modes of its checks, and what was found. Both are ordinary
// tables, made when somebody first needs them.
const (
	schemaName    = "eider"
	settingsTable = "settings"
	findingsTable = "findings"
)

// loadModes reads the settings of a catalog that count for one lake: those that name it
// by its metadata schema come after, and so go before, those for all. It reads them
// without the commit's own rows, which count for the next one; a table that only has the
// name of the settings is none.
func loadModes(txn *store.Txn, lake string, def conflict.Mode) (*conflict.Modes, error) {
	m := &conflict.Modes{Default: def}
	s, ok := txn.SchemaByName(schemaName)
	if !ok {
		return m, nil
	}
	t, ok := txn.TableByName(s.OID, settingsTable)
	if !ok || t.Kind != rel.KindTable {
		return m, nil
	}
	for _, name := range []string{"lake", "table_id", "check", "mode"} {
		if _, ok := t.Column(name); !ok {
			return m, nil
		}
	}
	r := relation{txn, t}
	var own []conflict.Setting
	err := r.each("", nil, func(_ uint64, t row.Tuple) error {
		x := conflict.Setting{Table: r.num(t, "table_id"), Check: conflict.Code(r.text(t, "check")), Mode: conflict.Enforce}
		if x.Check == "" {
			x.Check = conflict.Any
		}
		// A word that nobody knows must not turn a check off.
		x.Mode, _ = conflict.ParseMode(r.text(t, "mode"))
		switch r.text(t, "lake") {
		case "":
			m.Settings = append(m.Settings, x)
		case lake:
			own = append(own, x)
		}
		return nil
	})
	m.Settings = append(m.Settings, own...)
	return m, err
}
