package fsck

import (
	"fmt"
	"strings"
)

// Page is docs/fsck.md.
func Page() string {
	var b strings.Builder
	b.WriteString(pageIntro)
	b.WriteString("\n## What is checked\n\n| code | severity | what is wrong | repair |\n|---|---|---|---|\n")
	for _, i := range Codes() {
		repair := i.Repair
		if repair == "" {
			repair = "none"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", i.Code, i.Severity, cell(i.What), cell(repair))
	}
	b.WriteString(pageRest)
	return b.String()
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

const pageIntro = `
# Check and repair lakes

    eider fsck                                    # every lake of the catalog "lake"
    eider fsck --catalog sales --lake public --format json
    eider fsck --files                            # and the lake's files
    eider fsck --dry-run                          # the repairs, as SQL
    eider fsck --repair

` + "`eider fsck`" + ` tests the invariants of a healthy lake. It reads everything in one transaction (REPEATABLE READ, READ ONLY) over the protocol that
clients use, from a running server or from a PostgreSQL that keeps the catalog (` + "`--server`" + `), and holds nobody up.

| exit code | |
|---|---|
| 0 | no errors and no warnings, or none left after ` + "`--repair`" + `; remarks (` + "`info`" + `) do not count |
| 1 | something was found, and is still there |
| 2 | wrong use, or a lake could not be checked |

With ` + "`--files`" + ` the files are looked at, from the machine that runs fsck: that they are there, their size, footer, row count, and which rows deletes
name. It reads below the lake's data path (` + "`--data-path`" + ` in place of the one in the catalog), below the folders of schemas and tables that lie
elsewhere, and below ` + "`--lake-paths`" + `: of disks and of S3, with the same settings as the server (` + "`--s3-endpoint`" + ` and so on, EIDER_S3_ENDPOINT, ` + "`--config`" + `).
Of a Parquet file only the end is read, of delete files the positions; deletion vectors in Puffin files are read too. Files that are encrypted without a
key that fits, and those out of reach, are remarks (` + "`file-unverified`" + `), never passed in silence.

**A commit whose answer was lost.** DuckDB takes a commit for failed when the connection breaks before the answer, and removes the files that it had
written; the commit may have landed. ` + "`commit-files-missing`" + ` names the snapshot, its time, the table and the files; load that data again. Until the
files are taken out of the lake the table cannot be read: see ` + "`--drop-missing-files`" + `.
`

const pageRest = `
## Repairs

` + "`--dry-run`" + ` prints what would be done. ` + "`--repair`" + ` does it: each repair in one transaction, with a row in the table ` + "`eider.repairs`" + ` of the catalog
(when, which lake, code, statements, who), then the lake is checked again, until nothing is left that a repair exists for. A repair that was planned on
another snapshot than the newest, or that would touch other rows than it was planned for, is not made; the lake is checked anew. Nothing is guessed:
where two rows contradict each other and neither is known to be right, there is no repair.

**Going back.** Before the first repair an Eider server keeps a copy of its store, ` + "`checkpoints/CATALOG-fsck-TIME`" + ` in its data folder (the newest
` + "`--migration-checkpoints`" + ` of this kind); ` + "[operate.md](operate.md)" + ` says how to go back to one. Without a checkpoint nothing is repaired. A server in memory
and a plain PostgreSQL take none: there ` + "`--repair`" + ` needs ` + "`--no-checkpoint`" + `, and you need a backup.

**The server's checks** look at repairs as at every commit. What they refuse is reported as ` + "`refused`" + `, with the check's name, and left alone. When you
are sure: ` + "`eider checks set CHECK warn --lake LAKE`" + `, ` + "`eider fsck --repair`" + `, ` + "`eider checks reset CHECK --lake LAKE`" + `. That concerns two repairs: of
` + "`delete-overlap`" + ` (check ` + "`deletes-dropped`" + `), and of ` + "`scheduled-live`" + ` (check ` + "`schedule-early`" + `). Of the latter the server keeps cleanups away anyway, and without the
check it does not: do it while none runs, or leave the row.

**Missing files** are only reported. ` + "`--files --drop-missing-files --repair`" + ` adds one new snapshot in which the live data files that do not exist have
ended, with a commit message that says so: the rows are gone from then on, older snapshots still name the files. It is refused while no file of the lake
is found at all, because then the storage is another one, or not there. A missing delete file is never dropped: rows would come back.

## The JSON form

` + "`--format json`" + ` prints one document. Fields are added in later versions, and keep their meaning.

| field | |
|---|---|
| ` + "`catalog`, `clean`" + ` | the catalog; whether no lake has errors or warnings |
| ` + "`lakes[]`" + ` | one report for each lake |
| ` + "`.lake`, `.version`, `.head`, `.checked_at`" + ` | metadata schema, format, newest snapshot, time |
| ` + "`.counts`" + ` | rows read: ` + "`snapshots`, `tables`, `data_files`, `delete_files`, `statistics_rows`, `inlined_rows`, `inlined_deletes`, `scheduled`" + `; ` + "`files_read`" + ` |
| ` + "`.errors`, `.warnings`, `.infos`" + ` | how many findings of each severity |
| ` + "`.totals`" + ` | how many findings of each code |
| ` + "`.findings[]`" + ` | at most ` + "`--max-findings`" + ` of each code: ` + "`code`, `severity`, `object`, `message`, `repairable`" + `, and where it has them ` + "`table_id`, `table`, `snapshot`, `path`, `files[]`, `rows`" + ` |
| ` + "`.repairs[]`" + ` | ` + "`code`, `text`, `outcome`" + ` (` + "`planned`, `applied`, `refused`, `failed`" + `), ` + "`error`, `changes`" + ` and the first ` + "`statements[]`" + ` |
| ` + "`.checkpoint`" + ` | the copy of the store from before the repairs |

## Bounds

Rows are read one at a time; what is kept of each is what the invariants need. Rows of file statistics cost a bit, snapshots 56 bytes, versions of columns
64, data files about 250 bytes, scheduled files 60; live inlined rows and inlined deletes 8 to 24 bytes, one table at a time (with ` + "`--files`" + ` all inlined deletes).
Of statistics without a file the ids of a million files are kept; what is beyond is found by the check after the repair.

A made-up lake of 1,000,000 snapshots and 10,000,000 rows of statistics, of which 99 % have no file, was checked in 5 s within 89 MiB of heap, without
the time that a server takes to send the rows (` + "`go test ./gc/fsck -bench Large`" + `). One repair changes about 10,000 rows.

Not checked: whether minima and maxima are right, whether rows are the same as before a compaction (` + "[row-ids.md](row-ids.md)" + `), files that nothing names (orphans).
`
