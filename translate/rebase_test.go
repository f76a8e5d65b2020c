package translate_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/eiderdb/eider/translate"
)

// planned is what a client has read before it builds its batch.
type planned struct {
	snapshot, schema, catalog, file int
	records, row                    map[int]int // by table
}

// plan reads the head in an open transaction of a session.
func (w *world) plan(name string) planned {
	w.run(name, "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ")
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			w.t.Fatal(err)
		}
		return n
	}
	head := strings.Split(w.rows(name, "select snapshot_id, schema_version, next_catalog_id, next_file_id from ducklake_snapshot order by 1 desc limit 1"), "|")
	p := planned{number(head[0]), number(head[1]), number(head[2]), number(head[3]), map[int]int{}, map[int]int{}}
	for _, r := range strings.Fields(w.rows(name, "select table_id, record_count, next_row_id from ducklake_table_stats")) {
		f := strings.Split(r, "|")
		p.records[number(f[0])], p.row[number(f[0])] = number(f[1]), number(f[2])
	}
	return p
}

// work is one commit as DuckLake would build it.
type work struct {
	name   string
	tables []int // whose contents or definitions it touches
	append bool
	build  func(planned) string
}

func (p planned) batch(schema, catalogs, files int, made string, statements ...string) string {
	return lakeBatch(p.snapshot+1, fmt.Sprintf("%d, %d, %d", p.schema+schema, p.catalog+catalogs, p.file+files), made, statements...)
}

func (p planned) stats(table, rows int) string {
	return fmt.Sprintf("UPDATE ducklake_table_stats SET record_count=%d, file_size_bytes=5000, next_row_id=%d WHERE table_id=%d", p.records[table]+rows, p.row[table]+rows, table)
}

func (p planned) newFile(table, n int, path string) string {
	return file(p.file+n, table, p.snapshot+1, "NULL", path, 4, fmt.Sprintf("%d, NULL, NULL, NULL, NULL", p.row[table])) +
		fmt.Sprintf(";INSERT INTO ducklake_file_column_stats VALUES (%d, %d, 1, 5, 4, 0, '1', '4', NULL, NULL)", p.file+n, table)
}

func works() []work {
	return []work{
		{"insert file into t", []int{1}, true, func(p planned) string {
			return p.batch(0, 0, 1, "inserted_into_table:1", p.stats(1, 4), p.newFile(1, 0, "tf"))
		}},
		{"insert file into u", []int{2}, true, func(p planned) string {
			return p.batch(0, 0, 1, "inserted_into_table:2", p.stats(2, 4), p.newFile(2, 0, "uf"))
		}},
		{"insert inlined into t", []int{1}, true, func(p planned) string {
			return p.batch(0, 0, 1, "inlined_insert:1", p.stats(1, 2), fmt.Sprintf("INSERT INTO ducklake_inlined_data_1_1 VALUES (%d, %d, NULL, 5, '6'), (%d, %d, NULL, 7, '8')", p.row[1], p.snapshot+1, p.row[1]+1, p.snapshot+1))
		}},
		{"insert files into t and u", []int{1, 2}, true, func(p planned) string {
			return p.batch(0, 0, 2, "inserted_into_table:1,inserted_into_table:2", p.stats(1, 4), p.stats(2, 4), p.newFile(1, 0, "tg"), p.newFile(2, 1, "ug"))
		}},
		{"delete from t", []int{1}, false, func(p planned) string {
			return p.batch(0, 0, 1, "deleted_from_table:1", deleteFile(p.file, 1, p.snapshot+1, 0, 5, "NULL"))
		}},
		{"delete inline from u", []int{2}, false, func(p planned) string {
			return p.batch(0, 0, 0, "inlined_delete:2", "CREATE TABLE IF NOT EXISTS ducklake_inlined_delete_2(file_id BIGINT, row_id BIGINT, begin_snapshot BIGINT)",
				fmt.Sprintf("INSERT INTO ducklake_inlined_delete_2 VALUES (3, 1, %d)", p.snapshot+1))
		}},
		{"rename u", []int{2}, false, func(p planned) string {
			return p.batch(1, 0, 0, `created_table:"main"."u2"`, fmt.Sprintf("UPDATE ducklake_table SET end_snapshot = %d WHERE end_snapshot IS NULL AND table_id IN (2)", p.snapshot+1),
				fmt.Sprintf("INSERT INTO ducklake_table VALUES (2, NULL, %d, NULL, 0, 'u2', 'u/', true)", p.snapshot+1), fmt.Sprintf("INSERT INTO ducklake_schema_versions VALUES (%d, %d, 2)", p.snapshot+1, p.schema+1))
		}},
		{"add column to t", []int{1}, false, func(p planned) string {
			return p.batch(1, 0, 0, "altered_table:1", fmt.Sprintf("INSERT INTO ducklake_column VALUES (3, %d, NULL, 1, 3, 'n', 'int64', NULL, 'NULL', true, NULL, 'literal', 'duckdb')", p.snapshot+1),
				fmt.Sprintf("INSERT INTO ducklake_schema_versions VALUES (%d, %d, 1)", p.snapshot+1, p.schema+1))
		}},
		{"drop u", []int{2}, false, func(p planned) string {
			end := func(table string) string {
				return fmt.Sprintf("UPDATE %s SET end_snapshot = %d WHERE end_snapshot IS NULL AND table_id IN (2)", table, p.snapshot+1)
			}
			return p.batch(1, 0, 0, "dropped_table:2", end("ducklake_table"), end("ducklake_column"), end("ducklake_data_file"))
		}},
		{"create a view", nil, false, func(p planned) string {
			return p.batch(1, 1, 0, `created_view:"main"."nv"`, fmt.Sprintf("INSERT INTO ducklake_view VALUES (%d, NULL, %d, NULL, 0, 'nv', 'duckdb', 'select 1', '')", p.catalog, p.snapshot+1))
		}},
		{"a message", nil, false, func(p planned) string { return p.batch(0, 0, 0, "") }},
	}
}

// contents are all rows of the lake but for times.
func (w *world) contents() string {
	var b strings.Builder
	for _, t := range []string{
		"ducklake_data_file", "ducklake_file_column_stats", "ducklake_table_stats", "ducklake_inlined_data_1_1", "ducklake_snapshot_changes",
		"ducklake_table", "ducklake_column", "ducklake_view", "ducklake_delete_file", "ducklake_schema_versions",
	} {
		fmt.Fprintf(&b, "%s: %s\n", t, strings.ReplaceAll(w.rows("z", "select * from "+t+" order by 1, 2, 3"), " ", "\n  "))
	}
	fmt.Fprintf(&b, "snapshots: %s\n", w.rows("z", "select snapshot_id, schema_version, next_catalog_id, next_file_id from ducklake_snapshot order by 1"))
	return b.String()
}

// rebasing is a lake in which the server settles lost races.
func rebasing(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.shared = translate.NewShared(translate.SharedOptions{Rebase: true})
	w.run("setup", "begin")
	w.run("setup", lakeDDL)
	w.run("setup", lakeRows)
	w.run("setup", "commit")
	return w
}

// TestRebase: ours is planned, theirs commits one or two snapshots, ours commits. Either
// the lake is what it would be if ours had been planned last, or ours gets the error on
// which DuckLake repeats it; the former only for appends to tables that theirs left alone.
func TestRebase(t *testing.T) {
	for _, ours := range works() {
		for _, theirs := range works() {
			for times := 1; times <= 2; times++ {
				if times == 2 && !(theirs.append || theirs.name == "a message") {
					continue
				}
				t.Run(fmt.Sprintf("%s after %d %s", ours.name, times, theirs.name), func(t *testing.T) {
					race, serial := rebasing(t), newLake(t)
					p := race.plan("a")
					for i := range times {
						for _, w := range []*world{race, serial} {
							q := w.plan("b")
							w.run("b", strings.ReplaceAll(theirs.build(q), "f'", fmt.Sprintf("f%d'", i)))
							w.run("b", "COMMIT")
						}
					}
					shared := slices.ContainsFunc(ours.tables, func(id int) bool { return slices.Contains(theirs.tables, id) })
					before := race.contents()
					out := race.simple("a", ours.build(p), nil, "")
					if !strings.Contains(out, "ERROR") {
						out = race.simple("a", "COMMIT", nil, "")
					}
					if !ours.append || shared {
						if !strings.Contains(out, "ERROR 23505") && !strings.Contains(out, "ERROR 40001") {
							t.Fatalf("not refused: %s", out)
						}
						race.simple("a", "ROLLBACK", nil, "")
						if race.contents() != before {
							t.Error("the lake has changed")
						}
						return
					}
					if strings.Contains(out, "ERROR") {
						t.Fatalf("refused: %s", out)
					}
					p = serial.plan("a")
					serial.run("a", ours.build(p))
					serial.run("a", "COMMIT")
					got, want := race.contents(), serial.contents()
					if got != want {
						t.Errorf("got\n%s\nwant\n%s", got, want)
					}
					if theirs.append || theirs.name == "a message" {
						return
					}
					// The session goes on.
					p = race.plan("a")
					race.run("a", p.batch(0, 0, 0, ""))
					race.run("a", "COMMIT")
				})
			}
		}
	}
}

// Off by default, and a setting of the catalog.
func TestRebaseIsASetting(t *testing.T) {
	t.Parallel()
	w := newLake(t)
	lose := func(i int) string {
		p := w.plan("a")
		q := w.plan("b")
		w.run("b", q.batch(0, 0, 0, ""))
		w.run("b", "COMMIT")
		out := w.simple("a", strings.ReplaceAll(works()[0].build(p), "tf", fmt.Sprintf("tf%d", i)), nil, "")
		if !strings.Contains(out, "ERROR") {
			out = w.simple("a", "COMMIT", nil, "")
		}
		w.simple("a", "ROLLBACK", nil, "")
		return out
	}
	if out := lose(0); !strings.Contains(out, `23505: duplicate key value violates unique constraint "ducklake_snapshot_pkey"`) {
		t.Error(out)
	}
	w.run("c", "ALTER DATABASE lake SET eider.rebase = 'on'")
	if out := lose(1); strings.Contains(out, "ERROR") {
		t.Error(out)
	}
	w.run("c", "ALTER DATABASE lake SET eider.rebase = 'off'")
	if out := lose(2); !strings.Contains(out, "23505") {
		t.Error(out)
	}
}

// Statistics are remembered by next_file_id. A commit that does not raise it, as DuckDB's do
// even for inlined rows, gets one that no snapshot has had all the same.
func TestRebaseRaisesNextFile(t *testing.T) {
	t.Parallel()
	w := rebasing(t)
	p, q := w.plan("a"), w.plan("b")
	w.run("b", works()[1].build(q))
	w.run("b", "COMMIT")
	w.run("a", p.batch(0, 0, 0, "inlined_insert:1", p.stats(1, 1), fmt.Sprintf("INSERT INTO ducklake_inlined_data_1_1 VALUES (%d, %d, NULL, 5, '6')", p.row[1], p.snapshot+1)))
	w.run("a", "COMMIT")
	if got, want := w.plan("c").file, q.file+2; got != want {
		t.Errorf("next_file_id is %d, want %d", got, want)
	}
}
