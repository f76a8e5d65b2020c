package hold

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/lake/files"
)

// Tier says how far a Verifier looks.
type Tier int

// The tiers. Each includes the ones before.
const (
	// Metadata compares rows of the catalog. It cannot be turned off here; what follows
	// from it is the mode's to say.
	Metadata Tier = iota
	// Footers reads the ends of files: row counts, the row-id column and its bounds.
	Footers
	// RowIDs compares the row ids of sources and outputs.
	RowIDs
	// Rows compares whole rows, and the table's other files for ids that it must not share.
	Rows
)

// Options configure a Verifier.
type Options struct {
	// Tier is how far it looks where files are within reach.
	Tier Tier
	// Files opens files; nil reads none.
	Files files.Store
	// Timeout bounds the reading for one commit; 0 means DefaultTimeout.
	Timeout time.Duration
	// NewTimeout bounds the look at the files that one commit adds, of all of them, within
	// Timeout; 0 means DefaultNewTimeout.
	NewTimeout time.Duration
	// MaxBytes bounds what is read of row ids for one commit; 0 means DefaultMaxBytes.
	MaxBytes int64
	// CacheEntries bounds what is remembered of files and of verdicts, each; 0 means
	// DefaultCacheEntries, negative remembers nothing.
	CacheEntries int
	// Logger gets what could not be read and why, in more words than a client. nil: nobody.
	Logger *slog.Logger
}

// What zero Options mean.
const (
	DefaultTimeout      = 2 * time.Minute
	DefaultNewTimeout   = 10 * time.Second
	DefaultMaxBytes     = 4 << 30
	DefaultCacheEntries = 4096
)

// Verifier holds compactions to their sources. It is safe for concurrent use.
type Verifier struct {
	opts  Options
	cache *cache
}

// New makes a Verifier.
func New(o Options) *Verifier {
	if o.Files == nil {
		o.Files = files.None{}
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.NewTimeout <= 0 {
		o.NewTimeout = DefaultNewTimeout
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.CacheEntries == 0 {
		o.CacheEntries = DefaultCacheEntries
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	v := &Verifier{opts: o}
	if o.CacheEntries > 0 {
		v.cache = newCache(o.CacheEntries)
	}
	return v
}

// Missing says that a file is not there for certain, see files.Set. What takes longer than
// Options.Timeout is not certain.
func (v *Verifier) Missing(ctx context.Context, path string) bool {
	m, ok := v.opts.Files.(interface {
		Missing(ctx context.Context, path string) bool
	})
	ctx, cancel := v.limit(ctx)
	defer cancel()
	return ok && m.Missing(ctx, path)
}

// Codes are those of all that Verify finds, and that of what it could not look for.
func Codes() []conflict.Code {
	return []conflict.Code{
		conflict.CodeRowIDs, conflict.CodeRowIDColumn, conflict.CodeRowIDShape, conflict.CodeRowIDShared,
		conflict.CodeRowCount, conflict.CodeCompactionDate, conflict.CodeUnverified, conflict.CodeUnread,
	}
}

// Verdict is what a Verifier found out about one compaction.
type Verdict struct {
	Table conflict.TableRef
	// Tier is how far it came: less than Options.Tier where files are out of reach.
	Tier Tier
	// Violations are what must not be, and what could not be found out of files that should
	// be readable.
	Violations []conflict.Violation
	// Unread says why it did not come as far as Options.Tier; "" when it did, or when it found
	// something on the way.
	Unread string
}

// Outcome is the verdict in a word: right, wrong, or unread when nothing is wrong as far as
// could be seen.
func (d *Verdict) Outcome() string {
	switch {
	case len(d.Violations) > 0:
		return "wrong"
	case d.Unread != "":
		return "unread"
	}
	return "right"
}

// Verify judges compactions. The error is of the State or of ctx; whatever is wrong with
// files is part of the verdicts.
func (v *Verifier) Verify(ctx context.Context, cs []Compaction, st State) ([]Verdict, error) {
	out := make([]Verdict, 0, len(cs))
	rctx, cancel := v.limit(ctx)
	defer cancel()
	for i := range cs {
		d, err := v.verify(rctx, &cs[i], st)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("hold: table %d: %w", cs[i].Table.ID, err)
		}
		if d.Unread != "" {
			v.opts.Logger.Info("row ids were not compared", "table", d.Table.ID, "tier", int(d.Tier), "why", d.Unread)
		}
		out = append(out, d)
	}
	return out, nil
}

func (v *Verifier) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, v.opts.Timeout)
}

func (v *Verifier) verify(ctx context.Context, c *Compaction, st State) (Verdict, error) {
	d := Verdict{Table: c.Table}
	runs, found := c.metadata()
	d.Violations = found
	if len(found) > 0 {
		return d, nil // the files are not those that the rows speak of
	}
	// What the ids say goes before the shape, since it names rows; but rows of which only
	// the snapshots differ are rows that changed places, for which the shape is the reason.
	d.Violations = v.files(ctx, c, st, &d, runs)
	if len(d.Violations) > 0 && d.Violations[0].Code != conflict.CodeCompactionDate {
		return d, nil
	}
	var shapes []conflict.Violation
	for i := range runs {
		bad, unread, err := v.shape(ctx, c, &runs[i], st)
		if err != nil {
			return d, err
		}
		if unread != "" {
			d.Unread = unread
		}
		if bad != nil {
			shapes = append(shapes, *bad)
		}
	}
	if len(shapes) > 0 {
		d.Violations = shapes
	}
	return d, nil
}

// files runs the tiers that read, as far as they are wanted and within reach.
func (v *Verifier) files(ctx context.Context, c *Compaction, st State, d *Verdict, runs []run) (found []conflict.Violation) {
	if v.opts.Tier < Footers {
		return nil
	}
	if tier, seen := v.passed(c); seen {
		d.Tier = tier
		return nil
	}
	reach := files.Yes
	for _, p := range c.paths() {
		reach = min(reach, v.opts.Files.Reach(p))
	}
	if reach == files.No {
		d.Unread = cause(files.ErrOutOfReach)
		return nil
	}
	e := &examiner{v: v, ctx: ctx, c: c, st: st, runs: runs, left: v.opts.MaxBytes}
	found, err := e.run(&d.Tier)
	switch {
	case err == nil:
		if len(found) == 0 {
			v.pass(c, d.Tier)
		}
		return found
	case errors.Is(err, files.ErrOutOfReach): // nobody promised that the file would be there
		d.Unread = cause(err)
		return found
	}
	var bad badIDs
	if errors.As(err, &bad) && slices.ContainsFunc(c.Outputs, func(o Output) bool { return o.ID == e.fileID }) {
		return append(found, conflict.RowIDColumn(c.Table, e.fileID, string(bad)))
	}
	d.Unread = cause(err)
	v.opts.Logger.Warn("row ids could not be verified", "table", c.Table.ID, "file", e.file, "error", err)
	return append(found, conflict.Unverified(c.Table, e.fileID, e.file, cause(err)))
}

// paths are all files that a full examination reads.
func (c *Compaction) paths() []string {
	var out []string
	for i := range c.Sources {
		s := &c.Sources[i]
		out = append(out, s.Path)
		if s.Delete != nil {
			out = append(out, s.DeletePath)
		}
	}
	for i := range c.Outputs {
		out = append(out, c.Outputs[i].Path)
	}
	return out
}
