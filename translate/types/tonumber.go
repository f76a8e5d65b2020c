package types

import (
	"strconv"
	"strings"

	"github.com/eiderdb/eider/translate/pgerr"
)

// numNode is one piece of a number template.
type numNode struct {
	kind byte // '9' '0' '.' ',' 'S' 'M'(MI) 'P'(PL) 'G'(SG) '<'(PR) 'L' 't' 'T' 'V' 'E' 'R' 'r' 'B', or 0 for text
	text string
}

// numFormat is a parsed number template.
type numFormat struct {
	nodes                     []numNode
	pre, post                 int  // digit places before and after the point
	zeroStart                 int  // index of the first forced zero among the places, −1 if none
	zeroEnd                   int  // decimal places up to the last forced zero
	fill, point               bool // FM; a decimal point
	signPre, signPost         bool // S before or after the digits
	minus, plus, bracket      bool
	scientific, roman, lowRom bool
	multi                     int // digits after V
	isV, blankZero            bool
	noPoint                   bool // the value has no point to show: NaN and Infinity
}

var numKeys = [...]struct {
	name string
	kind byte
}{
	{"EEEE", 'E'},
	{"eeee", 'E'},
	{"FM", 'F'},
	{"fm", 'F'},
	{"MI", 'M'},
	{"mi", 'M'},
	{"PL", 'P'},
	{"pl", 'P'},
	{"PR", '<'},
	{"pr", '<'},
	{"RN", 'R'},
	{"rn", 'r'},
	{"SG", 'G'},
	{"sg", 'G'},
	{"TH", 'T'},
	{"th", 't'},
	{"B", 'B'},
	{"b", 'B'},
	{"C", 'C'},
	{"c", 'C'},
	{"D", '.'},
	{"d", '.'},
	{".", '.'},
	{"G", ','},
	{"g", ','},
	{",", ','},
	{"L", 'L'},
	{"l", 'L'},
	{"S", 'S'},
	{"s", 'S'},
	{"V", 'V'},
	{"v", 'V'},
	{"9", '9'},
	{"0", '0'},
}

func parseNumFormat(format string) (*numFormat, error) {
	f := &numFormat{zeroStart: -1}
	bad := func(msg string) (*numFormat, error) { return nil, pgerr.New(pgerr.SyntaxError, "%s", msg) }
	for i := 0; i < len(format); {
		rest := format[i:]
		var kind byte
		for _, k := range numKeys {
			if strings.HasPrefix(rest, k.name) {
				kind = k.kind
				i += len(k.name)
				break
			}
		}
		if kind == 0 {
			switch {
			case rest[0] == '"':
				i++
				var text strings.Builder
				for i < len(format) && format[i] != '"' {
					if format[i] == '\\' && i+1 < len(format) {
						i++
					}
					text.WriteByte(format[i])
					i++
				}
				i++
				f.nodes = append(f.nodes, numNode{text: text.String()})
			default:
				f.nodes = append(f.nodes, numNode{text: rest[:1]})
				i++
			}
			continue
		}
		if f.scientific {
			return bad(`"EEEE" must be the last pattern used`)
		}
		switch kind {
		case '9':
			switch {
			case f.bracket:
				return bad(`"9" must be ahead of "PR"`)
			case f.isV:
				f.multi++
			case f.point:
				f.post++
			default:
				f.pre++
			}
		case '0':
			if f.bracket {
				return bad(`"0" must be ahead of "PR"`)
			}
			if f.zeroStart < 0 && !f.point {
				f.zeroStart = f.pre
			}
			switch {
			case f.isV:
				f.multi++
			case f.point:
				f.post++
				f.zeroEnd = f.post
			default:
				f.pre++
			}
		case '.':
			if f.point {
				return bad("multiple decimal points")
			}
			if f.isV {
				return bad(`cannot use "V" and decimal point together`)
			}
			f.point = true
		case 'F':
			f.fill = true
			continue
		case 'S':
			if f.signPre || f.signPost {
				return bad(`cannot use "S" twice`)
			}
			if f.minus || f.plus || f.bracket {
				return bad(`cannot use "S" and "PL"/"MI"/"SG"/"PR" together`)
			}
			if f.pre == 0 && !f.point {
				f.signPre = true
			} else {
				f.signPost = true
			}
		case 'M', 'P', 'G':
			if f.signPre || f.signPost {
				return bad(`cannot use "S" and "` + map[byte]string{'M': "MI", 'P': "PL", 'G': "SG"}[kind] + `" together`)
			}
			f.minus = f.minus || kind != 'P'
			f.plus = f.plus || kind != 'M'
		case '<':
			if f.signPre || f.signPost || f.minus || f.plus {
				return bad(`cannot use "PR" and "S"/"PL"/"MI"/"SG" together`)
			}
			f.bracket = true
		case 'V':
			if f.point {
				return bad(`cannot use "V" and decimal point together`)
			}
			f.isV = true
		case 'E':
			if f.fill || f.signPre || f.signPost || f.bracket || f.minus || f.plus || f.isV {
				return nil, pgerr.New(pgerr.SyntaxError, `"EEEE" is incompatible with other formats`).
					WithDetail(`"EEEE" may only be used together with digit and decimal point patterns.`)
			}
			f.scientific = true
		case 'R', 'r':
			f.roman, f.lowRom = true, kind == 'r'
		case 'B':
			f.blankZero = true
			continue
		}
		f.nodes = append(f.nodes, numNode{kind: kind})
	}
	return f, nil
}

// ToCharNumber is to_char(numeric, format); callers cast integers and floats first.
func ToCharNumber(d Datum, format string) (Datum, error) {
	f, err := parseNumFormat(format)
	if err != nil {
		return Null, err
	}
	if f.scientific {
		return f.exponent(d), nil
	}
	if f.roman {
		return f.romanNumber(d)
	}
	if f.multi > 0 {
		p, err := NumericPower(NumericFromInt64(10), NumericFromInt64(int64(f.multi)))
		if err == nil {
			d, err = NumericMul(d, p)
		}
		if err != nil {
			return Null, err
		}
		f.pre += f.multi
	}
	if d, err = NumericRound(d, f.post); err != nil {
		return Null, err
	}
	neg := NumericSign(d) < 0
	s := strings.TrimPrefix(string(appendNumericText(nil, d.B)), "-")
	whole, frac, _ := strings.Cut(s, ".")
	// A value that rounds to zero has lost its sign already; one that is too long for its
	// places shows as # marks.
	if len(whole) > f.pre {
		whole, frac = strings.Repeat("#", f.pre), strings.Repeat("#", f.post)
	} else if !NumericIsFinite(d) {
		for _, n := range f.nodes {
			if n.kind|0x20 == 't' {
				return Null, pgerr.New(pgerr.InvalidTextRepresentation, `"%s" is not a number`, s)
			}
		}
		f.noPoint = true
	}
	return Datum{B: f.layOut(neg, whole, frac), Valid: true}, nil
}

// layOut walks the template and places sign and digits.
func (f *numFormat) layOut(neg bool, whole, frac string) []byte {
	dst := []byte{}
	lead := f.pre - len(whole) // places without a digit
	signWritten := false
	if f.plus || f.minus {
		signWritten = !f.plus || f.minus
	} else {
		if !neg && f.fill {
			f.bracket = false
		}
		signWritten = !neg && f.fill && !f.signPre && !f.signPost
	}
	signPre, signPost := f.signPre, f.signPost
	if signPre && f.pre == 0 {
		signPre, signPost = false, true
	}
	if signPost {
		signWritten = true
	}
	// Under FM, zeros at the end of the fraction go, down to the last forced one.
	last := len(frac)
	if f.fill && f.point {
		for last > f.zeroEnd && frac[last-1] == '0' {
			last--
		}
	}
	soleZero := f.zeroStart < 0 && whole == "0" && f.post > 0 // a zero before the point that stays blank
	bare := f.fill && f.point && last == 0                    // nothing after the point: the zero shows
	sign := func(first bool) {
		if signWritten || !first {
			return
		}
		signWritten = true
		switch {
		case signPre && neg:
			dst = append(dst, '-')
		case signPre:
			dst = append(dst, '+')
		case f.bracket && neg:
			dst = append(dst, '<')
		case f.bracket, !neg && !f.fill:
			dst = append(dst, ' ')
		case neg:
			dst = append(dst, '-')
		}
	}
	places := f.pre + f.post
	if f.point {
		places++
	}
	cur := 0 // place in the number, the point counts
	inNumber := false
	closeNumber := func() {
		if cur != places {
			return
		}
		switch {
		case f.bracket && neg:
			dst = append(dst, '>')
		case f.bracket && !f.fill:
			dst = append(dst, ' ')
		case signPost && neg:
			dst = append(dst, '-')
		case signPost:
			dst = append(dst, '+')
		}
	}
	wi, fi := 0, 0
	afterPoint := false
	for _, n := range f.nodes {
		switch n.kind {
		case 0:
			dst = append(dst, n.text...)
		case '9', '0', '.':
			zeroHere := f.zeroStart >= 0 && f.zeroStart <= cur
			sign((cur >= lead || zeroHere) && (!soleZero || wi > 0 || bare))
			switch {
			case n.kind == '.':
				if !f.noPoint {
					dst = append(dst, '.')
				}
				afterPoint = true
				inNumber = true
			case afterPoint:
				if fi < len(frac) {
					if fi < last || n.kind == '0' {
						dst = append(dst, frac[fi])
						inNumber = true
					}
					fi++
				}
			case cur < lead && !zeroHere:
				if !f.fill {
					dst = append(dst, ' ')
				}
			case cur < lead:
				dst = append(dst, '0')
				inNumber = true
			case soleZero && wi == 0:
				if bare {
					dst = append(dst, '0')
				} else if !f.fill {
					dst = append(dst, ' ')
				}
				wi++
			case wi < len(whole):
				dst = append(dst, whole[wi])
				wi++
				inNumber = true
			}
			cur++
			closeNumber()
		case ',':
			if inNumber {
				dst = append(dst, ',')
			} else if !f.fill {
				dst = append(dst, ' ')
			}
		case 'L', 'C':
			if n.kind == 'L' {
				dst = append(dst, ' ') // the C locale has no currency sign
			}
		case 'M':
			if neg {
				dst = append(dst, '-')
			} else if !f.fill {
				dst = append(dst, ' ')
			}
		case 'P':
			if !neg {
				dst = append(dst, '+')
			} else if !f.fill {
				dst = append(dst, ' ')
			}
		case 'G':
			if neg {
				dst = append(dst, '-')
			} else {
				dst = append(dst, '+')
			}
		case 't', 'T':
			if !neg && !f.point && !strings.Contains(whole, "#") {
				dst = append(dst, ordinal([]byte(whole), n.kind == 'T')...)
			}
		}
	}
	return dst
}

// exponent writes d.dde+xx.
func (f *numFormat) exponent(d Datum) Datum {
	if !NumericIsFinite(d) {
		s := " " + strings.Repeat("#", f.pre)
		if f.point {
			s += "." + strings.Repeat("#", f.post)
		}
		return String(s + "####")
	}
	x, scale, _ := NumericToBig(d)
	text := strings.TrimPrefix(x.String(), "-")
	exp := len(text) - 1 - scale
	if x.Sign() == 0 {
		exp = 0
	}
	var n num
	n.setBig(x.Abs(x), len(text)-1) // one digit before the point
	n.round(f.post)
	n.dscale = f.post
	r, _ := n.datum()
	mant := string(appendNumericText(nil, r.B))
	// 99.995 with two places gives 10.00e+01, as in PostgreSQL.
	s := " "
	if NumericSign(d) < 0 {
		s = "-"
	}
	s += mant + "e"
	if exp < 0 {
		s += "-"
		exp = -exp
	} else {
		s += "+"
	}
	if exp < 10 {
		s += "0"
	}
	return String(s + strconv.Itoa(exp))
}

// romanNumber writes 1 to 3999 in Roman numerals, fifteen wide.
func (f *numFormat) romanNumber(d Datum) (Datum, error) {
	v, err := numericToInt(d, 32, "integer")
	if err != nil {
		return Null, err
	}
	if v < 1 || v > 3999 {
		return String(strings.Repeat("#", 15)), nil
	}
	var b strings.Builder
	for _, r := range [...]struct {
		v int64
		s string
	}{
		{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"},
	} {
		for v >= r.v {
			b.WriteString(r.s)
			v -= r.v
		}
	}
	s := b.String()
	if f.lowRom {
		s = strings.ToLower(s)
	}
	if !f.fill {
		s = strings.Repeat(" ", 15-len(s)) + s
	}
	return String(s), nil
}
