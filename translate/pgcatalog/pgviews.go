package pgcatalog

import (
	"strings"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/translate/exec"
)

func viewGenerators() map[string][]generator {
	stat := func(kinds ...string) map[string][]generator {
		out := map[string][]generator{}
		for _, k := range kinds {
			out["pg_catalog.pg_stat_"+k+"_tables"] = []generator{{fill: "relid schemaname relname", emit: emitTableStats}}
			out["pg_catalog.pg_statio_"+k+"_tables"] = []generator{{fill: "relid schemaname relname", emit: emitTableStats}}
			out["pg_catalog.pg_stat_"+k+"_indexes"] = []generator{{
				fill: "relid indexrelid schemaname relname indexrelname", emit: emitIndexStats,
			}}
			out["pg_catalog.pg_statio_"+k+"_indexes"] = out["pg_catalog.pg_stat_"+k+"_indexes"]
		}
		return out
	}
	out := stat("user", "all")
	out["pg_catalog.pg_tables"] = []generator{{fill: "schemaname tablename tableowner hasindexes", emit: emitTables}}
	out["pg_catalog.pg_views"] = []generator{{fill: "schemaname viewname viewowner definition", emit: emitViews}}
	return out
}

// byNames is the filter that constraints on a relation's schema and name columns leave.
// Its ok is false when they can match nothing.
func byNames(q *query, schemaCol, nameCol string) (w tableFilter, ok bool) {
	w.name, w.named = q.text(nameCol)
	if name, has := q.text(schemaCol); has {
		s, found := schemaByName(q.c, name)
		if !found {
			return w, false
		}
		w.schema = s.OID
	}
	return w, true
}

func ownerName(c *exec.Ctx) string { return roles(c)[0].Name }

func emitTables(q *query) error {
	w, ok := byNames(q, "schemaname", "tablename")
	if !ok {
		return nil
	}
	owner := dText(ownerName(q.c))
	return w.each(q.c, func(s *rel.Schema, t *rel.Table) error {
		if t.Kind != rel.KindTable {
			return nil
		}
		return q.emit(dText(s.Name), dText(t.Name), owner, dBool(len(t.Indexes) > 0))
	})
}

func emitViews(q *query) error {
	w, ok := byNames(q, "schemaname", "viewname")
	if !ok {
		return nil
	}
	owner := dText(ownerName(q.c))
	return w.each(q.c, func(s *rel.Schema, t *rel.Table) error {
		if t.Kind != rel.KindView {
			return nil
		}
		return q.emit(dText(s.Name), dText(t.Name), owner, dText(viewDef(t)))
	})
}

// viewDef is a view's query as it was written, ended as pg_get_viewdef ends it.
func viewDef(t *rel.Table) string {
	return strings.TrimRight(strings.TrimSpace(t.View), ";") + ";"
}

func emitTableStats(q *query) error {
	w, ok := byNames(q, "schemaname", "relname")
	if !ok {
		return nil
	}
	if oid, has := q.oid("relid"); has {
		if oid == 0 {
			return nil
		}
		w.oid = oid
	}
	return w.each(q.c, func(s *rel.Schema, t *rel.Table) error {
		if t.Kind != rel.KindTable {
			return nil
		}
		return q.emit(dOID(t.OID), dText(s.Name), dText(t.Name))
	})
}

func emitIndexStats(q *query) error {
	w, ok := byNames(q, "schemaname", "relname")
	if !ok {
		return nil
	}
	return w.each(q.c, func(s *rel.Schema, t *rel.Table) error {
		for i := range t.Indexes {
			ix := &t.Indexes[i]
			if err := q.emit(dOID(t.OID), dOID(ix.OID), dText(s.Name), dText(t.Name), dText(ix.Name)); err != nil {
				return err
			}
		}
		return nil
	})
}
