package config

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/eiderdb/eider/internal/bytesize"
)

// Field is one setting of an Options.
type Field struct {
	Name    string   // flag and file key
	Env     string   // environment variable
	Type    string   // what a value looks like, for people
	Default string   // as text
	Help    string   // one or more sentences
	Choices []string // the values allowed; nil for any

	value reflect.Value
}

// Fields returns the settings with their defaults, in the order of the reference.
func Fields() []Field { return fields(&Options{}) }

// fields are the settings of o, ready to be set.
func fields(o *Options) []Field {
	v := reflect.ValueOf(o).Elem()
	t := v.Type()
	out := make([]Field, 0, t.NumField())
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		f := Field{
			Name:    tag.Get("name"),
			Default: tag.Get("default"),
			Help:    tag.Get("help"),
			value:   v.Field(i),
		}
		f.Env = "EIDER_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if c := tag.Get("choices"); c != "" {
			f.Choices = strings.Fields(c)
		}
		switch f.value.Interface().(type) {
		case bool:
			f.Type = "true or false"
			if f.Default == "" {
				f.Default = "false"
			}
		case int:
			f.Type = "number"
		case time.Duration:
			f.Type = "duration (500ms, 30s, 5m)"
		case Bytes:
			f.Type = "size (64MiB, 1GiB)"
		case []string:
			f.Type = "list, separated by commas"
		default:
			f.Type = "text"
			if f.Choices != nil {
				f.Type = strings.Join(f.Choices, " or ")
			}
		}
		out = append(out, f)
	}
	return out
}

// Set gives the setting a value from text.
func (f *Field) Set(text string) error {
	var err error
	switch p := f.value.Addr().Interface().(type) {
	case *string:
		*p = text
	case *bool:
		*p, err = parseBool(text)
	case *int:
		*p, err = strconv.Atoi(text)
		if err == nil && *p < 0 {
			err = errors.New("must not be negative")
		}
	case *time.Duration:
		*p, err = time.ParseDuration(text)
		if err == nil && *p < 0 {
			err = errors.New("must not be negative")
		}
	case *Bytes:
		*p, err = ParseBytes(text)
	case *[]string:
		*p = nil
		for s := range strings.SplitSeq(text, ",") {
			if s = strings.TrimSpace(s); s != "" {
				*p = append(*p, s)
			}
		}
	}
	var num *strconv.NumError
	if errors.As(err, &num) {
		err = num.Err
	}
	if err != nil {
		return fmt.Errorf("%q is no %s: %w", text, f.Type, err)
	}
	if f.Choices != nil {
		for _, c := range f.Choices {
			if c == text {
				return nil
			}
		}
		return fmt.Errorf("%q is none of %s", text, strings.Join(f.Choices, ", "))
	}
	return nil
}

// Text is the setting's value as Set reads it.
func (f *Field) Text() string {
	switch v := f.value.Interface().(type) {
	case []string:
		return strings.Join(v, ",")
	case time.Duration:
		return shortDuration(v)
	default:
		return fmt.Sprint(v)
	}
}

// shortDuration is a duration without zero parts at its end: 1m, not 1m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func parseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true", "on", "yes", "1":
		return true, nil
	case "false", "off", "no", "0":
		return false, nil
	}
	return false, errors.New("say true or false")
}

// Bytes is a number of bytes, written with a unit.
type Bytes int64

// ParseBytes reads a number with an optional unit: 64MiB, 1GB, 4096.
func ParseBytes(s string) (Bytes, error) {
	n, err := bytesize.Parse(s)
	return Bytes(n), err
}

// String writes the largest binary unit that divides the number.
func (b Bytes) String() string { return bytesize.Exact(int64(b)) }
