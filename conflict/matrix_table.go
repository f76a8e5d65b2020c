package conflict

import (
	"fmt"
	"strings"
)

// Cell is what the matrix says about one pair.
type Cell struct {
	Ours, Theirs   string
	Client, Server []*Rule
}

// Letter is the cell in one character: D when DuckLake refuses, E when only the server
// does, a dot when ours may follow.
func (c Cell) Letter() string {
	switch {
	case len(c.Client) > 0:
		return "D"
	case len(c.Server) > 0:
		return "E"
	}
	return "·"
}

// Matrix returns every pair of samples: rows are ours, the commit that comes second.
func Matrix(samples []Sample) [][]Cell {
	sets := make([]*ChangeSet, len(samples))
	for i, s := range samples {
		sets[i] = s.Set()
	}
	out := make([][]Cell, len(samples))
	for i, ours := range sets {
		for j, theirs := range sets {
			out[i] = append(out[i], Cell{
				Ours: samples[i].Name, Theirs: samples[j].Name, Client: DuckLake(ours, theirs), Server: Server(ours, theirs),
			})
		}
	}
	return out
}

// Grid prints a matrix with numbered columns, for a person and a test.
func Grid(rows [][]Cell) string {
	var b strings.Builder
	wide := 0
	for _, r := range rows {
		wide = max(wide, len(r[0].Ours))
	}
	fmt.Fprintf(&b, "%-*s", wide+4, "")
	for i := range rows {
		fmt.Fprintf(&b, " %2d", i+1)
	}
	b.WriteByte('\n')
	for i, r := range rows {
		fmt.Fprintf(&b, "%2d  %-*s", i+1, wide, r[0].Ours)
		for _, c := range r {
			b.WriteString("  " + c.Letter())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Page is docs/conflicts.md without its first line.
func Page() string {
	var b strings.Builder
	b.WriteString(pageTop)
	var tables, names []Sample
	for _, s := range Samples() {
		if s.Group == "tables" {
			tables = append(tables, s)
		} else {
			names = append(names, s)
		}
	}
	b.WriteString("\n## One table\n\n")
	markdown(&b, Matrix(tables))
	b.WriteString("\n## Names, and commits that touch no table\n\n")
	markdown(&b, Matrix(names))
	b.WriteString(pageBetween)
	for _, r := range Rules() {
		if r.Client {
			fmt.Fprintf(&b, "| `%s` | %s |\n", r.Name, r.Why)
		}
	}
	b.WriteString(pageServer)
	cells := Matrix(Samples())
	for _, rule := range Rules() {
		if rule.Client {
			continue
		}
		pairs := strings.Join(differences(cells, rule), "<br>")
		if pairs == "" {
			pairs = "DuckLake refuses these too"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", rule.Name, rule.Why, pairs)
	}
	b.WriteString(pageEnd)
	return b.String()
}

// differences are the pairs that the server refuses by a rule and DuckLake lets pass.
func differences(cells [][]Cell, rule *Rule) []string {
	var out []string
	for _, row := range cells {
		var after []string
		for _, c := range row {
			for _, r := range c.Server {
				if r == rule && len(c.Client) == 0 {
					after = append(after, c.Theirs)
				}
			}
		}
		if len(after) > 0 {
			out = append(out, row[0].Ours+" after "+strings.Join(after, ", "))
		}
	}
	return out
}

func markdown(b *strings.Builder, rows [][]Cell) {
	b.WriteString("| ours ↓ theirs → |")
	for i := range rows {
		fmt.Fprintf(b, " %d |", i+1)
	}
	b.WriteString("\n|---|" + strings.Repeat(":-:|", len(rows)) + "\n")
	for i, r := range rows {
		fmt.Fprintf(b, "| %d %s |", i+1, r[0].Ours)
		for _, c := range r {
			letter := c.Letter()
			if letter == "E" {
				letter = "**E**"
			}
			fmt.Fprintf(b, " %s |", letter)
		}
		b.WriteByte('\n')
	}
}

const pageTop = `
# Which commit may follow which

Two transactions begin on the same snapshot. *Theirs* commits first; may *ours* still commit? DuckLake answers in the client:
a commit that has lost the race for its snapshot id reads what was committed since (` + "`changes_made`" + `) and gives up or tries
again. Its answer is by table, and it does not ask about every pair: some pairs of ordinary statements both commit and lose deletes,
double rows, or bring dropped tables back. Eider keeps DuckLake's answers and adds checks of the state at commit. They need no
knowledge of the client and hold for every version of it.

| | |
|---|---|
| · | ours commits; a lost race costs one retry that nobody sees |
| D | DuckLake refuses, in the client |
| **E** | DuckLake would let it pass, Eider refuses at COMMIT |

A refusal by Eider is an error that the client does not retry: it would do the same work on the same stale state. Nothing is
stored; run the statement again. [Each check](checks.md) can be set to ` + "`off`, `warn` or `enforce`" + ` (the default), for a catalog or a table.

The pairs are shown on one small lake: table 2 has data files 1 and 2 as they were written, 3 with a delete file, 4 with inlined
deletes, and inlined rows. *Inlined* means: kept in the catalog instead of in a file, as DuckLake does with few rows. Where a
pair is about files, it is so for files that both name: a merge of files 1 and 2 may follow an inlined delete from file 3.
`

const pageBetween = `
A commit of one table and a commit of another never meet, except by the name of a schema or of a new object.
Options, expiry and clean-up make no snapshot. They meet other commits in rows: the second to change the same row is told to run again.

## DuckLake's rules

| rule | |
|---|---|
`

const pageServer = `
## Eider's rules, and the pairs that only they refuse

| rule | why | pairs |
|---|---|---|
`

const pageEnd = `
## Lost races

Where the tables above have a dot, ours has lost nothing but the ids that it chose. The client repeats its commit with others; losers take turns, so
that one repetition is enough. With ` + "`--rebase`" + ` (or ` + "`ALTER DATABASE lake SET eider.rebase = 'on'`" + `) the server gives an append to a table that nobody
has touched other ids at once. The client does not learn them: ` + "`last_committed_snapshot()`" + ` is then wrong, which is why it is off
([decision 7](adr/0007-server-side-rebase.md)).

What the client gives up (it has found a pair of the tables above when it came again, or a flush met rows that were updated meanwhile) is yours to repeat:
what comes next on the same connection goes first, until it has written what was given up, so that a flush ends beside writers that update without a pause.
A client may take another connection, though. Say ` + "`application_name=...`" + ` in the connection string, another one for each process, and it is known on
all of its connections; ` + "`eider maintain`" + ` does that by itself.

## Repaired commits

Some pairs are let through because the server repairs the commit: a flush of inlined deletes that is committed at the second try
has lost its removal of the inlined rows, and the server does it again.

## When the answer to COMMIT is lost

The connection breaks after COMMIT was sent: the commit is stored or not, and the client cannot know. A client that connects again and
registers the same files on top of its own snapshot would store their rows twice. Eider recognises such a commit by the paths: when
everything that it would store is stored, by one snapshot that says the same changes, it is answered as committed and nothing changes.
Otherwise it is refused. Two kinds of commits cannot be told from new ones, and store their rows once more: those with inlined rows,
which have no path, and files of ` + "`ducklake_add_data_files`" + `, which DuckLake registers as often as it is told.

DuckDB itself does not try again. It reports "server closed the connection" and removes the data files that it has written, also when
the commit was stored, on any catalog server: the table then names files that are gone. Reading it fails, although ` + "`count(*)`" + ` counts
the rows, which it takes from the catalog; ` + "`eider fsck`" + ` with the files' paths reports them. Run again, the statement writes other files
beside those. Before running such a statement again, look whether the newest snapshot is yours (` + "`SELECT * FROM lake.snapshots()`" + `; a
commit message helps).
`
