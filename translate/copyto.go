package translate

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// copyChunk is how many bytes of rows go into one CopyData message of a client that takes
// several rows in a message.
const copyChunk = 32 << 10

// copyLimit is how many bytes of rows one CopyData message holds at least, the last excepted.
// PostgreSQL sends every row in a message of its own, and readers rely on it: DuckDB's
// extension up to 1.4 reads the first row of a message and drops the rest, psycopg takes a
// message for a row. Only a client that has shown itself as DuckDB 1.5.2 or newer gets more.
func (s *Session) copyLimit() int {
	if s.manyRows {
		return copyChunk
	}
	return 1
}

// copyHeader is the signature, flags and extension length that lead binary COPY data.
var copyHeader = []byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00")

var copyTrailer = []byte{0xff, 0xff}

// execCopy runs COPY in both directions.
func (s *Session) execCopy(ctx context.Context, rq *request, st *ast.Copy) (*running, error) {
	if st.File != "" || st.Program {
		what := "a file"
		if st.Program {
			what = "an external program"
		}
		return nil, pgerr.New(pgerr.InsufficientPrivilege, "COPY to or from %s is not allowed", what).
			WithHint("The server touches no files for clients. Use COPY with STDIN or STDOUT, for example psql's \\copy.")
	}
	if rq.plan != nil && rq.plan.copy != nil {
		n, err := s.copyTo(ctx, rq, st, rq.plan.copy)
		return done("COPY " + itoa(n)), err
	}
	opts, err := parseCopyOptions(rq.sql, st.Options, st.From)
	if err != nil {
		return nil, err
	}
	if st.From {
		n, err := s.copyFrom(ctx, rq, st, opts)
		return done("COPY " + itoa(n)), err
	}
	n, err := s.copyTo(ctx, rq, st, opts)
	return done("COPY " + itoa(n)), err
}

// copyTo runs COPY TO STDOUT and returns the number of rows.
func (s *Session) copyTo(ctx context.Context, rq *request, st *ast.Copy, opts *copyOptions) (int, error) {
	t, err := s.beginRequest(rq)
	if err != nil {
		return 0, err
	}
	query, err := s.copyQuery(t, rq, st)
	if err != nil {
		return 0, err
	}
	if s.tx.readOnly {
		if err := s.checkReadOnly(t, rq.part(query)); err != nil {
			return 0, err
		}
	}
	node, slots, err := s.planFor(t, rq, query, opts)
	if err != nil {
		return 0, err
	}
	cols := node.Columns()
	force, err := s.forceColumns(t, rq, st, opts, cols)
	if err != nil {
		return 0, err
	}
	ectx := s.execCtx(ctx, t, rq)
	ectx.Slots = slots
	if _, ok := query.(*ast.Select); ok && opts.format == copyBinary {
		if raw, ok := node.(exec.RawNode); ok {
			it, err := raw.OpenRaw(ectx)
			if err != nil {
				return 0, rq.located(err)
			}
			if it != nil {
				n, err := s.copyRaw(it, len(cols), rq.out)
				return n, rq.located(err)
			}
		}
	}
	r, err := s.open(node, ectx, query)
	if err != nil {
		return 0, rq.located(err)
	}
	defer r.close()
	w := &copyWriter{out: rq.out, opts: opts, cols: cols, env: s.typeEnv(), force: force, limit: s.copyLimit()}
	n, err := w.run(r)
	return n, rq.located(err)
}

// copyQuery is the query whose rows COPY TO sends.
func (s *Session) copyQuery(t *store.Txn, rq *request, st *ast.Copy) (ast.Stmt, error) {
	if rq.plan != nil {
		return rq.plan.query, nil
	}
	if st.Table == nil {
		switch q := st.Query.(type) {
		case *ast.Select:
			if intoClause(q) != nil {
				return nil, errFeature("COPY (SELECT INTO) is not supported")
			}
			return q, nil
		case *ast.Insert, *ast.Update, *ast.Delete:
			if !returnsRows(q) {
				return nil, errFeature("COPY query must have a RETURNING clause")
			}
			return q, nil
		}
		return nil, errFeature("COPY of this statement is not supported")
	}
	core := &ast.SelectCore{Pos: st.Table.Pos, From: []ast.TableExpr{&ast.TableRef{Name: *st.Table}}}
	tbl, err := s.bindTable(t, rq, *st.Table)
	if err != nil && pgerr.CodeOf(err) == pgerr.UndefinedTable {
		// A dropped inlined table still answers without rows: the query knows.
		if !s.isGhost(t, *st.Table) {
			return nil, err
		}
	}
	switch {
	case err == nil:
		if tbl.Kind == rel.KindView {
			return nil, pgerr.New(pgerr.WrongObjectType, "cannot copy from view %q", tbl.Name).
				WithHint("Try the COPY (SELECT ...) TO variant.")
		}
		if _, err := copyColumns(tbl, st.Columns); err != nil {
			return nil, err
		}
	case pgerr.CodeOf(err) != pgerr.WrongObjectType && pgerr.CodeOf(err) != pgerr.UndefinedTable:
		return nil, err
	}
	if len(st.Columns) == 0 {
		core.Targets = []ast.Target{{Expr: &ast.Star{Pos: ast.Pos(st.Table.Pos)}}}
	}
	for _, c := range st.Columns {
		core.Targets = append(core.Targets, ast.Target{Expr: &ast.ColumnRef{Pos: ast.Pos(st.Table.Pos), Parts: []string{c}}})
	}
	return &ast.Select{Pos: st.Table.Pos, Core: core}, nil
}

// isGhost says whether a name is that of a dropped inlined table.
func (s *Session) isGhost(t *store.Txn, n ast.Name) bool {
	schemas := s.searchPath()
	if n.Schema != "" {
		schemas = []string{n.Schema}
	}
	for _, name := range schemas {
		if sch, ok := t.SchemaByName(name); ok {
			if _, ok := t.GhostTable(sch.OID, n.Name); ok {
				return true
			}
		}
	}
	return false
}

// copyColumns resolves COPY's column list; none means every live column.
func copyColumns(t *rel.Table, names []string) ([]*rel.Column, error) {
	var out []*rel.Column
	if len(names) == 0 {
		for i := range t.Columns {
			if !t.Columns[i].Dropped {
				out = append(out, &t.Columns[i])
			}
		}
		return out, nil
	}
	for i, n := range names {
		c := findColumn(t, n)
		if c == nil {
			return nil, noColumn(n, t.Name)
		}
		if slices.Contains(names[:i], n) {
			return nil, pgerr.New(pgerr.DuplicateColumn, "column %q specified more than once", n)
		}
		out = append(out, c)
	}
	return out, nil
}

func findColumn(t *rel.Table, name string) *rel.Column {
	for i := range t.Columns {
		if c := &t.Columns[i]; !c.Dropped && c.Name == name {
			return c
		}
	}
	return nil
}

func noColumn(column, table string) *pgerr.Error {
	return pgerr.New(pgerr.UndefinedColumn, "column %q of relation %q does not exist", column, table)
}

// forceColumns says which columns FORCE_QUOTE names.
func (s *Session) forceColumns(t *store.Txn, rq *request, st *ast.Copy, o *copyOptions, cols []exec.Column) ([]bool, error) {
	if len(o.forceQuote) == 0 {
		return nil, nil
	}
	force := make([]bool, len(cols))
	if o.forceAll {
		for i := range force {
			force[i] = true
		}
		return force, nil
	}
	for _, name := range o.forceQuote {
		i := slices.IndexFunc(cols, func(c exec.Column) bool { return c.Name == name })
		if i < 0 && st.Table == nil {
			return nil, pgerr.New(pgerr.UndefinedColumn, "column %q does not exist", name)
		}
		if i < 0 {
			if tbl, err := s.bindTable(t, rq, *st.Table); err == nil && findColumn(tbl, name) == nil {
				return nil, noColumn(name, tbl.Name)
			}
			return nil, pgerr.New(pgerr.InvalidColumnReference, "FORCE_QUOTE column %q not referenced by COPY", name)
		}
		force[i] = true
	}
	return force, nil
}

// copyRaw sends stored tuples as they are.
func (s *Session) copyRaw(it exec.RawIter, ncols int, out Out) (int, error) {
	defer func() { _ = it.Close() }()
	if err := out.CopyOut(true, ncols); err != nil {
		return 0, err
	}
	if s.copyBuf == nil {
		s.copyBuf = make([]byte, 0, copyChunk+copyChunk/2)
	}
	buf := append(s.copyBuf[:0], copyHeader...)
	defer func() {
		if cap(buf) <= 4*copyChunk { // a huge row is not kept
			s.copyBuf = buf[:0]
		}
	}()
	total, limit := 0, s.copyLimit()
	for {
		var n int
		var err error
		if buf, n, err = it.AppendTuples(buf, len(buf)+limit); err != nil {
			return 0, err
		}
		if n == 0 {
			break
		}
		total += n
		if err := out.CopyData(buf); err != nil {
			return 0, err
		}
		buf = buf[:0]
	}
	// Without rows the header is still there and goes out with the trailer.
	if err := out.CopyData(append(buf, copyTrailer...)); err != nil {
		return 0, err
	}
	return total, out.CopyDone()
}

// copyWriter formats rows as COPY data.
type copyWriter struct {
	out     Out
	opts    *copyOptions
	cols    []exec.Column
	env     *types.Env
	force   []bool
	limit   int // see copyLimit
	buf     []byte
	scratch []byte
}

func (w *copyWriter) run(r *running) (int, error) {
	isBinary := w.opts.format == copyBinary
	if err := w.out.CopyOut(isBinary, len(w.cols)); err != nil {
		return 0, err
	}
	w.buf = make([]byte, 0, w.limit+copyChunk/4)
	if isBinary {
		w.buf = append(w.buf, copyHeader...)
	}
	if w.opts.header {
		w.headerLine()
		if w.limit == 1 {
			if err := w.flush(); err != nil {
				return 0, err
			}
		}
	}
	n := 0
	for {
		row, err := r.iter.Next()
		if errors.Is(err, exec.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
		n++
		switch w.opts.format {
		case copyBinary:
			w.binaryRow(row)
		case copyCSV:
			w.csvRow(row)
		default:
			w.textRow(row)
		}
		if len(w.buf) >= w.limit {
			if err := w.flush(); err != nil {
				return 0, err
			}
		}
	}
	if isBinary {
		if n > 0 && len(w.buf) > 0 {
			if err := w.flush(); err != nil {
				return 0, err
			}
		}
		w.buf = append(w.buf, copyTrailer...)
	}
	if err := w.flush(); err != nil {
		return 0, err
	}
	return n, w.out.CopyDone()
}

func (w *copyWriter) flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	err := w.out.CopyData(w.buf)
	w.buf = w.buf[:0]
	return err
}

func (w *copyWriter) binaryRow(row exec.Row) {
	b := binary.BigEndian.AppendUint16(w.buf, uint16(len(row)))
	for i := range row {
		if !row[i].Valid {
			b = append(b, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		at := len(b)
		b = append(b, 0, 0, 0, 0)
		b = types.AppendBinary(b, w.cols[i].Type.OID, row[i])
		binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	}
	w.buf = b
}

func (w *copyWriter) headerLine() {
	for i := range w.cols {
		if i > 0 {
			w.buf = append(w.buf, w.opts.delim)
		}
		if w.opts.format == copyCSV {
			w.csvValue([]byte(w.cols[i].Name), false, len(w.cols) == 1)
		} else {
			w.textValue([]byte(w.cols[i].Name))
		}
	}
	w.buf = append(w.buf, '\n')
}

func (w *copyWriter) textRow(row exec.Row) {
	for i := range row {
		if i > 0 {
			w.buf = append(w.buf, w.opts.delim)
		}
		if !row[i].Valid {
			w.buf = append(w.buf, w.opts.null...)
			continue
		}
		w.scratch = types.AppendText(w.env, w.scratch[:0], w.cols[i].Type, row[i])
		w.textValue(w.scratch)
	}
	w.buf = append(w.buf, '\n')
}

// textValue appends a value with COPY text format's escapes.
func (w *copyWriter) textValue(v []byte) {
	b := w.buf
	for _, c := range v {
		switch {
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '\b':
			b = append(b, '\\', 'b')
		case c == '\f':
			b = append(b, '\\', 'f')
		case c == '\v':
			b = append(b, '\\', 'v')
		case c == w.opts.delim, c == '\\':
			b = append(b, '\\', c)
		default:
			b = append(b, c)
		}
	}
	w.buf = b
}

func (w *copyWriter) csvRow(row exec.Row) {
	for i := range row {
		if i > 0 {
			w.buf = append(w.buf, w.opts.delim)
		}
		if !row[i].Valid {
			w.buf = append(w.buf, w.opts.null...)
			continue
		}
		w.scratch = types.AppendText(w.env, w.scratch[:0], w.cols[i].Type, row[i])
		w.csvValue(w.scratch, w.force != nil && w.force[i], len(row) == 1)
	}
	w.buf = append(w.buf, '\n')
}

// csvValue appends a value, in quotes where it needs them.
func (w *copyWriter) csvValue(v []byte, force, single bool) {
	o := w.opts
	quote := force || string(v) == o.null || single && string(v) == `\.`
	if !quote {
		quote = bytes.IndexByte(v, o.delim) >= 0 || bytes.IndexByte(v, o.quote) >= 0 || bytes.ContainsAny(v, "\r\n")
	}
	if !quote {
		w.buf = append(w.buf, v...)
		return
	}
	b := append(w.buf, o.quote)
	for _, c := range v {
		if c == o.quote || c == o.escape {
			b = append(b, o.escape)
		}
		b = append(b, c)
	}
	w.buf = append(b, o.quote)
}
