package hold

import (
	"context"
	"errors"
	"fmt"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/lake/files"
)

// Layout is how the rows of a data file get their ids.
type Layout uint8

const (
	// Unknown: the catalog alone does not tell, and the file could not be read.
	Unknown Layout = iota
	// Dense: row-id start plus position.
	Dense
	// Embedded: the ids are inside, and the row-id start in the catalog is no row's id.
	Embedded
)

func (l Layout) String() string {
	switch l {
	case Dense:
		return "dense"
	case Embedded:
		return "embedded"
	}
	return "unknown"
}

// byShape tells a file's layout from the commit that it came with, if that is certain.
//
// A plain INSERT writes dense files, a flush embeds. UPDATE and MERGE INTO delete and
// insert in one commit and embed what they move; so does a transaction of a DELETE and an
// INSERT, which does not embed: the two look alike.
//
// own says that the commit deletes rows of files that it adds itself, which its changes do
// not name: what a transaction moves of its own rows is embedded too.
func byShape(f *lake.DataFile, made conflict.Changes, own bool) Layout {
	if !f.HasRowIDStart {
		return Embedded
	}
	var inserts, flushes, compacts bool
	deletes := own
	for _, c := range made {
		switch c.Kind {
		case conflict.InsertedIntoTable, conflict.InlinedInsert:
			inserts = inserts || c.ID == f.TableID && c.Kind == conflict.InsertedIntoTable
		case conflict.DeletedFromTable, conflict.InlinedDelete:
			deletes = deletes || c.ID == f.TableID
		case conflict.InlineFlush, conflict.FlushedInlined:
			flushes = flushes || c.ID == f.TableID
		case conflict.MergeAdjacent, conflict.RewriteDelete, conflict.CompactedTable:
			compacts = compacts || c.ID == f.TableID
		case conflict.CreatedTable:
			// A table's first rows: CREATE TABLE AS.
			inserts = true
		}
	}
	switch {
	case flushes && !inserts && !deletes && !compacts:
		return Embedded
	case flushes && f.HasPartialMax:
		return Embedded
	case flushes:
		return Unknown
	case compacts && !inserts && !deletes:
		return Dense // with a start: positions count, and the hold has let it pass
	case inserts && !deletes && !compacts && !f.HasPartialMax:
		return Dense
	}
	return Unknown
}

// localIDs is where the ids begin that DuckLake's client gives the rows of a transaction
// that is not committed yet.
//
// A transaction that updates rows of its own INSERT moves them to another file, with these
// ids inside. They count from the same number in each transaction, so they name no row; but
// the file has a row-id start like any other, and the catalog keeps that many ids free. A
// merge may give the rows those ids, or keep the ones that are inside.
const localIDs = 1_000_000_000_000_000_000

// local says whether the ids inside a file are all of that kind.
func (ft *footer) local() bool {
	return ft.id >= 0 && ft.bad == "" && ft.bounded && ft.least >= localIDs
}

// ownDeletes are the tables of which a commit deletes rows in files that it adds itself.
func ownDeletes(b *conflict.Batch) map[int64]bool {
	if len(b.DeleteFiles.Added) == 0 {
		return nil
	}
	added := make(map[int64]bool, len(b.DataFiles.Added))
	for i := range b.DataFiles.Added {
		added[b.DataFiles.Added[i].ID] = true
	}
	out := map[int64]bool{}
	for i := range b.DeleteFiles.Added {
		if d := &b.DeleteFiles.Added[i]; added[d.DataFileID] {
			out[d.TableID] = true
		}
	}
	return out
}

// layout finds out how a source's rows get their ids: from the file where it can be read,
// else from the commit that it came with, if that is known. why says what stood in the way
// of the file.
func (v *Verifier) layout(ctx context.Context, st State, s *Source, parse *lastChanges) (l Layout, known bool, why, err error) {
	if !s.HasRowIDStart {
		return Embedded, true, nil, nil
	}
	var ft footer
	if why = files.ErrOutOfReach; v.opts.Files.Reach(s.Path) != files.No {
		ft, why = v.footerOf(ctx, dataFile(&s.DataFile, s.Path))
	}
	switch {
	case why != nil:
	case ft.embeds() && !ft.local():
		return Embedded, true, nil, nil
	default:
		return Dense, true, nil, nil
	}
	text, known, err := st.MadeIn(&s.DataFile)
	if err != nil || !known {
		return Unknown, false, why, err
	}
	made, perr := parse.changes(text)
	if perr != nil {
		return Unknown, true, why, nil // written by somebody else
	}
	return byShape(&s.DataFile, made, false), true, why, nil
}

// lastChanges parses changes_made, the same text once if it comes several times in a row, as
// it does for the files of one commit and for commits of one kind.
type lastChanges struct {
	text string
	made conflict.Changes
	err  error
}

func (l *lastChanges) changes(text string) (conflict.Changes, error) {
	if l.made == nil || text != l.text {
		l.text = text
		l.made, l.err = conflict.ParseChanges(text)
	}
	return l.made, l.err
}

// Layout reads a file's footer for how its rows get their ids. The error says why it could
// not be read; errors.Is(err, files.ErrOutOfReach) when it is not meant to be.
func (v *Verifier) Layout(ctx context.Context, f *File) (Layout, error) {
	ft, err := v.footerOf(ctx, f)
	switch {
	case err != nil:
		return Unknown, err
	case ft.embeds():
		return Embedded, nil
	}
	return Dense, nil
}

// shape is the rule that needs no look at the output: without a row-id column its rows
// count from its start by position, which is right only for what was dense before and is
// still in its old order. A source that the server is not meant to read, and whose origin
// has expired from the catalog, is let pass, and unread says so: nothing speaks against it,
// and a server without access to the data must not stop all merges of old files.
func (v *Verifier) shape(ctx context.Context, c *Compaction, r *run, st State) (bad *conflict.Violation, unread string, err error) {
	refuse := func(format string, args ...any) (*conflict.Violation, string, error) {
		out := conflict.RowIDShape(c.Table, r.output.ID, fmt.Sprintf(format, args...))
		return &out, "", nil
	}
	if v.opts.Files.Reach(r.output.Path) != files.No {
		if ft, err := v.footerOf(ctx, dataFile(&r.output.DataFile, r.output.Path)); err == nil && ft.embeds() {
			return nil, "", nil // readers go by the column
		}
	}
	if c.Sorted {
		return refuse("the table has a sort order, and a sorted merge of files whose ids follow one another puts rows into other places")
	}
	var parse lastChanges
	for _, s := range r.sources {
		l, known, why, err := v.layout(ctx, st, s, &parse)
		switch {
		case err != nil:
			return nil, "", err
		case l == Embedded:
			return refuse("data file %d has its rows' ids inside, and they are not its positions", s.ID)
		case l == Unknown && !errors.Is(why, files.ErrOutOfReach):
			return refuse("data file %d may have its rows' ids inside, and it could not be read: %v", s.ID, cause(why))
		case l == Unknown && known:
			return refuse("data file %d may have its rows' ids inside, and the server does not read the lake's files", s.ID)
		case l == Unknown:
			unread = fmt.Sprintf("the origin of data file %d has expired, and %s", s.ID, cause(why))
		}
	}
	return nil, unread, nil
}

// cause is what of an error a client may be told. What reading a file brings up can quote
// its bytes or name hosts, so only known words pass.
func cause(err error) string {
	for _, c := range []struct {
		err  error
		text string
	}{
		{files.ErrOutOfReach, "the server does not read files there"},
		{files.ErrNotFound, "there is no such file"},
		{files.ErrDenied, "access is denied"},
		{files.ErrNotAFile, "it is not a file"},
		{ErrEncrypted, "it is encrypted, and the catalog's key does not open it"},
		{ErrBudget, "it is larger than what may be read"},
		{ErrDamaged, "it is damaged"},
		{context.DeadlineExceeded, "reading took too long"},
		{context.Canceled, "reading was cancelled"},
	} {
		if errors.Is(err, c.err) {
			return c.text
		}
	}
	return "it cannot be read"
}

// dataFile describes a data file for reading.
func dataFile(f *lake.DataFile, path string) *File {
	return &File{Path: path, Size: f.Size, Footer: f.Footer, Key: f.Key}
}

// deleteFile describes a delete file for reading.
func deleteFile(f *lake.DeleteFile, path string) *File {
	return &File{Path: path, Size: f.Size, Footer: f.Footer, Key: f.Key, Format: f.Format}
}
