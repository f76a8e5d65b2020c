package lineage

import "slices"

// value is what an expression is made of.
type value struct {
	from  []ColumnRef // in order, without repetitions; shared, never changed in place
	exact bool
}

var (
	constant = value{exact: true}
	unknown  = value{}
)

// and is made of both.
func (v value) and(w value) value {
	exact := v.exact && w.exact
	switch {
	case len(w.from) == 0:
		return value{v.from, exact}
	case len(v.from) == 0:
		return value{w.from, exact}
	}
	from := slices.Concat(v.from, w.from)
	slices.SortFunc(from, compareRefs)
	return value{slices.Compact(from), exact}
}

// col is a column of a relation, or, with a star, all those of it that are not known.
type col struct {
	name string // "" when it has one that is not known
	val  value
	rel  string // alias of the relation that it is of, folded
	star *star
}

// star stands for the columns of tables that are not known, less those that are left out.
type star struct {
	parts  []starPart
	except map[string]bool // folded; never changed in place
}

// starPart says that the columns come from a table, and whether under their own names.
type starPart struct {
	table  TableRef
	byName bool
}

func (s *star) without(names ...string) *star {
	except := map[string]bool{}
	for n := range s.except {
		except[n] = true
	}
	for _, n := range names {
		except[fold(n)] = true
	}
	return &star{s.parts, except}
}

// unnamed is the star without the claim that names are the tables' own.
func (s *star) unnamed() *star {
	parts := slices.Clone(s.parts)
	for i := range parts {
		parts[i].byName = false
	}
	return &star{parts, s.except}
}

// column is what one column of that name is made of.
func (s *star) column(name string) value {
	v := value{exact: len(s.parts) == 1 && s.parts[0].byName}
	for _, p := range s.parts {
		c := Any
		if p.byName {
			c = name
		}
		v = v.and(value{[]ColumnRef{{p.table, c}}, v.exact})
	}
	return v
}

// whole is what the column is made of, or the columns of the star together.
func (c col) whole() value {
	if c.star == nil {
		return c.val
	}
	v := c.val
	for _, p := range c.star.parts {
		v = v.and(value{[]ColumnRef{{p.table, Any}}, false})
	}
	v.exact = false
	return v
}

// unknownStar stands for columns of which nothing is known.
func unknownStar() col { return col{star: &star{}} }

// together is what all columns are made of.
func together(cols []col) value {
	v := constant
	for _, c := range cols {
		v = v.and(c.whole())
	}
	return v
}

func open(cols []col) bool {
	return slices.ContainsFunc(cols, func(c col) bool { return c.star != nil })
}

// find looks for a name: the column that is known to have it, or else those that may.
func find(cols []col, name string) (known *col, maybe []*col) {
	key := fold(name)
	for i := range cols {
		c := &cols[i]
		switch {
		case c.star != nil:
			if !c.star.except[key] {
				maybe = append(maybe, c)
			}
		case c.name == "":
			maybe = append(maybe, c)
		case fold(c.name) == key:
			return c, nil
		}
	}
	return nil, maybe
}

// as is what the column is made of if it is the one of that name.
func (c *col) as(name string) value {
	if c.star != nil {
		return c.star.column(name).and(value{c.val.from, true})
	}
	return c.val
}

// ofRelation says of all columns which relation they are of.
func ofRelation(cols []col, alias string) []col {
	out := slices.Clone(cols)
	for i := range out {
		out[i].rel = fold(alias)
	}
	return out
}

// rename gives the first columns other names, as in t(a, b).
func rename(cols []col, names []string) []col {
	if len(names) == 0 {
		return cols
	}
	out := slices.Clone(cols)
	for i, n := range names {
		if i < len(out) && out[i].star == nil {
			out[i].name = n
			continue
		}
		// From here on it is not known which of the star's columns the names are for, nor which
		// of its own names remain.
		var rest []col
		all := together(out[min(i, len(out)):])
		all.exact = false
		for _, n := range names[i:] {
			rest = append(rest, col{name: n, val: all})
		}
		for _, c := range out[min(i, len(out)):] {
			if c.star != nil {
				c.star = c.star.without(names...).unnamed()
			} else {
				c.name = ""
			}
			rest = append(rest, c)
		}
		return append(out[:min(i, len(out))], rest...)
	}
	return out
}
