package fsck

import "time"

// Finding is one broken invariant.
type Finding struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	// Object is what it is about: "data file 17".
	Object  string `json:"object"`
	Message string `json:"message"`
	// TableID is the table that it is about, 0 for none, and Table its newest name.
	TableID int64  `json:"table_id,omitempty"`
	Table   string `json:"table,omitempty"`
	// Snapshot is the snapshot in which it came into the lake, if one is known.
	Snapshot *int64 `json:"snapshot,omitempty"`
	// Path is the file that it is about, resolved, and Files are several.
	Path  string   `json:"path,omitempty"`
	Files []string `json:"files,omitempty"`
	// Rows is how many rows of the catalog it stands for, 0 when that means nothing.
	Rows int64 `json:"rows,omitempty"`
	// Repairable says that a repair exists for this very finding.
	Repairable bool `json:"repairable"`
}

// String is the finding on one line.
func (f Finding) String() string { return string(f.Code) + ": " + f.Object + ": " + f.Message }

// Counts is how much was looked at.
type Counts struct {
	Snapshots      int64 `json:"snapshots"`
	Tables         int64 `json:"tables"`
	DataFiles      int64 `json:"data_files"`
	DeleteFiles    int64 `json:"delete_files"`
	StatisticsRows int64 `json:"statistics_rows"`
	InlinedRows    int64 `json:"inlined_rows"`
	InlinedDeletes int64 `json:"inlined_deletes"`
	Scheduled      int64 `json:"scheduled"`
	// FilesRead is how many files of the lake were opened and found, with Files only.
	FilesRead int64 `json:"files_read"`
}

// Outcome is what became of a repair.
type Outcome string

const (
	// Planned: it was not asked for, or a dry run.
	Planned Outcome = "planned"
	// Applied: it is committed.
	Applied Outcome = "applied"
	// Refused: the server's checks do not let it pass.
	Refused Outcome = "refused"
	// Failed: it was not made, for another reason.
	Failed Outcome = "failed"
)

// RepairReport is a repair as a report shows it.
type RepairReport struct {
	Code    Code    `json:"code"`
	Text    string  `json:"text"`
	Outcome Outcome `json:"outcome"`
	// Error says why it was refused or failed.
	Error string `json:"error,omitempty"`
	// Statements are the changes as SQL, at most MaxStatements of them.
	Statements []string `json:"statements"`
	// Changes is how many changes there are.
	Changes int `json:"changes"`
}

// Report is what was found out about one lake. Its JSON form is documented in docs/fsck.md;
// fields are added and never change their meaning.
type Report struct {
	Lake    string    `json:"lake"`
	Version string    `json:"version"` // of the lake's format
	Head    int64     `json:"head"`    // newest snapshot
	At      time.Time `json:"checked_at"`
	Counts  Counts    `json:"counts"`
	// Totals is how often each code was found; Findings has at most Options.MaxPerCode of each.
	Totals   map[Code]int64 `json:"totals"`
	Errors   int64          `json:"errors"`
	Warnings int64          `json:"warnings"`
	Infos    int64          `json:"infos"`
	Findings []Finding      `json:"findings"`
	// Repairs are those that were planned or made, in their order.
	Repairs []RepairReport `json:"repairs,omitempty"`
	// Checkpoint is the copy of the store from before the first repair, "" for none.
	Checkpoint string `json:"checkpoint,omitempty"`

	plans []Repair
}

// Clean says that nothing but remarks was found.
func (r *Report) Clean() bool { return r.Errors == 0 && r.Warnings == 0 }
