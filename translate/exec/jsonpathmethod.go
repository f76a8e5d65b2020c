package exec

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/eiderdb/eider/translate/jsonpath"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

var pathTypes = map[byte]string{'{': "object", '[': "array", '"': "string", '0': "number", 't': "boolean", 'n': "null"}

// method runs .name() on an item.
func (r *pathRun) method(n *jsonpath.Node, v *pathValue, unwrap bool, out emit) error {
	switch n.Text {
	case "type":
		name := pathTypes[v.kind]
		if v.kind == kindWhen {
			name = types.TypeName(v.when.OID)
		}
		return r.next(n, pathString(name), out)
	case "size":
		size := 1
		if v.kind == '[' {
			size = len(v.kids)
		} else if !r.lax {
			if r.lenient {
				return nil
			}
			return pathErr(codeNoArray, "jsonpath item method .%s() can only be applied to an array", n.Text)
		}
		return r.next(n, pathNumber(types.NumericFromInt64(int64(size))), out)
	}
	if unwrap && v.kind == '[' {
		return r.unwrapped(n, v, out)
	}
	switch n.Text {
	case "keyvalue":
		return r.keyValue(n, v, out)
	case "datetime":
		w, err := r.datetime(n, v)
		if err != nil {
			return err
		}
		return r.next(n, w, out)
	case "double":
		d, err := r.double(n, v)
		if err != nil {
			return err
		}
		return r.next(n, d, out)
	}
	if v.kind != '0' {
		return pathErr(codeNonNumeric, "jsonpath item method .%s() can only be applied to a numeric value", n.Text)
	}
	d, err := r.number(v)
	if err != nil {
		return err
	}
	switch n.Text {
	case "abs":
		d, err = types.NumericAbs(d)
	case "floor":
		d, err = types.NumericFloor(d)
	default:
		d, err = types.NumericCeil(d)
	}
	if err != nil {
		return err
	}
	return r.next(n, pathNumber(d), out)
}

func (r *pathRun) double(n *jsonpath.Node, v *pathValue) (*pathValue, error) {
	var text string
	switch v.kind {
	case '0':
		text = string(v.raw)
	case '"':
		text = unquoteJSON(v.raw)
	default:
		return nil, pathErr(codeNonNumeric, "jsonpath item method .%s() can only be applied to a string or numeric value", n.Text)
	}
	d, err := types.Input(nil, types.T{OID: types.Float8OID, Mod: -1}, []byte(text))
	if err != nil {
		if v.kind == '0' {
			return nil, pathErr(codeNonNumeric, "numeric argument of jsonpath item method .%s() is out of range for type double precision", n.Text)
		}
		return nil, pathErr(codeNonNumeric, "string argument of jsonpath item method .%s() is not a valid representation of a double precision number", n.Text)
	}
	f := Float(d)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, pathErr(codeNonNumeric, "string argument of jsonpath item method .%s() is not a valid representation of a double precision number", n.Text)
	}
	if v.kind == '0' {
		return v, nil
	}
	num, err := types.NumericFromFloat(f, 64)
	return pathNumber(num), err
}

// keyValue makes an object of each member. Its id tells objects apart; PostgreSQL's is a place
// in memory, here it is 0 for the whole document and counts the others.
func (r *pathRun) keyValue(n *jsonpath.Node, v *pathValue, out emit) error {
	if v.kind != '{' {
		return pathErr(codeNoObject, "jsonpath item method .%s() can only be applied to an object", n.Text)
	}
	id := 0
	if string(v.raw) != string(r.root.raw) {
		r.objects++
		id = r.objects
	}
	for i := range v.kids {
		obj := jnode{kind: '{', keys: []string{"id", "key", "value"}, kids: []jnode{
			{kind: '0', raw: []byte(strconv.Itoa(id))}, pathString(v.keys[i]).jnode, v.kids[i],
		}}
		d, err := r.c.jsonb(obj.render(nil))
		if err != nil {
			return err
		}
		if err := r.next(n, &pathValue{jnode: parseJSON(d.B)}, out); err != nil {
			return err
		}
	}
	return nil
}

// whenShapes are the forms that datetime() knows without a template.
var whenShapes = []struct {
	re  *regexp.Regexp
	oid types.OID
}{
	{regexp.MustCompile(`^\d{4}-\d{1,2}-\d{1,2}$`), types.DateOID},
	{regexp.MustCompile(`^\d{1,2}:\d{2}:\d{2}[+-]\d{1,2}(:\d{2})?$`), types.TimetzOID},
	{regexp.MustCompile(`^\d{1,2}:\d{2}:\d{2}$`), types.TimeOID},
	{regexp.MustCompile(`^\d{4}-\d{1,2}-\d{1,2}[ T]\d{1,2}:\d{2}:\d{2}( ?\+|-)\d{1,2}(:\d{2})?$`), types.TimestamptzOID},
	{regexp.MustCompile(`^\d{4}-\d{1,2}-\d{1,2}[ T]\d{1,2}:\d{2}:\d{2}$`), types.TimestampOID},
}

func (r *pathRun) datetime(n *jsonpath.Node, v *pathValue) (*pathValue, error) {
	if v.kind != '"' {
		return nil, pathErr(codeDatetime, "jsonpath item method .%s() can only be applied to a string", n.Text)
	}
	if n.Left != nil {
		return nil, pgerr.New(pgerr.FeatureNotSupported, "templates of jsonpath item method .datetime() are not supported")
	}
	s := unquoteJSON(v.raw)
	for _, shape := range whenShapes {
		if !shape.re.MatchString(s) {
			continue
		}
		t := types.T{OID: shape.oid, Mod: -1}
		d, err := types.Input(r.c.Env, t, []byte(s))
		if err != nil {
			return nil, pathFailure{pgerr.As(err)}
		}
		text, err := r.whenText(shape.oid, d, s)
		if err != nil {
			return nil, err
		}
		return &pathValue{jnode: jnode{kind: kindWhen, raw: text}, num: d, when: t}, nil
	}
	return nil, pathFailure{pgerr.New(codeDatetime, "datetime format is not recognized: \"%s\"", s).
		WithHint("Use a datetime template argument to specify the input data format.")}
}

// whenText is a date or time as JSON. A timestamp keeps the zone it was written with.
func (r *pathRun) whenText(oid types.OID, d types.Datum, written string) ([]byte, error) {
	if oid != types.TimestamptzOID {
		return r.c.appendJSON(nil, oid, d)
	}
	at := strings.LastIndexAny(written, "+-")
	hours, minutes, _ := strings.Cut(written[at+1:], ":")
	h, _ := strconv.Atoi(hours)
	m, _ := strconv.Atoi(minutes)
	offset := int64(h*3600+m*60) * 1e6
	if written[at] == '-' {
		offset = -offset
	}
	d.I += offset
	text, err := r.c.appendJSON(nil, types.TimestampOID, d)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(text[:len(text)-1], "%c%02d:%02d\"", written[at], h, m), nil
}

// compareTimes compares dates and times; those with and without a zone only where the caller
// allowed for the session's zone.
func (r *pathRun) compareTimes(a, b *pathValue) (order int, ok bool, err error) {
	clock := func(o types.OID) bool { return o == types.TimeOID || o == types.TimetzOID }
	zoned := func(o types.OID) bool { return o == types.TimetzOID || o == types.TimestamptzOID }
	x, y := a.when.OID, b.when.OID
	if clock(x) != clock(y) {
		return 0, false, nil
	}
	if zoned(x) != zoned(y) && !r.tz {
		from, to := x, y
		if zoned(from) {
			from, to = to, from
		}
		return 0, false, pgerr.New(pgerr.FeatureNotSupported, "cannot convert value from %s to %s without time zone usage", shortTime(from), shortTime(to)).
			WithHint("Use *_tz() function for time zone support.")
	}
	to := types.TimestampOID
	switch {
	case clock(x) && (zoned(x) || zoned(y)):
		to = types.TimetzOID
	case clock(x):
		to = types.TimeOID
	case zoned(x) || zoned(y):
		to = types.TimestamptzOID
	}
	conv := func(v *pathValue) (types.Datum, error) {
		if v.when.OID == to {
			return v.num, nil
		}
		return types.Cast(r.c.Env, v.when, types.T{OID: to, Mod: -1}, v.num, false)
	}
	p, err := conv(a)
	if err != nil {
		return 0, false, err
	}
	q, err := conv(b)
	if err != nil {
		return 0, false, err
	}
	return types.Compare(to, p, q), true, nil
}

func shortTime(o types.OID) string {
	i, _ := types.Lookup(o)
	return strings.TrimSpace(i.Name)
}
