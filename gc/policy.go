package gc

import (
	"fmt"
	"strings"
	"time"
)

// Level is how far down a policy may be set.
type Level uint8

// The levels, from the widest: what is set for a narrower one goes before, key by key.
const (
	LevelCatalog Level = iota
	LevelLake
	LevelSchema
	LevelTable
)

// String is the level in a word.
func (l Level) String() string { return [...]string{"catalog", "lake", "schema", "table"}[l] }

// Scope says what a policy is set for. "" stands for all: the zero Scope is the catalog.
type Scope struct {
	Lake   string // metadata schema
	Schema string // a schema of the lake; needs a lake
	Table  string // a table of the schema; needs a schema
}

// Level is the scope's own.
func (s Scope) Level() Level {
	switch {
	case s.Table != "":
		return LevelTable
	case s.Schema != "":
		return LevelSchema
	case s.Lake != "":
		return LevelLake
	}
	return LevelCatalog
}

// String is the scope in words.
func (s Scope) String() string {
	switch s.Level() {
	case LevelCatalog:
		return "the catalog"
	case LevelLake:
		return "lake " + s.Lake
	case LevelSchema:
		return fmt.Sprintf("lake %s, schema %s", s.Lake, s.Schema)
	}
	return fmt.Sprintf("lake %s, table %s.%s", s.Lake, s.Schema, s.Table)
}

// check refuses scopes with gaps.
func (s Scope) check() error {
	switch {
	case s.Table != "" && s.Schema == "":
		return fmt.Errorf("%w for table %s: a table is named with its schema", ErrPolicy, s.Table)
	case s.Schema != "" && s.Lake == "":
		return fmt.Errorf("%w for schema %s: a schema is named with its lake", ErrPolicy, s.Schema)
	}
	return nil
}

// covers says whether what is set for s counts for o.
func (s Scope) covers(o Scope) bool {
	return (s.Lake == "" || s.Lake == o.Lake) && (s.Schema == "" || s.Schema == o.Schema) && (s.Table == "" || s.Table == o.Table)
}

// Def describes a policy.
type Def struct {
	Name string
	// Value says what a value looks like.
	Value string
	// Default is what counts where nothing is set, "" for none.
	Default string
	// Narrowest is the narrowest scope that it may be set for.
	Narrowest Level
	// Help is a sentence or two for people.
	Help string

	parse func(string) (any, error)
}

// The names of the policies.
const (
	NameMaintenance      = "maintenance"
	NameRetainAge        = "retain-age"
	NameRetainCount      = "retain-count"
	NameDeletionGrace    = "deletion-grace"
	NameOrphanMinAge     = "orphan-min-age"
	NameQuarantine       = "quarantine"
	NameQuarantineKeep   = "quarantine-keep"
	NameWindows          = "windows"
	NameTimeZone         = "time-zone"
	NameEvery            = "every"
	NameOrphansEvery     = "orphans-every"
	NameFsckEvery        = "fsck-every"
	NameTriggerSnapshots = "trigger-snapshots"
	NameTriggerAge       = "trigger-age"
	NameTriggerFiles     = "trigger-files"
	NameTriggerBytes     = "trigger-bytes"
	NameFlush            = "flush"
	NameMinInlined       = "min-inlined-rows"
	NameFlushAge         = "flush-age"
	NameFlushBytes       = "flush-bytes"
	NameMerge            = "merge"
	NameMinFiles         = "min-small-files"
	NameMergeAge         = "merge-age"
	NameMergeBytes       = "merge-bytes"
	NameTiers            = "tiers"
	NameRewrite          = "rewrite"
	NameDeleteThreshold  = "delete-threshold"
	NameRewriteAge       = "rewrite-age"
	NameRewriteBytes     = "rewrite-bytes"
)

// Mode says what the scheduler does with a kind of job.
type Mode string

// The modes.
const (
	ModeOff    Mode = "off"
	ModeDryRun Mode = "dry-run" // planned and recorded, nothing is changed
	ModeOn     Mode = "on"
)

// none is the value that takes back what a wider scope sets.
const none = "none"

// defs are the policies in the order in which they are shown. A kind of job has a policy of
// its own name.
var defs = []Def{
	{NameMaintenance, "on, off", "off", LevelLake, "Whether the scheduler works on a lake. Everything else has a default that is safe to turn on.", oneOf("on", "off")},
	{NameRetainAge, "duration, none", "none", LevelTable, "Snapshots younger than this are kept. Without retain-age and retain-count all are. For a table or schema: snapshots that changed it.", orNone(parseDuration)},
	{NameRetainCount, "number, none", "none", LevelTable, "The newest so many snapshots are kept. A snapshot goes when neither retain-age nor retain-count keeps it.", orNone(parseCount)},
	{NameDeletionGrace, "duration", "0s", LevelLake, "How long a file stays after it was scheduled for deletion. Clients' own cleanups have to wait as well.", parseDuration},
	{NameOrphanMinAge, "duration", "7d", LevelLake, "Files that nothing names are no orphans before they are so old: somebody may be writing them.", atLeast(parseDuration, time.Hour)},
	{NameQuarantine, "on, off", "off", LevelLake, "Files are moved aside before they are deleted, from where they can be brought back.", oneOf("on", "off")},
	{NameQuarantineKeep, "duration", "7d", LevelLake, "How long files stay in quarantine.", parseDuration},
	{string(Expire), "on, dry-run, off", "on", LevelLake, "Expiry of snapshots. It needs retain-age or retain-count to do anything.", parseMode},
	{string(Trim), "on, dry-run, off", "on", LevelLake, "Removal of metadata that nothing needs.", parseMode},
	{string(Cleanup), "on, dry-run, off", "on", LevelLake, "Deletion of files whose scheduled time has passed.", parseMode},
	{string(Orphans), "on, dry-run, off", "dry-run", LevelLake, "Deletion of files that nothing names. Look at a dry run before you turn it on: nothing else may keep files in the lake's folders.", parseMode},
	{string(Fsck), "on, off", "on", LevelLake, "Checks of the lake's invariants. Repairs are never made by the scheduler.", oneOf("on", "off")},
	{NameWindows, "days and hours", "", LevelLake, `When jobs may run: "Mon-Fri 22:00-06:00, Sat-Sun". Empty is always.`, func(s string) (any, error) { return ParseWindows(s) }},
	{NameTimeZone, "IANA time zone", "UTC", LevelLake, "Of windows.", parseZone},
	{NameEvery, "duration", "24h", LevelLake, "Time from one round of jobs to the next.", atLeast(parseDuration, time.Minute)},
	{NameOrphansEvery, "duration", "7d", LevelLake, "The same for orphans, which lists all files.", atLeast(parseDuration, time.Minute)},
	{NameFsckEvery, "duration", "7d", LevelLake, "The same for fsck, which reads all metadata.", atLeast(parseDuration, time.Minute)},
	{NameTriggerSnapshots, "number, none", none, LevelLake, "A round begins early when a lake has so many snapshots.", orNone(parseCount)},
	{NameTriggerAge, "duration, none", none, LevelLake, "A round begins early when the oldest snapshot that may go is so old: it has no tag and is not the newest.", orNone(parseDuration)},
	{NameTriggerFiles, "number, none", none, LevelLake, "A round begins early when so many files are scheduled for deletion.", orNone(parseCount)},
	{NameTriggerBytes, "size, none", none, LevelLake, "A round begins early when data files of so many bytes are kept for old snapshots only.", orNone(parseBytes)},
	{NameFlush, "on, off", "on", LevelTable, `Whether "eider maintain" writes inlined rows and deletes into files.`, oneOf("on", "off")},
	{NameMinInlined, "number", "1", LevelTable, "It does so for a table when so many of them wait.", parseCount},
	{NameFlushAge, "duration, none", none, LevelTable, "It does so as well when one of them has waited so long.", orNone(atLeast(parseDuration, time.Second))},
	{NameFlushBytes, "size, none", none, LevelTable, "It does so as well when the values of the rows that wait are so many bytes, as text.", orNone(parseBytes)},
	{NameMerge, "on, off", "on", LevelTable, `Whether "eider maintain" merges small files, tier by tier.`, oneOf("on", "off")},
	{NameMinFiles, "number", "2", LevelTable, "It does so when a tier of a table has so many files to merge; 2 at least.", atLeastCount(2)},
	{NameMergeAge, "duration, none", none, LevelTable, "It does so as well when two that can be merged are so old.", orNone(atLeast(parseDuration, time.Second))},
	{NameMergeBytes, "size, none", none, LevelTable, "It does so as well when so many bytes wait to be merged, beside the largest file of each partition.", orNone(parseBytes)},
	{NameTiers, "MIN-MAX:TARGET, ...", defaultTiers, LevelTable, "Classes of files by size, from small to large, and the size of the files that those of a class are merged into.", parseTiers},
	{NameRewrite, "on, off", "on", LevelTable, `Whether "eider maintain" rewrites files of which much is deleted.`, oneOf("on", "off")},
	{NameDeleteThreshold, "number", "0.25", LevelTable, "It does so when so much of a file is deleted, above 0 and at most 1.", parsePart},
	{NameRewriteAge, "duration, none", none, LevelTable, "It does so as well when a file has deletes that are so old.", orNone(atLeast(parseDuration, time.Second))},
	{NameRewriteBytes, "size, none", none, LevelTable, "It does so as well when the deleted rows take up so many bytes of a file.", orNone(parseBytes)},
}

// Defs are all policies, in the order in which they are shown.
func Defs() []Def { return append([]Def(nil), defs...) }

func defOf(name string) *Def {
	for i := range defs {
		if defs[i].Name == name {
			return &defs[i]
		}
	}
	return nil
}

// Check says with an ErrPolicy why a setting cannot be: its name is unknown, its scope too
// narrow or its value not readable.
func Check(s Setting) error {
	_, err := s.read()
	return err
}

// Setting is a row of eider.policies.
type Setting struct {
	Scope
	Name  string
	Value string
}

func (s Setting) read() (any, error) {
	if err := s.Scope.check(); err != nil {
		return nil, err
	}
	d := defOf(s.Name)
	if d == nil {
		return nil, fmt.Errorf("%w %q is unknown%s", ErrPolicy, s.Name, suggest(s.Name))
	}
	if l := s.Level(); l > d.Narrowest {
		return nil, fmt.Errorf("%w %s cannot be set for a %s, only for %s", ErrPolicy, s.Name, l, widths(d.Narrowest))
	}
	v, err := d.parse(strings.TrimSpace(s.Value))
	if err != nil {
		return nil, fmt.Errorf("%w %s: %q is none of: %s: %w", ErrPolicy, s.Name, s.Value, d.Value, err)
	}
	return v, nil
}

// widths lists the levels down to the narrowest.
func widths(narrowest Level) string {
	names := []string{}
	for l := LevelCatalog; l <= narrowest; l++ {
		names = append(names, "a "+l.String())
	}
	return strings.Join(names, ", ")
}

// suggest names a policy whose name is alike, as the end of a sentence.
func suggest(name string) string {
	plain := func(s string) string {
		return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(s))
	}
	for i := range defs {
		if plain(defs[i].Name) == plain(name) {
			return "; it is spelt " + defs[i].Name
		}
	}
	return ""
}
