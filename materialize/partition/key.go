package partition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// parsePath takes the path of a key apart: names between dots, behind an optional "$" or
// "$.".
func parsePath(key string) ([]string, error) {
	if key == "" {
		return nil, fmt.Errorf("%w: a dynamic partition needs one: partitioned dynamic key=$.tenant_id", ErrKey)
	}
	rest := strings.TrimPrefix(key, "$")
	if rest != key {
		rest = strings.TrimPrefix(rest, ".")
	}
	if strings.ContainsAny(rest, "[]*") {
		return nil, fmt.Errorf("%w %q: a path is names with dots between them, such as $.tenant.id, without brackets and stars", ErrKey, key)
	}
	path := strings.Split(rest, ".")
	for _, name := range path {
		if strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("%w %q: a name between two dots is empty; a path looks like $.tenant.id", ErrKey, key)
		}
	}
	return path, nil
}

// ResolveKey is the value of a dynamic partition for a payload, which is JSON: the text,
// number or boolean that the key leads to. Numbers that are equal have one value: whole
// ones keep all their digits, others are written as JavaScript does.
func (s Spec) ResolveKey(payload []byte) (string, error) {
	if s.Kind != Dynamic {
		return "", ErrNotDynamic
	}
	if len(bytes.TrimSpace(payload)) == 0 {
		return "", fmt.Errorf("%w: there is no payload for the key %s", ErrPayload, s.Key)
	}
	dec := json.NewDecoder(bytes.NewReader(payload))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return "", fmt.Errorf("%w: the payload is no JSON: %w", ErrPayload, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("%w: the payload is more than one JSON value", ErrPayload)
	}
	for i, name := range s.path {
		object, ok := v.(map[string]any)
		if !ok {
			return "", fmt.Errorf("%w: key %s: %s is %s and has no %q", ErrPayload, s.Key, pathText(s.path[:i]), jsonType(v), name)
		}
		if v, ok = object[name]; !ok {
			return "", fmt.Errorf("%w: key %s: %s has no %q", ErrPayload, s.Key, pathText(s.path[:i]), name)
		}
	}
	value, err := scalar(v)
	if err == nil {
		err = checkText(value)
	}
	if err != nil {
		return "", fmt.Errorf("%w: key %s: %w", ErrPayload, s.Key, err)
	}
	return value, nil
}

func pathText(path []string) string {
	if len(path) == 0 {
		return "the payload"
	}
	return "$." + strings.Join(path, ".")
}

// scalar is the text of a JSON value that is neither null nor holds others.
func scalar(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case json.Number:
		return numberText(v.String())
	}
	return "", fmt.Errorf("it is %s; it must be a text, a number or a boolean", jsonType(v))
}

// numberText is the one way in which a number is written.
func numberText(n string) (string, error) {
	if !strings.ContainsAny(n, ".eE") {
		if n == "-0" {
			n = "0"
		}
		return n, nil
	}
	f, err := strconv.ParseFloat(n, 64)
	if err != nil {
		return "", fmt.Errorf("the number %s is too large", n)
	}
	if f == 0 {
		return "0", nil // not -0
	}
	if abs := math.Abs(f); abs < 1e-6 || abs >= 1e21 {
		return strconv.FormatFloat(f, 'e', -1, 64), nil
	}
	return strconv.FormatFloat(f, 'f', -1, 64), nil
}

func jsonType(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "a text"
	case bool:
		return "a boolean"
	}
	return "a number"
}
