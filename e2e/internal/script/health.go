package script

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/conflict/hold"
	"github.com/eiderdb/eider/gc/fsck"
	"github.com/eiderdb/eider/lake/files"
	"github.com/eiderdb/eider/lake/pgsource"
)

// Finding is a broken invariant of the lake in one schema of a database.
type Finding struct {
	Schema string
	fsck.Finding
}

// Findings checks the invariants of every lake in a database, all rows read in one transaction. Remarks are no findings.
func Findings(ctx context.Context, dsn string) ([]Finding, error) { return findings(ctx, dsn, nil) }

// FileFindings checks the lakes' files below a folder too.
func FileFindings(ctx context.Context, dsn, data string) ([]Finding, error) {
	set, err := files.New(files.Config{Paths: []string{data}})
	if err != nil {
		return nil, err
	}
	return findings(ctx, dsn, &fsck.Files{Verifier: hold.New(hold.Options{Files: set, CacheEntries: -1})})
}

func findings(ctx context.Context, dsn string, look *fsck.Files) (out []Finding, err error) {
	c, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer c.Close(ctx)
	view, err := pgsource.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, view.Close(ctx)) }()
	for _, schema := range view.Lakes() {
		rep, err := fsck.Check(ctx, view.Lake(schema), fsck.Options{Lake: schema, Files: look})
		if err != nil {
			return nil, fmt.Errorf("schema %s: %w", schema, err)
		}
		for _, f := range rep.Findings {
			if f.Severity != fsck.Info {
				out = append(out, Finding{schema, f})
			}
		}
	}
	return out, nil
}

// health checks every lake in the script's database. What is found and the script does
// not announce is a failure, and so is an announced finding that is not there.
func (r *runner) health(ctx context.Context) error {
	found, err := FileFindings(ctx, r.t.DSN(r.db), r.data)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, f := range found {
		code := string(f.Code)
		own := r.t.Name() + ":" + code
		seen[code], seen[own] = true, true
		if r.s.Unhealthy[code] == "" && r.s.Unhealthy[own] == "" {
			r.trace.Failures = append(r.trace.Failures, fmt.Sprintf("the lake in schema %s is not healthy: %s", f.Schema, f.String()))
		}
	}
	for code := range r.s.Unhealthy {
		server, _, one := strings.Cut(code, ":")
		if !seen[code] && (!one || server == r.t.Name()) {
			r.trace.Failures = append(r.trace.Failures, fmt.Sprintf("no finding %s, though the script says so", code))
		}
	}
	return nil
}
