package policy

import (
	"context"
	"fmt"
	"reflect"
)

// Catalogs look table catalogs up.
type Catalogs interface {
	// TableCatalog returns the table catalog that is registered under a name; nil for none.
	TableCatalog(ctx context.Context, name string) (*TableCatalog, error)
}

// Input is what a resolution goes by.
type Input struct {
	// Namespace and Stream are the policies of the two layers; nil for none.
	Namespace, Stream *Policy
	ID                StreamID
	// Properties are the stream's; nil is the same as empty.
	Properties map[string]string
	Catalogs   Catalogs
}

// Reason is why a stream is not materialized, which is no error.
type Reason string

// The reasons, by the step at which the resolution ends.
const (
	// ReasonDisabled: the stream's policy has enabled false.
	ReasonDisabled Reason = "disabled by the stream policy"
	// ReasonNoReference: no policy names a table catalog.
	ReasonNoReference Reason = "no policy names a table catalog"
	// ReasonNotRegistered: there is no table catalog of the name.
	ReasonNotRegistered Reason = "the table catalog is not registered"
)

// Resolution is the outcome for one stream that is no failure.
type Resolution struct {
	// Resolved is where the stream is written and how; nil if it is not materialized.
	Resolved *Resolved
	// Reason is why it is not; "" if it is.
	Reason Reason
	// Step is the one at which the resolution ended.
	Step Step
	// Reference is the effective catalog reference; nil before step 2 and without one.
	Reference *string
	// Origins are all fields of the effective policy, in their order; nil if there is none.
	Origins []Origin
}

// Resolve decides whether a stream is materialized, into which table and with which settings. It
// takes the six steps in their order and ends at the first that yields an outcome. It supplies no
// defaults and leaves the policies as they are. A failure is an *Error.
func Resolve(ctx context.Context, in Input) (Resolution, error) {
	namespace, stream := in.Namespace, in.Stream
	if namespace == nil {
		namespace = &Policy{}
	}
	if stream == nil {
		stream = &Policy{}
	}
	if stream.Enabled != nil && !*stream.Enabled {
		return Resolution{Reason: ReasonDisabled, Step: StepDisabled}, nil
	}
	reference, layer := stream.CatalogRef, LayerStream
	if reference == nil {
		reference, layer = namespace.CatalogRef, LayerNamespace
	}
	if reference == nil {
		return Resolution{Reason: ReasonNoReference, Step: StepReference}, nil
	}
	reference = ptr(*reference)
	catalog, err := in.Catalogs.TableCatalog(ctx, *reference)
	if err != nil {
		return Resolution{}, &Error{StepLookup, "catalogRef", layer, fmt.Errorf("%w: %q: %w", ErrLookup, *reference, err)}
	}
	if catalog == nil {
		return Resolution{Reason: ReasonNotRegistered, Step: StepLookup, Reference: reference}, nil
	}
	// Step 4 cannot fail, and what it makes is part of step 6.
	table, from, err := identifier(in, namespace, stream)
	if err != nil {
		return Resolution{}, err
	}
	effective, origins := merge(namespace, stream)
	effective.TableIdentifier = &table
	for i := range origins {
		if origins[i].Path == "tableIdentifier" {
			origins[i].Layer, origins[i].Value = from, table
		}
	}
	return Resolution{
		Resolved:  &Resolved{clone(reflect.ValueOf(*catalog)).Interface().(TableCatalog), table, effective},
		Step:      StepResult,
		Reference: reference,
		Origins:   origins,
	}, nil
}

// identifier is step 5: the stream policy's identifier, the namespace policy's naming, the default.
func identifier(in Input, namespace, stream *Policy) (t TableIdentifier, from Layer, err error) {
	field := "tableIdentifier"
	switch {
	case stream.TableIdentifier != nil:
		t, from = *stream.TableIdentifier, LayerStream
	case namespace.TableNaming != nil:
		field, from = "tableNaming", LayerNamespace
		if t, err = namespace.TableNaming.Apply(in.ID, in.Properties); err != nil {
			return t, from, &Error{StepIdentifier, field, from, err}
		}
	default:
		t, from = TableIdentifier{in.ID.Namespace, LogicalName(in.ID, in.Properties)}, LayerDerived
	}
	switch {
	case t.Namespace == "":
		err = &Error{StepIdentifier, field, from, fmt.Errorf("%w: its namespace is empty", ErrIdentifier)}
	case t.Name == "":
		err = &Error{StepIdentifier, field, from, fmt.Errorf("%w: its name is empty", ErrIdentifier)}
	}
	return t, from, err
}

func ptr[T any](v T) *T { return &v }
