package policy

import (
	"fmt"
	"strings"
)

// Blank says whether a text is empty or has nothing but white space, which is exactly the 25
// code points for which Java's Character.isWhitespace is true. Go's unicode.IsSpace has four
// more (U+0085, U+00A0 and their like) and lacks four (U+001C to U+001F).
func Blank(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		switch {
		case r >= 0x09 && r <= 0x0D, r >= 0x1C && r <= 0x20, r == 0x1680, r >= 0x2000 && r <= 0x2006, r >= 0x2008 && r <= 0x200A,
			r == 0x2028, r == 0x2029, r == 0x205F, r == 0x3000:
			return false
		}
		return true
	}) < 0
}

// LogicalName is the name that the source gave a stream, and else the stream's own.
func LogicalName(id StreamID, properties map[string]string) string {
	for _, key := range []string{PropertyLogicalName, PropertyKafkaTopic} {
		if v := properties[key]; !Blank(v) {
			return v
		}
	}
	return id.Name
}

// propertyVariable is what the names of variables that stand for properties begin with.
const propertyVariable = "stream.property."

// variables is what errors say there is.
const variables = "${stream.namespace}, ${stream.name}, ${stream.logicalName} and ${stream.property.KEY}"

// value is what a variable stands for.
func value(variable string, id StreamID, properties map[string]string) (string, error) {
	switch variable {
	case "stream.namespace":
		return id.Namespace, nil
	case "stream.name":
		return id.Name, nil
	case "stream.logicalName":
		return LogicalName(id, properties), nil
	}
	key, ok := strings.CutPrefix(variable, propertyVariable)
	if !ok {
		return "", fmt.Errorf("%w: there is no variable ${%s}; there are %s", ErrNaming, variable, variables)
	}
	v, ok := properties[key]
	switch {
	case !ok:
		return "", fmt.Errorf("%w: ${%s}: the stream has no property %q", ErrNaming, variable, key)
	case Blank(v):
		return "", fmt.Errorf("%w: ${%s}: the stream's property %q is blank", ErrNaming, variable, key)
	}
	return v, nil
}

// expand replaces the variables of a template, from left to right and once: what is put in is
// not looked at. A reference is "${", one or more characters that are not "}", and "}".
func expand(template string, id StreamID, properties map[string]string) (string, error) {
	var out strings.Builder
	for rest := template; ; {
		at := strings.Index(rest, "${")
		if at < 0 {
			out.WriteString(rest)
			return out.String(), nil
		}
		out.WriteString(rest[:at])
		rest = rest[at:]
		end := strings.IndexByte(rest, '}')
		switch {
		case end < 0: // nothing after it is closed either
			out.WriteString(rest)
			return out.String(), nil
		case end == len("${"):
			out.WriteString(rest[:end+1])
		default:
			v, err := value(rest[len("${"):end], id, properties)
			if err != nil {
				return "", err
			}
			out.WriteString(v)
		}
		rest = rest[end+1:]
	}
}

// Apply derives a stream's table identifier. Its namespace may be empty, which is for step 5 to
// refuse. Errors wrap ErrNaming.
func (n *TableNaming) Apply(id StreamID, properties map[string]string) (TableIdentifier, error) {
	name, err := expand(n.TableNameTemplate, id, properties)
	if err != nil {
		return TableIdentifier{}, err
	}
	if Blank(name) {
		return TableIdentifier{}, fmt.Errorf("%w: the name that it gives is blank", ErrNaming)
	}
	t := TableIdentifier{Namespace: id.Namespace, Name: name}
	if n.TableNamespacePrefix != nil {
		t.Namespace = *n.TableNamespacePrefix
	}
	return t, nil
}
