package ast

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Dump writes a tree as one line of text for tests and for people: node types with the
// fields that are set. Positions and literal slots are left out, so that two texts with
// the same meaning dump alike.
func Dump(n any) string {
	var b strings.Builder
	dump(&b, reflect.ValueOf(n))
	return b.String()
}

func dump(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Invalid:
		b.WriteString("nil")
	case reflect.Interface:
		dump(b, v.Elem())
	case reflect.Pointer:
		if v.IsNil() {
			b.WriteString("nil")
			return
		}
		dump(b, v.Elem())
	case reflect.Slice:
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(' ')
			}
			dump(b, v.Index(i))
		}
		b.WriteByte(']')
	case reflect.Struct:
		dumpStruct(b, v)
	case reflect.String:
		b.WriteString(strconv.Quote(v.String()))
	default:
		fmt.Fprint(b, v.Interface())
	}
}

func dumpStruct(b *strings.Builder, v reflect.Value) {
	switch n := v.Interface().(type) {
	case Literal:
		b.WriteString(dumpLiteral(&n))
		return
	case Name:
		b.WriteString(strconv.Quote(dotted(n.Catalog, n.Schema, n.Name)))
		return
	case ColumnRef:
		b.WriteString("Col(" + strings.Join(n.Parts, ".") + ")")
		return
	}
	t := v.Type()
	b.WriteString(t.Name())
	b.WriteByte('(')
	sep := ""
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case !f.IsExported(), f.Name == "Pos", f.Name == "OpPos", f.Name == "ColumnPos", f.Name == "Start" && t.Name() == "Parsed",
			f.Name == "End" && t.Name() == "Parsed", f.Name == "Fixed", v.Field(i).IsZero(), f.Anonymous:
			continue
		}
		b.WriteString(sep + f.Name + ":")
		sep = " "
		dump(b, v.Field(i))
	}
	b.WriteByte(')')
}

func dotted(parts ...string) string {
	var set []string
	for _, p := range parts {
		if p != "" {
			set = append(set, p)
		}
	}
	return strings.Join(set, ".")
}

func dumpLiteral(n *Literal) string {
	switch n.Kind {
	case LitNull:
		return "NULL"
	case LitTrue:
		return "TRUE"
	case LitFalse:
		return "FALSE"
	case LitString:
		return "'" + strings.ReplaceAll(n.Text, "'", "''") + "'"
	case LitBit:
		return "bit:" + n.Text
	}
	return n.Text
}
