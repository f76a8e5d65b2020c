package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// enum is a closed set of texts.
type enum interface{ values() []string }

func texts[T ~string](list ...T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}

// The specification's kinds of destinations, and then Eider's own.
func (TableCatalogType) values() []string {
	return texts(Iceberg, Delta, DeltaUC, ClickHouse, None, DuckLake)
}
func (WriteMode) values() []string     { return texts(Append, Upsert, CDC) }
func (StartPosition) values() []string { return texts(Earliest, Latest, Offset, Timestamp) }
func (ErrorMode) values() []string     { return texts(Suspend, Skip, Log) }
func (Compression) values() []string   { return texts(Zstd, Snappy, Gzip, LZ4, Uncompressed) }
func (PartitionTransform) values() []string {
	return texts(Identity, Bucket, Truncate, Year, Month, Day, Hour, Expression)
}
func (SortDirection) values() []string { return texts(Asc, Desc) }
func (State) values() []string {
	return texts(Pending, Running, Degraded, Suspended, Paused)
}

// Specified says whether the specification has the type: its enum is closed, and DUCKLAKE is Eider's.
func (t TableCatalogType) Specified() bool {
	return t != DuckLake && slices.Contains(t.values(), string(t))
}

// Number is the state as metrics have it, from 0 in the order of the constants; -1 for none.
func (s State) Number() int { return slices.Index(s.values(), string(s)) }

// FieldError is what is wrong with one field. It wraps ErrInvalid.
type FieldError struct {
	// Path are the keys to the field, joined by dots, with the index of a list's element in brackets.
	Path, Message string
}

func (e *FieldError) Error() string { return e.Path + " " + e.Message }
func (e *FieldError) Unwrap() error { return ErrInvalid }

type checker struct{ errs []error }

func (c *checker) fail(path, format string, args ...any) {
	c.errs = append(c.errs, &FieldError{path, fmt.Sprintf(format, args...)})
}

func (c *checker) notEmpty(path, s string) {
	if s == "" {
		c.fail(path, "is empty or missing")
	}
}

// oneOf refuses a value that its enum does not have.
func oneOf[T interface {
	~string
	enum
}](c *checker, path string, v T) {
	if list := v.values(); !slices.Contains(list, string(v)) {
		if v == "" {
			c.fail(path, "is empty or missing; there are %s", strings.Join(list, ", "))
			return
		}
		c.fail(path, "is %q; there are %s", string(v), strings.Join(list, ", "))
	}
}

func oneOfOrAbsent[T interface {
	~string
	enum
}](c *checker, path string, v *T) {
	if v != nil {
		oneOf(c, path, *v)
	}
}

// Validate refuses what could not be made: empty texts where a text is required, and values that
// enums do not have. Blank texts are allowed, numbers have no bounds, and whether transforms
// have their parameters is for a materializer. Errors are *FieldError, joined.
func (p *Policy) Validate() error {
	c := &checker{}
	if n := p.TableNaming; n != nil {
		c.notEmpty("tableNaming.tableNameTemplate", n.TableNameTemplate)
	}
	if t := p.TableIdentifier; t != nil {
		c.notEmpty("tableIdentifier.namespace", t.Namespace)
		c.notEmpty("tableIdentifier.name", t.Name)
	}
	if f := p.Framework; f != nil {
		oneOfOrAbsent(c, "framework.writeMode", f.WriteMode)
		oneOfOrAbsent(c, "framework.startPosition", f.StartPosition)
		if f.ErrorHandling != nil {
			oneOf(c, "framework.errorHandling.mode", f.ErrorHandling.Mode)
		}
	}
	if t := p.Table; t != nil {
		for i, f := range t.PartitionBy {
			c.notEmpty(fmt.Sprintf("table.partitionBy[%d].column", i), f.Column)
			oneOf(c, fmt.Sprintf("table.partitionBy[%d].transform", i), f.Transform)
		}
		for i, f := range t.SortBy {
			c.notEmpty(fmt.Sprintf("table.sortBy[%d].column", i), f.Column)
			oneOf(c, fmt.Sprintf("table.sortBy[%d].direction", i), f.Direction)
		}
		oneOfOrAbsent(c, "table.compression", t.Compression)
	}
	return errors.Join(c.errs...)
}

// Validate refuses a table catalog without a name or with a type that there is not. strict
// refuses the type that the specification does not have.
func (t *TableCatalog) Validate(strict bool) error {
	c := &checker{}
	c.notEmpty("name", t.Name)
	oneOf(c, "type", t.Type)
	if strict && t.Type == DuckLake {
		c.fail("type", "is %s, which the specification does not have", t.Type)
	}
	return errors.Join(c.errs...)
}

// ByStreamPartition is the partition field of the stream's partition.
func ByStreamPartition() PartitionField {
	return PartitionField{Column: StreamPartition, Transform: Identity}
}

// Presets are values to put into a policy. No resolution puts them there.

// EvolutionForIceberg permits new columns and wider types.
func EvolutionForIceberg() Evolution { return evolution(true) }

// EvolutionForDelta is that for Iceberg.
func EvolutionForDelta() Evolution { return evolution(true) }

// EvolutionForClickHouse permits new columns.
func EvolutionForClickHouse() Evolution { return evolution(false) }

func evolution(widen bool) Evolution {
	yes, no := func() *bool { return ptr(true) }, func() *bool { return ptr(false) }
	return Evolution{
		AddColumn: yes(), AddNullableColumn: yes(), DropColumn: no(), WidenType: ptr(widen), NarrowType: no(), RenameColumn: no(),
		ReorderColumns: no(), NullabilityRelax: no(), NullabilityTighten: no(),
	}
}
