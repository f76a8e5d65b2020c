package restore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/worker/duck"
)

// Options says what to restore. Lake, DB and DSN are required.
type Options struct {
	// DSN is the connection string of the catalog's database; Schema the metadata schema, ""
	// for public.
	DSN, Schema string
	// DB has the lake attached under the name Lake.
	DB   *duck.DB
	Lake string
	// DataPath is where the lake's files are, if not where the catalog says.
	DataPath string
	// Snapshot is an id, or the name of a tag in eider.tags.
	Snapshot string
	// Schemas and Tables restrict what is restored; see NewPlan.
	Schemas, Tables []string
	// DryRun only finds out what would be done.
	DryRun bool
	// Author is who is named in the new snapshot; "" for nobody.
	Author string
	// Random makes the keys of an encrypted lake's new files; crypto/rand's when nil.
	Random io.Reader
}

// Result is what was done, or would be.
type Result struct {
	Plan
	// Snapshot is the old snapshot, New the one that was made; 0 when nothing differs and in
	// dry runs.
	Snapshot, New int64
	// Rows are the tables of Keep whose rows differ.
	Rows []Pair
	// Files, Records and Bytes are what was written.
	Files          int
	Records, Bytes int64
}

// attempts bounds how often a commit that lost a race is tried.
const attempts = 10

// run is one restore.
type run struct {
	o       Options
	conn    *pgx.Conn
	res     Result
	targets map[int64]target // of the attempt's plan, by tables' ids in the old version
	written map[target][]file
	// named are the targets whose files the last commit named; used says that it was done, or
	// may have been.
	named map[target]bool
	used  bool
	// encrypted says that the lake's files are.
	encrypted bool
}

// Run makes a snapshot that is equal to an old one, or finds out what that would do.
func Run(ctx context.Context, o Options) (Result, error) {
	if o.Schema == "" {
		o.Schema = "public"
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	cfg, err := pgx.ParseConfig(o.DSN)
	if err != nil {
		return Result{}, fmt.Errorf("connection string: %w", err)
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return Result{}, fmt.Errorf("connect to the catalog: %w", err)
	}
	r := &run{o: o, conn: conn, written: map[target][]file{}}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	defer func() {
		for t, files := range r.written {
			if !r.used || !r.named[t] {
				remove(files)
			}
		}
	}()
	for range attempts {
		err := r.attempt(ctx)
		if err == nil || r.used || !raced(err) {
			return r.res, err
		}
	}
	return r.res, ErrRaced
}

// refused says whether an error of COMMIT means that nothing was committed. Few do: a server
// that fails in the middle of it answers with an error as well, PostgreSQL with what ended
// the session, Eider with 08007.
func refused(err error) bool {
	var e *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrTxCommitRollback): // the answer was ROLLBACK
		return true
	case !errors.As(err, &e):
		return false
	}
	switch e.Code {
	case "40001", "40P01", // lost races; 40003 is an unknown outcome
		"55000", "55006": // Eider's checks
		return true
	}
	return strings.HasPrefix(e.Code, "23") // constraints, and Eider's checks
}

// raced says whether an error is that of a commit that came too late, so that nothing of it
// is there.
func raced(err error) bool {
	var e *pgconn.PgError
	return errors.Is(err, errMoved) || errors.As(err, &e) && (e.Code == "40001" || e.Code == "23505" || e.Code == "40P01")
}

// errMoved is returned when the newest snapshot is another than the one planned on.
var errMoved = errors.New("others have committed")

// attempt plans on the newest snapshot, writes what files are missing and commits. Files are
// written outside of transactions: they take long, and what they hold does not change.
func (r *run) attempt(ctx context.Context) error {
	planned := head{}
	var differ []Pair
	err := r.in(ctx, pgx.ReadOnly, func(rd *reader) (err error) {
		if planned, err = rd.head(ctx); err != nil {
			return err
		}
		_, cur, err := r.plan(ctx, rd, planned)
		if err != nil {
			return err
		}
		r.targets, err = r.findTargets(ctx, rd, planned.id, cur)
		return err
	})
	if err != nil {
		return err
	}
	for i := range r.res.Keep {
		same, err := r.same(ctx, &r.res.Keep[i], planned.id)
		if err != nil {
			return err
		}
		if !same {
			differ = append(differ, r.res.Keep[i])
		}
	}
	r.res.Rows = differ
	if r.o.DryRun {
		return r.readable(ctx)
	}
	err = r.in(ctx, pgx.ReadOnly, func(rd *reader) error {
		for i := range differ {
			if err := r.write(ctx, rd, &differ[i].Then); err != nil {
				return err
			}
		}
		for i := range r.res.Create {
			if err := r.write(ctx, rd, &r.res.Create[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.in(ctx, pgx.ReadWrite, func(rd *reader) error {
		now, err := rd.head(ctx)
		if err != nil {
			return err
		}
		if now != planned {
			return errMoved
		}
		return r.commit(ctx, rd, now, differ)
	})
}

// in runs f in a transaction, which f may have committed itself.
func (r *run) in(ctx context.Context, mode pgx.TxAccessMode, f func(*reader) error) error {
	tx, err := r.conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: mode})
	if err != nil {
		return err
	}
	rd := &reader{tx: tx, lake: r.o.Schema}
	if err = rd.columns(ctx); err == nil {
		err = f(rd)
	}
	if e := tx.Rollback(context.WithoutCancel(ctx)); err == nil && e != nil && !errors.Is(e, pgx.ErrTxClosed) {
		err = e
	}
	return err
}

func (r *run) plan(ctx context.Context, rd *reader, now head) (then, cur *Version, err error) {
	if r.res.Snapshot, err = r.snapshot(ctx, rd); err != nil {
		return nil, nil, err
	}
	var encrypted int
	if err := rd.tx.QueryRow(ctx, "SELECT count(*) FROM "+rd.rel("ducklake_metadata")+" WHERE key = 'encrypted' AND lower(value) = 'true'").Scan(&encrypted); err != nil {
		return nil, nil, err
	}
	r.encrypted = encrypted > 0
	if then, err = rd.version(ctx, r.res.Snapshot); err != nil {
		return nil, nil, err
	}
	if cur, err = rd.version(ctx, now.id); err != nil {
		return nil, nil, err
	}
	r.res.Plan, err = NewPlan(then, cur, r.o.Schemas, r.o.Tables)
	return then, cur, err
}

// snapshot finds the old snapshot by its id or its tag.
func (r *run) snapshot(ctx context.Context, rd *reader) (int64, error) {
	n, err := strconv.ParseInt(r.o.Snapshot, 10, 64)
	if err != nil {
		var tags int
		err := rd.tx.QueryRow(ctx, "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'eider' AND table_name = 'tags'").Scan(&tags)
		if err != nil {
			return 0, err
		}
		err = pgx.ErrNoRows
		if tags > 0 {
			err = rd.tx.QueryRow(ctx, "SELECT snapshot_id FROM eider.tags WHERE lake = $1 AND tag = $2", r.o.Schema, r.o.Snapshot).Scan(&n)
		}
		if errors.Is(err, pgx.ErrNoRows) {
			return 0, fmt.Errorf("%w: lake %s has no tag %q", ErrNoSnapshot, r.o.Schema, r.o.Snapshot)
		} else if err != nil {
			return 0, err
		}
	}
	var found int
	if err := rd.tx.QueryRow(ctx, fmt.Sprintf("SELECT count(*) FROM %s WHERE snapshot_id = %d", rd.rel("ducklake_snapshot"), n)).Scan(&found); err != nil {
		return 0, err
	}
	if found == 0 {
		return 0, fmt.Errorf("%w: %d; it has expired, or never was", ErrNoSnapshot, n)
	}
	return n, nil
}

// same says whether a table has the same rows, under the same ids, in both versions.
func (r *run) same(ctx context.Context, p *Pair, now int64) (bool, error) {
	var sides [2]string
	for i, o := range []*Object{&p.Then, &p.Now} {
		n := []int64{r.res.Snapshot, now}[i]
		rows, err := r.o.DB.Transact(ctx, fmt.Sprintf("SELECT count(*) || ' ' || coalesce(sum(hash(x)), 0) FROM (SELECT rowid, * FROM %s.%s.%s AT (VERSION => %d)) x",
			duck.Ident(r.o.Lake), duck.Ident(o.Schema), duck.Ident(o.Name), n))
		if err != nil {
			return false, fmt.Errorf("%w: %s at snapshot %d: %w", ErrUnreadable, o.name(), n, err)
		}
		sides[i] = fmt.Sprint(rows[0][0])
	}
	return sides[0] == sides[1], nil
}

// readable looks whether what would be written can be read; same has read the rest.
func (r *run) readable(ctx context.Context) error {
	for _, o := range r.res.Create {
		if _, err := r.o.DB.Transact(ctx, fmt.Sprintf("SELECT sum(hash(x)) FROM (SELECT rowid, * FROM %s.%s.%s AT (VERSION => %d)) x",
			duck.Ident(r.o.Lake), duck.Ident(o.Schema), duck.Ident(o.Name), r.res.Snapshot)); err != nil {
			return fmt.Errorf("%w: %s at snapshot %d: %w", ErrUnreadable, o.name(), r.res.Snapshot, err)
		}
	}
	return nil
}

// write writes a table's files, unless an attempt before has.
func (r *run) write(ctx context.Context, rd *reader, o *Object) error {
	to := r.targets[o.ID]
	if _, done := r.written[to]; done {
		return nil
	}
	cols, err := rd.columnsOf(ctx, o.ID, r.res.Snapshot)
	if err != nil {
		return err
	}
	keys, err := rd.partitionKeys(ctx, o.ID, r.res.Snapshot, cols)
	if err != nil {
		return err
	}
	key, err := r.newKey()
	if err != nil {
		return err
	}
	files, err := write(ctx, r.o.DB, r.o.Lake, o, r.res.Snapshot, cols, keys, to, key)
	r.written[to] = files
	return err
}

// keyBytes is how long DuckLake's keys are.
const keyBytes = 16

// newKey makes a key for files that are to be encrypted, as DuckLake makes one for each INSERT;
// nil in a lake whose files are not.
func (r *run) newKey() ([]byte, error) {
	if !r.encrypted {
		return nil, nil
	}
	key := make([]byte, keyBytes)
	if _, err := io.ReadFull(r.o.Random, key); err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return key, nil
}

// name returns the files of a table that was written, and notes that they get a snapshot.
func (r *run) name(o *Object) []file {
	to := r.targets[o.ID]
	r.named[to] = true
	return r.written[to]
}

// commit sends the batch and commits. From there on the files stay, but for a COMMIT that was
// certainly refused.
func (r *run) commit(ctx context.Context, rd *reader, now head, differ []Pair) error {
	then, cur, err := r.plan(ctx, rd, now)
	if err != nil {
		return err
	}
	r.named = map[target]bool{}
	w := newWriter(rd, r.res.Snapshot, now, then, cur)
	w.objects(&r.res.Plan, then, func(o *Object, id, partition int64) { w.files(id, r.name(o), partition) })
	for i := range differ {
		inlined, err := r.liveInlined(ctx, rd, differ[i].Now.ID)
		if err != nil {
			return err
		}
		// The same keys as in the old version, or none, but perhaps under another id.
		partition, err := rd.partitionID(ctx, differ[i].Now.ID)
		if err != nil {
			return err
		}
		w.replace(&differ[i], r.name(&differ[i].Then), partition, inlined)
	}
	for i := range r.res.Keep {
		if err := w.retag(ctx, &r.res.Keep[i]); err != nil {
			return err
		}
	}
	if len(w.changes) == 0 {
		return nil
	}
	message := fmt.Sprintf("restored snapshot %d", r.res.Snapshot)
	if _, err := rd.tx.Exec(ctx, w.batch(r.o.Author, message)); err != nil {
		return err
	}
	err = rd.tx.Commit(context.WithoutCancel(ctx))
	r.used = err == nil || !refused(err)
	if err != nil && r.used {
		return fmt.Errorf("%w; %w", err, ErrOutcome)
	} else if err != nil {
		return err
	}
	r.res.New = w.next.id
	for t := range r.named {
		for _, f := range r.written[t] {
			r.res.Files++
			r.res.Records += f.rows
			r.res.Bytes += f.bytes
		}
	}
	return nil
}

// liveInlined are the relations with live inlined rows of a table.
func (r *run) liveInlined(ctx context.Context, rd *reader, table int64) ([]string, error) {
	var all, live []string
	var name string
	if err := rd.each(ctx, fmt.Sprintf("SELECT table_name FROM %s WHERE table_id = %d", rd.rel("ducklake_inlined_data_tables"), table), []any{&name}, func() { all = append(all, name) }); err != nil {
		return nil, err
	}
	for _, name := range all {
		var n int64
		if err := rd.tx.QueryRow(ctx, "SELECT count(*) FROM "+rd.rel(name)+" WHERE end_snapshot IS NULL").Scan(&n); err != nil {
			return nil, err
		}
		if n > 0 {
			live = append(live, name)
		}
	}
	return live, nil
}
