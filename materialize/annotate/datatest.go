package annotate

import (
	"strings"

	"github.com/eiderdb/eider/internal/nearest"
)

// dataTest reads one thing that must hold. A word that is no test is the path of a script,
// if nothing follows it: so a misspelt test with its column is malformed and no path.
func (p *parser) dataTest(rest string) {
	word, arg := cutWord(rest)
	arg = strings.TrimSpace(arg)
	t := DataTest{Kind: TestKind(word), Line: p.at}
	switch t.Kind {
	case TestUnique, TestNotNull:
		if !isWord(arg) {
			p.malformed("%s takes one column, and %q is none", word, arg)
			return
		}
		t.Column = arg
	case TestAcceptedValues:
		column, values, ok := strings.Cut(arg, "=")
		t.Column = strings.TrimSpace(column)
		t.Values = acceptedValues(values)
		switch {
		case !ok:
			p.malformed("%s takes a column, = and values: the = is missing", word)
			return
		case !isWord(t.Column):
			p.malformed("%s takes one column, and %q is none", word, t.Column)
			return
		case len(t.Values) == 0:
			p.malformed("%s of %s has no values", word, t.Column)
			return
		}
	case TestRelationships:
		column, ref, ok := strings.Cut(arg, "->")
		t.Column = strings.TrimSpace(column)
		if !ok {
			p.malformed("%s takes a column, -> and a column of an asset: the -> is missing", word)
			return
		}
		if !isWord(t.Column) {
			p.malformed("%s takes one column, and %q is none", word, t.Column)
			return
		}
		ref = strings.TrimSpace(ref)
		if t.Ref, t.RefColumn, ok = cutColumn(ref); !ok {
			p.malformed("%q is no column of an asset", ref)
			return
		}
	default:
		switch {
		case word == "":
			p.malformed("the test is missing")
			return
		case arg != "":
			p.malformed("there is no test %q", word)
			return
		}
		t.Kind, t.Script = TestCustom, word
		for _, kind := range testKinds {
			if !strings.Contains(word, "/") && nearest.Distance(word, string(kind)) <= 2 {
				p.say(CodeMisspelt, SeverityWarning, word+" is taken for the path of a script", "write "+string(kind)+" and its column if that test is meant")
			}
		}
	}
	for _, have := range p.h.Tests {
		if have.Name() == t.Name() && strings.Join(have.Values, "\x00") == strings.Join(t.Values, "\x00") {
			p.say(CodeDuplicate, SeverityWarning, t.Name()+" is tested twice", "remove one of the lines")
			break
		}
	}
	p.h.Tests = append(p.h.Tests, t)
}

// testKinds are the tests with a name of their own.
var testKinds = []TestKind{TestUnique, TestNotNull, TestAcceptedValues, TestRelationships}

// acceptedValues takes a list of values apart. One pair of quotes around a value goes; a
// value cannot hold a comma.
func acceptedValues(list string) []string {
	var values []string
	for _, v := range splitList(list) {
		if n := len(v); n >= 2 && (v[0] == '"' || v[0] == '\'') && v[n-1] == v[0] {
			v = v[1 : n-1]
		}
		if v != "" {
			values = append(values, v)
		}
	}
	return values
}
