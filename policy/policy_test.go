package policy

import (
	"errors"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// reference is a variable reference as the specification writes it down.
var reference = regexp.MustCompile(`\$\{[^}]+\}`)

// byPattern expands a template in another way.
func byPattern(template string, id StreamID, properties map[string]string) (out string, ok bool) {
	ok = true
	out = reference.ReplaceAllStringFunc(template, func(ref string) string {
		v, err := value(ref[2:len(ref)-1], id, properties)
		ok = ok && err == nil
		return v
	})
	return out, ok
}

func sameAsPattern(t interface{ Fatalf(string, ...any) }, template string, id StreamID, properties map[string]string) {
	want, ok := byPattern(template, id, properties)
	got, err := expand(template, id, properties)
	if ok != (err == nil) || ok && got != want {
		t.Fatalf("%q with %v %v: %q, %v; want %q, %v", template, id, properties, got, err, want, ok)
	}
	if err != nil && !errors.Is(err, ErrNaming) {
		t.Fatalf("%q: %v", template, err)
	}
}

// TestTemplates: one scan from left to right, everything else copied, values put in as they are.
func TestTemplates(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{
		"$", "{", "}", "${", "a", ".", "stream.name", "stream.property.", "x", "${stream.name}", "${stream.namespace}", "${stream.logicalName}", "${stream.property.x}", "\n", "é", "\xff",
	})
	rapid.Check(t, func(rt *rapid.T) {
		text := func(label string) string {
			return strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(rt, label), "")
		}
		sameAsPattern(rt, text("template"), StreamID{text("namespace"), text("name")}, map[string]string{"x": text("x"), "": "v", PropertyLogicalName: text("logical")})
	})
}

func FuzzTemplate(f *testing.F) {
	f.Add("${stream.namespace}_${stream.property.x}", "public/default", "orders", "v")
	f.Add("${${stream.name}}${}", "", "${stream.name}", " ")
	f.Fuzz(func(t *testing.T, template, namespace, name, x string) {
		sameAsPattern(t, template, StreamID{namespace, name}, map[string]string{"x": x, PropertyKafkaTopic: x})
	})
}

// TestBlank goes through all code points.
func TestBlank(t *testing.T) {
	t.Parallel()
	n := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xD800 && r <= 0xDFFF {
			continue // no code points of a text
		}
		want := r >= 0x09 && r <= 0x0D || r >= 0x1C && r <= 0x1F || unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp) && r != 0xA0 && r != 0x2007 && r != 0x202F
		if want {
			n++
		}
		if got := Blank(" " + string(r)); got != want {
			t.Errorf("%U: %v", r, got)
		}
	}
	if n != 25 {
		t.Errorf("%d code points are white space", n)
	}
	if !Blank("") || Blank("\xff") {
		t.Error("nothing is blank, and a byte that is no text is not")
	}
}

// policies are random policies, each field of which may be absent.
func policies(rt *rapid.T, label string) *Policy {
	if rapid.IntRange(0, 9).Draw(rt, label+" missing") == 0 {
		return nil
	}
	var p Policy
	fill(rt, reflect.ValueOf(&p).Elem())
	return &p
}

func fill(rt *rapid.T, v reflect.Value) {
	absent := func() bool { return rapid.IntRange(0, 2).Draw(rt, "absent") == 0 }
	switch v.Kind() {
	case reflect.Pointer:
		if !absent() {
			v.Set(reflect.New(v.Type().Elem()))
			fill(rt, v.Elem())
		}
	case reflect.Slice:
		if !absent() {
			n := rapid.IntRange(0, 2).Draw(rt, "length")
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(rt, v.Index(i))
			}
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range rapid.IntRange(0, 2).Draw(rt, "length") {
			k := reflect.New(v.Type().Key()).Elem()
			fill(rt, k)
			v.SetMapIndex(k, k)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(rt, v.Field(i))
		}
	case reflect.String:
		v.SetString(rapid.SampledFrom([]string{"ice", "ghost", "a", "b", ""}).Draw(rt, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(rt, "bool"))
	default:
		v.SetInt(rapid.Int64Range(0, 9).Draw(rt, "number"))
	}
}

// TestLaws: whatever the policies are, a resolution leaves them as they are and shares nothing with them; a layer over itself and over
// nothing is itself but for what layers do not hand on; each field is where its origin says; steps end in their order.
func TestLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n, p := policies(rt, "namespace"), policies(rt, "stream")
		in := Input{n, p, StreamID{"ns", "s"}, nil, catalogs()}
		before := encode(t, n) + encode(t, p)
		r, err := Resolve(t.Context(), in)
		if after := encode(t, n) + encode(t, p); after != before {
			rt.Fatalf("%s became %s", before, after)
		}
		empty := &Policy{}
		if n == nil {
			n = empty
		}
		if p == nil {
			p = empty
		}
		ref := p.CatalogRef
		if ref == nil {
			ref = n.CatalogRef
		}
		var want Step
		switch {
		case p.Enabled != nil && !*p.Enabled:
			want = StepDisabled
		case ref == nil:
			want = StepReference
		case *ref != "ice":
			want = StepLookup
		case err != nil:
			want = StepIdentifier
		default:
			want = StepResult
		}
		var failed *Error
		switch {
		case errors.As(err, &failed):
			if failed.Step != want {
				rt.Fatalf("%v, and not at %v", err, want)
			}
			return
		case err != nil || r.Step != want || (r.Resolved != nil) != (want == StepResult) || (r.Reason == "") != (want == StepResult):
			rt.Fatalf("%+v, %v, and not at %v", r, err, want)
		case r.Resolved == nil:
			return
		}
		e := r.Resolved.Effective
		if e.CatalogRef == nil || *e.CatalogRef != *ref || e.TableIdentifier == nil || *e.TableIdentifier != r.Resolved.TableIdentifier {
			rt.Fatalf("without what is always there: %s", encode(t, &e))
		}
		for _, o := range r.Origins {
			from := map[Layer]*Policy{LayerStream: p, LayerNamespace: n, LayerAbsent: empty, LayerDerived: &e}[o.Layer]
			if o.Path == "tableIdentifier" && o.Layer == LayerNamespace {
				from = &e // of its naming
			}
			if got, want := at(&e, o.Path), at(from, o.Path); !reflect.DeepEqual(got, want) {
				rt.Fatalf("%s is %v and %v in the layer %s", o.Path, got, want, o.Layer)
			}
		}
		if again, _ := merge(&e, &e); encode(t, withIdentifier(&again, e.TableIdentifier)) != encode(t, &e) {
			rt.Fatalf("over itself: %s, and not %s", encode(t, &again), encode(t, &e))
		}
		// What comes of it later does not come of the policies: they are changed, and it is not.
		was := encode(t, &e)
		scribble(reflect.ValueOf(n))
		scribble(reflect.ValueOf(p))
		if now := encode(t, &e); now != was {
			rt.Fatalf("%s became %s", was, now)
		}
	})
}

func withIdentifier(p *Policy, t *TableIdentifier) *Policy {
	p.TableIdentifier = t
	return p
}

// at is the value at a path, nil where something on the way is absent.
func at(p *Policy, path string) any {
	v := reflect.ValueOf(p)
	for name := range strings.SplitSeq(path, ".") {
		if v = reflect.Indirect(v); !v.IsValid() {
			return nil
		}
		for i := range v.NumField() {
			if key(v.Type().Field(i)) == name {
				v = v.Field(i)
				break
			}
		}
	}
	if !present(v) {
		return nil
	}
	return reflect.Indirect(v).Interface()
}

// scribble changes everything that a value points to.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scribble(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			scribble(v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			v.SetMapIndex(k, reflect.ValueOf("scribbled"))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			scribble(v.Field(i))
		}
	case reflect.String:
		v.SetString("scribbled")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	default:
		v.SetInt(v.Int() + 1)
	}
}

// TestRules: every rule is of a field that there is, and every struct that could be absent has one, but for what is never mixed.
func TestRules(t *testing.T) {
	t.Parallel()
	whole := map[string]bool{"framework.errorHandling": true}
	seen := map[string]bool{}
	var walk func(reflect.Type, string)
	walk = func(s reflect.Type, prefix string) {
		for i := range s.NumField() {
			path := prefix + key(s.Field(i))
			_, ruled := rules[path]
			seen[path] = true
			if f := s.Field(i).Type; f.Kind() == reflect.Pointer && f.Elem().Kind() == reflect.Struct {
				if ruled == whole[path] {
					t.Errorf("%s: a rule: %v", path, ruled)
				}
				walk(f.Elem(), path+".")
			}
		}
	}
	walk(reflect.TypeFor[Policy](), "")
	for path := range rules {
		if !seen[path] {
			t.Errorf("a rule of %s", path)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		p    Policy
		want []string
	}{
		"empty":          {Policy{}, nil},
		"blank is right": {Policy{TableNaming: &TableNaming{TableNamespacePrefix: ptr(""), TableNameTemplate: " "}, TableIdentifier: &TableIdentifier{" ", " "}}, nil},
		"numbers":        {Policy{Table: &TableConf{TargetFileSizeBytes: ptr(int64(-1))}}, nil},
		"no parameter":   {Policy{Table: &TableConf{PartitionBy: []PartitionField{{Column: "a", Transform: Bucket}, ByStreamPartition()}}}, nil},
		"template":       {Policy{TableNaming: &TableNaming{}}, []string{"tableNaming.tableNameTemplate is empty"}},
		"identifier":     {Policy{TableIdentifier: &TableIdentifier{}}, []string{"tableIdentifier.namespace is empty", "tableIdentifier.name is empty"}},
		"partition": {
			Policy{Table: &TableConf{PartitionBy: []PartitionField{{Column: "a", Transform: Day}, {Transform: "WEEK"}}}},
			[]string{"table.partitionBy[1].column is empty", `table.partitionBy[1].transform is "WEEK"; there are IDENTITY, BUCKET`},
		},
		"sort":  {Policy{Table: &TableConf{SortBy: []SortField{{}}}}, []string{"table.sortBy[0].column is empty", "table.sortBy[0].direction is empty or missing; there are ASC, DESC"}},
		"enums": {Policy{Framework: &Framework{WriteMode: ptr(WriteMode("append")), StartPosition: ptr(StartPosition("")), ErrorHandling: &ErrorHandling{}}, Table: &TableConf{Compression: ptr(Compression("BROTLI"))}}, []string{`framework.writeMode is "append"`, "framework.startPosition is empty", "framework.errorHandling.mode is empty", `table.compression is "BROTLI"`}},
	} {
		err := test.p.Validate()
		if len(test.want) == 0 {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		lines := []string{}
		if err != nil {
			lines = strings.Split(err.Error(), "\n")
		}
		if len(lines) != len(test.want) || !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, want := range test.want {
			if !strings.HasPrefix(lines[i], want) {
				t.Errorf("%s: %s, want %s", name, lines[i], want)
			}
		}
	}
	for _, test := range []struct {
		c      TableCatalog
		strict bool
		want   bool
	}{
		{TableCatalog{Name: "a", Type: DuckLake}, false, true},
		{TableCatalog{Name: "a", Type: DuckLake}, true, false},
		{TableCatalog{Name: "a", Type: None}, true, true},
		{TableCatalog{Type: None}, false, false},
		{TableCatalog{Name: "a", Type: "HIVE"}, false, false},
		{TableCatalog{Name: "a"}, false, false},
	} {
		if err := test.c.Validate(test.strict); (err == nil) != test.want {
			t.Errorf("%+v, strict %v: %v", test.c, test.strict, err)
		}
	}
}

// TestEnums counts the values and has the presets.
func TestEnums(t *testing.T) {
	t.Parallel()
	specified := 0
	for _, v := range TableCatalogType("").values() {
		if TableCatalogType(v).Specified() {
			specified++
		}
	}
	got := []int{
		specified, len(WriteMode("").values()), len(StartPosition("").values()), len(ErrorMode("").values()), len(Compression("").values()),
		len(PartitionTransform("").values()), len(SortDirection("").values()), len(State("").values()),
	}
	if diff := cmp.Diff([]int{5, 3, 4, 3, 5, 8, 2, 5}, got); diff != "" {
		t.Error(diff)
	}
	for i, s := range []State{Pending, Running, Degraded, Suspended, Paused} {
		if s.Number() != i {
			t.Errorf("%s has the number %d", s, s.Number())
		}
	}
	for name, test := range map[string]struct {
		e    Evolution
		want string
	}{
		"Iceberg":    {EvolutionForIceberg(), "110100000"},
		"Delta":      {EvolutionForDelta(), "110100000"},
		"ClickHouse": {EvolutionForClickHouse(), "110000000"},
	} {
		flags := ""
		for i := range reflect.TypeFor[Evolution]().NumField() {
			flags += map[bool]string{true: "1", false: "0"}[*reflect.ValueOf(test.e).Field(i).Interface().(*bool)]
		}
		if flags != test.want {
			t.Errorf("%s: %s", name, flags)
		}
	}
}
