package exec

import (
	"context"
	"errors"
	"strings"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// MapStoreError turns errors of the store and of contexts into *pgerr.Error; it is the one
// place that does. Errors that are *pgerr.Error already pass through.
func MapStoreError(err error) error {
	if err == nil || err == EOF || pgerr.As(err) != nil {
		return err
	}
	var ser *store.SerializationError
	var uni *store.UniqueViolation
	var exists *store.ExistsError
	var missing *store.NotFoundError
	switch {
	case errors.As(err, &uni):
		return uniqueError(uni, err)
	case errors.As(err, &ser):
		what := "update"
		if ser.Deleted {
			what = "delete"
		}
		e := pgerr.Wrap(err, pgerr.SerializationFailure, "could not serialize access due to concurrent %s", what)
		e.Table = ser.Table
		return e
	case errors.Is(err, store.ErrSerialization):
		return pgerr.Wrap(err, pgerr.SerializationFailure, "could not serialize access due to concurrent update")
	case errors.As(err, &exists):
		code := pgerr.DuplicateTable
		switch exists.Kind {
		case store.ObjectSchema:
			code = pgerr.DuplicateSchema
		case store.ObjectCatalog:
			code = pgerr.DuplicateDatabase
		}
		return pgerr.Wrap(err, code, "%s %q already exists", exists.Kind, exists.Name)
	case errors.As(err, &missing):
		code := pgerr.UndefinedTable
		switch missing.Kind {
		case store.ObjectSchema:
			code = pgerr.InvalidSchemaName
		case store.ObjectIndex:
			code = pgerr.UndefinedObject
		case store.ObjectCatalog:
			code = pgerr.InvalidCatalogName
		}
		return pgerr.Wrap(err, code, "%s", missing.Error())
	case errors.Is(err, store.ErrTxnTooLarge):
		return pgerr.Wrap(err, pgerr.ProgramLimitExceeded, "transaction is too large")
	case errors.Is(err, store.ErrRowIDs):
		return pgerr.Wrap(err, pgerr.ProgramLimitExceeded, "table has given out all its row numbers")
	case errors.Is(err, store.ErrNotTable):
		return pgerr.Wrap(err, pgerr.WrongObjectType, "relation has no rows of its own")
	case errors.Is(err, store.ErrClosed):
		return pgerr.Wrap(err, pgerr.AdminShutdown, "terminating connection due to administrator command")
	case errors.Is(err, store.ErrNoSnapshot):
		return pgerr.Wrap(err, pgerr.InvalidParameterValue, "invalid snapshot identifier")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return pgerr.Wrap(err, pgerr.QueryCanceled, "canceling statement due to user request")
	}
	if e := EngineError(err); e != nil {
		return e
	}
	return pgerr.Wrap(err, pgerr.InternalError, "internal error: %s", innocent(err.Error()))
}

// EngineError words what the storage engine reports; nil when err is none of that. The
// folder's path stays in the log.
func EngineError(err error) *pgerr.Error {
	switch {
	case errors.Is(err, kv.ErrUnknownOutcome):
		return pgerr.Wrap(err, pgerr.CommitOutcomeUnknown, "storage failed during COMMIT: it is not known whether the transaction was committed")
	case errors.Is(err, kv.ErrDiskFull):
		return pgerr.Wrap(err, pgerr.DiskFull, "no space left on the device of the data folder").
			WithHint("Nothing was written and earlier data is safe. Writes are accepted again when there is space.")
	case errors.Is(err, kv.ErrEngineRestarted):
		return pgerr.Wrap(err, pgerr.SerializationFailure, "the snapshot is gone because storage was opened again; repeat the transaction")
	case errors.Is(err, kv.ErrCorrupt):
		return pgerr.Wrap(err, pgerr.DataCorrupted, "stored data is damaged")
	case errors.Is(err, kv.ErrIO):
		return pgerr.Wrap(err, pgerr.IOError, "the device of the data folder failed")
	case errors.Is(err, kv.ErrClosed):
		return pgerr.Wrap(err, pgerr.AdminShutdown, "terminating connection due to administrator command")
	}
	return nil
}

// innocent breaks the words that would make a client retry an error that is not retryable.
func innocent(s string) string {
	for _, w := range []string{"primary key", "unique", "conflict", "concurrent"} {
		for {
			i := strings.Index(strings.ToLower(s), w)
			if i < 0 {
				break
			}
			s = s[:i] + s[i:i+2] + "-" + s[i+2:]
		}
	}
	return s
}

func uniqueError(u *store.UniqueViolation, cause error) *pgerr.Error {
	e := pgerr.Wrap(cause, pgerr.UniqueViolation, "duplicate key value violates unique constraint %q", u.Index)
	var names, vals strings.Builder
	for i, n := range u.Names {
		if i > 0 {
			names.WriteString(", ")
			vals.WriteString(", ")
		}
		names.WriteString(n)
		if i >= len(u.Values) || i >= len(u.Types) {
			continue
		}
		if u.Values[i] == nil {
			vals.WriteString("null")
			continue
		}
		d, err := types.DecodeBinary(u.Types[i], u.Values[i])
		if err != nil {
			continue
		}
		vals.Write(types.AppendText(nil, nil, types.T{OID: u.Types[i], Mod: -1}, d))
	}
	if len(u.Names) > 0 {
		e = e.WithDetail("Key (%s)=(%s) already exists.", names.String(), vals.String())
	}
	e.Table, e.Constraint = u.Table, u.Index
	return e
}

// maxShownValue is how many bytes of a value a "Failing row contains" detail shows.
const maxShownValue = 64

// FailingRow is the DETAIL of NOT NULL and CHECK violations; vals are by column of t.
func FailingRow(env *types.Env, t *rel.Table, vals func(col int) types.Datum) string {
	var b strings.Builder
	b.WriteString("Failing row contains (")
	first := true
	for i := range t.Columns {
		col := &t.Columns[i]
		if col.Dropped {
			continue
		}
		if !first {
			b.WriteString(", ")
		}
		first = false
		d := vals(i)
		if !d.Valid {
			b.WriteString("null")
			continue
		}
		s := string(types.AppendText(env, nil, types.T{OID: col.Type, Mod: col.Mod}, d))
		if len(s) > maxShownValue {
			cut := maxShownValue
			for cut > 0 && s[cut]&0xC0 == 0x80 {
				cut--
			}
			s = s[:cut] + "..."
		}
		b.WriteString(s)
	}
	b.WriteString(").")
	return b.String()
}
