package guard

import (
	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/kv/store"
)

// record notes what a commit that has landed was let pass.
func (r *run) record(_ *store.Catalog) {
	for _, f := range r.findings {
		r.g.note(r.catalog, r.in, f.v, conflict.Warn)
	}
}
