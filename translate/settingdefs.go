package translate

import (
	_ "embed"
	"math"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// settingsText lists the run-time parameters with PostgreSQL 15's types, units, ranges and
// defaults: name|unit|kind|context|min|max|allowed values|default.
//
//go:embed settings.txt
var settingsText string

type settingKind uint8

const (
	kindString settingKind = iota
	kindBool
	kindInt
	kindReal
	kindEnum
)

func (k settingKind) String() string {
	return [...]string{"string", "bool", "integer", "real", "enum"}[k]
}

// settingDef describes one run-time parameter. Definitions are immutable.
type settingDef struct {
	name    string // as SHOW ALL spells it
	key     string // lower case
	unit    string // "", "ms", "s", "min", "B", "kB", "8kB", "MB"
	kind    settingKind
	context string // pg_settings.context
	min     float64
	max     float64
	minText string
	maxText string
	values  []string
	def     string // in the base unit
	report  bool
	list    bool // takes a list of values
	quote   bool // list elements are identifiers
}

// reportedSettings are announced by ParameterStatus at startup and when they change.
var reportedSettings = [...]string{
	"application_name", "client_encoding", "datestyle", "default_transaction_read_only",
	"in_hot_standby", "integer_datetimes", "intervalstyle", "is_superuser", "server_encoding",
	"server_version", "session_authorization", "standard_conforming_strings", "timezone",
}

// hiddenSettings exist but are not listed by SHOW ALL and pg_settings.
var hiddenSettings = [...]string{"is_superuser", "role", "session_authorization", "seed"}

type settingTable struct {
	byKey  map[string]*settingDef
	sorted []*settingDef // by lower-case name, without hidden ones
}

// settingDefs parses the list once.
var settingDefs = sync.OnceValue(func() *settingTable {
	t := &settingTable{byKey: make(map[string]*settingDef, 256)}
	kinds := map[string]settingKind{"string": kindString, "bool": kindBool, "integer": kindInt, "real": kindReal, "enum": kindEnum}
	for line := range strings.Lines(settingsText) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		if len(f) < 8 {
			continue
		}
		d := &settingDef{
			name: f[0], key: strings.ToLower(f[0]), unit: f[1], kind: kinds[f[2]], context: f[3],
			minText: f[4], maxText: f[5], def: strings.Join(f[7:], "|"),
		}
		d.min, d.max = parseBound(f[4], -math.MaxFloat64), parseBound(f[5], math.MaxFloat64)
		if f[6] != "" {
			d.values = strings.Split(f[6], ",")
		}
		t.byKey[d.key] = d
		t.sorted = append(t.sorted, d)
	}
	for _, k := range reportedSettings {
		t.byKey[k].report = true
	}
	for _, k := range [...]string{"search_path", "temp_tablespaces", "local_preload_libraries", "session_preload_libraries"} {
		t.byKey[k].list, t.byKey[k].quote = true, true
	}
	t.byKey["datestyle"].list = true
	t.sorted = removeHidden(t.sorted)
	sort.Slice(t.sorted, func(i, j int) bool { return t.sorted[i].key < t.sorted[j].key })
	return t
})

func removeHidden(in []*settingDef) []*settingDef {
	out := in[:0:0]
next:
	for _, d := range in {
		for _, h := range hiddenSettings {
			if d.key == h {
				continue next
			}
		}
		out = append(out, d)
	}
	return out
}

func parseBound(s string, none float64) float64 {
	if s == "" {
		return none
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return none
	}
	return f
}

// settingUnit is one spelling of a unit and its size in the smallest unit of its family.
type settingUnit struct {
	name string
	size float64
}

// The unit families, largest first; memory counts bytes, time counts microseconds.
var (
	memoryUnits = [...]settingUnit{{"TB", 1 << 40}, {"GB", 1 << 30}, {"MB", 1 << 20}, {"kB", 1 << 10}, {"B", 1}}
	timeUnits   = [...]settingUnit{{"d", 86400e6}, {"h", 3600e6}, {"min", 60e6}, {"s", 1e6}, {"ms", 1e3}, {"us", 1}}
)

// base returns the unit family of a definition and the size of its base unit.
func (d *settingDef) base() (family []settingUnit, size float64) {
	switch d.unit {
	case "B":
		return memoryUnits[:], 1
	case "kB":
		return memoryUnits[:], 1 << 10
	case "8kB":
		return memoryUnits[:], 8 << 10
	case "MB":
		return memoryUnits[:], 1 << 20
	case "ms":
		return timeUnits[:], 1e3
	case "s":
		return timeUnits[:], 1e6
	case "min":
		return timeUnits[:], 60e6
	}
	return nil, 0
}

// display formats a value in base units as SHOW does: with the largest unit that divides it.
func (d *settingDef) display(v string) string {
	family, size := d.base()
	if family == nil {
		return v
	}
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || f <= 0 {
		return v
	}
	total := f * size
	for _, u := range family {
		if q := total / u.size; q >= 1 && q == math.Trunc(q) {
			return strconv.FormatFloat(q, 'f', -1, 64) + u.name
		}
	}
	return v + d.unit
}
