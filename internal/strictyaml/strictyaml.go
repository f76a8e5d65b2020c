package strictyaml

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/eiderdb/eider/internal/nearest"
)

// ErrYAML is wrapped by every error of this package.
var ErrYAML = errors.New("cannot be read")

// Error is what is wrong with one line.
type Error struct {
	// Line is the line, from 1; 0 if it is not known.
	Line    int
	Message string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Message)
}

// Unwrap is ErrYAML.
func (e *Error) Unwrap() error { return ErrYAML }

// Decode reads one document into a pointer to a struct, whose fields have yaml tags. An empty
// document changes nothing. Anchors and aliases are refused: they let a small text become a
// large one. Errors are *Error, all of them joined.
func Decode(data []byte, into any) error {
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if strings.TrimSpace(err.Error()) == "EOF" {
			return nil
		}
		return &Error{Message: strings.TrimPrefix(err.Error(), "yaml: ")}
	}
	var more yaml.Node
	if err := dec.Decode(&more); err == nil {
		return &Error{more.Line, "there is a second document; one is read"}
	}
	var errs []error
	check(&doc, reflect.TypeOf(into), "", &errs)
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if err := doc.Decode(into); err != nil {
		return plain(err)
	}
	return nil
}

// plain is an error of the library as ours: without its prefix, a line for each.
func plain(err error) error {
	var te *yaml.TypeError
	if !errors.As(err, &te) {
		return &Error{Message: strings.TrimPrefix(err.Error(), "yaml: ")}
	}
	var errs []error
	for _, text := range te.Errors {
		var line int
		if n, _ := fmt.Sscanf(text, "line %d:", &line); n == 1 {
			_, text, _ = strings.Cut(text, ": ")
		}
		errs = append(errs, &Error{line, text})
	}
	return errors.Join(errs...)
}

// check looks for keys that a type does not have. Types that read themselves are asked nothing.
func check(n *yaml.Node, t reflect.Type, path string, errs *[]error) {
	fail := func(n *yaml.Node, format string, args ...any) {
		*errs = append(*errs, &Error{n.Line, fmt.Sprintf(format, args...)})
	}
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		fail(n, "anchors and aliases are not read; write the value again")
		return
	}
	if n.Kind == yaml.DocumentNode {
		for _, c := range n.Content {
			check(c, t, path, errs)
		}
		return
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[yaml.Unmarshaler]()) {
		t = reflect.TypeFor[any]() // only its form is looked at
	}
	if message := mistaken(n, t, strings.TrimSuffix(path, ".")); message != "" {
		fail(n, "%s", message)
		return
	}
	switch n.Kind {
	case yaml.MappingNode:
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
				fail(key, "a key is a plain text")
				continue
			}
			if seen[key.Value] {
				fail(key, "%s is there twice", path+key.Value)
			}
			seen[key.Value] = true
			check(value, fieldOf(t, path, key, fail), path+key.Value+".", errs)
		}
	case yaml.SequenceNode:
		elem := reflect.TypeFor[any]()
		if t.Kind() == reflect.Slice {
			elem = t.Elem()
		}
		for _, c := range n.Content {
			check(c, elem, path, errs)
		}
	}
}

// mistaken says what a value should be that has not the form of its type; "" where it has, or
// where that is for the type to say.
func mistaken(n *yaml.Node, t reflect.Type, path string) string {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return ""
	}
	if path == "" {
		path = "the document"
	}
	switch {
	case t.Kind() == reflect.Struct && n.Kind != yaml.MappingNode:
		var names []string
		for _, k := range Keys(t) {
			names = append(names, k.Name)
		}
		slices.Sort(names)
		return path + " has keys of its own, and is written key: value; there are " + strings.Join(names, ", ")
	case t.Kind() == reflect.Map && n.Kind != yaml.MappingNode:
		return path + " has names below it, and is written name: value"
	case t.Kind() == reflect.Slice && n.Kind != yaml.SequenceNode:
		return path + " is a list, and is written [a, b]"
	case t.Kind() == reflect.String && n.Kind != yaml.ScalarNode:
		return path + " is one text"
	}
	return ""
}

// fieldOf is the type of a key's value; of anything, where that is not known.
func fieldOf(t reflect.Type, path string, key *yaml.Node, fail func(*yaml.Node, string, ...any)) reflect.Type {
	switch t.Kind() {
	case reflect.Map:
		return t.Elem()
	case reflect.Struct:
		fields := Keys(t)
		names := make([]string, len(fields))
		for i, f := range fields {
			if names[i] = f.Name; f.Name == key.Value {
				return f.Type
			}
		}
		if near := nearest.Of(key.Value, names); near != "" {
			fail(key, "unknown key %s, did you mean %s?", path+key.Value, near)
		} else {
			slices.Sort(names)
			fail(key, "unknown key %s; there are %s", path+key.Value, strings.Join(names, ", "))
		}
	}
	return reflect.TypeFor[any]()
}

// Key is a key that a struct has.
type Key struct {
	Name string
	Type reflect.Type
}

// Keys returns the keys of a struct, in the order of its fields, inlined structs' among them.
func Keys(t reflect.Type) []Key {
	var list []Key
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case !f.IsExported() || name == "-":
		case strings.Contains(options, "inline"):
			list = append(list, Keys(f.Type)...)
		case name == "":
			list = append(list, Key{strings.ToLower(f.Name), f.Type})
		default:
			list = append(list, Key{name, f.Type})
		}
	}
	return list
}
