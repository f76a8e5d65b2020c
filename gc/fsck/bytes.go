package fsck

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/eiderdb/eider/conflict/hold"
	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/lake/files"
)

// Files looks at a lake's files.
type Files struct {
	// Verifier opens and reads them.
	Verifier *hold.Verifier
	// Workers is how many files are read at a time; 0 means DefaultWorkers.
	Workers int
}

// DefaultWorkers hides the latency of object storage.
const DefaultWorkers = 16

// jobs is how many files are handed to the workers together.
const jobs = 512

// job is one file to look at.
type job struct {
	owner
	table, begin int64
	live         bool
	file         hold.File
	format       string
	rows         int64 // record_count or delete_count
	data         int64 // of a delete file
	noStart      bool  // no row_id_start
	partial      bool  // it holds deletes of several snapshots

	in  hold.Inspection
	pos []int64
	err error
}

// gone is what is missing of what one snapshot added to one table.
type gone struct {
	paths []string
	total int
}

type addition struct{ snapshot, table int64 }

// looker is the state of a look at all files.
type looker struct {
	c       *checker
	batch   []job
	added   map[addition]*gone
	missing []*job // live data files
}

// lookAtFiles reads the rows of files again, and the files.
func (c *checker) lookAtFiles() error {
	l := &looker{c: c, added: map[addition]*gone{}}
	err := c.r.Each(c.ctx, "ducklake_data_file", dataFileColumns+" file_format", func(r *lake.Row) error {
		j := job{owner: owner{id: r.Num(0)}, table: r.Num(1), begin: r.Num(2), live: c.live(r.Span(2)), format: r.Text(13), rows: r.Num(6), noStart: !r.Has(9)}
		return l.take(&j, r, 12)
	})
	if err != nil {
		return err
	}
	err = c.r.Each(c.ctx, "ducklake_delete_file", deleteFileColumns+" partial_max", func(r *lake.Row) error {
		j := job{
			owner: owner{id: r.Num(0), deletes: true}, table: r.Num(1), begin: r.Num(2), live: c.live(r.Span(2)), format: r.Text(10), rows: r.Num(6),
			data: r.Num(9), partial: r.Has(12),
		}
		return l.take(&j, r, 11)
	})
	if err != nil {
		return err
	}
	if err := l.flush(); err != nil {
		return err
	}
	l.additions()
	l.drop()
	return nil
}

// take adds a file to the batch; key is the place of encryption_key.
func (l *looker) take(j *job, r *lake.Row, key int) error {
	j.file = hold.File{
		Path: l.c.resolve(j.table, files.Place{Path: r.Text(4), Relative: r.Bool(5)}), Size: r.Num(7), Footer: r.Num(8), Key: r.Text(key), Format: j.format,
	}
	a := addition{j.begin, j.table}
	if l.added[a] == nil {
		l.added[a] = &gone{}
	}
	l.added[a].total++
	l.batch = append(l.batch, *j)
	if len(l.batch) < jobs {
		return nil
	}
	return l.flush()
}

// flush reads the files of a batch, and reports on them in their order.
func (l *looker) flush() error {
	workers := l.c.o.Files.Workers
	if workers <= 0 {
		workers = DefaultWorkers
	}
	var wg sync.WaitGroup
	next := make(chan *job)
	for range min(workers, len(l.batch)) {
		wg.Go(func() {
			for j := range next {
				l.look(j)
			}
		})
	}
	for i := range l.batch {
		next <- &l.batch[i]
	}
	close(next)
	wg.Wait()
	for i := range l.batch {
		l.report(&l.batch[i])
	}
	l.batch = nil // l.missing may point into it
	return l.c.ctx.Err()
}

// look reads one file.
func (l *looker) look(j *job) {
	v, ctx := l.c.o.Files.Verifier, l.c.ctx
	switch {
	case j.format == "puffin":
		j.in.Size, j.err = v.Length(ctx, &j.file)
	case j.format == "" || strings.EqualFold(j.format, "parquet"):
		j.in, j.err = v.Inspect(ctx, &j.file)
	default:
		if j.in.Size, j.err = v.Length(ctx, &j.file); j.err == nil {
			j.err = fmt.Errorf("%w: format %q", errFormat, j.format)
		}
	}
	if j.err == nil && j.deletes {
		j.pos, j.err = v.DeletePositions(ctx, &j.file)
	}
}

var errFormat = errors.New("unknown file format")

// report says what is wrong with one file.
func (l *looker) report(j *job) {
	c := l.c
	add := func(code Code, format string, args ...any) {
		begin := j.begin
		c.add(Finding{Code: code, TableID: j.table, Object: j.String(), Snapshot: &begin, Path: j.file.Path, Message: fmt.Sprintf(format, args...)})
	}
	switch err := j.err; {
	case err == nil:
	case errors.Is(err, files.ErrOutOfReach):
		add(FileUnverified, "%s is out of reach", j.file.Path)
		return
	case errors.Is(err, files.ErrNotFound):
		l.gone(j)
		return
	case errors.Is(err, files.ErrDenied):
		add(FileUnreadable, "access to %s is denied", j.file.Path)
		return
	case errors.Is(err, files.ErrNotAFile), errors.Is(err, hold.ErrDamaged):
		c.rep.Counts.FilesRead++
		add(FileDamaged, "%s: %v", j.file.Path, err)
		return
	case errors.Is(err, hold.ErrEncrypted), errors.Is(err, hold.ErrBudget), errors.Is(err, errFormat):
		c.rep.Counts.FilesRead++
		add(FileUnverified, "%s: %v", j.file.Path, err)
		return
	default:
		add(FileUnreadable, "%s: %v", j.file.Path, err)
		return
	}
	c.rep.Counts.FilesRead++
	if j.in.Size != j.file.Size {
		add(FileSize, "%s has %d bytes, file_size_bytes is %d", j.file.Path, j.in.Size, j.file.Size)
	}
	if j.format != "puffin" {
		if j.file.Footer != 0 && j.in.Footer != j.file.Footer {
			add(FooterSize, "the footer of %s has %d bytes, footer_size is %d", j.file.Path, j.in.Footer, j.file.Footer)
		}
		if !j.deletes && j.in.Rows != j.rows {
			add(FileRows, "%s has %d rows, record_count is %d", j.file.Path, j.in.Rows, j.rows)
		}
		if !j.deletes && j.noStart && !j.in.RowIDs {
			add(RowIDMissing, "%s has not the ids of its rows, and row_id_start is NULL", j.file.Path)
		}
	}
	if j.deletes {
		l.positions(j, add)
	}
}

// positions tests what a delete file deletes.
func (l *looker) positions(j *job, add func(code Code, format string, args ...any)) {
	c := l.c
	n := int64(len(j.pos))
	distinct := int64(len(slices.Compact(slices.Clone(j.pos))))
	if distinct != n || n != j.rows {
		add(DeletePositions, "%s deletes %d rows, %d of them distinct, delete_count is %d", j.file.Path, n, distinct, j.rows)
	}
	f := c.file(j.data)
	if f == nil {
		return
	}
	if n > 0 && j.pos[n-1] >= f.records {
		add(DeletePosition, "%s deletes row %d of data file %d, which has %d rows", j.file.Path, j.pos[n-1], f.id, f.records)
	}
	if !j.live || !c.live(f.span()) {
		return
	}
	var rows []string
	loses := false
	for _, d := range c.inlined[f.id] {
		if _, ok := slices.BinarySearch(j.pos, d.row); ok {
			rows = append(rows, fmt.Sprint(d.row))
			// Between the two the row would be back in older snapshots, unless the file says when.
			loses = loses || d.begin < j.begin && !j.partial
		}
	}
	if len(rows) == 0 {
		return
	}
	found := Finding{
		Code: DeleteOverlap, TableID: j.table, Object: j.String(), Path: j.file.Path, Rows: int64(len(rows)),
		Message: fmt.Sprintf("%d rows of data file %d that it deletes are deleted inlined as well, for example row %s", len(rows), f.id, rows[0]),
	}
	if loses {
		c.add(found)
		return
	}
	c.add(found, Change{
		Op: DeleteRows, Relation: fmt.Sprintf("%s%d", lake.InlinedDeletePrefix, f.table), Where: []Cond{is("file_id", f.id), {"row_id", rows}}, Rows: Any,
	})
}

// gone reports a file that does not exist.
func (l *looker) gone(j *job) {
	c := l.c
	g := l.added[addition{j.begin, j.table}]
	if len(g.paths) < 100 {
		g.paths = append(g.paths, j.file.Path)
	}
	g.total-- // what is left of it is there
	who := "older snapshots from %d on read it"
	if j.live {
		who = "snapshots from %d on read it"
	}
	drop := j.live && !j.deletes && c.tables[j.table] != nil && c.tables[j.table].live
	begin := j.begin
	c.emit(Finding{
		Code: FileMissing, TableID: j.table, Object: j.String(), Snapshot: &begin, Path: j.file.Path, Repairable: drop && c.o.DropMissing,
		Message: fmt.Sprintf("%s does not exist; "+who, j.file.Path, j.begin),
	})
	if drop {
		l.missing = append(l.missing, j)
	}
}

// additions reports the snapshots of which no file is left.
func (l *looker) additions() {
	var all []addition
	for a, g := range l.added {
		if len(g.paths) > 0 && g.total == 0 {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b addition) int {
		if d := cmpInt(a.snapshot, b.snapshot); d != 0 {
			return d
		}
		return cmpInt(a.table, b.table)
	})
	for _, a := range all {
		g := l.added[a]
		begin := a.snapshot
		l.c.add(Finding{
			Code: CommitFilesMissing, TableID: a.table, Object: fmt.Sprintf("snapshot %d, table %d", a.snapshot, a.table), Snapshot: &begin, Files: g.paths,
			Message: fmt.Sprintf("none of the %d files is left that snapshot %d%s added to table %s", len(g.paths), a.snapshot, l.c.timeOf(a.snapshot), l.c.nameOf(a.table)),
		})
	}
}

// timeOf is when a snapshot was made, in brackets.
func (c *checker) timeOf(id int64) string {
	i, ok := slices.BinarySearchFunc(c.snaps, id, func(s snap, id int64) int { return cmpInt(s.id, id) })
	if !ok || c.snaps[i].micros == unknownTime {
		return ""
	}
	return " (" + time.UnixMicro(c.snaps[i].micros).UTC().Format(time.RFC3339Nano) + ")"
}

func (c *checker) nameOf(table int64) string {
	if t := c.tables[table]; t != nil {
		return t.name
	}
	return fmt.Sprint(table)
}

// drop plans a new snapshot without the live data files that are missing. Where no file at
// all was found, the storage is not the lake's, or not there.
func (l *looker) drop() {
	c := l.c
	if !c.o.DropMissing || len(l.missing) == 0 {
		return
	}
	if c.rep.Counts.FilesRead == 0 {
		for i := range c.rep.Findings {
			c.rep.Findings[i].Repairable = c.rep.Findings[i].Repairable && c.rep.Findings[i].Code != FileMissing
		}
		return
	}
	next := c.head.id + 1
	snapshot := Change{Op: InsertRow, Relation: "ducklake_snapshot", Rows: 1, Set: []Field{
		set("snapshot_id", next),
		{Column: "snapshot_time", Now: true},
		set("schema_version", c.head.schema),
		set("next_catalog_id", c.head.catalog), set("next_file_id", c.head.files),
	}}
	changes := []Change{snapshot}
	var ids []int64
	for _, j := range l.missing {
		changes = append(changes, Change{
			Op: UpdateRows, Relation: "ducklake_data_file", Where: []Cond{is("data_file_id", j.id), {Column: "end_snapshot"}},
			Set: []Field{set("end_snapshot", next)}, Rows: 1,
		})
		ids = append(ids, j.table)
	}
	slices.Sort(ids)
	var made []string
	for _, id := range slices.Compact(ids) {
		made = append(made, fmt.Sprintf("deleted_from_table:%d", id))
	}
	done := []Field{set("snapshot_id", next), {Column: "changes_made", Value: strings.Join(made, ",")}}
	if c.r.Column("ducklake_snapshot_changes", "commit_message") {
		done = append(done, Field{Column: "author", Value: "eider fsck"},
			Field{Column: "commit_message", Value: fmt.Sprintf("%d data files that do not exist", len(l.missing))})
	}
	changes = append(changes, Change{Op: InsertRow, Relation: "ducklake_snapshot_changes", Set: done, Rows: 1})
	c.rep.plans = append(c.rep.plans, Repair{
		Code: FileMissing, Text: fmt.Sprintf("snapshot %d, in which %d data files that do not exist have ended", next, len(l.missing)),
		Changes: changes, Head: c.head.id,
	})
}
