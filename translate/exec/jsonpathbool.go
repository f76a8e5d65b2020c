package exec

import (
	"errors"
	"strings"

	"github.com/eiderdb/eider/translate/jsonpath"
	"github.com/eiderdb/eider/translate/types"
)

// pathBool is a predicate's value.
type pathBool uint8

const (
	isFalse pathBool = iota
	isTrue
	isUnknownBool
)

func pathBoolOf(v bool) pathBool {
	if v {
		return isTrue
	}
	return isFalse
}

// nested evaluates a filter's predicate with v as the current item.
func (r *pathRun) nested(n *jsonpath.Node, v *pathValue) (pathBool, error) {
	saved := r.item
	r.item = v
	defer func() { r.item = saved }()
	return r.predicate(n, v)
}

func (r *pathRun) predicate(n *jsonpath.Node, v *pathValue) (pathBool, error) {
	switch n.Op {
	case jsonpath.And, jsonpath.Or:
		// One side may decide alone; what is unknown stays so if the other does not.
		decides := pathBoolOf(n.Op == jsonpath.Or)
		l, err := r.predicate(n.Left, v)
		if err != nil || l == decides {
			return l, err
		}
		right, err := r.predicate(n.Right, v)
		if err != nil || right == decides || l != isUnknownBool {
			return right, err
		}
		return l, nil
	case jsonpath.Not:
		t, err := r.predicate(n.Left, v)
		if err != nil || t == isUnknownBool {
			return t, err
		}
		return isTrue - t, nil
	case jsonpath.IsUnknown:
		t, err := r.predicate(n.Left, v)
		return pathBoolOf(t == isUnknownBool), err
	case jsonpath.Exists:
		return r.exists(n.Left, v)
	case jsonpath.StartsWith:
		return r.pairs(n, v, false, func(a, b *pathValue) (pathBool, error) {
			if a.kind != '"' || b.kind != '"' {
				return isUnknownBool, nil
			}
			return pathBoolOf(strings.HasPrefix(unquoteJSON(a.raw), unquoteJSON(b.raw))), nil
		})
	case jsonpath.LikeRegex:
		return r.pairs(n, v, false, func(a, _ *pathValue) (pathBool, error) {
			if a.kind != '"' {
				return isUnknownBool, nil
			}
			return pathBoolOf(n.Regex.MatchString(unquoteJSON(a.raw))), nil
		})
	case jsonpath.Equal, jsonpath.NotEqual, jsonpath.Less, jsonpath.LessEqual, jsonpath.Greater, jsonpath.GreaterEqual:
		return r.pairs(n, v, true, func(a, b *pathValue) (pathBool, error) { return r.compare(n.Op, a, b) })
	}
	// A path that stands where a predicate is wanted is caught by the grammar.
	return isUnknownBool, nil
}

// exists says whether a path has an item. In strict mode an error anywhere makes it unknown.
func (r *pathRun) exists(n *jsonpath.Node, v *pathValue) (pathBool, error) {
	found := false
	err := r.step(n, v, r.lax, func(*pathValue) error {
		found = true
		if r.lax {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		if soft(err) {
			return isUnknownBool, nil
		}
		return isUnknownBool, err
	}
	return pathBoolOf(found), nil
}

// pairs holds every item of the left side against every one of the right side: one pair that
// fits is enough, unless one that cannot be compared comes before it in strict mode.
func (r *pathRun) pairs(n *jsonpath.Node, v *pathValue, unwrapRight bool, f func(a, b *pathValue) (pathBool, error)) (pathBool, error) {
	left, err := r.collect(n.Left, v, true)
	if err != nil {
		if soft(err) {
			return isUnknownBool, nil
		}
		return isUnknownBool, err
	}
	right := []*pathValue{nil}
	if n.Right != nil {
		if right, err = r.collect(n.Right, v, unwrapRight); err != nil {
			if soft(err) {
				return isUnknownBool, nil
			}
			return isUnknownBool, err
		}
	}
	found, unknown := false, false
	for _, a := range left {
		for _, b := range right {
			t, err := f(a, b)
			if err != nil {
				return isUnknownBool, err
			}
			switch t {
			case isUnknownBool:
				if !r.lax {
					return isUnknownBool, nil
				}
				unknown = true
			case isTrue:
				if r.lax {
					return isTrue, nil
				}
				found = true
			}
			if err := r.c.Check(); err != nil {
				return isUnknownBool, err
			}
		}
	}
	switch {
	case found:
		return isTrue, nil
	case unknown:
		return isUnknownBool, nil
	}
	return isFalse, nil
}

func (r *pathRun) compare(op jsonpath.Op, a, b *pathValue) (pathBool, error) {
	if a.kind != b.kind {
		if a.kind == 'n' || b.kind == 'n' {
			// null differs from everything else, and that is all there is to say.
			return pathBoolOf(op == jsonpath.NotEqual), nil
		}
		return isUnknownBool, nil
	}
	order := 0
	switch a.kind {
	case 'n':
	case 't':
		order = strings.Compare(string(a.raw), string(b.raw)) // false before true
	case '0':
		x, err := r.number(a)
		if err != nil {
			return isUnknownBool, err
		}
		y, err := r.number(b)
		if err != nil {
			return isUnknownBool, err
		}
		order = types.Compare(types.NumericOID, x, y)
	case '"':
		order = strings.Compare(unquoteJSON(a.raw), unquoteJSON(b.raw))
	case kindWhen:
		var ok bool
		var err error
		if order, ok, err = r.compareTimes(a, b); err != nil || !ok {
			return isUnknownBool, err
		}
	default:
		return isUnknownBool, nil // arrays and objects are not compared
	}
	switch op {
	case jsonpath.Equal:
		return pathBoolOf(order == 0), nil
	case jsonpath.NotEqual:
		return pathBoolOf(order != 0), nil
	case jsonpath.Less:
		return pathBoolOf(order < 0), nil
	case jsonpath.LessEqual:
		return pathBoolOf(order <= 0), nil
	case jsonpath.Greater:
		return pathBoolOf(order > 0), nil
	}
	return pathBoolOf(order >= 0), nil
}
