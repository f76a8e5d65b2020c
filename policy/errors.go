package policy

import (
	"errors"
	"fmt"
)

// Errors of this package. What is returned wraps one of them and says more.
var (
	// ErrInvalid is for a policy or a table catalog that could not have been made: a text that is
	// empty where it must not be, or a value that an enum does not have.
	ErrInvalid = errors.New("invalid")
	// ErrNaming is for a naming template that cannot be applied to a stream.
	ErrNaming = errors.New("the naming template cannot be applied")
	// ErrIdentifier is for a table identifier with an empty part.
	ErrIdentifier = errors.New("the table identifier is not whole")
	// ErrLookup is for a look-up of a table catalog that failed. It says nothing of the stream.
	ErrLookup = errors.New("the table catalog cannot be looked up")
)

// Step is a step of a resolution.
type Step int

// The steps, in their order.
const (
	StepDisabled Step = iota + 1
	StepReference
	StepLookup
	StepMerge
	StepIdentifier
	StepResult
)

func (s Step) String() string {
	names := [...]string{"disabled check", "catalog reference", "catalog lookup", "merge of table", "table identifier", "result"}
	if s < StepDisabled || s > StepResult {
		return fmt.Sprintf("step %d", int(s))
	}
	return fmt.Sprintf("step %d (%s)", int(s), names[s-1])
}

// Layer is where a field has its value from.
type Layer string

// The layers. Derived is the resolution itself.
const (
	LayerAbsent    Layer = "absent"
	LayerStream    Layer = "stream"
	LayerNamespace Layer = "namespace"
	LayerDerived   Layer = "derived"
)

// Error is a resolution that failed.
type Error struct {
	Step Step
	// Field is the path of the field that was read, such as tableNaming.tableNameTemplate.
	Field string
	// Layer is the policy that the field is of; LayerDerived where none has it.
	Layer Layer
	// Err wraps one of ErrNaming, ErrIdentifier and ErrLookup.
	Err error
}

func (e *Error) Error() string {
	of := " of the " + string(e.Layer) + " policy"
	if e.Layer == LayerDerived {
		of = ", which the stream gives"
	}
	return fmt.Sprintf("%s: %s%s: %s", e.Step, e.Field, of, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }
