package hold

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/eiderdb/eider/conflict"
)

// examiner reads the files of one compaction.
type examiner struct {
	v   *Verifier
	ctx context.Context
	c   *Compaction
	st  State
	// runs are the outputs that number their rows by position.
	runs []run

	sources, outputs []table

	mu     sync.Mutex
	left   int64  // of Options.MaxBytes
	file   string // that an error is about
	fileID int64
}

// table is a data file as its reader sees it: rows with ids, some of them deleted.
type table struct {
	id      int64
	file    *File
	ft      footer
	begin   int64
	start   int64
	started bool
	// counted: the start counts, whatever ids are inside (see localIDs).
	counted bool
	records int64
	// deleted are the positions that no scan returns, ascending, each once.
	deleted []int64
	del     *File // where they come from, beside inlined
	inlined []int64
}

// footerOf reads a file's end, or remembers it.
func (v *Verifier) footerOf(ctx context.Context, f *File) (ft footer, err error) {
	if v.cache != nil {
		if ft, ok := v.cache.footer(f); ok {
			return ft, nil
		}
	}
	r, err := v.open(ctx, f, wantFooter)
	if err != nil {
		return ft, err
	}
	ft, err = r.footer()
	if err = errors.Join(err, r.Close()); err != nil {
		return ft, err
	}
	if v.cache != nil {
		v.cache.putFooter(f, ft)
	}
	return ft, nil
}

// blame remembers the file that an error is about.
func (e *examiner) blame(t *table, f *File, err error) error {
	if err == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.file == "" {
		e.file, e.fileID = f.Path, t.id
	}
	return err
}

// spend takes from the budget of bytes.
func (e *examiner) spend(n int64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n < 0 || n > e.left {
		return ErrBudget
	}
	e.left -= n
	return nil
}

// spendRows takes what the ids of some rows cost.
func (e *examiner) spendRows(n int64) error {
	if n > math.MaxInt64/8 {
		return ErrBudget
	}
	return e.spend(n * 8)
}

// readers is how many files are read at a time. It hides the latency of object storage.
const readers = 4

// each runs fn for all of a list, some at a time, and waits. The first error counts, in the
// order of the list.
func each[T any](list []T, fn func(t *T) error) error {
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	free := make(chan struct{}, readers)
	for i := range list {
		free <- struct{}{}
		wg.Go(func() {
			errs[i] = fn(&list[i])
			<-free
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// run examines tier by tier and says how far it came.
func (e *examiner) run(tier *Tier) ([]conflict.Violation, error) {
	e.tables()
	all := slices.Concat(e.sources, e.outputs)
	err := each(all, func(t *table) error {
		ft, err := e.v.footerOf(e.ctx, t.file)
		t.ft = ft
		return e.blame(t, t.file, err)
	})
	e.sources, e.outputs = all[:len(e.sources)], all[len(e.sources):]
	if err != nil {
		return nil, err
	}
	found, err := e.footers()
	if err != nil || len(found) > 0 {
		return found, err
	}
	e.count()
	*tier = Footers
	if e.v.opts.Tier < RowIDs {
		return e.bounds(), nil
	}
	err = each(e.sources, func(t *table) error {
		pos := t.inlined
		if t.del != nil {
			more, err := e.v.DeletePositions(e.ctx, t.del)
			if err != nil {
				return e.blame(t, t.del, err)
			}
			pos = append(slices.Clone(pos), more...)
			slices.Sort(pos)
		}
		t.deleted = slices.Compact(pos)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if found, err = e.compareIDs(); err != nil || len(found) > 0 {
		return found, err
	}
	*tier = RowIDs
	if e.v.opts.Tier < Rows {
		return nil, nil
	}
	if found, err = e.compareRows(); err != nil || len(found) > 0 {
		return found, err
	}
	if found, err = e.disjoint(nil); err != nil || len(found) > 0 {
		return found, err
	}
	*tier = Rows
	return nil, nil
}

func (e *examiner) tables() {
	for i := range e.c.Sources {
		s := &e.c.Sources[i]
		t := table{
			id: s.ID, file: dataFile(&s.DataFile, s.Path), begin: s.Begin, start: s.RowIDStart, started: s.HasRowIDStart,
			records: s.Records, inlined: s.Inlined,
		}
		if s.Delete != nil {
			t.del = deleteFile(s.Delete, s.DeletePath)
		}
		e.sources = append(e.sources, t)
	}
	for i := range e.c.Outputs {
		o := &e.c.Outputs[i]
		e.outputs = append(e.outputs, table{
			id: o.ID, file: dataFile(&o.DataFile, o.Path), begin: o.Begin, start: o.RowIDStart, started: o.HasRowIDStart, records: o.Records,
		})
	}
}

// footers is what tier 1 finds: files that have not the rows that the catalog says, or
// whose rows have no ids.
func (e *examiner) footers() (found []conflict.Violation, err error) {
	for i := range e.outputs {
		o := &e.outputs[i]
		switch {
		case o.ft.rows != o.records:
			found = append(found, conflict.RowCount(e.c.Table, o.id, o.records, o.ft.rows))
		case o.ft.bad != "":
			found = append(found, conflict.RowIDColumn(e.c.Table, o.id, o.ft.bad))
		case !o.ft.embeds() && !o.started:
			found = append(found, conflict.RowIDColumn(e.c.Table, o.id, "the file has none, and the catalog has no row-id start for it"))
		}
	}
	for i := range e.sources {
		s := &e.sources[i]
		if s.ft.rows != s.records || s.ft.bad != "" || !s.ft.embeds() && !s.started {
			return nil, e.blame(s, s.file, fmt.Errorf("%w: a source of %d rows that should have %d", ErrDamaged, s.ft.rows, s.records))
		}
	}
	return found, nil
}

const negative = "it is negative in some row"

// bounds compares the least and the largest id of outputs with those of the sources.
func (e *examiner) bounds() []conflict.Violation {
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range e.sources {
		lo, hi, ok := e.sources[i].bounds()
		if !ok {
			return nil
		}
		least, most = min(least, lo), max(most, hi)
	}
	for i := range e.outputs {
		lo, hi, ok := e.outputs[i].bounds()
		var strange []int64
		if ok && lo < 0 {
			return []conflict.Violation{conflict.RowIDColumn(e.c.Table, e.outputs[i].id, negative)}
		}
		if ok && lo < least {
			strange = append(strange, lo)
		}
		if ok && hi > most {
			strange = append(strange, hi)
		}
		if len(strange) > 0 {
			return []conflict.Violation{conflict.RowIDsLost(e.c.Table, e.outputs[i].id, nil, strange)}
		}
	}
	return nil
}

// inside says whether the rows' ids are those in the file.
func (t *table) inside() bool { return t.ft.embeds() && !t.counted }

// count finds the sources whose rows have no ids of their own yet, and get those that the
// catalog keeps for them.
func (e *examiner) count() {
	for i := range e.runs {
		r := &e.runs[i]
		if slices.ContainsFunc(e.outputs, func(t table) bool { return t.id == r.output.ID && t.ft.embeds() }) {
			continue
		}
		for _, s := range r.sources {
			for j := range e.sources {
				if t := &e.sources[j]; t.id == s.ID {
					t.counted = t.started && t.ft.local()
				}
			}
		}
	}
}

func (t *table) bounds() (least, most int64, ok bool) {
	if t.inside() {
		return t.ft.least, t.ft.most, t.ft.bounded
	}
	return t.start, t.start + t.records - 1, t.records > 0
}
