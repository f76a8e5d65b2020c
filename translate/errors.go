package translate

import (
	"context"
	"errors"
	"strings"

	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// errStatementTimeout is the cause of a context that statement_timeout ended.
var errStatementTimeout = pgerr.New(pgerr.QueryCanceled, "canceling statement due to statement timeout")

// toPG makes the error a client gets: the one place where inner errors become SQLSTATEs.
func (s *Session) toPG(ctx context.Context, err error) *pgerr.Error {
	e := s.mapError(ctx, err)
	if !retryable(e.Code) {
		e = neutral(e)
	}
	return e
}

func (s *Session) mapError(ctx context.Context, err error) *pgerr.Error {
	if e := pgerr.As(err); e != nil {
		return e
	}
	var unique *store.UniqueViolation
	var exists *store.ExistsError
	var missing *store.NotFoundError
	var serial *store.SerializationError
	switch {
	case errors.As(err, &unique):
		return s.uniqueViolation(unique)
	case errors.As(err, &serial):
		e := pgerr.Wrap(err, pgerr.SerializationFailure, "%s", serial.Error())
		e.Table = serial.Table
		return e
	case errors.As(err, &exists):
		return pgerr.Wrap(err, existsCode(exists.Kind), "%s", exists.Error())
	case errors.As(err, &missing):
		return pgerr.Wrap(err, missingCode(missing.Kind), "%s", missing.Error())
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		if e := pgerr.As(context.Cause(ctx)); e != nil {
			return e
		}
		return pgerr.Wrap(err, pgerr.QueryCanceled, "canceling statement due to user request")
	case errors.Is(err, store.ErrNoSnapshot):
		return pgerr.Wrap(err, pgerr.InvalidParameterValue, "invalid snapshot identifier: the snapshot does not exist")
	case errors.Is(err, store.ErrTxnTooLarge):
		return pgerr.Wrap(err, pgerr.ProgramLimitExceeded, "transaction is too large").
			WithHint("Split the work into several transactions.")
	case errors.Is(err, store.ErrRowChanged):
		return pgerr.Wrap(err, "27000", "tuple to be updated was already modified by an operation of the same transaction")
	case errors.Is(err, store.ErrClosed):
		return pgerr.Wrap(err, pgerr.AdminShutdown, "the server is shutting down")
	case errors.Is(err, store.ErrNoCatalog):
		return pgerr.Wrap(err, pgerr.InvalidCatalogName, "database %q does not exist", s.db)
	}
	if e := exec.EngineError(err); e != nil {
		s.log.Error("storage failed", "error", err, "code", e.Code, "pid", s.opts.PID, "database", s.db)
		return e
	}
	s.log.Error("statement failed", "error", err, "pid", s.opts.PID, "database", s.db)
	return pgerr.Wrap(err, pgerr.InternalError, "internal error: %v", err)
}

func existsCode(k store.ObjectKind) string {
	switch k {
	case store.ObjectCatalog:
		return pgerr.DuplicateDatabase
	case store.ObjectSchema:
		return pgerr.DuplicateSchema
	}
	return pgerr.DuplicateTable
}

func missingCode(k store.ObjectKind) string {
	switch k {
	case store.ObjectCatalog:
		return pgerr.InvalidCatalogName
	case store.ObjectSchema:
		return pgerr.InvalidSchemaName
	case store.ObjectIndex:
		return pgerr.UndefinedObject
	}
	return pgerr.UndefinedTable
}

// uniqueViolation words a duplicate key as PostgreSQL does; clients retry on its text.
func (s *Session) uniqueViolation(u *store.UniqueViolation) *pgerr.Error {
	e := pgerr.Wrap(u, pgerr.UniqueViolation, "duplicate key value violates unique constraint %q", u.Index)
	e.Table, e.Constraint = u.Table, u.Index
	if t := s.tx.txn; t != nil {
		if sch, ok := t.SchemaByOID(u.SchemaOID); ok {
			e.Schema = sch.Name
		}
	}
	if len(u.Names) > 0 && len(u.Values) == len(u.Names) {
		e.Detail = "Key (" + strings.Join(u.Names, ", ") + ")=(" + s.keyText(u) + ") already exists."
	}
	return e
}

func (s *Session) keyText(u *store.UniqueViolation) string {
	var b []byte
	for i, v := range u.Values {
		if i > 0 {
			b = append(b, ", "...)
		}
		d, err := types.DecodeBinary(u.Types[i], v)
		if v == nil || err != nil {
			b = append(b, "null"...)
			continue
		}
		b = types.AppendText(s.typeEnv(), b, types.T{OID: u.Types[i], Mod: -1}, d)
	}
	return string(b)
}

// retryable says whether a client may run the transaction again after an error.
func retryable(code string) bool {
	return code == pgerr.UniqueViolation || code == pgerr.SerializationFailure || code == pgerr.DeadlockDetected
}

// retryWords are what DuckLake looks for in an error text before it retries a commit.
var retryWords = [...]string{"primary key", "unique", "conflict", "concurrent"}

// joiner is an invisible character (word joiner) that breaks a word for a text search.
const joiner = "\u2060"

// neutral keeps the retry words out of a terminal error, whatever identifiers and values
// it quotes: it answers a copy with an invisible character in them.
func neutral(e *pgerr.Error) *pgerr.Error {
	c := *e
	c.Message, c.Detail, c.Hint, c.Where = breakWords(e.Message), breakWords(e.Detail), breakWords(e.Hint), breakWords(e.Where)
	return &c
}

func breakWords(text string) string {
	for _, w := range retryWords {
		for from := 0; ; {
			i := indexFold(text[from:], w)
			if i < 0 {
				break
			}
			at := from + i + len(w)/2
			text = text[:at] + joiner + text[at:]
			from = at
		}
	}
	return text
}

// indexFold finds the lower-case ASCII word in text, whatever the case there.
func indexFold(text, word string) int {
	for i := 0; i+len(word) <= len(text); i++ {
		if strings.EqualFold(text[i:i+len(word)], word) {
			return i
		}
	}
	return -1
}
