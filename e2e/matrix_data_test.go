package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// content is the model of a table: its name, rows by key, what files are written by, and whether the table is there.
type content struct {
	name                string
	rows                map[int]int
	sorted, partitioned bool
	gone                bool
}

func (c content) clone() content {
	rows := make(map[int]int, len(c.rows))
	for k, v := range c.rows {
		rows[k] = v
	}
	c.rows = rows
	return c
}

// lines is what SELECT i, v … ORDER BY i returns.
func (c content) lines() []string {
	keys := make([]int, 0, len(c.rows))
	for k := range c.rows {
		keys = append(keys, k)
	}
	sort.Ints(keys)
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = fmt.Sprintf("%d | %d", k, c.rows[k])
	}
	return out
}

// with adds rows of a range of keys.
func (c content) with(from, to int) content {
	for k := from; k < to; k++ {
		c.rows[k] = k * 10
	}
	return c
}

// delta is what an operation does to the rows that it sees.
type delta struct {
	removed  map[int]bool
	changed  map[int]int
	added    map[int]int
	drops    bool
	sorts    bool
	parts    bool
	renames  string // the new name, if it gets one
	replaces string // the name under which the table is made anew, with what is added
}

func (d delta) apply(c content) content {
	out := c.clone()
	if d.replaces != "" {
		out = content{name: d.replaces, rows: map[int]int{}}
	}
	if d.renames != "" {
		out.name = d.renames
	}
	out.sorted = out.sorted || d.sorts
	out.partitioned = out.partitioned || d.parts
	for k := range d.removed {
		delete(out.rows, k)
	}
	for k, v := range d.changed {
		out.rows[k] = v
	}
	for k, v := range d.added {
		out.rows[k] = v
	}
	out.gone = out.gone || d.drops
	return out
}

// clash says whether two deltas touch a row in such a way that only one may land: at least
// one of them writes a new version of a row that the other deletes or changes.
func (d delta) clash(e delta) bool {
	for k := range d.changed {
		if _, both := e.changed[k]; both || e.removed[k] {
			return true
		}
	}
	for k := range e.changed {
		if d.removed[k] {
			return true
		}
	}
	return false
}

// operation is a data operation. It depends on the side that does it, so that two of the
// same kind can be told apart.
type operation struct {
	name string
	sql  func(side int, t string) string
	// effect returns the delta on a content.
	effect func(side int, c content) delta
}

func static(format string) func(int, string) string {
	return func(_ int, t string) string { return strings.ReplaceAll(format, "{t}", t) }
}

func none(int, content) delta { return delta{} }

func removing(match func(k int) bool) func(int, content) delta {
	return func(_ int, c content) delta {
		d := delta{removed: map[int]bool{}}
		for k := range c.rows {
			if match(k) {
				d.removed[k] = true
			}
		}
		return d
	}
}

func changing(match func(k int) bool, value int) func(int, content) delta {
	return func(side int, c content) delta {
		d := delta{changed: map[int]int{}}
		for k := range c.rows {
			if match(k) {
				d.changed[k] = value - side
			}
		}
		return d
	}
}

func oneOf(keys ...int) func(int) bool { return func(k int) bool { return slices.Contains(keys, k) } }

func below(n int) func(int) bool { return func(k int) bool { return k < n } }

// operations are those that meet the rows of a table, its files, or their names. Up to ten rows are inlined, by default.
var operations = []operation{
	{"ins_inline", func(side int, t string) string {
		return fmt.Sprintf("INSERT INTO lake.%s (i, v) VALUES (%d, 1), (%d, 2)", t, 1000+10000*side, 1001+10000*side)
	}, func(side int, _ content) delta {
		return delta{added: map[int]int{1000 + 10000*side: 1, 1001 + 10000*side: 2}}
	}},
	{"ins_file", func(side int, t string) string {
		return fmt.Sprintf("INSERT INTO lake.%s (i, v) SELECT range + %d, 3 FROM range(20)", t, 2000+10000*side)
	}, func(side int, _ content) delta {
		d := delta{added: map[int]int{}}
		for i := range 20 {
			d.added[2000+10000*side+i] = 3
		}
		return d
	}},
	{"ins_other", static("INSERT INTO lake.o{t} VALUES (1)"), none},
	{"del_inline", static("DELETE FROM lake.{t} WHERE i IN (3, 103)"), removing(oneOf(3, 103))},
	{"del_inline2", static("DELETE FROM lake.{t} WHERE i IN (4, 41, 104)"), removing(oneOf(4, 41, 104))},
	{"del_file", static("DELETE FROM lake.{t} WHERE i < 15"), removing(below(15))},
	{"del_file2", static("DELETE FROM lake.{t} WHERE i BETWEEN 15 AND 27"), removing(func(k int) bool { return k >= 15 && k <= 27 })},
	{"del_all", static("DELETE FROM lake.{t}"), removing(func(int) bool { return true })},
	{"upd_inline", func(side int, t string) string {
		return fmt.Sprintf("UPDATE lake.%s SET v = %d WHERE i IN (5, 42, 105)", t, -5-side)
	}, changing(oneOf(5, 42, 105), -5)},
	{"upd_file", func(side int, t string) string {
		return fmt.Sprintf("UPDATE lake.%s SET v = %d WHERE i < 15", t, -15-side)
	}, changing(below(15), -15)},
	{"upsert", func(side int, t string) string {
		return fmt.Sprintf("MERGE INTO lake.%s AS t USING (VALUES (6, %d), (%d, 7)) AS u(i, v) ON t.i = u.i WHEN MATCHED THEN UPDATE SET v = u.v WHEN NOT MATCHED THEN INSERT (i, v) VALUES (u.i, u.v)", t, -6-side, 3000+10000*side)
	}, func(side int, c content) delta {
		d := delta{changed: map[int]int{}, added: map[int]int{3000 + 10000*side: 7}}
		if _, ok := c.rows[6]; ok {
			d.changed[6] = -6 - side
		} else {
			d.added[6] = -6 - side
		}
		return d
	}},
	{"merge", static("CALL ducklake_merge_adjacent_files('lake', '{t}')"), none},
	{"rewrite", static("CALL ducklake_rewrite_data_files('lake', '{t}', delete_threshold => 0)"), none},
	{"flush", static("CALL ducklake_flush_inlined_data('lake', table_name => '{t}')"), none},
	{"add_column", func(side int, t string) string {
		return fmt.Sprintf("ALTER TABLE lake.%s ADD COLUMN c%d INTEGER", t, side)
	}, none},
	{"drop", static("DROP TABLE lake.{t}"), func(int, content) delta { return delta{drops: true} }},
	{"rename", static("ALTER TABLE lake.{t} RENAME TO {t}_new"), func(_ int, c content) delta { return delta{renames: c.name + "_new"} }},
	{"replace", func(side int, t string) string {
		return fmt.Sprintf("CREATE OR REPLACE TABLE lake.%s AS SELECT range + %d AS i, 8 AS v FROM range(15)", t, 5000+10000*side)
	}, func(side int, c content) delta {
		d := delta{replaces: c.name, added: map[int]int{}}
		for i := range 15 {
			d.added[5000+10000*side+i] = 8
		}
		return d
	}},
	{"sort", static("ALTER TABLE lake.{t} SET SORTED BY (v DESC)"), func(int, content) delta { return delta{sorts: true} }},
	{"partition", static("ALTER TABLE lake.{t} SET PARTITIONED BY (v)"), func(int, content) delta { return delta{parts: true} }},
	// The newest snapshot stays, which is the one before the race.
	{"expire", static("CALL ducklake_expire_snapshots('lake', older_than => now() + INTERVAL 1 HOUR)"), none},
	{"clean", static("CALL ducklake_cleanup_old_files('lake', cleanup_all => true)"), none},
}

func operationNames() []string {
	names := make([]string, len(operations))
	for i, op := range operations {
		names[i] = op.name
	}
	return names
}

// kinds are the kinds of table: plain files, files with inlined deletes, files of which one has a delete file, with inlined rows beside them, and one
// with everything: files that UPDATE wrote, with the row ids inside, a delete file and inlined deletes of one file, inlined rows.
var kinds = []struct {
	name  string
	setup []string
	base  func() content
}{
	{"plain", nil, func() content { return files(below(0)) }},
	{"inlined-deletes", []string{"DELETE FROM lake.{t} WHERE i IN (1, 2)"}, func() content { return files(oneOf(1, 2)) }},
	{"delete-file", []string{"DELETE FROM lake.{t} WHERE i BETWEEN 28 AND 39", "INSERT INTO lake.{t} VALUES (40, 400), (41, 410), (42, 420), (43, 430)"}, func() content {
		c := files(func(k int) bool { return k >= 28 && k <= 39 })
		return c.with(40, 44)
	}},
	{"mixed", []string{
		"UPDATE lake.{t} SET v = v WHERE i BETWEEN 20 AND 39", "UPDATE lake.{t} SET v = v WHERE i >= 200",
		"DELETE FROM lake.{t} WHERE i IN (1, 2)", "INSERT INTO lake.{t} VALUES (40, 400), (41, 410), (42, 420), (43, 430)",
	}, func() content {
		return files(oneOf(1, 2)).with(40, 44)
	}},
}

// files is the content of the three files of each table, but for some rows.
func files(but func(int) bool) content {
	c := content{rows: map[int]int{}}
	for _, r := range [][2]int{{0, 40}, {100, 20}, {200, 20}} {
		for i := range r[1] {
			if k := r[0] + i; !but(k) {
				c.rows[k] = k * 10
			}
		}
	}
	return c
}

// TestMatrixData races every data operation against every other.
func TestMatrixData(t *testing.T) {
	t.Parallel()
	for _, target := range matrixTargets(t) {
		for k, kind := range kinds {
			t.Run(target.Name()+"/"+kind.name, func(t *testing.T) {
				t.Parallel()
				g := newGrid("data-"+kind.name, target.Name(), operationNames())
				ctx, cancel := context.WithTimeout(context.Background(), matrixTimeout)
				defer cancel()
				cl := &clients{ctx: ctx}
				defer cl.close()
				for i := range operations {
					m := &dataRow{raceRow: raceRow{clients: cl, target: target, grid: g}, kind: k, a: i}
					var cells []int
					for j := range operations {
						if a, b := operations[i].name, operations[j].name; chosen(t, a, b, k, len(kinds), i+j) && !m.waits(a, b) {
							cells = append(cells, j)
						}
					}
					if err := m.run(t, operations[i].name, operationNames(), cells, m.cell); err != nil {
						t.Fatal(err)
					}
				}
				g.finish(t)
			})
		}
	}
}

// dataRow is the cells of one operation of A on one kind of table.
type dataRow struct {
	raceRow
	kind int
	a    int
}

// cell runs one pair. An error means that the cell is wrong.
func (m *dataRow) cell(j int, c *cell) error {
	a, b, kind := operations[m.a], operations[j], kinds[m.kind]
	t := fmt.Sprintf("t%d", j)
	setup := []string{
		"CREATE TABLE lake." + t + " AS SELECT range AS i, range * 10 AS v FROM range(40)",
		"INSERT INTO lake." + t + " SELECT range + 100, (range + 100) * 10 FROM range(20)",
		"INSERT INTO lake." + t + " SELECT range + 200, (range + 200) * 10 FROM range(20)",
		"CREATE TABLE lake.o" + t + " (i INTEGER)",
	}
	for _, sql := range kind.setup {
		setup = append(setup, strings.ReplaceAll(sql, "{t}", t))
	}
	if a.name == "clean" || b.name == "clean" { // something is scheduled
		for range 2 {
			setup = append(setup, "INSERT INTO lake.o"+t+" SELECT range FROM range(20)")
		}
		setup = append(setup, "CALL ducklake_merge_adjacent_files('lake', 'o"+t+"')")
	}
	if err := m.exec(sideB, setup...); err != nil {
		return err
	}
	base := kind.base()
	base.name = t
	ids, err := m.rowIDs(sideB, t)
	if err != nil {
		return err
	}
	v0, err := m.version(sideB)
	if err != nil {
		return err
	}
	da, db := a.effect(sideA, base), b.effect(sideB, base)
	between := db.apply(base)
	v1 := ""
	refusal, err := m.race([]string{a.sql(sideA, t)}, []string{b.sql(sideB, t)}, func() (err error) {
		v1, err = m.version(sideB)
		return err
	})
	if err != nil {
		return err
	}
	want := between
	switch {
	case refusal != nil:
		c.refuse(refusal, slices.Contains(quiet, a.name))
	case da.clash(db):
		return errors.New("both land, though they change a row that both want")
	default:
		want = da.apply(between)
	}
	check := func(side int, who string, want content) {
		for _, problem := range m.compare(side, want, ids) {
			c.fail("%s: %s", who, problem)
		}
	}
	check(sideA, "A", want)
	check(sideB, "B", want)
	check(sideC, "C", want)
	news, err := m.news()
	if err != nil {
		return err
	}
	for _, f := range news {
		c.fail("fsck: %s", f)
	}
	if err := m.layout(c, want); err != nil {
		return err
	}
	m.history(c, v0, base, v1, between)
	if refusal != nil && c.verdict != vWrong && !want.gone {
		// The refused operation is legal now.
		err := m.exec(sideA, a.sql(sideA, want.name))
		if err != nil && a.name == "merge" && want.sorted && strings.Contains(err.Error(), "would change row ids") {
			// No merge of plain files into an order keeps their ids.
			want.sorted = false
			err = m.exec(sideA, "ALTER TABLE lake."+want.name+" RESET SORTED BY", a.sql(sideA, want.name))
		}
		if err != nil {
			return fmt.Errorf("done again: %w", err)
		}
		again := a.effect(sideA, want)
		for k := range again.added {
			delete(ids, k) // a key that was deleted meanwhile is a new row
		}
		want = again.apply(want)
		check(sideB, "done again", want)
		if err := m.layout(c, want); err != nil {
			return err
		}
	}
	m.after = append(m.after, func() { check(sideC, "a fresh client", want) })
	return nil
}

func (m *dataRow) version(side int) (string, error) {
	return m.value(side, "FROM lake.current_snapshot()")
}

// history checks that the versions before the race and between the two commits read as they did.
func (m *dataRow) history(c *cell, v0 string, base content, v1 string, between content) {
	for _, v := range []struct {
		version string
		want    content
	}{{v0, base}, {v1, between}} {
		if v.want.gone {
			continue
		}
		got, err := m.rows(sideB, fmt.Sprintf("SELECT i, v FROM lake.%s AT (VERSION => %s) ORDER BY i, v", v.want.name, v.version))
		if err != nil || !slices.Equal(got, v.want.lines()) {
			if c.verdict != vWrong {
				c.verdict = vHistory
			}
			c.notes = append(c.notes, fmt.Sprintf("version %s: %s %v", v.version, difference(got, v.want.lines()), err))
		}
	}
}

// layout checks how many sort orders and partitionings the table has now.
func (m *dataRow) layout(c *cell, want content) error {
	if want.gone {
		return nil
	}
	const live = "FROM __ducklake_metadata_lake.ducklake_%s WHERE end_snapshot IS NULL AND table_id = " +
		"(SELECT table_id FROM __ducklake_metadata_lake.ducklake_table WHERE end_snapshot IS NULL AND table_name = '%s')"
	for relation, has := range map[string]bool{"sort_info": want.sorted, "partition_info": want.partitioned} {
		n, err := m.value(sideC, "SELECT count(*) "+fmt.Sprintf(live, relation, want.name))
		if err != nil {
			return err
		}
		if right := map[bool]string{true: "1"}[has]; n != right && (has || n != "0") {
			c.fail("%s rows of %s, right is %q", n, relation, right)
		}
	}
	return nil
}

// rowIDs returns the row id of every key.
func (m *dataRow) rowIDs(side int, t string) (map[int]string, error) {
	res, err := m.sess[side].Query(m.ctx, "SELECT i, rowid FROM lake."+t)
	if err != nil {
		return nil, err
	}
	out := make(map[int]string, len(res.Rows))
	for _, row := range res.Rows {
		k, err := strconv.Atoi(row[0])
		if err != nil {
			return nil, err
		}
		out[k] = row[1]
	}
	return out, nil
}

// compare says how what a client sees differs from the model.
func (m *dataRow) compare(side int, want content, ids map[int]string) (problems []string) {
	t := want.name
	got, err := m.rows(side, "SELECT i, v FROM lake."+t+" ORDER BY i, v")
	if want.gone {
		if err == nil {
			return []string{"the table is still there"}
		}
		return nil
	}
	if err != nil {
		return []string{oneLine(err.Error())}
	}
	if d := difference(got, want.lines()); d != "" {
		problems = append(problems, d)
	}
	n, err := m.value(side, "SELECT count(*) FROM lake."+t)
	if err != nil || n != strconv.Itoa(len(want.rows)) {
		problems = append(problems, fmt.Sprintf("count(*) is %s, right is %d %v", n, len(want.rows), err))
	}
	now, err := m.rowIDs(side, t)
	if err != nil {
		return append(problems, oneLine(err.Error()))
	}
	owner := map[string]int{}
	for k, id := range now {
		if old, ok := ids[k]; ok && old != id {
			problems = append(problems, fmt.Sprintf("row %d had the row id %s and has %s", k, old, id))
		}
		if other, ok := owner[id]; ok {
			problems = append(problems, fmt.Sprintf("rows %d and %d have the row id %s", k, other, id))
		}
		owner[id] = k
	}
	return problems
}

// difference names some of the lines that are too many and that are missing.
func difference(got, want []string) string {
	count := map[string]int{}
	for _, l := range got {
		count[l]++
	}
	for _, l := range want {
		count[l]--
	}
	var more, less []string
	for l, n := range count {
		if n > 0 {
			more = append(more, l)
		} else if n < 0 {
			less = append(less, l)
		}
	}
	if len(more)+len(less) == 0 {
		return ""
	}
	sort.Strings(more)
	sort.Strings(less)
	return fmt.Sprintf("%d rows too many %s, %d rows missing %s", len(more), some(more), len(less), some(less))
}

func some(list []string) string {
	if len(list) > 4 {
		return "(" + strings.Join(list[:4], "; ") + "; …)"
	}
	return "(" + strings.Join(list, "; ") + ")"
}
