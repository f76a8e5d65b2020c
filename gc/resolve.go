package gc

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Set is all policies of a catalog. It is immutable.
type Set struct {
	rows     []parsed
	problems []Problem
	defaults Defaults
}

// Defaults are the values that count where nothing is set, of policies for which the server is
// configured with another default than their own. Each must pass Check for the catalog.
type Defaults map[string]string

// WithDefaults returns the set with other defaults. It does not change s.
func (s *Set) WithDefaults(d Defaults) *Set {
	o := *s
	o.defaults = d
	return &o
}

// defaultOf is the value that counts where nothing is set.
func (s *Set) defaultOf(d *Def) string {
	if v, ok := s.defaults[d.Name]; ok {
		return v
	}
	return d.Default
}

type parsed struct {
	Setting
	val any
}

// Problem is a setting that cannot be read. A policy that nobody understands may have been
// meant to keep something, so the scheduler does not work on what it covers until it is
// put right.
type Problem struct {
	Setting
	Err error
}

// NewSet reads the rows of eider.policies. Of two rows for the same policy and scope the
// first counts, and the second is a problem.
func NewSet(rows []Setting) *Set {
	s := &Set{}
	seen := make(map[Setting]bool, len(rows))
	for _, r := range rows {
		key := Setting{Scope: r.Scope, Name: r.Name}
		v, err := r.read()
		if err == nil && seen[key] {
			err = errTwice
		}
		if err != nil {
			s.problems = append(s.problems, Problem{r, err})
			continue
		}
		seen[key] = true
		s.rows = append(s.rows, parsed{r, v})
	}
	// Narrower ones first: the first that covers counts.
	slices.SortStableFunc(s.rows, func(a, b parsed) int { return cmp.Compare(b.Level(), a.Level()) })
	return s
}

// Problems are the settings of the catalog that cannot be read.
func (s *Set) Problems() []Problem { return slices.Clone(s.problems) }

// For returns the policies in force for a lake.
func (s *Set) For(lake string) *Policies { return &Policies{set: s, lake: lake} }

// Policies are the policies in force for one lake, its schemas and tables.
type Policies struct {
	set  *Set
	lake string
	over map[string]parsed
}

// With returns the policies with some overridden, for one run: an ErrPolicy when one of them
// cannot be. An override goes before what is set for the lake and the catalog; what is set for a
// schema or a table goes before it, so that a run for the lake does not take away what a
// narrower retention was set to keep.
func (p *Policies) With(values map[string]string) (*Policies, error) {
	o := &Policies{set: p.set, lake: p.lake, over: maps.Clone(p.over)}
	if o.over == nil {
		o.over = make(map[string]parsed, len(values))
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		s := Setting{Scope: Scope{Lake: p.lake}, Name: name, Value: values[name]}
		v, err := s.read()
		if err != nil {
			return nil, err
		}
		o.over[name] = parsed{s, v}
	}
	return o, nil
}

// Lake is the lake that the policies are for.
func (p *Policies) Lake() string { return p.lake }

// Problems are the settings that cover the lake, or a part of it, and cannot be read.
func (p *Policies) Problems() []Problem {
	var out []Problem
	for _, x := range p.set.problems {
		if x.Lake == "" || x.Lake == p.lake {
			out = append(out, x)
		}
	}
	return out
}

// find returns the setting in force; ok is false when the default is.
func (p *Policies) find(name string, sc Scope) (parsed, bool) {
	over, is := p.over[name]
	for _, x := range p.set.rows {
		if x.Name == name && x.covers(sc) {
			if is && x.Level() <= LevelLake {
				break
			}
			return x, true
		}
	}
	return over, is
}

// value is the value in force, the default's where nothing is set.
func (p *Policies) value(name string, sc Scope) any {
	if x, ok := p.find(name, sc); ok {
		return x.val
	}
	d := defOf(name)
	v, err := d.parse(p.set.defaultOf(d))
	if err != nil {
		panic("gc: default of " + name + ": " + err.Error()) // a defect of defs, and tested, or of who made the Defaults
	}
	return v
}

func (p *Policies) own(name string) any { return p.value(name, Scope{Lake: p.lake}) }

func (p *Policies) duration(name string) time.Duration {
	d, _ := p.own(name).(time.Duration)
	return d
}

func (p *Policies) number(name string) int64 {
	n, _ := p.own(name).(int64)
	return n
}

func (p *Policies) on(name string) bool {
	b, _ := p.own(name).(bool)
	return b
}

// Maintenance says whether the scheduler works on the lake.
func (p *Policies) Maintenance() bool { return p.on(NameMaintenance) }

// Mode says what the scheduler does with jobs of a kind.
func (p *Policies) Mode(k Kind) Mode {
	switch v := p.own(string(k)).(type) {
	case Mode:
		return v
	case bool:
		if v {
			return ModeOn
		}
	}
	return ModeOff
}

// Retention says which snapshots are kept. One goes when neither field keeps it; the zero
// value keeps all.
type Retention struct {
	Age      time.Duration // younger ones are kept
	HasAge   bool
	Count    int64 // the newest so many are kept
	HasCount bool
}

// All says that nothing expires.
func (r Retention) All() bool { return !r.HasAge && !r.HasCount }

// Keeps says whether a snapshot is kept that is so old and has so many newer ones.
func (r Retention) Keeps(age time.Duration, newer int64) bool {
	return r.All() || r.HasAge && age < r.Age || r.HasCount && newer < r.Count
}

func (p *Policies) retention(sc Scope) (r Retention) {
	r.Age, r.HasAge = p.value(NameRetainAge, sc).(time.Duration)
	r.Count, r.HasCount = p.value(NameRetainCount, sc).(int64)
	return r
}

// Retention is the lake's.
func (p *Policies) Retention() Retention { return p.retention(Scope{Lake: p.lake}) }

// TableRetention is what counts for the snapshots that changed a table, which is named as it
// is now.
func (p *Policies) TableRetention(schema, table string) Retention {
	return p.retention(Scope{Lake: p.lake, Schema: schema, Table: table})
}

// Narrower says whether some table or schema of the lake has a retention of its own.
func (p *Policies) Narrower() bool {
	for _, x := range p.set.rows {
		if x.Lake == p.lake && x.Schema != "" && (x.Name == NameRetainAge || x.Name == NameRetainCount) {
			return true
		}
	}
	return false
}

// DeletionGrace is how long files stay that are scheduled for deletion.
func (p *Policies) DeletionGrace() time.Duration { return p.duration(NameDeletionGrace) }

// OrphanMinAge is how old a file must be to be an orphan.
func (p *Policies) OrphanMinAge() time.Duration { return p.duration(NameOrphanMinAge) }

// Quarantine says whether files are moved aside before they go, and how long they stay there.
func (p *Policies) Quarantine() (keep time.Duration, on bool) {
	return p.duration(NameQuarantineKeep), p.on(NameQuarantine)
}

// Windows are the times at which the scheduler may run jobs, and the location they are in.
func (p *Policies) Windows() (Windows, *time.Location) {
	w, _ := p.own(NameWindows).(Windows)
	loc, ok := p.own(NameTimeZone).(*time.Location)
	if !ok {
		loc = time.UTC
	}
	return w, loc
}

// Every is the time from one job of a kind to the next.
func (p *Policies) Every(k Kind) time.Duration {
	switch k {
	case Orphans:
		return p.duration(NameOrphansEvery)
	case Fsck:
		return p.duration(NameFsckEvery)
	}
	return p.duration(NameEvery)
}

// Triggers are the sizes at which a round begins early; 0 is none.
type Triggers struct {
	Snapshots int64
	Age       time.Duration
	Files     int64
	Bytes     int64
}

// Triggers are the lake's.
func (p *Policies) Triggers() Triggers {
	return Triggers{
		Snapshots: p.number(NameTriggerSnapshots), Age: p.duration(NameTriggerAge),
		Files: p.number(NameTriggerFiles), Bytes: p.number(NameTriggerBytes),
	}
}

// InForce is one policy as it counts for a scope.
type InForce struct {
	Name  string
	Value string
	From  Scope
	Set   bool // false: the default
}

// InForce lists all policies as they count for a schema or table of the lake, or, without
// names, for the lake. Those that cannot be set for it count as they do for the lake.
func (p *Policies) InForce(schema, table string) []InForce {
	out := make([]InForce, 0, len(defs))
	for i := range defs {
		x := InForce{Name: defs[i].Name, Value: p.set.defaultOf(&defs[i])}
		if s, ok := p.find(defs[i].Name, Scope{Lake: p.lake, Schema: schema, Table: table}); ok {
			x.Value, x.From, x.Set = s.Value, s.Scope, true
		}
		out = append(out, x)
	}
	return out
}
