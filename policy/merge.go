package policy

import (
	"reflect"
	"strings"
)

// rule says how a field of the effective policy is made of the layers'.
type rule int

const (
	streamWins    rule = iota // the stream's if it is present, whole, and else the namespace's
	fieldByField              // a struct whose fields are made by their own rules
	streamOnly                // the namespace's is never read
	namespaceOnly             // the stream's is never read
	derived                   // set by step 5
)

// rules are those of fields that are not streamWins, by their path.
var rules = map[string]rule{
	"tableNaming":         namespaceOnly,
	"tableIdentifier":     derived,
	"framework":           fieldByField,
	"framework.commit":    fieldByField,
	"evolution":           fieldByField,
	"table":               fieldByField,
	"table.retention":     fieldByField,
	"connectionOverrides": streamOnly,
}

// Origin says where a field of the effective policy has its value from.
type Origin struct {
	// Path are the keys to the field, joined by dots.
	Path  string
	Layer Layer
	// Value is the field's; nil where it is absent.
	Value any
}

// merge makes the effective policy, which shares nothing with the layers, and says where each of
// its fields is from. tableIdentifier is left absent.
func merge(namespace, stream *Policy) (effective Policy, origins []Origin) {
	m := merger{told: func(o Origin) { origins = append(origins, o) }}
	m.fields(reflect.ValueOf(&effective).Elem(), reflect.ValueOf(namespace).Elem(), reflect.ValueOf(stream).Elem(), "")
	return effective, origins
}

type merger struct{ told func(Origin) }

// fields merges structs of one type. An invalid value stands for one that is absent.
func (m *merger) fields(to, namespace, stream reflect.Value, prefix string) {
	for i := range to.NumField() {
		path := prefix + key(to.Type().Field(i))
		n, s := field(namespace, i), field(stream, i)
		switch rules[path] {
		case fieldByField:
			m.structs(to.Field(i), n, s, path)
			continue
		case streamOnly:
			n = reflect.Value{}
		case namespaceOnly:
			s = reflect.Value{}
		case derived:
			n, s = reflect.Value{}, reflect.Value{}
		}
		o := Origin{path, LayerAbsent, nil}
		switch {
		case present(s):
			o.Layer = LayerStream
			to.Field(i).Set(clone(s))
		case present(n):
			o.Layer = LayerNamespace
			to.Field(i).Set(clone(n))
		}
		if o.Layer != LayerAbsent {
			o.Value = reflect.Indirect(to.Field(i)).Interface()
		}
		m.told(o)
	}
}

// structs merges what two pointers point to; the result is there if one of them is.
func (m *merger) structs(to, namespace, stream reflect.Value, path string) {
	merged := reflect.New(to.Type().Elem())
	m.fields(merged.Elem(), pointee(namespace), pointee(stream), path+".")
	if present(namespace) || present(stream) {
		to.Set(merged)
	}
}

func field(v reflect.Value, i int) reflect.Value {
	if !v.IsValid() {
		return v
	}
	return v.Field(i)
}

func pointee(v reflect.Value) reflect.Value {
	if !present(v) {
		return reflect.Value{}
	}
	return v.Elem()
}

// present: fields are pointers, lists and maps, and absent ones nil. An empty map is absent too,
// since no map can be.
func present(v reflect.Value) bool {
	return v.IsValid() && !v.IsNil() && (v.Kind() != reflect.Map || v.Len() > 0)
}

// key is the name of a field in the written form.
func key(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// clone copies a value with everything that it points to.
func clone(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(clone(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(clone(v.Index(i)))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMap(v.Type()))
			for _, k := range v.MapKeys() {
				out.SetMapIndex(k, clone(v.MapIndex(k)))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(clone(v.Field(i)))
		}
	default:
		out.Set(v)
	}
	return out
}
