package conflict_test

import (
	"strings"
	"testing"

	"github.com/eiderdb/eider/conflict"
)

func TestModes(t *testing.T) {
	t.Parallel()
	m := conflict.Modes{Settings: []conflict.Setting{
		{Table: 7, Check: conflict.Any, Mode: conflict.Warn},
		{Check: conflict.CodeCounter, Mode: conflict.Off},
		{Table: 7, Check: conflict.CodeSpan, Mode: conflict.Enforce},
		{Table: 8, Check: conflict.CodeSpan, Mode: conflict.Off},
	}}
	for _, c := range []struct {
		code  conflict.Code
		table int64
		want  conflict.Mode
	}{
		{conflict.CodeCounter, 0, conflict.Off},
		{conflict.CodeCounter, 7, conflict.Warn},
		{conflict.CodeSpan, 7, conflict.Enforce},
		{conflict.CodeSpan, 8, conflict.Off},
		{conflict.CodeSpan, 9, conflict.Enforce},
		{conflict.CodeNegative, 7, conflict.Warn},
	} {
		if got := m.Of(c.code, c.table); got != c.want {
			t.Errorf("%s of table %d: %v, want %v", c.code, c.table, got, c.want)
		}
	}
	for _, c := range []struct {
		name string
		m    conflict.Modes
		want conflict.Mode
	}{
		{"nothing set", conflict.Modes{}, conflict.Warn},
		{"all off", conflict.Modes{Default: conflict.Off}, conflict.Off},
		{"all enforced", conflict.Modes{Default: conflict.Off, Settings: []conflict.Setting{{Check: conflict.Any, Mode: conflict.Enforce}}}, conflict.Warn},
		{"enforced by name", conflict.Modes{Settings: []conflict.Setting{{Check: conflict.CodeUnread, Mode: conflict.Enforce}}}, conflict.Enforce},
		{"enforced by name, all enforced for the table", conflict.Modes{Settings: []conflict.Setting{
			{Check: conflict.CodeUnread, Mode: conflict.Enforce},
			{Table: 7, Check: conflict.Any, Mode: conflict.Enforce},
		}}, conflict.Warn},
	} {
		if got := c.m.Of(conflict.CodeUnread, 7); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	for mode := conflict.Enforce; mode <= conflict.Off; mode++ {
		if got, ok := conflict.ParseMode(strings.ToUpper(mode.String())); !ok || got != mode {
			t.Errorf("%v reads as %v", mode, got)
		}
	}
	if _, ok := conflict.ParseMode("loud"); ok {
		t.Error("loud is a mode")
	}
}
