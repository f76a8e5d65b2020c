package pgcatalog

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/types"
)

//go:embed static.txt
var staticText string

// staticTable is one section of static.txt.
type staticTable struct {
	name string
	cols []string
	rows []string
}

// staticTables reads static.txt once.
var staticTables = sync.OnceValue(func() map[string]*staticTable {
	out := make(map[string]*staticTable)
	var cur *staticTable
	for line := range strings.Lines(staticText) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '@':
			f := strings.Fields(line[1:])
			cur = &staticTable{name: f[0], cols: f[1:]}
			out[cur.name] = cur
		default:
			cur.rows = append(cur.rows, line)
		}
	}
	return out
})

// fixedTables are the sections of static.txt that are relations as they stand.
var fixedTables = []string{
	"pg_am", "pg_collation", "pg_tablespace", "pg_language", "pg_type", "pg_proc", "pg_cast",
	"pg_operator", "pg_opclass", "pg_opfamily",
}

func staticGenerators() map[string][]generator {
	out := make(map[string][]generator)
	for _, name := range fixedTables {
		st := staticTables()[name]
		var once sync.Once
		var rows [][]types.Datum
		out["pg_catalog."+name] = []generator{{fill: strings.Join(st.cols, " "), emit: func(q *query) error {
			once.Do(func() { rows = parseStatic(q.rel, st) })
			for _, r := range rows {
				if !mayEqual(q, r) {
					continue
				}
				if err := q.emit(r...); err != nil {
					return err
				}
			}
			return nil
		}}}
	}
	return out
}

// mayEqual drops rows that a constraint on an integer column rules out.
func mayEqual(q *query, r []types.Datum) bool {
	for i, d := range q.eq {
		if q.rel.cols[i].Type.OID != types.OidOID {
			continue
		}
		for k, at := range q.gen.set {
			if at == i && r[k].I != d.I {
				return false
			}
		}
	}
	return true
}

// parseStatic reads the rows of a section. Only the types that occur there are known.
func parseStatic(t *relation, st *staticTable) [][]types.Datum {
	cols := make([]exec.Column, len(st.cols))
	for i, c := range st.cols {
		cols[i] = t.cols[t.index[c]]
	}
	out := make([][]types.Datum, 0, len(st.rows))
	for _, line := range st.rows {
		f := strings.Split(line, "\t")
		row := make([]types.Datum, len(f))
		for i, s := range f {
			row[i] = staticValue(cols[i].Type.OID, s)
		}
		if st.name == "pg_type" {
			if in, ok := types.Lookup(types.OID(row[0].I)); ok && !in.Supported {
				continue
			}
		}
		out = append(out, row)
	}
	return out
}

func staticValue(oid types.OID, s string) types.Datum {
	if s == `\N` {
		return types.Null
	}
	switch oid {
	case types.BoolOID:
		return dBool(s == "t")
	case types.Int2OID, types.Int4OID, types.Int8OID, types.OidOID, types.RegprocOID:
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			panic("pgcatalog: bad number in static.txt: " + s)
		}
		return dInt(n)
	case types.Float4OID:
		f, err := strconv.ParseFloat(s, 32)
		if err != nil {
			panic("pgcatalog: bad number in static.txt: " + s)
		}
		return dFloat(f)
	case types.OidVectorOID:
		var v []uint32
		for _, w := range strings.Fields(s) {
			n, err := strconv.ParseUint(w, 10, 32)
			if err != nil {
				panic("pgcatalog: bad oid in static.txt: " + s)
			}
			v = append(v, uint32(n))
		}
		return dOIDVector(v)
	}
	return dText(s)
}

// opclassOf maps a type to its default btree operator class.
var opclassOf = sync.OnceValue(func() map[types.OID]uint32 {
	st := staticTables()["pg_opclass"]
	out := make(map[types.OID]uint32)
	for _, line := range st.rows {
		f := strings.Split(line, "\t")
		oid, _ := strconv.ParseUint(f[0], 10, 32)
		in, _ := strconv.ParseUint(f[6], 10, 32)
		out[types.OID(in)] = uint32(oid)
	}
	return out
})

// zoneNames are the names of pg_timezone_names.
func zoneNames() []string { return staticTables()["pg_timezone_names"].rows }

// procNames maps the oids of pg_proc to names, and procByName the other way.
var (
	procNames = sync.OnceValue(func() map[uint32]string {
		out := make(map[uint32]string)
		for _, line := range staticTables()["pg_proc"].rows {
			f := strings.SplitN(line, "\t", 3)
			oid, _ := strconv.ParseUint(f[0], 10, 32)
			out[uint32(oid)] = f[1]
		}
		return out
	})
	procByName = sync.OnceValue(func() map[string]uint32 {
		out := make(map[string]uint32)
		for oid, name := range procNames() {
			out[name] = oid
		}
		return out
	})
)
