package plan

import (
	"github.com/eiderdb/eider/translate/types"
)

// candidate is an overload with its argument types, expanded to the call's length.
type candidate[T any] struct {
	args []types.OID
	item T
}

func category(oid types.OID) byte {
	if i, ok := types.Lookup(oid); ok {
		return i.Category
	}
	return 'U'
}

func preferred(oid types.OID) bool {
	i, ok := types.Lookup(oid)
	return ok && i.Preferred
}

// matching keeps the candidates whose arguments the actual types can become implicitly.
func matching[T any](cands []candidate[T], actual []types.OID) []candidate[T] {
	var out []candidate[T]
next:
	for _, c := range cands {
		for i, a := range actual {
			if !canCoerce(a, c.args[i], types.Implicit) {
				continue next
			}
		}
		if !polyConsistent(c.args, actual) {
			continue
		}
		out = append(out, c)
	}
	return out
}

// polyConsistent says whether the arguments declared with one polymorphic type agree, and
// those of a compatible one have a common type.
func polyConsistent(decl, actual []types.OID) bool {
	var elem, compatible types.OID
	for i, d := range decl {
		a := actual[i]
		if a == types.UnknownOID {
			continue
		}
		switch d {
		case types.AnyElementOID, types.AnyNonArrayOID, types.AnyEnumOID:
		case types.AnyArrayOID:
			a = types.ElemOf(a)
		case types.AnyCompatibleOID, types.AnyCompatibleArrayOID:
			if d == types.AnyCompatibleArrayOID {
				a = types.ElemOf(a)
			}
			if compatible != 0 && !canCoerce(a, compatible, types.Implicit) && !canCoerce(compatible, a, types.Implicit) {
				return false
			}
			compatible = a
			continue
		default:
			continue
		}
		if elem == 0 {
			elem = a
		} else if elem != a {
			return false
		}
	}
	return true
}

// bestCandidate is PostgreSQL's func_select_candidate: nil when it stays ambiguous. cands
// all accept the actual types.
func bestCandidate[T any](cands []candidate[T], actual []types.OID) *candidate[T] {
	n := len(actual)
	unknowns := 0
	base := make([]types.OID, n)
	for i, a := range actual {
		base[i] = a
		if a == types.UnknownOID {
			unknowns++
		}
	}
	// Most exact matches.
	cands = keepMost(cands, func(c *candidate[T]) int {
		m := 0
		for i, a := range base {
			if a != types.UnknownOID && c.args[i] == a {
				m++
			}
		}
		return m
	})
	if len(cands) == 1 {
		return &cands[0]
	}
	// Most exact matches or preferred types where a conversion is needed.
	cands = keepMost(cands, func(c *candidate[T]) int {
		m := 0
		for i, a := range base {
			if a == types.UnknownOID {
				continue
			}
			if c.args[i] == a || category(c.args[i]) == category(a) && preferred(c.args[i]) {
				m++
			}
		}
		return m
	})
	if len(cands) == 1 {
		return &cands[0]
	}
	if unknowns == 0 {
		return nil
	}
	// Unknown arguments: a category that all agree on, string if any takes one.
	cats := make([]byte, n)
	prefs := make([]bool, n)
	resolved := true
	for i, a := range base {
		if a != types.UnknownOID {
			continue
		}
		have, conflict := false, false
		for j := range cands {
			c := category(cands[j].args[i])
			p := preferred(cands[j].args[i])
			switch {
			case !have:
				cats[i], prefs[i], have = c, p, true
			case c == cats[i]:
				prefs[i] = prefs[i] || p
			case c == 'S':
				cats[i], prefs[i] = c, p
			default:
				conflict = true
			}
		}
		if conflict && cats[i] != 'S' {
			resolved = false
		}
	}
	if resolved {
		var out []candidate[T]
	next:
		for _, c := range cands {
			for i, a := range base {
				if a != types.UnknownOID {
					continue
				}
				if category(c.args[i]) != cats[i] || prefs[i] && !preferred(c.args[i]) {
					continue next
				}
			}
			out = append(out, c)
		}
		if len(out) > 0 {
			cands = out
		}
		if len(cands) == 1 {
			return &cands[0]
		}
	}
	// The known arguments are all of one type: the unknown ones may be it too.
	if unknowns < n {
		var known types.OID
		for _, a := range base {
			if a == types.UnknownOID {
				continue
			}
			if known == 0 {
				known = a
			} else if known != a {
				return nil
			}
		}
		var hit *candidate[T]
	each:
		for j := range cands {
			for i := range base {
				if !canCoerce(known, cands[j].args[i], types.Implicit) {
					continue each
				}
			}
			if hit != nil {
				return nil
			}
			hit = &cands[j]
		}
		return hit
	}
	return nil
}

func keepMost[T any](cands []candidate[T], score func(*candidate[T]) int) []candidate[T] {
	best := -1
	var out []candidate[T]
	for i := range cands {
		s := score(&cands[i])
		if s > best {
			best, out = s, out[:0:0]
		}
		if s == best {
			out = append(out, cands[i])
		}
	}
	return out
}
