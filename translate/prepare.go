package translate

import (
	"context"
	"time"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/lex"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// prepared is a prepared statement, made by Parse or PREPARE. It is immutable.
type prepared struct {
	name   string
	source string // the text as pg_prepared_statements shows it
	sql    string // the text that positions refer to
	// list holds the statements: one, or several that a lenient Parse accepted.
	list []ast.Stmt
	// fp and parsed are for the plan cache. A statement that was prepared from a cached plan
	// has no list: it is found by its fingerprint or parsed when it runs.
	fp      *lex.FP
	parsed  *ast.Parsed
	params  []types.OID
	cols    []exec.Column // nil: no result rows
	created time.Time
	bySQL   bool // made by PREPARE
}

func noStatement(name string) *pgerr.Error {
	if name == "" {
		return pgerr.New(pgerr.InvalidSQLStatementName, "unnamed prepared statement does not exist")
	}
	return pgerr.New(pgerr.InvalidSQLStatementName, "prepared statement %q does not exist", name)
}

// addStatement keeps a prepared statement under its name.
func (s *Session) addStatement(p *prepared) error {
	if p.name != "" {
		if _, ok := s.stmts[p.name]; ok {
			return pgerr.New(pgerr.DuplicatePreparedStatement, "prepared statement %q already exists", p.name)
		}
		if len(s.stmts) >= s.deps.Limits.Statements {
			return pgerr.New(pgerr.ProgramLimitExceeded, "too many prepared statements").
				WithHint("Close statements that are no longer used.")
		}
	}
	p.created = s.now()
	s.stmts[p.name] = p
	return nil
}

// analyze infers a statement's parameter types and result columns.
func (s *Session) analyze(rq *request, want int) ([]types.OID, []exec.Column, error) {
	for len(rq.ptypes) < want {
		rq.ptypes = append(rq.ptypes, 0)
	}
	for i, oid := range rq.ptypes {
		switch {
		case oid == types.UnknownOID:
			rq.ptypes[i] = 0
		case oid != 0:
			if _, ok := types.Lookup(oid); !ok {
				return nil, nil, pgerr.New(pgerr.UndefinedObject, "type with OID %d does not exist", oid)
			}
		}
	}
	cols, err := s.describe(rq)
	if err != nil {
		return nil, nil, err
	}
	for i, oid := range rq.ptypes {
		if oid == 0 {
			return nil, nil, pgerr.New(pgerr.IndeterminateDatatype, "could not determine data type of parameter $%d", i+1)
		}
	}
	return rq.ptypes, cols, nil
}

func isQuery(st ast.Stmt) bool {
	switch st.(type) {
	case *ast.Select, *ast.Insert, *ast.Update, *ast.Delete:
		return true
	}
	return false
}

// execPrepare is PREPARE name AS statement.
func (s *Session) execPrepare(rq *request, st *ast.Prepare) error {
	if !isQuery(st.Stmt) {
		return pgerr.New("42P14", "utility statements cannot be prepared")
	}
	if _, ok := s.stmts[st.Name]; ok {
		return pgerr.New(pgerr.DuplicatePreparedStatement, "prepared statement %q already exists", st.Name)
	}
	t, err := s.newStatement()
	if err != nil {
		return err
	}
	sub := &request{sql: rq.sql, stmt: st.Stmt, out: rq.out}
	b := s.binder(t, sub)
	for _, n := range st.Types {
		typ, err := b.BindType(n)
		if err != nil {
			return err
		}
		sub.ptypes = append(sub.ptypes, typ.OID)
	}
	params, cols, err := s.analyze(sub, st.Params)
	if err != nil {
		return err
	}
	return s.addStatement(&prepared{
		name: st.Name, source: rq.sql, sql: rq.sql, list: []ast.Stmt{st.Stmt}, params: params, cols: cols, bySQL: true,
	})
}

// execExecute is EXECUTE name(args).
func (s *Session) execExecute(ctx context.Context, rq *request, st *ast.Execute) (*running, error) {
	p := s.stmts[st.Name]
	if p == nil {
		return nil, noStatement(st.Name)
	}
	if len(st.Args) != len(p.params) {
		return nil, pgerr.New(pgerr.SyntaxError, "wrong number of parameters for prepared statement %q", st.Name).
			WithDetail("Expected %d parameters but got %d.", len(p.params), len(st.Args))
	}
	if len(p.list) > 1 || len(p.list) == 0 && p.fp == nil {
		return nil, errFeature("EXECUTE of a batch of statements is not supported")
	}
	sub := &request{sql: p.sql, ptypes: p.params, out: rq.out, fp: p.fp, parsed: p.parsed}
	if len(p.list) == 1 {
		sub.stmt = p.list[0]
	}
	if err := s.resolve(sub); err != nil {
		return nil, err
	}
	if len(st.Args) > 0 {
		t, err := s.newStatement()
		if err != nil {
			return nil, err
		}
		sub.params = make([]types.Datum, len(st.Args))
		for i, a := range st.Args {
			b := s.binder(t, rq)
			e, from, err := b.BindAssign(nil, a, types.T{OID: p.params[i], Mod: -1}, "")
			if err != nil {
				if pgerr.CodeOf(err) == pgerr.DatatypeMismatch {
					err = pgerr.New(pgerr.DatatypeMismatch, "parameter $%d of type %s cannot be coerced to the expected type %s",
						i+1, types.TypeName(from.OID), types.TypeName(p.params[i])).
						WithHint("You will need to rewrite or cast the expression.").At(rq.sql, a.Position())
				}
				return nil, err
			}
			d, err := e.Eval(s.execCtx(ctx, t, rq), nil)
			if err != nil {
				return nil, err
			}
			sub.params[i] = cloneRow(exec.Row{d})[0]
		}
	}
	r, err := s.start(ctx, sub)
	if err != nil {
		return nil, err
	}
	if err := samePlan(p.cols, r.cols); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// samePlan refuses a prepared statement whose result changed since it was prepared.
func samePlan(want, got []exec.Column) error {
	same := len(want) == len(got)
	for i := 0; same && i < len(got); i++ {
		same = want[i].Name == got[i].Name && want[i].Type == got[i].Type
	}
	if same {
		return nil
	}
	return pgerr.New(pgerr.FeatureNotSupported, "cached plan must not change result type")
}

func (s *Session) execDeallocate(st *ast.Deallocate) (string, error) {
	if st.All {
		clear(s.stmts)
		return "DEALLOCATE ALL", nil
	}
	if s.stmts[st.Name] == nil {
		return "", noStatement(st.Name)
	}
	delete(s.stmts, st.Name)
	return "DEALLOCATE", nil
}
