package guard

import (
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
)

// byPath is list for the rows with a path, which checks of an expiry ask for once for each
// file and mostly in vain: the index alone says so.
func byPath[T any](v *view, table, path string, read func(relation, row.Tuple) T) (out []T, err error) {
	f, ok, err := v.finder(table)
	if !ok || err != nil {
		if err == nil {
			out, err = list(v, table, "path", []byte(path), read)
		}
		return out, err
	}
	ids, err := f.Find([]byte(path))
	if len(ids) == 0 || err != nil {
		return nil, err
	}
	r, _ := v.of(table)
	it, err := v.txn.Scan(r.tbl, store.Access{RowIDs: ids})
	if err != nil {
		return nil, err
	}
	defer func() { _ = it.Close() }()
	for it.Next() {
		out = append(out, read(r, it.Tuple()))
	}
	return out, it.Err()
}

// finder is what looks a table's rows up by their path; ok is false where there is no index.
func (v *view) finder(table string) (f *store.Finder, ok bool, err error) {
	if f, ok = v.finders[table]; ok {
		return f, f != nil, nil
	}
	r, ok := v.of(table)
	if !ok {
		return nil, false, nil
	}
	if c := r.column("path"); c != nil {
		if x := r.access(c, nil).Index; x != nil {
			if f, err = v.txn.Finder(r.tbl, x); err != nil {
				return nil, false, err
			}
		}
	}
	if v.finders == nil {
		v.finders = make(map[string]*store.Finder)
	}
	v.finders[table] = f
	return f, f != nil, nil
}
