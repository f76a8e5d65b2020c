package exec

import (
	"errors"

	"github.com/eiderdb/eider/translate/jsonpath"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

const tPath = types.JSONPathOID

type pathCache struct{ m map[string]*jsonpath.Path }

type pathCacheKey struct{}

// jsonPath parses the text of a path once per execution.
func (c *Ctx) jsonPath(text string) (*jsonpath.Path, error) {
	cache := stateOf[pathCache](c, pathCacheKey{})
	if p, ok := cache.m[text]; ok {
		return p, nil
	}
	p, err := jsonpath.Parse(text)
	if err != nil {
		return nil, err
	}
	if cache.m == nil || len(cache.m) >= maxRegexCache {
		cache.m = make(map[string]*jsonpath.Path)
	}
	cache.m[text] = p
	return p, nil
}

// runPath runs a path on a document; vars may be nil.
func (c *Ctx) runPath(doc, path, vars []byte, tz bool, out emit) error {
	p, err := c.jsonPath(string(path))
	if err != nil {
		return err
	}
	root := &pathValue{jnode: parseJSON(doc)}
	r := &pathRun{c: c, lax: p.Lax, root: root, item: root, tz: tz, size: -1}
	if vars != nil {
		v := parseJSON(vars)
		if v.kind != '{' {
			return pgerr.New(pgerr.InvalidParameterValue, "\"vars\" argument is not an object").
				WithDetail("Jsonpath parameters should be encoded as key-value pairs of \"vars\" object.")
		}
		r.vars = &v
	}
	return r.step(p.Expr, root, p.Lax, out)
}

// pathExists is jsonb_path_exists: NULL when the path failed and that is to be silent.
func (c *Ctx) pathExists(doc, path, vars []byte, silent, tz bool) (types.Datum, error) {
	p, err := c.jsonPath(string(path))
	if err != nil {
		return types.Null, err
	}
	found := false
	err = c.runPath(doc, path, vars, tz, func(*pathValue) error {
		found = true
		if p.Lax {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		if silent && soft(err) {
			return types.Null, nil
		}
		return types.Null, err
	}
	return Bool(found), nil
}

// pathItems are the items of a path; those before a failure that is to be silent stay.
func (c *Ctx) pathItems(doc, path, vars []byte, silent, tz bool) ([]types.Datum, error) {
	var list []types.Datum
	err := c.runPath(doc, path, vars, tz, func(v *pathValue) error {
		list = append(list, Bytes(v.raw))
		return c.room(int64(len(v.raw)) + elemSize)
	})
	if err != nil && silent && soft(err) {
		err = nil
	}
	return list, err
}

// pathMatch is jsonb_path_match: the value of a predicate.
func (c *Ctx) pathMatch(doc, path, vars []byte, silent, tz bool) (types.Datum, error) {
	list, err := c.pathItems(doc, path, vars, false, tz)
	if err != nil {
		if silent && soft(err) {
			return types.Null, nil
		}
		return types.Null, err
	}
	if len(list) == 1 {
		switch string(list[0].B) {
		case "true", "false":
			return Bool(list[0].B[0] == 't'), nil
		case "null":
			return types.Null, nil
		}
	}
	if silent {
		return types.Null, nil
	}
	return types.Null, pgerr.New(codeSingleton, "single boolean result is expected")
}

// addPathOps adds @? and @@, which are silent.
func addPathOps(add func(name string, l, r, ret types.OID, fn OpFunc)) {
	add("@?", tJSONB, tPath, tBool, func(c *Ctx, a, b types.Datum) (types.Datum, error) {
		return c.pathExists(a.B, b.B, nil, true, false)
	})
	add("@@", tJSONB, tPath, tBool, func(c *Ctx, a, b types.Datum) (types.Datum, error) {
		return c.pathMatch(a.B, b.B, nil, true, false)
	})
}

// pathFuncs are jsonb_path_….
func pathFuncs() []Func {
	defaultVals := []types.Datum{Str("{}"), Bool(false)}
	names := []string{"target", "path", "vars", "silent"}
	with := func(f Func) Func {
		f = argNames(defaults(2, f), names...)
		f.DefaultVals = defaultVals
		return f
	}
	items := func(c *Call, tz bool) ([]types.Datum, error) {
		return c.pathItems(c.Args[0].B, c.Args[1].B, c.Args[2].B, c.Args[3].I != 0, tz)
	}
	var out []Func
	for _, tz := range []bool{false, true} {
		suffix, vol := "", fn
		if tz {
			suffix, vol = "_tz", stableFn
		}
		query := set("jsonb_path_query"+suffix, tJSONB, func(c *Call) (Iter, error) {
			list, err := items(c, tz)
			if err != nil {
				return nil, err
			}
			rows := make([]Row, len(list))
			for i, d := range list {
				rows[i] = Row{d}
			}
			return &SliceIter{Items: rows}, nil
		}, tJSONB, tPath, tJSONB, tBool)
		out = append(
			out, with(query),
			with(vol("jsonb_path_exists"+suffix, tBool, func(c *Call) (types.Datum, error) {
				return c.pathExists(c.Args[0].B, c.Args[1].B, c.Args[2].B, c.Args[3].I != 0, tz)
			}, tJSONB, tPath, tJSONB, tBool)),
			with(vol("jsonb_path_match"+suffix, tBool, func(c *Call) (types.Datum, error) {
				return c.pathMatch(c.Args[0].B, c.Args[1].B, c.Args[2].B, c.Args[3].I != 0, tz)
			}, tJSONB, tPath, tJSONB, tBool)),
			with(vol("jsonb_path_query_array"+suffix, tJSONB, func(c *Call) (types.Datum, error) {
				list, err := items(c, tz)
				if err != nil {
					return types.Null, err
				}
				b := []byte{'['}
				for i, d := range list {
					if i > 0 {
						b = append(b, ", "...)
					}
					b = append(b, d.B...)
				}
				return Bytes(append(b, ']')), nil
			}, tJSONB, tPath, tJSONB, tBool)),
			with(vol("jsonb_path_query_first"+suffix, tJSONB, func(c *Call) (types.Datum, error) {
				list, err := items(c, tz)
				if err != nil || len(list) == 0 {
					return types.Null, err
				}
				return list[0], nil
			}, tJSONB, tPath, tJSONB, tBool)),
		)
	}
	return out
}
