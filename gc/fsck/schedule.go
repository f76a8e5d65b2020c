package fsck

import (
	"fmt"

	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/lake/files"
)

const scheduleRelation = "ducklake_files_scheduled_for_deletion"

// scheduled is a row of the deletion schedule.
type scheduled struct {
	id, due   int64
	hasID     bool
	path, rel string
	hasRel    bool
	start     string
	hasStart  bool
}

func readScheduled(r *lake.Row) scheduled {
	return scheduled{
		id: r.Num(0), hasID: r.Has(0), path: r.Text(1), rel: r.Text(2), hasRel: r.Has(2), start: r.Text(3), hasStart: r.Has(3),
		due: microsOf(r.Text(3)),
	}
}

// remove is the change that takes rows off the schedule that are written like this one.
func (s *scheduled) remove(rows int64) Change {
	return Change{Op: DeleteRows, Relation: scheduleRelation, Rows: rows, Where: []Cond{optional("data_file_id", s.id, s.hasID), text("path", s.path)}}
}

// schedule tests that nothing in use is scheduled for deletion, and nothing twice. Every
// row of a data file or delete file is in use: expiry removes those that no snapshot sees.
func (c *checker) schedule() error {
	const columns = "data_file_id path path_is_relative schedule_start"
	seen := map[pathKey]int64{}
	var twice map[pathKey][]scheduled
	key := func(r *lake.Row) pathKey {
		return c.keyOf(c.layout.Scheduled(files.Place{Path: r.Text(1), Relative: r.Bool(2)}))
	}
	err := c.r.Each(c.ctx, scheduleRelation, columns, func(r *lake.Row) error {
		c.rep.Counts.Scheduled++
		k := key(r)
		if seen[k]++; seen[k] == 2 && len(twice) < maxRows {
			if twice == nil {
				twice = map[pathKey][]scheduled{}
			}
			twice[k] = nil
		}
		if o, ok := c.paths[k]; ok && seen[k] == 1 {
			s := readScheduled(r)
			c.add(Finding{
				Code: ScheduledLive, Object: s.path, Path: c.layout.Scheduled(files.Place{Path: s.path, Relative: r.Bool(2)}),
				Message: fmt.Sprintf("%s is in use, and scheduled for deletion", o),
			}, Change{Op: DeleteRows, Relation: scheduleRelation, Rows: Any, Where: []Cond{text("path", s.path)}})
		}
		return nil
	})
	if err != nil || twice == nil {
		return err
	}
	// The rows are read again, now that it is known which are needed.
	err = c.r.Each(c.ctx, scheduleRelation, columns, func(r *lake.Row) error {
		k := key(r)
		if rows, ok := twice[k]; ok {
			twice[k] = append(rows, readScheduled(r))
		}
		return nil
	})
	for k, rows := range twice {
		c.scheduledTwice(k, rows)
	}
	return err
}

// scheduledTwice leaves the row that is due last, of rows for one file.
func (c *checker) scheduledTwice(k pathKey, rows []scheduled) {
	if len(rows) == 0 {
		return
	}
	stays := rows[0]
	var changes []Change
	for i := range rows {
		if rows[i].due > stays.due {
			stays = rows[i]
		}
	}
	type spelling struct {
		id    int64
		hasID bool
		path  string
	}
	count := map[spelling]int64{}
	for i := range rows {
		count[spelling{rows[i].id, rows[i].hasID, rows[i].path}]++
	}
	for i := range rows {
		sp := spelling{rows[i].id, rows[i].hasID, rows[i].path}
		if n := count[sp]; n > 0 {
			changes = append(changes, rows[i].remove(n))
			delete(count, sp)
		}
	}
	start := Field{Column: "schedule_start", Value: stays.start, Null: !stays.hasStart}
	changes = append(changes, Change{Op: InsertRow, Relation: scheduleRelation, Rows: 1, Set: []Field{
		setOptional("data_file_id", stays.id, stays.hasID),
		{Column: "path", Value: stays.path},
		{Column: "path_is_relative", Value: stays.rel, Null: !stays.hasRel},
		start,
	}})
	f := Finding{Code: ScheduledTwice, Object: stays.path, Rows: int64(len(rows)), Message: fmt.Sprintf("it is scheduled %d times", len(rows))}
	if _, inUse := c.paths[k]; inUse { // it goes altogether
		c.add(f)
		return
	}
	c.add(f, changes...)
}
