package translate

import (
	"fmt"
	"sort"
	"strings"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/guard"
	"github.com/eiderdb/eider/translate/pgerr"
)

// settingSchedule is the session's setting for scans of the schedule of files to delete:
// "due" (the default) or "all".
const settingSchedule = "eider.show_schedule"

// settingOrphanScan says whether a client may search a lake of the catalog for orphans while
// transactions are open besides: "allow" (the default) or "refuse".
const settingOrphanScan = "eider.orphan_scan"

// Hidden keeps files that must not be deleted yet from a client that is about to delete
// them. What it deletes it takes off the schedule by data_file_id, so it reads that;
// whoever looks for orphans must know all scheduled files, and reads the paths alone.
func (f sessionFuncs) Hidden(c *exec.Ctx, sc *exec.TableScan) (map[uint64]struct{}, error) {
	if sc.Table.Name != guard.ScheduleTable || sc.Table.Temp {
		return nil, nil
	}
	s := f.s
	reads := func(name string) bool {
		col, ok := sc.Table.Column(name)
		return ok && sc.Reads(col.Num)
	}
	if reads("data_file_id") {
		if strings.EqualFold(s.set.text(settingSchedule), "all") {
			return nil, nil
		}
		return s.deps.Guard.NotDue(c, c.Txn, sc.Table, &s.tx.kept)
	}
	if reads("path") && reads("path_is_relative") && !reads("schedule_start") && s.tx.searched == nil {
		v, _, err := catalogSetting(c.Txn, settingOrphanScan)
		if err != nil {
			return nil, err
		}
		s.tx.searched, err = s.deps.Guard.OrphanScan(c.Txn, sc.Table, v == "refuse", func() string { return s.shared.openBeside(s, sc.Table.Schema) })
		return nil, err
	}
	return nil, nil
}

// Spares keeps snapshots that somebody holds from a DELETE.
func (f sessionFuncs) Spares(c *exec.Ctx, tbl *rel.Table) (exec.Sparing, error) {
	tx := &f.s.tx
	before := guard.NoExpiry
	if tx.expiry != guard.NoExpiry && tx.expired == tbl.Schema {
		before = tx.expiry
	}
	sp, err := f.s.deps.Guard.Spares(c, c.Txn, tbl, before, f.s.holders(tbl.Schema))
	if err != nil {
		return nil, err
	}
	if !tbl.Temp && tbl.Name == guard.SnapshotTable {
		// One that is undone counts as well: the commit then refuses what it would have spared.
		tx.expired, tx.expiry = tbl.Schema, max(before, guard.WholeExpiry)
	}
	if sp == nil {
		return nil, nil
	}
	return &sparing{Spared: sp, s: f.s, out: f.out}, nil
}

type sparing struct {
	*guard.Spared
	s   *Session
	out Out
}

// Done tells the client what was left.
func (sp *sparing) Done() error {
	for _, d := range sp.Said() {
		sp.s.tx.expiry = guard.PartExpiry
		sp.s.tx.deferred = append(sp.s.tx.deferred, d)
		e := notice(pgerr.SuccessfulCompletion, "%s", d.V.Text)
		e.Detail = d.V.Detail
		if err := sp.s.notice(sp.out, e); err != nil {
			return err
		}
	}
	return nil
}

// holders names the transactions that are open in a lake besides the session's own.
func (s *Session) holders(space uint32) func() string {
	return func() string { return s.shared.openBeside(s, space) }
}

// severalSpaces stands for more than one in Session.space.
const severalSpaces = ^uint64(0)

// noteSpace notes which lake the transaction works on.
func (s *Session) noteSpace(space uint32) {
	s.tx.space = space
	if was := s.space.Load(); was == 0 {
		s.space.Store(uint64(space))
	} else if was != uint64(space) {
		s.space.Store(severalSpaces)
	}
}

// namedHolders bounds how many sessions a text names.
const namedHolders = 3

// openBeside names the sessions, besides one, that have transactions open which have read a
// lake's tables; space 0 stands for every lake. "" says that there are none.
func (h *Shared) openBeside(but *Session, space uint32) string {
	h.mu.Lock()
	var open []*Session
	for s := range h.sessions {
		if s == but || s.catOID != but.catOID {
			continue
		}
		if in := s.space.Load(); in != 0 && (space == 0 || in == uint64(space) || in == severalSpaces) {
			open = append(open, s)
		}
	}
	h.mu.Unlock()
	sort.Slice(open, func(i, j int) bool {
		a, b := open[i].Activity(), open[j].Activity()
		if !a.XactStart.Equal(b.XactStart) {
			return a.XactStart.Before(b.XactStart)
		}
		return a.PID < b.PID
	})
	var b strings.Builder
	for i, s := range open {
		if i == namedHolders {
			fmt.Fprintf(&b, " and %d more", len(open)-namedHolders)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		a := s.Activity()
		fmt.Fprintf(&b, "session %d (user %s", a.PID, a.User)
		if a.AppName != "" {
			fmt.Fprintf(&b, ", %s", a.AppName)
		}
		if !a.XactStart.IsZero() {
			fmt.Fprintf(&b, ", since %s UTC", a.XactStart.UTC().Format("2006-01-02 15:04:05"))
		}
		b.WriteString(")")
	}
	return b.String()
}
