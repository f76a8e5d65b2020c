package lineage

// scope is where a name is looked up.
type scope struct {
	parent *scope
	ctes   *cte
	rels   []relation
	cols   []col // of all rels, as * gives them: columns that USING joins are there once
	// aliases are those of the select list so far, which DuckDB lets later items name.
	aliases []col
	params  map[string]bool // of a lambda, folded
	// macroParams, folded, are only set in the outermost scope.
	macroParams map[string]bool
}

// relation is something in FROM that columns can be qualified with.
type relation struct {
	catalog, schema, alias string // folded
	cols                   []col
}

// reference is what a dotted name stands for.
func (a *analysis) reference(names []string, sc *scope) value {
	// The longest qualification goes first; what is left over are fields of a struct.
	for qualifiers := min(3, len(names)-1); qualifiers > 0; qualifiers-- {
		for s := sc; s != nil; s = s.parent {
			a.spend(1)
			if r := s.relation(names[:qualifiers]); r != nil {
				if v, ok := r.column(names[qualifiers]); ok {
					return v
				}
			}
		}
	}
	return a.bare(names[0], sc, len(names) == 1)
}

// relation finds the one that is qualified so; nil if there is none.
func (s *scope) relation(names []string) *relation {
	for i := range s.rels {
		r := &s.rels[i]
		if r.alias != fold(names[len(names)-1]) {
			continue
		}
		switch len(names) {
		case 1:
			return r
		case 2:
			if q := fold(names[0]); q == r.schema || q == r.catalog {
				return r
			}
		case 3:
			if fold(names[0]) == r.catalog && fold(names[1]) == r.schema {
				return r
			}
		}
	}
	return nil
}

func (r *relation) column(name string) (value, bool) {
	known, maybe := find(r.cols, name)
	switch {
	case known != nil:
		return known.val, true
	case len(maybe) == 1:
		return maybe[0].as(name), true
	case len(maybe) > 1:
		return unknown, true
	}
	return unknown, false
}

// bare is what a name without qualification stands for. If alone, it may be one of the
// functions that are written without parentheses, or a whole row.
func (a *analysis) bare(name string, sc *scope, alone bool) value {
	if sc.macro(name) {
		return constant
	}
	if alone && bareFunctions[fold(name)] {
		if v, ok := certain(name, sc); ok {
			return v
		}
		a.functions[fold(name)] = true
		return constant
	}
	// What may be it, further in than where the search is.
	var maybe []*col
	for s := sc; s != nil; s = s.parent {
		a.spend(1 + len(s.cols))
		if s.params[fold(name)] {
			return only(maybe, constant)
		}
		known, here := find(s.cols, name)
		if known != nil {
			return only(maybe, known.val)
		}
		maybe = append(maybe, here...)
		if alias, _ := find(s.aliases, name); alias != nil {
			return only(maybe, alias.val)
		}
	}
	if alone {
		for s := sc; s != nil; s = s.parent {
			if r := s.relation([]string{name}); r != nil {
				v := together(r.cols)
				v.exact = v.exact && len(maybe) == 0
				return v
			}
		}
	}
	if len(maybe) == 1 {
		return maybe[0].as(name)
	}
	return unknown
}

// macro tells whether the name is a parameter of the macro that is being read. Those go
// before all columns; what is given for them is added where the macro is called.
func (s *scope) macro(name string) bool {
	for s.parent != nil {
		s = s.parent
	}
	return s.macroParams[fold(name)]
}

// certain finds a column that is known to have the name.
func certain(name string, sc *scope) (value, bool) {
	for s := sc; s != nil; s = s.parent {
		if known, _ := find(s.cols, name); known != nil {
			return known.val, true
		}
	}
	return unknown, false
}

// only is v if nothing else may be meant.
func only(maybe []*col, v value) value {
	if len(maybe) > 0 {
		return unknown
	}
	return v
}
