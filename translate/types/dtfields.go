package types

import (
	"strings"

	"github.com/eiderdb/eider/translate/pgerr"
)

// dtKind classifies the fields of a date/time literal.
type dtKind uint8

const (
	dtNumber dtKind = iota // digits, perhaps with a fraction
	dtDate                 // digits or words joined by - / .
	dtClock                // digits with colons
	dtWord
	dtSigned     // a sign and digits: a zone, or a signed amount
	dtSignedWord // a sign and a word
)

type dtField struct {
	text string // lower case
	kind dtKind
}

// dtFailure is why a literal was refused; the type and text are added at the end.
type dtFailure uint8

const (
	dtOK dtFailure = iota
	dtBadFormat
	dtFieldOverflow
	dtMDOverflow // a month or day out of range: perhaps another DateStyle was meant
	dtIntervalOverflow
	dtZoneOverflow
)

func (f dtFailure) err(typ string, s []byte) error {
	switch f {
	case dtOK:
		return nil
	case dtFieldOverflow:
		return errDatetimeField(s)
	case dtMDOverflow:
		return pgerr.New(pgerr.DatetimeFieldOverflow, `date/time field value out of range: "%s"`, s).
			WithHint(`Perhaps you need a different "datestyle" setting.`)
	case dtIntervalOverflow:
		return pgerr.New(codeIntervalField, `interval field value out of range: "%s"`, s)
	case dtZoneOverflow:
		return pgerr.New(pgerr.InvalidTimeZoneDisplacement, `time zone displacement out of range: "%s"`, s)
	}
	return errDatetimeSyntax(typ, s)
}

const codeIntervalField = "22015"

const maxDtFields = 25

// splitFields cuts a date/time literal into fields.
func splitFields(s []byte) ([]dtField, dtFailure) {
	if len(s) > 256 {
		return nil, dtBadFormat
	}
	b := []byte(strings.ToLower(string(s)))
	var out []dtField
	i := 0
	run := func(ok func(c byte) bool) {
		for i < len(b) && ok(b[i]) {
			i++
		}
	}
	digitOr := func(set string) func(byte) bool {
		return func(c byte) bool { return isDigit(c) || strings.IndexByte(set, c) >= 0 }
	}
	for i < len(b) {
		c := b[i]
		from := i
		var kind dtKind
		switch {
		case isSpace(c):
			i++
			continue
		case isDigit(c):
			run(isDigit)
			kind = dtNumber
			if i >= len(b) {
				break
			}
			switch d := b[i]; d {
			case ':':
				kind = dtClock
				run(digitOr(":."))
			case '-', '/', '.':
				i++
				if i < len(b) && isDigit(b[i]) || d == '.' && (i >= len(b) || !isAlpha(b[i])) {
					if d != '.' {
						kind = dtDate
					}
					run(isDigit)
					if i < len(b) && b[i] == d && !(d == '.' && i+1 >= len(b)) {
						kind = dtDate
						run(digitOr(string(d)))
					}
				} else {
					kind = dtDate
					run(func(c byte) bool { return isDigit(c) || isAlpha(c) || c == d })
				}
			}
		case c == '.':
			i++
			run(isDigit)
			kind = dtNumber
		case isAlpha(c):
			run(isAlpha)
			kind = dtWord
			zoneLike := i < len(b) && (b[i] == '-' || b[i] == '/' || b[i] == '.')
			if i < len(b) && (b[i] == '+' || isDigit(b[i])) {
				_, known := dtWords[string(b[from:i])]
				zoneLike = !known
			}
			if zoneLike {
				kind = dtDate
				run(func(c byte) bool { return isDigit(c) || isAlpha(c) || strings.IndexByte("+-/_.:", c) >= 0 })
			}
		case c == '+' || c == '-':
			i++
			run(isSpace)
			switch {
			case i < len(b) && isDigit(b[i]):
				kind = dtSigned
				run(digitOr(":.-"))
			case i < len(b) && isAlpha(b[i]):
				kind = dtSignedWord
				run(isAlpha)
			default:
				return nil, dtBadFormat
			}
			text := string(c) + strings.TrimLeft(string(b[from+1:i]), " \t\n\v\f\r")
			if len(out) == maxDtFields {
				return nil, dtBadFormat
			}
			out = append(out, dtField{text, kind})
			continue
		case c > ' ' && c < 0x7f:
			i++ // other punctuation separates
			continue
		default:
			return nil, dtBadFormat
		}
		if len(out) == maxDtFields {
			return nil, dtBadFormat
		}
		out = append(out, dtField{string(b[from:i]), kind})
	}
	if len(out) == 0 {
		return nil, dtBadFormat
	}
	return out, dtOK
}

// What a word means in a date/time literal.
type wordKind uint8

const (
	wordMonth wordKind = iota
	wordWeekday
	wordIgnore
	wordEra
	wordMeridiem
	wordSpecial
	wordDST
	wordPrefix
	wordUnit
)

// The special values a literal can name.
const (
	specNone = iota
	specNow
	specEpoch
	specToday
	specTomorrow
	specYesterday
	specInfinity
	specNegInfinity
	specAllBalls
)

type wordDef struct {
	kind wordKind
	val  int
}

var dtWords = func() map[string]wordDef {
	m := map[string]wordDef{
		"sept": {wordMonth, 9}, "tues": {wordWeekday, 2}, "weds": {wordWeekday, 3}, "thur": {wordWeekday, 4}, "thurs": {wordWeekday, 4},
		"at": {wordIgnore, 0}, "on": {wordIgnore, 0},
		"ad": {wordEra, 0}, "bc": {wordEra, 1}, "am": {wordMeridiem, 0}, "pm": {wordMeridiem, 1},
		"now": {wordSpecial, specNow}, "epoch": {wordSpecial, specEpoch}, "today": {wordSpecial, specToday},
		"tomorrow": {wordSpecial, specTomorrow}, "yesterday": {wordSpecial, specYesterday},
		"infinity": {wordSpecial, specInfinity}, "-infinity": {wordSpecial, specNegInfinity},
		"allballs": {wordSpecial, specAllBalls},
		"dst":      {wordDST, 0}, "j": {wordPrefix, 'j'}, "jd": {wordPrefix, 'j'}, "julian": {wordPrefix, 'j'}, "t": {wordPrefix, 't'},
		"d": {wordUnit, 'd'}, "h": {wordUnit, 'h'}, "m": {wordUnit, 'm'}, "mm": {wordUnit, 'm'}, "s": {wordUnit, 's'}, "y": {wordUnit, 'y'},
	}
	for i, n := range monthNames {
		m[strings.ToLower(n)] = wordDef{wordMonth, i + 1}
		m[strings.ToLower(n[:3])] = wordDef{wordMonth, i + 1}
	}
	for i, n := range dayNames {
		m[strings.ToLower(n)] = wordDef{wordWeekday, i}
		m[strings.ToLower(n[:3])] = wordDef{wordWeekday, i}
	}
	return m
}()
