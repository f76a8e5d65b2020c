package conflict_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/lake"
)

// table is the data of one DuckLake table as its readers see it: data files, delete
// files, inlined rows and inlined deletes. Rows are row id → value.
type table struct {
	files    map[int64]*file
	inlined  map[int64]int
	nextFile int64
	nextRow  int64
	nextVal  int
	snapshot int64
}

type file struct {
	rows    map[int64]int
	deletes []map[int64]bool // live delete files; a healthy file has at most one
	inlined map[int64]bool   // rows deleted inline
	ended   bool
}

func (t *table) clone() *table {
	c := *t
	c.files, c.inlined = map[int64]*file{}, maps.Clone(t.inlined)
	for id, f := range t.files {
		n := &file{rows: f.rows, inlined: maps.Clone(f.inlined), ended: f.ended}
		for _, d := range f.deletes {
			n.deletes = append(n.deletes, maps.Clone(d))
		}
		c.files[id] = n
	}
	return &c
}

func (f *file) deleted(row int64) bool {
	for _, d := range f.deletes {
		if d[row] {
			return true
		}
	}
	return f.inlined[row]
}

// visible is what a scan returns. The error says what no reader gets right: it reads a
// data file once for each of its delete files, and after a row that is deleted twice it
// misses the deletes behind.
func (t *table) visible() (map[int64]int, error) {
	out := map[int64]int{}
	add := func(row int64, v int) error {
		if _, twice := out[row]; twice {
			return fmt.Errorf("row id %d twice", row)
		}
		out[row] = v
		return nil
	}
	for row, v := range t.inlined {
		if err := add(row, v); err != nil {
			return nil, err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(t.files)) {
		f := t.files[id]
		if f.rows == nil {
			return nil, fmt.Errorf("deletes of data file %d, which is not there", id)
		}
		if f.ended {
			continue
		}
		if len(f.deletes) > 1 {
			return nil, fmt.Errorf("data file %d has %d delete files", id, len(f.deletes))
		}
		for row, v := range f.rows {
			if f.inlined[row] && len(f.deletes) == 1 && f.deletes[0][row] {
				return nil, fmt.Errorf("row %d of data file %d is deleted twice", row, id)
			}
			if !f.deleted(row) {
				if err := add(row, v); err != nil {
					return nil, err
				}
			}
		}
	}
	return out, nil
}

func (t *table) file(id int64) *file {
	f := t.files[id]
	if f == nil {
		f = &file{inlined: map[int64]bool{}}
		t.files[id] = f
	}
	return f
}

func (t *table) addFile(rows map[int64]int) {
	t.files[t.nextFile] = &file{rows: rows, inlined: map[int64]bool{}}
	t.nextFile++
}

// work is one commit, planned on a state: its rows, what it does to the tables as the
// client's batch would, and what its statement means.
type work struct {
	name  string
	batch conflict.Batch
	says  []string
	// apply is the batch on the newest state; ids are given out anew, as by a retry.
	apply []func(*table)
	// delete and update are the rows that the statement wants to change, insert the values
	// it adds.
	delete map[int64]bool
	update map[int64]int
	insert []int
}

func (w *work) set() *conflict.ChangeSet {
	b := w.batch
	b.Snapshots.Added = []lake.Snapshot{{ID: 99}}
	b.Logs.Added = []lake.Changes{{SnapshotID: 99, Made: strings.Join(w.says, ","), HasMade: true}}
	set, err := conflict.Classify(&b)
	if err != nil {
		panic(err)
	}
	return set
}

func (w *work) run(t *table) *table {
	t = t.clone()
	for _, f := range w.apply {
		f(t)
	}
	t.snapshot++
	return t
}

// meaning is what the statement does to rows when it runs alone.
func (w *work) meaning(rows map[int64]int, nextRow *int64) map[int64]int {
	out := map[int64]int{}
	for row, v := range rows {
		if n, ok := w.update[row]; ok {
			v = n
		}
		if !w.delete[row] {
			out[row] = v
		}
	}
	for _, v := range w.insert {
		out[*nextRow] = v
		*nextRow++
	}
	return out
}

func (w *work) say(word string) {
	if word += ":1"; !slices.Contains(w.says, word) {
		w.says = append(w.says, word)
	}
}

func (w *work) addsFile(id int64) {
	w.batch.DataFiles.Added = append(w.batch.DataFiles.Added, lake.DataFile{ID: id, TableID: 1})
}

func (w *work) endsFile(id int64) {
	before := lake.DataFile{ID: id, TableID: 1}
	after := before
	after.End, after.Ended = 99, true
	w.batch.DataFiles.Changed = append(w.batch.DataFiles.Changed, conflict.Edit[lake.DataFile]{Before: before, After: after})
}

func (w *work) inlinedRows(add bool, row int64) {
	r := lake.InlinedRow{TableID: 1, RowID: row}
	rows := &w.batch.InlinedRows
	if len(*rows) == 0 {
		*rows = []conflict.InlinedRows{{TableID: 1}}
	}
	if add {
		(*rows)[0].Added = append((*rows)[0].Added, r)
		return
	}
	after := r
	after.End, after.Ended = 99, true
	(*rows)[0].Changed = append((*rows)[0].Changed, conflict.Edit[lake.InlinedRow]{Before: r, After: after})
}

// planner plans commits on one state.
type planner struct {
	t   *rapid.T
	on  *table
	num int // to give values of their own
}

func (p *planner) value() int { p.num++; return p.on.nextVal*1000 + p.num }

func (p *planner) plan(label string) *work {
	w := &work{delete: map[int64]bool{}, update: map[int64]int{}}
	kinds := []string{"insert", "insert", "delete", "delete", "update", "flush", "merge", "rewrite"}
	w.name = rapid.SampledFrom(kinds).Draw(p.t, label)
	switch w.name {
	case "insert":
		p.insert(w, rapid.Bool().Draw(p.t, "inline"), rapid.IntRange(1, 3).Draw(p.t, "rows"))
	case "delete":
		p.deleteRows(w, p.pick(), rapid.Bool().Draw(p.t, "inline"))
	case "update":
		p.updateRows(w, p.pick(), rapid.Bool().Draw(p.t, "inline"))
	case "flush":
		p.flush(w)
	case "merge":
		p.merge(w)
	case "rewrite":
		p.rewrite(w)
	}
	return w
}

// pick draws some of the visible rows.
func (p *planner) pick() []int64 {
	rows, err := p.on.visible()
	if err != nil {
		p.t.Fatal(err)
	}
	ids := slices.Sorted(maps.Keys(rows))
	return slices.DeleteFunc(ids, func(int64) bool { return rapid.IntRange(0, 2).Draw(p.t, "keep") != 0 })
}

func (p *planner) insert(w *work, inline bool, n int) {
	var values []int
	for range n {
		values = append(values, p.value())
	}
	w.insert = values
	if inline {
		w.say("inlined_insert")
		for i := range values {
			w.inlinedRows(true, p.on.nextRow+int64(i))
		}
	} else {
		w.say("inserted_into_table")
		w.addsFile(p.on.nextFile)
	}
	w.apply = append(w.apply, func(t *table) {
		rows := map[int64]int{}
		for _, v := range values {
			rows[t.nextRow] = v
			t.nextRow++
		}
		if inline {
			maps.Copy(t.inlined, rows)
		} else {
			t.addFile(rows)
		}
	})
}

// deleteRows plans a DELETE: inlined rows end; rows of a file are deleted inline, by a
// delete file that takes over the older one, or with the whole file.
func (p *planner) deleteRows(w *work, ids []int64, inline bool) {
	for _, row := range ids {
		if _, ok := p.on.inlined[row]; ok {
			w.say("inlined_delete")
			w.inlinedRows(false, row)
			w.apply = append(w.apply, func(t *table) { delete(t.inlined, row) })
		}
		if _, updated := w.update[row]; !updated {
			w.delete[row] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.on.files)) {
		f := p.on.files[id]
		hit, left := map[int64]bool{}, 0
		for row := range f.rows {
			switch {
			case f.ended || f.deleted(row):
			case slices.Contains(ids, row):
				hit[row] = true
			default:
				left++
			}
		}
		switch {
		case len(hit) == 0:
		case inline:
			w.say("inlined_delete")
			var d conflict.InlinedDeletes
			d.TableID = 1
			for row := range hit {
				d.Added = append(d.Added, lake.InlinedDelete{TableID: 1, FileID: id, RowID: row})
			}
			w.batch.InlinedDeletes = append(w.batch.InlinedDeletes, d)
			w.apply = append(w.apply, func(t *table) { maps.Copy(t.file(id).inlined, hit) })
		case left == 0 && len(f.inlined) == 0:
			w.say("deleted_from_table")
			w.endsFile(id)
			w.apply = append(w.apply, func(t *table) {
				if f := t.files[id]; f != nil {
					f.ended = true
				}
			})
		default:
			w.say("deleted_from_table")
			p.deleteFile(w, id, hit)
		}
	}
}

// deleteFile plans a delete file. It holds the rows of the one it replaces.
func (p *planner) deleteFile(w *work, id int64, rows map[int64]bool) {
	old := p.on.files[id].deletes
	rows = maps.Clone(rows)
	d := lake.DeleteFile{ID: 1000 + id, TableID: 1, DataFileID: id}
	if len(old) > 0 {
		maps.Copy(rows, old[0])
		d.HasPartialMax, d.PartialMax = true, 99
	}
	w.batch.DeleteFiles.Added = append(w.batch.DeleteFiles.Added, d)
	w.apply = append(w.apply, func(t *table) {
		f := t.file(id)
		if len(old) > 0 {
			// The row is removed by its id: one that another commit has replaced is not found.
			f.deletes = slices.DeleteFunc(f.deletes, func(d map[int64]bool) bool { return maps.Equal(d, old[0]) })
		}
		f.deletes = append(f.deletes, rows)
	})
}

func (p *planner) updateRows(w *work, ids []int64, inline bool) {
	rows := map[int64]int{}
	for i, id := range ids {
		rows[id] = p.value()
		w.update[id] = rows[id]
		if inline {
			w.inlinedRows(true, id)
		} else if i == 0 {
			w.addsFile(p.on.nextFile)
		}
	}
	if len(ids) == 0 {
		return
	}
	p.deleteRows(w, ids, inline)
	if inline {
		w.say("inlined_insert")
	} else {
		w.say("inserted_into_table")
	}
	w.apply = append(w.apply, func(t *table) {
		if inline {
			maps.Copy(t.inlined, rows)
		} else {
			t.addFile(rows)
		}
	})
}

// flush plans a flush of everything inlined.
func (p *planner) flush(w *work) {
	if len(p.on.inlined) > 0 {
		w.say("inline_flush")
		rows := maps.Clone(p.on.inlined)
		r := conflict.InlinedRows{TableID: 1}
		for row := range rows {
			r.Removed = append(r.Removed, lake.InlinedRow{TableID: 1, RowID: row})
		}
		w.batch.InlinedRows = append(w.batch.InlinedRows, r)
		w.addsFile(p.on.nextFile)
		w.apply = append(w.apply, func(t *table) {
			for row := range rows {
				delete(t.inlined, row)
			}
			t.addFile(rows)
		})
	}
	for _, id := range slices.Sorted(maps.Keys(p.on.files)) {
		f := p.on.files[id]
		if f.ended || len(f.inlined) == 0 {
			continue
		}
		w.say("deleted_from_table")
		gone := maps.Clone(f.inlined)
		d := conflict.InlinedDeletes{TableID: 1}
		for row := range gone {
			d.Removed = append(d.Removed, lake.InlinedDelete{TableID: 1, FileID: id, RowID: row})
		}
		w.batch.InlinedDeletes = append(w.batch.InlinedDeletes, d)
		p.deleteFile(w, id, gone)
		w.apply = append(w.apply, func(t *table) { // the server repairs this at the second try
			for row := range gone {
				delete(t.file(id).inlined, row)
			}
		})
	}
}

func (p *planner) merge(w *work) {
	var sources []int64
	rows := map[int64]int{}
	for _, id := range slices.Sorted(maps.Keys(p.on.files)) {
		if f := p.on.files[id]; !f.ended && len(f.deletes)+len(f.inlined) == 0 {
			sources = append(sources, id)
			maps.Copy(rows, f.rows)
		}
	}
	if len(sources) < 2 {
		return
	}
	w.say("merge_adjacent")
	w.addsFile(p.on.nextFile)
	for _, id := range sources {
		w.batch.DataFiles.Removed = append(w.batch.DataFiles.Removed, lake.DataFile{ID: id, TableID: 1})
	}
	w.apply = append(w.apply, func(t *table) {
		for _, id := range sources {
			f := t.file(id)
			f.rows, f.deletes = nil, nil
			if len(f.inlined) == 0 {
				delete(t.files, id)
			}
		}
		t.addFile(rows)
	})
}

func (p *planner) rewrite(w *work) {
	for _, id := range slices.Sorted(maps.Keys(p.on.files)) {
		f := p.on.files[id]
		if f.ended || len(f.deletes)+len(f.inlined) == 0 {
			continue
		}
		rows := map[int64]int{}
		for row, v := range f.rows {
			if !f.deleted(row) {
				rows[row] = v
			}
		}
		w.say("rewrite_delete")
		w.endsFile(id)
		w.addsFile(p.on.nextFile)
		w.apply = append(w.apply, func(t *table) {
			t.file(id).ended = true
			t.addFile(rows)
		})
		return
	}
}

// drawTable makes a state by some commits in a row.
func drawTable(t *rapid.T) *table {
	on := &table{files: map[int64]*file{}, inlined: map[int64]int{}}
	for range 2 {
		w := &work{}
		(&planner{t: t, on: on}).insert(w, false, 4)
		on = w.run(on)
		on.nextVal++
	}
	for range rapid.IntRange(0, 4).Draw(t, "commits") {
		on = (&planner{t: t, on: on}).plan("before").run(on)
		on.nextVal++
	}
	return on
}

// outcome is the state after a and then b, both planned on base, and what is wrong with it.
func outcome(base *table, a, b *work) (map[int64]int, error) {
	end := b.run(a.run(base))
	got, err := end.visible()
	if err != nil {
		return nil, err
	}
	rows, err := base.visible()
	if err != nil {
		return nil, err
	}
	next := base.nextRow
	want := b.meaning(a.meaning(rows, &next), &next)
	if !maps.Equal(got, want) {
		return nil, fmt.Errorf("%v, want %v", got, want)
	}
	return got, nil
}

func drawPair(t *rapid.T) (base *table, a, b *work) {
	base = drawTable(t)
	a = (&planner{t: t, on: base}).plan("a")
	b = (&planner{t: t, on: base, num: 500}).plan("b")
	return base, a, b
}

// Whatever the relation lets pass does what the two statements mean, and when both orders
// pass, the order does not show.
func TestBenignPairsCommute(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base, a, b := drawPair(t)
		sa, sb := a.set(), b.set()
		if found := conflict.Agree(sa, conflict.Names{}); len(found) > 0 {
			t.Fatalf("%v: %v", a.says, found)
		}
		var both [2]map[int64]int
		for i, p := range []struct {
			first, second *work
			may           bool
		}{{a, b, conflict.MayFollow(sb, sa)}, {b, a, conflict.MayFollow(sa, sb)}} {
			if !p.may {
				continue
			}
			got, err := outcome(base, p.first, p.second)
			if err != nil {
				t.Fatalf("%v and then %v: %v", p.first.says, p.second.says, err)
			}
			both[i] = got
		}
		if both[0] == nil || both[1] == nil {
			return
		}
		x, y := slices.Sorted(maps.Values(both[0])), slices.Sorted(maps.Values(both[1]))
		if !slices.Equal(x, y) {
			t.Fatalf("%v, %v: %v one way, %v the other", a.says, b.says, x, y)
		}
	})
}

// The server's rules are needed: without each of them, some pair that DuckLake lets pass
// goes wrong. Rules about names are not in this model.
func TestEveryDataRuleIsNeeded(t *testing.T) {
	t.Parallel()
	needed := map[*conflict.Rule]string{}
	search := func(t *rapid.T) {
		base, a, b := drawPair(t)
		sa, sb := a.set(), b.set()
		by := conflict.Server(sb, sa)
		if len(conflict.DuckLake(sb, sa)) > 0 || len(by) != 1 {
			return
		}
		if _, err := outcome(base, a, b); err != nil {
			needed[by[0]] = fmt.Sprintf("%v and then %v: %v", a.says, b.says, err)
		}
	}
	want := []*conflict.Rule{conflict.RuleSourceDeletes, conflict.RuleTargetGone, conflict.RuleBothDelete, conflict.RuleTwoFiles}
	for range 40 {
		rapid.Check(t, search)
		if !slices.ContainsFunc(want, func(r *conflict.Rule) bool { return needed[r] == "" }) {
			break
		}
	}
	for _, r := range want {
		if needed[r] == "" {
			t.Errorf("no pair needs rule %s", r.Name)
		} else {
			t.Logf("%s: %s", r.Name, needed[r])
		}
	}
}
