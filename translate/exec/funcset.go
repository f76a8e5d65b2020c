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
	// Args are the declared argument types; pseudo-types are allowed (anyelement, anyarray,
	// "any", anynonarray, anycompatible). With Variadic the last is the element type that
	// repeats, and ANYOID there takes each argument as it is.
	Args     []types.OID
	ArgNames []string // for named notation; may be nil
	Defaults int      // how many trailing arguments may be left out
	Variadic bool
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
	byName map[string][]*Func
}

// NewFuncSet makes a set of the built-in functions and extra ones (system functions). An
// extra one takes the place of a built-in one of the same name and argument types.
func NewFuncSet(extra ...Func) *FuncSet {
	base := builtins()
	s := &FuncSet{byName: make(map[string][]*Func, len(base.byName)+len(extra))}
	for k, v := range base.byName {
		s.byName[k] = v[:len(v):len(v)]
	}
	for i := range extra {
		f := &extra[i]
		s.byName[f.Name] = append(slices.DeleteFunc(slices.Clone(s.byName[f.Name]), func(b *Func) bool {
			return b.Variadic == f.Variadic && slices.Equal(b.Args, f.Args)
		}), f)
	}
	return s
}

// Lookup returns the overloads of a name.
func (s *FuncSet) Lookup(name string) []*Func { return s.byName[name] }

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
			s.byName[f.Name] = append(s.byName[f.Name], f)
		}
	}
	return s
})
