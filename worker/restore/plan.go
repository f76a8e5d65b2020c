package restore

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Errors of this package.
var (
	// ErrNoSnapshot is returned for a snapshot or tag that the lake does not have.
	ErrNoSnapshot = errors.New("there is no such snapshot")
	// ErrNoTable is returned for a table that neither version has.
	ErrNoTable = errors.New("there is no such table")
	// ErrUnreadable is returned when the old version cannot be read, for one because its
	// files are gone.
	ErrUnreadable = errors.New("the old version cannot be read")
	// ErrOutcome is returned when the commit may have been done or not: the connection broke in
	// it, or the server failed. The files that were written for it stay.
	ErrOutcome = errors.New("it is not known whether the new snapshot was committed, so its files were kept: look at the newest snapshot before you restore again")
	// ErrRaced is returned when others committed before each of many attempts.
	ErrRaced = errors.New("others kept committing; try again")
)

// Object is a table, view or macro in one version.
type Object struct {
	ID, SchemaID int64
	Schema, Name string
	// Shape is everything by which two versions of it can differ, but for ids, a table's rows
	// and comments.
	Shape string
	// Kind is "scalar" or "table", of macros.
	Kind string
}

func (o *Object) name() string { return o.Schema + "." + o.Name }

// key is what no other object of the sort has in a version: names differ by more than case.
func (o *Object) key() string { return strings.ToLower(o.Kind + ":" + o.name()) }

// Version is what a lake holds at a snapshot, but for rows.
type Version struct {
	Schemas               map[int64]string // names by id
	Tables, Views, Macros []Object
}

// schemaID finds a schema by its name.
func (v *Version) schemaID(name string) (int64, bool) {
	for id, n := range v.Schemas {
		if strings.EqualFold(n, name) {
			return id, true
		}
	}
	return 0, false
}

// Pair is an object in the old version, and what is there under its name now, with the same
// shape and perhaps another id.
type Pair struct{ Then, Now Object }

// Plan is what becomes of a lake's objects.
type Plan struct {
	// Keep are tables that stay. Their rows may differ.
	Keep []Pair
	// Drop are tables that end; Create are tables of the old version that get new ids.
	Drop, Create []Object
	// The same of views, macros and schemas.
	DropViews, CreateViews   []Object
	DropMacros, CreateMacros []Object
	// DropSchemas and CreateSchemas are ids, in order.
	DropSchemas, CreateSchemas []int64
}

// NewPlan compares two versions. tables, NAME or SCHEMA.NAME, restricts the plan to these
// tables and the schemas that they need; schemas restricts it to what is in these schemas.
// nil is everything.
func NewPlan(then, now *Version, schemas, tables []string) (Plan, error) {
	wants := func(o *Object) bool {
		return matches(schemas, o.Schema) && matches(tables, o.Name, o.name())
	}
	for _, t := range tables {
		known := func(list []Object) bool {
			return slices.ContainsFunc(list, func(o Object) bool { return matches([]string{t}, o.Name, o.name()) && wants(&o) })
		}
		if !known(then.Tables) && !known(now.Tables) {
			return Plan{}, fmt.Errorf("%w: %s", ErrNoTable, t)
		}
	}
	var p Plan
	p.Keep, p.Drop, p.Create = diff(then.Tables, now.Tables, wants)
	if len(tables) == 0 {
		_, p.DropViews, p.CreateViews = diff(then.Views, now.Views, wants)
		_, p.DropMacros, p.CreateMacros = diff(then.Macros, now.Macros, wants)
	}
	needed := map[int64]bool{}
	for _, list := range [][]Object{p.Create, p.CreateViews, p.CreateMacros} {
		for _, o := range list {
			needed[o.SchemaID] = true
		}
	}
	whole := func(name string) bool { return len(tables) == 0 && matches(schemas, name) }
	for id, name := range then.Schemas {
		if _, there := now.schemaID(name); !there && (needed[id] || whole(name)) {
			p.CreateSchemas = append(p.CreateSchemas, id)
		}
	}
	for id, name := range now.Schemas {
		if _, was := then.schemaID(name); !was && whole(name) {
			p.DropSchemas = append(p.DropSchemas, id)
		}
	}
	slices.Sort(p.CreateSchemas)
	slices.Sort(p.DropSchemas)
	return p, nil
}

func matches(list []string, names ...string) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(l string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(l, n) })
	})
}

// diff sorts objects into those that stay, those that end and those that come back.
func diff(then, now []Object, wants func(*Object) bool) (keep []Pair, drop, create []Object) {
	old := map[string]Object{}
	for _, o := range then {
		if wants(&o) {
			old[o.key()] = o
		}
	}
	for _, o := range now {
		if !wants(&o) {
			continue
		}
		was, ok := old[o.key()]
		if ok && was.Shape == o.Shape {
			keep = append(keep, Pair{was, o})
			delete(old, o.key())
		} else {
			drop = append(drop, o)
		}
	}
	for _, o := range old {
		create = append(create, o)
	}
	slices.SortFunc(create, func(a, b Object) int { return cmp.Compare(a.ID, b.ID) })
	return keep, drop, create
}
