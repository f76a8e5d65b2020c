package conflict

import (
	"fmt"
	"strings"

	"github.com/eiderdb/eider/lake/retry"
)

// SQLSTATEs of refusals.
const (
	stateCheck         = "23514" // check_violation: what the commit says cannot be true
	stateObjectState   = "55000" // object_not_in_prerequisite_state: it came too late, or is not allowed now
	stateInUse         = "55006" // object_in_use
	stateSerialization = "40001" // serialization_failure: the client may run it again
)

// TableRef is a DuckLake table as a text names it. Name is empty where it is not known.
type TableRef struct {
	ID           int64
	Schema, Name string
}

// String returns what stands behind "table".
func (t TableRef) String() string {
	switch {
	case t.Name == "":
		return fmt.Sprintf("%d", t.ID)
	case t.Schema == "":
		return fmt.Sprintf("%s (id %d)", quoted(t.Name), t.ID)
	}
	return fmt.Sprintf("%s.%s (id %d)", quoted(t.Schema), quoted(t.Name), t.ID)
}

// terminal makes a violation that no retry of the same commit cures.
func terminal(code Code, state string, t TableRef, format string, args ...any) Violation {
	return Violation{Code: code, SQLState: state, Table: t.ID, Text: retry.Respell(fmt.Sprintf(format, args...))}
}

func (v Violation) detail(format string, args ...any) Violation {
	v.Detail = v.spell(fmt.Sprintf(format, args...))
	return v
}

func (v Violation) hint(format string, args ...any) Violation {
	v.Hint = v.spell(fmt.Sprintf(format, args...))
	return v
}

func (v Violation) spell(s string) string {
	if v.Retry {
		return s
	}
	return retry.Respell(s)
}

// retryable makes a violation that the client's retry cures: the same changes, planned on
// the newest state. The message always begins with PostgreSQL's words.
func retryable(code Code, t TableRef, format string, args ...any) Violation {
	return Violation{
		Code: code, SQLState: stateSerialization, Retry: true, Table: t.ID,
		Text: "could not serialize access due to concurrent update: " + fmt.Sprintf(format, args...),
	}
}

// quoted returns an identifier in double quotes.
func quoted(s string) string { return string(appendIdent(nil, s)) }

// list writes up to five numbers.
func list(ids []int64) string {
	const most = 5
	var b strings.Builder
	for i, id := range ids {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(ids)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d", id)
	}
	return b.String()
}

const hintRunAgain = "Nothing was stored. " + retry.RunAgain
