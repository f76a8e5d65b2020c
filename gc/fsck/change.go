package fsck

import (
	"strconv"
	"strings"

	"github.com/eiderdb/eider/lake"
)

// Op is what a Change does.
type Op uint8

const (
	// DeleteRows removes the rows that Where names.
	DeleteRows Op = iota + 1
	// UpdateRows sets columns of the rows that Where names.
	UpdateRows
	// InsertRow adds a row of Set; columns that it does not name are NULL.
	InsertRow
	// DropRelation removes a relation with all its rows.
	DropRelation
)

// Any is the number of rows of a change that may touch any number.
const Any = -1

// Change is one change to the rows of one relation.
type Change struct {
	Op       Op
	Relation string
	// Where are conditions that must all hold.
	Where []Cond
	// Set are the values of UpdateRows and InsertRow.
	Set []Field
	// Rows is how many rows it must touch, or Any. With another number the repair is not made:
	// the lake has changed since.
	Rows int64
}

// Cond is a condition on one column: it is one of the values, or NULL when there are none.
type Cond struct {
	Column string
	In     []string
}

// Field is a value of a column.
type Field struct {
	Column string
	Value  string
	// Null and Now are NULL and the time of the transaction, in place of Value.
	Null, Now bool
}

// Repair is a set of changes that belong together, made in one transaction.
type Repair struct {
	Code Code
	Text string // what it does to what
	// Changes are made in their order.
	Changes []Change
	// Head is the newest snapshot that it was planned on. A writer must not make it on another
	// one, unless Steady says that no commit can make it wrong.
	Head   int64
	Steady bool
}

func is(column string, v int64) Cond { return Cond{column, []string{strconv.FormatInt(v, 10)}} }

func text(column, v string) Cond { return Cond{column, []string{v}} }

// optional is a condition on a column that may be NULL.
func optional(column string, v int64, has bool) Cond {
	if !has {
		return Cond{Column: column}
	}
	return is(column, v)
}

func set(column string, v int64) Field {
	return Field{Column: column, Value: strconv.FormatInt(v, 10)}
}

func setOptional(column string, v int64, has bool) Field {
	if !has {
		return Field{Column: column, Null: true}
	}
	return set(column, v)
}

// SQL is the change as a statement of PostgreSQL, for the lake of a metadata schema.
func (c *Change) SQL(schema string) string {
	var b strings.Builder
	name := lake.QuoteName(schema) + "." + lake.QuoteName(c.Relation)
	switch c.Op {
	case DeleteRows:
		b.WriteString("DELETE FROM " + name)
		c.where(&b)
	case UpdateRows:
		b.WriteString("UPDATE " + name + " SET ")
		for i := range c.Set {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(lake.QuoteName(c.Set[i].Column) + " = " + c.Set[i].literal())
		}
		c.where(&b)
	case InsertRow:
		var values strings.Builder
		b.WriteString("INSERT INTO " + name + " (")
		for i := range c.Set {
			if i > 0 {
				b.WriteString(", ")
				values.WriteString(", ")
			}
			b.WriteString(lake.QuoteName(c.Set[i].Column))
			values.WriteString(c.Set[i].literal())
		}
		b.WriteString(") VALUES (" + values.String() + ")")
	case DropRelation:
		b.WriteString("DROP TABLE " + name)
	}
	return b.String()
}

func (c *Change) where(b *strings.Builder) {
	for i, w := range c.Where {
		b.WriteString([]string{" WHERE ", " AND "}[min(i, 1)])
		b.WriteString(lake.QuoteName(w.Column))
		switch len(w.In) {
		case 0:
			b.WriteString(" IS NULL")
		case 1:
			b.WriteString(" = " + lake.QuoteText(w.In[0]))
		default:
			b.WriteString(" IN (")
			for j, v := range w.In {
				if j > 0 {
					b.WriteString(", ")
				}
				b.WriteString(lake.QuoteText(v))
			}
			b.WriteString(")")
		}
	}
}

func (f *Field) literal() string {
	switch {
	case f.Null:
		return "NULL"
	case f.Now:
		return "now()"
	}
	return lake.QuoteText(f.Value)
}
