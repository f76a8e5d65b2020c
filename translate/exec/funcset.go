package exec

import (
	"slices"
	"sync"

	"github.com/eiderdb/eider/translate/types"
)

// Volatility says when a function's result may differ for equal arguments.
type Volatility uint8

// The volatilities.
const (
	Immutable Volatility = iota
	Stable
	Volatile
)

// Func is one overload of a callable function.
type Func struct {
	Name string
	// Schema is that of a function that is only found under it; "" for those of pg_catalog.
	Schema string
	// Args are the declared argument types; pseudo-types are allowed (anyelement, anyarray,
	// "any", anynonarray, anycompatible). With Variadic the last is the element type that
	// repeats, and ANYOID there takes each argument as it is.
	Args     []types.OID
	ArgNames []string // for named notation; may be nil
	Defaults int      // how many trailing arguments may be left out
	// DefaultVals are the values of arguments that were left out; without them a function is
	// called with as many as were given, and NULLs in between.
	DefaultVals []types.Datum
	Variadic    bool
	// Ret is the result type; a polymorphic one is resolved from the arguments.
	Ret types.OID
	// Set says that the function returns rows; then Rows is used and not Eval.
	Set bool
	// Cols are the output columns of a set function with more than one (OUT parameters)
	// or with a name of its own; nil means one column named as the function.
	Cols []Column
	// NullCall says that the function is called with NULL arguments (not strict).
	NullCall bool
	Vol      Volatility
	Eval     func(c *Call) (types.Datum, error)
	Rows     func(c *Call) (Iter, error)
	// shape is the modifier of the records that a function with Cols returns, see FuncSet.Fields.
	shape int32
	// OID is the pg_proc oid, 0 when it has none.
	OID uint32
}

// Call is one call of a Func. Args may be kept only as long as the call lasts.
type Call struct {
	*Ctx
	Args  []types.Datum
	Types []types.T // the actual argument types after coercion
	Ret   types.T   // the resolved result type
	Func  *Func
}

// FuncSet is an immutable set of functions by name.
type FuncSet struct {
	byName map[string][]*Func            // of pg_catalog
	others map[string]map[string][]*Func // by schema
	// shapes are the columns of the records that functions return, by modifier less one.
	shapes [][]Column
}

// shape numbers the columns of a function that returns records.
func (s *FuncSet) shape(f *Func) {
	if f.Ret == types.RecordOID && len(f.Cols) > 0 {
		s.shapes = append(s.shapes, f.Cols)
		f.shape = int32(len(s.shapes))
	}
}

// RecordType is the type of the records that f returns. Its modifier says which fields
// they have, so that a field can be taken where the call is out of sight; clients see none.
func (f *Func) RecordType() types.T {
	if f.shape == 0 {
		return types.T{OID: types.RecordOID, Mod: -1}
	}
	return types.T{OID: types.RecordOID, Mod: f.shape}
}

// Fields are the fields of a RecordType; nil for records nothing is known of.
func (s *FuncSet) Fields(t types.T) []Column {
	if t.OID != types.RecordOID || t.Mod < 1 || int(t.Mod) > len(s.shapes) {
		return nil
	}
	return s.shapes[t.Mod-1]
}

// NewFuncSet makes a set of the built-in functions and extra ones (system functions). An
// extra one takes the place of a built-in one of the same name and argument types.
func NewFuncSet(extra ...Func) *FuncSet {
	base := builtins()
	s := &FuncSet{byName: make(map[string][]*Func, len(base.byName)+len(extra)), shapes: slices.Clone(base.shapes)}
	for k, v := range base.byName {
		s.byName[k] = v[:len(v):len(v)]
	}
	for i := range extra {
		f := &extra[i]
		s.shape(f)
		if f.Schema != "" {
			if s.others == nil {
				s.others = make(map[string]map[string][]*Func)
			}
			if s.others[f.Schema] == nil {
				s.others[f.Schema] = make(map[string][]*Func)
			}
			s.others[f.Schema][f.Name] = append(s.others[f.Schema][f.Name], f)
			continue
		}
		s.byName[f.Name] = append(slices.DeleteFunc(slices.Clone(s.byName[f.Name]), func(b *Func) bool {
			return b.Variadic == f.Variadic && slices.Equal(b.Args, f.Args)
		}), f)
	}
	return s
}

// Lookup returns the overloads of a name in pg_catalog.
func (s *FuncSet) Lookup(name string) []*Func { return s.byName[name] }

// HasSchema says whether there are functions that are only found under a schema.
func (s *FuncSet) HasSchema(schema string) bool { return s.others[schema] != nil }

// LookupIn is Lookup in a schema, where it is one that HasSchema names.
func (s *FuncSet) LookupIn(schema, name string) []*Func {
	if list, ok := s.others[schema]; ok {
		return list[name]
	}
	return s.byName[name]
}

// All calls yield for every function until it answers false.
func (s *FuncSet) All(yield func(*Func) bool) {
	for _, fs := range s.byName {
		for _, f := range fs {
			if !yield(f) {
				return
			}
		}
	}
}

// builtins is the set of functions the package itself has, built once.
var builtins = sync.OnceValue(func() *FuncSet {
	s := &FuncSet{byName: make(map[string][]*Func)}
	for _, list := range builtinLists() {
		for i := range list {
			f := &list[i]
			s.shape(f)
			s.byName[f.Name] = append(s.byName[f.Name], f)
		}
	}
	return s
})
