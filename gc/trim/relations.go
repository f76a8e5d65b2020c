package trim

import (
	"context"
	"strings"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/sweep"
	"github.com/eiderdb/eider/lake"
)

// registration looks at a registered relation of inlined rows. It goes when it is empty and
// its table has a newer one, as clients drop it after a flush; the registration of one that
// is not there goes as well, for no client can read the table with it.
func (t *trimmer) registration(ctx context.Context, x *meta.Row, res *gc.Result) (int, error) {
	table, ok := x.Int("table_id")
	name := x.Text("table_name")
	if id, ours := idIn(name, lake.InlinedDataPrefix); !ok || !ours || id != table {
		return 0, nil
	}
	relation := t.lake.Table(name)
	if relation.Exists() && !t.noTable(table) {
		newer, number := false, x.Num("schema_version")
		err := x.Table.Scan(ctx, func(r *meta.Row) error {
			newer = newer || r.Num("schema_version") > number
			return nil
		}, meta.Is("table_id", table))
		if err != nil || !newer {
			return 0, err
		}
		if empty, err := t.hold(ctx, relation); !empty || err != nil {
			return 0, err
		}
	}
	wrote, err := t.remove(x, res)
	if err != nil || !relation.Exists() {
		return wrote, err
	}
	return wrote + sweep.DropCost, t.dropOne(relation, res)
}

// hold says whether a relation is empty; if it is, it is so when the transaction commits.
func (t *trimmer) hold(ctx context.Context, relation meta.Table) (bool, error) {
	if _, some, err := relation.One(ctx); some || err != nil {
		return false, err
	}
	if t.lake.Rehearsal() {
		return true, nil
	}
	return true, t.lake.Txn().HoldRows(relation.Descriptor())
}

func (t *trimmer) dropOne(relation meta.Table, res *gc.Result) error {
	res.Count("relations", 1)
	res.Add(gc.Item{What: "relation", Path: relation.Name()})
	return t.lake.DropTable(relation.Name())
}

// relations lists relations of inlined rows that nobody has registered, and those of inlined
// deletes.
func (t *trimmer) relations(l meta.Lake) []string {
	var out []string
	for r := range l.Tables(lake.InlinedDataPrefix) {
		if _, ours := idIn(r.Name(), lake.InlinedDataPrefix); ours && !t.registered[r.Name()] {
			out = append(out, r.Name())
		}
	}
	for r := range l.Tables(lake.InlinedDeletePrefix) {
		if id, ours := idIn(r.Name(), lake.InlinedDeletePrefix); ours && t.noTable(id) {
			out = append(out, r.Name())
		}
	}
	return out
}

// leaked drops a relation that no client reads, unless it has rows of a table that exists:
// nobody knows what they are then, and the relation is left alone.
func (t *trimmer) leaked(ctx context.Context, name string, alone *relationNames, res *gc.Result) (int, error) {
	relation := t.lake.Table(name)
	id, data := idIn(name, lake.InlinedDataPrefix)
	if !data {
		id, _ = idIn(name, lake.InlinedDeletePrefix)
	}
	if !relation.Exists() {
		return 0, nil
	}
	if data && t.registered[name] {
		return 0, nil
	}
	if !t.noTable(id) {
		empty, err := t.hold(ctx, relation)
		if err != nil {
			return 0, err
		}
		if !empty {
			alone.add(name)
			return 0, nil
		}
	}
	return sweep.DropCost, t.dropOne(relation, res)
}

// namedRelations is how many relations are named in a note.
const namedRelations = 20

// relationNames are the first of some relations, and their number.
type relationNames struct {
	n     int
	first []string
}

func (r *relationNames) add(name string) { r.merge(relationNames{1, []string{name}}) }

func (r *relationNames) merge(o relationNames) {
	r.n += o.n
	r.first = append(r.first, o.first[:min(len(o.first), namedRelations-len(r.first))]...)
}

// note says which relations are left alone.
func (r *relationNames) note(res *gc.Result) {
	if r.n == 0 {
		return
	}
	more := ""
	if r.n > len(r.first) {
		more = " and so on"
	}
	res.Note("relations left alone because they have rows and are not registered: %d (%s%s)", r.n, strings.Join(r.first, ", "), more)
}

// drop drops leaked relations.
func (t *trimmer) drop(ctx context.Context, r *sweep.Runner, names []string) error {
	var alone relationNames
	for len(names) > 0 {
		var rest []string
		var part relationNames
		err := r.Transaction(ctx, func(l meta.Lake, rows int, res *gc.Result) (err error) {
			t.lake, rest, part = l, names, relationNames{}
			if t.registered, err = registeredIn(ctx, l); err != nil {
				return err
			}
			for wrote := 0; len(rest) > 0 && wrote < rows; rest = rest[1:] {
				n, err := t.leaked(ctx, rest[0], &part, res)
				if err != nil {
					return err
				}
				wrote += n + 1
			}
			return nil
		})
		if err != nil {
			alone.note(&r.Result)
			return err
		}
		names = rest
		alone.merge(part)
	}
	alone.note(&r.Result)
	return nil
}

// registeredIn are the relations of inlined rows that are registered.
func registeredIn(ctx context.Context, l meta.Lake) (map[string]bool, error) {
	names := map[string]bool{}
	err := l.Table(lake.InlinedRegistry).Scan(ctx, func(x *meta.Row) error {
		names[x.Text("table_name")] = true
		return nil
	})
	return names, err
}
