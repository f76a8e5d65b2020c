package trim

import (
	"context"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/sweep"
)

// dropCost is the number of rows whose removal costs what a DROP does.
const dropCost = 20

// registration looks at a registered relation of inlined rows. It goes when it is empty and
// its table has a newer one, as clients drop it after a flush; the registration of one that
// is not there goes as well, for no client can read the table with it.
func (t *trimmer) registration(ctx context.Context, x *meta.Row, res *gc.Result) (int, error) {
	table, ok := x.Int("table_id")
	name := x.Text("table_name")
	if id, ours := idIn(name, inlinedData); !ok || !ours || id != table {
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
	return wrote + dropCost, t.dropOne(relation, res)
}

// hold says whether a relation is empty; if it is, it is so when the transaction commits.
func (t *trimmer) hold(ctx context.Context, relation meta.Table) (bool, error) {
	if _, some, err := relation.One(ctx); some || err != nil {
		return false, err
	}
	if t.dry {
		return true, nil
	}
	return true, t.lake.Txn().HoldRows(relation.Descriptor())
}

func (t *trimmer) dropOne(relation meta.Table, res *gc.Result) error {
	res.Count("relations", 1)
	res.Add(gc.Item{What: "relation", Path: relation.Name()})
	if t.dry {
		return nil
	}
	return t.lake.DropTable(relation.Name())
}

// relations lists relations of inlined rows that nobody has registered, and those of inlined
// deletes.
func (t *trimmer) relations(l meta.Lake) []string {
	var out []string
	for r := range l.Tables(inlinedData) {
		if _, ours := idIn(r.Name(), inlinedData); ours && !t.registered[r.Name()] {
			out = append(out, r.Name())
		}
	}
	for r := range l.Tables(inlinedDelete) {
		if id, ours := idIn(r.Name(), inlinedDelete); ours && t.noTable(id) {
			out = append(out, r.Name())
		}
	}
	return out
}

// leaked drops a relation that no client reads, unless it has rows of a table that exists:
// nobody knows what they are then.
func (t *trimmer) leaked(ctx context.Context, l meta.Lake, name string, res *gc.Result) (int, error) {
	t.lake = l
	relation := l.Table(name)
	id, data := idIn(name, inlinedData)
	if !data {
		id, _ = idIn(name, inlinedDelete)
	}
	if !relation.Exists() {
		return 0, nil
	}
	if data {
		if _, registered, err := l.Table(registry).One(ctx, meta.Is("table_id", id), meta.Equal("table_name", meta.Str(name))); registered || err != nil {
			return 0, err
		}
	}
	if !t.noTable(id) {
		empty, err := t.hold(ctx, relation)
		if err != nil {
			return 0, err
		}
		if !empty {
			res.Note("relation %s is not registered and has rows: it is left alone", name)
			return 0, nil
		}
	}
	return dropCost, t.dropOne(relation, res)
}

// drop drops leaked relations.
func (t *trimmer) drop(ctx context.Context, r *sweep.Runner, names []string) error {
	for len(names) > 0 {
		var rest []string
		err := r.Transaction(ctx, func(l meta.Lake, rows int, res *gc.Result) error {
			rest = names
			for wrote := 0; len(rest) > 0 && wrote < rows; rest = rest[1:] {
				n, err := t.leaked(ctx, l, rest[0], res)
				if err != nil {
					return err
				}
				wrote += n + 1
			}
			return nil
		})
		if err != nil {
			return err
		}
		names = rest
	}
	return nil
}
