package pebblekv

import (
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// scheduler grants Pebble its compactions: as many at once as Pebble itself wants, and
// none before the database is open. Pebble's own scheduler would start some during Open,
// and if Open then fails (the disk is full), they run on what Open has torn down.
type scheduler struct {
	mu      sync.Mutex
	db      pebble.DBForCompaction // guarded by mu
	opened  bool                   // guarded by mu
	closed  bool                   // guarded by mu
	running int                    // guarded by mu
	// grants are calls into the database that Unregister has to wait for.
	grants sync.WaitGroup
}

var (
	_ pebble.CompactionScheduler   = (*scheduler)(nil)
	_ pebble.CompactionGrantHandle = (*scheduler)(nil)
)

// Register implements pebble.CompactionScheduler.
func (s *scheduler) Register(_ int, db pebble.DBForCompaction) {
	s.mu.Lock()
	s.db = db
	s.mu.Unlock()
}

// open lets compactions begin.
func (s *scheduler) open() {
	s.mu.Lock()
	s.opened = true
	s.mu.Unlock()
	s.grant()
}

// Unregister implements pebble.CompactionScheduler.
func (s *scheduler) Unregister() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.grants.Wait()
}

// takeLocked counts one more running compaction if there may be one. REQUIRES: s.mu.
func (s *scheduler) takeLocked() bool {
	if !s.opened || s.closed || s.running >= max(1, s.db.GetAllowedWithoutPermission()) {
		return false
	}
	s.running++
	return true
}

func (s *scheduler) giveBack() {
	s.mu.Lock()
	s.running--
	s.mu.Unlock()
}

// TrySchedule implements pebble.CompactionScheduler.
func (s *scheduler) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.takeLocked() {
		return false, nil
	}
	return true, s
}

// UpdateGetAllowedWithoutPermission implements pebble.CompactionScheduler.
func (s *scheduler) UpdateGetAllowedWithoutPermission() { s.grant() }

// grant starts waiting compactions while there may be more. It is called with locks of
// Pebble's held, which the database's methods take: so they are called elsewhere.
func (s *scheduler) grant() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.takeLocked() {
		return
	}
	s.grants.Add(1) // under mu and not after closed: Unregister sees it
	db := s.db
	go func() {
		defer s.grants.Done()
		for {
			if ok, _ := db.GetWaitingCompaction(); !ok || !db.Schedule(s) {
				s.giveBack()
				return
			}
			s.mu.Lock()
			more := s.takeLocked()
			s.mu.Unlock()
			if !more {
				return
			}
		}
	}()
}

// Started implements pebble.CompactionGrantHandle.
func (s *scheduler) Started() {}

// MeasureCPU implements pebble.CompactionGrantHandle.
func (s *scheduler) MeasureCPU(pebble.CompactionGoroutineKind) {}

// CumulativeStats implements pebble.CompactionGrantHandle.
func (s *scheduler) CumulativeStats(pebble.CompactionGrantHandleStats) {}

// Done implements pebble.CompactionGrantHandle.
func (s *scheduler) Done() {
	s.giveBack()
	s.grant()
}
